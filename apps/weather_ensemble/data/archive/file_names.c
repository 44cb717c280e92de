/* file_names.c - see file_names.h. */
#include "data/archive/file_names.h"
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_alloc.h"

enum { DEEPEST = 16 }; /* folders within a folder whose size is counted */

static weir_status add(wx_file_names *f, const char *path)
{
  WEIR_TRY(weir_reserve(&f->path, &f->capacity, f->n + 1, sizeof *f->path));
  WEIR_TRY(weir_strdup(path, &f->path[f->n]));
  f->n++;
  return WEIR_OK;
}

static weir_status add_matches(wx_file_names *f, const char *pattern)
{
  glob_t found;
  weir_status status = WEIR_OK;

  memset(&found, 0, sizeof found);
  const int code = glob(pattern, 0, NULL, &found);

  if (code == GLOB_NOSPACE) {
    status = weir_fail(WEIR_ERR_MEMORY, "%s: too many files match this pattern", pattern);
  } else if (code != 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: no file matches this pattern", pattern);
  }
  for (size_t i = 0; i < found.gl_pathc && status == WEIR_OK; i++) {
    status = add(f, found.gl_pathv[i]);
  }
  globfree(&found);
  return status;
}

weir_status wx_file_names_find(const char *const *names, int64_t n, wx_file_names *out)
{
  weir_status status = WEIR_OK;

  *out = (wx_file_names){.n = 0};
  for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
    const bool pattern = strpbrk(names[i], "*?[") != NULL && access(names[i], F_OK) != 0;

    status = pattern ? add_matches(out, names[i]) : add(out, names[i]);
  }
  if (status != WEIR_OK) {
    wx_file_names_fini(out);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  return WEIR_OK;
}

/* Of a folder: the sum of what is in it, links not followed; 0 beyond `depth` folders. */
static int64_t bytes_below(int folder, const char *name, int depth)
{
  struct stat info;
  int64_t bytes = 0;

  if (fstatat(folder, name, &info, depth == DEEPEST ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
    return 0;
  }
  if (!S_ISDIR(info.st_mode) || depth == 0) {
    return S_ISREG(info.st_mode) ? (int64_t)info.st_size : 0;
  }
  const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const dir = fd >= 0 ? fdopendir(fd) : NULL;

  if (dir == NULL) {
    (void)(fd >= 0 && close(fd));
    return 0;
  }
  for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    const bool own = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;

    bytes += own ? 0 : bytes_below(fd, e->d_name, depth - 1);
  }
  closedir(dir);
  return bytes;
}

int64_t wx_file_names_bytes(const wx_file_names *f)
{
  int64_t bytes = 0;

  for (int64_t i = 0; i < f->n; i++) {
    bytes += bytes_below(AT_FDCWD, f->path[i], DEEPEST);
  }
  return bytes;
}

void wx_file_names_fini(wx_file_names *f)
{
  for (int64_t i = 0; i < f->n; i++) {
    weir_free(&f->path[i]);
  }
  weir_free(&f->path);
  *f = (wx_file_names){.n = 0};
}
