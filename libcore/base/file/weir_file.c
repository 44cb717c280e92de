/* weir_file.c - bounded reads, directories and paths. */
#include "base/weir_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_dir_lock.h"

/* Opens for reading and refuses directories; *size is 0 for what has no size, such as a pipe. */
static weir_status open_input(const char *path, int *fd, int64_t *size)
{
  struct stat info;

  *size = 0;
  *fd = open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot open: %m", path);
  }
  if (fstat(*fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    const weir_status status =
        weir_fail(WEIR_ERR_DATA, "%s: not a readable file (a folder?)", path);
    close(*fd);
    return status;
  }
  *size = S_ISREG(info.st_mode) ? (int64_t)info.st_size : 0;
  return WEIR_OK;
}

static weir_status too_large(const char *path, int64_t limit)
{
  return weir_fail(WEIR_ERR_DATA, "%s: exceeds the %" PRId64 " bytes allowed for such a file", path,
                   limit);
}

/* Reads to the end of the file; never holds more than limit + 2 bytes, or twice what was read. */
static weir_status read_all(int fd, const char *path, int64_t limit, char **out, int64_t *size)
{
  int64_t capacity = *size + 2; /* one to see growth, one for the terminating 0 */
  int64_t used = 0;
  void *data;
  weir_status status;

  WEIR_TRY(weir_alloc(capacity, 1, &data));
  for (;;) {
    if (used + 1 >= capacity) {
      WEIR_TRY_GOTO(weir_reserve(&data, &capacity, capacity + 4096, 1), failed);
    }
    const ssize_t got = read(fd, (char *)data + used, (size_t)(capacity - 1 - used));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      status = weir_fail(WEIR_ERR_DATA, "%s: cannot be read: %m", path);
      goto failed;
    }
    if (got == 0) {
      break;
    }
    used += got;
    if (used > limit) {
      status = too_large(path, limit);
      goto failed;
    }
  }
  ((char *)data)[used] = 0;
  *out = data;
  *size = used;
  return WEIR_OK;
failed:
  weir_free(&data);
  return status;
}

weir_status weir_file_read(const char *path, int64_t limit, char **out, int64_t *size)
{
  int64_t length;
  int fd;

  *out = NULL;
  *size = 0;
  WEIR_TRY(open_input(path, &fd, &length));
  weir_status status = length > limit ? too_large(path, limit) : WEIR_OK;
  if (status == WEIR_OK) {
    status = read_all(fd, path, limit, out, &length);
  }
  close(fd);
  if (status == WEIR_OK) {
    *size = length;
  }
  return status;
}

int weir_text_mark(const char *text, int64_t size)
{
  return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

bool weir_file_exists(const char *path)
{
  return access(path, F_OK) == 0;
}

weir_status weir_file_size(const char *path, int64_t *size)
{
  struct stat info;

  if (stat(path, &info) != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: cannot open: %m", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return weir_fail(WEIR_ERR_DATA, "%s: is not a regular file", path);
  }
  *size = (int64_t)info.st_size;
  return WEIR_OK;
}

static weir_status make_one(const char *path)
{
  struct stat info;

  if (mkdir(path, 0777) == 0) {
    return base_undo_note(path);
  }
  const int reason = errno;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    return WEIR_OK;
  }
  if (weir_no_space(reason)) {
    return weir_write_failed(path, reason, WEIR_ERR_DATA);
  }
  return weir_fail(WEIR_ERR_DATA, "%s: cannot create the directory: %s", path,
                   reason == EEXIST ? "a file has this name" : strerror(reason));
}

weir_status weir_dir_create(const char *path)
{
  weir_status status = WEIR_OK;
  char *copy;

  if (path[0] == 0) {
    return weir_fail(WEIR_ERR_DATA, "cannot create a directory without a name");
  }
  WEIR_TRY(weir_strdup(path, &copy));
  for (char *slash = copy + 1; status == WEIR_OK && (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    status = make_one(copy);
    *slash = '/';
  }
  if (status == WEIR_OK) {
    status = make_one(copy);
  }
  weir_free(&copy);
  return status;
}

bool weir_dir_has_entries(const char *path)
{
  DIR *dir = opendir(path);
  const struct dirent *entry;
  bool found = false;

  if (dir == NULL) {
    return false;
  }
  while (!found && (entry = readdir(dir)) != NULL) {
    found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, WEIR_DIR_LOCK_NAME) != 0;
  }
  closedir(dir);
  return found;
}

weir_status weir_path_join(const char *dir, const char *name, char *text, size_t size)
{
  const size_t length = strlen(dir);
  const bool bare = length == 0 || dir[length - 1] == '/';
  const int written = snprintf(text, size, "%s%s%s", dir, bare ? "" : "/", name);

  if (written < 0 || (size_t)written >= size) {
    return weir_fail(WEIR_ERR_CONFIG, "the path %s/%s is longer than %zu bytes", dir, name, size);
  }
  return WEIR_OK;
}
