/* folder.c - samples that stay in a local directory: one file each, with what it is and the sum of
 * its bytes, atomically. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_file.h"
#include "io/weir_crc32c.h"
#include "load/load_priv.h"

/* In the byte order of the machine: a local disk is not read by another one. */
typedef struct head {
  char magic[8];
  uint64_t key;
  int64_t sample, bytes;
  uint32_t crc, head_crc; /* of the data; of the header */
} head;

static const char magic[8] = "WEIRLOAD";

static head head_of(const load_folder *f, int64_t sample, uint32_t crc)
{
  head h = {.key = f->key, .sample = sample, .bytes = f->bytes, .crc = crc};

  memcpy(h.magic, magic, sizeof magic);
  h.head_crc = weir_crc32c(0, &h, offsetof(head, head_crc));
  return h;
}

void load_folder_path(const load_folder *f, int64_t sample, char *path, size_t size)
{
  (void)snprintf(path, size, "%s%lld.sample", f->prefix, (long long)sample);
}

weir_status load_folder_open(load_folder *f, const char *path, uint64_t key, int64_t group)
{
  f->key = key;
  if (snprintf(f->prefix, sizeof f->prefix, "%s/weir-%016" PRIx64 "-%lld-", path, key,
               (long long)group) >= (int)sizeof f->prefix) {
    return weir_fail(WEIR_ERR_CONFIG, "load.directory.path: %s: the path is too long", path);
  }
  return weir_dir_create(path);
}

/* The sample of a file, if it has a whole head and as many bytes as it should; else -1. */
static int64_t sample_of(const load_folder *f, const char *path, const char *rest)
{
  long long sample = -1;
  char same[LOAD_PATH];
  int64_t bytes = 0;
  head h;

  if (sscanf(rest, "%lld.sample", &sample) != 1 || sample < 0) {
    return -1;
  }
  load_folder_path(f, sample, same, sizeof same);
  FILE *const in = strcmp(same, path) == 0 ? fopen(path, "rb") : NULL;
  const bool whole = in != NULL && fread(&h, sizeof h, 1, in) == 1 && fseek(in, 0, SEEK_END) == 0 &&
                     (bytes = ftell(in)) > 0;

  if (in != NULL) {
    (void)fclose(in);
  }
  const head expected = head_of(f, sample, whole ? h.crc : 0);

  return whole && memcmp(&h, &expected, sizeof h) == 0 && bytes == (int64_t)sizeof h + f->bytes
             ? sample
             : -1;
}

void load_folder_look(const load_folder *f, const load_plan *p, weir_load_tier class, bool *found)
{
  char folder[LOAD_PATH], path[LOAD_PATH];
  const char *const name = strrchr(f->prefix, '/') + 1;
  const size_t length = strlen(name);

  (void)snprintf(folder, sizeof folder, "%.*s", (int)(name - f->prefix), f->prefix);
  DIR *const dir = opendir(folder);

  for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
    if (strncmp(e->d_name, name, length) != 0 ||
        snprintf(path, sizeof path, "%s%s", f->prefix, e->d_name + length) >= (int)sizeof path) {
      continue;
    }
    const int64_t sample = f->keep ? sample_of(f, path, e->d_name + length) : -1;

    if (sample >= 0 && sample < p->samples && p->where[sample] == class) {
      found[sample] = true;
    } else {
      (void)remove(path);
    }
  }
  if (dir) {
    (void)closedir(dir);
  }
}

weir_status load_folder_put(const load_folder *f, int64_t sample, const void *data)
{
  const head h = head_of(f, sample, weir_crc32c(0, data, f->bytes));
  char path[LOAD_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  load_folder_path(f, sample, path, sizeof path);
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_write(w, &h, sizeof h), done);
  WEIR_TRY_GOTO(weir_writer_write(w, data, (size_t)f->bytes), done);
  WEIR_TRY_GOTO(weir_writer_commit_passing(&w), done);
done:
  weir_writer_destroy(&w);
  return status;
}

bool load_folder_get(const load_folder *f, int64_t sample, void *data)
{
  char path[LOAD_PATH];
  head h;

  load_folder_path(f, sample, path, sizeof path);
  FILE *const in = fopen(path, "rb");
  bool good = in != NULL && fread(&h, sizeof h, 1, in) == 1 &&
              fread(data, (size_t)f->bytes, 1, in) == 1 && fgetc(in) == EOF;

  if (in != NULL) {
    (void)fclose(in);
  }
  if (good) {
    const head expected = head_of(f, sample, weir_crc32c(0, data, f->bytes));

    good = memcmp(&h, &expected, sizeof h) == 0;
  }
  return good;
}

void load_folder_remove(const load_folder *f, int64_t sample)
{
  char path[LOAD_PATH];

  load_folder_path(f, sample, path, sizeof path);
  (void)remove(path);
}
