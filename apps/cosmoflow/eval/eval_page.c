/* eval_page.c - see eval_page.h. */
#include "eval/eval_page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "eval/eval_page_priv.h"
#include "eval/posterior/posterior_page.h"

/* A difference of numbers of about `scale` that is their rounding is 0. */
static double tidy(double x, double scale)
{
  return fabs(x) < 1e-12 * scale ? 0 : x;
}

static void put_estimate(weir_table *c, const weir_estimate *e, double scale)
{
  char value[WEIR_AMOUNT_SIZE], lo[WEIR_AMOUNT_SIZE], hi[WEIR_AMOUNT_SIZE];

  if (isnan(e->lo)) {
    weir_table_add_real(c, scale * e->value);
    return;
  }
  weir_table_add(c, "%s (%s to %s)", weir_amount_number(tidy(scale * e->value, 1), value),
                 weir_amount_number(tidy(scale * e->lo, 1), lo),
                 weir_amount_number(tidy(scale * e->hi, 1), hi));
}

/* Of the network: the best regression and the skill relative to it. */
static void put_skill(weir_table *c, const cf_evaluation *e, const cf_score_row *r)
{
  char value[WEIR_AMOUNT_SIZE], lo[WEIR_AMOUNT_SIZE], hi[WEIR_AMOUNT_SIZE];

  if (isnan(r->skill.value)) {
    weir_table_add(c, "-");
    return;
  }
  const char *const name = cf_evaluation_name(e, r->set, r->reference);

  (void)weir_amount_number(100 * r->skill.value, value);
  if (isnan(r->skill.lo)) {
    weir_table_add(c, "%s: %s", name, value);
    return;
  }
  weir_table_add(c, "%s: %s (%s to %s)", name, value, weir_amount_number(100 * r->skill.lo, lo),
                 weir_amount_number(100 * r->skill.hi, hi));
}

enum { SCORE_COLUMNS = 13, ALL_COLUMNS = 7 /* of all parameters */, SET_COLUMNS = 6 };
static const char *const score_head[SCORE_COLUMNS] = {
    "set",
    "parameter",
    "model",
    "level",
    "MAE (half ranges)",
    "MAE skill score relative to the best regression (%)",
    "MAE skill score relative to the mean (%)",
    "MAE",
    "RMSE",
    "relative error (%)",
    "mean bias",
    "R2",
    "slope"};

static int columns_of(int64_t label)
{
  return label == CF_ALL_LABELS ? ALL_COLUMNS : SCORE_COLUMNS;
}

/* Adds the rows of a label, all models, then the bound. */
static void score_cells(const cf_evaluation *e, const cf_score_tables *t, int64_t label,
                        weir_table *c)
{
  for (int64_t k = 0; k < t->n_rows; k++) {
    const cf_score_row *const r = &t->row[k];
    const bool one = label != CF_ALL_LABELS;

    if (r->label != label) {
      continue;
    }
    weir_table_add(c, "%s", e->set[r->set].opts->name);
    weir_table_add(c, "%s", one ? e->set[0].p->label[label] : "all");
    weir_table_add(c, "%s", cf_evaluation_name(e, r->set, r->by));
    weir_table_add(c, r->level == CF_BY_SAMPLE ? "samples" : "universe means");
    put_estimate(c, &r->score[CF_MAE], 1 / r->half);
    put_skill(c, e, r);
    put_estimate(c, &r->skill_mean, 100);
    if (one) {
      weir_table_add_real(c, tidy(r->score[CF_MAE].value, r->half));
      weir_table_add_real(c, tidy(r->score[CF_RMSE].value, r->half));
      weir_table_add_real(c, 100 * r->score[CF_RELATIVE].value);
      weir_table_add_real(c, tidy(r->score[CF_BIAS].value, r->half));
      weir_table_add_real(c, tidy(r->score[CF_R2].value, 1));
      weir_table_add_real(c, tidy(r->score[CF_SLOPE].value, 1));
    }
  }
  if (label != CF_ALL_LABELS && e->sigma != NULL) {
    const double half = 0.5 * (e->set[0].p->hi[label] - e->set[0].p->lo[label]);
    double mae, rmse;

    cf_score_bound(e, label, &mae, &rmse);
    weir_table_add(c, "%s", e->set[0].opts->name);
    weir_table_add(c, "%s", e->set[0].p->label[label]);
    weir_table_add(c, "Fisher (Cramer-Rao) bound, linear P(k)");
    weir_table_add(c, "samples");
    weir_table_add_real(c, mae / half);
    weir_table_add(c, "-");
    weir_table_add(c, "-");
    weir_table_add_real(c, mae);
    weir_table_add_real(c, rmse);
    for (int i = 9; i < SCORE_COLUMNS; i++) {
      weir_table_add(c, "-");
    }
  }
}

static weir_status add_scores(const cf_evaluation *e, const cf_score_tables *t, int64_t label,
                              weir_report *r)
{
  weir_table c = {0};
  char name[64];

  score_cells(e, t, label, &c);
  (void)snprintf(name, sizeof name, label == CF_ALL_LABELS ? "scores_all" : "scores_%lld",
                 (long long)label + 1);
  const weir_status status = weir_table_report(&c, r, name, columns_of(label), score_head);

  printf("\n%s\n", label == CF_ALL_LABELS ? "all parameters" : e->set[0].p->label[label]);
  weir_table_print(&c, columns_of(label), score_head, stdout);
  weir_table_fini(&c);
  return status;
}

/* Adds the errors of each model on the other sets. */
static weir_status add_sets(const cf_evaluation *e, const cf_score_tables *t, weir_report *r)
{
  static const char *const columns[SET_COLUMNS] = {"set",
                                                   "model",
                                                   "parameter",
                                                   "MAE (half ranges)",
                                                   "relative to the first set",
                                                   "mean bias (half ranges)"};
  weir_table c = {0};

  if (e->n_sets < 2) {
    return WEIR_OK;
  }
  for (int64_t k = 0; k < t->n_rows; k++) {
    const cf_score_row *const row = &t->row[k];
    const cf_score_row *const first = cf_score_tables_find(t, 0, row->by, CF_BY_SAMPLE, row->label);

    if (row->level != CF_BY_SAMPLE || row->by == CF_BY_MEAN || first == NULL) {
      continue;
    }
    weir_table_add(&c, "%s", e->set[row->set].opts->name);
    weir_table_add(&c, "%s", cf_evaluation_name(e, row->set, row->by));
    weir_table_add(&c, "%s", row->label < 0 ? "all" : e->set[0].p->label[row->label]);
    put_estimate(&c, &row->score[CF_MAE], 1 / row->half);
    weir_table_add_real(&c, row->score[CF_MAE].value / first->score[CF_MAE].value);
    weir_table_add_real(&c, tidy(row->score[CF_BIAS].value / row->half, 1));
  }
  weir_status status = weir_report_heading(r, "Other evaluation sets");

  status = status == WEIR_OK
               ? weir_report_text(r,
                                  "Out-of-distribution test: nothing was fitted on these sets; all "
                                  "models were trained on %s.",
                                  e->set[0].opts->name)
               : status;
  status = status == WEIR_OK ? weir_table_report(&c, r, "sets", SET_COLUMNS, columns) : status;
  weir_table_fini(&c);
  return status;
}

/* Adds what the regressions on other summary statistics are on. */
static weir_status add_regressions(const cf_evaluation *e, weir_report *r)
{
  static const char *const what[CF_SUMMARIES + 1] = {
      [CF_SUMMARY_ONE_POINT] = "shares of voxels by ln(1 + delta)",
      [CF_SUMMARY_PEAKS] = "peak counts by height ln(1 + delta)",
      [CF_SUMMARY_BISPECTRUM] = ("asinh(B / voxel^6) of the bispectrum B, of samples taken as "
                                 "periodic like P(k)"),
      [CF_SUMMARY_MULTIPOLES] = ("log10 P_0, P_2 / P_0 and P_4 / P_0 about the line of sight, of "
                                 "samples taken as periodic"),
      [CF_SUMMARY_SCATTERING] = ("log10 of wavelet scattering coefficients, of samples taken as "
                                 "periodic"),
      [CF_SUMMARIES] = "P(k), the moments and all other summaries together"};
  const cf_boosting_opts *const o = &e->opts->boosting;
  bool counts = false;

  for (int by = CF_BY_SUMMARIES; by <= CF_BY_ALL; by++) {
    if (e->n_features[by] > 0) {
      WEIR_TRY(weir_report_text(r, "%s: the same regression on %s (%lld features).",
                                cf_evaluation_name(e, 0, (cf_predictor)by),
                                what[by - CF_BY_SUMMARIES], (long long)e->n_features[by]));
      counts |= by < CF_BY_SUMMARIES + CF_SUMMARY_BISPECTRUM || by == CF_BY_ALL;
    }
  }
  if (o->rounds > 0) {
    WEIR_TRY(weir_report_text(
        r,
        "boosting: regression trees of %lld levels on what the regression of the same name is on, "
        "each fitted to the residuals of those before on a share of %g of the samples and added "
        "with a factor of %g; their number, %lld at most, is chosen by cross-validation.",
        (long long)o->depth, o->subsample, o->shrinkage, (long long)o->rounds));
  }
  return !counts
             ? WEIR_OK
             : weir_report_text(r, "Smoothing and peaks: samples are %s.",
                                e->periodic
                                    ? "periodic"
                                    : "cut from a box, or not known to be a whole one, and are not "
                                      "continued beyond their faces");
}

/* Writes of set `set`, in a sentence, whether its network is better than the best regression.
 * False: there is no regression, or no skill. */
static bool compare(const cf_evaluation *e, const cf_score_tables *t, int64_t set, char *text,
                    size_t size)
{
  const cf_score_row *const r =
      cf_score_tables_find(t, set, CF_BY_NETWORK, CF_BY_SAMPLE, CF_ALL_LABELS);
  const cf_score_row *const other =
      r == NULL || r->reference == CF_BY_MEAN
          ? NULL
          : cf_score_tables_find(t, set, r->reference, CF_BY_SAMPLE, CF_ALL_LABELS);
  int64_t regressions = 0;
  char network[WEIR_AMOUNT_SIZE], best[WEIR_AMOUNT_SIZE];

  if (other == NULL || isnan(r->skill.value)) {
    return false;
  }
  for (int64_t k = 0; k < t->n_rows; k++) {
    const cf_score_row *const row = &t->row[k];

    regressions += row->set == set && row->label == CF_ALL_LABELS && row->level == CF_BY_SAMPLE &&
                   row->by != CF_BY_NETWORK && row->by != CF_BY_MEAN;
  }
  const bool sure = r->skill.lo > 0 || r->skill.hi < 0;
  const char *const verdict = r->skill.hi < 0       ? "has a larger error than"
                              : r->skill.value <= 0 ? "does not beat"
                              : sure                ? "beats"
                                                    : "has a smaller error than";

  (void)snprintf(
      text, size,
      "%s: the network %s the best of %lld regressions on summary statistics, %s, on the same %lld "
      "universes: mean absolute error %s, theirs %s (in half ranges of the parameters, where "
      "predicting the centre has 0.5); MAE skill score "
      "%.1f %% (%.1f to %.1f)%s.",
      e->set[set].opts->name, verdict, (long long)regressions,
      cf_evaluation_name(e, set, r->reference), (long long)r->universes,
      weir_amount_number(r->score[CF_MAE].value, network),
      weir_amount_number(other->score[CF_MAE].value, best), 100 * r->skill.value, 100 * r->skill.lo,
      100 * r->skill.hi,
      sure                 ? ""
      : isnan(r->skill.lo) ? ", without an interval: too few test universes"
                           : ", which includes 0: the difference is not significant with so few "
                             "test universes");
  return true;
}

/* Appends the mean absolute errors of the network of set `set` for the labels whose range is known.
 */
static void add_errors(const cf_evaluation *e, const cf_score_tables *t, int64_t set, char *text,
                       size_t size)
{
  const cf_predictions *const p = e->set[set].p;
  const char *before = " In units of the parameters: ";
  char amount[WEIR_AMOUNT_SIZE];

  for (int64_t k = 0; k < e->n_labels; k++) {
    const cf_score_row *const r = cf_score_tables_find(t, set, CF_BY_NETWORK, CF_BY_SAMPLE, k);
    const size_t used = strlen(text);

    if (r != NULL && cf_predictions_ranged(p, k)) {
      (void)snprintf(text + used, size - used, "%s%s %s (range %.4g to %.4g)", before, p->label[k],
                     weir_amount_number(r->score[CF_MAE].value, amount), p->lo[k], p->hi[k]);
      before = ", ";
    }
  }
  if (before[0] == ',') {
    const size_t used = strlen(text);

    (void)snprintf(text + used, size - used, ".");
  }
}

/* Adds the sentences of each set, and prints them. */
static weir_status add_comparison(const cf_evaluation *e, const cf_score_tables *t, weir_report *r)
{
  char text[1024];

  for (int64_t i = 0; i < e->n_sets; i++) {
    if (compare(e, t, i, text, sizeof text)) {
      add_errors(e, t, i, text, sizeof text);
      printf("%s\n", text);
      WEIR_TRY(weir_report_text(r, "%s", text));
    }
  }
  return WEIR_OK;
}

static weir_status add_summary(const cf_evaluation *e, weir_report *r)
{
  const cf_bootstrap_opts *const o = &e->opts->bootstrap;
  char normalised[CF_MAX_LABELS * (CF_MAX_NAME + 2)];

  for (int64_t i = 0; i < e->n_sets; i++) {
    const cf_eval_set *const t = &e->set[i];

    WEIR_TRY(weir_report_text(r,
                              "%s: %lld samples of %lld universes of subset %s, predicted by "
                              "%s: %s%s%s",
                              t->opts->name, (long long)t->level[CF_BY_SAMPLE].n,
                              (long long)t->groups, cf_subset_name[e->opts->part], t->p->model,
                              t->opts->predictions, t->p->source[0] != 0 ? "; " : "",
                              t->p->source));
  }
  WEIR_TRY(weir_report_text(
      r,
      "Errors are predicted minus true, in the units of the parameter or in half ranges, where the "
      "prior range is [-1, 1]: predicting its centre then has a mean absolute error (MAE) of 0.5 "
      "and a mean squared error of 1/3. Slope: regression of predictions on the truth (1: "
      "unbiased; 0: no information). Intervals: %g %% of %lld bootstrap resamples of universes, "
      "since samples of one universe are correlated. MAE skill score: reduction of the MAE "
      "relative "
      "to the regression that has the lowest MAE in the same row, which is named, and relative to "
      "the mean predictor.",
      100 * o->confidence, (long long)o->resamples));
  cf_predictions_normalised(e->set[0].p, normalised, sizeof normalised);
  if (normalised[0] != 0) {
    WEIR_TRY(weir_report_text(
        r,
        "%s: normalised, ranges unknown. The parameter values at labels -1 and 1 are not known: "
        "errors are in units of the labels, [-1, 1], and relative errors are not computed.",
        normalised));
  }
  if (e->sigma != NULL) {
    WEIR_TRY(weir_report_text(
        r,
        "Fisher bound: of the linear P(k) of a periodic box of side %g Mpc/h, without noise, up to "
        "k = %.4g h/Mpc (%lld bins one fundamental wave wide; eval.features.reach %g, as the "
        "regressions).",
        e->opts->fisher.box, e->bound_k, (long long)e->bound_bins, e->opts->features.reach));
  }
  if (e->without != NULL) {
    return weir_report_text(r, "Regression on P(k) not computed: %s.", e->without);
  }
  WEIR_TRY(weir_report_text(
      r,
      "Ridge regression: linear in log P(k), fitted to %lld training universes (%lld features; "
      "%lld "
      "with moments of log(1 + n)); the penalty of each label is chosen by %lld-fold "
      "cross-validation over universes. Mean: of the labels of the training universes.",
      (long long)e->ridge[CF_BY_RIDGE].groups, (long long)e->n_features[CF_BY_RIDGE],
      (long long)e->n_features[CF_BY_MOMENTS], (long long)e->ridge[CF_BY_RIDGE].folds));
  return add_regressions(e, r);
}

/* Adds the forecast from the summaries of each regression. */
static weir_status add_forecast(const cf_evaluation *e, weir_report *r)
{
  enum { COLUMNS = 7 };
  static const char *const head[COLUMNS] = {
      "summaries of", "parameter",           "independent summaries",          "Hartlap factor",
      "sigma",        "sigma (half ranges)", "MAE of this sigma (half ranges)"};
  weir_table c = {0};

  for (int by = CF_FIRST_REGRESSION; by <= CF_LAST_RIDGE; by++) {
    const cf_forecast *const f = &e->forecast[by];

    for (int64_t k = 0; k < e->n_labels && f->universes > 0; k++) {
      weir_table_add(&c, "%s", cf_evaluation_name(e, 0, (cf_predictor)by));
      weir_table_add(&c, "%s", e->set[0].p->label[k]);
      weir_table_add(&c, "%lld", (long long)f->rank);
      weir_table_add_real(&c, f->factor);
      weir_table_add_real(&c, f->sigma[k] * 0.5 * (e->set[0].p->hi[k] - e->set[0].p->lo[k]));
      weir_table_add_real(&c, f->sigma[k]);
      weir_table_add_real(&c, CF_MAE_OF_SIGMA * f->sigma[k]);
    }
  }
  if (c.count == 0) {
    return WEIR_OK;
  }
  weir_status status = weir_report_heading(r, "Fisher forecast");

  status =
      status == WEIR_OK
          ? weir_report_text(
                r,
                "F = h D' C^-1 D - m X^-1 at the mean of the parameters of %lld training "
                "universes, one sample each: D from the linear regression of m summaries on the "
                "parameters, whose scatter is X, C from its residuals, h the factor of Hartlap et "
                "al. (2007). sigma is marginal, with the variance of the range as a prior. What "
                "is not linear in the parameters counts as scatter: of wide ranges sigma is too "
                "large, and estimators that are not linear may be better.",
                (long long)e->forecast[CF_BY_RIDGE].universes)
          : status;
  status = status == WEIR_OK ? weir_table_report(&c, r, "forecast", COLUMNS, head) : status;
  printf("\nFisher forecast\n");
  weir_table_print(&c, COLUMNS, head, stdout);
  weir_table_fini(&c);
  return status;
}

static weir_status fill(const cf_evaluation *e, const cf_score_tables *t, weir_report *r)
{
  WEIR_TRY(add_comparison(e, t, r));
  WEIR_TRY(add_summary(e, r));
  WEIR_TRY(weir_report_heading(r, "All parameters"));
  WEIR_TRY(add_scores(e, t, CF_ALL_LABELS, r));
  for (int64_t k = 0; k < e->n_labels; k++) {
    char name[CF_MAX_NAME + 40];

    (void)snprintf(name, sizeof name, "%s%s", e->set[0].p->label[k],
                   cf_predictions_ranged(e->set[0].p, k) ? "" : " (normalised, range unknown)");
    WEIR_TRY(weir_report_heading(r, name));
    WEIR_TRY(add_scores(e, t, k, r));
    WEIR_TRY(cf_eval_figures(e, k, r));
  }
  WEIR_TRY(cf_posterior_page_add(e, r));
  WEIR_TRY(add_forecast(e, r));
  return add_sets(e, t, r);
}

weir_status cf_eval_page_write(const cf_evaluation *e, const cf_score_tables *t, const char *dir)
{
  weir_report *r = NULL;

  WEIR_TRY(weir_report_open(dir, "cosmoflow: evaluation of predictions", &r));
  weir_report_fact(r, "seed", "%llu", (unsigned long long)e->seed);
  weir_report_fact(r, "subset", "%s", cf_subset_name[e->opts->part]);
  return weir_report_commit(&r, fill(e, t, r));
}
