/* spectrum.c - see spectrum.h. */
#include "eval/spectrum.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/simulation/power.h"
#include "data/volume/volume_format.h"

#define PI 3.14159265358979323846

const weir_opt cf_spectrum_options[] = {
    WEIR_OPT_INT(cf_spectrum_opts, sample, 0, 0, 1e15, "1",
                 "number of the sample in the set, from 0"),
    WEIR_OPT_REAL(
        cf_spectrum_opts, reach, 1, 0.1, 1.7321, "Nyquist",
        "largest k: 1, the Nyquist wave number of an axis; 1.7321, the root of 3, all that "
        "the mesh has"),
    WEIR_OPT_ENUM(cf_spectrum_opts, window, CF_WINDOW_NONE, "none|ngp|cic|tsc",
                  "mass-assignment window that P(k) is divided by: of particles counted in the "
                  "nearest cell, or shared among 8 or 27"),
    WEIR_OPT_REAL(
        cf_spectrum_opts, cell, 0, 0, 1e6, "Mpc/h",
        "side of a voxel; 0: that of the files, and where they state none, k and P(k) are "
        "in units of voxels"),
    WEIR_OPT_ENUM(cf_spectrum_opts, field, CF_FIELD_AUTO, CF_FIELD_CHOICES,
                  "quantity of the voxels; auto: counts or density as the files state, else "
                  "density; counts and density, which are divided by their mean, have no voxel "
                  "below 0; overdensity: delta itself, with mean 0 and without division"),
    WEIR_OPT_END,
};

const char *const cf_field_name[] = {"auto", "counts", "density", "overdensity"};

/* Workspace of a measurement. */
typedef struct work {
  cf_mesh *mesh;
  cf_power power;
  float *voxels, *field;
} work;

void cf_spectrum_fini(cf_spectrum *s)
{
  weir_free(&s->lo);
  weir_free(&s->hi);
  weir_free(&s->k);
  weir_free(&s->modes);
  weir_free(&s->power);
  weir_free(&s->linear);
}

static weir_status allocate(const cf_volume_info *info, const cf_spectrum_opts *opts, work *w,
                            cf_spectrum *out)
{
  WEIR_TRY(cf_power_mesh(info, &w->mesh));
  out->n_bins = cf_power_reach(w->mesh, opts->reach);
  WEIR_TRY(cf_power_init(&w->power, w->mesh, (double)out->side * out->cell, out->n_bins));
  WEIR_TRY(cf_mesh_field(w->mesh, &w->field));
  WEIR_TRY(weir_alloc(cf_volume_elements(info), sizeof *w->voxels, (void **)&w->voxels));
  WEIR_TRY(weir_alloc(out->n_bins, sizeof *out->lo, (void **)&out->lo));
  WEIR_TRY(weir_alloc(out->n_bins, sizeof *out->hi, (void **)&out->hi));
  WEIR_TRY(weir_alloc(out->n_bins, sizeof *out->k, (void **)&out->k));
  WEIR_TRY(weir_alloc(out->n_bins, sizeof *out->modes, (void **)&out->modes));
  const int64_t all = out->n_channels * out->n_bins;

  WEIR_TRY(weir_alloc(all, sizeof *out->power, (void **)&out->power));
  return weir_alloc(all, sizeof *out->linear, (void **)&out->linear);
}

/* Returns the first voxel of channel c that cannot be of this field; -1: none. */
static int64_t first_refused(cf_field_kind field, const float *voxels, int64_t n, int64_t channels,
                             int64_t c)
{
  for (int64_t i = 0; i < n && field != CF_FIELD_OVERDENSITY; i++) {
    const float x = voxels[i * channels + c];

    if (x < 0 || (field == CF_FIELD_COUNTS && x != floorf(x))) {
      return i;
    }
  }
  return -1;
}

/* Checks that channel c can be the field it is taken for. */
static weir_status check_field(const work *w, const cf_spectrum *out, int64_t c, double mean)
{
  const int64_t n = out->depth * out->side * out->side;
  const char *const name = cf_field_name[out->field];
  const int64_t at = first_refused(out->field, w->voxels, n, out->n_channels, c);
  bool below = false;

  if (at >= 0) {
    const double x = (double)w->voxels[at * out->n_channels + c];

    return x < 0 ? weir_fail(WEIR_ERR_DATA,
                             "%s: channel %lld has voxels below 0 (voxel %lld is %g) and cannot be "
                             "divided by its mean as %s: state power.field=overdensity if it is an "
                             "overdensity or another field with mean 0",
                             out->where, (long long)c, (long long)at, x, name)
                 : weir_fail(WEIR_ERR_DATA,
                             "%s: channel %lld: voxel %lld is %g, which is no count: state "
                             "power.field=density",
                             out->where, (long long)c, (long long)at, x);
  }
  if (out->field != CF_FIELD_OVERDENSITY) {
    return mean > 0 && isfinite(mean)
               ? WEIR_OK
               : weir_fail(WEIR_ERR_DATA,
                           "%s: channel %lld has a mean of %g: the overdensity voxel / mean - 1 "
                           "needs a mean above 0",
                           out->where, (long long)c, mean);
  }
  for (int64_t i = 0; i < n && !below; i++) {
    below = w->voxels[i * out->n_channels + c] < 0;
  }
  return below || mean == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "power.field=overdensity: %s: channel %lld has no voxel below 0 and a "
                         "mean of %g, and cannot be an overdensity: state power.field=density",
                         out->where, (long long)c, mean);
}

static double mean_of(const float *voxels, int64_t n, int64_t channels, int64_t c)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += (double)voxels[i * channels + c];
  }
  return sum / (double)n;
}

static weir_status measure(const cf_spectrum_opts *opts, work *w, cf_spectrum *out)
{
  const int64_t n = out->depth * out->side * out->side;

  for (int64_t c = 0; c < out->n_channels; c++) {
    const double mean = mean_of(w->voxels, n, out->n_channels, c);

    WEIR_TRY(check_field(w, out, c, mean));
    out->mean[c] = mean;
    (void)cf_power_field(w->mesh, w->voxels, out->n_channels, c, w->field);
    cf_mesh_forward(w->mesh, w->field);
    cf_power_measure(&w->power, w->mesh, w->field, out->field == CF_FIELD_OVERDENSITY ? 1 : mean,
                     opts->window);
    memcpy(out->power + c * out->n_bins, w->power.p, (size_t)out->n_bins * sizeof *out->power);
  }
  return WEIR_OK;
}

/* Linear theory at the redshift of each channel, where the sample states its cosmology. */
static weir_status compare(const work *w, const cf_facts *facts, cf_spectrum *out)
{
  const double *const x = facts->cosmology; /* CF_COSMOLOGY_NAMES */
  cf_linear l;

  for (int64_t i = 0; i < out->n_channels * out->n_bins; i++) {
    out->linear[i] = NAN;
  }
  if (!facts->has_cosmology || !out->physical || out->depth == 1) { /* maps depend on their slab */
    return WEIR_OK;
  }
  WEIR_TRY(cf_linear_init(
      &(cf_cosmology){.omega_m = x[0], .omega_b = x[1], .h = x[2], .n_s = x[3], .sigma_8 = x[4]},
      CF_TRANSFER_FULL, &l));
  for (int64_t c = 0; c < out->n_channels; c++) {
    double *const linear = out->linear + c * out->n_bins;

    if (isnan(out->redshift[c])) {
      continue;
    }
    const double growth = cf_linear_growth(&l, 1 / (1 + out->redshift[c]));

    cf_power_expected(&w->power, w->mesh, &l, linear);
    for (int64_t b = 0; b < out->n_bins; b++) {
      linear[b] *= growth * growth;
    }
  }
  return WEIR_OK;
}

static void take_bins(const work *w, cf_spectrum *out)
{
  const double fundamental = 2 * PI / ((double)out->side * out->cell);

  for (int64_t b = 0; b < out->n_bins; b++) {
    out->lo[b] = ((double)b + 0.5) * fundamental;
    out->hi[b] = ((double)b + 1.5) * fundamental;
    out->k[b] = w->power.k[b];
    out->modes[b] = w->power.modes[b];
  }
}

static weir_status make(const cf_spectrum_opts *opts, cf_source *s, work *w, cf_spectrum *out)
{
  cf_facts facts;

  WEIR_TRY(allocate(cf_source_info(s), opts, w, out));
  WEIR_TRY(cf_source_read(s, opts->sample, 0, out->depth, WEIR_F32, w->voxels));
  WEIR_TRY(cf_source_facts(s, opts->sample, &facts));
  take_bins(w, out);
  WEIR_TRY(measure(opts, w, out));
  return compare(w, &facts, out);
}

static cf_field_kind field_of(const cf_spectrum_opts *opts, const cf_volume_info *info)
{
  return opts->field != CF_FIELD_AUTO           ? (cf_field_kind)opts->field
         : info->quantity == CF_QUANTITY_COUNTS ? CF_FIELD_COUNTS
                                                : CF_FIELD_DENSITY;
}

weir_status cf_spectrum_make(const cf_spectrum_opts *opts, cf_source *s, cf_spectrum *out)
{
  const cf_volume_info *const info = cf_source_info(s);
  const double cell = opts->cell > 0 ? opts->cell : info->cell;
  work w = {.mesh = NULL};

  *out = (cf_spectrum){.sample = opts->sample,
                       .side = info->lengths[1],
                       .depth = info->lengths[0],
                       .n_channels = info->lengths[3],
                       .field = field_of(opts, info),
                       .physical = cell > 0,
                       .cell = cell > 0 ? cell : 1};
  WEIR_TRY(cf_power_check(info));
  if (opts->sample >= cf_source_count(s) || out->n_channels > CF_MAX_LABELS) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "power.sample: %lld: there are %lld samples, numbered from 0, of %lld channels "
        "(%d at most)",
        (long long)opts->sample, (long long)cf_source_count(s), (long long)out->n_channels,
        CF_MAX_LABELS);
  }
  cf_source_locate(s, opts->sample, out->where, sizeof out->where);
  out->sub_box =
      info->box > 0 && info->cell > 0 && info->box > (double)out->side * info->cell * (1 + 1e-6);
  for (int64_t c = 0; c < out->n_channels; c++) {
    out->redshift[c] = c < info->n_redshifts ? info->redshift[c] : (double)NAN;
  }
  const weir_status status = make(opts, s, &w, out);

  cf_mesh_destroy(&w.mesh);
  cf_power_fini(&w.power);
  weir_free(&w.voxels);
  weir_free(&w.field);
  if (status != WEIR_OK) {
    cf_spectrum_fini(out);
  }
  return status;
}
