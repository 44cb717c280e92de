/* weir_spare.c - files that no writer of this process may replace. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_lock.h"

/* A place: folder and name, however the path is spelled. No inode of the file itself: one that is
 * free again is given to the next file. */
typedef struct place {
  dev_t device;
  ino_t folder;
  char *name;
  const char *reason;
} place;

static struct {
  weir_lock lock;
  place *places;
  int64_t n, capacity;
  bool refused;
} spared = {.lock = WEIR_LOCK_INIT};

/* False where nothing is called so; `name` borrows from path. */
static bool place_of(const char *path, place *out, const char **name)
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
  *out = (place){.device = info.st_dev, .folder = info.st_ino};
  return true;
}

static weir_status add(const place *p, const char *name)
{
  WEIR_TRY(weir_reserve(&spared.places, &spared.capacity, spared.n + 1, sizeof *spared.places));
  spared.places[spared.n] = *p;
  WEIR_TRY(weir_strdup(name, &spared.places[spared.n].name));
  spared.n++;
  return WEIR_OK;
}

weir_status weir_writer_spare(const char *path, const char *reason)
{
  const char *name = NULL;
  place p;

  if (!place_of(path, &p, &name)) {
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
    weir_free(&spared.places[i].name);
  }
  weir_free(&spared.places);
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
  place p;

  weir_lock_take(&spared.lock);
  if (spared.n > 0 && place_of(path, &p, &name)) {
    for (int64_t i = 0; i < spared.n && reason == NULL; i++) {
      const place *const s = &spared.places[i];
      const bool same =
          s->folder == p.folder && s->device == p.device && strcmp(s->name, name) == 0;

      reason = same ? s->reason : NULL;
    }
  }
  spared.refused = spared.refused || reason != NULL;
  weir_lock_give(&spared.lock);
  return reason == NULL ? WEIR_OK : weir_fail(WEIR_ERR_CONFIG, "%s: %s", path, reason);
}
