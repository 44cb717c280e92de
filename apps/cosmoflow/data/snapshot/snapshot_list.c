/* snapshot_list.c - which files are snapshots, and which formats of them are not read. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/snapshot/snapshot.h"
#include "data/volume/volume.h"

typedef struct listed {
  char **path;
  int64_t n, capacity;
} listed;

/* Adds a snapshot, whose files follow each other. */
static weir_status add(void *context, const char *path)
{
  listed *const l = context;
  char first[CF_MAX_LOCATION];

  WEIR_TRY(cf_snapshot_first(path, first, sizeof first));
  if (l->n > 0 && strcmp(l->path[l->n - 1], first) == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_reserve(&l->path, &l->capacity, l->n + 1, sizeof *l->path));
  return weir_strdup(first, &l->path[l->n++]);
}

/* A bigfile is a folder with a folder for each column, of which Header has attributes alone. */
static weir_status refuse_bigfile(const char *path)
{
  struct stat is;
  char header[CF_MAX_LOCATION];

  if (stat(path, &is) != 0 || !S_ISDIR(is.st_mode)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_path_join(path, "Header", header, sizeof header));
  return stat(header, &is) != 0 || !S_ISDIR(is.st_mode)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: is a bigfile (FastPM, MP-Gadget), which is not read: write its "
                         "particles as HDF5 in the layout of Gadget",
                         path);
}

/* Gadget's own formats begin with the length of their first block: 256, or 8 and its name. */
static weir_status refuse_binary(const char *path)
{
  static const unsigned char one[] = {0, 1, 0, 0}, two[] = {8, 0, 0, 0, 'H', 'E', 'A', 'D'};
  unsigned char head[8] = {0};
  struct stat is;

  if (stat(path, &is) != 0 || !S_ISREG(is.st_mode)) {
    return WEIR_OK;
  }
  FILE *const in = fopen(path, "rb");
  const size_t n = in != NULL ? fread(head, 1, sizeof head, in) : 0;

  if (in != NULL) {
    (void)fclose(in);
  }
  return n < sizeof head || (memcmp(head, one, 4) != 0 && memcmp(head, two, 8) != 0)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: is of Gadget's binary format %d, which is not read: write it as HDF5 "
                         "(Gadget's format 3)",
                         path, head[0] == 8 ? 2 : 1);
}

weir_status cf_snapshot_list(const weir_string_list *input, char ***paths, int64_t *n)
{
  listed l = {.n = 0};
  weir_status status = WEIR_OK;

  *paths = NULL;
  *n = 0;
  for (int64_t i = 0; i < input->count; i++) {
    WEIR_TRY_GOTO(refuse_bigfile(input->items[i]), fail);
    WEIR_TRY_GOTO(refuse_binary(input->items[i]), fail);
  }
  WEIR_TRY_GOTO(cf_volumes_list(input->items, input->count, add, &l), fail);
  *paths = l.path;
  *n = l.n;
  return WEIR_OK;
fail:
  for (int64_t i = 0; i < l.n; i++) {
    weir_free(&l.path[i]);
  }
  weir_free(&l.path);
  return status;
}
