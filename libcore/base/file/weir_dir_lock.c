/* weir_dir_lock.c - see weir_dir_lock.h: flock on a file that its holder removes. */
#include "base/weir_dir_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_lock.h"
#include "base/weir_log.h"

enum { MAX_LOCKS = 16, TEXT_SIZE = 512, TRIES = 1000 };

typedef enum outcome {
  TAKEN,
  BUSY,   /* another process is_locked it */
  ABSENT, /* there is no such file, and none was to be made */
  NO_LOCKS,
  FAULT, /* errno says why */
} outcome;

static struct {
  weir_lock lock;
  int n;
  bool warned;
  struct {
    int fd;
    char path[PATH_MAX];
  } entry[MAX_LOCKS];
} locks = {.lock = WEIR_LOCK_INIT};

static bool is_same(int fd, const char *path)
{
  struct stat of_fd, of_path;

  return fstat(fd, &of_fd) == 0 && stat(path, &of_path) == 0 && of_fd.st_dev == of_path.st_dev &&
         of_fd.st_ino == of_path.st_ino;
}

static bool is_locked(const char *path)
{
  for (int i = 0; i < locks.n; i++) {
    if (is_same(locks.entry[i].fd, path)) {
      return true;
    }
  }
  return false;
}

/* For writing, since NFS locks nothing else; a file that another user left may be readable only. */
static int open_file(const char *path, bool create)
{
  const int flags = O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0);
  int fd = open(path, O_RDWR | flags, 0666);

  if (fd < 0 && errno == EACCES) {
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    errno = fd < 0 && create ? EACCES : errno; /* of the folder, not of a file that is not there */
  }
  return fd;
}

static outcome lock_file(int fd)
{
  int code;

  do {
    code = flock(fd, LOCK_EX | LOCK_NB);
  } while (code != 0 && errno == EINTR);
  return code == 0 ? TAKEN : errno == EWOULDBLOCK ? BUSY : NO_LOCKS;
}

/* Reads the text of the owner; "another process" where it has not written one. */
static void read_holder(int fd, char text[TEXT_SIZE])
{
  const ssize_t n = pread(fd, text, TEXT_SIZE - 1, 0);

  text[n > 0 ? n : 0] = 0;
  text[strcspn(text, "\n")] = 0;
  if (text[0] == 0) {
    (void)snprintf(text, TEXT_SIZE, "another process");
  }
}

/* The holder before removes its file while it is_locked it, so that a lock of a file that is no
 * longer there is tried again. */
static outcome try_lock(const char *path, bool create, int *fd, char holder[TEXT_SIZE])
{
  for (int i = 0; i < TRIES; i++) {
    *fd = open_file(path, create);
    if (*fd < 0) {
      return errno == ENOENT && !create ? ABSENT : FAULT;
    }
    const outcome o = lock_file(*fd);

    if (o == BUSY) {
      read_holder(*fd, holder);
    }
    if (o == TAKEN && is_same(*fd, path)) {
      return TAKEN;
    }
    (void)close(*fd);
    if (o != TAKEN) {
      return o;
    }
  }
  return BUSY;
}

static void write_holder(int fd, const char *who)
{
  char host[256] = "an unknown host", since[32] = "", text[TEXT_SIZE];

  (void)gethostname(host, sizeof host - 1);
  weir_clock_utc(since, sizeof since);
  (void)snprintf(text, sizeof text, "%s, pid %ld on %s, since %s\n", who, (long)getpid(), host,
                 since);
  /* Only others' messages need it: a full disk is no reason to stop here. */
  if (ftruncate(fd, 0) == 0 && pwrite(fd, text, strlen(text), 0) < 0) {
    (void)ftruncate(fd, 0);
  }
}

/* Records the lock until the release. */
static weir_status keep(int fd, const char *path, const char *who)
{
  if (locks.n == MAX_LOCKS) {
    (void)close(fd);
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: a process can lock at most %d folders", path,
                     MAX_LOCKS);
  }
  write_holder(fd, who);
  locks.entry[locks.n].fd = fd;
  (void)snprintf(locks.entry[locks.n].path, PATH_MAX, "%s", path);
  locks.n++;
  return WEIR_OK;
}

static weir_status take(const char *dir, const char *path, const char *who, bool create)
{
  char holder[TEXT_SIZE] = "another process";
  int fd = -1;

  if (is_locked(path)) {
    return WEIR_OK;
  }
  switch (try_lock(path, create, &fd, holder)) {
  case TAKEN:
    return keep(fd, path, who);
  case ABSENT:
    return WEIR_OK;
  case BUSY:
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: another run writes into this folder (%s): wait until it has ended, or "
                     "choose another --out",
                     dir, holder);
  case NO_LOCKS:
    if (!locks.warned) {
      weir_warn("base",
                "%s: this file system does not support locks (%s): a second run in the same folder "
                "would not be detected",
                dir, strerror(errno));
    }
    locks.warned = true;
    return WEIR_OK;
  default:
    return create ? weir_write_failed(path, errno, WEIR_ERR_CONFIG)
                  : WEIR_OK; /* said when something is written */
  }
}

weir_status weir_dir_lock_take(const char *dir, const char *who, bool create)
{
  char path[PATH_MAX];

  WEIR_TRY(weir_path_join(dir, WEIR_DIR_LOCK_NAME, path, sizeof path));
  weir_lock_take(&locks.lock);
  const weir_status status = take(dir, path, who, create);

  weir_lock_give(&locks.lock);
  return status;
}

bool weir_dir_is_locked(const char *dir)
{
  char path[PATH_MAX];

  if (snprintf(path, sizeof path, "%s/%s", dir, WEIR_DIR_LOCK_NAME) >= (int)sizeof path) {
    return false;
  }
  weir_lock_take(&locks.lock);
  const bool locked = is_locked(path);

  weir_lock_give(&locks.lock);
  return locked;
}

void weir_dir_lock_release(void)
{
  weir_lock_take(&locks.lock);
  while (locks.n > 0) {
    locks.n--;
    if (is_same(locks.entry[locks.n].fd, locks.entry[locks.n].path)) {
      (void)unlink(locks.entry[locks.n].path);
    }
    (void)close(locks.entry[locks.n].fd);
  }
  weir_lock_give(&locks.lock);
}
