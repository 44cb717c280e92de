/* metrics.c - see metrics.h. Sums of each universe are all that resamples need. */
#include "eval/metrics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "base/weir_sort.h"

enum { DRAWS = 0x43465542 }; /* purpose of the random bits */

const char *const cf_score_name[CF_SCORES] = {"mae", "rmse", "bias", "relative", "r2", "slope"};

const weir_opt cf_bootstrap_options[] = {
    WEIR_OPT_INT(cf_bootstrap_opts, resamples, 2000, 100, 1e6, "1",
                 "how often universes are drawn"),
    WEIR_OPT_REAL(cf_bootstrap_opts, confidence, 0.95, 0.5, 0.9999, "1", "of the intervals"),
    WEIR_OPT_INT(cf_bootstrap_opts, seed, 0, 0, 0x1p52, "1", "added to the seed of the program"),
    WEIR_OPT_END,
};

weir_status cf_resamples_create(const cf_bootstrap_opts *o, uint64_t seed, int64_t groups,
                                cf_resamples *out)
{
  const uint64_t key = seed + (uint64_t)o->seed;

  *out = (cf_resamples){groups, o->resamples, o->confidence, NULL};
  WEIR_TRY(weir_alloc(groups * o->resamples, sizeof *out->count, (void **)&out->count));
  for (int64_t r = 0; r < o->resamples; r++) {
    for (int64_t i = 0; i < groups; i++) {
      const double u = weir_random_uniform(key, DRAWS, (uint32_t)r, (uint64_t)i);

      out->count[r * groups + (int64_t)(u * (double)groups)]++;
    }
  }
  return WEIR_OK;
}

void cf_resamples_fini(cf_resamples *r)
{
  weir_free(&r->count);
}

/* ---- sums ---- */

/* Truths are taken from their middle, so that squares lose nothing. */
enum { N, ABS, SQUARE, ERROR, SHARE, TRUTH, TRUTH2, TRUTH_ERROR, SUMS };

static void sum_cases(const cf_cases *c, double middle, double *sum)
{
  for (int64_t i = 0; i < c->n; i++) {
    double *const s = sum + c->group[i] * SUMS;
    const double t = c->truth[i] - middle, e = c->predicted[i] - c->truth[i];

    s[N] += 1;
    s[ABS] += fabs(e);
    s[SQUARE] += e * e;
    s[ERROR] += e;
    s[SHARE] += fabs(e) / fabs(c->truth[i]);
    s[TRUTH] += t;
    s[TRUTH2] += t * t;
    s[TRUTH_ERROR] += t * e;
  }
}

static double middle_of(const cf_cases *c)
{
  double sum = 0;

  for (int64_t i = 0; i < c->n; i++) {
    sum += c->truth[i];
  }
  return c->n > 0 ? sum / (double)c->n : 0;
}

static double score_of(const double *s, int score)
{
  const double n = s[N], variance = s[TRUTH2] - s[TRUTH] * s[TRUTH] / n;
  const bool varies = variance > 1e-24 * s[TRUTH2] && variance > 0;

  switch (n > 0 ? score : CF_SCORES) {
  case CF_MAE:
    return s[ABS] / n;
  case CF_RMSE:
    return sqrt(s[SQUARE] / n);
  case CF_BIAS:
    return s[ERROR] / n;
  case CF_RELATIVE:
    return isfinite(s[SHARE]) ? s[SHARE] / n : NAN;
  case CF_R2:
    return varies ? 1 - s[SQUARE] / variance : NAN;
  case CF_SLOPE:
    return varies ? 1 + (s[TRUTH_ERROR] - s[TRUTH] * s[ERROR] / n) / variance : NAN;
  default:
    return NAN;
  }
}

/* Sums of a resample, or of all (count NULL). */
static void total_of(const double *sum, int64_t groups, const uint32_t *count, double *total)
{
  memset(total, 0, SUMS * sizeof *total);
  for (int64_t g = 0; g < groups; g++) {
    const double times = count != NULL ? (double)count[g] : 1;

    for (int k = 0; k < SUMS && times > 0; k++) {
      total[k] += times * sum[g * SUMS + k];
    }
  }
}

/* ---- intervals ---- */

/* The ends of what resamples give; those without a value are left out. Sorts. */
static void take_interval(double *value, const cf_resamples *r, int64_t with, weir_estimate *e)
{
  const double tail = 0.5 * (1 - r->confidence);
  int64_t n = 0;

  e->lo = e->hi = NAN;
  for (int64_t k = 0; k < r->resamples; k++) {
    if (!isnan(value[k])) {
      value[n++] = value[k];
    }
  }
  if (with >= 2 && n > 0 && !isnan(e->value)) {
    qsort(value, (size_t)n, sizeof *value, weir_compare_f64);
    e->lo = weir_percentile(value, n, tail);
    e->hi = weir_percentile(value, n, 1 - tail);
  }
}

static int64_t with_cases(const double *sum, int64_t groups)
{
  int64_t n = 0;

  for (int64_t g = 0; g < groups; g++) {
    n += sum[g * SUMS + N] > 0;
  }
  return n;
}

weir_status cf_metrics(const cf_cases *c, const cf_resamples *r, weir_estimate out[CF_SCORES])
{
  double *sum = NULL, *value = NULL, total[SUMS];
  weir_status status = WEIR_OK;

  WEIR_ASSERT(c->groups == r->groups);
  WEIR_TRY_GOTO(weir_alloc(c->groups * SUMS, sizeof *sum, (void **)&sum), done);
  WEIR_TRY_GOTO(weir_alloc(r->resamples * CF_SCORES, sizeof *value, (void **)&value), done);
  sum_cases(c, middle_of(c), sum);
  for (int64_t k = 0; k < r->resamples; k++) {
    total_of(sum, c->groups, r->count + k * r->groups, total);
    for (int s = 0; s < CF_SCORES; s++) {
      value[s * r->resamples + k] = score_of(total, s);
    }
  }
  total_of(sum, c->groups, NULL, total);
  for (int s = 0; s < CF_SCORES; s++) {
    out[s].value = score_of(total, s);
    take_interval(value + s * r->resamples, r, with_cases(sum, c->groups), &out[s]);
  }
done:
  weir_free(&sum);
  weir_free(&value);
  return status;
}

static double skill_of(const double *a, const double *b, int score)
{
  const double of_b = score_of(b, score);

  return of_b > 0 ? 1 - score_of(a, score) / of_b : NAN;
}

weir_status cf_metrics_skill(const cf_cases *a, const cf_cases *b, cf_score score,
                             const cf_resamples *r, weir_estimate *out)
{
  double *sum[2] = {NULL, NULL}, *value = NULL, total[2][SUMS];
  weir_status status = WEIR_OK;

  WEIR_ASSERT(a->groups == r->groups && b->groups == r->groups);
  for (int i = 0; i < 2; i++) {
    const cf_cases *const c = i == 0 ? a : b;

    WEIR_TRY_GOTO(weir_alloc(r->groups * SUMS, sizeof *value, (void **)&sum[i]), done);
    sum_cases(c, middle_of(c), sum[i]);
  }
  WEIR_TRY_GOTO(weir_alloc(r->resamples, sizeof *value, (void **)&value), done);
  for (int64_t k = -1; k < r->resamples; k++) { /* -1: of all */
    for (int i = 0; i < 2; i++) {
      total_of(sum[i], r->groups, k < 0 ? NULL : r->count + k * r->groups, total[i]);
    }
    *(k < 0 ? &out->value : &value[k]) = skill_of(total[0], total[1], (int)score);
  }
  take_interval(value, r, with_cases(sum[0], r->groups), out);
done:
  weir_free(&sum[0]);
  weir_free(&sum[1]);
  weir_free(&value);
  return status;
}

/* ---- means of samples of a universe ---- */

/* The end of the run of cases of one universe that begins at `first`. */
static int64_t run_end(const cf_cases *c, int64_t first)
{
  int64_t i = first;

  while (i < c->n && c->group[i] == c->group[first]) {
    i++;
  }
  return i;
}

static double mean_error(const cf_cases *c, int64_t first, int64_t end)
{
  double sum = 0;

  for (int64_t i = first; i < end; i++) {
    sum += c->predicted[i] - c->truth[i];
  }
  return sum / (double)(end - first);
}

cf_sharing cf_metrics_sharing(const cf_cases *c)
{
  double squares = 0, freedom = 0, means = 0, inverse = 0;
  int64_t runs = 0;

  for (int64_t first = 0, end = 0; first < c->n; first = end) {
    end = run_end(c, first);
    const double mean = mean_error(c, first, end);

    for (int64_t i = first; i < end; i++) {
      squares += pow(c->predicted[i] - c->truth[i] - mean, 2);
    }
    freedom += (double)(end - first - 1);
    means += mean * mean;
    inverse += 1 / (double)(end - first);
    runs++;
  }
  if (freedom <= 0) {
    return (cf_sharing){NAN, NAN};
  }
  const double variance = squares / freedom;

  return (cf_sharing){sqrt(variance), sqrt(fmax(0, (means - variance * inverse) / (double)runs))};
}

double cf_metrics_blocks(const cf_cases *c, int64_t m, int64_t *blocks)
{
  double sum = 0;

  *blocks = 0;
  for (int64_t first = 0, end = 0; first < c->n; first = end) {
    end = run_end(c, first);
    for (int64_t i = first; i + m <= end; i += m) {
      sum += pow(mean_error(c, i, i + m), 2);
      (*blocks)++;
    }
  }
  return *blocks > 0 ? sqrt(sum / (double)*blocks) : NAN;
}
