/* weir_spare.c - files that no writer of this process may replace. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_lock.h"

/* A directory entry: folder and name, however the path is spelled. No inode of the file itself: one
 * that is free again is given to the next file. */
typedef struct entry {
  dev_t device;
  ino_t folder;
  char *name;
  const char *reason;
} entry;

static struct {
  weir_lock lock;
  entry *entries;
  int64_t n, capacity;
  bool refused;
} spared = {.lock = WEIR_LOCK_INIT};

/* False where nothing is called so; `name` borrows from path. */
static bool entry_of(const char *path, entry *out, const char **name)
{
  const char *const slash = strrchr(path, '/');
  const size_t n = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  char folder[PATH_MAX] = ".";
  struct stat info;

  if (n >= sizeof folder || lstat(path, &info) != 0) {
    return false;
  }
  if (slash != NULL) {
    memcpy(folder, path, n);
    folder[n] = 0;
  }
  if (stat(folder, &info) != 0) {
    return false;
  }
  *name = path + n;
  *out = (entry){.device = info.st_dev, .folder = info.st_ino};
  return true;
}

static weir_status add(const entry *p, const char *name)
{
  WEIR_TRY(weir_reserve(&spared.entries, &spared.capacity, spared.n + 1, sizeof *spared.entries));
  spared.entries[spared.n] = *p;
  WEIR_TRY(weir_strdup(name, &spared.entries[spared.n].name));
  spared.n++;
  return WEIR_OK;
}

weir_status weir_writer_spare(const char *path, const char *reason)
{
  const char *name = NULL;
  entry p;

  if (!entry_of(path, &p, &name)) {
    return WEIR_OK;
  }
  p.reason = reason;
  weir_lock_take(&spared.lock);
  const weir_status status = add(&p, name);

  weir_lock_give(&spared.lock);
  return status;
}

void weir_writer_spare_none(void)
{
  weir_lock_take(&spared.lock);
  for (int64_t i = 0; i < spared.n; i++) {
    weir_free(&spared.entries[i].name);
  }
  weir_free(&spared.entries);
  spared.n = spared.capacity = 0;
  spared.refused = false;
  weir_lock_give(&spared.lock);
}

bool weir_writer_refused(void)
{
  weir_lock_take(&spared.lock);
  const bool refused = spared.refused;

  weir_lock_give(&spared.lock);
  return refused;
}

weir_status base_spare_check(const char *path)
{
  const char *name = NULL, *reason = NULL;
  entry p;

  weir_lock_take(&spared.lock);
  if (spared.n > 0 && entry_of(path, &p, &name)) {
    for (int64_t i = 0; i < spared.n && reason == NULL; i++) {
      const entry *const s = &spared.entries[i];
      const bool same =
          s->folder == p.folder && s->device == p.device && strcmp(s->name, name) == 0;

      reason = same ? s->reason : NULL;
    }
  }
  spared.refused = spared.refused || reason != NULL;
  weir_lock_give(&spared.lock);
  return reason == NULL ? WEIR_OK : weir_fail(WEIR_ERR_CONFIG, "%s: %s", path, reason);
}
