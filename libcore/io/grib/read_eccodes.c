/* read_eccodes.c - pass 2: fields that are asked for, in the order of the files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/grib/eccodes_priv.h"

enum { PLACE = 600 };

/* A field that is wanted, and its place among the answers. */
typedef struct wish {
  int64_t field, out;
} wish;

typedef struct decode {
  weir_grib_span message;
  int64_t points;
  double *values;
  const char *place;
} decode;

static int by_place(const void *a, const void *b)
{
  const int64_t i = ((const wish *)a)->field, k = ((const wish *)b)->field;

  return (i > k) - (i < k); /* fields are numbered in this order */
}

static weir_status failed(const decode *d, const char *key, int code)
{
  char reason[256];

  return weir_fail(WEIR_ERR_DATA, "%s: %s: %s", d->place, key, weir_grib_reason(code, reason));
}

static weir_status decode_handle(const decode *d, codes_handle *h)
{
  size_t count = 0;
  int code = codes_set_double(h, "missingValue", WEIR_GRIB_MISSING);

  if (code != CODES_SUCCESS) {
    return failed(d, "missingValue", code);
  }
  code = codes_get_size(h, "values", &count);
  if (code == CODES_SUCCESS && (int64_t)count != d->points) {
    return weir_fail(WEIR_ERR_DATA, "%s: values: %lld of them for %lld points", d->place,
                     (long long)count, (long long)d->points);
  }
  if (code == CODES_SUCCESS) {
    code = codes_get_double_array(h, "values", d->values, &count);
  }
  return code == CODES_SUCCESS ? WEIR_OK : failed(d, "values", code);
}

static weir_status decode_values(void *context)
{
  const decode *const d = context;
  codes_handle *const h =
      codes_handle_new_from_message(NULL, d->message.bytes, (size_t)d->message.size);

  if (!h) {
    return weir_fail(WEIR_ERR_DATA, "%s: the library cannot make anything of it", d->place);
  }
  const weir_status status = decode_handle(d, h);

  codes_handle_delete(h);
  return status;
}

/* Whether the message has another field behind its first. */
static bool has_several(const weir_grib *g, int64_t i)
{
  const weir_grib_field *const f = &g->fields[i];

  return f->part > 0 || (i + 1 < g->n_fields && f[1].part > 0);
}

weir_status weir_grib_bytes(const weir_grib *g, int64_t i, uint8_t **copy, int64_t *room,
                            weir_grib_span *span)
{
  const weir_grib_field *const f = &g->fields[i];
  char why[WEIR_GRIB_WHY] = "", place[PLACE];
  weir_grib_frame frame;

  *span = (weir_grib_span){g->files[f->file].bytes + f->offset, f->length};
  if (!has_several(g, i)) {
    return WEIR_OK;
  }
  bool found = weir_grib_frame_open(span->bytes, span->size, &frame, why);

  for (int64_t k = 0; found && k <= f->part; k++) {
    found = weir_grib_frame_next(&frame, why) > 0;
  }
  if (!found) {
    weir_grib_place(g, i, place, sizeof place);
    return weir_fail(WEIR_ERR_DATA, "%s: has no field %lld: %s", place, (long long)f->part + 1,
                     why);
  }
  span->size = weir_grib_frame_size(&frame);
  WEIR_TRY(weir_reserve(copy, room, span->size, 1));
  weir_grib_frame_copy(&frame, *copy);
  span->bytes = *copy;
  return WEIR_OK;
}

static weir_status read_field(weir_grib *g, int64_t i, float *out)
{
  const weir_grib_field *const f = &g->fields[i];
  char place[PLACE];

  weir_grib_place(g, i, place, sizeof place);
  if (f->grid < 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s", place, g->kinds[f->kind].refused);
  }
  const weir_grib_grid *const grid = &g->grids[f->grid];
  decode d = {.points = grid->n_lat * grid->n_lon, .place = place};

  WEIR_TRY(weir_grib_bytes(g, i, &g->copy, &g->room_copy, &d.message));
  WEIR_TRY(weir_reserve(&g->values, &g->room_values, d.points, sizeof(double)));
  d.values = g->values;
  WEIR_TRY(weir_grib_alone(decode_values, &d));
  if (weir_grib_order(g->values, grid->n_lat, grid->n_lon, f->scanning, WEIR_GRIB_MISSING, out) >
      0) {
    return weir_fail(WEIR_ERR_DATA, "%s: values: one is infinite, or beyond single precision",
                     place);
  }
  return WEIR_OK;
}

static weir_status read_sorted(weir_grib *g, int64_t n, const wish *wishes, float *const *out)
{
  int64_t file = -1;

  for (int64_t k = 0; k < n; k++) {
    const weir_grib_field *const f = &g->fields[wishes[k].field];

    if (f->file != file) {
      file = f->file;
      WEIR_TRY(weir_grib_file_same(&g->files[file]));
    }
    WEIR_TRY(read_field(g, wishes[k].field, out[wishes[k].out]));
  }
  return WEIR_OK;
}

weir_status weir_grib_read(weir_grib *g, int64_t n, const int64_t *fields, float *const *out)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(n, sizeof(wish), &memory));
  wish *wishes = memory;

  for (int64_t k = 0; k < n; k++) {
    WEIR_ASSERT(fields[k] >= 0 && fields[k] < g->n_fields);
    wishes[k] = (wish){fields[k], k};
  }
  if (n > 0) {
    qsort(wishes, (size_t)n, sizeof *wishes, by_place);
  }
  const weir_status status = read_sorted(g, n, wishes, out);

  weir_free(&wishes);
  return status;
}
