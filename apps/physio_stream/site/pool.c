/* pool.c - reports of several sites about one model, together: a table and a page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "site/model.h"

enum { COLUMNS = 13, MAX_SITES = 1000 };

static const char *const head[COLUMNS] = {"group",
                                          "cell",
                                          "site",
                                          "records",
                                          "tp",
                                          "fn",
                                          "fp",
                                          "se (%)",
                                          "95 % interval",
                                          "+p (%)",
                                          "95 % interval (+p)",
                                          "design effect (se)",
                                          "design effect (+p)"};
static const char *const csv_head[COLUMNS] = {"group",  "cell",    "site",    "records", "tp",
                                              "fn",     "fp",      "se",      "se_95",   "ppv",
                                              "ppv_95", "deff_se", "deff_ppv"};

/* Reports in order of their datasets, and the sums of one cell at a time. */
typedef struct pool {
  const ps_model_report **order;
  int64_t n;
  ps_rate *se, *ppv; /* [n] of the cell at hand, NaN where it is withheld */
  weir_table rows, differences;
} pool;

static int by_dataset(const void *a, const void *b)
{
  return strcmp((*(const ps_model_report *const *)a)->dataset,
                (*(const ps_model_report *const *)b)->dataset);
}

static weir_status check_pair(const ps_model_report *a, const ps_model_report *b)
{
  const bool same = a->n == b->n && a->start <= b->start && a->start >= b->start &&
                    a->window <= b->window && a->window >= b->window;

  if (strcmp(a->benchmark, b->benchmark) != 0 || !same) {
    return weir_fail(WEIR_ERR_DATA, "site merge: benchmarks differ: %.12s and %.12s", a->benchmark,
                     b->benchmark);
  }
  if (strcmp(a->model, b->model) != 0) {
    return weir_fail(WEIR_ERR_DATA, "site merge: models differ: %.12s and %.12s", a->model,
                     b->model);
  }
  if (strcmp(a->dataset, b->dataset) == 0) {
    return weir_fail(WEIR_ERR_DATA, "site merge: the dataset %.12s comes twice", a->dataset);
  }
  for (int64_t i = 0; i < a->n; i++) {
    if (strcmp(a->cells[i].group, b->cells[i].group) != 0 ||
        strcmp(a->cells[i].name, b->cells[i].name) != 0) {
      return weir_fail(WEIR_ERR_DATA, "site merge: the reports of %.12s and %.12s have other cells",
                       a->dataset, b->dataset);
    }
  }
  return WEIR_OK;
}

/* ---- Rows ---- */

static void put_rate(weir_table *t, const ps_rate *r)
{
  weir_table_add_number(t, "%.2f", r->value, "-");
  if (isnan(r->value)) {
    weir_table_add(t, "-");
  } else {
    weir_table_add(t, "%.2f to %.2f", r->lo, r->hi);
  }
}

static void put_row(weir_table *t, const char *site, const ps_cell *c)
{
  const ps_rate se = ps_cell_sensitivity(c), ppv = ps_cell_predictivity(c);

  weir_table_add(t, "%s", c->group);
  weir_table_add(t, "%s", c->name);
  weir_table_add(t, "%s", site);
  if (c->withheld) {
    for (int k = 3; k < COLUMNS; k++) {
      weir_table_add(t, "withheld");
    }
    return;
  }
  weir_table_add(t, "%lld", (long long)c->records);
  weir_table_add(t, "%lld", (long long)c->tp);
  weir_table_add(t, "%lld", (long long)c->fn);
  weir_table_add(t, "%lld", (long long)c->fp);
  put_rate(t, &se);
  put_rate(t, &ppv);
  weir_table_add_number(t, "%.1f", se.design, "-");
  weir_table_add_number(t, "%.1f", ppv.design, "-");
}

static void add(ps_cell *sum, const ps_cell *c)
{
  sum->records += c->records;
  sum->tp += c->tp;
  sum->fn += c->fn;
  sum->fp += c->fp;
  sum->tp_tp += c->tp_tp;
  sum->tp_ref += c->tp_ref;
  sum->ref_ref += c->ref_ref;
  sum->tp_test += c->tp_test;
  sum->test_test += c->test_test;
}

static void put_difference(weir_table *t, const ps_cell *c, const char *what, const ps_rate *rates,
                           int64_t n)
{
  const ps_heterogeneity h = ps_rates_compare(rates, n);

  weir_table_add(t, "%s", c->group);
  weir_table_add(t, "%s", c->name);
  weir_table_add(t, "%s", what);
  weir_table_add(t, "%lld", (long long)h.dof + (h.dof > 0));
  weir_table_add_number(t, "%.2f", h.chi2, "-");
  weir_table_add(t, "%lld", (long long)h.dof);
  weir_table_add_number(t, "%.3g", h.p, "-");
  weir_table_add_number(t, "%.0f", h.i2, "-");
}

/* Sites of one cell, then their pool. */
static void put_cell(pool *p, int64_t cell)
{
  const ps_rate none = {.value = NAN};
  ps_cell sum = {.records = 0};
  char site[16];
  int64_t told = 0;

  (void)snprintf(sum.group, sizeof sum.group, "%s", p->order[0]->cells[cell].group);
  (void)snprintf(sum.name, sizeof sum.name, "%s", p->order[0]->cells[cell].name);
  for (int64_t i = 0; i < p->n; i++) {
    const ps_cell *c = &p->order[i]->cells[cell];

    (void)snprintf(site, sizeof site, "%.12s", p->order[i]->dataset);
    put_row(&p->rows, site, c);
    p->se[i] = c->withheld ? none : ps_cell_sensitivity(c);
    p->ppv[i] = c->withheld ? none : ps_cell_predictivity(c);
    if (!c->withheld) {
      add(&sum, c);
      told++;
    }
  }
  sum.withheld = told == 0;
  put_row(&p->rows, "pooled", &sum);
  put_difference(&p->differences, &sum, "se", p->se, p->n);
  put_difference(&p->differences, &sum, "+p", p->ppv, p->n);
  weir_event("pooled", WEIR_TEXT("group", sum.group), WEIR_TEXT("cell", sum.name),
             WEIR_INT("sites", told), WEIR_INT("records", sum.records), WEIR_INT("tp", sum.tp),
             WEIR_INT("fn", sum.fn), WEIR_INT("fp", sum.fp));
}

/* ---- Page ---- */

static weir_status put_text(const pool *p, weir_report *r)
{
  const ps_model_report *first = p->order[0];

  WEIR_TRY(weir_report_text(
      r,
      "Model %s, evaluated under the benchmark %s by %lld sites on records that did not leave "
      "them. "
      "Beats match within %g s, scored from %g s of each record on (ANSI/AAMI EC57).",
      first->model_name, first->benchmark_name, (long long)p->n, first->window, first->start));
  WEIR_TRY(weir_report_text(
      r,
      "Intervals: 95 %%, Wilson's score interval of effective counts. Beats of one record resemble "
      "each other, so that they count less than independent ones: the design effect is the "
      "variance "
      "over records divided by that of independent beats, and counts are divided by it (Rao and "
      "Scott 1992). Sites send the sums of squares that this needs, never the counts of a record; "
      "a "
      "bootstrap over records would need those."));
  return weir_report_text(
      r,
      "Withheld: cells of fewer than %lld records, or with more than %g %% of the beats in one "
      "record, and further cells where those could be computed from the sum. Pooled figures are of "
      "the cells that are not withheld.",
      (long long)first->min_records, 100 * first->max_share);
}

/* Points with their intervals, one a site, the pool last. */
static weir_status put_figure(const pool *p, weir_report *r)
{
  double *x = NULL, *y = NULL, *ends = NULL, *at = NULL;
  ps_cell sum = {.records = 0};
  int64_t n = 0;
  weir_status status = WEIR_OK;
  weir_figure_series series[MAX_SITES + 2];

  WEIR_TRY(weir_alloc(p->n + 1, sizeof *x, (void **)&x));
  WEIR_TRY_GOTO(weir_alloc(p->n + 1, sizeof *y, (void **)&y), done);
  WEIR_TRY_GOTO(weir_alloc(2 * (p->n + 1), sizeof *ends, (void **)&ends), done);
  WEIR_TRY_GOTO(weir_alloc(2 * (p->n + 1), sizeof *at, (void **)&at), done);
  for (int64_t i = 0; i <= p->n; i++) {
    const ps_cell *c = i < p->n ? &p->order[i]->cells[0] : &sum;
    const ps_rate se = ps_cell_sensitivity(c);

    if (c->withheld || isnan(se.value)) {
      continue;
    }
    if (i < p->n) {
      add(&sum, c);
    }
    x[n] = (double)i + 1;
    y[n] = se.value;
    at[2 * n] = at[2 * n + 1] = x[n];
    ends[2 * n] = se.lo;
    ends[2 * n + 1] = se.hi;
    series[n + 1] = (weir_figure_series){
        .kind = WEIR_FIGURE_LINE, .n = 2, .x = at + 2 * n, .y = ends + 2 * n, .color = 1};
    n++;
  }
  series[0] = (weir_figure_series){
      .kind = WEIR_FIGURE_POINTS, .n = n, .x = x, .y = y, .name = "sensitivity", .color = 1};
  const weir_figure figure = {.title = "Sensitivity of the sites, and pooled (last)",
                              .x_label = "site, in the order of the table",
                              .y_label = "sensitivity (%)",
                              .series = series,
                              .n_series = (int)n + 1};

  status = weir_report_figure(r, "sensitivity", &figure);
done:
  weir_free(&at);
  weir_free(&ends);
  weir_free(&y);
  weir_free(&x);
  return status;
}

static weir_status put_provenance(const pool *p, weir_report *r)
{
  static const char *const columns[] = {"site (dataset)", "program", "approval of the committee",
                                        "approval of the model's owner",
                                        "approval of the data's owner"};
  weir_table t = {0};

  WEIR_TRY(weir_report_text(r, "SHA-256 of the benchmark: %s; of the model: %s.",
                            p->order[0]->benchmark, p->order[0]->model));
  for (int64_t i = 0; i < p->n; i++) {
    weir_table_add(&t, "%s", p->order[i]->dataset);
    weir_table_add(&t, "%s", p->order[i]->program);
    for (int k = 0; k < PS_ROLES; k++) {
      weir_table_add(&t, "%.12s", p->order[i]->approvals[k]);
    }
  }
  const weir_status status = weir_table_report(&t, r, "provenance", 5, columns);

  weir_table_fini(&t);
  return status;
}

static weir_status fill(const pool *p, weir_report *r)
{
  static const char *const columns[] = {"group", "cell", "figure", "sites",
                                        "chi2",  "d.f.", "p",      "I2 (%)"};

  WEIR_TRY(put_text(p, r));
  WEIR_TRY(weir_report_heading(r, "Sensitivity and positive predictivity"));
  WEIR_TRY(weir_table_report(&p->rows, r, "pooled", COLUMNS, head));
  WEIR_TRY(put_figure(p, r));
  WEIR_TRY(weir_report_heading(r, "Differences between sites"));
  WEIR_TRY(weir_report_text(
      r, "Pearson's chi-square test of the effective counts, and I2, the share of the variation "
         "between sites that is not by chance (Higgins and Thompson 2002). Few sites: a large p "
         "does not show that they agree."));
  WEIR_TRY(weir_table_report(&p->differences, r, "heterogeneity", 8, columns));
  WEIR_TRY(weir_report_heading(r, "Provenance"));
  return put_provenance(p, r);
}

weir_status ps_model_merge(const ps_model_report *reports, int64_t n, const char *out)
{
  pool p = {.n = n};
  weir_report *r = NULL;
  weir_status status = WEIR_OK;

  if (n > MAX_SITES) {
    return weir_fail(WEIR_ERR_CONFIG, "site.reports: more than %d reports", MAX_SITES);
  }
  WEIR_TRY(weir_alloc(n, sizeof *p.order, (void **)&p.order));
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p.se, (void **)&p.se), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *p.ppv, (void **)&p.ppv), done);
  for (int64_t i = 0; i < n; i++) {
    p.order[i] = &reports[i];
    for (int64_t k = 0; k < i; k++) {
      WEIR_TRY_GOTO(check_pair(&reports[k], &reports[i]), done);
    }
  }
  qsort(p.order, (size_t)n, sizeof *p.order, by_dataset);
  for (int64_t cell = 0; cell < p.order[0]->n; cell++) {
    put_cell(&p, cell);
  }
  weir_table_print(&p.rows, COLUMNS, csv_head, stdout);
  WEIR_TRY_GOTO(weir_table_write_csv(&p.rows, out, "pooled.csv", COLUMNS, csv_head), done);
  WEIR_TRY_GOTO(weir_report_open(out, "Evaluation of a model at several sites", &r), done);
  status = weir_report_commit(&r, fill(&p, r));
done:
  weir_table_fini(&p.rows);
  weir_table_fini(&p.differences);
  weir_free(&p.ppv);
  weir_free(&p.se);
  weir_free(&p.order);
  return status;
}
