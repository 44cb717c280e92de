/* sandbox_test.c - programs that mean harm, and what becomes of them. Where the kernel refuses
 * user namespaces, that nothing is run and why. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "sandbox/sandbox_priv.h"

enum { PATH = 512, BINDS = 8 };

static char scratch[PATH], data[PATH + 8], secret[PATH + 16];

static const ps_sandbox_limits limits = {
    .memory = 256, .cpu = 50, .wall = 100, .output = 1, .files = 20, .processes = 16};

static int make_folders(void **state)
{
  (void)state;
  const char *base = getenv("TMPDIR");

  (void)snprintf(scratch, sizeof scratch, "%s/sandbox-test-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(scratch) == NULL) {
    return 1;
  }
  (void)snprintf(data, sizeof data, "%s/data", scratch);
  (void)snprintf(secret, sizeof secret, "%s/data/record", scratch);
  if (chmod(scratch, 0755) != 0 || mkdir(data, 0755) != 0) {
    return 1;
  }
  weir_check_write(secret, "samples\n", 8);
  return 0;
}

static int drop_folders(void **state)
{
  (void)state;
  return unlink(secret) != 0 || rmdir(data) != 0 || rmdir(scratch) != 0;
}

/* Runs a script of bash. False where the kernel has no sandboxes: it must say so then. */
static bool run(const char *script, const ps_sandbox_limits *l, ps_sandbox_result *r)
{
  const char *const argv[] = {"/bin/bash", "-c", script, NULL};
  ps_sandbox_bind binds[BINDS] = {{data, PS_SANDBOX_DATA}, {data, "/tmp/below/data"}};
  static const char *const system[] = {"/usr", "/bin", "/lib", "/lib64"};
  int n = 2;

  for (int i = 0; i < 4; i++) {
    if (access(system[i], F_OK) == 0) {
      binds[n++] = (ps_sandbox_bind){system[i], system[i]};
    }
  }
  const ps_sandbox_job job = {.argv = argv,
                              .folder = "/tmp",
                              .scratch = scratch,
                              .binds = binds,
                              .n_binds = n,
                              .limits = l};
  const weir_status status = ps_sandbox_run(&job, r);

  if (status == WEIR_ERR_UNSUPPORTED) {
    assert_non_null(strstr(weir_last_message(), "nothing was run"));
    assert_int_equal(r->out, -1);
    return false;
  }
  if (status != WEIR_OK) {
    fail_msg("%s", weir_last_message());
  }
  return true;
}

static void expect(const char *script, ps_sandbox_end end, int code)
{
  ps_sandbox_result r;
  char text[256];

  if (run(script, &limits, &r) && (r.end != end || (end <= PS_SANDBOX_SIGNAL && r.code != code))) {
    fail_msg("%s: %s\n%s", script, ps_sandbox_text(&r, &limits, text, sizeof text), r.log);
  }
  ps_sandbox_result_fini(&r);
}

/* What it printed has a text. */
static void expect_log(const char *script, const char *text)
{
  ps_sandbox_result r;

  if (run(script, &limits, &r) && strstr(r.log, text) == NULL) {
    fail_msg("%s: printed '%s', not '%s'", script, r.log, text);
  }
  ps_sandbox_result_fini(&r);
}

static void results_come_back_through_the_descriptor(void **state)
{
  ps_sandbox_result r;
  char text[16] = "";

  (void)state;
  if (run("cat " PS_SANDBOX_DATA "/record > " PS_SANDBOX_OUT "/copy; exit 7", &limits, &r)) {
    assert_int_equal(r.end, PS_SANDBOX_EXIT);
    assert_int_equal(r.code, 7);
    const int file = openat(r.out, "copy", O_RDONLY | O_NOFOLLOW);

    assert_true(file >= 0);
    assert_int_equal(read(file, text, sizeof text), 8);
    assert_string_equal(text, "samples\n");
    (void)close(file);
  }
  ps_sandbox_result_fini(&r);
}

static void it_has_no_network(void **state)
{
  (void)state;
  expect("exec 3<>/dev/tcp/127.0.0.1/9", PS_SANDBOX_NETWORK, 0);
  expect("exec 3<>/dev/udp/192.0.2.1/53", PS_SANDBOX_NETWORK, 0);
}

static void it_sees_no_file_that_is_not_shown(void **state)
{
  (void)state;
  expect_log("cat /etc/passwd", "No such file");
  expect_log("cat /proc/1/environ", "No such file");
  expect_log("echo /*", "/bin /dev /lib");
  expect_log("ls / | tr '\\n' ' '", "mlcube_io0 mlcube_io1 tmp usr");
  assert_int_equal(setenv("WEIR_TEST_SECRET", "hidden", 1), 0);
  expect_log("echo \"[$WEIR_TEST_SECRET] $HOME\"", "[] /tmp");
  expect_log("echo $(id -u) $(hostname)", "1000 sandbox");
}

static void it_cannot_write_to_what_it_reads(void **state)
{
  char text[16] = "";

  (void)state;
  expect_log("echo x > " PS_SANDBOX_DATA "/record", "Read-only");
  expect_log("rm " PS_SANDBOX_DATA "/record", "Read-only");
  expect_log("echo x > /tmp/below/data/record", "Read-only");
  expect_log("echo x > /tmp/x && cat /tmp/x /tmp/below/data/record", "x\nsamples");
  expect_log("echo x > /usr/x", "Read-only");
  expect_log("echo x > /x", "Read-only");
  expect_log("chmod 777 " PS_SANDBOX_DATA "/record", "Read-only");
  const int file = open(secret, O_RDONLY);

  assert_int_equal(read(file, text, sizeof text), 8);
  assert_string_equal(text, "samples\n");
  (void)close(file);
}

static void it_gains_no_privilege(void **state)
{
  (void)state;
  expect("mount -t tmpfs none /tmp", PS_SANDBOX_EXIT, 32);
  expect_log("unshare -U true", "Operation not permitted");
  expect_log("/usr/sbin/chroot /tmp /bin/true", "Operation not permitted");
  expect_log("kill -9 1; kill -9 -1; echo here", "here");
  expect_log("kill -INT 1; kill -INT 1; kill -TERM 1; sleep 0.1; echo here", "here");
}

/* kill(0, SIGSTOP) reaches the process group across namespaces: that of the watch must be another.
 */
static void it_signals_nobody_outside(void **state)
{
  (void)state;
  if (access("/usr/bin/perl", X_OK) == 0) {
    expect_log("perl -e 'print \"[\", getpgrp, \"]\"'", "[1]");
  }
}

/* Memory that no process has mapped is in no sum of resident memory. */
static void it_has_no_memory_beside_its_own(void **state)
{
  char script[256];

  (void)state;
  if (access("/usr/bin/perl", X_OK) == 0) {
    (void)snprintf(script, sizeof script,
                   "perl -e '$n = \"x\"; print \"[\", syscall(%d, $n, 0), \" \", "
                   "defined(shmget(0, 4096, 0600)) ? 1 : -1, \"]\"'",
                   (int)__NR_memfd_create);
    expect_log(script, "[-1 -1]");
  }
}

/* What is shown as /tmp stays read-only, as all that is shown. */
static void a_folder_shown_as_tmp_is_read_only(void **state)
{
  static const char *const argv[] = {"/bin/bash", "-c", "echo x > /tmp/record", NULL};
  const ps_sandbox_bind binds[] = {
      {"/usr", "/usr"}, {"/bin", "/bin"}, {"/lib", "/lib"}, {"/lib64", "/lib64"}, {data, "/tmp"}};
  const ps_sandbox_job job = {.argv = argv,
                              .folder = "/",
                              .scratch = scratch,
                              .binds = binds,
                              .n_binds = 5,
                              .limits = &limits};
  ps_sandbox_result r;

  (void)state;
  if (access("/lib64", F_OK) == 0 && chmod(data, 0777) == 0 && chmod(secret, 0666) == 0 &&
      ps_sandbox_run(&job, &r) == WEIR_OK) {
    assert_non_null(strstr(r.log, "Read-only"));
    ps_sandbox_result_fini(&r);
  }
  assert_int_equal(chmod(data, 0755), 0);
}

static void what_it_writes_is_limited(void **state)
{
  (void)state;
  expect("head -c 10G /dev/zero > " PS_SANDBOX_OUT "/big", PS_SANDBOX_OUTPUT, 0);
  expect("trap '' XFSZ; for i in 1 2 3 4 5; do head -c 900k /dev/zero > " PS_SANDBOX_OUT
         "/$i; done",
         PS_SANDBOX_OUTPUT, 0);
  expect("for i in {1..100}; do : > " PS_SANDBOX_OUT "/$i; done", PS_SANDBOX_OUTPUT, 0);
  expect_log("trap '' XFSZ; head -c 10G /dev/zero > /tmp/big", "File too large");
}

static void time_and_memory_are_limited(void **state)
{
  static const ps_sandbox_limits tight = {
      .memory = 100, .cpu = 0.2, .wall = 0.4, .output = 1, .files = 20, .processes = 16};
  ps_sandbox_result r;

  (void)state;
  if (run("sleep 1000", &tight, &r)) {
    assert_int_equal(r.end, PS_SANDBOX_WALL);
  }
  ps_sandbox_result_fini(&r);
  if (run("(while :; do :; done) & while :; do :; done", &tight, &r)) {
    assert_true(r.end == PS_SANDBOX_CPU || r.end == PS_SANDBOX_WALL); /* a busy machine */
  }
  ps_sandbox_result_fini(&r);
  if (run("x=$(head -c 300M /dev/zero | tr '\\0' x); echo ${#x}", &tight, &r)) {
    assert_true(r.end != PS_SANDBOX_EXIT || r.code != 0); /* it had no memory, or no time for it */
    assert_null(strstr(r.log, "314572800"));
  }
  ps_sandbox_result_fini(&r);
  static const ps_sandbox_limits sum = {
      .memory = 60, .cpu = 50, .wall = 100, .output = 1, .files = 20, .processes = 64};

  /* Each tail keeps 40 MiB, less than the limit, while nobody reads its pipe. */
  if (run("for i in 1 2 3; do (head -c 40M /dev/zero | tail -c 40M | sleep 300) & done; wait", &sum,
          &r)) {
    assert_int_equal(r.end, PS_SANDBOX_MEMORY);
  }
  ps_sandbox_result_fini(&r);
}

/* More is printed than is read: the limits hold nevertheless. */
static void what_it_prints_does_not_hold_the_watch(void **state)
{
  static const ps_sandbox_limits tight = {
      .memory = 256, .cpu = 100, .wall = 0.5, .output = 1, .files = 20, .processes = 16};
  ps_sandbox_result r;

  (void)state;
  if (run("for i in 1 2 3 4 5 6; do (trap '' PIPE; exec yes) & done; wait", &tight, &r)) {
    assert_int_equal(r.end, PS_SANDBOX_WALL);
    assert_true(r.wall < 100);
  }
  ps_sandbox_result_fini(&r);
}

/* Their numbers are longer than a block of proc(5). */
static void many_children_are_all_watched(void **state)
{
  enum { CHILDREN = 1200 };
  static pid_t child[CHILDREN];
  sandbox_use use;
  int n = 0;

  (void)state;
  while (n < CHILDREN && (child[n] = fork()) > 0) {
    n++;
  }
  if (n < CHILDREN && child[n] == 0) {
    (void)pause();
    _exit(0);
  }
  sandbox_watch(getpid(), CHILDREN + 1, &use);
  for (int i = 0; i < n; i++) {
    (void)kill(child[i], SIGKILL);
    (void)waitpid(child[i], NULL, 0);
  }
  if (n == CHILDREN) { /* it was let start as many */
    assert_int_equal(use.processes, n + 1);
  }
}

static void processes_are_limited_and_none_is_left(void **state)
{
  static const ps_sandbox_limits few = {
      .memory = 256, .cpu = 0.3, .wall = 6, .output = 1, .files = 20, .processes = 16};
  ps_sandbox_result r;

  (void)state;
  if (run("f() { f | f & }; f; sleep 100", &few, &r)) {
    assert_true(r.end >= PS_SANDBOX_CPU && r.end <= PS_SANDBOX_PROCESSES);
    assert_non_null(strstr(r.log, "Resource temporarily unavailable"));
  }
  ps_sandbox_result_fini(&r);
  /* One that is left behind holds the pipe of the log until it is gone. */
  if (run("setsid sleep 1000 & exit 0", &limits, &r)) {
    assert_int_equal(r.end, PS_SANDBOX_EXIT);
  }
  ps_sandbox_result_fini(&r);
}

static void what_cannot_be_started_is_named(void **state)
{
  static const char *const argv[] = {"/nowhere", NULL};
  const ps_sandbox_bind missing[] = {{"/no/such/folder", "/usr"}};
  ps_sandbox_job job = {.argv = argv, .folder = "/", .scratch = scratch, .limits = &limits};
  ps_sandbox_result r;

  (void)state;
  weir_status status = ps_sandbox_run(&job, &r);

  if (status != WEIR_ERR_UNSUPPORTED) {
    assert_int_equal(status, WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "cannot start /nowhere: No such file"));
  }
  ps_sandbox_result_fini(&r);
  job.binds = missing;
  job.n_binds = 1;
  status = ps_sandbox_run(&job, &r);
  if (status != WEIR_ERR_UNSUPPORTED) {
    assert_int_equal(status, WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), "/no/such/folder"));
  }
  ps_sandbox_result_fini(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_come_back_through_the_descriptor),
      cmocka_unit_test(it_has_no_network),
      cmocka_unit_test(it_sees_no_file_that_is_not_shown),
      cmocka_unit_test(it_cannot_write_to_what_it_reads),
      cmocka_unit_test(it_gains_no_privilege),
      cmocka_unit_test(it_signals_nobody_outside),
      cmocka_unit_test(it_has_no_memory_beside_its_own),
      cmocka_unit_test(a_folder_shown_as_tmp_is_read_only),
      cmocka_unit_test(what_it_writes_is_limited),
      cmocka_unit_test(time_and_memory_are_limited),
      cmocka_unit_test(what_it_prints_does_not_hold_the_watch),
      cmocka_unit_test(many_children_are_all_watched),
      cmocka_unit_test(processes_are_limited_and_none_is_left),
      cmocka_unit_test(what_cannot_be_started_is_named),
  };

  return cmocka_run_group_tests(tests, make_folders, drop_folders);
}
