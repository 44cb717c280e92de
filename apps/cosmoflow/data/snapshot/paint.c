/* paint.c - see paint.h. */
#include "data/snapshot/paint.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "conf/weir_rundir.h"
#include "data/digests.h"
#include "data/snapshot/lensing.h"
#include "data/volume/volume.h"
#include "report/weir_report.h"

enum { TEXT = 512 };

const weir_opt cf_paint_options[] = {
    WEIR_OPT_INT_LIST(
        cf_paint_opts, types, "1", 0, CF_PARTICLE_TYPES - 1, "1",
        "particle types whose mass is painted (0 gas, 1 dark matter, 4 stars, 5 black "
        "holes; all matter of a hydrodynamical simulation: [0, 1, 4, 5])"),
    WEIR_OPT_BOOL(cf_paint_opts, separate, false,
                  "a channel for each of paint.types, each over its own mean; false: one channel "
                  "of all of them"),
    WEIR_OPT_INT(cf_paint_opts, side, 64, 4, 4096, "1", "voxels along each side"),
    WEIR_OPT_ENUM(cf_paint_opts, scheme, CF_CIC - 1, "ngp|cic|tsc",
                  "mass assignment: to the nearest point, linearly to 8, quadratically to 27"),
    WEIR_OPT_BOOL(cf_paint_opts, interlaced, false,
                  "the mean of two meshes half a voxel apart, which removes the largest aliases of "
                  "small scales; densities may then be below 0 (files.voxels: any)"),
    WEIR_OPT_BOOL(
        cf_paint_opts, deconvolve, false,
        "divide waves by the window of the mass assignment; densities may then be below 0 "
        "(files.voxels: any)"),
    WEIR_OPT_ENUM(cf_paint_opts, map.axis, CF_MAP_NONE, "none|x|y|z",
                  "line of sight of a map, samples of 1 x side x side voxels; none: meshes"),
    WEIR_OPT_REAL(cf_paint_opts, map.from, 0, 0, 1e6, "Mpc/h", "where the slab of a map begins"),
    WEIR_OPT_REAL(cf_paint_opts, map.to, 0, 0, 1e6, "Mpc/h",
                  "where it ends; 0: at the end of the box"),
    WEIR_OPT_REAL(cf_paint_opts, map.source, 0, 0, 1100, "1",
                  "redshift of the sources: the map is the lensing convergence of the slab as a "
                  "plane at the redshift of the snapshot (Born approximation); 0: the density"),
    WEIR_OPT_INT(cf_paint_opts, deflate, 1, 0, 9, "1", "compression of the files; 0: none"),
    WEIR_OPT_TABLE(cf_paint_opts, parameters, cf_parameters_options,
                   "labels of the samples, from the table of the set of simulations"),
    WEIR_OPT_END,
};

typedef struct painting {
  const cf_paint_opts *opts;
  const char *folder;
  cf_parameters *parameters; /* NULL: none */
  cf_digests *digests;
  cf_assignment a;
  double *mesh, *shifted, *kept; /* kept [CF_SNAPSHOT_BLOCK]: masses within the slab */
  double from, to, total;        /* of the slab; mass of a channel */
  float *density, *voxels;       /* of a channel; of all */
  int64_t cells, channels;
  weir_table rows;
  cf_painted *done;
} painting;

weir_status cf_paint_check(const cf_paint_opts *o)
{
  const bool map = o->map.axis != CF_MAP_NONE;
  const char *const key = o->map.from > 0     ? "map.from"
                          : o->map.to > 0     ? "map.to"
                          : o->map.source > 0 ? "map.source"
                                              : NULL;

  if (!map && key != NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "paint.%s: is of maps: set paint.map.axis", key);
  }
  if (map && (o->interlaced || o->deconvolve)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "paint.%s: is of meshes, not of maps: leave it or paint.map.axis out",
                     o->interlaced ? "interlaced" : "deconvolve");
  }
  if (o->map.to > 0 && o->map.to <= o->map.from) {
    return weir_fail(WEIR_ERR_CONFIG, "paint.map.to: the slab from %g to %g Mpc/h is empty",
                     o->map.from, o->map.to);
  }
  if (o->types.count == 0 || (o->separate && o->types.count > CF_MAX_LABELS)) {
    return weir_fail(WEIR_ERR_CONFIG, "paint.types: has %lld types, not 1 to %d",
                     (long long)o->types.count, CF_MAX_LABELS);
  }
  for (int64_t i = 0; i < o->types.count; i++) {
    for (int64_t k = 0; k < i; k++) {
      if (o->types.items[i] == o->types.items[k]) {
        return weir_fail(WEIR_ERR_CONFIG, "paint.types: has %lld twice",
                         (long long)o->types.items[i]);
      }
    }
  }
  return WEIR_OK;
}

/* ---- A snapshot ---- */

static weir_status add_particles(void *context, int64_t n, const double *position,
                                 const double *mass)
{
  painting *const p = context;
  cf_assignment shifted = p->a;

  for (int64_t i = 0; i < n; i++) {
    p->total += mass[i];
  }
  p->done->particles += (double)n;
  if (p->a.dims == 2) {
    const int along = p->opts->map.axis - CF_MAP_X;

    for (int64_t i = 0; i < n; i++) {
      const double x = position[3 * i + along];

      p->kept[i] = x >= p->from && x < p->to ? mass[i] : 0;
    }
  }
  cf_assign(&p->a, n, position, p->a.dims == 2 ? p->kept : mass, p->mesh);
  if (p->shifted != NULL) {
    shifted.shift = 0.5;
    cf_assign(&shifted, n, position, mass, p->shifted);
  }
  return WEIR_OK;
}

/* The slab of a map of this box. */
static weir_status take_slab(painting *p, const cf_snapshot_info *info, const char *path)
{
  const cf_paint_opts *const o = p->opts;

  p->from = o->map.from;
  p->to = o->map.to > 0 ? o->map.to : info->box;
  if (p->to > info->box * (1 + 1e-9) || p->from >= p->to) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "paint.map: %s has a box of %g Mpc/h, and the slab is from %g to %g", path,
                     info->box, p->from, p->to);
  }
  if (o->map.source > 0 && (!(info->omega_m > 0) || isinf(info->omega_m) || !(info->redshift > 0) ||
                            info->redshift >= o->map.source)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "paint.map.source: %s has Omega_m %g and redshift %g: a lens has a redshift "
                     "above 0 and below %g, that of the sources, and an Omega_m above 0",
                     path, info->omega_m, info->redshift, o->map.source);
  }
  return WEIR_OK;
}

/* Paints the types [first, end) of the options into a channel. */
static weir_status paint_channel(painting *p, cf_snapshot *s, const char *path, int64_t channel,
                                 int64_t first, int64_t end)
{
  const cf_snapshot_info *const info = cf_snapshot_get(s);
  const bool lenses = p->opts->map.source > 0;
  double factor = 1;

  memset(p->mesh, 0, (size_t)p->cells * sizeof *p->mesh);
  if (p->shifted != NULL) {
    memset(p->shifted, 0, (size_t)p->cells * sizeof *p->shifted);
  }
  p->total = 0;
  for (int64_t t = first; t < end; t++) {
    WEIR_TRY(cf_snapshot_read(s, (int)p->opts->types.items[t], add_particles, p));
  }
  if (!(p->total > 0)) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no mass in particles of type %lld%s (paint.types)",
                     path, (long long)p->opts->types.items[first],
                     end > first + 1 ? " and the others" : "");
  }
  const double share = p->a.dims == 2 ? (p->to - p->from) / info->box : 1;

  WEIR_TRY(cf_density(&p->a, p->mesh, p->shifted, p->opts->deconvolve,
                      p->total * share / (double)p->cells, p->density));
  if (lenses) {
    factor = cf_lensing_factor(info->omega_m, info->redshift, p->opts->map.source, p->to - p->from);
  }
  for (int64_t i = 0; i < p->cells; i++) {
    p->voxels[i * p->channels + channel] =
        lenses ? (float)(factor * ((double)p->density[i] - 1)) : p->density[i];
  }
  return WEIR_OK;
}

/* What the sample is. */
static cf_volume_info info_of(const painting *p, const cf_snapshot_info *of)
{
  const cf_paint_opts *const o = p->opts;
  const bool any = o->interlaced || o->deconvolve || o->map.source > 0;
  cf_volume_info info = {.lengths = {p->a.dims == 2 ? 1 : o->side, o->side, o->side, p->channels},
                         .dtype = WEIR_F32,
                         .n_redshifts = isnan(of->redshift) ? 0 : p->channels,
                         .box = of->box,
                         .cell = of->box / (double)o->side,
                         .quantity = any ? CF_QUANTITY_AUTO : CF_QUANTITY_DENSITY};

  for (int64_t c = 0; c < info.n_redshifts; c++) {
    info.redshift[c] = of->redshift;
  }
  if (p->parameters != NULL) {
    cf_parameters_info(p->parameters, &info);
  }
  return info;
}

static weir_status write_sample(painting *p, const cf_snapshot_info *of, int64_t universe,
                                const char *stem)
{
  const cf_volume_info info = info_of(p, of);
  float labels[CF_MAX_LABELS] = {0};
  cf_facts facts = {.has_corner = true};
  const cf_volume_about about = {labels, universe, NULL, &facts};
  char path[CF_MAX_LOCATION];
  cf_volume_writer *w = NULL;

  if (p->parameters != NULL) {
    cf_parameters_get(p->parameters, universe, labels, &facts);
  }
  WEIR_TRY(weir_path_join(p->folder, stem, path, sizeof path));
  WEIR_TRY(cf_volume_create("netcdf", path, &info, 1, (int)p->opts->deflate, &w));
  const weir_status status = cf_volume_append(w, p->voxels, &about);

  if (status != WEIR_OK) {
    cf_volume_destroy(&w);
    return status;
  }
  return cf_volume_commit(&w);
}

static weir_status paint_snapshot(painting *p, cf_snapshot *s, const char *path, int64_t universe,
                                  const char *stem)
{
  const cf_snapshot_info *const info = cf_snapshot_get(s);
  const int64_t types = p->opts->types.count;

  p->a.box = info->box;
  if (p->a.dims == 2) {
    WEIR_TRY(take_slab(p, info, path));
  }
  for (int64_t c = 0; c < p->channels; c++) {
    WEIR_TRY(p->opts->separate ? paint_channel(p, s, path, c, c, c + 1)
                               : paint_channel(p, s, path, c, 0, types));
  }
  return write_sample(p, info, universe, stem);
}

/* Adds a line of samples.csv. */
static void note(painting *p, const char *name, const char *path, int64_t universe,
                 const cf_snapshot_info *info)
{
  int64_t particles = 0;

  for (int64_t t = 0; t < p->opts->types.count; t++) {
    particles += info->count[p->opts->types.items[t]];
  }
  weir_table_add(&p->rows, "%s", name);
  weir_table_add(&p->rows, "%s", path);
  weir_table_add_number(&p->rows, "%.9g", universe >= 0 ? (double)universe : (double)NAN, "");
  weir_table_add_number(&p->rows, "%.9g", info->redshift, "");
  weir_table_add_number(&p->rows, "%.9g", info->box, "");
  weir_table_add(&p->rows, "%lld", (long long)particles);
}

static weir_status do_snapshot(painting *p, const cf_snapshot_opts *opts, const char *path,
                               int64_t number)
{
  char stem[64], name[80];
  cf_snapshot *s = NULL;
  int64_t universe = -1;
  weir_status status = WEIR_OK;

  (void)snprintf(stem, sizeof stem, "samples-%08lld", (long long)number);
  (void)snprintf(name, sizeof name, "%s.nc", stem);
  const cf_digested is = cf_digests_check(p->digests, name);

  if (p->parameters != NULL) {
    WEIR_TRY(cf_parameters_find(p->parameters, path, &universe));
  }
  WEIR_TRY(cf_snapshot_open(path, opts, &s));
  if (is == CF_DIGEST_WHOLE) {
    p->done->kept++;
  } else {
    p->done->damaged += is == CF_DIGEST_DAMAGED;
    WEIR_TRY_GOTO(paint_snapshot(p, s, path, universe, stem), done);
    WEIR_TRY_GOTO(cf_digests_add(p->digests, name), done);
    weir_run_dir_keep(); /* the same command makes the others */
    p->done->samples++;
  }
  note(p, name, path, universe, cf_snapshot_get(s));
done:
  cf_snapshot_close(&s);
  return status;
}

/* ---- All ---- */

/* Identifies input and options in the list of completed files. */
static weir_status open_digests(painting *p, const cf_snapshot_opts *s, const char *const *paths,
                                int64_t n)
{
  const cf_paint_opts *const o = p->opts;
  char key[65], text[TEXT];

  (void)snprintf(text, sizeof text, "%d %lld %d %d %d %d %.17g %.17g %.17g %lld %d", o->separate,
                 (long long)o->side, o->scheme, o->interlaced, o->deconvolve, o->map.axis,
                 o->map.from, o->map.to, o->map.source, (long long)o->deflate, s->length_unit);
  weir_sha256(text, strlen(text), key);
  for (int64_t t = 0; t < o->types.count; t++) {
    (void)snprintf(text, sizeof text, "%s %lld", key, (long long)o->types.items[t]);
    weir_sha256(text, strlen(text), key);
  }
  for (int64_t i = 0; i < n; i++) {
    cf_digests_add_input(paths[i], key);
  }
  if (p->parameters != NULL) {
    float labels[CF_MAX_LABELS] = {0};
    cf_facts facts;
    cf_volume_info info = {.n_labels = 0};

    memset(&facts, 0, sizeof facts);
    cf_parameters_info(p->parameters, &info);
    for (int64_t row = 0; row < cf_parameters_count(p->parameters); row++) {
      cf_parameters_get(p->parameters, row, labels, &facts);
      (void)snprintf(text, sizeof text, "%s", key);
      memcpy(text + 64, labels, sizeof labels);
      memcpy(text + 64 + sizeof labels, facts.physical, sizeof facts.physical);
      weir_sha256(text, 64 + sizeof labels + sizeof facts.physical, key);
    }
  }
  return cf_digests_open(p->folder, key, "input or other options of paint", &p->digests);
}

static weir_status allocate(painting *p)
{
  const cf_paint_opts *const o = p->opts;
  const int along = o->map.axis - CF_MAP_X;
  int d = 0;

  p->a = (cf_assignment){.scheme = (cf_scheme)(o->scheme + 1), .n = o->side};
  for (int axis = 0; axis < 3; axis++) {
    if (axis != along) {
      p->a.axis[d++] = axis;
    }
  }
  p->a.dims = d;
  p->cells = o->side * o->side * (d == 3 ? o->side : 1);
  p->channels = o->separate ? o->types.count : 1;
  WEIR_TRY(weir_alloc(p->cells, sizeof *p->mesh, (void **)&p->mesh));
  if (o->interlaced) {
    WEIR_TRY(weir_alloc(p->cells, sizeof *p->shifted, (void **)&p->shifted));
  }
  if (d == 2) {
    WEIR_TRY(weir_alloc(CF_SNAPSHOT_BLOCK, sizeof *p->kept, (void **)&p->kept));
  }
  WEIR_TRY(weir_alloc(p->cells, sizeof *p->density, (void **)&p->density));
  return weir_alloc(p->cells * p->channels, sizeof *p->voxels, (void **)&p->voxels);
}

static weir_status paint_all(painting *p, const cf_snapshot_opts *snapshot,
                             const char *const *paths, int64_t n)
{
  static const char *const head[] = {"file",     "snapshot",  "universe",
                                     "redshift", "box_Mpc_h", "particles"};

  for (int64_t i = 0; i < n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED,
                       "paint: stopped by signal %d after %lld of %lld snapshots: repeat the "
                       "command to resume",
                       weir_stop_signal(), (long long)i, (long long)n);
    }
    WEIR_TRY(do_snapshot(p, snapshot, paths[i], i));
    weir_progress("paint", i + 1, n, "snapshots");
  }
  return weir_table_write_csv(&p->rows, p->folder, "samples.csv", 6, head);
}

weir_status cf_paint(const cf_paint_opts *opts, const cf_snapshot_opts *snapshot,
                     const char *const *paths, int64_t n, const char *folder, cf_painted *done)
{
  painting p = {.opts = opts, .folder = folder, .done = done};
  weir_status status = WEIR_OK;

  *done = (cf_painted){0};
  if (opts->parameters.table[0] != 0) {
    WEIR_TRY_GOTO(cf_parameters_read(&opts->parameters, "paint", &p.parameters), out);
  }
  WEIR_TRY_GOTO(allocate(&p), out);
  WEIR_TRY_GOTO(open_digests(&p, snapshot, paths, n), out);
  WEIR_TRY_GOTO(paint_all(&p, snapshot, paths, n), out);
out:
  weir_table_fini(&p.rows);
  cf_digests_close(&p.digests);
  cf_parameters_destroy(&p.parameters);
  weir_free(&p.mesh);
  weir_free(&p.shifted);
  weir_free(&p.kept);
  weir_free(&p.density);
  weir_free(&p.voxels);
  return status;
}
