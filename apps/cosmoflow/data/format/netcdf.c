/* netcdf.c - samples in NetCDF-4, and in HDF5 (full, unitPar, namePar, redshifts of the ExaLearn
 * universes; x, y of MLPerf's preparation; volume, segmentation of a U-Net), which the NetCDF
 * library reads as well. A variable of cubes: (sample, ) depth, height, width (, channel), or the
 * channel before the cube; and one of classes, a number for each of its voxels. What writes them
 * is data/volume/volume_netcdf_write.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/volume/axes.h"
#include "data/volume/volume_netcdf.h"

typedef struct state {
  weir_netcdf *nc;
  int volume, labels, physical; /* variables; -1: none */
  int cosmology, corner;        /* of [sample, 5] f64, [sample, 3] i64; -1: none */
  cf_netcdf_universe universe;
  weir_dtype raw; /* of the variable of voxels */
  weir_dtype label_dtype, physical_dtype, corner_dtype;
  cf_axes is;    /* its dimensions */
  int classes;   /* variable; -1: none */
  int class_one; /* its dimension of 1 where the voxels have channels; -1: none */
  int label_dims, physical_dims;
  bool packed; /* scale_factor, add_offset or _FillValue count */
  double scale, offset, fill;
} state;

static bool knows(const uint8_t *head, int64_t n)
{
  return (n >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0) ||
         (n >= 3 && memcmp(head, "CDF", 3) == 0);
}

static void close_file(cf_volume_file *f)
{
  state *const h = f->state;

  if (h) {
    weir_netcdf_close(&h->nc);
  }
  weir_free(&f->state);
}

/* Finds the variable of voxels: as named, by the names in use, or the only one of cubes. */
static weir_status find_volume(const cf_volume_file *f, state *h, weir_netcdf_shape *s, int *dims)
{
  static const char *const names[] = {"full", "volume", "x", NULL};
  weir_netcdf_shape shape;
  int ids[WEIR_NETCDF_MAX_DIMS], n = 0, found = 0;
  bool can = false;

  h->volume = -1;
  if (f->opts->volume[0]) {
    WEIR_TRY(cf_netcdf_seek(h->nc, f->opts->volume, &h->volume, s, dims));
  }
  for (int i = 0; !f->opts->volume[0] && h->volume < 0 && names[i]; i++) {
    WEIR_TRY(cf_netcdf_seek(h->nc, names[i], &h->volume, s, dims));
    h->volume = h->volume >= 0 && s->n_dims < 3 ? CF_NETCDF_NONE : h->volume; /* a coordinate */
  }
  const bool unnamed = !f->opts->volume[0] && h->volume < 0;

  WEIR_TRY(weir_netcdf_count(h->nc, &n));
  for (int i = 0; unnamed && i < n; i++) {
    WEIR_TRY(weir_netcdf_look(h->nc, i, &shape, ids, &can));
    if (can && i != h->classes && cf_netcdf_is_cubes(&shape) && found++ == 0) {
      *s = shape;
      memcpy(dims, ids, sizeof ids);
      h->volume = i;
    }
  }
  if (h->volume < 0 || found > 1 || s->text || s->chars || s->n_dims < 3 || s->n_dims > 5) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %s; files.volume names the variable of depth, height, width and channel",
                     f->path,
                     f->opts->volume[0] ? "files.volume is no variable of 3 to 5 dimensions in it"
                     : found > 1        ? "has several variables of cubes"
                                        : "has no variable of cubes");
  }
  return WEIR_OK;
}

/* The variable of classes, a number for each voxel. */
static weir_status find_classes(const cf_volume_file *f, state *h, weir_netcdf_shape *s)
{
  const bool named = f->opts->segmentation[0] != 0;
  const char *const name = named ? f->opts->segmentation : CF_NETCDF_CLASSES;
  int dims[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(cf_netcdf_seek(h->nc, name, &h->classes, s, dims));
  if (h->classes == CF_NETCDF_OTHER) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: its variable %s has a type that is not read: write its classes as bytes or "
        "signed integers",
        f->path, name);
  }
  if (h->classes >= 0 && (weir_netcdf_has(h->nc, h->classes, "scale_factor") ||
                          weir_netcdf_has(h->nc, h->classes, "add_offset"))) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its variable %s is packed (scale_factor, add_offset): write its classes "
                     "as they are",
                     f->path, name);
  }
  if (h->classes >= 0) {
    WEIR_TRY(weir_netcdf_refuse_unsigned(h->nc, h->classes, s->dtype, f->path));
  }
  if (h->classes < 0 && named) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no variable %s (files.segmentation)", f->path, name);
  }
  if (h->classes >= 0 && (s->text || s->chars || s->n_dims < 3 || s->n_dims > CF_MAX_AXES)) {
    return weir_fail(WEIR_ERR_DATA, "%s: its variable %s is not a number for each voxel", f->path,
                     name);
  }
  return WEIR_OK;
}

static cf_extents extents_of(const weir_netcdf_shape *s)
{
  cf_extents e = {.n = s->n_dims};

  memcpy(e.length, s->lengths, (size_t)s->n_dims * sizeof *e.length);
  return e;
}

/* Which dimension is what. classes: NULL where there are none. */
static weir_status take_dims(cf_volume_file *f, state *h, const weir_netcdf_shape *s,
                             const int *dims, const weir_netcdf_shape *classes)
{
  const cf_extents class_extents = classes ? extents_of(classes) : (cf_extents){0};
  cf_axes_known known = {.path = f->path,
                         .letters = f->opts->axes,
                         .volume = extents_of(s),
                         .classes = classes ? &class_extents : NULL};
  char name[CF_MAX_AXES][260];

  for (int d = 0; d < s->n_dims; d++) {
    WEIR_TRY(weir_netcdf_dim_name(h->nc, dims[d], name[d], sizeof name[d]));
    known.name[d] = name[d];
  }
  WEIR_TRY(cf_axes_find(&known, &h->is));
  if (h->is.map) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.axes: '%s': %s: maps of NetCDF and HDF5 have a depth of one voxel, and "
                     "the letters zyx",
                     known.letters, f->path);
  }
  h->raw = s->dtype;
  for (int d = 0; d < 3; d++) {
    f->info.lengths[d] = s->lengths[h->is.cube + d];
  }
  f->info.lengths[3] = h->is.channel < 0 ? 1 : s->lengths[h->is.channel];
  f->count = h->is.sample < 0 ? 1 : s->lengths[h->is.sample];
  if (classes) {
    const int n = 3 + (h->is.sample >= 0);

    f->info.n_classes = f->opts->classes;
    f->info.class_dtype = classes->dtype;
    h->class_one = classes->n_dims == n ? -1 : classes->lengths[n] == 1 ? n : h->is.channel;
  }
  int64_t all = 1;

  for (int d = 0; d < 4; d++) {
    if (f->info.lengths[d] < 1 || __builtin_mul_overflow(all, f->info.lengths[d], &all) ||
        all > INT64_MAX / 16) {
      return weir_fail(WEIR_ERR_DATA, "%s: claims a sample of %lld x %lld x %lld x %lld", f->path,
                       (long long)f->info.lengths[0], (long long)f->info.lengths[1],
                       (long long)f->info.lengths[2], (long long)f->info.lengths[3]);
    }
  }
  return WEIR_OK;
}

/* Attributes of packed numbers (CF conventions, section 8.1). */
static weir_status take_packing(cf_volume_file *f, state *h)
{
  const struct {
    const char *name;
    double *value, none;
  } known[] = {
      {"scale_factor", &h->scale, 1}, {"add_offset", &h->offset, 0}, {"_FillValue", &h->fill, NAN}};

  WEIR_TRY(weir_netcdf_refuse_unsigned(h->nc, h->volume, h->raw, f->path));
  for (int i = 0; i < 3; i++) {
    *known[i].value = known[i].none;
    if (weir_netcdf_has(h->nc, h->volume, known[i].name)) {
      WEIR_TRY(weir_netcdf_get_numbers(h->nc, h->volume, known[i].name, known[i].value, 1));
      h->packed = true;
    }
  }
  f->info.dtype = h->packed ? WEIR_F32 : h->raw;
  return WEIR_OK;
}

/* Reads the quantity of the voxels, where the variable declares it. */
static weir_status take_quantity(cf_volume_file *f, const state *h)
{
  char *text = NULL;

  if (!weir_netcdf_has(h->nc, h->volume, "quantity")) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_get_text(h->nc, h->volume, "quantity", &text));
  for (int k = CF_QUANTITY_COUNTS; k <= CF_QUANTITY_DENSITY; k++) {
    f->info.quantity = strcmp(text, cf_quantity_name[k]) == 0 ? (cf_quantity)k : f->info.quantity;
  }
  weir_free(&text);
  return WEIR_OK;
}

static weir_status take_labels(cf_volume_file *f, state *h, const cf_netcdf_voxels *voxels)
{
  weir_netcdf_shape s = {0};
  char name[260] = "";

  WEIR_TRY(cf_netcdf_seek_labels(h->nc, f, voxels, &h->labels, &s));
  if (h->labels < 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_netcdf_name(h->nc, h->labels, name, sizeof name));
  h->label_dims = s.n_dims;
  h->label_dtype = s.dtype;
  f->info.n_labels = s.n_dims > 0 ? s.lengths[s.n_dims - 1] : 0;
  if (s.text || s.chars || !weir_dtype_is_real(s.dtype) || s.n_dims < 1 || s.n_dims > 2 ||
      (s.n_dims == 2 && s.lengths[0] != f->count) || (s.n_dims == 1 && f->count != 1) ||
      f->info.n_labels > CF_MAX_LABELS) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its labels (variable %s) are not at most %d floats for each of %lld "
                     "samples; files.labels names another variable",
                     f->path, name, CF_MAX_LABELS, (long long)f->count);
  }
  return WEIR_OK;
}

/* Finds the parameters in their own units. */
static weir_status take_physical(cf_volume_file *f, state *h)
{
  weir_netcdf_shape s = {0};
  int dims[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(cf_netcdf_seek(h->nc, "physPar", &h->physical, &s, dims));
  if (h->physical < 0 || f->info.n_labels == 0) {
    h->physical = CF_NETCDF_NONE;
    return WEIR_OK;
  }
  h->physical_dims = s.n_dims;
  h->physical_dtype = s.dtype;
  f->info.physical = true;
  if (s.text || s.chars || !weir_dtype_is_real(s.dtype) || s.n_dims != h->label_dims ||
      s.lengths[s.n_dims - 1] != f->info.n_labels || (s.n_dims == 2 && s.lengths[0] != f->count)) {
    return weir_fail(WEIR_ERR_DATA, "%s: physPar has not the shape of the labels", f->path);
  }
  return WEIR_OK;
}

/* Names of the labels: letters, or texts as HDF5 has them. */
static weir_status take_names(cf_volume_file *f, state *h)
{
  weir_netcdf_shape s = {0};
  int dims[WEIR_NETCDF_MAX_DIMS], var = -1;

  WEIR_TRY(cf_netcdf_seek(h->nc, "namePar", &var, &s, dims));
  if (var == CF_NETCDF_NONE || f->info.n_labels == 0) {
    return WEIR_OK;
  }
  if (var == CF_NETCDF_OTHER || s.n_dims != (s.chars ? 2 : 1) || (!s.text && !s.chars) ||
      s.lengths[0] != f->info.n_labels || (s.chars && s.lengths[1] >= CF_MAX_NAME)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: namePar is no text for each of %lld labels, of at most %d letters",
                     f->path, (long long)f->info.n_labels, CF_MAX_NAME - 1);
  }
  for (int64_t i = 0; i < s.lengths[0]; i++) {
    if (s.text) {
      char *text = NULL;

      WEIR_TRY(weir_netcdf_read_text(h->nc, var, &i, &text));
      (void)snprintf(f->info.label[i], CF_MAX_NAME, "%s", text);
      weir_free(&text);
    } else {
      WEIR_TRY(weir_netcdf_read(h->nc, var, (int64_t[]){i, 0}, (int64_t[]){1, s.lengths[1]},
                                f->info.label[i]));
    }
  }
  return WEIR_OK;
}

/* The parameters themselves at labels of -1 and 1. */
static weir_status take_ranges(cf_volume_file *f, state *h)
{
  double range[2 * CF_MAX_LABELS];
  weir_netcdf_shape s = {0};
  int dims[WEIR_NETCDF_MAX_DIMS], var = -1;

  WEIR_TRY(cf_netcdf_seek(h->nc, "rangePar", &var, &s, dims));
  if (var == CF_NETCDF_NONE || f->info.n_labels == 0) {
    return WEIR_OK;
  }
  if (var == CF_NETCDF_OTHER || s.text || s.chars || !weir_dtype_is_real(s.dtype) ||
      s.n_dims != 2 || s.lengths[0] != f->info.n_labels || s.lengths[1] != 2) {
    return weir_fail(WEIR_ERR_DATA, "%s: rangePar is not two floats for each of %lld labels",
                     f->path, (long long)f->info.n_labels);
  }
  WEIR_TRY(weir_netcdf_read(h->nc, var, (int64_t[]){0, 0}, s.lengths, range));
  for (int64_t i = 0; i < f->info.n_labels; i++) {
    const double lo = weir_dtype_load_real(s.dtype, range, 2 * i);
    const double hi = weir_dtype_load_real(s.dtype, range, 2 * i + 1);

    if (isnan(lo) || isnan(hi)) { /* not known */
      continue;
    }
    if (!isfinite(lo) || !isfinite(hi) || lo >= hi) {
      return weir_fail(WEIR_ERR_DATA, "%s: rangePar of label %lld goes from %g to %g", f->path,
                       (long long)i + 1, lo, hi);
    }
    f->info.lo[i] = lo;
    f->info.hi[i] = hi;
  }
  return WEIR_OK;
}

/* Finds a variable of n numbers a sample of *dtype, and its own dtype; -1: none. */
static weir_status seek_row(const cf_volume_file *f, const state *h, const char *name,
                            weir_dtype *dtype, int64_t n, int *var)
{
  weir_netcdf_shape s = {0};
  int dims[WEIR_NETCDF_MAX_DIMS];

  WEIR_TRY(cf_netcdf_seek(h->nc, name, var, &s, dims));
  if (*var < 0 || s.text || s.chars || !weir_netcdf_holds(s.dtype, *dtype) || s.n_dims != 2 ||
      s.lengths[0] != f->count || s.lengths[1] != n) {
    *var = CF_NETCDF_NONE; /* another program's */
  }
  *dtype = s.dtype;
  return WEIR_OK;
}

/* The simulation, of files of prepare. */
static weir_status take_simulation(cf_volume_file *f, const state *h)
{
  char *text = NULL;

  if (!weir_netcdf_has(h->nc, WEIR_NETCDF_FILE, "simulation")) {
    return WEIR_OK;
  }
  const weir_status status = weir_netcdf_get_text(h->nc, WEIR_NETCDF_FILE, "simulation", &text);

  if (status == WEIR_ERR_DATA) { /* another program's number */
    weir_clear_failure();
    return WEIR_OK;
  }
  WEIR_TRY(status);
  if (strncmp(text, "seed ", 5) == 0) { /* as prepare writes it */
    (void)snprintf(f->info.simulation, sizeof f->info.simulation, "%s", text);
  }
  weir_free(&text);
  return WEIR_OK;
}

/* Sides of box and voxel, the voxels' unit, and what the samples' universes are. */
static weir_status take_box(cf_volume_file *f, state *h)
{
  static const char *const names[] = {"box_size_mpc_h", "cell_size_mpc_h", "voxel_unit"};
  double *const at[] = {&f->info.box, &f->info.cell, &f->info.unit};

  for (int k = 0; k < 3; k++) {
    if (weir_netcdf_has(h->nc, WEIR_NETCDF_FILE, names[k])) {
      WEIR_TRY(weir_netcdf_get_numbers(h->nc, WEIR_NETCDF_FILE, names[k], at[k], 1));
      if (!isfinite(*at[k]) || *at[k] <= 0) {
        return weir_fail(WEIR_ERR_DATA, "%s: %s is %g", f->path, names[k], *at[k]);
      }
    }
  }
  weir_dtype real = WEIR_F64;

  h->corner_dtype = WEIR_I64;
  WEIR_TRY(seek_row(f, h, "cosmology", &real, CF_COSMOLOGY, &h->cosmology));
  return seek_row(f, h, "corner", &h->corner_dtype, 3, &h->corner);
}

/* Finds the other properties: universe, names of labels, redshifts of channels. */
static weir_status take_rest(cf_volume_file *f, state *h)
{
  weir_netcdf_shape s = {0};
  int dims[WEIR_NETCDF_MAX_DIMS], var = -1;

  WEIR_TRY(cf_netcdf_seek_universe(h->nc, f, &h->universe));
  WEIR_TRY(cf_netcdf_seek(h->nc, "redshifts", &var, &s, dims));
  if (var != CF_NETCDF_NONE &&
      (var == CF_NETCDF_OTHER || s.n_dims != 1 || s.lengths[0] != f->info.lengths[3] ||
       !weir_dtype_is_real(s.dtype) || s.text || s.chars)) {
    return weir_fail(WEIR_ERR_DATA, "%s: redshifts is not a float for each of %lld channels",
                     f->path, (long long)f->info.lengths[3]);
  }
  if (var >= 0 && s.lengths[0] <= CF_MAX_LABELS) {
    double raw[CF_MAX_LABELS];

    WEIR_TRY(weir_netcdf_read(h->nc, var, (int64_t[]){0}, s.lengths, raw));
    f->info.n_redshifts = s.lengths[0];
    for (int64_t i = 0; i < s.lengths[0]; i++) {
      f->info.redshift[i] = weir_dtype_load_real(s.dtype, raw, i);
    }
  }
  WEIR_TRY(take_ranges(f, h));
  WEIR_TRY(take_physical(f, h));
  WEIR_TRY(take_box(f, h));
  WEIR_TRY(take_simulation(f, h));
  WEIR_TRY(cf_netcdf_get_line_of_sight(h->nc, f->path, &f->info.line_of_sight));
  return take_names(f, h);
}

static weir_status open_file(cf_volume_file *f)
{
  weir_netcdf_shape s = {0};
  weir_netcdf_shape classes = {0};
  int dims[WEIR_NETCDF_MAX_DIMS];
  char name[260] = "";
  state *h = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(1, sizeof *h, &f->state));
  h = f->state;
  WEIR_TRY_GOTO(weir_netcdf_open(f->path, &h->nc), done);
  WEIR_TRY_GOTO(find_classes(f, h, &classes), done);
  WEIR_TRY_GOTO(find_volume(f, h, &s, dims), done);
  WEIR_TRY_GOTO(take_dims(f, h, &s, dims, h->classes >= 0 ? &classes : NULL), done);
  WEIR_TRY_GOTO(take_packing(f, h), done);
  WEIR_TRY_GOTO(take_quantity(f, h), done);
  WEIR_TRY_GOTO(take_labels(f, h, &(cf_netcdf_voxels){h->volume, s.n_dims, dims}), done);
  WEIR_TRY_GOTO(take_rest(f, h), done);
  WEIR_TRY_GOTO(weir_netcdf_name(h->nc, h->volume, name, sizeof name), done);
  (void)snprintf(f->info.layout, sizeof f->info.layout, "NetCDF or HDF5, variable %.32s%s%s%s",
                 name, h->is.channel >= 0 && h->is.channel < h->is.cube ? ", channels first" : "",
                 h->packed ? ", packed" : "", h->classes >= 0 ? ", classes of voxels" : "");
done:
  if (status != WEIR_OK) {
    close_file(f);
  }
  return status;
}

/* From the order and the type of the file to channels last and numbers. */
static void unpack(const cf_volume_file *f, const void *raw, int64_t n, bool first, void *out)
{
  const state *const h = f->state;
  const size_t size = weir_dtype_size(h->raw);
  const int64_t channels = f->info.lengths[3], voxels = n / channels;

  for (int64_t i = 0; i < n; i++) {
    const int64_t at = first ? i % channels * voxels + i / channels : i;

    if (h->packed) {
      const double value = weir_dtype_load_real(h->raw, raw, at);

      ((float *)out)[i] = value == h->fill ? NAN : (float)(value * h->scale + h->offset);
    } else {
      memcpy((char *)out + (size_t)i * size, (const char *)raw + (size_t)at * size, size);
    }
  }
}

/* Start and count of planes [d0, d1) of a sample, in the order of the dimensions of a variable. */
typedef struct selection {
  int64_t start[WEIR_NETCDF_MAX_DIMS], count[WEIR_NETCDF_MAX_DIMS];
} selection;

static selection selection_of(const cf_volume_file *f, const cf_axes *a, int64_t sample, int64_t d0,
                              int64_t d1)
{
  selection p = {.start = {0}};

  if (a->sample >= 0) {
    p.start[a->sample] = sample;
    p.count[a->sample] = 1;
  }
  for (int d = 0; d < 3; d++) {
    p.count[a->cube + d] = f->info.lengths[d];
  }
  p.start[a->cube] = d0;
  p.count[a->cube] = d1 - d0;
  return p;
}

static weir_status read_planes(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1, void *out)
{
  const state *const h = f->state;
  const bool first = h->is.channel >= 0 && h->is.channel < h->is.cube;
  const int64_t n = (d1 - d0) * cf_volume_plane(&f->info);
  selection p = selection_of(f, &h->is, sample, d0, d1);
  void *raw = NULL;

  if (h->is.channel >= 0) {
    p.count[h->is.channel] = f->info.lengths[3];
  }
  if (!first && !h->packed) {
    return weir_netcdf_read(h->nc, h->volume, p.start, p.count, out);
  }
  WEIR_TRY(weir_alloc(n, weir_dtype_size(h->raw), &raw));
  const weir_status status = weir_netcdf_read(h->nc, h->volume, p.start, p.count, raw);

  if (status == WEIR_OK) {
    unpack(f, raw, n, first, out);
  }
  weir_free(&raw);
  return status;
}

/* Returns the index of a dimension of the voxels among those of the classes. */
static int class_dim(const state *h, int d)
{
  const int bare = d - (h->is.channel >= 0 && h->is.channel < d);

  return bare + (h->class_one >= 0 && h->class_one <= bare);
}

static weir_status read_classes(cf_volume_file *f, int64_t sample, int64_t d0, int64_t d1,
                                void *out)
{
  const state *const h = f->state;
  const cf_axes is = {h->is.sample < 0 ? -1 : class_dim(h, h->is.sample), h->class_one,
                      class_dim(h, h->is.cube), false};
  selection p = selection_of(f, &is, sample, d0, d1);

  if (is.channel >= 0) {
    p.count[is.channel] = 1;
  }
  return weir_netcdf_read(h->nc, h->classes, p.start, p.count, out);
}

/* Reads the numbers of a sample from a variable [n] or [sample, n], n at most CF_MAX_LABELS. */
static weir_status read_row(const state *h, int var, int dims, weir_dtype dtype, int64_t sample,
                            int64_t n, double *out)
{
  const int64_t start[2] = {dims == 2 ? sample : 0, 0}, count[2] = {dims == 2 ? 1 : n, n};
  double raw[CF_MAX_LABELS];

  WEIR_TRY(weir_netcdf_read(h->nc, var, start, count, raw));
  for (int64_t i = 0; i < n; i++) {
    out[i] = weir_dtype_load_real(dtype, raw, i);
  }
  return WEIR_OK;
}

static weir_status read_labels(cf_volume_file *f, int64_t sample, double *out)
{
  const state *const h = f->state;

  return read_row(h, h->labels, h->label_dims, h->label_dtype, sample, f->info.n_labels, out);
}

static weir_status read_facts(cf_volume_file *f, int64_t sample, cf_facts *out)
{
  const state *const h = f->state;

  if (h->physical >= 0) {
    WEIR_TRY(read_row(h, h->physical, h->physical_dims, h->physical_dtype, sample, f->info.n_labels,
                      out->physical));
    out->has_physical = true;
  }
  if (h->cosmology >= 0) {
    WEIR_TRY(read_row(h, h->cosmology, 2, WEIR_F64, sample, CF_COSMOLOGY, out->cosmology));
    out->has_cosmology = true;
  }
  if (h->corner >= 0) {
    const weir_netcdf_shape s = {.dtype = h->corner_dtype, .n_dims = 2};

    WEIR_TRY(weir_netcdf_read_whole(h->nc, h->corner, &s, (int64_t[]){sample, 0}, (int64_t[]){1, 3},
                                    out->corner));
    out->has_corner = true;
  }
  return WEIR_OK;
}

static weir_status read_universe(cf_volume_file *f, int64_t sample, int64_t *out)
{
  state *const h = f->state;

  return cf_netcdf_read_universe(h->nc, &h->universe, sample, out);
}

const cf_volume_format cf_volume_format_netcdf = {
    .name = "netcdf",
    .help = "NetCDF-4, and HDF5 of the ExaLearn universes (full, unitPar), of MLPerf (x, y) and of "
            "a U-Net (volume, segmentation)",
    .suffix = ".nc",
    .endings = ".nc|.nc4|.h5|.hdf5",
    .knows = knows,
    .open = open_file,
    .close = close_file,
    .read = read_planes,
    .labels = read_labels,
    .facts = read_facts,
    .classes = read_classes,
    .universe = read_universe,
    .create = cf_netcdf_create,
    .append = cf_netcdf_append,
    .commit = cf_netcdf_commit,
    .destroy = cf_netcdf_destroy,
    .holds_classes = true,
    .axes = true,
};
