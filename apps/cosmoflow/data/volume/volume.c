/* volume.c - sets of files of samples; operations common to all formats. */
#include "data/volume/volume.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/volume/volume_priv.h"

enum { PAIRS = 4096 /* of labels */ };

/* Refuses options that the format of a file would ignore. */
static weir_status check_options(const cf_volumes *v, int64_t i)
{
  const cf_volume_format *const format = v->entries[i].format;
  const bool axes = v->opts.axes[0] && !format->axes;

  return !axes && (format->classes != NULL || !v->opts.segmentation[0])
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s: files.%s is for NetCDF and HDF5%s, which this file is not: leave it "
                         "out",
                         v->entries[i].path, axes ? "axes" : "segmentation",
                         axes ? ", for NumPy and for NoPFS" : "");
}

static void close_kept(cf_volumes *v, cf_volume_kept *k)
{
  if (k->number >= 0) {
    v->entries[k->number].format->close(&k->file);
  }
  k->number = -1;
}

/* Keeps the open file in the place of the one that was left first. */
static void leave(cf_volumes *v)
{
  cf_volume_kept *oldest = &v->kept[0];

  for (int k = 1; k < CF_VOLUMES_KEPT; k++) {
    cf_volume_kept *const place = &v->kept[k];

    oldest =
        oldest->number >= 0 && (place->number < 0 || place->used < oldest->used) ? place : oldest;
  }
  if (v->open >= 0 && v->agrees) {
    close_kept(v, oldest);
    *oldest = (cf_volume_kept){.file = v->file,
                               .number = v->open,
                               .used = v->turns++,
                               .order = v->order,
                               .line = v->line,
                               .divisor = v->divisor};
  } else if (v->open >= 0) {
    v->entries[v->open].format->close(&v->file);
  }
  v->open = -1;
}

/* Returns whether file i was kept, and is the open one again. */
static bool return_to(cf_volumes *v, int64_t i)
{
  for (int k = 0; k < CF_VOLUMES_KEPT; k++) {
    cf_volume_kept *const place = &v->kept[k];

    if (place->number == i) {
      v->file = place->file;
      v->order = place->order;
      v->line = place->line;
      v->divisor = place->divisor;
      v->agrees = true;
      v->open = i;
      place->number = -1;
      return true;
    }
  }
  return false;
}

/* Opens a file of the set. */
static weir_status go_to(cf_volumes *v, int64_t i)
{
  if (v->open == i) {
    return WEIR_OK;
  }
  leave(v);
  if (return_to(v, i)) {
    return WEIR_OK;
  }
  v->agrees = false;
  v->file = (cf_volume_file){.path = v->entries[i].path, .opts = &v->opts};
  WEIR_TRY(check_options(v, i));
  v->file.counted = v->count == 0;
  WEIR_TRY(v->entries[i].format->open(&v->file));
  v->open = i;
  WEIR_TRY(cf_volumes_table_apply(v));
  const bool divided = v->file.info.unit > 0;

  WEIR_TRY(cf_volume_state(&v->opts, v->file.path, &v->file.info));
  v->divisor = divided ? 0 : v->file.info.unit;
  const cf_volume_info *const has = &v->file.info, *const first = &v->info;
  int64_t bytes = sizeof(double);

  for (int d = 0; d < 4; d++) {
    if (has->lengths[d] < 1 || !weir_mul_ok(bytes, has->lengths[d], &bytes)) {
      return weir_fail(WEIR_ERR_DATA, "%s: a length of %lld of dimension %d is no sample",
                       v->file.path, (long long)has->lengths[d], d);
    }
  }
  if (first->layout[0] && (has->n_classes > 0) != (first->n_classes > 0)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has %s variable of classes of voxels (segmentation), and %s, the first "
                     "file, has %s",
                     v->file.path, has->n_classes > 0 ? "a" : "no", v->entries[0].path,
                     first->n_classes > 0 ? "one" : "none");
  }
  if (first->layout[0] && (memcmp(has->lengths, first->lengths, sizeof has->lengths) != 0 ||
                           has->n_labels != first->n_labels)) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: holds %lld x %lld x %lld voxels of %lld channels with %lld labels (%s); %s, the "
        "first file, holds %lld x %lld x %lld of %lld with %lld (%s)",
        v->file.path, (long long)has->lengths[0], (long long)has->lengths[1],
        (long long)has->lengths[2], (long long)has->lengths[3], (long long)has->n_labels,
        has->layout, v->entries[0].path, (long long)first->lengths[0], (long long)first->lengths[1],
        (long long)first->lengths[2], (long long)first->lengths[3], (long long)first->n_labels,
        first->layout);
  }
  WEIR_TRY(cf_volume_agree(first->layout[0] ? first : has, v->entries[0].path, has, v->file.path,
                           &v->order));
  v->agrees = true;
  return WEIR_OK;
}

/* Reads the properties of sample `in` of the open file, in the order of the first file. */
static weir_status read_facts(cf_volumes *v, const cf_volume_format *format, int64_t in,
                              cf_facts *out)
{
  cf_facts own = {.has_physical = false};

  if (format->facts) {
    WEIR_TRY(format->facts(&v->file, in, &own));
  }
  *out = own;
  for (int64_t k = 0; k < v->info.n_labels; k++) {
    out->physical[k] = own.physical[v->order.label[k]];
  }
  if (v->table != NULL) {
    float labels[CF_MAX_LABELS];

    cf_parameters_get(v->table, cf_volumes_table_line(v, in), labels, out);
  }
  return WEIR_OK;
}

static weir_status read_labels(cf_volumes *v, const cf_volume_format *format, int64_t in,
                               float *unit)
{
  double own[CF_MAX_LABELS], stored[CF_MAX_LABELS];
  char where[CF_MAX_LOCATION];
  cf_facts facts;

  if (v->table != NULL) {
    cf_parameters_get(v->table, cf_volumes_table_line(v, in), unit, &facts);
    return WEIR_OK;
  }
  WEIR_TRY(format->labels(&v->file, in, own));
  for (int64_t k = 0; k < v->info.n_labels; k++) {
    stored[k] = own[v->order.label[k]];
  }
  (void)snprintf(where, sizeof where, "%s: sample %lld", v->file.path, (long long)in + 1);
  WEIR_TRY(cf_volume_unit(&v->opts, &v->info, where, stored, unit));
  if (!v->file.info.physical) {
    return WEIR_OK;
  }
  WEIR_TRY(read_facts(v, format, in, &facts));
  return cf_volume_check_physical(&v->info, where, unit, &facts);
}

/* Adds pairs of labels and parameters in their own units of samples of the open file: of all, or of
 * the first in a set of many. */
static weir_status add_pairs(cf_volumes *v, cf_range_fit *fit)
{
  const cf_volume_format *const format = v->entries[v->open].format;
  const int64_t n = !v->file.info.physical ? 0 : fit->n < PAIRS ? v->file.count : 1;
  float unit[CF_MAX_LABELS];
  cf_facts facts;

  for (int64_t k = 0; k < n; k++) {
    WEIR_TRY(read_labels(v, format, k, unit));
    WEIR_TRY(read_facts(v, format, k, &facts));
    cf_range_fit_add(fit, v->info.n_labels, unit, &facts);
  }
  return WEIR_OK;
}

/* Takes ranges that the first file lacks from the open one. */
static void take_ranges(cf_volumes *v)
{
  const cf_volume_info *const has = &v->file.info;

  for (int64_t k = 0; k < v->info.n_labels; k++) {
    const int j = v->order.label[k];

    if (!(v->info.lo[k] < v->info.hi[k]) && has->lo[j] < has->hi[j]) {
      v->info.lo[k] = has->lo[j];
      v->info.hi[k] = has->hi[j];
    }
  }
}

/* Counts the samples; files that cost reading to be counted are not opened where their number is
 * stated. */
static weir_status survey(cf_volumes *v)
{
  cf_range_fit fit = {.n = 0};

  for (int64_t i = 0; i < v->n; i++) {
    const bool stated = v->opts.per_file > 0 && v->entries[i].format->uncounted;

    v->entries[i].first = v->count;
    if (i == 0 || !stated) {
      WEIR_TRY(go_to(v, i));
      v->info = i == 0 ? v->file.info : v->info;
      if (strcmp(v->info.simulation, v->file.info.simulation) != 0) {
        v->info.simulation[0] = 0; /* several */
      }
      take_ranges(v);
      WEIR_TRY(add_pairs(v, &fit));
    }
    v->count += stated ? v->opts.per_file : v->file.count;
  }
  cf_range_fit_set(&fit, &v->info);
  return WEIR_OK;
}

weir_status cf_volumes_open(const char *const *paths, int64_t n, const cf_volume_opts *opts,
                            cf_volumes **out)
{
  cf_volumes *v = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *v, (void **)&v));
  v->opts = *opts;
  v->opts.segmentation = opts->segmentation ? opts->segmentation : "";
  v->opts.axes = opts->axes ? opts->axes : "";
  v->open = -1;
  for (int k = 0; k < CF_VOLUMES_KEPT; k++) {
    v->kept[k].number = -1;
  }
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY_GOTO(cf_volumes_add(v, paths[i]), done);
  }
  if (v->n == 0) {
    status = weir_fail(WEIR_ERR_DATA, "there is no file of samples: name files or folders");
    goto done;
  }
  WEIR_TRY_GOTO(cf_volumes_table_read(v), done);
  WEIR_TRY_GOTO(survey(v), done);
  *out = v;
  v = NULL;
done:
  cf_volumes_close(&v);
  return status;
}

void cf_volumes_close(cf_volumes **v)
{
  cf_volumes *const s = *v;

  if (s && s->open >= 0) {
    s->entries[s->open].format->close(&s->file);
  }
  for (int k = 0; s && k < CF_VOLUMES_KEPT; k++) {
    close_kept(s, &s->kept[k]);
  }
  for (int64_t i = 0; s && i < s->n; i++) {
    weir_free(&s->entries[i].path);
  }
  if (s) {
    weir_free(&s->entries);
    weir_free(&s->raw);
    cf_parameters_destroy(&s->table);
  }
  weir_free(v);
}

int64_t cf_volumes_count(const cf_volumes *v)
{
  return v->count;
}

int64_t cf_volumes_files(const cf_volumes *v)
{
  return v->n;
}

const cf_volume_info *cf_volumes_info(const cf_volumes *v)
{
  return &v->info;
}

/* The file that a sample is in. */
static int64_t file_of(const cf_volumes *v, int64_t sample)
{
  int64_t lo = 0, hi = v->n;

  WEIR_ASSERT(sample >= 0 && sample < v->count);
  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (v->entries[mid].first <= sample) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}

void cf_volumes_locate(const cf_volumes *v, int64_t sample, char *text, size_t size)
{
  const cf_volume_entry *const e = &v->entries[file_of(v, sample)];

  (void)snprintf(text, size, "%s: sample %lld", e->path, (long long)(sample - e->first + 1));
}

/* Opens the file of a sample; *in is its number there. */
static weir_status find(cf_volumes *v, int64_t sample, const cf_volume_format **format, int64_t *in)
{
  const int64_t i = file_of(v, sample);

  WEIR_TRY(go_to(v, i));
  *format = v->entries[i].format;
  *in = sample - v->entries[i].first;
  return WEIR_OK;
}

/* Reserves the buffer of stored voxels. */
static weir_status take_raw(cf_volumes *v, int64_t bytes)
{
  if (bytes > v->raw_bytes) {
    weir_free(&v->raw);
    v->raw_bytes = 0;
    WEIR_TRY(weir_alloc(bytes, 1, &v->raw));
    v->raw_bytes = bytes;
  }
  return WEIR_OK;
}

/* The channels of n elements in the order of the first file. */
static void move_channels(const cf_volumes *v, int64_t n, size_t size, void *voxels)
{
  if (v->order.channels_moved) {
    cf_volume_move(&v->order, v->info.lengths[3], n / v->info.lengths[3], size, voxels);
  }
}

/* Divides n voxels from plane d0 on, which are f32, by files.unit. */
static weir_status divide(const cf_volumes *v, int64_t sample, int64_t d0, int64_t n,
                          weir_dtype dtype, float *out)
{
  WEIR_ASSERT(dtype == WEIR_F32);
  for (int64_t k = 0; k < n; k++) {
    const float stored = out[k];

    out[k] = (float)((double)stored / v->divisor);
    if (!isfinite(out[k]) || (stored != 0 && out[k] == 0)) {
      char where[CF_MAX_LOCATION];

      cf_volumes_locate(v, sample, where, sizeof where);
      return weir_fail(WEIR_ERR_CONFIG,
                       "files.unit: %s: voxel %lld is %g, and single precision does not hold it "
                       "divided by %g: set a unit of the size of the voxels",
                       where, (long long)(k + d0 * cf_volume_plane(&v->info)), (double)stored,
                       v->divisor);
    }
  }
  return WEIR_OK;
}

weir_status cf_volumes_read(cf_volumes *v, int64_t sample, int64_t d0, int64_t d1, weir_dtype dtype,
                            void *out)
{
  const cf_volume_format *format = NULL;
  int64_t in = 0;

  WEIR_ASSERT(0 <= d0 && d0 <= d1 && d1 <= v->info.lengths[0] &&
              (dtype == WEIR_I16 || dtype == WEIR_F32));
  if (d0 == d1) {
    return WEIR_OK;
  }
  WEIR_TRY(find(v, sample, &format, &in));
  const weir_dtype stored = v->file.info.dtype;
  const int64_t n = (d1 - d0) * cf_volume_plane(&v->info);

  if (stored == dtype && dtype == WEIR_I16) {
    WEIR_TRY(format->read(&v->file, in, d0, d1, out));
    move_channels(v, n, sizeof(int16_t), out);
    return WEIR_OK;
  }
  WEIR_TRY(take_raw(v, n * (int64_t)weir_dtype_size(stored)));
  WEIR_TRY(format->read(&v->file, in, d0, d1, v->raw));
  move_channels(v, n, weir_dtype_size(stored), v->raw);
  const int64_t bad = cf_volume_convert(stored, v->raw, n, dtype, out);

  if (bad >= 0) {
    char where[CF_MAX_LOCATION];

    cf_volumes_locate(v, sample, where, sizeof where);
    return cf_volume_refuse(where, bad + d0 * cf_volume_plane(&v->info),
                            weir_dtype_load_real(stored, v->raw, bad), dtype);
  }
  return v->divisor > 0 ? divide(v, sample, d0, n, dtype, out) : WEIR_OK;
}

weir_status cf_volumes_labels(cf_volumes *v, int64_t sample, float *labels)
{
  const cf_volume_format *format = NULL;
  int64_t in = 0;

  if (v->info.n_labels == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(find(v, sample, &format, &in));
  return read_labels(v, format, in, labels);
}

weir_status cf_volumes_facts(cf_volumes *v, int64_t sample, cf_facts *out)
{
  const cf_volume_format *format = NULL;
  int64_t in = 0;

  WEIR_TRY(find(v, sample, &format, &in));
  return read_facts(v, format, in, out);
}

static weir_status refuse_class(const cf_volumes *v, int64_t sample, int64_t voxel, double is)
{
  char where[CF_MAX_LOCATION];

  cf_volumes_locate(v, sample, where, sizeof where);
  if (!(is == floor(is))) {
    return weir_fail(WEIR_ERR_DATA, "%s: the class of voxel %lld is %g, which is no integer", where,
                     (long long)voxel, is);
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: the class of voxel %lld is %g, and there are %lld, numbered from 0 "
                   "(files.classes)",
                   where, (long long)voxel, is, (long long)v->info.n_classes);
}

weir_status cf_volumes_classes(cf_volumes *v, int64_t sample, int64_t d0, int64_t d1, uint8_t *out)
{
  const int64_t plane = v->info.lengths[1] * v->info.lengths[2], n = (d1 - d0) * plane;
  const cf_volume_format *format = NULL;
  int64_t in = 0;

  WEIR_ASSERT(0 <= d0 && d0 <= d1 && d1 <= v->info.lengths[0] && v->info.n_classes > 0);
  if (d0 == d1) {
    return WEIR_OK;
  }
  WEIR_TRY(find(v, sample, &format, &in));
  const weir_dtype stored = v->file.info.class_dtype;

  WEIR_TRY(take_raw(v, n * (int64_t)weir_dtype_size(stored)));
  WEIR_TRY(format->classes(&v->file, in, d0, d1, v->raw));
  for (int64_t i = 0; i < n; i++) {
    const double is = weir_dtype_load_real(stored, v->raw, i);

    if (!(is >= 0 && is < (double)v->info.n_classes && is == floor(is))) {
      return refuse_class(v, sample, i + d0 * plane, is);
    }
    out[i] = (uint8_t)is;
  }
  return WEIR_OK;
}

weir_status cf_volumes_universe(cf_volumes *v, int64_t sample, int64_t *universe)
{
  const cf_volume_format *format = NULL;
  int64_t in = 0;

  *universe = -1;
  WEIR_TRY(find(v, sample, &format, &in));
  WEIR_TRY(format->universe ? format->universe(&v->file, in, universe) : WEIR_OK);
  if (*universe < 0 && v->table != NULL) {
    *universe = cf_volumes_table_line(v, in);
  }
  return WEIR_OK;
}
