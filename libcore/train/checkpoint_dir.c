/* checkpoint_dir.c - a folder of checkpoints: the newest that is whole, and no more than asked. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_netcdf.h"
#include "train/weir_checkpoint.h"

enum { PATH = 4096 };

static const char prefix[] = "checkpoint-";

/* Checkpoints of a folder, newest first. */
struct folder {
  struct entry {
    int64_t step;
    char name[64];
  } * entry;
  int64_t n, capacity;
};

static const char *suffix_of(weir_checkpoint_format format)
{
  const bool raw =
      format == WEIR_CHECKPOINT_RAW || (format == WEIR_CHECKPOINT_AUTO && !weir_netcdf_available());

  return raw ? "weir" : "nc";
}

weir_status weir_checkpoint_path(const char *dir, int64_t step, weir_checkpoint_format format,
                                 char *path, size_t size)
{
  char name[64];

  (void)snprintf(name, sizeof name, "%s%09" PRId64 ".%s", prefix, step, suffix_of(format));
  return weir_path_join(dir, name, path, size);
}

weir_status weir_checkpoint_weights(const char *dir, weir_checkpoint_format format, char *path,
                                    size_t size)
{
  char name[16];

  (void)snprintf(name, sizeof name, "weights.%s", suffix_of(format));
  return weir_path_join(dir, name, path, size);
}

/* Step of "checkpoint-000000120.nc", and what follows the step in *rest; -1: another name. */
static int64_t step_of(const char *name, const char **rest)
{
  char *end = NULL;

  if (strncmp(name, prefix, sizeof prefix - 1) != 0 ||
      !isdigit((unsigned char)name[sizeof prefix - 1])) {
    return -1;
  }
  errno = 0;
  const long long step = strtoll(name + sizeof prefix - 1, &end, 10);

  *rest = end;
  return errno == 0 && (strncmp(end, ".nc", 3) == 0 || strncmp(end, ".weir", 5) == 0) ? step : -1;
}

static int newest_first(const void *a, const void *b)
{
  const int64_t x = ((const struct entry *)a)->step, y = ((const struct entry *)b)->step;

  return (x < y) - (x > y);
}

static weir_status list(const char *dir, struct folder *f)
{
  DIR *d = opendir(dir);
  const struct dirent *entry;
  weir_status status = WEIR_OK;

  while (d != NULL && status == WEIR_OK && (entry = readdir(d)) != NULL) {
    const char *rest = "";
    const int64_t step = step_of(entry->d_name, &rest);

    if (step < 0 || (strcmp(rest, ".nc") != 0 && strcmp(rest, ".weir") != 0) ||
        strlen(entry->d_name) >= sizeof f->entry->name) {
      continue;
    }
    status = weir_reserve(&f->entry, &f->capacity, f->n + 1, sizeof *f->entry);
    if (status == WEIR_OK) {
      f->entry[f->n].step = step;
      memcpy(f->entry[f->n++].name, entry->d_name, strlen(entry->d_name)); /* zeroed */
    }
  }
  if (d != NULL) {
    closedir(d);
  }
  if (status == WEIR_OK && f->n > 1) {
    qsort(f->entry, (size_t)f->n, sizeof *f->entry, newest_first);
  }
  return status;
}

weir_status weir_checkpoint_newest(const char *dir, int64_t *step)
{
  struct folder f = {0};
  const weir_status status = list(dir, &f);

  *step = f.n > 0 ? f.entry[0].step : -1;
  weir_free(&f.entry);
  return status;
}

weir_status weir_checkpoint_newest_path(const char *dir, char *path, size_t size)
{
  int64_t step = -1;

  path[0] = 0;
  WEIR_TRY(weir_checkpoint_newest(dir, &step));
  if (step < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_NETCDF, path, size));
  return weir_file_exists(path) ? WEIR_OK
                                : weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_RAW, path, size);
}

/* What cannot be read may be whole. */
static weir_status can_read(const char *path)
{
  FILE *f = fopen(path, "rb");
  weir_status status = WEIR_OK;

  if (f == NULL || (fgetc(f) == EOF && ferror(f) != 0)) {
    status = weir_fail(WEIR_ERR_DATA, "%s: cannot be read: %m", path);
  }
  if (f != NULL) {
    fclose(f);
  }
  return status;
}

/* The reason is the last message. */
static void tell_damage(const char *path)
{
  weir_warn("train", "%s; this checkpoint is skipped", weir_last_message());
  weir_event("checkpoint_damaged", WEIR_TEXT("file", path),
             WEIR_TEXT("reason", weir_last_message()));
}

/* Moves the n newest out of the way of the next older one, which is intact. */
static weir_status set_aside(const char *dir, const struct folder *f, int64_t n)
{
  char path[PATH], aside[PATH + 16];

  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(weir_path_join(dir, f->entry[i].name, path, sizeof path));
    (void)snprintf(aside, sizeof aside, "%s.damaged", path);
    if (rename(path, aside) != 0) {
      weir_warn("train", "%s: cannot be renamed: %m", path);
    }
  }
  return WEIR_OK;
}

weir_status weir_checkpoint_resume(const weir_checkpoint *c, const char *dir, int64_t *step)
{
  struct folder f = {0};
  char path[PATH];
  weir_status status;
  int64_t i = 0;

  *step = -1;
  WEIR_TRY_GOTO(list(dir, &f), done);
  for (; i < f.n; i++) {
    WEIR_TRY_GOTO(weir_path_join(dir, f.entry[i].name, path, sizeof path), done);
    WEIR_TRY_GOTO(can_read(path), done);
    status = weir_checkpoint_load(c, path, false);
    if (status == WEIR_OK) {
      *step = f.entry[i].step;
      break;
    }
    if (status != WEIR_ERR_DATA) {
      goto done;
    }
    tell_damage(path);
  }
  if (f.n > 0 && i == f.n) {
    status = weir_fail(WEIR_ERR_DATA,
                       "%s: none of its %" PRId64
                       " checkpoints is intact; they are left unchanged: start in another folder",
                       dir, f.n);
    goto done;
  }
  status = set_aside(dir, &f, i);
done:
  weir_free(&f.entry);
  return status;
}

/* "checkpoint-7.nc.tmp-123" of a process that is no more. */
static bool is_left_over(const char *name)
{
  const char *rest = "";

  if (step_of(name, &rest) < 0) {
    return false;
  }
  const char *mark = strstr(rest, ".tmp-");

  if (mark == NULL) {
    return false;
  }
  const long process = strtol(mark + 5, NULL, 10);

  return process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static void sweep(const char *dir)
{
  DIR *d = opendir(dir);
  const struct dirent *entry;

  while (d != NULL && (entry = readdir(d)) != NULL) {
    if (is_left_over(entry->d_name)) {
      (void)unlinkat(dirfd(d), entry->d_name, 0); /* the next sweep will see it again */
    }
  }
  if (d != NULL) {
    closedir(d);
  }
}

weir_status weir_checkpoint_prune(const char *dir, int64_t keep)
{
  struct folder f = {0};
  char path[PATH];
  weir_status status;

  sweep(dir);
  WEIR_TRY_GOTO(list(dir, &f), done);
  for (int64_t i = keep; i < f.n; i++) {
    WEIR_TRY_GOTO(weir_path_join(dir, f.entry[i].name, path, sizeof path), done);
    if (unlink(path) != 0 && errno != ENOENT) {
      status = weir_fail(WEIR_ERR_DATA, "%s: cannot be removed: %m", path);
      goto done;
    }
  }
done:
  weir_free(&f.entry);
  return status;
}
