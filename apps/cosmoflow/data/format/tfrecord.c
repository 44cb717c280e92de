/* tfrecord.c - samples as records of tf.train.Example: those of MLPerf HPC (x: bytes of int16, y: 4
 * floats; one a file), of SC'18 (data_raw, label_raw: bytes of f64) and of v0.5 (x: floats). A
 * record has no shape: it is a cube of few channels, which its length tells. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/volume/about.h"
#include "data/volume/volume_format.h"
#include "io/weir_tfrecord.h"

typedef struct state {
  weir_tfrecord *file;
  weir_tf_feature volume, labels; /* of the record read last */
  float *floats;                  /* voxels of a list of floats; NULL: they are bytes */
  cf_facts facts;                 /* of that record */
  cf_volume_info first;           /* of the first record, without what options state */
} state;

/* Finds the first of the names in use that the record has, or the one asked for. */
static weir_status find(const state *h, const char *asked, const char *const *names,
                        weir_tf_feature *out)
{
  if (asked[0]) {
    return weir_tfrecord_find(h->file, asked, out);
  }
  for (; *names; names++) {
    WEIR_TRY(weir_tfrecord_find(h->file, *names, out));
    if (out->kind != WEIR_TF_EMPTY) {
      return WEIR_OK;
    }
  }
  return WEIR_OK;
}

static weir_status refuse(const state *h, const weir_tf_feature *f, const char *key,
                          const char *why)
{
  char where[CF_MAX_LOCATION];

  weir_tfrecord_locate(h->file, where, sizeof where);
  return weir_fail(WEIR_ERR_DATA, "%s: key '%.*s': %s", where,
                   f->key_size ? (int)f->key_size : (int)strlen(key), f->key_size ? f->key : key,
                   why);
}

static weir_dtype dtype_of(const cf_volume_opts *opts, const weir_tf_feature *f)
{
  const bool raw = f->key_size == 8 && memcmp(f->key, "data_raw", 8) == 0;

  if (f->kind == WEIR_TF_FLOATS) {
    return WEIR_F32;
  }
  return opts->dtype == CF_RAW_AUTO && raw ? WEIR_F64 : cf_volume_raw(opts->dtype);
}

/* The cube that so many bytes are. */
static weir_status measure(const cf_volume_file *f, const state *h, cf_volume_info *info)
{
  const int64_t size = (int64_t)weir_dtype_size(info->dtype);
  const int64_t bytes = h->volume.kind == WEIR_TF_FLOATS ? size * h->volume.count : h->volume.size;
  const int64_t asked = f->opts->channels;
  char why[160];

  if (bytes % size == 0 && cf_volume_cube(bytes / size, asked, info->lengths)) {
    return WEIR_OK;
  }
  (void)snprintf(why, sizeof why,
                 "%lld bytes are no cube of %lld%s channels of %s; files.dtype and files.channels "
                 "say what else they are",
                 (long long)bytes, (long long)(asked > 0 ? asked : CF_CUBE_CHANNELS),
                 asked > 0 ? "" : " or fewer", weir_dtype_name(info->dtype));
  return refuse(h, &h->volume, "x", why);
}

/* Reads the other properties of the record, in the format of about.h. */
static weir_status take_about(state *h, cf_volume_info *info)
{
  weir_tf_feature about;
  char text[CF_MAX_ABOUT], why[80];

  h->facts = (cf_facts){.has_physical = false};
  WEIR_TRY(weir_tfrecord_find(h->file, "about", &about));
  if (about.kind != WEIR_TF_BYTES || about.count != 1 || about.size >= CF_MAX_ABOUT) {
    return WEIR_OK; /* another program's */
  }
  memcpy(text, about.bytes, (size_t)about.size);
  text[about.size] = 0;
  const char *const key = cf_about_parse(text, info, &h->facts);

  if (key == NULL) {
    return WEIR_OK;
  }
  (void)snprintf(why, sizeof why, "its line %s is not of these labels and channels", key);
  return refuse(h, &about, "about", why);
}

/* Shape, dtype and number of labels of the record read last. */
static weir_status look(const cf_volume_file *f, state *h, cf_volume_info *info)
{
  static const char *const volumes[] = {"x", "data_raw", NULL}, *const labels[] = {"y", "label_raw",
                                                                                   NULL};
  const weir_tf_feature *const y = &h->labels;

  WEIR_TRY(find(h, f->opts->volume, volumes, &h->volume));
  WEIR_TRY(find(h, f->opts->labels, labels, &h->labels));
  if (h->volume.kind != WEIR_TF_FLOATS &&
      (h->volume.kind != WEIR_TF_BYTES || h->volume.count != 1)) {
    return refuse(h, &h->volume, f->opts->volume[0] ? f->opts->volume : "x",
                  h->volume.kind == WEIR_TF_EMPTY ? "is not there; files.volume names another"
                                                  : "holds no voxels");
  }
  info->dtype = dtype_of(f->opts, &h->volume);
  WEIR_TRY(measure(f, h, info));
  info->n_labels = y->kind == WEIR_TF_BYTES ? y->size / 8 : y->count;
  if (y->kind == WEIR_TF_INTS || info->n_labels > CF_MAX_LABELS ||
      (y->kind == WEIR_TF_BYTES && (y->count != 1 || y->size % 8 != 0))) {
    return refuse(h, y, "y", "holds no labels: floats, or bytes of f64, at most 16");
  }
  return take_about(h, info);
}

static void close_file(cf_volume_file *f)
{
  state *h = f->state;

  if (h) {
    weir_tfrecord_close(&h->file);
    weir_free(&h->floats);
  }
  weir_free(&f->state);
}

static weir_status refuse_number(const cf_volume_file *f, int64_t has)
{
  return weir_fail(WEIR_ERR_DATA, "%s: has %lld records, and files.per_file says %lld", f->path,
                   (long long)has, (long long)f->opts->per_file);
}

/* Checks that no record follows the last one of files.per_file. The record read last stays. */
static weir_status check_end(const cf_volume_file *f, state *h)
{
  const bool last = f->opts->per_file > 0 && weir_tfrecord_number(h->file) == f->count;
  bool found = last;

  for (int64_t more = 0; found; more++) {
    WEIR_TRY(weir_tfrecord_skip(h->file, &found));
    if (!found && more > 0) {
      return refuse_number(f, f->count + more);
    }
  }
  return WEIR_OK;
}

/* Counts the samples of a file: each header is read, and no record is stored. */
static weir_status count(cf_volume_file *f, state *h)
{
  bool found = true;

  f->count = f->opts->per_file;
  if (f->count > 0 && !f->counted) {
    return check_end(f, h);
  }
  for (f->count = 1; found; f->count += found) {
    WEIR_TRY(weir_tfrecord_skip(h->file, &found));
  }
  return f->opts->per_file == 0 || f->count == f->opts->per_file ? WEIR_OK
                                                                 : refuse_number(f, f->count);
}

static weir_status open_file(cf_volume_file *f)
{
  state *h = NULL;
  bool found = false;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *h, &f->state));
  h = f->state;
  WEIR_TRY_GOTO(weir_tfrecord_open(f->path, f->opts->max_bytes, &h->file), done);
  WEIR_TRY_GOTO(weir_tfrecord_next(h->file, &found), done);
  if (!found) {
    status = weir_fail(WEIR_ERR_DATA, "%s: is empty", f->path);
    goto done;
  }
  WEIR_TRY_GOTO(look(f, h, &f->info), done);
  h->first = f->info;
  (void)snprintf(f->info.layout, sizeof f->info.layout, "TFRecord, %s, keys %.*s and %.*s",
                 weir_tfrecord_compressed(h->file) ? "gzip" : "plain",
                 h->volume.key_size < 20 ? (int)h->volume.key_size : 20, h->volume.key,
                 h->labels.key_size < 20 ? (int)h->labels.key_size : 20,
                 h->labels.key_size > 0 ? h->labels.key : "");
  WEIR_TRY_GOTO(count(f, h), done);
done:
  if (status != WEIR_OK) {
    close_file(f);
  }
  return status;
}

/* Has a sample as the record read last. */
static weir_status go_to(cf_volume_file *f, int64_t sample)
{
  state *const h = f->state;
  const cf_volume_info *const first = &h->first;
  cf_volume_info info = {.n_labels = 0};
  int64_t size = 0;
  bool found = true;

  (void)weir_tfrecord_payload(h->file, &size);
  if (weir_tfrecord_number(h->file) == sample + 1 && size >= 0 && h->volume.key) {
    return WEIR_OK;
  }
  h->volume = (weir_tf_feature){0};
  if (weir_tfrecord_number(h->file) > sample) {
    WEIR_TRY(weir_tfrecord_rewind(h->file));
  }
  while (found && weir_tfrecord_number(h->file) < sample) {
    WEIR_TRY(weir_tfrecord_skip(h->file, &found));
  }
  if (found) {
    WEIR_TRY(weir_tfrecord_next(h->file, &found));
  }
  if (!found) {
    return refuse_number(f, weir_tfrecord_number(h->file));
  }
  WEIR_TRY(check_end(f, h));
  WEIR_TRY(look(f, h, &info));
  if (memcmp(info.lengths, first->lengths, sizeof info.lengths) != 0 ||
      info.dtype != first->dtype || info.n_labels != first->n_labels) {
    char why[160];

    (void)snprintf(why, sizeof why,
                   "is %lld^3 voxels of %lld channels of %s with %lld labels, the first record is "
                   "%lld^3 of %lld of %s with %lld",
                   (long long)info.lengths[0], (long long)info.lengths[3],
                   weir_dtype_name(info.dtype), (long long)info.n_labels,
                   (long long)first->lengths[0], (long long)first->lengths[3],
                   weir_dtype_name(first->dtype), (long long)first->n_labels);
    return refuse(h, &h->volume, "x", why);
  }
  if (memcmp(info.label, first->label, sizeof info.label) != 0 ||
      memcmp(info.redshift, first->redshift, sizeof info.redshift) != 0 ||
      memcmp(info.lo, first->lo, sizeof info.lo) != 0 ||
      memcmp(info.hi, first->hi, sizeof info.hi) != 0 || info.quantity != first->quantity ||
      info.line_of_sight != first->line_of_sight) {
    return refuse(
        h, &h->volume, "about",
        "its labels, ranges, redshifts, voxels or line of sight are others than the first "
        "record's");
  }
  weir_free(&h->floats);
  return WEIR_OK;
}

static weir_status read_planes(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out)
{
  state *const h = f->state;

  WEIR_TRY(go_to(f, sample));
  if (h->volume.kind == WEIR_TF_FLOATS && !h->floats) {
    WEIR_TRY(weir_alloc(h->volume.count, sizeof(float), (void **)&h->floats));
    weir_tf_floats(&h->volume, h->floats);
  }
  const size_t plane = (size_t)cf_volume_plane(&f->info) * weir_dtype_size(f->info.dtype);
  const uint8_t *const from = h->floats ? (const uint8_t *)h->floats : h->volume.bytes;

  memcpy(out, from + (size_t)d0 * plane, (size_t)(d1 - d0) * plane);
  return WEIR_OK;
}

static weir_status read_labels(cf_volume_file *f, int64_t sample, double *out)
{
  const state *const h = f->state;
  float floats[CF_MAX_LABELS];

  WEIR_TRY(go_to(f, sample));
  if (h->labels.kind == WEIR_TF_FLOATS) {
    weir_tf_floats(&h->labels, floats);
  }
  for (int64_t i = 0; i < f->info.n_labels; i++) {
    if (h->labels.kind == WEIR_TF_FLOATS) {
      out[i] = (double)floats[i];
    } else {
      memcpy(&out[i], h->labels.bytes + 8 * i, sizeof *out);
    }
  }
  return WEIR_OK;
}

static weir_status read_facts(cf_volume_file *f, int64_t sample, cf_facts *out)
{
  const state *const h = f->state;

  WEIR_TRY(go_to(f, sample));
  *out = h->facts;
  return WEIR_OK;
}

static weir_status read_universe(cf_volume_file *f, int64_t sample, int64_t *out)
{
  const state *const h = f->state;
  weir_tf_feature universe;

  *out = -1;
  WEIR_TRY(go_to(f, sample));
  WEIR_TRY(weir_tfrecord_find(h->file, "universe", &universe));
  if (universe.kind == WEIR_TF_EMPTY) {
    return WEIR_OK;
  }
  if (universe.kind != WEIR_TF_INTS || universe.count != 1) {
    return refuse(h, &universe, "universe",
                  "is no whole number: write one, or leave it out and set "
                  "data.split.samples_per_universe");
  }
  weir_tf_ints(&universe, out);
  return WEIR_OK;
}

static weir_status create(cf_volume_out *o)
{
  const int64_t *const l = o->info.lengths;
  weir_tfrecord_writer *w = NULL;

  if (l[0] != l[1] || l[1] != l[2]) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "convert.format: TFRecord has cubes alone, and samples are %lld x %lld x "
                     "%lld: npy, netcdf or cfbin",
                     (long long)l[0], (long long)l[1], (long long)l[2]);
  }
  WEIR_TRY(weir_tfrecord_create(o->path, o->level, &w));
  o->state = w;
  return WEIR_OK;
}

/* Writes a record as MLPerf does; other readers ignore `universe` and `about`. Floats differ from
 * counts in their kind. */
static weir_status append(cf_volume_out *o, const void *voxels, const cf_volume_about *about)
{
  const int64_t n = cf_volume_elements(&o->info);
  const bool floats = o->info.dtype == WEIR_F32;
  weir_tf_out out[4] = {{"x", floats ? WEIR_TF_FLOATS : WEIR_TF_BYTES, voxels,
                         floats ? n : n * (int64_t)weir_dtype_size(o->info.dtype)},
                        {"y", WEIR_TF_FLOATS, about->labels, o->info.n_labels}};
  char text[CF_MAX_ABOUT] = "";
  int n_out = 2;

  if (about->universe >= 0) {
    out[n_out++] = (weir_tf_out){"universe", WEIR_TF_INTS, &about->universe, 1};
  }
  if (about->facts) {
    cf_about_print(&o->info, about->facts, text);
  }
  if (text[0]) {
    out[n_out++] = (weir_tf_out){"about", WEIR_TF_BYTES, text, (int64_t)strlen(text)};
  }
  return weir_tfrecord_write(o->state, out, n_out);
}

static weir_status commit(cf_volume_out *o)
{
  weir_tfrecord_writer *w = o->state;

  o->state = NULL;
  return weir_tfrecord_commit(&w);
}

static void destroy(cf_volume_out *o)
{
  weir_tfrecord_writer *w = o->state;

  weir_tfrecord_destroy(&w);
  o->state = NULL;
}

const cf_volume_format cf_volume_format_tfrecord = {
    .name = "tfrecord",
    .help = "TFRecord of MLPerf HPC (keys x, y) and SC'18 (data_raw, label_raw), plain or gzip",
    .suffix = ".tfrecord",
    .endings = ".tfrecord|.tfrecords|.tfrecord.gz|.tfrecords.gz",
    .open = open_file,
    .close = close_file,
    .read = read_planes,
    .labels = read_labels,
    .facts = read_facts,
    .universe = read_universe,
    .create = create,
    .append = append,
    .commit = commit,
    .destroy = destroy,
    .uncounted = true,
};
