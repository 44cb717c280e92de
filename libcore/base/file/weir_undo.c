/* weir_undo.c - the files and folders that a run made, so that a run which finds no space leaves
 * none. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_lock.h"
#include "base/weir_log.h"

typedef struct entry {
  char *path;
  char *before; /* where the file that it replaced is kept; NULL: there was none */
} entry;

static struct {
  weir_lock lock;
  bool on;
  entry *entries;
  int64_t n, capacity;
} undo = {.lock = WEIR_LOCK_INIT};

static bool is_noted(const char *path)
{
  for (int64_t i = 0; i < undo.n; i++) {
    if (strcmp(undo.entries[i].path, path) == 0) {
      return true;
    }
  }
  return false;
}

/* A second name for what `path` is now: the first stays until it is replaced. */
static weir_status keep_before(const char *path, char **before)
{
  const int64_t size = (int64_t)strlen(path) + 32;

  *before = NULL;
  if (!weir_file_exists(path)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(size, 1, (void **)before));
  (void)snprintf(*before, (size_t)size, "%s.before-%ld", path, (long)getpid());
  if (link(path, *before) != 0) { /* a file system without links: the replaced file is lost */
    weir_free(before);
  }
  return WEIR_OK;
}

/* Takes over `before`, which may be NULL. */
static weir_status add(const char *path, char *before)
{
  WEIR_TRY(weir_reserve(&undo.entries, &undo.capacity, undo.n + 1, sizeof *undo.entries));
  WEIR_TRY(weir_strdup(path, &undo.entries[undo.n].path));
  undo.entries[undo.n++].before = before;
  return WEIR_OK;
}

static weir_status note(const char *path)
{
  char *before = NULL;

  if (!undo.on || (weir_file_exists(path) && is_noted(path))) {
    return WEIR_OK;
  }
  WEIR_TRY(keep_before(path, &before));
  const weir_status status = add(path, before);

  if (status != WEIR_OK) {
    weir_free(&before);
  }
  return status;
}

weir_status base_undo_note(const char *path)
{
  weir_lock_take(&undo.lock);
  const weir_status status = note(path);

  weir_lock_give(&undo.lock);
  return status;
}

weir_status weir_writer_replaces(const char *path, const char *before)
{
  char *copy = NULL;

  WEIR_TRY(weir_strdup(before, &copy));
  weir_lock_take(&undo.lock);
  const weir_status status = add(path, copy);

  weir_lock_give(&undo.lock);
  if (status != WEIR_OK) {
    weir_free(&copy);
  }
  return status;
}

static void release(entry *e)
{
  weir_free(&e->before);
  weir_free(&e->path);
}

/* Removes the replaced files, and the folders on its way up that contained nothing else; that of a
 * run holds its log. */
static void drop_before(const entry *e)
{
  if (e->before == NULL) {
    return;
  }
  (void)unlink(e->before);
  for (char *slash = strrchr(e->before, '/'); slash != NULL && slash > e->before;
       slash = strrchr(e->before, '/')) {
    *slash = 0;
    if (rmdir(e->before) != 0) {
      break;
    }
  }
}

void weir_writer_remember(bool on)
{
  weir_lock_take(&undo.lock);
  for (int64_t i = 0; i < undo.n && !on; i++) {
    drop_before(&undo.entries[i]);
    release(&undo.entries[i]);
  }
  if (!on) {
    weir_free(&undo.entries);
    undo.n = undo.capacity = 0;
  }
  undo.on = on;
  weir_lock_give(&undo.lock);
}

static bool is_below(const char *path, const char *folder)
{
  const size_t n = strlen(folder);

  return n > 0 && strncmp(path, folder, n) == 0 && (folder[n - 1] == '/' || path[n] == '/');
}

/* A file or a folder; one that is not empty stays. Returns whether an earlier file is back. */
static bool take_back(const entry *e)
{
  if (e->before == NULL) {
    (void)remove(e->path);
    return false;
  }
  const bool back = rename(e->before, e->path) == 0;

  if (!back) {
    weir_warn("base", "%s of the earlier run is %s: %m", e->path, e->before);
  }
  return back;
}

int64_t weir_writer_undo(const char *folder)
{
  int64_t kept = 0, back = 0;

  weir_lock_take(&undo.lock);
  for (int64_t i = undo.n - 1; i >= 0; i--) { /* files before the folders that hold them */
    if (is_below(undo.entries[i].path, folder)) {
      back += take_back(&undo.entries[i]);
      release(&undo.entries[i]);
    }
  }
  for (int64_t i = 0; i < undo.n; i++) {
    if (undo.entries[i].path != NULL) {
      undo.entries[kept++] = undo.entries[i];
    }
  }
  undo.n = kept;
  weir_lock_give(&undo.lock);
  return back;
}
