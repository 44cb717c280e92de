/* objects.c - the user's folder of compiled objects.
 *
 * An object is the file of the compiler followed by a trailer: a mark and a digest over the file
 * and its name. What is loaded is the descriptor whose bytes had the right digest, never a name. A
 * folder or an object that another user could have written is refused, and what is refused or
 * damaged is recompiled: the cache can make a program slow, not wrong. */
#include "device/weir_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/weir_opt.h"

#define MARK "weirobj1"
enum { MARK_SIZE = 8, TRAILER = MARK_SIZE + 64, PATH_CAPACITY = 4096 };
static const int64_t largest = INT64_C(64) << 20;

void weir_objects_refuse(const char *what, const char *reason)
{
  weir_event("cache_refused", WEIR_TEXT("path", what), WEIR_TEXT("reason", reason));
  weir_warn("device", "cache of compiled loops: %s: %s", what, reason);
}

/* ---- The folder. ---- */

/* Makes every missing folder of `path`, for this user alone. */
static void make_folders(const char *path)
{
  char prefix[PATH_CAPACITY];
  const size_t n = strlen(path);

  memcpy(prefix, path, n + 1);
  for (size_t i = 1; i <= n; i++) {
    if (prefix[i] == '/' || prefix[i] == 0) {
      const char kept = prefix[i];
      prefix[i] = 0;
      (void)mkdir(prefix, 0700); /* opening it will tell */
      prefix[i] = kept;
    }
  }
}

static bool folder_path(const char *folder, char path[PATH_CAPACITY])
{
  const char *base = weir_env("XDG_CACHE_HOME"), *tail = "/weir";

  if (folder != NULL && folder[0] != 0) {
    base = folder;
    tail = "";
  } else if (base == NULL || base[0] != '/') {
    base = weir_env("HOME");
    tail = "/.cache/weir";
  }
  return base != NULL && snprintf(path, PATH_CAPACITY, "%s%s", base, tail) < PATH_CAPACITY;
}

int weir_objects_open(const char *folder)
{
  char path[PATH_CAPACITY];
  struct stat info;

  if (!folder_path(folder, path)) {
    weir_event("cache_none",
               WEIR_TEXT("reason", "no folder: none of cache_dir, XDG_CACHE_HOME and HOME is set"));
    return -1;
  }
  make_folders(path);
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    weir_objects_refuse(path, errno == ELOOP || errno == ENOTDIR ? "is a link, or not a folder"
                                                                 : strerror(errno));
    return -1;
  }
  const char *reason = NULL;
  if (fstat(fd, &info) != 0) {
    reason = "cannot be accessed";
  } else if (info.st_uid != geteuid()) {
    reason = "belongs to another user";
  } else if ((info.st_mode & 022) != 0) {
    reason = "is writable by others (chmod 700 it)";
  }
  if (reason != NULL) {
    weir_objects_refuse(path, reason);
    close(fd);
    return -1;
  }
  return fd;
}

/* ---- Objects. ---- */

static void digest_of(const char *name, const char *bytes, int64_t n, char hex[65])
{
  char both[128];

  weir_sha256(bytes, (size_t)n, hex);
  memcpy(both, name, 64);
  memcpy(both + 64, hex, 64);
  weir_sha256(both, sizeof both, hex);
}

/* Reads n bytes from the start of the file. */
static bool read_whole(int fd, char *bytes, int64_t n)
{
  int64_t done = 0;

  while (done < n) {
    const ssize_t got = pread(fd, bytes + done, (size_t)(n - done), done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    done += got;
  }
  return true;
}

/* Bytes of an open file that this user alone could write. Fails: WEIR_ERR_MEMORY; *reason is set
 * where the file is refused, *bytes NULL then. */
static weir_status read_object(int fd, char **bytes, int64_t *n, const char **reason)
{
  struct stat info;
  void *memory;

  *bytes = NULL;
  *reason = NULL;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    *reason = "is not a plain file";
  } else if (info.st_uid != geteuid()) {
    *reason = "belongs to another user";
  } else if ((info.st_mode & 07777) != 0600) {
    *reason = "does not have mode 0600";
  } else if (info.st_size <= TRAILER || info.st_size > largest) {
    *reason = "has an impossible size";
  }
  if (*reason != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(info.st_size, 1, &memory));
  *bytes = memory;
  *n = info.st_size;
  if (!read_whole(fd, *bytes, *n)) {
    *reason = "cannot be read completely";
    weir_free(bytes);
  }
  return WEIR_OK;
}

weir_status weir_objects_find(int folder, const char *name, int *fd)
{
  char file[80], hex[65], *bytes = NULL;
  const char *reason = NULL;
  int64_t n = 0;

  snprintf(file, sizeof file, "%s.so", name);
  *fd = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (*fd < 0) {
    if (errno != ENOENT) {
      weir_objects_refuse(file, errno == ELOOP ? "is a link" : strerror(errno));
    }
    return WEIR_OK;
  }
  const weir_status status = read_object(*fd, &bytes, &n, &reason);
  if (status == WEIR_OK && reason == NULL) {
    digest_of(name, bytes, n - TRAILER, hex);
    if (memcmp(bytes + n - TRAILER, MARK, MARK_SIZE) != 0 ||
        memcmp(bytes + n - TRAILER + MARK_SIZE, hex, 64) != 0) {
      reason = "does not match its digest";
    }
  }
  weir_free(&bytes);
  if (status != WEIR_OK || reason != NULL) {
    close(*fd);
    *fd = -1;
  }
  if (reason != NULL) {
    weir_objects_refuse(file, reason);
  }
  return status == WEIR_OK ? WEIR_OK : weir_trace_at(status, __FILE__, __LINE__, __func__);
}

static bool write_whole(int fd, const char *bytes, int64_t n)
{
  int64_t done = 0;

  while (done < n) {
    const ssize_t put = write(fd, bytes + done, (size_t)(n - done));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return false;
    }
    done += put;
  }
  return true;
}

/* Writes two sections under the name, atomically; `safe`: what a crash must not tear. */
static bool put_file(int folder, const char *name, bool safe, const char *first, int64_t n_first,
                     const char *second, int64_t n_second)
{
  char unfinished[128];
  int fd = -1;

  for (int attempt = 0; fd < 0 && attempt < 100; attempt++) {
    snprintf(unfinished, sizeof unfinished, "%s.tmp-%ld-%d", name, (long)getpid(), attempt);
    fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno != EEXIST) {
      break;
    }
  }
  if (fd < 0) {
    weir_objects_refuse(name, strerror(errno));
    return false;
  }
  bool right = fchmod(fd, 0600) == 0 && write_whole(fd, first, n_first) &&
               write_whole(fd, second, n_second) && (!safe || fsync(fd) == 0);
  right = close(fd) == 0 && right;
  if (!right || renameat(folder, unfinished, folder, name) != 0) {
    weir_objects_refuse(name, strerror(errno));
    (void)unlinkat(folder, unfinished, 0);
    return false;
  }
  return true;
}

static bool put_object(int folder, const char *name, const char *bytes, int64_t n)
{
  char file[80], trailer[TRAILER], hex[65];

  snprintf(file, sizeof file, "%s.so", name);
  memcpy(trailer, MARK, MARK_SIZE);
  digest_of(name, bytes, n, hex);
  memcpy(trailer + MARK_SIZE, hex, 64);
  return put_file(folder, file, true, bytes, n, trailer, TRAILER);
}

bool weir_objects_note(int folder, const char *file, const char *text)
{
  return put_file(folder, file, false, text, (int64_t)strlen(text), "\n", 1);
}

weir_status weir_objects_keep(int folder, int fd, const char *name, bool *kept, int64_t *bytes)
{
  const char *reason = NULL;
  char *text = NULL;

  WEIR_TRY(read_object(fd, &text, bytes, &reason));
  if (reason != NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "what was compiled %s", reason);
  }
  *kept = folder >= 0 && put_object(folder, name, text, *bytes);
  weir_free(&text);
  return WEIR_OK;
}
