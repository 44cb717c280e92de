/* posterior_scores.c - see posterior_scores.h. */
#include "eval/posterior/posterior_scores.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"

#define LN_2 0.69314718055994530942
enum { POINT = 0x74617270 /* purpose of random numbers */ };

const double cf_coverage_level[CF_LEVELS_OF_COVERAGE] = {0.5, 0.68, 0.9, 0.95};

const weir_opt cf_posterior_options[] = {
    WEIR_OPT_INT(cf_posterior_opts, draws, 999, 9, 1e6, "1",
                 "draws from each posterior, among which the truth is ranked; one more should have "
                 "many divisors, of which the number of bins is one"),
    WEIR_OPT_INT(cf_posterior_opts, bins, 20, 2, 1000, "1",
                 "most bins of a rank histogram; fewer where they would have less than 5 cases"),
    WEIR_OPT_INT(cf_posterior_opts, sample, 0, 0, 1e9, "1",
                 "which of the scored samples the corner plot shows, from 0, ordered by universe"),
    WEIR_OPT_END,
};

/* State of the loop over the scored samples. */
typedef struct scorer {
  const cf_eval_set *t;
  uint64_t seed;
  double *draws;  /* [draws, n_labels] */
  double *value;  /* [n] log densities of those not skipped */
  int64_t *group; /* [n] their universes */
  int64_t ranked; /* the last universe in the ranks; -1: none */
  cf_posterior_scores *s;
} scorer;

/* Reads the truth of a scored sample, y[n_labels]. */
static weir_status take_truth(const scorer *w, int64_t i, double *y)
{
  const cf_predictions *const p = w->t->p;
  const int64_t row = w->t->row[i];

  for (int64_t k = 0; k < p->n_labels; k++) {
    y[k] = (double)p->truth[row * p->n_labels + k];
    if (!(fabs(y[k]) <= p->posterior->limit)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: row %lld: %s is %g in units of its range, and posteriors are "
                       "restricted to +-%g: predict with predict.truncate=false",
                       w->t->opts->predictions, (long long)row + 1, p->label[k], y[k],
                       p->posterior->limit);
    }
  }
  return WEIR_OK;
}

/* Adds the standard deviations of the draws to their sums over the samples, and the squares of the
 * errors of their means relative to them. */
static void add_deviations(scorer *w, const double *y)
{
  cf_posterior_scores *const s = w->s;

  for (int64_t k = 0; k < s->n_labels; k++) {
    double mean = 0, square = 0;

    for (int64_t d = 0; d < s->draws; d++) {
      mean += w->draws[d * s->n_labels + k] / (double)s->draws;
    }
    for (int64_t d = 0; d < s->draws; d++) {
      const double x = w->draws[d * s->n_labels + k] - mean;

      square += x * x / ((double)s->draws - 1);
    }
    s->sd[k] += sqrt(square);
    s->square[k] += (y[k] - mean) * (y[k] - mean) / square;
  }
}

/* Ranks the truth y among the draws, the next case. */
static void rank_truth(scorer *w, int64_t sample, const double *y)
{
  cf_posterior_scores *const s = w->s;
  const int64_t n = s->n_labels, stride = w->t->groups, c = s->cases++;
  double point[CF_MAX_LABELS];

  for (int64_t k = 0; k < n; k++) {
    const double u = weir_random_uniform(w->seed, POINT, (uint32_t)sample, (uint64_t)k);

    s->rank[k * stride + c] = cf_rank_of(w->draws + k, s->draws, n, y[k]);
    point[k] = 2 * u - 1;
  }
  s->rank[n * stride + c] = cf_rank_by_distance(w->draws, s->draws, n, y, point);
}

/* The share of the draws that are outside the ranges. */
static double outside_of(const scorer *w)
{
  const int64_t n = w->s->n_labels;
  int64_t outside = 0;

  for (int64_t d = 0; d < w->s->draws; d++) {
    bool is = false;

    for (int64_t k = 0; k < n; k++) {
      is = is || !(fabs(w->draws[d * n + k]) <= 1);
    }
    outside += is;
  }
  return (double)outside / (double)w->s->draws;
}

/* Scores the sample i, unless its posterior is all but outside the ranges. */
static weir_status score_sample(scorer *w, int64_t i)
{
  const cf_posteriors *const q = w->t->p->posterior;
  const int64_t row = w->t->row[i], group = w->t->level[CF_BY_SAMPLE].group[i];
  double y[CF_MAX_LABELS], inside = 1;

  WEIR_TRY(take_truth(w, i, y));
  if (!cf_posterior_draw(q, row, w->seed, w->t->sample[i], w->s->draws, w->draws, &inside)) {
    w->s->skipped++;
    return WEIR_OK;
  }
  w->value[w->s->n] = cf_posterior_log_density(q, row, y) - log(inside);
  w->group[w->s->n++] = group;
  w->s->outside += isfinite(q->limit) ? 1 - inside : outside_of(w);
  add_deviations(w, y);
  if (group != w->ranked) {
    rank_truth(w, w->t->sample[i], y);
    w->ranked = group;
  }
  return WEIR_OK;
}

/* Divides sums by the number of samples, and closes the gaps between rows of ranks. */
static void finish_sums(scorer *w)
{
  cf_posterior_scores *const s = w->s;

  s->outside /= (double)s->n;
  for (int64_t k = 0; k <= s->n_labels; k++) {
    if (k < s->n_labels) {
      s->sd[k] /= (double)s->n;
      s->square[k] /= (double)s->n;
    }
    memmove(s->rank + k * s->cases, s->rank + k * w->t->groups, (size_t)s->cases * sizeof *s->rank);
  }
}

static void warn_skipped(const scorer *w)
{
  if (w->s->skipped > 0) {
    weir_warn("eval",
              "%s: %lld of %lld posteriors are not scored: fewer than 1 in 1000 draws are within "
              "the ranges of the parameters; predict.truncate=false scores all",
              w->t->opts->predictions, (long long)w->s->skipped,
              (long long)(w->s->skipped + w->s->n));
  }
}

/* The mean of the log densities and its interval. */
static weir_status average(const scorer *w, const cf_resamples *resamples)
{
  const double prior = (double)w->s->n_labels * LN_2;
  weir_estimate score[CF_SCORES], *const mean = &w->s->log_density;
  double *zero = NULL;

  WEIR_TRY(weir_alloc(w->s->n, sizeof *zero, (void **)&zero));
  const cf_cases cases = {w->s->n, w->t->groups, w->group, zero, w->value};
  const weir_status status = cf_metrics(&cases, resamples, score);

  weir_free(&zero);
  WEIR_TRY(status);
  *mean = score[CF_BIAS];
  w->s->information = (weir_estimate){mean->value + prior, mean->lo + prior, mean->hi + prior};
  return WEIR_OK;
}

static weir_status score_all(scorer *w, const cf_resamples *resamples, int64_t bins)
{
  cf_posterior_scores *const s = w->s;

  const int64_t n = w->t->level[CF_BY_SAMPLE].n;

  WEIR_TRY(weir_alloc((s->n_labels + 1) * w->t->groups, sizeof *s->rank, (void **)&s->rank));
  WEIR_TRY(weir_alloc(s->draws * s->n_labels, sizeof *w->draws, (void **)&w->draws));
  WEIR_TRY(weir_alloc(n, sizeof *w->value, (void **)&w->value));
  WEIR_TRY(weir_alloc(n, sizeof *w->group, (void **)&w->group));
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(score_sample(w, i));
  }
  warn_skipped(w);
  if (s->n == 0) {
    return WEIR_OK;
  }
  finish_sums(w);
  for (int64_t k = 0; k <= s->n_labels; k++) {
    WEIR_TRY(cf_uniformity_test(s->rank + k * s->cases, s->cases, s->draws, bins, &s->test[k]));
  }
  return average(w, resamples);
}

weir_status cf_posterior_scores_make(const cf_posterior_opts *o, const cf_eval_set *t,
                                     const cf_resamples *resamples, uint64_t seed,
                                     cf_posterior_scores *out)
{
  scorer w = {.t = t, .seed = seed, .ranked = -1, .s = out};

  *out = (cf_posterior_scores){0};
  if (t->p->posterior == NULL) {
    return WEIR_OK;
  }
  out->n_labels = t->p->n_labels;
  out->draws = o->draws;
  const weir_status status = score_all(&w, resamples, o->bins);

  weir_free(&w.draws);
  weir_free(&w.value);
  weir_free(&w.group);
  if (status != WEIR_OK) {
    cf_posterior_scores_fini(out);
  }
  return status;
}

void cf_posterior_scores_fini(cf_posterior_scores *s)
{
  weir_free(&s->rank);
  s->n = 0;
}
