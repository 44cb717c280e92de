/* listing.c - see listing.h. */
#include "watch/listing.h"
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"

static int64_t nanoseconds(struct timespec t)
{
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool wx_listing_version(const char *path, char version[WX_VERSION], int64_t *bytes,
                        int64_t *modified)
{
  struct stat info;

  if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
    return false;
  }
  *bytes = (int64_t)info.st_size;
  *modified = nanoseconds(info.st_mtim);
  (void)snprintf(version, WX_VERSION, "%llu-%lld-%lld-%lld", (unsigned long long)info.st_ino,
                 (long long)info.st_size, (long long)*modified,
                 (long long)nanoseconds(info.st_ctim));
  return true;
}

static int by_name(const void *one, const void *other)
{
  return strcmp(((const wx_listed *)one)->name, ((const wx_listed *)other)->name);
}

static bool is_candidate(const char *name, const char *pattern)
{
  for (const unsigned char *c = (const unsigned char *)name; *c != 0; c++) {
    if (*c < 32 || *c == 127) {
      return false;
    }
  }
  return fnmatch(pattern, name, FNM_PERIOD) == 0;
}

static weir_status add(wx_listing *l, const char *dir, const char *name, double now)
{
  char path[PATH_MAX];
  wx_listed f = {.since = now};

  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  if (!wx_listing_version(path, f.version, &f.bytes, &f.modified)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&l->file, &l->capacity, l->n + 1, sizeof *l->file));
  WEIR_TRY(weir_strdup(name, &f.name));
  l->file[l->n++] = f;
  return WEIR_OK;
}

static weir_status read_folder(wx_listing *l, const char *dir, const char *pattern, double now)
{
  DIR *const folder = opendir(dir);
  weir_status status = WEIR_OK;

  if (folder == NULL) {
    return weir_fail(WEIR_ERR_DATA, "%s: the folder cannot be read: %s", dir, strerror(errno));
  }
  errno = 0;
  for (const struct dirent *e = readdir(folder); e != NULL && status == WEIR_OK;
       e = readdir(folder)) {
    status = is_candidate(e->d_name, pattern) ? add(l, dir, e->d_name, now) : WEIR_OK;
    errno = 0;
  }
  if (status == WEIR_OK && errno != 0) {
    status = weir_fail(WEIR_ERR_DATA, "%s: the folder cannot be read: %s", dir, strerror(errno));
  }
  closedir(folder);
  return status;
}

/* What was known of the versions that are still there. */
static void take_over(wx_listing *to, const wx_listing *from)
{
  for (int64_t i = 0, k = 0; i < to->n && k < from->n;) {
    const int order = strcmp(to->file[i].name, from->file[k].name);

    if (order == 0 && strcmp(to->file[i].version, from->file[k].version) == 0) {
      to->file[i].since = from->file[k].since;
      to->file[i].handled = from->file[k].handled;
    }
    i += order <= 0;
    k += order >= 0;
  }
}

weir_status wx_listing_update(wx_listing *l, const char *dir, const char *pattern, double now)
{
  wx_listing next = {.n = 0};
  const weir_status status = read_folder(&next, dir, pattern, now);

  if (status != WEIR_OK) {
    wx_listing_fini(&next);
    return status;
  }
  if (next.n > 0) {
    qsort(next.file, (size_t)next.n, sizeof *next.file, by_name);
  }
  take_over(&next, l);
  wx_listing_fini(l);
  *l = next;
  return WEIR_OK;
}

void wx_listing_fini(wx_listing *l)
{
  for (int64_t i = 0; i < l->n; i++) {
    weir_free(&l->file[i].name);
  }
  weir_free(&l->file);
  *l = (wx_listing){.n = 0};
}

wx_listed *wx_listing_next(const wx_listing *l, double now, double settle)
{
  wx_listed *first = NULL;

  for (int64_t i = 0; i < l->n; i++) {
    wx_listed *const f = &l->file[i];

    if (!f->handled && now - f->since >= settle &&
        (first == NULL || f->modified < first->modified)) {
      first = f;
    }
  }
  return first;
}

int64_t wx_listing_waiting(const wx_listing *l)
{
  int64_t n = 0;

  for (int64_t i = 0; i < l->n; i++) {
    n += !l->file[i].handled;
  }
  return n;
}
