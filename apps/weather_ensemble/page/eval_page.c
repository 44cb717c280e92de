/* eval_page.c - see eval_page.h. */
#include "page/eval_page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "eval/score/score_maps.h"
#include "page/eval_page_priv.h"

enum { DAY = 86400 };

weir_status wx_eval_page_create(const wx_verify *v, const wx_score_tables *tables,
                                const wx_strata *strata, const wx_remarks *remarks,
                                wx_eval_page **out)
{
  WEIR_TRY(weir_alloc(1, sizeof **out, (void **)out));
  (*out)->v = v;
  (*out)->tables = tables;
  (*out)->strata = strata;
  (*out)->remarks = remarks;
  return WEIR_OK;
}

void wx_eval_page_destroy(wx_eval_page **p)
{
  if (*p == NULL) {
    return;
  }
  for (int64_t k = 0; k < (*p)->n; k++) {
    wx_page_quantity *const q = &(*p)->item[k];

    for (int m = 0; m < WX_MODELS; m++) {
      weir_free(&q->skill[m]);
      weir_free(&q->block[m]);
      weir_free(&q->band[m]);
    }
    wx_case_study_fini(&q->study);
  }
  weir_free(&(*p)->item);
  weir_free(p);
}

/* Intervals of the frequencies that events came with, where a forecast said a probability. */
static weir_status keep_bands(const wx_verify *v, wx_page_quantity *q)
{
  const wx_bootstrap_opts *const o = &v->opts->bootstrap;
  wx_resamples r = {.n = 0};
  int64_t block;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_block_length(v->time, v->n_init_times, o->block, &block));
  WEIR_TRY(wx_resamples_create(o, v->seed + (uint64_t)o->seed, block, v->n_init_times, &r));
  for (int64_t m = 0; m < v->n_models; m++) {
    const wx_score_sums *const t = &v->score_sums[m];
    const int64_t n = t->n_events * t->bins;

    if (v->model[m].absent) {
      continue;
    }
    WEIR_TRY_GOTO(weir_alloc(2 * n, sizeof(double), (void **)&q->band[m]), done);
    for (int64_t k = 0; k < n; k++) {
      weir_estimate e;

      WEIR_TRY_GOTO(wx_score_bin(t, 0, k / t->bins, k % t->bins, o, &r, &e), done);
      q->band[m][2 * k] = e.lo;
      q->band[m][2 * k + 1] = e.hi;
    }
  }
done:
  wx_resamples_fini(&r);
  return status;
}

weir_status wx_eval_page_add(wx_eval_page *p, wx_case_study *study)
{
  const wx_verify *const v = p->v;
  const int64_t cells = v->data->cells;

  WEIR_TRY(weir_reserve(&p->item, &p->item_capacity, p->n + 1, sizeof *p->item));
  wx_page_quantity *const q = &p->item[p->n++];

  *q = (wx_page_quantity){.quantity = v->at_quantity, .lead = v->at_lead, .study = *study};
  memset(study, 0, sizeof *study);
  for (int64_t m = 0; m < v->n_models; m++) {
    const size_t size = (size_t)v->score_sums[m].at.size;

    if (v->model[m].absent) {
      continue;
    }
    WEIR_TRY(weir_alloc((int64_t)size, sizeof(double), (void **)&q->block[m]));
    memcpy(q->block[m], wx_score_sums_total(&v->score_sums[m], 0, WX_BY_AREA),
           size * sizeof(double));
    if (m != v->reference[0]) {
      WEIR_TRY(weir_alloc(cells, sizeof(double), (void **)&q->skill[m]));
      wx_score_map_get(v, m, WX_SCORE_MAP_SKILL, q->skill[m]);
    }
  }
  return keep_bands(v, q);
}

void wx_eval_put_estimate(weir_table *c, const weir_estimate *e, double scale)
{
  char lo[32], hi[32];

  if (isnan(e->lo)) {
    weir_table_add_real(c, scale * e->value);
    return;
  }
  (void)snprintf(lo, sizeof lo, "%.4g", scale * e->lo);
  (void)snprintf(hi, sizeof hi, "%.4g", scale * e->hi);
  weir_table_add(c, "%.4g (%s to %s)", scale * e->value, lo, hi);
}

static const char *const score_head[] = {"lead (h)",       "model",       "CRPS", "fair CRPS",
                                         "Gaussian CRPS",  "bias",        "RMSE", "spread",
                                         "spread / error", "init. times", "n_eff"};
enum { SCORE_COLUMNS = 11, SKILL_COLUMNS = 6 };
static const char *const skill_head[] = {
    "lead (h)", "model", "reference", "CRPS difference", "CRPS skill score (%)", "p"};

/* Smaller probabilities say no more. */
#define MIN_P 1e-4

/* What rounding leaves of a bias that was subtracted is none. */
static void put_bias(weir_table *c, const wx_score_row *row)
{
  const double bias = row->score[WX_BIAS].value;

  weir_table_add_real(c, fabs(bias) < 1e-6 * row->score[WX_RMSE].value ? 0 : bias);
}

/* Rows of a quantity; lead < 0: of all leads. */
static void score_cells(const wx_eval_page *p, int64_t quantity, weir_table *c)
{
  for (int64_t k = 0; k < p->tables->n_rows; k++) {
    const wx_score_row *const row = &p->tables->row[k];

    if (row->quantity != quantity) {
      continue;
    }
    weir_table_add(c, "%g", p->v->data->facts->lead[row->lead]);
    weir_table_add(c, "%s", p->v->model[row->model].name);
    wx_eval_put_estimate(c, &row->score[WX_CRPS], 1);
    weir_table_add_real(c, row->score[WX_CRPS_FAIR].value);
    wx_eval_put_estimate(c, &row->score[WX_CRPS_GAUSS], 1);
    put_bias(c, row);
    weir_table_add_real(c, row->score[WX_RMSE].value);
    weir_table_add_real(c, row->score[WX_SPREAD].value);
    wx_eval_put_estimate(c, &row->score[WX_SSR], 1);
    weir_table_add(c, "%lld", (long long)row->n);
    weir_table_add(c, "%.1f", row->n_eff);
  }
}

static void skill_cells(const wx_eval_page *p, int64_t quantity, weir_table *c)
{
  const wx_verify *const v = p->v;

  for (int64_t k = 0; k < p->tables->n_rows; k++) {
    const wx_score_row *const row = &p->tables->row[k];

    for (int64_t r = 0; r < v->n_references && row->quantity == quantity; r++) {
      const wx_comparison *const a = &row->against[r][WX_COMPARED_CRPS_GAUSS];

      if (v->reference[r] == row->model || isnan(a->difference.value)) {
        continue;
      }
      weir_table_add(c, "%g", v->data->facts->lead[row->lead]);
      weir_table_add(c, "%s", v->model[row->model].name);
      weir_table_add(c, "%s", v->model[v->reference[r]].name);
      wx_eval_put_estimate(c, &a->difference, 1);
      wx_eval_put_estimate(c, &a->skill, 100);
      if (a->test.p < MIN_P) {
        weir_table_add(c, "< %g", MIN_P);
      } else {
        weir_table_add_real(c, a->test.p);
      }
    }
  }
}

typedef void (*fill_cells)(const wx_eval_page *p, int64_t quantity, weir_table *c);

static weir_status add_table(const wx_eval_page *p, int64_t quantity, const char *what,
                             fill_cells fill, int columns, const char *const *head, weir_report *r)
{
  weir_table c = {0};
  char name[128];
  weir_status status = WEIR_OK;

  fill(p, quantity, &c);
  wx_eval_name(name, sizeof name, what, p->v->data->facts->quantity[quantity].name, "");
  if (c.count > 0) {
    status = weir_table_report(&c, r, name, columns, head);
    printf("\n%s\n", name);
    weir_table_print(&c, columns, head, stdout);
  }
  weir_table_fini(&c);
  return status;
}

/* A score of every model over the leads, with its interval. */
static weir_status add_lines(const wx_eval_page *p, int64_t quantity, int score, const char *what,
                             const char *title, weir_report *r)
{
  const wx_verify *const v = p->v;
  const wx_quantity *const q = &v->data->facts->quantity[quantity];
  weir_figure_series line[WX_MODELS];
  const int64_t n = v->n_leads;
  double *scratch = NULL;
  char name[128], label[64];
  int lines = 0;

  WEIR_TRY(weir_alloc(4 * n * v->n_models, sizeof *scratch, (void **)&scratch));
  for (int64_t m = 0; m < v->n_models; m++) {
    double *const x = scratch + 4 * n * m, *const y = x + n, *const lo = y + n, *const hi = lo + n;

    if (wx_eval_is_far(p, quantity, m)) {
      continue;
    }
    for (int64_t l = 0; l < n; l++) {
      const wx_score_row *const row = wx_score_tables_find(p->tables, quantity, v->lead[l], m);

      x[l] = v->data->facts->lead[v->lead[l]];
      y[l] = row != NULL ? row->score[score].value : NAN;
      lo[l] = row != NULL ? row->score[score].lo : NAN;
      hi[l] = row != NULL ? row->score[score].hi : NAN;
    }
    line[lines++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                         .name = v->model[m].name,
                                         .n = n,
                                         .x = x,
                                         .y = y,
                                         .lo = lo,
                                         .hi = hi,
                                         .color = (int)m + 1};
  }
  wx_eval_name(name, sizeof name, what, q->name, "");
  if (score == WX_SSR) {
    (void)snprintf(label, sizeof label, "spread / error");
  } else {
    (void)snprintf(label, sizeof label, "%s (%s)",
                   score == WX_CRPS_GAUSS ? "Gaussian CRPS"
                   : score == WX_RMSE     ? "RMSE"
                                          : "spread",
                   q->units);
  }
  const weir_status status = weir_report_figure(r, name,
                                                &(weir_figure){.title = title,
                                                               .x_label = "lead (h)",
                                                               .y_label = label,
                                                               .series = line,
                                                               .n_series = lines});

  weir_free(&scratch);
  return status;
}

static weir_status add_quantity(const wx_eval_page *p, int64_t quantity, weir_report *r)
{
  const wx_quantity *const q = &p->v->data->facts->quantity[quantity];

  WEIR_TRY(weir_report_heading(r, q->name));
  WEIR_TRY(
      weir_report_text(r, "Units: %s. %s", q->units, wx_grid_weighting(&p->v->data->facts->grid)));
  WEIR_TRY(add_table(p, quantity, "scores", score_cells, SCORE_COLUMNS, score_head, r));
  WEIR_TRY(add_table(p, quantity, "skill", skill_cells, SKILL_COLUMNS, skill_head, r));
  for (int64_t m = 0; m < p->v->n_models; m++) {
    if (wx_eval_is_far(p, quantity, m)) {
      WEIR_TRY(weir_report_text(r,
                                "%s is not drawn: its CRPS exceeds %g times that of %s "
                                "(eval.figure_limit).",
                                p->v->model[m].name, p->v->opts->figure_limit,
                                p->v->model[p->v->reference[0]].name));
    }
  }
  if (p->v->n_leads > 1) {
    WEIR_TRY(add_lines(p, quantity, WX_CRPS_GAUSS, "crps", "Gaussian CRPS", r));
    WEIR_TRY(
        add_lines(p, quantity, WX_RMSE, "rmse", "Root mean square error of the ensemble mean", r));
    WEIR_TRY(add_lines(p, quantity, WX_SPREAD, "spread", "Ensemble spread", r));
    WEIR_TRY(
        add_lines(p, quantity, WX_SSR, "ssr", "Spread-error ratio (1: spread matches error)", r));
  }
  for (int64_t k = 0; k < p->n; k++) {
    if (p->item[k].quantity == quantity) {
      WEIR_TRY(wx_eval_figures(p, &p->item[k], r));
      WEIR_TRY(wx_eval_case(p, &p->item[k], r));
    }
  }
  return WEIR_OK;
}

static weir_status add_summary(const wx_eval_page *p, weir_report *r)
{
  const wx_verify *const v = p->v;
  const wx_bootstrap_opts *const o = &v->opts->bootstrap;
  char first[WX_SHORT], last[WX_SHORT];
  int64_t block;

  WEIR_TRY(wx_block_length(v->time, v->n_init_times, o->block, &block));
  wx_date_text((double)v->time[0] / DAY, first, sizeof first);
  wx_date_text((double)v->time[v->n_init_times - 1] / DAY, last, sizeof last);
  WEIR_TRY(weir_report_text(
      r,
      "Forecasts of %s against %s: %lld initialisation times from %s to %s, the same points for "
      "all models. "
      "Intervals: %g %% of %lld moving-block bootstrap resamples with blocks of %lld "
      "initialisation times. "
      "n_eff: effective number of independent initialisation times, from the lag-1 "
      "autocorrelation. Grey bands "
      "of rank and PIT histograms: 95 %% of what n_eff independent cases scatter by, the points "
      "of an initialisation time taken as one case.",
      v->data->facts->name, v->data->truth_facts->name, (long long)v->n_init_times, first, last,
      100 * o->confidence, (long long)o->resamples, (long long)block));
  return weir_report_text(
      r,
      "CRPS: of the ensemble members, or of the distribution that the model predicts; fair CRPS: "
      "the value expected for infinitely many such members; Gaussian CRPS: of a normal "
      "distribution with their mean and standard deviation. Compare models by one estimator only. "
      "Differences and skill scores use the Gaussian CRPS; p: Diebold-Mariano test.");
}

/* The scorecard of one score and the first reference; others are on its own page. */
static weir_status add_scorecard(const wx_eval_page *p, weir_report *r)
{
  if (p->v->n_models < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_report_heading(r, "Scorecard"));
  WEIR_TRY(wx_eval_scorecard_legend(p, r));
  WEIR_TRY(wx_eval_scorecard_table(p, 0, WX_COMPARED_CRPS_GAUSS, r));
  WEIR_TRY(weir_report_link(r, "scorecard.html", "Scorecard of all scores and references"));
  return weir_report_link(r, "seasons.html", "Skill by season and window of lead times");
}

/* What the scores say, before all tables. */
static weir_status add_verdicts(const wx_eval_page *p, weir_report *r)
{
  char text[WX_VERDICT_SIZE];

  for (int64_t q = 0; q < p->v->n_quantities; q++) {
    wx_eval_verdict(p, p->v->quantity[q], text, sizeof text);
    if (text[0] != 0) {
      WEIR_TRY(weir_report_text(r, "%s", text));
    }
  }
  return WEIR_OK;
}

static void print_verdicts(const wx_eval_page *p)
{
  char text[WX_VERDICT_SIZE];

  printf("\n");
  for (int64_t q = 0; q < p->v->n_quantities; q++) {
    wx_eval_verdict(p, p->v->quantity[q], text, sizeof text);
    if (text[0] != 0) {
      printf("%s\n", text);
    }
  }
}

static weir_status fill(const wx_eval_page *p, weir_report *r)
{
  WEIR_TRY(add_verdicts(p, r));
  WEIR_TRY(add_summary(p, r));
  WEIR_TRY(add_scorecard(p, r));
  if (p->remarks->n > 0) {
    WEIR_TRY(weir_report_heading(r, "Coverage"));
  }
  for (int64_t k = 0; k < p->remarks->n; k++) {
    WEIR_TRY(weir_report_text(r, "%s.", p->remarks->text[k]));
  }
  for (int64_t q = 0; q < p->v->n_quantities; q++) {
    WEIR_TRY(add_quantity(p, p->v->quantity[q], r));
  }
  return wx_eval_joint(p, r);
}

weir_status wx_eval_page_write(wx_eval_page *p, const char *dir)
{
  weir_report *r = NULL;

  WEIR_TRY(wx_eval_scorecard_write(p, dir));
  WEIR_TRY(wx_eval_seasons_write(p, dir));
  WEIR_TRY(weir_report_open(dir, "weather_ensemble: forecast verification", &r));
  wx_eval_facts(p, r);
  WEIR_TRY(weir_report_commit(&r, fill(p, r)));
  print_verdicts(p);
  return WEIR_OK;
}
