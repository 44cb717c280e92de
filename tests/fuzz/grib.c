/* grib.c - fuzz target: frames of GRIB messages and the file of an index. What is found lies in the
 * message, a field that is cut out is a message of one field, and an index names what is there. The
 * decoder is another project's and not fuzzed. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/grib/grib_priv.h"
#include "weir_fuzz.h"

enum { MOST_PARTS = 64, FILE_SIZE = 1 << 20 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static void check_alone(const weir_grib_frame *f)
{
  const int64_t size = weir_grib_frame_size(f);
  uint8_t *const out = malloc((size_t)size);
  char why[WEIR_GRIB_WHY];
  weir_grib_frame alone;

  weir_grib_frame_copy(f, out);
  if (!weir_grib_frame_open(out, size, &alone, why) || weir_grib_frame_next(&alone, why) != 1 ||
      weir_grib_frame_next(&alone, why) != 0) {
    abort();
  }
  free(out);
}

static void check_field(const weir_grib_frame *f)
{
  weir_grib_print print;
  uint64_t hash = 0;

  for (int i = 1; i < WEIR_GRIB_SECTIONS; i++) {
    if (f->section[i].at < 0 || f->section[i].length < 0 ||
        f->section[i].at + f->section[i].length > f->length - 4) {
      abort();
    }
  }
  weir_grib_field field;

  (void)weir_grib_print_take(f, &print, &hash);
  (void)weir_grib_quick(f, &field);
  if (f->edition == 2 && f->n_fields < MOST_PARTS) {
    check_alone(f);
  }
}

/* How many fields the messages of a file have. */
static int64_t walk(const uint8_t *data, int64_t size)
{
  char why[WEIR_GRIB_WHY];
  int64_t fields = 0;

  for (int64_t at = weir_grib_frame_find(data, size, 0); at < size;) {
    weir_grib_frame f;
    const bool opened = weir_grib_frame_open(data + at, size - at, &f, why);
    int found = opened ? 1 : -1;

    while (found > 0) {
      found = weir_grib_frame_next(&f, why);
      if (found > 0) {
        check_field(&f);
      }
    }
    if (found < 0 && !memchr(why, 0, sizeof why)) {
      abort();
    }
    fields += found == 0 ? f.n_fields : 0;
    at = weir_grib_frame_find(data, size, opened ? at + f.length : at + 4);
  }
  return fields;
}

/* With a sum that is right, so that what follows it is read. */
static int64_t read_index(const uint8_t *data, int64_t size)
{
  weir_grib_file file = {.path = (char[]){"a.grib"}, .size = FILE_SIZE, .mtime = 1};
  weir_grib g = {.files = &file, .n_files = 1};
  uint8_t *const copy = malloc((size_t)size);
  int64_t found = 0;

  memcpy(copy, data, (size_t)size);
  weir_sha256(copy + WEIR_GRIB_INDEX_HEAD, (size_t)(size - WEIR_GRIB_INDEX_HEAD),
              (char *)copy + WEIR_GRIB_INDEX_SUM);
  const weir_status status = weir_grib_index_parse(&g, copy, size);

  for (int64_t i = 0; status == WEIR_OK && i < g.n_fields; i++) {
    const weir_grib_field *const f = &g.fields[i];

    if (f->offset + f->length > FILE_SIZE || f->kind >= g.n_kinds || f->grid >= g.n_grids ||
        strlen(g.kinds[f->kind].refused) >= WEIR_GRIB_WHY) {
      abort();
    }
    found++;
  }
  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_MEMORY) {
    abort();
  }
  weir_grib_forget(&g);
  weir_free(&g.kinds);
  weir_free(&g.grids);
  weir_free(&g.fields);
  free(copy);
  return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  const bool index = size >= WEIR_GRIB_INDEX_HEAD && memcmp(data, "WEIRGRB", 8) == 0;

  reached += (index ? read_index(data, (int64_t)size) : walk(data, (int64_t)size)) > 0;
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
