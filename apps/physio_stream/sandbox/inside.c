/* inside.c - the first process of a sandbox: its file system, identity and limits, then the
 * program. It was made by a bare system call in a process with threads, so nothing here allocates
 * memory or takes a lock. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sandbox/sandbox_priv.h"

enum { PATH = 4096, CONTROL = 3 };

/* Says at what it failed, and ends. */
static _Noreturn void fail(int control, bool refused, const char *what, const char *path)
{
  sandbox_message m = {.kind = SANDBOX_FAILED, .refused = refused, .code = errno};

  (void)snprintf(m.what, sizeof m.what, "%s%s%.180s", what, path[0] != 0 ? " " : "", path);
  (void)send(control, &m, sizeof m, MSG_NOSIGNAL);
  _exit(1);
}

static void join(const sandbox_inside *s, const char *path, char text[PATH])
{
  const int n = snprintf(text, PATH, "%s%s", s->root, path);

  if (n < 0 || n >= PATH) {
    errno = ENAMETOOLONG;
    fail(s->control, false, "the path", path);
  }
}

/* Creates the folders of a path inside, and what it names: a folder, or an empty file. */
static void create(const sandbox_inside *s, const char *path, bool folder)
{
  char text[PATH];

  join(s, path, text);
  for (char *at = text + strlen(s->root) + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
    *at = 0;
    if (mkdir(text, 0755) != 0 && errno != EEXIST) {
      fail(s->control, true, "the folder", text);
    }
  }
  if (folder ? mkdir(text, 0755) != 0 && errno != EEXIST
             : mknod(text, S_IFREG | 0644, 0) != 0 && errno != EEXIST) {
    fail(s->control, true, "the file", text);
  }
}

static void bind_path(const sandbox_inside *s, const char *from, const char *to)
{
  struct stat kind;
  char text[PATH];

  if (stat(from, &kind) != 0) {
    fail(s->control, false, "cannot show", from);
  }
  create(s, to, S_ISDIR(kind.st_mode));
  join(s, to, text);
  if (mount(from, text, NULL, MS_BIND | MS_REC, NULL) != 0) {
    fail(s->control, errno != EACCES && errno != ENOENT, "cannot show", from);
  }
}

/* A folder such as /lib of this machine that is a link (to usr/lib) stays one; other links are
 * followed. */
static void show(const sandbox_inside *s, const ps_sandbox_bind *b)
{
  char target[PATH], text[PATH];
  const ssize_t n = strcmp(b->from, b->to) == 0 && strrchr(b->to, '/') == b->to
                        ? readlink(b->from, target, sizeof target - 1)
                        : -1;

  if (n <= 0) {
    bind_path(s, b->from, b->to);
    return;
  }
  target[n] = 0;
  join(s, b->to, text);
  if (symlink(target, text) != 0 && errno != EEXIST) {
    fail(s->control, true, "the link", text);
  }
}

static void mount_memory(const sandbox_inside *s, const char *path, const char *options)
{
  char text[PATH];

  join(s, path, text);
  if (mount("tmpfs", text, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0) {
    fail(s->control, true, "a file system in memory at", text);
  }
}

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"};
enum { N_DEVICES = sizeof devices / sizeof devices[0] };

/* Opens a mount point as it is now, whatever is mounted over it later. */
static int open_mount(const sandbox_inside *s, const char *path)
{
  char text[PATH];

  join(s, path, text);
  const int folder = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (folder < 0) {
    fail(s->control, true, "the folder", text);
  }
  return folder;
}

static void set_attributes(const sandbox_inside *s, int mount, unsigned flags,
                           const struct mount_attr *attributes)
{
  if (syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | flags, attributes,
              sizeof *attributes) != 0) {
    fail(s->control, true, "read-only mounts (mount_setattr, Linux 5.12)", "");
  }
}

/* Everything that is shown becomes read-only, also what is mounted below it; then devices and the
 * folder of results. /tmp comes first, since something may be shown below it. */
static void build_files(const sandbox_inside *s)
{
  static const struct mount_attr closed = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
                                                       MOUNT_ATTR_NODEV};
  static const struct mount_attr open_ = {.attr_clr = MOUNT_ATTR_RDONLY};
  const ps_sandbox_limits *l = s->job->limits;
  char options[128];

  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
    fail(s->control, true, "mounts of its own", "");
  }
  mount_memory(s, "", "size=1m,mode=0755");
  const int root = open_mount(s, "");

  create(s, "/tmp", true);
  create(s, PS_SANDBOX_OUT, true);
  /* The folder itself is the first of its files. */
  (void)snprintf(options, sizeof options, "size=%lldk,nr_inodes=%lld,mode=0700,uid=%d,gid=%d",
                 (long long)(l->output * 1024), (long long)l->files + 1, SANDBOX_ID, SANDBOX_ID);
  mount_memory(s, "/tmp", options);
  const int tmp = open_mount(s, "/tmp");

  for (int64_t i = 0; i < s->job->n_binds; i++) {
    show(s, &s->job->binds[i]);
  }
  for (int i = 0; i < N_DEVICES; i++) {
    create(s, devices[i], false);
  }
  set_attributes(s, root, AT_RECURSIVE, &closed);
  set_attributes(s, tmp, 0, &open_);
  for (int i = 0; i < N_DEVICES; i++) {
    bind_path(s, devices[i], devices[i]);
  }
  mount_memory(s, PS_SANDBOX_OUT, options);
}

/* Sends the descriptor of the folder of results. */
static void send_ready(const sandbox_inside *s)
{
  char text[PATH];
  sandbox_message m = {.kind = SANDBOX_READY};
  union {
    char space[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {{0}};
  struct iovec part = {&m, sizeof m};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.space,
                           .msg_controllen = sizeof control.space};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);

  join(s, PS_SANDBOX_OUT, text);
  const int folder = open(text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (folder < 0) {
    fail(s->control, true, "the folder of results", "");
  }
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof folder);
  memcpy(CMSG_DATA(head), &folder, sizeof folder);
  if (sendmsg(s->control, &message, MSG_NOSIGNAL) < 0) {
    fail(s->control, true, "the folder of results", "");
  }
  (void)close(folder);
}

/* The files of this machine go; descriptors are 0 to 2 and the control socket. */
static void leave_files(const sandbox_inside *s)
{
  if (chdir(s->root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
      umount2(".", MNT_DETACH) != 0) {
    fail(s->control, true, "a root folder of its own", "");
  }
  if (chdir(s->job->folder) != 0) {
    fail(s->control, false, "the folder", s->job->folder);
  }
  const int none = open("/dev/null", O_RDONLY);

  if (none < 0 || dup2(none, 0) < 0 || dup2(s->log, 1) < 0 || dup2(s->log, 2) < 0) {
    fail(s->control, true, "its descriptors", "");
  }
}

/* Gives up all capabilities for good, and the identity of root. */
static void drop_privileges(int control, bool as_root)
{
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  const struct __user_cap_data_struct none[2] = {{0}};

  for (unsigned long k = 0; k <= 63; k++) {
    if (prctl(PR_CAPBSET_DROP, k, 0, 0, 0) != 0 && errno != EINVAL) {
      fail(control, true, "dropping capabilities", "");
    }
  }
  if (as_root &&
      (syscall(SYS_setgroups, 0, NULL) != 0 || setresgid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID) != 0 ||
       setresuid(SANDBOX_ID, SANDBOX_ID, SANDBOX_ID) != 0)) {
    fail(control, true, "another identity", "");
  }
  if (syscall(SYS_capset, &head, none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    fail(control, true, "dropping privileges", "");
  }
}

static void limit(int control, int what, double value)
{
  const struct rlimit l = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};

  if (setrlimit((__rlimit_resource_t)what, &l) != 0) {
    fail(control, true, "resource limits", "");
  }
}

/* Pipes and sockets hold memory that is in no sum. */
static void limit_descriptors(int control)
{
  struct rlimit now;

  if (getrlimit(RLIMIT_NOFILE, &now) != 0) {
    fail(control, true, "resource limits", "");
  }
  limit(control, RLIMIT_NOFILE, now.rlim_max < 1024 ? (double)now.rlim_max : 1024);
}

/* Signals of the program do not reach the process group of the caller, which kill(0, ..) takes
 * across namespaces, nor handlers that the first process has from it; no terminal is its own. */
static void leave_group(void)
{
  for (int k = 1; k < NSIG; k++) {
    (void)signal(k, SIG_DFL);
  }
  (void)setsid();
}

static _Noreturn void run_program(int control, const ps_sandbox_job *job)
{
  static const char *const environment[] = {
      "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LC_ALL=C.UTF-8", NULL,
  };
  const ps_sandbox_limits *l = job->limits;

#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes: also in a program of this build */
  limit(control, RLIMIT_AS, l->memory * (1 << 20));
#endif
  limit(control, RLIMIT_CPU, l->cpu + 1);
  limit(control, RLIMIT_FSIZE, l->output * (1 << 20));
  limit(control, RLIMIT_NPROC, (double)l->processes + 1); /* the first process counts */
  limit(control, RLIMIT_CORE, 1); /* no file; 0 would still let a program of core(5) have it */
  limit(control, RLIMIT_MSGQUEUE, 0);
  limit(control, RLIMIT_MEMLOCK, 0);
  limit_descriptors(control);
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 || !sandbox_filter_install()) {
    fail(control, true, "the filter of system calls (seccomp)", "");
  }
  (void)execve(job->argv[0], (char *const *)(const void *)job->argv,
               (char *const *)(const void *)environment);
  fail(control, false, "cannot start", job->argv[0]);
}

_Noreturn void sandbox_inside_main(const sandbox_inside *s)
{
  static const char name[] = "sandbox";
  const ps_sandbox_job *const job = s->job;
  sandbox_message m = {.kind = SANDBOX_ENDED};
  const bool as_root = s->as_root;
  char go = 0;
  int status = 0;

  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || recv(s->control, &go, 1, 0) != 1) {
    _exit(1);
  }
  leave_group();
  build_files(s);
  send_ready(s);
  leave_files(s);
  if (sethostname(name, sizeof name - 1) != 0 || dup2(s->control, CONTROL) < 0 ||
      fcntl(CONTROL, F_SETFD, FD_CLOEXEC) != 0 ||
      syscall(SYS_close_range, CONTROL + 1, ~0U, 0) != 0) {
    fail(s->control, true, "its descriptors", "");
  }
  drop_privileges(CONTROL, as_root);
  const pid_t program = (pid_t)syscall(SYS_clone, (unsigned long)SIGCHLD, NULL, NULL, NULL, NULL);

  if (program == 0) {
    run_program(CONTROL, job);
  }
  if (program < 0) {
    fail(CONTROL, true, "a process", "");
  }
  (void)close(0);
  (void)close(1);
  (void)close(2);
  for (pid_t ended = 0; ended != program;) {
    ended = wait4(-1, &status, 0, NULL);
    if (ended < 0 && errno != EINTR) {
      _exit(1);
    }
  }
  m.code = status;
  (void)send(CONTROL, &m, sizeof m, MSG_NOSIGNAL);
  _exit(0); /* the kernel ends every other process of the namespace */
}
