/* process_netcdf.c - starting and ending weir_netcdf_reader. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/netcdf/client_priv.h"

enum { ABOVE = 10 }; /* descriptors here are not those that the reader gets */

/* Beside libweir.so, as in a build tree, or where its packages put programs. */
weir_status weir_netcdf_reader_path(char *path, size_t size)
{
  static const char *const where[] = {"", "weir/"};
  Dl_info self;

  if (dladdr((const void *)(uintptr_t)&weir_reader_start, &self) == 0 || !self.dli_fname) {
    return weir_fail(WEIR_ERR_EXTERNAL, "the file of libweir.so cannot be found");
  }
  const char *const slash = strrchr(self.dli_fname, '/');
  const int folder = slash ? (int)(slash + 1 - self.dli_fname) : 0;

  for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
    const int n =
        snprintf(path, size, "%.*s%sweir_netcdf_reader", folder, self.dli_fname, where[i]);

    if (n > 0 && (size_t)n < size && access(path, X_OK) == 0) {
      return WEIR_OK;
    }
  }
  return weir_fail(WEIR_ERR_EXTERNAL,
                   "%.*sweir_netcdf_reader, the program that reads NetCDF files, is missing: "
                   "install it there or in the folder weir next to libweir.so, or build again",
                   folder, self.dli_fname);
}

/* Of the environment, what the loader and HDF5 look at: a reader is no rank of an MPI program. */
static void take_environment(char **out, int max)
{
  static const char *const kept[] = {
      "LD_LIBRARY_PATH=", "HDF5_PLUGIN_PATH=", "HDF5_USE_FILE_LOCKING="};
  int n = 0;

  for (char **e = environ; e && *e; e++) {
    for (size_t i = 0; i < sizeof kept / sizeof kept[0] && n < max - 1; i++) {
      if (strncmp(*e, kept[i], strlen(kept[i])) == 0) {
        out[n++] = *e;
      }
    }
  }
  out[n] = NULL;
}

/* Signals that a terminal or a scheduler sends to all processes are Weir's to answer; those of a
 * fault end a reader. */
static int set_signals(posix_spawnattr_t *attr)
{
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGPROF};
  sigset_t blocked, usual;

  (void)sigfillset(&blocked);
  (void)sigemptyset(&usual);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    (void)sigdelset(&blocked, faults[i]);
    (void)sigaddset(&usual, faults[i]);
  }
  int failed = posix_spawnattr_setsigmask(attr, &blocked);

  failed = failed ? failed : posix_spawnattr_setsigdefault(attr, &usual);
  return failed ? failed
                : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const char *program, int64_t limit_ms, int socket, int memory, pid_t *child)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  char limit[32];
  char *environment[8];
  char *const args[] = {(char[]){"weir_netcdf_reader"}, limit, NULL};

  (void)snprintf(limit, sizeof limit, "%lld", (long long)limit_ms);
  take_environment(environment, (int)(sizeof environment / sizeof environment[0]));
  int failed = posix_spawn_file_actions_init(&actions);

  if (failed) {
    return failed;
  }
  failed = posix_spawnattr_init(&attr);
  if (!failed) {
    failed = set_signals(&attr);
    failed =
        failed ? failed : posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&actions, 0, 1);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&actions, 0, 2);
    failed =
        failed ? failed : posix_spawn_file_actions_adddup2(&actions, socket, WEIR_READER_SOCKET);
    failed =
        failed ? failed : posix_spawn_file_actions_adddup2(&actions, memory, WEIR_READER_MEMORY);
    failed = failed ? failed : posix_spawn(child, program, &actions, &attr, args, environment);
    (void)posix_spawnattr_destroy(&attr);
  }
  (void)posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/* The same descriptor, at ABOVE or beyond. */
static int raise_fd(int fd)
{
  const int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE);

  if (fd >= 0) {
    (void)close(fd);
  }
  return high;
}

static void close_fd(int *fd)
{
  if (*fd >= 0) {
    (void)close(*fd);
  }
  *fd = -1;
}

/* Memory that a reader passes values on in, or -1. Memory that shrank under a reader gone wrong
 * would end Weir itself; where a sandbox has none that can be sealed, that is its own program. */
static int make_memory(void)
{
  int fd = memfd_create("weir_netcdf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  if (fd < 0 && errno == ENOSYS) {
    return open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  }
  if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    (void)close(fd);
    fd = -1;
  }
  return fd;
}

weir_status weir_reader_start(weir_reader_process *p, int64_t limit_ms)
{
  char program[PATH_MAX];
  int ends[2] = {-1, -1};
  int failed = 0;

  WEIR_TRY(weir_netcdf_reader_path(program, sizeof program));
  p->fd = raise_fd(make_memory());
  failed = p->fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0;
  ends[0] = raise_fd(ends[0]);
  ends[1] = raise_fd(ends[1]);
  failed = failed || ends[0] < 0 || ends[1] < 0
               ? errno
               : spawn(program, limit_ms, ends[1], p->fd, &p->child);
  close_fd(&ends[1]);
  p->socket = ends[0];
  p->parent = getpid();
  p->memory = NULL;
  p->bytes = 0;
  p->files = 0;
  p->number++;
  if (failed) {
    p->child = 0;
    close_fd(&p->socket);
    close_fd(&p->fd);
    return weir_fail(WEIR_ERR_EXTERNAL, "%s cannot be started: %s", program, strerror(failed));
  }
  return WEIR_OK;
}

int weir_reader_stop(weir_reader_process *p)
{
  int code = -1;

  if (p->child == 0) {
    return -1;
  }
  close_fd(&p->socket);
  if (p->parent == getpid()) {
    (void)kill(p->child, SIGKILL);
    while (waitpid(p->child, &code, 0) < 0) {
      if (errno != EINTR) { /* somebody else waits for all children */
        code = -1;
        break;
      }
    }
  }
  if (p->memory) {
    (void)munmap(p->memory, (size_t)p->bytes);
  }
  close_fd(&p->fd);
  p->child = 0;
  p->memory = NULL;
  p->bytes = 0;
  return code;
}

bool weir_reader_map(weir_reader_process *p, int64_t bytes)
{
  struct stat is;

  if (bytes <= p->bytes) {
    return true;
  }
  if (fstat(p->fd, &is) != 0 || is.st_size < bytes) {
    return false;
  }
  if (p->memory) {
    (void)munmap(p->memory, (size_t)p->bytes);
  }
  p->bytes = 0;
  p->memory = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, p->fd, 0);
  if (p->memory == MAP_FAILED) {
    p->memory = NULL;
    return false;
  }
  p->bytes = bytes;
  return true;
}
