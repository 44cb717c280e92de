/* npy.c - samples as pairs of NumPy arrays, NAME_data.npy and NAME_label.npy, one sample a pair:
 * [depth, height, width(, channel)] and [labels], or several with a leading dimension; files.axes
 * states other orders, and maps, [height, width] and the like. NAME_universe.npy may hold the
 * universe of each sample: integers, [samples]; and for a pair of one sample NAME_about.txt other
 * properties (about.h). */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/volume/about.h"
#include "data/volume/axes.h"
#include "data/volume/volume_format.h"
#include "io/weir_npy.h"

#define DATA "_data.npy"
#define LABEL "_label.npy"
#define UNIVERSE "_universe.npy"
#define ABOUT "_about.txt"

typedef struct state {
  weir_npy *data, *label, *universe; /* label, universe NULL: there is none */
  bool first;                        /* channels come before the cube */
  cf_facts facts;                    /* of a pair of one sample */
} state;

static bool knows(const uint8_t *head, int64_t n)
{
  return n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static void close_file(cf_volume_file *f)
{
  state *const h = f->state;

  if (h) {
    weir_npy_close(&h->data);
    weir_npy_close(&h->label);
    weir_npy_close(&h->universe);
  }
  weir_free(&f->state);
}

/* NAME_data.npy to NAME_label.npy, NAME_universe.npy; false for another name. */
static bool path_with(const char *path, const char *ending, char *text, size_t size)
{
  const size_t n = strlen(path), end = strlen(DATA);

  return n > end && strcmp(path + n - end, DATA) == 0 &&
         snprintf(text, size, "%.*s%s", (int)(n - end), path, ending) < (int)size;
}

/* As files.axes has it. */
static weir_status take_stated(cf_volume_file *f, const weir_npy_shape *s)
{
  cf_axes_known known = {.path = f->path, .letters = f->opts->axes};
  state *const h = f->state;
  cf_axes is;

  known.volume.n = s->n_dims;
  memcpy(known.volume.length, s->lengths, sizeof known.volume.length);
  WEIR_TRY(cf_axes_find(&known, &is));
  if (is.sample > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: files.axes: '%s': samples of NumPy arrays are the first dimension",
                     f->path, f->opts->axes);
  }
  h->first = is.channel >= 0 && is.channel < is.cube;
  f->count = is.sample == 0 ? s->lengths[0] : 1;
  f->info.lengths[0] = 1; /* of a map */
  memcpy(f->info.lengths + is.map, s->lengths + is.cube, (is.map ? 2 : 3) * sizeof *s->lengths);
  f->info.lengths[3] = is.channel >= 0 ? s->lengths[is.channel] : 1;
  return WEIR_OK;
}

/* Equal lengths after another one are a cube with the channels, or samples, before it as well. */
static weir_status refuse_unclear(const cf_volume_file *f, const weir_npy_shape *s)
{
  const int64_t *const l = s->lengths + (s->n_dims == 5);

  if (s->n_dims == 3 && l[1] == l[2] && l[0] > l[1]) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: an array of %lld x %lld x %lld looks like many maps, and its format says "
                     "one sample: files.axes states nyx, or zyx of one sample",
                     f->path, (long long)l[0], (long long)l[1], (long long)l[2]);
  }
  if (s->n_dims < 4 || l[1] != l[2] || l[2] != l[3] || l[0] == l[1] || l[1] < 2) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: an array of %lld x %lld x %lld x %lld%s looks as if its channels came "
                   "first, and its format says last: files.axes states %s",
                   f->path, (long long)l[0], (long long)l[1], (long long)l[2], (long long)l[3],
                   s->n_dims == 5 ? " for each sample" : "",
                   s->n_dims == 5 ? "nczyx or nzyxc" : "czyx, zyxc or, of samples, nzyx");
}

static weir_status take_volume(cf_volume_file *f, const weir_npy_shape *s)
{
  const int64_t asked = f->opts->channels;
  const int several = s->n_dims == 5 || (s->n_dims == 4 && asked == 1 && s->lengths[3] != 1);

  if (s->n_dims < (f->opts->axes[0] ? 2 : 3) || s->n_dims > 5 || s->dtype == WEIR_BOOL) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: an array of %d dimensions of %s is no sample: depth, height, width, and a "
        "channel, are 4 (files.axes states maps: yx, nyx)",
        f->path, s->n_dims, weir_dtype_name(s->dtype));
  }
  f->info.dtype = s->dtype;
  if (f->opts->axes[0]) {
    return take_stated(f, s);
  }
  if (!several || s->n_dims == 5) {
    WEIR_TRY(refuse_unclear(f, s));
  }
  f->count = several ? s->lengths[0] : 1;
  for (int d = 0; d < 4; d++) {
    f->info.lengths[d] = d + several < s->n_dims ? s->lengths[d + several] : 1;
  }
  return WEIR_OK;
}

static weir_status take_labels(cf_volume_file *f, const char *path, const weir_npy_shape *s)
{
  const int64_t samples = s->n_dims == 2 ? s->lengths[0] : 1;

  f->info.n_labels = s->n_dims > 0 ? s->lengths[s->n_dims - 1] : 0;
  if (s->n_dims < 1 || s->n_dims > 2 || samples != f->count || f->info.n_labels > CF_MAX_LABELS ||
      weir_dtype_is_whole(s->dtype)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: is no array of at most %d labels, floats, for each of the %lld samples "
                     "in %s",
                     path, CF_MAX_LABELS, (long long)f->count, f->path);
  }
  return WEIR_OK;
}

static weir_status check_universe(const cf_volume_file *f, const char *path,
                                  const weir_npy_shape *s)
{
  const int64_t samples = s->n_dims == 1 ? s->lengths[0] : s->n_dims == 0 ? 1 : -1;

  return samples == f->count && weir_dtype_is_whole(s->dtype) && s->dtype != WEIR_BOOL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: is no array of an integer for each of the %lld samples in %s", path,
                         (long long)f->count, f->path);
}

/* Reads the properties of a pair from NAME_about.txt. */
static weir_status take_about(cf_volume_file *f, const char *path)
{
  state *const h = f->state;
  char *text = NULL;
  int64_t size = 0;

  WEIR_TRY(weir_file_read(path, CF_MAX_ABOUT, &text, &size));
  const char *const key = cf_about_parse(text, &f->info, &h->facts);

  weir_free(&text);
  return key == NULL ? WEIR_OK
                     : weir_fail(WEIR_ERR_DATA,
                                 "%s: its line %s is not of these labels and channels", path, key);
}

static weir_status open_file(cf_volume_file *f)
{
  char path[CF_MAX_LOCATION];
  state *h = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *h, &f->state));
  h = f->state;
  WEIR_TRY_GOTO(weir_npy_open(f->path, &h->data), done);
  WEIR_TRY_GOTO(take_volume(f, weir_npy_get(h->data)), done);
  if (path_with(f->path, LABEL, path, sizeof path) && weir_file_exists(path)) {
    WEIR_TRY_GOTO(weir_npy_open(path, &h->label), done);
    WEIR_TRY_GOTO(take_labels(f, path, weir_npy_get(h->label)), done);
  }
  if (path_with(f->path, UNIVERSE, path, sizeof path) && weir_file_exists(path)) {
    WEIR_TRY_GOTO(weir_npy_open(path, &h->universe), done);
    WEIR_TRY_GOTO(check_universe(f, path, weir_npy_get(h->universe)), done);
  }
  if (f->count == 1 && path_with(f->path, ABOUT, path, sizeof path) && weir_file_exists(path)) {
    WEIR_TRY_GOTO(take_about(f, path), done);
  }
  (void)snprintf(f->info.layout, sizeof f->info.layout, "NumPy, %s%s",
                 h->label                       ? "pairs"
                 : cf_volume_has_table(f->opts) ? "labels of a table"
                                                : "no NAME" LABEL,
                 h->first ? ", channels first" : "");
done:
  if (status != WEIR_OK) {
    close_file(f);
  }
  return status;
}

/* Planes of each channel, brought to channels last. */
static weir_status read_channels(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1,
                                 void *out)
{
  const state *const h = f->state;
  const int64_t channels = f->info.lengths[3], cells = cf_volume_cells(&f->info);
  const int64_t plane = f->info.lengths[1] * f->info.lengths[2], n = (d1 - d0) * plane;
  const size_t size = weir_dtype_size(f->info.dtype);
  char *raw = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(n, size, (void **)&raw));
  for (int64_t c = 0; c < channels && status == WEIR_OK; c++) {
    status = weir_npy_read(h->data, (sample * channels + c) * cells + d0 * plane, n, raw);
    for (int64_t i = 0; i < n && status == WEIR_OK; i++) {
      memcpy((char *)out + (size_t)(i * channels + c) * size, raw + (size_t)i * size, size);
    }
  }
  weir_free(&raw);
  return status;
}

static weir_status read_planes(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out)
{
  const state *const h = f->state;
  const int64_t plane = cf_volume_plane(&f->info);

  if (h->first) {
    return read_channels(f, sample, d0, d1, out);
  }
  return weir_npy_read(h->data, sample * cf_volume_elements(&f->info) + d0 * plane,
                       (d1 - d0) * plane, out);
}

static weir_status read_labels(cf_volume_file *f, int64_t sample, double *out)
{
  const state *const h = f->state;
  const weir_dtype dtype = weir_npy_get(h->label)->dtype;
  double values[CF_MAX_LABELS]; /* large enough for either */

  WEIR_TRY(weir_npy_read(h->label, sample * f->info.n_labels, f->info.n_labels, values));
  for (int64_t i = 0; i < f->info.n_labels; i++) {
    out[i] = weir_dtype_load_real(dtype, values, i);
  }
  return WEIR_OK;
}

static weir_status read_facts(cf_volume_file *f, int64_t sample, cf_facts *out)
{
  const state *const h = f->state;

  (void)sample;
  *out = h->facts;
  return WEIR_OK;
}

static weir_status read_universe(cf_volume_file *f, int64_t sample, int64_t *out)
{
  const state *const h = f->state;
  int64_t raw = 0; /* large enough for any integer */

  if (h->universe == NULL) {
    *out = -1;
    return WEIR_OK;
  }
  WEIR_TRY(weir_npy_read(h->universe, sample, 1, &raw));
  *out = weir_dtype_load_int(weir_npy_get(h->universe)->dtype, &raw, 0);
  return WEIR_OK;
}

static weir_status create(cf_volume_out *o)
{
  return weir_alloc(1, (size_t)cf_volume_elements(&o->info) * weir_dtype_size(o->info.dtype),
                    &o->state);
}

static weir_status write_about(const cf_volume_out *o, const cf_volume_about *about)
{
  char path[CF_MAX_LOCATION], text[CF_MAX_ABOUT] = "";
  weir_writer *w = NULL;

  if (about->facts) {
    cf_about_print(&o->info, about->facts, text);
  }
  (void)path_with(o->path, ABOUT, path, sizeof path); /* shorter */
  if (text[0] == 0) {
    (void)remove(path); /* of an earlier pair of the name */
    return WEIR_OK;
  }
  WEIR_TRY(weir_writer_open(path, &w));
  const weir_status status = weir_writer_write(w, text, strlen(text));

  if (status != WEIR_OK) {
    weir_writer_destroy(&w);
    return status;
  }
  return weir_writer_commit(&w);
}

static weir_status append(cf_volume_out *o, const void *voxels, const cf_volume_about *about)
{
  char path[CF_MAX_LOCATION];
  const weir_npy_shape labels = {WEIR_F32, 1, {o->info.n_labels}};

  memcpy(o->state, voxels, (size_t)cf_volume_elements(&o->info) * weir_dtype_size(o->info.dtype));
  if (!path_with(o->path, UNIVERSE, path, sizeof path)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: its name is too long", o->path);
  }
  if (about->universe >= 0) { /* both before the data, by which pairs are found */
    WEIR_TRY(weir_npy_write(path, &(weir_npy_shape){WEIR_I64, 1, {1}}, &about->universe));
  } else {
    (void)remove(path); /* of an earlier pair of the name */
  }
  WEIR_TRY(write_about(o, about));
  (void)path_with(o->path, LABEL, path, sizeof path); /* shorter */
  return weir_npy_write(path, &labels, about->labels);
}

static weir_status commit(cf_volume_out *o)
{
  const int64_t *const l = o->info.lengths;
  const weir_npy_shape shape = {o->info.dtype, 4, {l[0], l[1], l[2], l[3]}};

  return weir_npy_write(o->path, &shape, o->state);
}

static void destroy(cf_volume_out *o)
{
  weir_free(&o->state);
}

const cf_volume_format cf_volume_format_npy = {
    .name = "npy",
    .help = "pairs of NumPy arrays, NAME" DATA " and NAME" LABEL
            ", one sample a pair; NAME" UNIVERSE " and NAME" ABOUT " say the rest",
    .suffix = DATA,
    .companions = LABEL "|" UNIVERSE "|" ABOUT,
    .endings = DATA,
    .knows = knows,
    .open = open_file,
    .close = close_file,
    .read = read_planes,
    .labels = read_labels,
    .facts = read_facts,
    .universe = read_universe,
    .axes = true,
    .single = true,
    .create = create,
    .append = append,
    .commit = commit,
    .destroy = destroy,
};
