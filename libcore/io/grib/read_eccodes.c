/* read_eccodes.c - pass 2: fields that are asked for, in the order of the files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/grib/eccodes_priv.h"
#include "io/io_priv.h"

enum { LOCATION = 600 };

/* A requested field, and its index among the results. */
typedef struct wish {
  int64_t field, out;
} wish;

typedef struct decode {
  weir_grib_span message;
  int64_t points;
  double *values;
  const char *location;
  bool may_miss; /* values may be missing */
} decode;

static int by_field(const void *a, const void *b)
{
  const int64_t i = ((const wish *)a)->field, k = ((const wish *)b)->field;

  return (i > k) - (i < k); /* fields are numbered in this order */
}

static weir_status failed(const decode *d, const char *key, int code)
{
  char reason[256];

  return weir_fail(WEIR_ERR_DATA, "%s: %s: %s", d->location, key, weir_grib_reason(code, reason));
}

static weir_status decode_handle(const decode *d, codes_handle *h)
{
  size_t count = (size_t)d->points; /* more are refused by the library */
  int code = CODES_SUCCESS;

  if (d->may_miss) {
    code = codes_set_double(h, "missingValue", WEIR_GRIB_MISSING);
  }
  if (code != CODES_SUCCESS) {
    return failed(d, "missingValue", code);
  }
  code = codes_get_double_array(h, "values", d->values, &count);
  if (code == CODES_SUCCESS && (int64_t)count != d->points) {
    return weir_fail(WEIR_ERR_DATA, "%s: values: %lld of them for %lld points", d->location,
                     (long long)count, (long long)d->points);
  }
  return code == CODES_SUCCESS ? WEIR_OK : failed(d, "values", code);
}

static weir_status decode_values(void *context)
{
  const decode *const d = context;
  codes_handle *const h =
      codes_handle_new_from_message(NULL, d->message.bytes, (size_t)d->message.size);

  if (!h) {
    return weir_fail(WEIR_ERR_DATA, "%s: the library cannot decode it", d->location);
  }
  const weir_status status = decode_handle(d, h);

  codes_handle_delete(h);
  return status;
}

/* Whether the message has another field after its first. */
static bool has_several(const weir_grib *g, int64_t i)
{
  const weir_grib_field *const f = &g->fields[i];

  return f->submessage > 0 || (i + 1 < g->n_fields && f[1].submessage > 0);
}

weir_status weir_grib_alone_in(const weir_grib *g, int64_t i, const uint8_t *message,
                               uint8_t **copy, int64_t *capacity, weir_grib_span *span)
{
  const weir_grib_field *const f = &g->fields[i];
  char why[WEIR_GRIB_WHY] = "", location[LOCATION];
  weir_grib_frame frame;

  *span = (weir_grib_span){message, f->length};
  if (!has_several(g, i)) {
    return WEIR_OK;
  }
  bool found = weir_grib_frame_open(span->bytes, span->size, &frame, why);

  for (int64_t k = 0; found && k <= f->submessage; k++) {
    found = weir_grib_frame_next(&frame, why) > 0;
  }
  if (!found) {
    weir_grib_locate(g, i, location, sizeof location);
    return weir_fail(WEIR_ERR_DATA, "%s: there is no field %lld: %s", location,
                     (long long)f->submessage + 1, why);
  }
  span->size = weir_grib_frame_size(&frame);
  WEIR_TRY(weir_reserve(copy, capacity, span->size, 1));
  weir_grib_frame_copy(&frame, *copy);
  span->bytes = *copy;
  return WEIR_OK;
}

/* A bitmap, or the complex packings of edition 2, which have their own missing values. */
static bool may_miss(const weir_grib_span *message)
{
  char why[WEIR_GRIB_WHY];
  weir_grib_frame f;

  if (!weir_grib_frame_open(message->bytes, message->size, &f, why) ||
      weir_grib_frame_next(&f, why) <= 0) {
    return true;
  }
  if (f.edition == 1) {
    return f.section[3].length > 0;
  }
  const uint8_t *const packing = f.bytes + f.section[5].at;

  return f.bytes[f.section[6].at + 5] != 255 || packing[9] != 0 || packing[10] == 2 ||
         packing[10] == 3;
}

weir_status weir_grib_message(const weir_grib *g, int64_t i, uint8_t **message, int64_t *capacity)
{
  const weir_grib_field *const f = &g->fields[i];
  int fd = -1;

  WEIR_TRY(weir_reserve(message, capacity, f->length, 1));
  WEIR_TRY(weir_grib_file_reopen(&g->files[f->file], &fd));
  const weir_status status =
      weir_io_pread(fd, g->files[f->file].path, *message, (size_t)f->length, f->offset);

  close(fd);
  return status;
}

static weir_status read_field(weir_grib *g, int fd, int64_t i, float *out)
{
  const weir_grib_field *const f = &g->fields[i];
  char location[LOCATION];

  weir_grib_locate(g, i, location, sizeof location);
  if (f->grid < 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s", location, g->kinds[f->kind].refused);
  }
  const weir_grib_grid *const grid = &g->grids[f->grid];
  decode d = {.points = grid->n_lat * grid->n_lon, .location = location};

  WEIR_TRY(weir_reserve(&g->message, &g->message_capacity, f->length, 1));
  WEIR_TRY(weir_io_pread(fd, g->files[f->file].path, g->message, (size_t)f->length, f->offset));
  WEIR_TRY(weir_grib_alone_in(g, i, g->message, &g->copy, &g->copy_capacity, &d.message));
  d.may_miss = may_miss(&d.message);
  WEIR_TRY(weir_reserve(&g->values, &g->values_capacity, d.points, sizeof(double)));
  d.values = g->values;
  WEIR_TRY(weir_grib_alone(decode_values, &d));
  const double missing = WEIR_GRIB_MISSING;

  if (!weir_grib_order(g->values, grid->n_lat, grid->n_lon, f->scanning,
                       d.may_miss ? &missing : NULL, out)) {
    return weir_fail(WEIR_ERR_DATA, "%s: values: one is infinite, or exceeds single precision",
                     location);
  }
  return WEIR_OK;
}

static weir_status read_sorted(weir_grib *g, int64_t n, const wish *wishes, float *const *out)
{
  weir_status status = WEIR_OK;
  int64_t file = -1;
  int fd = -1; /* of `file`: one at a time, there may be many */

  for (int64_t k = 0; status == WEIR_OK && k < n; k++) {
    const weir_grib_field *const f = &g->fields[wishes[k].field];

    if (f->file != file) {
      if (fd >= 0) {
        close(fd);
      }
      fd = -1;
      file = f->file;
      WEIR_TRY(weir_grib_file_reopen(&g->files[file], &fd));
    }
    status = read_field(g, fd, wishes[k].field, out[wishes[k].out]);
  }
  if (fd >= 0) {
    close(fd);
  }
  return status;
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
    qsort(wishes, (size_t)n, sizeof *wishes, by_field);
  }
  const weir_status status = read_sorted(g, n, wishes, out);

  weir_free(&wishes);
  return status;
}
