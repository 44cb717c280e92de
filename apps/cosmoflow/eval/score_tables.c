/* score_tables.c - see score_tables.h. */
#include "eval/score_tables.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

static const char *const file[CF_TABLES] = {
    [CF_TABLE_SCORES] = "scores.csv",       [CF_TABLE_BINS] = "bins.csv",
    [CF_TABLE_AVERAGES] = "averages.csv",   [CF_TABLE_RIDGE] = "ridge.csv",
    [CF_TABLE_BOOSTING] = "boosting.csv",   [CF_TABLE_FORECAST] = "forecast.csv",
    [CF_TABLE_POSTERIOR] = "posterior.csv",
};

enum { COLUMNS = 16 }; /* at most 15 and NULL */
static const char *const head[CF_TABLES][COLUMNS] = {
    [CF_TABLE_SCORES] = {"set", "model", "of", "parameter", "score", "unit", "value", "lo", "hi",
                         "samples", "universes"},
    [CF_TABLE_BINS] = {"set", "model", "parameter", "from", "to", "samples", "bias", "bias_lo",
                       "bias_hi", "rmse", "rmse_lo", "rmse_hi", "slope"},
    [CF_TABLE_AVERAGES] = {"set", "model", "parameter", "averaged", "means", "rmse",
                           "rmse_if_independent", "within", "shared"},
    [CF_TABLE_RIDGE] = {"model", "parameter", "features", "universes", "folds", "penalty",
                        "rmse_of_folds"},
    [CF_TABLE_BOOSTING] = {"model", "parameter", "features", "universes", "folds", "rounds",
                           "rmse_of_folds"},
    [CF_TABLE_FORECAST] = {"model", "parameter", "summaries", "universes", "hartlap_factor",
                           "sigma", "sigma_range", "sigma_range_without_prior", "mae_range"},
    [CF_TABLE_POSTERIOR] = {"set", "model", "parameter", "score", "value", "lo", "hi", "cases"},
};

static double half_of(const cf_evaluation *e, int64_t label)
{
  return 0.5 * (e->set[0].p->hi[label] - e->set[0].p->lo[label]);
}

/* ---- scores ---- */

static const char *label_of(const cf_evaluation *e, int64_t label)
{
  return label == CF_ALL_LABELS ? "all" : e->set[0].p->label[label];
}

static weir_table *begin(cf_score_tables *t, const cf_evaluation *e, const cf_score_row *r,
                         const char *score, const char *unit)
{
  weir_table *const c = &t->cells[CF_TABLE_SCORES];

  weir_table_add(c, "%s", e->set[r->set].opts->name);
  weir_table_add(c, "%s", cf_evaluation_name(e, r->set, r->by));
  weir_table_add(c, "%s", cf_level_name[r->level]);
  weir_table_add(c, "%s", label_of(e, r->label));
  weir_table_add(c, "%s", score);
  weir_table_add(c, "%s", unit);
  return c;
}

static void end(weir_table *c, const cf_score_row *r)
{
  weir_table_add(c, "%lld", (long long)r->samples);
  weir_table_add(c, "%lld", (long long)r->universes);
}

static void put_skill(cf_score_tables *t, const cf_evaluation *e, const cf_score_row *r,
                      cf_predictor reference, const weir_estimate *skill)
{
  char name[64];

  if (!isnan(skill->value)) {
    (void)snprintf(name, sizeof name, "skill_vs_%s", cf_evaluation_name(e, r->set, reference));
    weir_table *const c = begin(t, e, r, name, "1");

    weir_score_add_estimate(c, skill, 1);
    end(c, r);
  }
}

/* Errors in units of the ranges and in the label's own; what has no unit once. */
static void put_row(cf_score_tables *t, const cf_evaluation *e, const cf_score_row *r)
{
  for (int s = 0; s < CF_SCORES; s++) {
    const bool error = s == CF_MAE || s == CF_RMSE || s == CF_BIAS;

    if (r->label == CF_ALL_LABELS && s != CF_MAE && s != CF_RMSE) {
      continue;
    }
    weir_table *c = begin(t, e, r, cf_score_name[s], error ? "range" : "1");

    weir_score_add_estimate(c, &r->score[s], error ? 1 / r->half : 1);
    end(c, r);
    if (error && r->label != CF_ALL_LABELS) {
      c = begin(t, e, r, cf_score_name[s],
                cf_predictions_ranged(e->set[0].p, r->label) ? "own" : "normalised");
      weir_score_add_estimate(c, &r->score[s], 1);
      end(c, r);
    }
  }
  put_skill(t, e, r, CF_BY_MEAN, &r->skill_mean);
  put_skill(t, e, r, r->reference, &r->skill);
}

/* Scores of cases, and their skill relative to others; NULL: there are none. */
static weir_status score_cases(const cf_evaluation *e, const cf_cases *c,
                               const cf_cases *regression, const cf_cases *mean, cf_score_row *r)
{
  const cf_resamples *const draws = &e->resamples[r->set];

  r->samples = c->n;
  r->universes = c->groups;
  r->skill = r->skill_mean = (weir_estimate){NAN, NAN, NAN};
  WEIR_TRY(cf_metrics(c, draws, r->score));
  if (regression != NULL) {
    WEIR_TRY(cf_metrics_skill(c, regression, CF_MAE, draws, &r->skill));
  }
  return mean != NULL ? cf_metrics_skill(c, mean, CF_MAE, draws, &r->skill_mean) : WEIR_OK;
}

/* Models that a model is compared with. */
static bool with_regression(const cf_score_row *r)
{
  return r->by == CF_BY_NETWORK && r->reference != CF_BY_MEAN;
}

/* Joins all labels, in units of their ranges; the caller frees memory. */
static weir_status join_labels(const cf_evaluation *e, int64_t set, cf_predictor by, cf_level level,
                               double **memory, int64_t **group, cf_cases *out)
{
  cf_cases one;

  *memory = NULL;
  *group = NULL;
  *out = (cf_cases){0};
  for (int64_t k = 0; k < e->n_labels && cf_evaluation_cases(e, set, by, level, k, &one); k++) {
    const double lo = e->set[0].p->lo[k], half = half_of(e, k);

    if (k == 0) {
      const int64_t all = one.n * e->n_labels;

      WEIR_TRY(weir_alloc(2 * all, sizeof **memory, (void **)memory));
      WEIR_TRY(weir_alloc(all, sizeof **group, (void **)group));
      *out = (cf_cases){all, one.groups, *group, *memory, *memory + all};
    }
    for (int64_t i = 0; i < one.n; i++) {
      const int64_t at = k * one.n + i;

      (*group)[at] = one.group[i];
      (*memory)[at] = (one.truth[i] - lo) / half - 1;
      (*memory)[out->n + at] = (one.predicted[i] - lo) / half - 1;
    }
  }
  return WEIR_OK;
}

static weir_status score_all_labels(const cf_evaluation *e, cf_score_row *r)
{
  enum { OWN, REGRESSION, MEAN, ALL };
  const cf_predictor by[ALL] = {r->by, r->reference, CF_BY_MEAN};
  double *memory[ALL] = {NULL};
  int64_t *group[ALL] = {NULL};
  cf_cases c[ALL] = {{0}};
  weir_status status = WEIR_OK;

  for (int i = 0; i < ALL; i++) {
    WEIR_TRY_GOTO(join_labels(e, r->set, by[i], r->level, &memory[i], &group[i], &c[i]), done);
  }
  r->half = 1;
  WEIR_TRY_GOTO(score_cases(e, &c[OWN], with_regression(r) ? &c[REGRESSION] : NULL,
                            r->by != CF_BY_MEAN && c[MEAN].n > 0 ? &c[MEAN] : NULL, r),
                done);
  r->samples /= e->n_labels;
done:
  for (int i = 0; i < ALL; i++) {
    weir_free(&memory[i]);
    weir_free(&group[i]);
  }
  return status;
}

static weir_status score_label(const cf_evaluation *e, const cf_cases *own, cf_score_row *r)
{
  cf_cases regression, mean;
  const bool compared = with_regression(r) && cf_evaluation_cases(e, r->set, r->reference, r->level,
                                                                  r->label, &regression);
  const bool averaged =
      r->by != CF_BY_MEAN && cf_evaluation_cases(e, r->set, CF_BY_MEAN, r->level, r->label, &mean);

  r->half = half_of(e, r->label);
  WEIR_TRY(score_cases(e, own, compared ? &regression : NULL, averaged ? &mean : NULL, r));
  if (!cf_predictions_ranged(e->set[0].p, r->label)) { /* 0 is the middle of a range, no nothing */
    r->score[CF_RELATIVE] = (weir_estimate){NAN, NAN, NAN};
  }
  return WEIR_OK;
}

static weir_status add_scores(cf_score_tables *t, const cf_evaluation *e, int64_t set,
                              cf_level level, cf_predictor by)
{
  cf_cases own;

  for (int64_t k = CF_ALL_LABELS; k < e->n_labels; k++) {
    cf_score_row r = {.set = set, .label = k, .by = by, .level = level};

    if (!cf_evaluation_cases(e, set, by, level, k < 0 ? 0 : k, &own)) {
      return WEIR_OK;
    }
    r.reference = cf_evaluation_best(e, set, level, k);
    WEIR_TRY(k == CF_ALL_LABELS ? score_all_labels(e, &r) : score_label(e, &own, &r));
    WEIR_TRY(weir_reserve(&t->row, &t->capacity, t->n_rows + 1, sizeof *t->row));
    t->row[t->n_rows++] = r;
    put_row(t, e, &r);
  }
  return WEIR_OK;
}

void cf_score_bound(const cf_evaluation *e, int64_t label, double *mae, double *rmse)
{
  const int64_t n = e->set[0].groups;
  double sum = 0, square = 0;

  for (int64_t g = 0; g < n; g++) {
    const double sigma = e->sigma[label * n + g];

    sum += sigma / (double)n;
    square += sigma * sigma / (double)n;
  }
  *mae = CF_MAE_OF_SIGMA * sum;
  *rmse = sqrt(square);
}

static void add_bound(cf_score_tables *t, const cf_evaluation *e)
{
  static const char *const name[] = {"mae", "rmse"};
  double value[2];

  for (int64_t k = 0; k < e->n_labels && e->sigma != NULL; k++) {
    cf_score_bound(e, k, &value[0], &value[1]);
    for (int i = 0; i < 4; i++) { /* both scores in both units */
      weir_table *const c = &t->cells[CF_TABLE_SCORES];
      const double scale = i / 2 == 0 ? 1 / half_of(e, k) : 1;

      weir_table_add(c, "%s", e->set[0].opts->name);
      weir_table_add(c, "fisher");
      weir_table_add(c, "%s", cf_level_name[CF_BY_SAMPLE]);
      weir_table_add(c, "%s", label_of(e, k));
      weir_table_add(c, "%s", name[i % 2]);
      weir_table_add(c, i / 2 == 0 ? "range" : "own");
      weir_score_add_estimate(c, &(weir_estimate){value[i % 2], NAN, NAN}, scale);
      weir_table_add(c, "0");
      weir_table_add(c, "%lld", (long long)e->set[0].groups);
    }
  }
}

/* ---- by the truth ---- */

void cf_score_bin(const cf_evaluation *e, int64_t label, int64_t b, double *lo, double *hi)
{
  const cf_predictions *const p = e->set[0].p;
  const double width = (p->hi[label] - p->lo[label]) / (double)e->opts->bins;

  *lo = p->lo[label] + width * (double)b;
  *hi = b + 1 == e->opts->bins ? p->hi[label] : p->lo[label] + width * (double)(b + 1);
}

weir_status cf_score_in_bin(const cf_evaluation *e, int64_t set, const cf_cases *c, int64_t label,
                            int64_t b, weir_estimate score[CF_SCORES], int64_t *n)
{
  const bool last = b + 1 == e->opts->bins;
  double lo, hi, *memory = NULL;
  int64_t *group = NULL;
  weir_status status = WEIR_OK;

  cf_score_bin(e, label, b, &lo, &hi);
  *n = 0;
  WEIR_TRY_GOTO(weir_alloc(2 * c->n, sizeof *memory, (void **)&memory), done);
  WEIR_TRY_GOTO(weir_alloc(c->n, sizeof *group, (void **)&group), done);
  for (int64_t i = 0; i < c->n; i++) { /* labels at the very ends may be rounded beyond them */
    if ((c->truth[i] >= lo || b == 0) && (c->truth[i] < hi || last)) {
      memory[*n] = c->truth[i];
      memory[c->n + *n] = c->predicted[i];
      group[(*n)++] = c->group[i];
    }
  }
  const cf_cases of = {*n, c->groups, group, memory, memory + c->n};

  WEIR_TRY_GOTO(cf_metrics(&of, &e->resamples[set], score), done);
done:
  weir_free(&memory);
  weir_free(&group);
  return status;
}

static weir_status add_bins(cf_score_tables *t, const cf_evaluation *e, int64_t set,
                            cf_predictor by)
{
  weir_table *const cells = &t->cells[CF_TABLE_BINS];
  weir_estimate score[CF_SCORES];
  cf_cases c;

  for (int64_t k = 0; k < e->n_labels; k++) {
    for (int64_t b = 0; b < e->opts->bins; b++) {
      double lo, hi;
      int64_t n = 0;

      if (!cf_evaluation_cases(e, set, by, CF_BY_SAMPLE, k, &c)) {
        return WEIR_OK;
      }
      WEIR_TRY(cf_score_in_bin(e, set, &c, k, b, score, &n));
      cf_score_bin(e, k, b, &lo, &hi);
      weir_table_add(cells, "%s", e->set[set].opts->name);
      weir_table_add(cells, "%s", cf_evaluation_name(e, set, by));
      weir_table_add(cells, "%s", label_of(e, k));
      weir_score_add(cells, lo);
      weir_score_add(cells, hi);
      weir_table_add(cells, "%lld", (long long)n);
      weir_score_add_estimate(cells, &score[CF_BIAS], 1);
      weir_score_add_estimate(cells, &score[CF_RMSE], 1);
      weir_score_add(cells, score[CF_SLOPE].value);
    }
  }
  return WEIR_OK;
}

/* ---- averages ---- */

static void add_averages(cf_score_tables *t, const cf_evaluation *e, int64_t set, cf_predictor by)
{
  weir_table *const cells = &t->cells[CF_TABLE_AVERAGES];
  cf_cases c, mean;

  for (int64_t k = 0; k < e->n_labels; k++) {
    int64_t means = 1;

    if (!cf_evaluation_cases(e, set, by, CF_BY_SAMPLE, k, &c) ||
        !cf_evaluation_cases(e, set, by, CF_BY_UNIVERSE, k, &mean)) {
      return;
    }
    const cf_sharing s = cf_metrics_sharing(&c);
    const double alone = cf_metrics_blocks(&c, 1, &means);

    for (int64_t m = 1; means > 0; m *= 2) {
      const double rmse = cf_metrics_blocks(&c, m, &means);

      if (means > 0) {
        weir_table_add(cells, "%s", e->set[set].opts->name);
        weir_table_add(cells, "%s", cf_evaluation_name(e, set, by));
        weir_table_add(cells, "%s", label_of(e, k));
        weir_table_add(cells, "%lld", (long long)m);
        weir_table_add(cells, "%lld", (long long)means);
        weir_score_add(cells, rmse);
        weir_score_add(cells, alone / sqrt((double)m));
        weir_score_add(cells, s.within);
        weir_score_add(cells, s.shared);
      }
    }
  }
}

/* ---- all ---- */

static void add_ridge(cf_score_tables *t, const cf_evaluation *e)
{
  weir_table *const c = &t->cells[CF_TABLE_RIDGE];

  for (int by = CF_FIRST_REGRESSION; by <= CF_LAST_RIDGE; by++) {
    const cf_ridge *const r = &e->ridge[by];

    for (int64_t k = 0; k < e->n_labels && e->n_features[by] > 0; k++) {
      weir_table_add(c, "%s", cf_evaluation_name(e, 0, (cf_predictor)by));
      weir_table_add(c, "%s", label_of(e, k));
      weir_table_add(c, "%lld", (long long)r->n_features);
      weir_table_add(c, "%lld", (long long)r->groups);
      weir_table_add(c, "%lld", (long long)r->folds);
      weir_score_add(c, r->penalty[k]);
      weir_score_add(c, sqrt(r->error[k]) * half_of(e, k));
    }
  }
}

static void add_boosting(cf_score_tables *t, const cf_evaluation *e)
{
  weir_table *const c = &t->cells[CF_TABLE_BOOSTING];

  for (int by = CF_BY_BOOSTING; by <= CF_LAST_REGRESSION; by++) {
    const cf_boosting *const b = &e->boosting[by];

    for (int64_t k = 0; k < e->n_labels && e->n_features[by] > 0; k++) {
      weir_table_add(c, "%s", cf_evaluation_name(e, 0, (cf_predictor)by));
      weir_table_add(c, "%s", label_of(e, k));
      weir_table_add(c, "%lld", (long long)b->n_features);
      weir_table_add(c, "%lld", (long long)b->groups);
      weir_table_add(c, "%lld", (long long)b->folds);
      weir_table_add(c, "%lld", (long long)b->rounds[k]);
      weir_score_add(c, sqrt(b->error[k]) * half_of(e, k));
    }
  }
}

static void add_forecast(cf_score_tables *t, const cf_evaluation *e)
{
  weir_table *const c = &t->cells[CF_TABLE_FORECAST];

  for (int by = CF_FIRST_REGRESSION; by <= CF_LAST_RIDGE; by++) {
    const cf_forecast *const f = &e->forecast[by];

    for (int64_t k = 0; k < e->n_labels && f->universes > 0; k++) {
      weir_table_add(c, "%s", cf_evaluation_name(e, 0, (cf_predictor)by));
      weir_table_add(c, "%s", label_of(e, k));
      weir_table_add(c, "%lld", (long long)f->rank);
      weir_table_add(c, "%lld", (long long)f->universes);
      weir_score_add(c, f->factor);
      weir_score_add(c, f->sigma[k] * half_of(e, k));
      weir_score_add(c, f->sigma[k]);
      weir_score_add(c, f->alone[k]);
      weir_score_add(c, CF_MAE_OF_SIGMA * f->sigma[k]);
    }
  }
}

static void put_posterior(weir_table *c, const cf_evaluation *e, int64_t set, int64_t label,
                          const char *score, const weir_estimate *value, int64_t cases)
{
  weir_table_add(c, "%s", e->set[set].opts->name);
  weir_table_add(c, "%s", cf_evaluation_name(e, set, CF_BY_NETWORK));
  weir_table_add(c, "%s", label_of(e, label));
  weir_table_add(c, "%s", score);
  weir_score_add_estimate(c, value, 1);
  weir_table_add(c, "%lld", (long long)cases);
}

/* Calibration by the ranks of a label, or by distance, of all. */
static void add_ranks(cf_score_tables *t, const cf_evaluation *e, int64_t set, int64_t k)
{
  const cf_posterior_scores *const s = &e->posterior[set];
  const bool one = k < s->n_labels;
  const cf_uniformity *const u = &s->test[k];
  const struct {
    const char *name;
    double value;
  } row[] = {{"chi2", u->chi2},
             {"chi2_freedom", (double)u->bins - 1},
             {"chi2_p", u->chi2_p},
             {"ks", u->ks},
             {"ks_p", u->ks_p}};

  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    put_posterior(&t->cells[CF_TABLE_POSTERIOR], e, set, one ? k : CF_ALL_LABELS, row[i].name,
                  &(weir_estimate){row[i].value, NAN, NAN}, s->cases);
  }
  put_posterior(&t->cells[CF_TABLE_POSTERIOR], e, set, one ? k : CF_ALL_LABELS,
                one ? "sd_range" : "area", &(weir_estimate){one ? s->sd[k] : u->area, NAN, NAN},
                one ? s->n : s->cases);
  if (one) {
    put_posterior(&t->cells[CF_TABLE_POSTERIOR], e, set, k, "reduced_chi2",
                  &(weir_estimate){s->square[k], NAN, NAN}, s->n);
  }
  for (int i = 0; i < CF_LEVELS_OF_COVERAGE; i++) {
    const double share = (one ? cf_coverage_central : cf_coverage_lowest)(
        s->rank + k * s->cases, s->cases, s->draws, cf_coverage_level[i]);
    char name[32];

    (void)snprintf(name, sizeof name, "coverage_%g", cf_coverage_level[i]);
    put_posterior(&t->cells[CF_TABLE_POSTERIOR], e, set, one ? k : CF_ALL_LABELS, name,
                  &(weir_estimate){share, NAN, NAN}, s->cases);
  }
}

static void add_posteriors(cf_score_tables *t, const cf_evaluation *e)
{
  weir_table *const c = &t->cells[CF_TABLE_POSTERIOR];

  for (int64_t i = 0; i < e->n_sets; i++) {
    const cf_posterior_scores *const s = &e->posterior[i];

    if (s->n > 0) {
      put_posterior(c, e, i, CF_ALL_LABELS, "log_density_range", &s->log_density, s->n);
      put_posterior(c, e, i, CF_ALL_LABELS, "information_gain", &s->information, s->n);
      put_posterior(c, e, i, CF_ALL_LABELS, "outside", &(weir_estimate){s->outside, NAN, NAN},
                    s->n);
      for (int64_t k = 0; k <= s->n_labels; k++) {
        add_ranks(t, e, i, k);
      }
    }
  }
}

weir_status cf_score_tables_make(const cf_evaluation *e, cf_score_tables *out)
{
  weir_status status = WEIR_OK;

  *out = (cf_score_tables){0};
  for (int64_t i = 0; i < e->n_sets; i++) {
    for (int level = 0; level < CF_LEVELS; level++) {
      for (int by = 0; by < CF_PREDICTORS; by++) {
        WEIR_TRY_GOTO(add_scores(out, e, i, (cf_level)level, (cf_predictor)by), done);
      }
    }
    for (int by = 0; by < CF_BY_MEAN; by++) {
      WEIR_TRY_GOTO(add_bins(out, e, i, (cf_predictor)by), done);
      add_averages(out, e, i, (cf_predictor)by);
    }
  }
  add_bound(out, e);
  add_ridge(out, e);
  add_boosting(out, e);
  add_forecast(out, e);
  add_posteriors(out, e);
done:
  if (status != WEIR_OK) {
    cf_score_tables_fini(out);
  }
  return status;
}

weir_status cf_score_tables_write(const cf_score_tables *t, const char *dir)
{
  for (int k = 0; k < CF_TABLES; k++) {
    if (t->cells[k].count > 0 || t->cells[k].status != WEIR_OK) {
      WEIR_TRY(weir_score_write(&t->cells[k], dir, file[k], head[k]));
    }
  }
  return WEIR_OK;
}

void cf_score_tables_fini(cf_score_tables *t)
{
  for (int k = 0; k < CF_TABLES; k++) {
    weir_table_fini(&t->cells[k]);
  }
  weir_free(&t->row);
}

const cf_score_row *cf_score_tables_find(const cf_score_tables *t, int64_t set, cf_predictor by,
                                         cf_level level, int64_t label)
{
  for (int64_t k = 0; k < t->n_rows; k++) {
    const cf_score_row *const r = &t->row[k];

    if (r->set == set && r->by == by && r->level == level && r->label == label) {
      return r;
    }
  }
  return NULL;
}
