/* hrv_nonlinear.c - see hrv_nonlinear.h. */
#include <math.h>
#include "model/hrv_nonlinear_priv.h"

/* Of the mean: a smaller deviation is rounding, and the intervals are constant. */
#define CONSTANT 1e-9

const weir_opt ps_hrv_entropy_options[] = {
    WEIR_OPT_INT(ps_hrv_entropy_opts, m, 2, 1, PS_HRV_MAX_M, "1",
                 "intervals of a template, compared with those of one more (2; Pincus 1991)"),
    WEIR_OPT_REAL(ps_hrv_entropy_opts, r, 0.2, 0, 10, "1",
                  "maximum difference of matching intervals, as a share of the SD of those that "
                  "count (0.1 to 0.25; Pincus 1991)"),
    WEIR_OPT_INT(ps_hrv_entropy_opts, scales, 5, 1, PS_HRV_MAX_SCALES, "1",
                 "scales of multiscale entropy: means of 1 to so many intervals (20 for a day; "
                 "Costa 2002); its index is their sum"),
    WEIR_OPT_INT(ps_hrv_entropy_opts, min_templates, 100, 2, 1e9, "1",
                 "fewer templates of m + 1 intervals give no entropy, on each scale (10^m; Pincus "
                 "and Goldberger 1994)"),
    WEIR_OPT_END,
};

const weir_opt ps_hrv_dfa_options[] = {
    WEIR_OPT_INT(ps_hrv_dfa_opts, short_min, 4, 3, 1e6, "1", "smallest box of alpha 1, intervals"),
    WEIR_OPT_INT(ps_hrv_dfa_opts, short_max, 11, 4, 1e6, "1", "largest box of alpha 1, intervals"),
    WEIR_OPT_INT(ps_hrv_dfa_opts, long_min, 12, 3, 1e6, "1", "smallest box of alpha 2, intervals"),
    WEIR_OPT_INT(
        ps_hrv_dfa_opts, long_max, 0, 0, 1e6, "1",
        "largest box of alpha 2, intervals; 0: a tenth of the intervals that count, less "
        "where gaps leave fewer than four boxes or less than half of the intervals in them"),
    WEIR_OPT_REAL(ps_hrv_dfa_opts, ratio, 1.0905077326652577, 1, 2, "1",
                  "ratio of successive box sizes (2^(1/8), dfa of PhysioNet); 1: every size"),
    WEIR_OPT_BOOL(ps_hrv_dfa_opts, overlap, false,
                  "boxes overlap by half (NeuroKit2) in place of lying side by side (Peng 1995)"),
    WEIR_OPT_END,
};

weir_status ps_hrv_check(const char *section, const ps_hrv_opts *opts)
{
  const ps_hrv_dfa_opts *o = &opts->dfa;

  if (opts->definitions == PS_HRV_NEUROKIT2 && opts->spectrum != PS_HRV_WELCH) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.spectrum: definitions: neurokit2 has its own spectrum: leave it out",
                     section);
  }
  if (o->short_max <= o->short_min) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.dfa.short_max: %lld is not above short_min, %lld: a slope needs two sizes",
                     section, (long long)o->short_max, (long long)o->short_min);
  }
  if (o->long_max > 0 && o->long_max <= o->long_min) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.dfa.long_max: %lld is not above long_min, %lld: a slope needs two sizes "
                     "(0: a tenth of the intervals)",
                     section, (long long)o->long_max, (long long)o->long_min);
  }
  return WEIR_OK;
}

/* A pair of successive intervals that count. */
static bool is_pair(const ps_interval *v, int64_t i)
{
  return i > 0 && v[i].joined && v[i].counts && v[i - 1].counts;
}

/* Standard deviations of (b - a) / sqrt(2) and (a + b) / sqrt(2). */
static void poincare(const ps_interval *v, int64_t n, double ms, double least,
                     ps_hrv_nonlinear *out)
{
  double across = 0, along = 0, squares[2] = {0};
  int64_t pairs = 0;

  for (int64_t i = 1; i < n; i++) {
    if (is_pair(v, i)) {
      across += v[i].length - v[i - 1].length;
      along += v[i].length + v[i - 1].length;
      pairs++;
    }
  }
  if (pairs < 2) {
    return;
  }
  across /= (double)pairs;
  along /= (double)pairs;
  for (int64_t i = 1; i < n; i++) {
    if (is_pair(v, i)) {
      const double d = v[i].length - v[i - 1].length - across;
      const double s = v[i].length + v[i - 1].length - along;

      squares[0] += d * d;
      squares[1] += s * s;
    }
  }
  const double sd1 = sqrt(squares[0] / 2 / (double)(pairs - 1));
  const double sd2 = sqrt(squares[1] / 2 / (double)(pairs - 1));

  out->sd1 = sd1 > least ? ms * sd1 : 0;
  out->sd2 = sd2 > least ? ms * sd2 : 0;
  out->sd_ratio = out->sd2 > 0 ? out->sd1 / out->sd2 : NAN;
  out->ellipse = acos(-1.0) * out->sd1 * out->sd2;
}

/* The intervals that count, run by run. */
static void collect(const ps_interval *v, int64_t n, hrv_series *s)
{
  s->n = 0;
  for (int64_t i = 0; i < n; i++) {
    if (v[i].counts) {
      s->left[s->n] = is_pair(v, i); /* follows the one before */
      s->x[s->n++] = v[i].length;
    }
  }
  for (int64_t i = s->n - 1, run = 0; i >= 0; i--) {
    const bool follows = s->left[i] != 0;

    s->left[i] = ++run;
    run = follows ? run : 0;
  }
}

/* Mean and standard deviation (n - 1), of which either may be NaN. */
static void moments_of(const hrv_series *s, double *mean, double *sd)
{
  double sum = 0, square = 0;

  for (int64_t i = 0; i < s->n; i++) {
    sum += s->x[i];
  }
  *mean = s->n > 0 ? sum / (double)s->n : NAN;
  for (int64_t i = 0; i < s->n; i++) {
    square += (s->x[i] - *mean) * (s->x[i] - *mean);
  }
  *sd = s->n > 1 ? sqrt(square / (double)(s->n - 1)) : NAN;
}

static void entropies(const ps_hrv_entropy_opts *o, const hrv_series *s, hrv_series *coarse,
                      double tolerance, double *scratch, ps_hrv_nonlinear *out)
{
  out->mse_ci = 0;
  for (int64_t k = 0; k < o->scales && k < PS_HRV_MAX_SCALES; k++) {
    if (k > 0) {
      hrv_coarse_grain(s, k + 1, coarse);
    }
    const hrv_entropy e =
        hrv_entropy_of(k == 0 ? s : coarse, o->m, tolerance, o->min_templates, scratch);

    if (k == 0) {
      out->apen = e.apen;
      out->sampen = e.sampen;
    }
    out->mse[k] = e.sampen;
    out->mse_ci += e.sampen;
  }
}

/* Two series, and templates. */
size_t ps_hrv_nonlinear_scratch(const ps_hrv_opts *opts, int64_t n)
{
  return 4 * (size_t)n + hrv_entropy_scratch(opts->entropy.m, n);
}

ps_hrv_nonlinear ps_hrv_nonlinear_of(const ps_hrv_opts *opts, const ps_interval *v, int64_t n,
                                     double rate, double *scratch)
{
  ps_hrv_nonlinear out = {.sd1 = NAN,
                          .sd2 = NAN,
                          .sd_ratio = NAN,
                          .ellipse = NAN,
                          .apen = NAN,
                          .sampen = NAN,
                          .mse_ci = NAN,
                          .alpha1 = NAN,
                          .alpha2 = NAN};
  hrv_series s = {.x = scratch, .left = (int64_t *)(void *)(scratch + n)};
  hrv_series coarse = {.x = scratch + 2 * n, .left = (int64_t *)(void *)(scratch + 3 * n)};
  double mean = 0, sd = 0;

  for (int k = 0; k < PS_HRV_MAX_SCALES; k++) {
    out.mse[k] = NAN;
  }
  collect(v, n, &s);
  moments_of(&s, &mean, &sd);
  if (!isfinite(sd)) {
    return out;
  }
  const double least = CONSTANT * fabs(mean);

  poincare(v, n, 1000 / rate, least, &out);
  entropies(&opts->entropy, &s, &coarse, fmax(opts->entropy.r * sd, least), scratch + 4 * n, &out);
  if (sd > least) { /* without fluctuations there is no exponent */
    hrv_dfa(opts, &s, mean, coarse.x, &out.alpha1, &out.alpha2);
  }
  return out;
}
