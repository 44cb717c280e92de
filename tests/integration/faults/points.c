/* points.c - preloaded into a program of a flow: raises a signal at one of the points where it
 * changes what lies in its folder (opens a file for writing, syncs it, gives it a name).
 *
 * Environment, all but the first optional:
 *   POINTS_OUT     acts in processes with --out in this folder, on their files
 *   POINTS_LIST    a file that gets a line for each point: number, what is done, file, process
 *   POINTS_AT      the point, counted from 1, before which the signal is raised
 *   POINTS_SIGNAL  its number
 *   POINTS_TO      group (all its processes), leader (of the session, who passes it on), self */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *out; /* NULL: this is another process */
static atomic_int points;

static bool is_in(const char *path, const char *folder)
{
  const size_t n = strlen(folder);

  return strncmp(path, folder, n) == 0 && (path[n] == 0 || path[n] == '/');
}

__attribute__((constructor)) static void start(int argc, char **argv)
{
  const char *const folder = getenv("POINTS_OUT");

  for (int i = 1; i + 1 < argc && folder != NULL; i++) {
    out = strcmp(argv[i], "--out") == 0 && is_in(argv[i + 1], folder) ? argv[i + 1] : out;
  }
}

/* What the leader passes on takes a while to come back; it ends the pause. */
static void wait_for_signal(void)
{
  const struct timespec pause = {.tv_sec = 20};

  (void)nanosleep(&pause, NULL);
}

static void raise_signal(void)
{
  const char *const number = getenv("POINTS_SIGNAL"), *const to = getenv("POINTS_TO");
  const int signal = number != NULL ? atoi(number) : SIGKILL;

  if (to != NULL && strcmp(to, "leader") == 0) {
    (void)kill(getsid(0), signal);
    wait_for_signal();
  } else {
    (void)kill(to != NULL && strcmp(to, "self") == 0 ? getpid() : 0, signal);
  }
}

static void note(int number, const char *what, const char *name)
{
  const char *const list = getenv("POINTS_LIST");
  char line[PATH_MAX + 64];

  if (list == NULL) {
    return;
  }
  const int size =
      snprintf(line, sizeof line, "%d %s %s %ld\n", number, what, name, (long)getpid());
  const int fd =
      (int)syscall(SYS_openat, AT_FDCWD, list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, line, (size_t)size) != size) {
    abort();
  }
  (void)close(fd);
}

static void pass(const char *what, const char *path)
{
  const char *const at = getenv("POINTS_AT");
  const int reason = errno;

  if (out == NULL || !is_in(path, out)) {
    return;
  }
  const int number = atomic_fetch_add(&points, 1) + 1;

  note(number, what, path);
  if (at != NULL && atoi(at) == number) {
    raise_signal();
  }
  errno = reason;
}

#define OPEN(name)                                                         \
  int name(const char *path, int flags, ...)                               \
  {                                                                        \
    int (*const next)(const char *, int, ...) =                            \
        (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);          \
    va_list args;                                                          \
                                                                           \
    va_start(args, flags);                                                 \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0; \
    va_end(args);                                                          \
    if ((flags & (O_CREAT | O_TRUNC)) != 0) {                              \
      pass("open", path);                                                  \
    }                                                                      \
    return next(path, flags, mode);                                        \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                       \
  FILE *name(const char *path, const char *mode)                          \
  {                                                                       \
    FILE *(*const next)(const char *, const char *) =                     \
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #name); \
                                                                          \
    if (mode[0] != 'r') {                                                 \
      pass("open", path);                                                 \
    }                                                                     \
    return next(path, mode);                                              \
  }
FOPEN(fopen)
FOPEN(fopen64)

int rename(const char *from, const char *to)
{
  int (*const next)(const char *, const char *) =
      (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");

  pass("rename", to);
  return next(from, to);
}

int mkdir(const char *path, mode_t mode)
{
  int (*const next)(const char *, mode_t) =
      (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");

  pass("mkdir", path);
  return next(path, mode);
}

int fsync(int fd)
{
  int (*const next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  char link[64], path[PATH_MAX];

  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);

  if (n > 0) {
    path[n] = 0;
    pass("sync", path);
  }
  return next(fd);
}
