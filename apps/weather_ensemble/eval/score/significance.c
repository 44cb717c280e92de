/* significance.c - see significance.h. */
#include "eval/score/significance.h"
#include <math.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "eval/sort/sort.h"
#include "eval/score/normal.h"

enum { BLOCKS = 0x57424c4b, DAY = 86400 }; /* purpose of the random bits */

const weir_opt wx_bootstrap_options[] = {
    WEIR_OPT_REAL(
        wx_bootstrap_opts, block, 10, 0, 36500, "d",
        "length of a block of initialisation times; about twice the time in which errors forget"),
    WEIR_OPT_INT(wx_bootstrap_opts, resamples, 2000, 100, 1e6, "1",
                 "how often initialisation times are drawn"),
    WEIR_OPT_REAL(wx_bootstrap_opts, confidence, 0.95, 0.5, 0.9999, "1", "of the intervals"),
    WEIR_OPT_ENUM(wx_bootstrap_opts, interval, WX_INTERVAL_PERCENTILE, "percentile|bca",
                  "percentiles of the resamples, or bias-corrected and accelerated ones"),
    WEIR_OPT_INT(wx_bootstrap_opts, seed, 0, 0, 0x1p52, "1", "added to the seed of the program"),
    WEIR_OPT_END,
};

double wx_lag_one(const double *d, int64_t n)
{
  double mean = 0, variance = 0, covariance = 0;
  int64_t count = 0;

  for (int64_t i = 0; i < n; i++) {
    if (!isnan(d[i])) {
      mean += d[i];
      count++;
    }
  }
  mean /= (double)count;
  for (int64_t i = 0; i < n; i++) {
    if (!isnan(d[i])) {
      variance += (d[i] - mean) * (d[i] - mean);
      covariance += i > 0 && !isnan(d[i - 1]) ? (d[i] - mean) * (d[i - 1] - mean) : 0;
    }
  }
  return variance > 0 ? covariance / variance : 0;
}

double wx_effective_count(const double *d, int64_t n)
{
  const double r = fmax(0, wx_lag_one(d, n));
  double count = 0;

  for (int64_t i = 0; i < n; i++) {
    count += !isnan(d[i]);
  }
  return count * (1 - r) / (1 + r);
}

weir_status wx_block_length(const int64_t *time, int64_t n, double days, int64_t *block)
{
  double *apart = NULL;

  *block = 1;
  if (n < 3) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(n - 1, sizeof *apart, (void **)&apart));
  for (int64_t i = 1; i < n; i++) {
    apart[i - 1] = (double)(time[i] - time[i - 1]);
  }
  wx_sort(apart, n - 1);
  const int64_t length = llround(fmin((double)n, days * DAY / fmax(1, apart[(n - 1) / 2])));

  weir_free(&apart);
  *block = length < 1 ? 1 : length > n / 2 ? n / 2 : length;
  return WEIR_OK;
}

/* Counts of one resample: blocks of consecutive initialisation times, the last truncated. */
static void draw(uint64_t seed, int64_t resample, int64_t block, int64_t n, double *count)
{
  int64_t taken = 0;

  for (int64_t i = 0; i < n; i++) {
    count[i] = 0;
  }
  for (uint64_t k = 0; taken < n; k++) {
    const double u = weir_random_uniform(seed, BLOCKS, (uint32_t)resample, k);
    const int64_t from = (int64_t)(u * (double)(n - block + 1));

    for (int64_t i = 0; i < block && taken < n; i++) {
      count[from + i]++;
      taken++;
    }
  }
}

/* Skewness of the statistic with a block left out at a time, over 6: Efron and Tibshirani, An
 * Introduction to the Bootstrap, eq. 14.15. */
static double acceleration(int64_t block, int64_t n, wx_statistic statistic, const void *context,
                           double *count, double *value)
{
  const int64_t blocks = n / block;
  double mean = 0, squares = 0, cubes = 0;

  for (int64_t b = 0; b < blocks; b++) {
    for (int64_t i = 0; i < n; i++) {
      count[i] = i / block != b;
    }
    value[b] = statistic(context, count, n);
    mean += value[b] / (double)blocks;
  }
  for (int64_t b = 0; b < blocks; b++) {
    const double d = mean - value[b];

    squares += d * d;
    cubes += d * d * d;
  }
  return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

static void limits(const wx_bootstrap_opts *o, const double *sorted, int64_t n, double value,
                   double accelerated, weir_estimate *out)
{
  double tail[2] = {(1 - o->confidence) / 2, (1 + o->confidence) / 2};

  if (o->interval == WX_INTERVAL_BCA) {
    double below = 0;

    for (int64_t i = 0; i < n; i++) {
      below += sorted[i] < value ? 1 : sorted[i] == value ? 0.5 : 0;
    }
    const double bias = wx_normal_quantile(fmax(0.5, fmin((double)n - 0.5, below)) / (double)n);

    for (int k = 0; k < 2; k++) {
      const double z = bias + wx_normal_quantile(tail[k]);

      tail[k] = wx_normal_below(bias + z / (1 - accelerated * z));
    }
  }
  out->lo = weir_percentile(sorted, n, tail[0]);
  out->hi = weir_percentile(sorted, n, tail[1]);
}

weir_status wx_resamples_create(const wx_bootstrap_opts *o, uint64_t seed, int64_t block, int64_t n,
                                wx_resamples *out)
{
  int64_t all;

  *out = (wx_resamples){.n = n, .block = block, .resamples = n / block < 2 ? 0 : o->resamples};
  if (!weir_mul_ok(out->resamples, n, &all)) {
    return weir_fail(WEIR_ERR_MEMORY, "%lld resamples of %lld initialisation times are too many",
                     (long long)o->resamples, (long long)n);
  }
  WEIR_TRY(weir_alloc(all, sizeof *out->count, (void **)&out->count));
  for (int64_t r = 0; r < out->resamples; r++) {
    draw(seed, r, block, n, out->count + r * n);
  }
  return WEIR_OK;
}

void wx_resamples_fini(wx_resamples *r)
{
  weir_free(&r->count);
}

weir_status wx_bootstrap(const wx_bootstrap_opts *o, const wx_resamples *r, wx_statistic statistic,
                         const void *context, weir_estimate *out)
{
  const int64_t n = r->n;
  double *count = NULL, *value = NULL, accelerated = 0;
  int64_t found = 0;
  weir_status status = WEIR_OK;

  *out = (weir_estimate){NAN, NAN, NAN};
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *count, (void **)&count), done);
  WEIR_TRY_GOTO(weir_alloc(r->resamples + n, sizeof *value, (void **)&value), done);
  for (int64_t i = 0; i < n; i++) {
    count[i] = 1;
  }
  out->value = statistic(context, count, n);
  if (isnan(out->value)) {
    goto done;
  }
  if (o->interval == WX_INTERVAL_BCA && r->resamples > 0) {
    accelerated = acceleration(r->block, n, statistic, context, count, value);
  }
  for (int64_t k = 0; k < r->resamples; k++) {
    value[found] = statistic(context, r->count + k * n, n);
    found += !isnan(value[found]); /* else no start with values was drawn */
  }
  if (found > 0) {
    wx_sort(value, found);
    limits(o, value, found, out->value, accelerated, out);
  }
done:
  weir_free(&count);
  weir_free(&value);
  return status;
}

/* sum of count * a over sum of count * b, initialisation times without a value left out. */
static double ratio(const double *a, const double *b, const double *count, int64_t n)
{
  double up = 0, down = 0;

  for (int64_t i = 0; i < n; i++) {
    if (count[i] > 0 && b[i] > 0) {
      up += count[i] * a[i];
      down += count[i] * b[i];
    }
  }
  return down > 0 ? up / down : NAN;
}

double wx_ratio_of(const void *context, const double *count, int64_t n)
{
  const wx_ratio *const r = context;

  return ratio(r->up, r->down, count, n);
}

double wx_root_ratio_of(const void *context, const double *count, int64_t n)
{
  return sqrt(wx_ratio_of(context, count, n));
}

double wx_skill_of(const void *context, const double *count, int64_t n)
{
  const wx_pair *const p = context;

  return 1 - ratio(p->a, p->a_weight, count, n) / ratio(p->b, p->b_weight, count, n);
}

double wx_difference_of(const void *context, const double *count, int64_t n)
{
  const wx_pair *const p = context;

  return ratio(p->a, p->a_weight, count, n) - ratio(p->b, p->b_weight, count, n);
}

wx_mean_test wx_diebold_mariano(const double *d, int64_t n)
{
  wx_mean_test t = {.n_eff = wx_effective_count(d, n), .t = NAN, .p = NAN};
  double squares = 0;

  for (int64_t i = 0; i < n; i++) {
    t.n += !isnan(d[i]);
    t.mean += isnan(d[i]) ? 0 : d[i];
  }
  t.mean = t.n > 0 ? t.mean / (double)t.n : NAN;
  for (int64_t i = 0; i < n; i++) {
    squares += isnan(d[i]) ? 0 : (d[i] - t.mean) * (d[i] - t.mean);
  }
  if (t.n < 2) {
    return t;
  }
  if (!(squares > 0)) {
    t.p = t.mean == 0;
    return t;
  }
  t.n_eff = fmax(2, t.n_eff);
  t.t = t.mean / sqrt(squares / (double)(t.n - 1) / t.n_eff);
  t.p = wx_student_two_sided(t.t, t.n_eff - 1);
  return t;
}

weir_status wx_false_discovery(const double *p, int64_t n, double rate, bool *significant,
                               int64_t *count)
{
  double *sorted = NULL, limit = -1;
  int64_t tests = 0;

  *count = 0;
  WEIR_TRY(weir_alloc(n, sizeof *sorted, (void **)&sorted));
  for (int64_t i = 0; i < n; i++) {
    if (!isnan(p[i])) {
      sorted[tests++] = p[i];
    }
  }
  wx_sort(sorted, tests);
  for (int64_t k = 0; k < tests; k++) {
    if (sorted[k] <= rate * (double)(k + 1) / (double)tests) {
      limit = sorted[k];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    significant[i] = p[i] <= limit;
    *count += significant[i];
  }
  weir_free(&sorted);
  return WEIR_OK;
}
