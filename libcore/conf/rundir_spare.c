/* rundir_spare.c - files that no run replaces: its inputs, and files that no run has noted as its
 * own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/conf_priv.h"
#include "conf/rundir_priv.h"

enum { DEPTH = 4 }; /* of folders in which results lie */

/* A file, and the kind of run whose it is. */
typedef struct noted {
  char *name, *of;
} noted;

typedef struct noted_list {
  noted *items;
  int64_t n, capacity;
} noted_list;

static weir_status collect(int fd, const char *name, const char *of, void *context)
{
  noted_list *const l = context;

  (void)fd;
  WEIR_TRY(weir_reserve(&l->items, &l->capacity, l->n + 1, sizeof *l->items));
  noted *const to = &l->items[l->n++];

  *to = (noted){NULL, NULL};
  WEIR_TRY(weir_strdup(name, &to->name));
  return weir_strdup(of, &to->of);
}

static int by_name(const void *a, const void *b)
{
  return strcmp(((const noted *)a)->name, ((const noted *)b)->name);
}

static int by_name_and_run(const void *a, const void *b)
{
  const int names = by_name(a, b);

  return names != 0 ? names : strcmp(((const noted *)a)->of, ((const noted *)b)->of);
}

static void forget(noted_list *l)
{
  for (int64_t i = 0; i < l->n; i++) {
    weir_free(&l->items[i].name);
    weir_free(&l->items[i].of);
  }
  weir_free(&l->items);
}

/* What all logs in the folder note, sorted; *walk says whether there are logs, and such notes. */
static weir_status read_notes(const char *out, conf_earlier *walk, noted_list *l)
{
  DIR *const dir = opendir(out);

  *l = (noted_list){.items = NULL};
  walk->act = collect;
  walk->context = l;
  walk->all = true;
  if (dir == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the folder cannot be read: %s", out, strerror(errno));
  }
  const weir_status status = conf_walk_logs(dir, walk);

  closedir(dir);
  if (status != WEIR_OK) {
    forget(l);
  } else if (l->n > 0) {
    qsort(l->items, (size_t)l->n, sizeof *l->items, by_name_and_run);
  }
  return status;
}

/* Names that every run writes, at the top. */
static bool is_common(const char *name)
{
  return conf_is_log(name) || strcmp(name, "resolved.yaml") == 0 ||
         strcmp(name, "provenance.json") == 0;
}

static weir_status spare_strangers(int fd, const char *out, const char *folder, int below,
                                   const noted_list *l);

static weir_status spare_entry(int fd, const char *out, const char *folder, const char *entry,
                               int below, const noted_list *l)
{
  char name[PATH_MAX], path[PATH_MAX];
  struct stat info;

  if (snprintf(name, sizeof name, "%s%s", folder, entry) >= (int)sizeof name ||
      fstatat(fd, entry, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return WEIR_OK;
  }
  if (S_ISDIR(info.st_mode)) {
    const int inner = openat(fd, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const size_t n = strlen(name);

    if (below == 0 || inner < 0 || n + 1 >= sizeof name) {
      (void)(inner < 0 ? 0 : close(inner));
      return WEIR_OK;
    }
    memcpy(name + n, "/", 2);
    return spare_strangers(inner, out, name, below - 1, l);
  }
  const noted key = {name, NULL};
  const bool ours = (folder[0] == 0 && is_common(entry)) ||
                    (l->n > 0 && bsearch(&key, l->items, (size_t)l->n, sizeof key, by_name));

  WEIR_TRY(ours ? WEIR_OK : weir_path_join(out, name, path, sizeof path));
  return ours ? WEIR_OK
              : weir_writer_spare(
                    path,
                    "is not recorded as a file of an earlier run: --overwrite replaces results of "
                    "earlier runs only: choose another --out, or move the file away");
}

/* All files below the open folder, which this closes, that are not on the list. */
static weir_status spare_strangers(int fd, const char *out, const char *folder, int below,
                                   const noted_list *l)
{
  DIR *const dir = fdopendir(fd);
  const struct dirent *entry;
  weir_status status = WEIR_OK;

  if (dir == NULL) {
    close(fd);
    return WEIR_OK;
  }
  while (status == WEIR_OK && (entry = readdir(dir)) != NULL) {
    status =
        entry->d_name[0] == '.' ? WEIR_OK : spare_entry(fd, out, folder, entry->d_name, below, l);
  }
  closedir(dir);
  return status;
}

/* An input; itself, and where a link leads. */
static weir_status spare_input(void *context, const char *path)
{
  static const char reason[] = "an input of this run, which would replace it: choose another --out";
  char real[PATH_MAX];

  (void)context;
  WEIR_TRY(weir_writer_spare(path, reason));
  return realpath(path, real) == NULL ? WEIR_OK : weir_writer_spare(real, reason);
}

weir_status conf_spare_others(const weir_run_dir *run)
{
  const char *const out = run->cli->out;
  conf_earlier walk = {.kept = NULL};
  noted_list l;

  WEIR_TRY(weir_config_files(run->config, spare_input, NULL));
  WEIR_TRY(read_notes(out, &walk, &l));
  /* A log without notes is of an old version: its files may have any name. */
  const int fd = walk.logs && !walk.noted ? -1 : open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const weir_status status = fd < 0 ? WEIR_OK : spare_strangers(fd, out, "", DEPTH, &l);

  forget(&l);
  return status;
}

weir_status conf_keep_notes(const weir_run_dir *run)
{
  conf_earlier walk = {.kept = run->log};
  noted_list l;

  WEIR_TRY(read_notes(run->cli->out, &walk, &l));
  for (int64_t i = 0; i < l.n; i++) {
    const noted *const x = &l.items[i];
    char path[PATH_MAX];
    const bool again = i > 0 && by_name_and_run(x - 1, x) == 0;
    const bool goes = x->of[0] != 0 && strcmp(x->of, run->owner) == 0;

    if (!again && !goes && !is_common(x->name) &&
        weir_path_join(run->cli->out, x->name, path, sizeof path) == WEIR_OK &&
        weir_file_exists(path)) {
      weir_event("left", WEIR_TEXT("name", x->name), WEIR_TEXT("of", x->of));
    }
  }
  forget(&l);
  return WEIR_OK;
}
