/* sandbox.c - see sandbox.h: starts the first process inside and watches it. */
#include "sandbox/sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_clock.h"
#include "base/weir_signal.h"
#include "sandbox/sandbox_priv.h"

enum { PATH = 4096, INTERVAL_MS = 20 };

const weir_opt ps_sandbox_options[] = {
    WEIR_OPT_REAL(ps_sandbox_limits, memory, 4096, 16, 1e7, "MiB",
                  "resident memory of all processes, and address space of each"),
    WEIR_OPT_REAL(ps_sandbox_limits, cpu, 3600, 0.1, 1e7, "s", "processor time of all processes"),
    WEIR_OPT_REAL(ps_sandbox_limits, wall, 3600, 0.1, 1e7, "s", "time from start to end"),
    WEIR_OPT_REAL(ps_sandbox_limits, output, 256, 0.1, 1e6, "MiB",
                  "what the model may write, and as much again in /tmp"),
    WEIR_OPT_INT(ps_sandbox_limits, files, 100000, 1, 1e9, "1",
                 "files that the model may write, and as many again in /tmp"),
    WEIR_OPT_INT(ps_sandbox_limits, processes, 64, 1, 4000, "1",
                 "processes and threads at the same time"),
    WEIR_OPT_END,
};

#ifdef __SANITIZE_ADDRESS__
/* Called at the end of a program of this build, also inside, where there is no /proc to look for
 * leaks in. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
  return access("/proc/self", F_OK) != 0;
}
#endif

/* A sandbox at work. */
typedef struct sandbox {
  const ps_sandbox_job *job;
  ps_sandbox_result *r;
  char root[PATH];
  int control[2], log[2]; /* [0] of this program, [1] of the first process */
  pid_t init;
  sandbox_message last; /* FAILED or ENDED */
  bool answered;        /* `last` is filled */
  bool exceeded;        /* r->end is a limit */
} sandbox;

static void close_one(int *descriptor)
{
  if (*descriptor >= 0) {
    (void)close(*descriptor);
    *descriptor = -1;
  }
}

void ps_sandbox_result_fini(ps_sandbox_result *r)
{
  close_one(&r->out);
}

static weir_status refused(const char *what, int reason)
{
  return weir_fail(
      WEIR_ERR_UNSUPPORTED,
      "sandbox: the kernel refuses %s: %s; nothing was run. A sandbox needs user "
      "namespaces (user.max_user_namespaces > 0; Debian: "
      "kernel.unprivileged_userns_clone=1; Ubuntu: "
      "kernel.apparmor_restrict_unprivileged_userns=0; containers: outside of them, or "
      "with those system calls allowed)",
      what, strerror(reason));
}

/* Writes a file of the first process in /proc. */
static bool write_map(pid_t pid, const char *name, const char *text)
{
  char path[64];

  (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  const int file = open(path, O_WRONLY | O_CLOEXEC);

  if (file < 0) {
    return false;
  }
  const bool good = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  const int reason = errno;

  (void)close(file);
  errno = reason;
  return good;
}

/* Root outside prepares as root inside and becomes nobody; anyone else is one identity. */
static bool map_identities(pid_t pid, bool as_root)
{
  char users[64], groups[64];

  if (as_root) {
    (void)snprintf(users, sizeof users, "0 0 1\n%d %d 1\n", SANDBOX_ID, SANDBOX_NOBODY);
    return write_map(pid, "uid_map", users) && write_map(pid, "gid_map", users);
  }
  (void)snprintf(users, sizeof users, "%d %u 1\n", SANDBOX_ID, (unsigned)geteuid());
  (void)snprintf(groups, sizeof groups, "%d %u 1\n", SANDBOX_ID, (unsigned)getegid());
  return write_map(pid, "setgroups", "deny") && write_map(pid, "uid_map", users) &&
         write_map(pid, "gid_map", groups);
}

static weir_status start(sandbox *s)
{
  const unsigned long spaces =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  const bool as_root = geteuid() == 0;

  if (access("/proc/thread-self/children", R_OK) != 0) {
    return refused("a list of processes (/proc/PID/task/TID/children)", errno);
  }
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s->control) != 0 ||
      pipe2(s->log, O_CLOEXEC) != 0 || fcntl(s->log[0], F_SETFL, O_NONBLOCK) != 0) {
    return weir_fail(WEIR_ERR_EXTERNAL, "sandbox: no descriptors: %m");
  }
  const sandbox_inside inside = {.job = s->job,
                                 .root = s->root,
                                 .control = s->control[1],
                                 .log = s->log[1],
                                 .as_root = as_root};

  /* As fork() without its handlers, which would wait for locks of other threads. */
  s->init = (pid_t)syscall(SYS_clone, spaces | SIGCHLD, NULL, NULL, NULL, NULL);
  if (s->init == 0) {
    (void)close(s->control[0]);
    sandbox_inside_main(&inside);
  }
  if (s->init < 0) {
    return refused("namespaces", errno);
  }
  close_one(&s->control[1]);
  close_one(&s->log[1]);
  if (!map_identities(s->init, as_root)) {
    return refused("identities of its own", errno);
  }
  return send(s->control[0], "g", 1, MSG_NOSIGNAL) == 1
             ? WEIR_OK
             : weir_fail(WEIR_ERR_EXTERNAL, "sandbox: its first process ended: %m");
}

/* Keeps the last bytes of what is printed; reads at most so many pieces, since who prints without
 * end must not keep this program from watching. */
static void take_log(sandbox *s, int pieces)
{
  char text[4096];
  ssize_t n = 1;

  while (pieces-- > 0 && (n = read(s->log[0], text, sizeof text)) > 0) {
    const size_t more = (size_t)n, have = strlen(s->r->log);
    const size_t drop = have + more < PS_SANDBOX_LOG ? 0 : have + more - (PS_SANDBOX_LOG - 1);

    for (size_t i = 0; i < more; i++) {
      text[i] = text[i] == 0 ? '?' : text[i];
    }
    memmove(s->r->log, s->r->log + drop, have - drop);
    memcpy(s->r->log + have - drop, text, more);
    s->r->log[have - drop + more] = 0;
  }
  if (n == 0) {
    close_one(&s->log[0]);
  }
}

/* Takes one message, with a descriptor if it has one. False at the end. */
static bool take_message(sandbox *s)
{
  sandbox_message m;
  union {
    char space[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {{0}};
  struct iovec part = {&m, sizeof m};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.space,
                           .msg_controllen = sizeof control.space};

  if (recvmsg(s->control[0], &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof m) {
    return false;
  }
  const struct cmsghdr *head = CMSG_FIRSTHDR(&message);

  if (m.kind == SANDBOX_READY && head != NULL && head->cmsg_type == SCM_RIGHTS) {
    memcpy(&s->r->out, CMSG_DATA(head), sizeof s->r->out);
  } else if (!s->answered) {
    s->last = m;
    s->answered = true;
  }
  return true;
}

/* Whether the folder of results is full: the program was kept from writing more. */
static bool output_is_full(const ps_sandbox_result *r)
{
  struct statvfs v;

  return r->out >= 0 && fstatvfs(r->out, &v) == 0 && (v.f_bavail == 0 || v.f_favail == 0);
}

static void watch(sandbox *s, double begin)
{
  const ps_sandbox_limits *l = s->job->limits;
  ps_sandbox_result *r = s->r;
  sandbox_use use;

  sandbox_watch(s->init, l->processes + 1, &use);
  r->wall = weir_clock() - begin;
  r->cpu = use.cpu > r->cpu ? use.cpu : r->cpu;
  r->memory = use.memory > r->memory ? use.memory : r->memory;
  s->exceeded = true;
  if (use.memory > l->memory) {
    r->end = PS_SANDBOX_MEMORY;
  } else if (use.cpu > l->cpu) {
    r->end = PS_SANDBOX_CPU;
  } else if (r->wall > l->wall) {
    r->end = PS_SANDBOX_WALL;
  } else if (use.processes > l->processes + 1) {
    r->end = PS_SANDBOX_PROCESSES;
  } else if (output_is_full(r)) {
    r->end = PS_SANDBOX_OUTPUT;
  } else {
    s->exceeded = false;
  }
}

/* Until the program has ended or has to. */
static weir_status attend(sandbox *s)
{
  const double begin = weir_clock();

  while (!s->answered && !s->exceeded) {
    struct pollfd wait[] = {{.fd = s->control[0], .events = POLLIN},
                            {.fd = s->log[0], .events = POLLIN}};

    (void)poll(wait, 2, INTERVAL_MS);
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "sandbox: stopped");
    }
    if (wait[1].revents != 0) {
      take_log(s, 16);
    }
    watch(s, begin);
    if (!s->exceeded && wait[0].revents != 0 && !take_message(s)) {
      return weir_fail(WEIR_ERR_EXTERNAL, "sandbox: its first process ended without an answer");
    }
  }
  return WEIR_OK;
}

/* What the wait status of the program means. */
static void judge(sandbox *s)
{
  ps_sandbox_result *r = s->r;
  const int status = s->last.code;

  r->end = WIFSIGNALED(status) ? PS_SANDBOX_SIGNAL : PS_SANDBOX_EXIT;
  r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  if (output_is_full(r) || (WIFSIGNALED(status) && r->code == SIGXFSZ)) {
    r->end = PS_SANDBOX_OUTPUT;
  } else if (WIFSIGNALED(status) && r->code == SIGSYS) {
    r->end = PS_SANDBOX_NETWORK;
  } else if (WIFSIGNALED(status) && r->code == SIGXCPU) {
    r->end = PS_SANDBOX_CPU;
  }
}

static weir_status conclude(sandbox *s)
{
  if (s->exceeded) {
    return WEIR_OK;
  }
  if (s->last.kind == SANDBOX_FAILED) {
    return s->last.refused
               ? refused(s->last.what, s->last.code)
               : weir_fail(WEIR_ERR_DATA, "sandbox: %s: %s", s->last.what, strerror(s->last.code));
  }
  judge(s);
  return WEIR_OK;
}

/* No process is left, and the mount point goes. */
static void clear(sandbox *s)
{
  struct rusage use;

  if (s->init > 0) {
    (void)kill(s->init, SIGKILL);
    while (wait4(s->init, NULL, 0, &use) < 0 && errno == EINTR) {
    }
    const double cpu = (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
                       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);

    s->r->cpu = cpu > s->r->cpu ? cpu : s->r->cpu;
  }
  if (s->log[0] >= 0) {
    take_log(s, INT_MAX);
  }
  for (int k = 0; k < 2; k++) {
    close_one(&s->control[k]);
    close_one(&s->log[k]);
  }
  (void)rmdir(s->root);
}

weir_status ps_sandbox_run(const ps_sandbox_job *job, ps_sandbox_result *r)
{
  sandbox s = {.job = job, .r = r, .control = {-1, -1}, .log = {-1, -1}};
  weir_status status = WEIR_OK;

  *r = (ps_sandbox_result){.out = -1};
  const int n = snprintf(s.root, sizeof s.root, "%s/sandbox-XXXXXX", job->scratch);

  if (n < 0 || (size_t)n >= sizeof s.root || mkdtemp(s.root) == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot make a folder: %m", job->scratch);
  }
  WEIR_TRY_GOTO(start(&s), done);
  WEIR_TRY_GOTO(attend(&s), done);
done:
  clear(&s);
  return status == WEIR_OK ? conclude(&s) : status;
}

const char *ps_sandbox_text(const ps_sandbox_result *r, const ps_sandbox_limits *limits, char *text,
                            size_t size)
{
  switch (r->end) {
  case PS_SANDBOX_EXIT:
    (void)snprintf(text, size, "it ended with status %d", r->code);
    break;
  case PS_SANDBOX_SIGNAL:
    (void)snprintf(text, size, "it ended by signal %d (%s)", r->code, strsignal(r->code));
    break;
  case PS_SANDBOX_NETWORK:
    (void)snprintf(text, size, "it opened a network socket and was killed");
    break;
  case PS_SANDBOX_MEMORY:
    (void)snprintf(text, size, "it used more than %g MiB of memory and was killed", limits->memory);
    break;
  case PS_SANDBOX_CPU:
    (void)snprintf(text, size, "it used more than %g s of processor time and was killed",
                   limits->cpu);
    break;
  case PS_SANDBOX_WALL:
    (void)snprintf(text, size, "it had not ended after %g s and was killed", limits->wall);
    break;
  case PS_SANDBOX_PROCESSES:
    (void)snprintf(text, size, "it started more than %lld processes and threads and was killed",
                   (long long)limits->processes);
    break;
  case PS_SANDBOX_OUTPUT:
    (void)snprintf(text, size, "it wrote all of the %g MiB or %lld files that it may write",
                   limits->output, (long long)limits->files);
    break;
  }
  return text;
}
