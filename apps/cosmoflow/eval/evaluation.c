/* evaluation.c - see evaluation.h. */
#include "eval/evaluation.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "ops/fft/weir_fft_plan.h"

const weir_opt cf_eval_options[] = {
    WEIR_OPT_LIST(cf_eval_opts, sets, cf_eval_set_opts, cf_eval_set_options, 64,
                  "predictions that are scored; baselines are fitted on the training universes of "
                  "the first, and say what they say of the others, such as those of another "
                  "simulation"),
    WEIR_OPT_ENUM(cf_eval_opts, part, CF_TEST, CF_SUBSET_CHOICES, "subset that is scored"),
    WEIR_OPT_INT(cf_eval_opts, bins, 10, 1, 1000, "1",
                 "bins of the range of each label, for bias and slope by the truth"),
    WEIR_OPT_INT(cf_eval_opts, points, 2000, 10, 1e6, "1",
                 "of a figure at most: of more samples every second or third is drawn"),
    WEIR_OPT_STRING_LIST(cf_eval_opts, regressions, "",
                         "further regressions, each on other summary statistics (section "
                         "summaries): one_point, peaks, bispectrum, multipoles, scattering, and "
                         "all, which has P(k), the moments and all these"),
    WEIR_OPT_TABLE(cf_eval_opts, features, cf_feature_options,
                   "what the regressions know of samples"),
    WEIR_OPT_TABLE(cf_eval_opts, ridge, cf_ridge_options, "the regressions"),
    WEIR_OPT_TABLE(cf_eval_opts, boosting, cf_boosting_options,
                   "gradient boosting of regression trees on what each regression is on"),
    WEIR_OPT_TABLE(cf_eval_opts, bootstrap, cf_bootstrap_options,
                   "intervals, by universes that are drawn again"),
    WEIR_OPT_TABLE(cf_eval_opts, fisher, cf_fisher_options, "the bound of linear theory"),
    WEIR_OPT_BOOL(cf_eval_opts, forecast, false,
                  "Fisher forecast from the summaries of each regression (forecast.csv): their "
                  "derivatives by linear regression on the parameters of the training universes, "
                  "and the covariance of its residuals with the factor of Hartlap et al. (2007)"),
    WEIR_OPT_TABLE(
        cf_eval_opts, posterior, cf_posterior_options,
        "calibration of posteriors, of networks with model.head mixture, flow or moments"),
    WEIR_OPT_END,
};

/* ---- sets ---- */

/* Sets that are compared have the same labels in the same units. */
static weir_status judge_sets(const cf_evaluation *e)
{
  const cf_predictions *const first = e->set[0].p;

  for (int64_t i = 1; i < e->n_sets; i++) {
    const cf_predictions *const p = e->set[i].p;
    const char *const file = e->set[i].opts->predictions;

    if (p->n_labels != first->n_labels) {
      return weir_fail(WEIR_ERR_DATA, "%s: has %lld labels, %s has %lld", file,
                       (long long)p->n_labels, e->set[0].opts->predictions,
                       (long long)first->n_labels);
    }
    for (int64_t k = 0; k < p->n_labels; k++) {
      const double width = first->hi[k] - first->lo[k];

      if (strcmp(p->label[k], first->label[k]) != 0 ||
          fabs(p->lo[k] - first->lo[k]) > 1e-9 * width ||
          fabs(p->hi[k] - first->hi[k]) > 1e-9 * width) {
        return weir_fail(WEIR_ERR_DATA,
                         "%s: label %lld is %s from %g to %g, in %s it is %s from %g to %g: "
                         "predictions of one network have one range",
                         file, (long long)k + 1, p->label[k], p->lo[k], p->hi[k],
                         e->set[0].opts->predictions, first->label[k], first->lo[k], first->hi[k]);
      }
    }
  }
  return WEIR_OK;
}

weir_status cf_eval_judge_names(const weir_struct_list *sets)
{
  const cf_eval_set_opts *const set = sets->items;

  if (sets->count == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.sets is empty: list predictions and their truth, e.g. "
                     "eval.sets=[{name: test, predictions: predictions.nc, truth: [universes]}]");
  }
  for (int64_t i = 0; i < sets->count; i++) {
    if (set[i].name[0] == 0 || set[i].predictions[0] == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "eval.sets: a set needs name and predictions; this one has "
                       "name '%s' and predictions '%s'",
                       set[i].name, set[i].predictions);
    }
    for (int64_t j = 0; j < i; j++) {
      if (strcmp(set[i].name, set[j].name) == 0) {
        return weir_fail(WEIR_ERR_CONFIG, "eval.sets: two sets have the name '%s'", set[i].name);
      }
    }
  }
  return WEIR_OK;
}

/* Sets the regressions that options name, bits 1 << cf_predictor. */
static weir_status find_regressions(const cf_eval_opts *opts, unsigned *out)
{
  unsigned wanted = 1U << CF_BY_RIDGE | 1U << CF_BY_MOMENTS;

  for (int64_t i = 0; i < opts->regressions.count; i++) {
    const char *const name = opts->regressions.items[i];
    int by = CF_BY_SUMMARIES;

    while (by < CF_BY_ALL && strcmp(name, cf_summary_name[by - CF_BY_SUMMARIES]) != 0) {
      by++;
    }
    if (by == CF_BY_ALL && strcmp(name, "all") != 0) {
      return weir_fail(
          WEIR_ERR_CONFIG,
          "eval.regressions: there is no regression on '%s': known are all, " CF_SUMMARY_NAMES,
          name);
    }
    wanted |= 1U << by;
  }
  *out = wanted;
  return WEIR_OK;
}

weir_status cf_eval_check(const cf_eval_opts *opts)
{
  const cf_eval_set_opts *const set = opts->sets.items;
  unsigned wanted = 0;

  WEIR_TRY(cf_eval_judge_names(&opts->sets));
  WEIR_TRY(find_regressions(opts, &wanted));
  WEIR_TRY(cf_ridge_check(&opts->ridge));
  if (opts->forecast && set[0].truth.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "eval.forecast: summaries are of the samples of "
                                      "eval.sets[0].truth, which names none");
  }
  return opts->fisher.box <= 0 || set[0].truth.count > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "eval.fisher.box: how many cells a sample has is said by "
                                          "eval.sets[0].truth, which names none");
}

/* Warns of scored universes that were trained on. */
static weir_status warn_of_known(const cf_evaluation *e)
{
  for (int64_t i = 0; i < e->n_sets && e->opts->part != CF_TRAIN; i++) {
    const cf_eval_set *const t = &e->set[i];
    int64_t n = 0;

    WEIR_TRY(cf_eval_set_known(&e->set[0], t, &n));
    if (n > 0) {
      weir_warn("eval",
                "set %s: %lld of its %lld universes have number and labels of universes that %s "
                "trains on: make them with another seed, or split both sets alike",
                t->opts->name, (long long)n, (long long)t->groups, e->set[0].opts->name);
    }
  }
  return WEIR_OK;
}

static weir_status open_sets(cf_evaluation *e, const cf_source_spec *spec)
{
  const weir_struct_list *const sets = &e->opts->sets;
  const cf_eval_set_opts *const opts = sets->items;

  WEIR_TRY(cf_eval_check(e->opts));
  WEIR_TRY(weir_alloc(sets->count, sizeof *e->set, (void **)&e->set));
  WEIR_TRY(weir_alloc(sets->count, sizeof *e->resamples, (void **)&e->resamples));
  for (; e->n_sets < sets->count; e->n_sets++) {
    WEIR_TRY(
        cf_eval_set_open(&opts[e->n_sets], spec, (cf_subset)e->opts->part, &e->set[e->n_sets]));
  }
  e->n_labels = e->set[0].p->n_labels;
  WEIR_TRY(judge_sets(e));
  WEIR_TRY(warn_of_known(e));
  for (int64_t i = 0; i < e->n_sets; i++) {
    WEIR_TRY(cf_resamples_create(&e->opts->bootstrap, e->seed, e->set[i].groups, &e->resamples[i]));
  }
  return WEIR_OK;
}

/* ---- the mean ---- */

/* Sets the mean label of the training samples as prediction of all samples. */
static weir_status say_mean(cf_evaluation *e)
{
  const cf_eval_set *const first = &e->set[0];
  double mean[CF_MAX_LABELS] = {0};

  for (int64_t i = 0; i < first->n_train; i++) {
    for (int64_t k = 0; k < e->n_labels; k++) {
      mean[k] +=
          (double)first->p->truth[first->train[i] * e->n_labels + k] / (double)first->n_train;
    }
  }
  for (int64_t i = 0; i < e->n_sets && first->n_train > 0; i++) {
    const int64_t n = e->set[i].level[CF_BY_SAMPLE].n;
    double *unit = NULL;

    WEIR_TRY(weir_alloc(n * e->n_labels, sizeof *unit, (void **)&unit));
    for (int64_t k = 0; k < n * e->n_labels; k++) {
      unit[k] = mean[k % e->n_labels];
    }
    const weir_status status = cf_eval_set_predict(&e->set[i], CF_BY_MEAN, unit);

    weir_free(&unit);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* ---- the regressions ---- */

typedef struct visit {
  const cf_eval_set *set;
  const int64_t *row;
} visit;

static weir_status check_row(void *context, int64_t i)
{
  const visit *const v = context;

  return cf_eval_set_check(v->set, v->row[i]);
}

/* Computes the features of rows of a set. */
static weir_status features_of(const cf_evaluation *e, const cf_eval_set *t, const int64_t *row,
                               int64_t n, cf_features *out)
{
  visit v = {t, row};
  int64_t *sample = NULL;

  WEIR_TRY(weir_alloc(n, sizeof *sample, (void **)&sample));
  for (int64_t i = 0; i < n; i++) {
    sample[i] = t->p->sample[row[i]];
  }
  weir_info("eval", "%s: P(k) of %lld samples", t->opts->name, (long long)n);
  const cf_feature_samples of = {.source = t->source,
                                 .sample = sample,
                                 .n = n,
                                 .visit = check_row,
                                 .context = &v,
                                 .comm = e->comm};
  const weir_status status = cf_features_make(&e->features, &of, out);

  weir_free(&sample);
  return status;
}

/* Returns the columns that a regression is on; 0: it is not wanted or has none. */
static int64_t columns_of(const cf_evaluation *e, const cf_features *f, int by, int64_t *first)
{
  const int on = by >= CF_BY_BOOSTING ? by - CF_BY_BOOSTING + CF_BY_RIDGE : by;
  const int k = on - CF_BY_SUMMARIES + CF_FEATURE_SUMMARIES;
  const int64_t moments = f->begin[CF_FEATURE_SUMMARIES];

  *first = 0;
  if ((e->wanted >> on & 1) == 0) {
    return 0;
  }
  if (on == CF_BY_RIDGE || on == CF_BY_ALL) {
    return on == CF_BY_ALL ? f->n_features : f->n_power;
  }
  if (on == CF_BY_MOMENTS) {
    return moments > f->n_power ? moments : 0;
  }
  *first = f->begin[k];
  return f->begin[k + 1] - f->begin[k];
}

/* Fits the regressions on some features. */
static weir_status fit_on(cf_evaluation *e, int by, const cf_ridge_rows *rows)
{
  const cf_eval_opts *const o = e->opts;
  const int boosted = by - CF_BY_RIDGE + CF_BY_BOOSTING;

  e->n_features[by] = rows->n_features;
  WEIR_TRY(cf_ridge_fit(&o->ridge, e->seed, rows, &e->ridge[by]));
  if (o->boosting.rounds > 0) {
    e->n_features[boosted] = rows->n_features;
    WEIR_TRY(cf_boosting_fit(&o->boosting, e->seed, rows, &e->boosting[boosted]));
  }
  return o->forecast ? cf_forecast_make(rows, &e->forecast[by]) : WEIR_OK;
}

/* All regressions, on features of the training rows in their order. */
static weir_status fit(cf_evaluation *e, const cf_features *f)
{
  const cf_eval_set *const t = &e->set[0];
  const int64_t n = t->n_train, labels = e->n_labels;
  int64_t *row = NULL, *group = NULL;
  double *y = NULL;
  weir_status status = WEIR_OK;

  e->periodic = f->periodic;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *row, (void **)&row), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *group, (void **)&group), done);
  WEIR_TRY_GOTO(weir_alloc(n * labels, sizeof *y, (void **)&y), done);
  for (int64_t i = 0; i < n; i++) {
    row[i] = i;
    group[i] = t->p->universe[t->train[i]];
    for (int64_t k = 0; k < labels; k++) {
      y[i * labels + k] = (double)t->p->truth[t->train[i] * labels + k];
    }
  }
  for (int by = CF_FIRST_REGRESSION; by <= CF_LAST_RIDGE && status == WEIR_OK; by++) {
    int64_t first = 0;
    const int64_t features = columns_of(e, f, by, &first);
    const cf_ridge_rows rows = {n, row, group, features, f->n_features, f->x + first, labels, y};

    status = features > 0 ? fit_on(e, by, &rows) : WEIR_OK;
  }
done:
  weir_free(&row);
  weir_free(&group);
  weir_free(&y);
  return status;
}

static bool leads(const cf_evaluation *e)
{
  return e->comm == NULL || weir_comm_rank(e->comm) == 0;
}

static weir_status say_regressions(cf_evaluation *e, cf_eval_set *t)
{
  const int64_t n = t->level[CF_BY_SAMPLE].n;
  cf_features f;
  double *unit = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(features_of(e, t, t->row, n, &f));
  WEIR_TRY_GOTO(weir_alloc(n * e->n_labels, sizeof *unit, (void **)&unit), done);
  for (int by = CF_FIRST_REGRESSION; by <= CF_LAST_REGRESSION && status == WEIR_OK && leads(e);
       by++) {
    int64_t first = 0;

    (void)columns_of(e, &f, by, &first);
    for (int64_t i = 0; i < n && e->n_features[by] > 0; i++) {
      const double *const x = f.x + i * f.n_features + first;

      if (by >= CF_BY_BOOSTING) {
        cf_boosting_predict(&e->boosting[by], x, unit + i * e->n_labels);
      } else {
        cf_ridge_predict(&e->ridge[by], x, unit + i * e->n_labels);
      }
    }
    status = e->n_features[by] > 0 ? cf_eval_set_predict(t, (cf_predictor)by, unit) : WEIR_OK;
  }
done:
  weir_free(&unit);
  cf_features_fini(&f);
  return status;
}

/* Returns the reason for which there are no regressions, or NULL. */
static const char *why_without(const cf_evaluation *e)
{
  return e->set[0].source == NULL     ? "eval.sets[0].truth names no samples"
         : e->set[0].n_train == 0     ? "the predictions of the first set list no training sample"
         : !weir_fft_plan_available() ? "this build has no FFTW"
                                      : NULL;
}

/* Smoothing and peaks are of lengths and of the faces of a sample. */
static weir_status judge_lengths(const cf_evaluation *e, const cf_eval_set *t)
{
  const cf_volume_info *const a = cf_source_info(e->set[0].source);
  const cf_volume_info *const b = cf_source_info(t->source);

  return e->features.which == 0 || (fabs(a->cell - b->cell) <= 1e-6 * a->cell &&
                                    fabs(a->box - b->box) <= 1e-6 * a->box)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: voxels of %g Mpc/h in a box of %g, those of set %s are of %g in a "
                         "box of %g (0: not stated): summaries of one are not those of the other",
                         t->opts->truth.items[0], b->cell, b->box, e->set[0].opts->name, a->cell,
                         a->box);
}

static weir_status judge_shape(const cf_evaluation *e, const cf_eval_set *t)
{
  const int64_t *const a = cf_source_info(e->set[0].source)->lengths;
  const int64_t *const b = cf_source_info(t->source)->lengths;

  return memcmp(a, b, 4 * sizeof *a) == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: samples are %lld x %lld^2 with %lld channels, those of set %s %lld x "
                         "%lld^2 with %lld: what was fitted there says nothing of these",
                         t->opts->truth.items[0], (long long)b[0], (long long)b[1], (long long)b[3],
                         e->set[0].opts->name, (long long)a[0], (long long)a[1], (long long)a[3]);
}

/* Checks samples that are not read for their spectrum as well. */
static weir_status check_alone(const cf_evaluation *e)
{
  for (int64_t i = 0; i < e->n_sets; i++) {
    const cf_eval_set *const t = &e->set[i];

    for (int64_t k = 0; k < t->level[CF_BY_SAMPLE].n && t->source != NULL; k++) {
      WEIR_TRY(cf_eval_set_check(t, t->row[k]));
    }
  }
  return WEIR_OK;
}

static weir_status add_regressions(cf_evaluation *e)
{
  const cf_eval_set *const first = &e->set[0];
  cf_features f;

  e->without = why_without(e);
  if (e->without != NULL) {
    weir_info("eval", "no regression on P(k): %s", e->without);
    return check_alone(e);
  }
  WEIR_TRY(features_of(e, first, first->train, first->n_train, &f));
  weir_status status = leads(e) ? fit(e, &f) : WEIR_OK;

  cf_features_fini(&f);
  status = e->comm != NULL ? weir_comm_agree(e->comm, status) : status;
  WEIR_TRY(status);
  for (int64_t i = 0; i < e->n_sets; i++) {
    if (e->set[i].source != NULL) {
      WEIR_TRY(judge_shape(e, &e->set[i]));
      WEIR_TRY(judge_lengths(e, &e->set[i]));
      WEIR_TRY(say_regressions(e, &e->set[i]));
    }
  }
  return WEIR_OK;
}

/* ---- the bound ---- */

static weir_status add_bound(cf_evaluation *e)
{
  const cf_eval_set *const t = &e->set[0];
  const double *const truth = t->level[CF_BY_UNIVERSE].truth;
  double value[CF_MAX_LABELS], sigma[CF_MAX_LABELS];
  char normalised[CF_MAX_LABELS * (CF_MAX_NAME + 2)];
  cf_fisher *f = NULL;
  weir_status status = WEIR_OK;

  if (e->opts->fisher.box <= 0) {
    return WEIR_OK;
  }
  WEIR_ASSERT(t->source != NULL); /* cf_eval_check */
  cf_predictions_normalised(t->p, normalised, sizeof normalised);
  if (normalised[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.fisher.box: the bound is of parameters, and the ranges of %s are not "
                     "known to %s: leave it out, or state files.range in the training",
                     normalised, t->opts->predictions);
  }
  WEIR_TRY(cf_fisher_create(&e->opts->fisher, t->p, cf_source_info(t->source)->lengths[0],
                            e->opts->features.reach, &f));
  e->bound_bins = cf_fisher_bins(f, &e->bound_k);
  WEIR_TRY_GOTO(weir_alloc(e->n_labels * t->groups, sizeof *e->sigma, (void **)&e->sigma), done);
  for (int64_t g = 0; g < t->groups; g++) {
    for (int64_t k = 0; k < e->n_labels; k++) {
      value[k] = truth[k * t->groups + g];
    }
    WEIR_TRY_GOTO(cf_fisher_bound(f, value, sigma), done);
    for (int64_t k = 0; k < e->n_labels; k++) {
      e->sigma[k * t->groups + g] = sigma[k];
    }
  }
done:
  cf_fisher_destroy(&f);
  return status;
}

/* ---- posteriors ---- */

static weir_status add_posteriors(cf_evaluation *e)
{
  WEIR_TRY(weir_alloc(e->n_sets, sizeof *e->posterior, (void **)&e->posterior));
  for (int64_t i = 0; i < e->n_sets; i++) {
    WEIR_TRY(cf_posterior_scores_make(&e->opts->posterior, &e->set[i], &e->resamples[i], e->seed,
                                      &e->posterior[i]));
  }
  return WEIR_OK;
}

weir_status cf_evaluation_open(const cf_eval_opts *opts, const cf_source_spec *spec, uint64_t seed,
                               weir_comm *comm, cf_evaluation *out)
{
  weir_status status = WEIR_OK;

  *out = (cf_evaluation){.opts = opts, .features = opts->features, .seed = seed, .comm = comm};
  WEIR_TRY(find_regressions(opts, &out->wanted));
  out->features.which = (out->wanted >> CF_BY_ALL & 1) != 0
                            ? CF_SUMMARY_ALL
                            : out->wanted >> CF_BY_SUMMARIES & CF_SUMMARY_ALL;
  WEIR_TRY_GOTO(open_sets(out, spec), done);
  WEIR_TRY_GOTO(say_mean(out), done);
  WEIR_TRY_GOTO(add_regressions(out), done);
  WEIR_TRY_GOTO(leads(out) ? add_bound(out) : WEIR_OK, done);
  WEIR_TRY_GOTO(leads(out) ? add_posteriors(out) : WEIR_OK, done);
done:
  if (status != WEIR_OK) {
    cf_evaluation_close(out);
  }
  return status;
}

void cf_evaluation_close(cf_evaluation *e)
{
  for (int64_t i = 0; i < e->n_sets; i++) {
    cf_eval_set_close(&e->set[i]);
    cf_resamples_fini(&e->resamples[i]);
    if (e->posterior != NULL) {
      cf_posterior_scores_fini(&e->posterior[i]);
    }
  }
  for (int by = 0; by < CF_PREDICTORS; by++) {
    cf_ridge_fini(&e->ridge[by]);
    cf_boosting_fini(&e->boosting[by]);
  }
  weir_free(&e->set);
  weir_free(&e->resamples);
  weir_free(&e->posterior);
  weir_free(&e->sigma);
  e->n_sets = 0;
}

bool cf_evaluation_cases(const cf_evaluation *e, int64_t set, cf_predictor by, cf_level level,
                         int64_t label, cf_cases *out)
{
  const cf_eval_set *const t = &e->set[set];
  const cf_predicted *const s = &t->level[level];

  if (s->predicted[by] == NULL ||
      (level == CF_BY_UNIVERSE && t->level[CF_BY_SAMPLE].n == t->groups)) {
    return false;
  }
  *out = (cf_cases){s->n, t->groups, s->group, s->truth + label * s->n,
                    s->predicted[by] + label * s->n};
  return true;
}

/* Returns the MAE in units of the ranges, summed over the labels [first, end); NaN: no predictions.
 */
static double mae_of(const cf_evaluation *e, int64_t set, cf_predictor by, cf_level level,
                     int64_t first, int64_t end)
{
  const cf_predictions *const p = e->set[0].p;
  double sum = 0;
  cf_cases c;

  for (int64_t k = first; k < end; k++) {
    if (!cf_evaluation_cases(e, set, by, level, k, &c)) {
      return NAN;
    }
    for (int64_t i = 0; i < c.n; i++) {
      sum += fabs(c.predicted[i] - c.truth[i]) / (double)c.n / (p->hi[k] - p->lo[k]);
    }
  }
  return sum;
}

cf_predictor cf_evaluation_best(const cf_evaluation *e, int64_t set, cf_level level, int64_t label)
{
  const int64_t first = label == CF_ALL_LABELS ? 0 : label;
  const int64_t end = label == CF_ALL_LABELS ? e->n_labels : label + 1;
  cf_predictor best = CF_BY_MEAN;
  double least = INFINITY;

  for (int by = CF_FIRST_REGRESSION; by <= CF_LAST_REGRESSION; by++) {
    const double mae = mae_of(e, set, (cf_predictor)by, level, first, end);

    if (mae < least) { /* NaN, no predictions: never */
      best = (cf_predictor)by;
      least = mae;
    }
  }
  return best;
}

const char *cf_evaluation_name(const cf_evaluation *e, int64_t set, cf_predictor by)
{
  static const char *const boosting[CF_BY_MEAN - CF_BY_BOOSTING] = {"boosting",
                                                                    "boosting+moments",
                                                                    "boosting_one_point",
                                                                    "boosting_peaks",
                                                                    "boosting_bispectrum",
                                                                    "boosting_multipoles",
                                                                    "boosting_scattering",
                                                                    "boosting+all"};

  return by == CF_BY_NETWORK   ? e->set[set].p->model
         : by == CF_BY_RIDGE   ? "ridge"
         : by == CF_BY_MOMENTS ? "ridge+moments"
         : by == CF_BY_ALL     ? "ridge+all"
         : by == CF_BY_MEAN    ? "mean"
         : by > CF_BY_ALL      ? boosting[by - CF_BY_BOOSTING]
                               : cf_summary_name[by - CF_BY_SUMMARIES];
}
