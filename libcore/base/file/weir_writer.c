/* weir_writer.c - files that appear atomically: written to a temporary file, synced, renamed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_lock.h"

struct weir_writer {
  char *path, *unfinished; /* final path, and "<path>.tmp-<pid>" */
  FILE *stream;
  int reason;        /* errno of the first write that failed; 0: none */
  weir_writer *next; /* list of all open writers, for weir_writer_remove_all */
};

bool weir_no_space(int reason)
{
  return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

weir_status weir_write_failed(const char *path, int reason, weir_status other)
{
  const char *const slash = strrchr(path, '/');
  const int n = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
  const char *const folder = slash == NULL ? "." : path;

  switch (reason) {
  case ENOSPC:
    return weir_fail(WEIR_ERR_SPACE,
                     "%s: no space left on device: free space in %.*s or choose a folder on "
                     "another file system, then repeat the command",
                     path, n, folder);
  case EDQUOT:
    return weir_fail(WEIR_ERR_SPACE,
                     "%s: disk quota exceeded: remove files from the file system of %.*s or choose "
                     "a folder on another one, then repeat the command",
                     path, n, folder);
  case EFBIG:
    return weir_fail(WEIR_ERR_SPACE,
                     "%s: file too large: raise the file size limit (ulimit -f), or choose another "
                     "file system than that of %.*s, then repeat the command",
                     path, n, folder);
  default:
    return weir_fail(other, "%s: cannot be written: %s", path, strerror(reason));
  }
}

weir_status weir_output_failed(const char *what, int reason)
{
  return weir_fail(weir_no_space(reason) ? WEIR_ERR_SPACE : WEIR_ERR_DATA,
                   "%s: the standard output cannot be written: %s", what,
                   reason == 0 ? "it is closed or full" : strerror(reason));
}

weir_status weir_temporary_failed(const char *what, int reason)
{
  return weir_fail(weir_no_space(reason) ? WEIR_ERR_SPACE : WEIR_ERR_DATA,
                   "%s: a temporary file in " P_tmpdir " cannot be written: %s%s", what,
                   strerror(reason),
                   weir_no_space(reason) ? ": free space there, then repeat the command" : "");
}

static struct {
  weir_lock lock;
  weir_writer *first;
} writers = {.lock = WEIR_LOCK_INIT};

/* False when another writer of this process has the same final path. */
static bool enlist(weir_writer *w)
{
  bool is_free = true;

  weir_lock_take(&writers.lock);
  for (const weir_writer *other = writers.first; other != NULL; other = other->next) {
    is_free = is_free && strcmp(other->path, w->path) != 0;
  }
  if (is_free) {
    w->next = writers.first;
    writers.first = w;
  }
  weir_lock_give(&writers.lock);
  return is_free;
}

static void delist(weir_writer *w)
{
  weir_lock_take(&writers.lock);
  for (weir_writer **link = &writers.first; *link != NULL; link = &(*link)->next) {
    if (*link == w) {
      *link = w->next;
      break;
    }
  }
  weir_lock_give(&writers.lock);
}

static void release(weir_writer *w)
{
  weir_free(&w->path);
  weir_free(&w->unfinished);
  weir_free(&w);
}

/* Refuses here what rename would refuse only after all the work is done. */
static weir_status open_stream(weir_writer *w)
{
  struct stat info;

  if (stat(w->path, &info) == 0 && S_ISDIR(info.st_mode)) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot write: a directory has this name", w->path);
  }
  WEIR_TRY(base_spare_check(w->path));
  /* An old file of this name is of a dead process that had our number. */
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  const int fd = open(w->unfinished, flags, 0666);
  if (fd >= 0) {
    w->stream = fdopen(fd, "w");
  }
  if (w->stream == NULL) {
    const weir_status status = weir_write_failed(w->path, errno, WEIR_ERR_DATA);
    if (fd >= 0) {
      close(fd);
      unlink(w->unfinished);
    }
    return status;
  }
  return WEIR_OK;
}

weir_status weir_writer_open(const char *path, weir_writer **out)
{
  weir_status status;
  weir_writer *w;
  void *memory;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *w, &memory));
  w = memory;
  const size_t size = strlen(path) + 32;
  WEIR_TRY_GOTO(weir_strdup(path, &w->path), failed);
  WEIR_TRY_GOTO(weir_alloc((int64_t)size, 1, &memory), failed);
  w->unfinished = memory;
  snprintf(w->unfinished, size, "%s.tmp-%ld", path, (long)getpid());
  if (!enlist(w)) {
    status = weir_fail(WEIR_ERR_DATA, "%s: is already being written", path);
    goto failed;
  }
  base_event_file(w->unfinished);
  WEIR_TRY_GOTO(open_stream(w), listed);
  *out = w;
  return WEIR_OK;
listed:
  delist(w);
failed:
  release(w);
  return status;
}

/* Of the call that has just failed; the first reason stands: later ones may follow from it. */
static weir_status write_failed(weir_writer *w)
{
  w->reason = w->reason != 0 ? w->reason : errno;
  return weir_write_failed(w->path, w->reason, WEIR_ERR_DATA);
}

weir_status weir_writer_write(weir_writer *w, const void *data, size_t bytes)
{
  if (bytes > 0 && fwrite(data, 1, bytes, w->stream) != bytes) {
    return write_failed(w);
  }
  return WEIR_OK;
}

weir_status weir_writer_printf(weir_writer *w, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  const int written = vfprintf(w->stream, format, args);
  va_end(args);
  return written < 0 ? write_failed(w) : WEIR_OK;
}

/* By name and not through the stream: a library may have written, or replaced, the file. */
static bool sync_path(const char *path, int flags)
{
  const int fd = open(path, O_RDONLY | O_CLOEXEC | flags);

  if (fd < 0) {
    return false;
  }
  const bool synced = fsync(fd) == 0 || errno == EINVAL || errno == EROFS;
  const int reason = errno;
  close(fd);
  errno = reason;
  return synced;
}

/* Makes the new name itself durable. A file system that cannot sync directories is not an error:
 * the file is whole either way. */
static void sync_parent(char *path)
{
  char *slash = strrchr(path, '/');

  if (slash == NULL) {
    sync_path(".", O_DIRECTORY);
  } else if (slash == path) {
    sync_path("/", O_DIRECTORY);
  } else {
    *slash = 0;
    sync_path(path, O_DIRECTORY);
    *slash = '/';
  }
}

/* All that was written is in the unfinished file. lasting: an output of the run, which stands
 * through a failure of the machine. */
static weir_status settle(weir_writer *w, bool lasting)
{
  const bool closed = fclose(w->stream) == 0;

  w->stream = NULL;
  return closed && w->reason == 0 && (!lasting || sync_path(w->unfinished, 0)) ? WEIR_OK
                                                                               : write_failed(w);
}

static weir_status appear(weir_writer *w, bool lasting)
{
  if (lasting) {
    base_event_file(w->path); /* first: a file that stands is always noted */
    WEIR_TRY(base_undo_note(w->path));
  }
  if (rename(w->unfinished, w->path) != 0) {
    return write_failed(w);
  }
  if (lasting) {
    sync_parent(w->path);
  }
  return WEIR_OK;
}

static weir_status commit(weir_writer **writer, bool lasting)
{
  weir_status status = settle(*writer, lasting);

  if (status == WEIR_OK) {
    status = appear(*writer, lasting);
  }
  weir_writer_destroy(writer);
  return status;
}

weir_status weir_writer_commit_all(weir_writer **w, int n)
{
  weir_status status = WEIR_OK;
  int stand = 0;

  for (int k = 0; k < n && status == WEIR_OK; k++) {
    status = w[k] != NULL ? settle(w[k], true) : WEIR_OK;
  }
  for (; stand < n && status == WEIR_OK; stand++) {
    status = w[stand] != NULL ? appear(w[stand], true) : WEIR_OK;
  }
  for (int k = 0; k < n; k++) {
    if (status != WEIR_OK && k + 1 < stand && w[k] != NULL) {
      unlink(w[k]->path);
    }
    weir_writer_destroy(&w[k]);
  }
  return status;
}

weir_status weir_writer_commit(weir_writer **writer)
{
  return commit(writer, true);
}

weir_status weir_writer_commit_passing(weir_writer **writer)
{
  return commit(writer, false);
}

/* Cut first: a library may keep the file open, and with it its space. */
static void give_back(const weir_writer *w)
{
  (void)!truncate(w->unfinished, 0);
  unlink(w->unfinished);
}

void weir_writer_destroy(weir_writer **writer)
{
  weir_writer *w = writer == NULL ? NULL : *writer;

  if (w == NULL) {
    return;
  }
  *writer = NULL;
  delist(w);
  if (w->stream != NULL) {
    fclose(w->stream);
  }
  give_back(w);
  release(w);
}

const char *weir_writer_path(const weir_writer *w)
{
  return w->unfinished;
}

void weir_writer_remove_all(void)
{
  weir_lock_take(&writers.lock);
  for (const weir_writer *w = writers.first; w != NULL; w = w->next) {
    give_back(w);
  }
  weir_lock_give(&writers.lock);
}
