/* summaries.c - see summaries.h. */
#include "eval/summary/summaries.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

#define FLOOR 1e-20 /* of numbers whose logarithm is taken */

const char *const cf_summary_name[CF_SUMMARIES] = {"one_point", "peaks", "bispectrum", "multipoles",
                                                   "scattering"};

static const weir_opt one_point_options[] = {
    WEIR_OPT_REAL_LIST(cf_count_opts, smoothing, "0", 0, 1e5, "Mpc/h",
                       "standard deviations of the Gaussian by which the density is smoothed, a "
                       "histogram for each; 0: no smoothing"),
    WEIR_OPT_REAL(cf_count_opts, lo, -3, -100, 100, "1",
                  "ln(1 + delta) at which the first bin begins; one more bin has what is below"),
    WEIR_OPT_REAL(cf_count_opts, hi, 4, -100, 100, "1",
                  "ln(1 + delta) at which the last bin ends; one more bin has what is above"),
    WEIR_OPT_INT(cf_count_opts, bins, 28, 1, 10000, "1", "bins between lo and hi"),
    WEIR_OPT_END,
};

static const weir_opt peak_options[] = {
    WEIR_OPT_REAL_LIST(cf_count_opts, smoothing, "0", 0, 1e5, "Mpc/h",
                       "standard deviations of the Gaussian by which the density is smoothed, "
                       "counts for each; 0: no smoothing"),
    WEIR_OPT_REAL(cf_count_opts, lo, -1, -100, 100, "1",
                  "height ln(1 + delta) at which the first bin begins; those below "
                  "have one more bin"),
    WEIR_OPT_REAL(cf_count_opts, hi, 4, -100, 100, "1",
                  "height at which the last bin ends; one more bin has the peaks above"),
    WEIR_OPT_INT(cf_count_opts, bins, 20, 1, 10000, "1", "bins between lo and hi"),
    WEIR_OPT_END,
};

const weir_opt cf_summary_options[] = {
    WEIR_OPT_INT(cf_summary_opts, sample, 0, 0, 1e15, "1",
                 "number of the sample in the set, from 0 (summaries)"),
    WEIR_OPT_REAL(cf_summary_opts, cell, 0, 0, 1e6, "Mpc/h",
                  "side of a voxel of files that state none; 0: as the files state"),
    WEIR_OPT_ENUM(cf_summary_opts, boundary, CF_BOUNDARY_AUTO, "auto|periodic|cut",
                  "continuation of a sample beyond its faces, for smoothing and peaks: itself "
                  "(periodic), or nothing that is known (cut); auto: periodic where the files "
                  "state a box as large as the sample, else cut"),
    WEIR_OPT_STRING_LIST(cf_summary_opts, use, CF_SUMMARY_NAMES,
                         "statistics that the command summaries computes; those of eval are of "
                         "eval.regressions"),
    WEIR_OPT_TABLE(cf_summary_opts, one_point, one_point_options,
                   "one-point distribution: shares of voxels by ln(1 + delta)"),
    WEIR_OPT_TABLE(
        cf_summary_opts, peaks, peak_options,
        "peak counts: voxels above their 26 neighbours, of maps 8, by height ln(1 + delta)"),
    WEIR_OPT_TABLE(cf_summary_opts, bispectrum, cf_bispectrum_options,
                   "bispectrum of equilateral and squeezed triangles, of a sample taken as "
                   "periodic like its power spectrum"),
    WEIR_OPT_TABLE(cf_summary_opts, multipoles, cf_multipole_options,
                   "multipoles of P(k) about a line of sight, of a sample taken as periodic"),
    WEIR_OPT_TABLE(cf_summary_opts, scattering, cf_scattering_options,
                   "coefficients of solid harmonic wavelet scattering, of a sample taken as "
                   "periodic"),
    WEIR_OPT_END,
};

weir_status cf_summaries_find(const weir_string_list *names, const char *key, unsigned *out)
{
  *out = 0;
  for (int64_t i = 0; i < names->count; i++) {
    int k = 0;

    while (k < CF_SUMMARIES && strcmp(names->items[i], cf_summary_name[k]) != 0) {
      k++;
    }
    if (k == CF_SUMMARIES) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: there is no statistic '%s': known are " CF_SUMMARY_NAMES, key,
                       names->items[i]);
    }
    *out |= 1U << k;
  }
  return *out != 0 ? WEIR_OK : weir_fail(WEIR_ERR_CONFIG, "%s is empty: list at least one", key);
}

const cf_count_opts *cf_summary_counts(const cf_summary_opts *opts, cf_summary_kind which)
{
  return which == CF_SUMMARY_ONE_POINT ? &opts->one_point : &opts->peaks;
}

/* ---- the shape ---- */

static bool same_length(double a, double b)
{
  return fabs(a - b) <= 1e-6 * b;
}

static weir_status set_cell(const cf_volume_info *info, cf_summaries *s)
{
  const double stated = s->opts->cell;

  if (stated > 0 && info->cell > 0 && !same_length(stated, info->cell)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "summaries.cell: %g: the files state voxels of %g Mpc/h: leave it out", stated,
                     info->cell);
  }
  s->cell = info->cell > 0 ? info->cell : stated;
  return WEIR_OK;
}

static weir_status set_boundary(const cf_volume_info *info, cf_summaries *s)
{
  const double side = (double)s->n * s->cell;
  const bool known = info->box > 0 && s->cell > 0, whole = known && same_length(side, info->box);

  s->periodic =
      s->opts->boundary == CF_BOUNDARY_AUTO ? whole : s->opts->boundary == CF_BOUNDARY_PERIODIC;
  return !(s->periodic && known && !whole)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "summaries.boundary=periodic: a sample is %g Mpc/h wide and the box of "
                         "the files %g: a part of a box is not periodic",
                         side, info->box);
}

static weir_status check_line_of_sight(const cf_volume_info *info, const cf_summaries *s)
{
  const char stated = "xyz"[s->opts->multipoles.line_of_sight];

  return info->line_of_sight == 0 || info->line_of_sight == stated
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "summaries.multipoles.line_of_sight: %c: the files state samples in "
                         "redshift space along %c: set it to %c",
                         stated, info->line_of_sight, info->line_of_sight);
}

static weir_status check_counts(const cf_summaries *s, cf_summary_kind which)
{
  const cf_count_opts *const o = cf_summary_counts(s->opts, which);
  const char *const name = cf_summary_name[which];

  if (o->smoothing.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "summaries.%s.smoothing is empty: list at least one, 0 for none", name);
  }
  if (!(o->lo < o->hi)) {
    return weir_fail(WEIR_ERR_CONFIG, "summaries.%s: the bins from lo %g to hi %g are empty", name,
                     o->lo, o->hi);
  }
  for (int64_t k = 0; k < o->smoothing.count; k++) {
    const double sigma = o->smoothing.items[k];

    if (sigma > 0 && !(s->cell > 0)) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "summaries.%s.smoothing: %g Mpc/h: the files do not state the side of a "
                       "voxel: state summaries.cell",
                       name, sigma);
    }
    if (sigma > (double)s->n * s->cell && sigma > 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "summaries.%s.smoothing: %g Mpc/h is above the side of a sample, %g Mpc/h",
                       name, sigma, (double)s->n * s->cell);
    }
  }
  return WEIR_OK;
}

static weir_status prepare_counts(cf_summaries *s, cf_summary_kind which)
{
  const cf_count_opts *const o = cf_summary_counts(s->opts, which);

  WEIR_TRY(check_counts(s, which));
  WEIR_TRY(
      weir_alloc(o->smoothing.count, sizeof *s->smoother[which], (void **)&s->smoother[which]));
  for (int64_t k = 0; k < o->smoothing.count; k++) {
    const double sigma = o->smoothing.items[k] > 0 ? o->smoothing.items[k] / s->cell : 0;

    WEIR_TRY(cf_smoother_init(s->n, s->map, s->periodic, sigma, &s->smoother[which][k]));
    s->n_smoothers[which]++;
  }
  s->each[which] = o->smoothing.count * (o->bins + 2);
  return WEIR_OK;
}

static weir_status prepare(const cf_volume_info *info, cf_summaries *s, cf_summary_kind which)
{
  if (s->map && which != CF_SUMMARY_ONE_POINT && which != CF_SUMMARY_PEAKS) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "summaries: %s is of cubes, and the samples are maps, which have one_point and "
        "peaks (summaries.use, eval.regressions)",
        cf_summary_name[which]);
  }
  switch (which) {
  case CF_SUMMARY_BISPECTRUM:
    WEIR_TRY(cf_bispectrum_init(&s->opts->bispectrum, s->n, &s->bispectrum));
    s->each[which] = s->bispectrum.n_triangles;
    return WEIR_OK;
  case CF_SUMMARY_MULTIPOLES:
    WEIR_TRY(check_line_of_sight(info, s));
    WEIR_TRY(cf_multipoles_init(&s->opts->multipoles, s->n, &s->multipoles));
    s->each[which] = CF_MULTIPOLES * s->multipoles.bins;
    return WEIR_OK;
  case CF_SUMMARY_SCATTERING:
    WEIR_TRY(cf_scattering_init(&s->opts->scattering, s->n, &s->scattering));
    s->each[which] = s->scattering.n_numbers;
    return WEIR_OK;
  default:
    return prepare_counts(s, which);
  }
}

weir_status cf_summaries_init(const cf_summary_opts *opts, unsigned which,
                              const cf_volume_info *info, cf_summaries *out)
{
  const int64_t *const l = info->lengths;
  weir_status status = WEIR_OK;

  *out = (cf_summaries){
      .opts = opts, .n = l[1], .map = l[0] == 1, .voxels = l[0] * l[1] * l[2], .channels = l[3]};
  if ((l[0] != l[1] && l[0] != 1) || l[1] != l[2]) {
    return weir_fail(WEIR_ERR_DATA,
                     "summaries: samples are %lld x %lld x %lld, and no cubes or square maps",
                     (long long)l[0], (long long)l[1], (long long)l[2]);
  }
  WEIR_TRY(set_cell(info, out));
  WEIR_TRY(set_boundary(info, out));
  for (int k = 0; k < CF_SUMMARIES; k++) {
    if ((which >> k & 1) != 0) {
      WEIR_TRY_GOTO(prepare(info, out, (cf_summary_kind)k), done);
    }
  }
done:
  if (status != WEIR_OK) {
    cf_summaries_fini(out);
  }
  return status;
}

void cf_summaries_fini(cf_summaries *s)
{
  for (int k = 0; k < CF_SUMMARIES; k++) {
    for (int64_t i = 0; i < s->n_smoothers[k]; i++) {
      cf_smoother_fini(&s->smoother[k][i]);
    }
    weir_free(&s->smoother[k]);
    s->n_smoothers[k] = 0;
  }
  cf_bispectrum_fini(&s->bispectrum);
  cf_multipoles_fini(&s->multipoles);
  cf_scattering_fini(&s->scattering);
}

/* ---- a sample ---- */

weir_status cf_summary_slot_init(const cf_summaries *s, cf_summary_slot *out)
{
  const int64_t voxels = s->voxels;
  int64_t line = 1;
  weir_status status = WEIR_OK;

  *out = (cf_summary_slot){.rho = NULL};
  for (int k = 0; k < CF_SUMMARIES; k++) {
    for (int64_t i = 0; i < s->n_smoothers[k]; i++) {
      const int64_t needs = cf_smoother_line(&s->smoother[k][i]);

      line = needs > line ? needs : line;
    }
  }
  WEIR_TRY_GOTO(weir_alloc(voxels, sizeof *out->rho, (void **)&out->rho), done);
  WEIR_TRY_GOTO(weir_alloc(voxels, sizeof *out->smooth, (void **)&out->smooth), done);
  WEIR_TRY_GOTO(weir_alloc(line, sizeof *out->line, (void **)&out->line), done);
  if (s->each[CF_SUMMARY_BISPECTRUM] > 0) {
    WEIR_TRY_GOTO(cf_bispectrum_slot_init(&s->bispectrum, &out->bispectrum), done);
  }
  if (s->each[CF_SUMMARY_MULTIPOLES] > 0) {
    WEIR_TRY_GOTO(cf_multipoles_slot_init(&s->multipoles, &out->multipoles), done);
  }
  if (s->each[CF_SUMMARY_SCATTERING] > 0) {
    WEIR_TRY_GOTO(cf_scattering_slot_init(&s->scattering, &out->scattering), done);
  }
done:
  if (status != WEIR_OK) {
    cf_summary_slot_fini(s, out);
  }
  return status;
}

void cf_summary_slot_fini(const cf_summaries *s, cf_summary_slot *r)
{
  weir_free(&r->rho);
  weir_free(&r->smooth);
  weir_free(&r->line);
  cf_bispectrum_slot_fini(&s->bispectrum, &r->bispectrum);
  cf_multipoles_slot_fini(&r->multipoles);
  cf_scattering_slot_fini(&r->scattering);
}

int64_t cf_summary_slot_bytes(const cf_summaries *s)
{
  const int64_t *const each = s->each;

  return 2 * s->voxels * (int64_t)sizeof(double) +
         (each[CF_SUMMARY_BISPECTRUM] > 0 ? cf_bispectrum_slot_bytes(&s->bispectrum) : 0) +
         (each[CF_SUMMARY_MULTIPOLES] > 0 ? cf_multipoles_slot_bytes(&s->multipoles) : 0) +
         (each[CF_SUMMARY_SCATTERING] > 0 ? cf_scattering_slot_bytes(&s->scattering) : 0);
}

static bool fail(cf_summary_fault *fault, int64_t channel, int64_t voxel, double value,
                 const char *why)
{
  *fault = (cf_summary_fault){why, channel, voxel, value};
  return false;
}

/* Sets rho = voxel / mean. */
static bool take_density(const cf_summaries *s, const float *voxels, int64_t c, double *rho,
                         cf_summary_fault *fault)
{
  const int64_t n = s->voxels;
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    rho[i] = (double)voxels[i * s->channels + c];
    if (!isfinite(rho[i])) {
      return fail(fault, c, i, rho[i], "not finite");
    }
    if (rho[i] < 0) {
      return fail(fault, c, i, rho[i], "below 0: neither counts nor a density, which ln is of");
    }
    sum += rho[i];
  }
  const double mean = sum / (double)n;

  if (!(mean > 0)) {
    return fail(fault, c, -1, mean, "the overdensity voxel / mean - 1 needs a mean above 0");
  }
  for (int64_t i = 0; i < n; i++) {
    rho[i] /= mean;
  }
  return true;
}

static void count(const cf_summaries *s, cf_summary_kind which, cf_summary_slot *r, double *out)
{
  const cf_count_opts *const o = cf_summary_counts(s->opts, which);
  const cf_count_bins bins = {o->lo, o->hi, o->bins};
  const int64_t voxels = s->voxels;

  for (int64_t k = 0; k < o->smoothing.count; k++) {
    double *const numbers = out + k * cf_count_numbers(&bins);

    memcpy(r->smooth, r->rho, (size_t)voxels * sizeof *r->rho);
    cf_smoother_run(&s->smoother[which][k], r->smooth, r->line);
    if (which == CF_SUMMARY_ONE_POINT) {
      cf_one_point(&bins, r->smooth, voxels, numbers);
    } else {
      cf_peaks(&bins, r->smooth, s->n, s->map, s->periodic, numbers);
    }
  }
}

/* The inverse hyperbolic sine is linear in a small B and logarithmic in a large one of either sign;
 * a bin that no triangle closes in says nothing. */
static void take_bispectrum(const cf_summaries *s, cf_summary_slot *r, double *out)
{
  cf_bispectrum_measure(&s->bispectrum, &r->bispectrum, r->rho);
  for (int64_t t = 0; t < s->bispectrum.n_triangles; t++) {
    const double b = r->bispectrum.b[t];

    out[t] = isnan(b) ? 0 : asinh(b);
  }
}

/* A bin without power has a floor below that of any particle, and no direction. */
static void take_multipoles(const cf_summaries *s, cf_summary_slot *r, double *out)
{
  const int64_t bins = s->multipoles.bins;
  const double *const p = r->multipoles.p;

  cf_multipoles_measure(&s->multipoles, &r->multipoles, r->rho);
  for (int64_t b = 0; b < bins; b++) {
    out[b] = log10(fmax(p[b], FLOOR));
    for (int l = 1; l < CF_MULTIPOLES; l++) {
      out[l * bins + b] = p[b] > FLOOR ? p[l * bins + b] / p[b] : 0;
    }
  }
}

static void take_scattering(const cf_summaries *s, cf_summary_slot *r, double *out)
{
  cf_scattering_measure(&s->scattering, &r->scattering, r->rho);
  for (int64_t i = 0; i < s->scattering.n_numbers; i++) {
    out[i] = log10(fmax(r->scattering.s[i], FLOOR));
  }
}

static void take(const cf_summaries *s, cf_summary_kind which, cf_summary_slot *r, double *out)
{
  switch (which) {
  case CF_SUMMARY_BISPECTRUM:
    take_bispectrum(s, r, out);
    break;
  case CF_SUMMARY_MULTIPOLES:
    take_multipoles(s, r, out);
    break;
  case CF_SUMMARY_SCATTERING:
    take_scattering(s, r, out);
    break;
  default:
    count(s, which, r, out);
  }
}

bool cf_summaries_measure(const cf_summaries *s, cf_summary_slot *r, const float *voxels, int64_t c,
                          double *const out[CF_SUMMARIES], cf_summary_fault *fault)
{
  if (!take_density(s, voxels, c, r->rho, fault)) {
    return false;
  }
  for (int k = 0; k < CF_SUMMARIES; k++) {
    if (s->each[k] > 0) {
      take(s, (cf_summary_kind)k, r, out[k]);
    }
  }
  return true;
}

weir_status cf_summary_refuse(const cf_summary_fault *fault, const char *where)
{
  return fault->voxel < 0 ? weir_fail(WEIR_ERR_DATA, "%s: channel %lld has a mean of %g: %s", where,
                                      (long long)fault->channel, fault->value, fault->why)
                          : weir_fail(WEIR_ERR_DATA, "%s: channel %lld: voxel %lld is %g, %s",
                                      where, (long long)fault->channel, (long long)fault->voxel,
                                      fault->value, fault->why);
}
