/* eval_page_figures.c - figures of one quantity at one lead, and the case. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "eval/crps.h"
#include "eval_page_priv.h"

enum { DAY = 86400, NAME = 128, TITLE = 192 };

/* Ends of the colours: a hundredth of the values lies beyond each, so that a few points do not
 * bleach the others. */
static weir_status find_ends(const double *value, int64_t n, bool diverging, double *lo, double *hi)
{
  double *sorted = NULL;
  int64_t m = 0;

  *lo = *hi = 0;
  WEIR_TRY(weir_alloc(n, sizeof *sorted, (void **)&sorted));
  for (int64_t i = 0; i < n; i++) {
    if (isfinite(value[i])) {
      sorted[m++] = value[i];
    }
  }
  wx_sort(sorted, m);
  if (m > 0) {
    *lo = sorted[(m - 1) / 100];
    *hi = sorted[(m - 1) - (m - 1) / 100];
  }
  if (diverging) {
    *hi = fmax(fabs(*lo), fabs(*hi));
    *lo = -*hi;
  }
  weir_free(&sorted);
  return WEIR_OK;
}

weir_status wx_eval_map(const wx_eval_page *p, weir_report *r, const char *name, const char *title,
                        const char *unit, const double *value, bool diverging)
{
  const wx_grid *const g = &p->v->scene->facts->grid;
  char x[64], y[64];
  double lo, hi;

  if (g->kind == WX_GRID_SITES) {
    return WEIR_OK; /* sites make no map */
  }
  WEIR_TRY(find_ends(value, p->v->scene->cells, diverging, &lo, &hi));
  (void)snprintf(x, sizeof x, "%s (%s)", g->kind == WX_GRID_PLANE ? "x" : "longitude", g->units[1]);
  (void)snprintf(y, sizeof y, "%s (%s)", g->kind == WX_GRID_PLANE ? "y" : "latitude", g->units[0]);
  return weir_report_map(r, name,
                         &(weir_map){.title = title,
                                     .x_label = x,
                                     .y_label = y,
                                     .unit = unit,
                                     .rows = g->n_lat,
                                     .columns = g->n_lon,
                                     .x = g->lon,
                                     .y = g->lat,
                                     .value = value,
                                     .lo = lo,
                                     .hi = hi,
                                     .diverging = diverging});
}

static const char *name_of(const wx_eval_page *p, const wx_page_quantity *q)
{
  return p->v->scene->facts->quantity[q->quantity].name;
}

/* Maps of skill beside the first reference, in percent. */
static weir_status add_skill_maps(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  const wx_verify *const v = p->v;
  char name[NAME], title[TITLE], where[64];

  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->skill[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    for (int64_t i = 0; i < v->scene->cells; i++) {
      q->skill[m][i] *= 100;
    }
    (void)snprintf(title, sizeof title, "Gain of CRPS, %s beside %s: %s", v->model[m].name,
                   v->model[v->reference[0]].name, where);
    wx_eval_name(name, sizeof name, "gain", name_of(p, q), v->model[m].name);
    WEIR_TRY(wx_eval_map(p, r, name, title, "%", q->skill[m], true));
  }
  return WEIR_OK;
}

/* Shares of a histogram of `bins` counts at `count`, as a figure. */
static weir_status add_histogram(weir_report *r, const char *name, const char *title,
                                 const char *x_label, const double *count, int64_t bins,
                                 const double *edge)
{
  double *share = NULL, all = 0;
  weir_status status = WEIR_OK;

  for (int64_t k = 0; k < bins; k++) {
    all += count[k];
  }
  WEIR_TRY(weir_alloc(bins, sizeof *share, (void **)&share));
  for (int64_t k = 0; k < bins; k++) {
    share[k] = all > 0 ? count[k] / all * (double)bins : NAN;
  }
  const double even[] = {1, 1}, ends[] = {edge[0], edge[bins]};
  const weir_figure_series series[] = {
      {.kind = WEIR_FIGURE_HISTOGRAM, .name = "forecasts", .n = bins, .x = edge, .y = share},
      {.kind = WEIR_FIGURE_LINE, .name = "flat", .n = 2, .x = ends, .y = even}};

  status = weir_report_figure(r, name,
                              &(weir_figure){.title = title,
                                             .x_label = x_label,
                                             .y_label = "cases over those of a flat one",
                                             .series = series,
                                             .n_series = 2});
  weir_free(&share);
  return status;
}

static weir_status add_histograms(const wx_eval_page *p, const wx_page_quantity *q, int64_t m,
                                  weir_report *r)
{
  const wx_score_sums *const t = &p->v->tally[m];
  const int64_t bins = t->members > 0 ? t->members + 1 : t->pit_bins;
  char name[NAME], title[TITLE], where[64];
  double *edge = NULL;

  WEIR_TRY(weir_alloc(bins + 1, sizeof *edge, (void **)&edge));
  for (int64_t k = 0; k <= bins; k++) {
    edge[k] = t->members > 0 ? (double)k - 0.5 : (double)k / (double)bins;
  }
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "%s, %s: %s",
                 t->members > 0 ? "Rank of the truth among members" : "Probability of the truth",
                 p->v->model[m].name, where);
  wx_eval_name(name, sizeof name, t->members > 0 ? "rank" : "pit", name_of(p, q),
               p->v->model[m].name);
  const weir_status status = add_histogram(
      r, name, title, t->members > 0 ? "members below the truth" : "forecast probability below it",
      q->block[m] + (t->members > 0 ? t->at.rank : t->at.pit), bins, edge);

  weir_free(&edge);
  return status;
}

static const wx_reliability_bin *bins_of(const double *block, const wx_score_sums *t, int64_t event)
{
  return (const wx_reliability_bin *)(block + t->at.events) + event * t->bins;
}

/* A model's line: observed frequencies with their intervals, or the ROC. room: [4, bins + 1]. */
static weir_figure_series curve_of(const wx_eval_page *p, const wx_page_quantity *q, int64_t m,
                                   int64_t event, bool roc, double *room)
{
  const wx_score_sums *const t = &p->v->tally[m];
  const wx_reliability_bin *const bin = bins_of(q->block[m], t, event);
  const int64_t n = t->bins + 1;
  double *const x = room, *const y = x + n, *const lo = y + n, *const hi = lo + n;

  if (roc) {
    wx_reliability_roc_curve(bin, t->bins, x, y);
  }
  for (int64_t k = 0; k < n && !roc; k++) {
    const bool any = k < t->bins && bin[k].count >= 10; /* fewer say nothing */
    const double *const band = q->band[m] + 2 * (event * t->bins + (any ? k : 0));

    x[k] = any ? bin[k].forecast / bin[k].weight : NAN;
    y[k] = any ? bin[k].observed / bin[k].weight : NAN;
    lo[k] = band[0];
    hi[k] = band[1];
  }
  return (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                              .name = p->v->model[m].name,
                              .n = n,
                              .x = x,
                              .y = y,
                              .lo = roc ? NULL : lo,
                              .hi = roc ? NULL : hi};
}

/* Reliability, or ROC, of all models for an event. */
static weir_status add_curves(const wx_eval_page *p, const wx_page_quantity *q, int64_t event,
                              bool roc, weir_report *r)
{
  const wx_verify *const v = p->v;
  const double diagonal[] = {0, 1};
  const int64_t each = 4 * (v->opts->score.bins + 1);
  weir_figure_series line[WX_MODELS + 1] = {{.kind = WEIR_FIGURE_LINE,
                                             .name = roc ? "no skill" : "reliable",
                                             .n = 2,
                                             .x = diagonal,
                                             .y = diagonal}};
  double *room = NULL;
  char name[NAME], title[TITLE], where[64];
  int lines = 1;

  WEIR_TRY(weir_alloc(each * v->n_models, sizeof *room, (void **)&room));
  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->block[m] != NULL && !wx_eval_is_far(p, q->quantity, m)) {
      line[lines++] = curve_of(p, q, m, event, roc, room + each * m);
    }
  }
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "%s %s: %s", roc ? "ROC," : "Reliability,",
                 v->event[event].name, where);
  wx_eval_name(name, sizeof name, roc ? "roc" : "reliability", name_of(p, q), v->event[event].name);
  const weir_status status =
      weir_report_figure(r, name,
                         &(weir_figure){.title = title,
                                        .x_label = roc ? "false alarms" : "forecast probability",
                                        .y_label = roc ? "hits" : "observed frequency",
                                        .series = line,
                                        .n_series = lines,
                                        .equal_axes = true});

  weir_free(&room);
  return status;
}

/* Error against spread: points whose forecasts say the same spread, by powers of 2^(1/4). */
static weir_status add_spread_skill(const wx_eval_page *p, const wx_page_quantity *q,
                                    weir_report *r)
{
  const wx_verify *const v = p->v;
  weir_figure_series line[WX_MODELS + 1];
  double *room = NULL, most = 0;
  char name[NAME], title[TITLE], where[64], x_label[64], y_label[64];
  int lines = 1;

  WEIR_TRY(weir_alloc(2 * WX_SPREAD_BINS * v->n_models, sizeof *room, (void **)&room));
  for (int64_t m = 0; m < v->n_models; m++) {
    double *const x = room + 2 * WX_SPREAD_BINS * m, *const y = x + WX_SPREAD_BINS;

    if (q->block[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    for (int64_t k = 0; k < WX_SPREAD_BINS; k++) {
      const wx_spread_bin b = wx_spread_bin_get(&v->tally[m], q->block[m], k);

      x[k] = b.share >= 0.005 ? b.spread : NAN; /* fewer say nothing */
      y[k] = b.share >= 0.005 ? b.rmse : NAN;
      most = fmax(most, fmax(x[k], y[k]));
    }
    line[lines++] = (weir_figure_series){
        .kind = WEIR_FIGURE_LINE, .name = v->model[m].name, .n = WX_SPREAD_BINS, .x = x, .y = y};
  }
  const double diagonal[] = {0, most};

  line[0] = (weir_figure_series){
      .kind = WEIR_FIGURE_LINE, .name = "right", .n = 2, .x = diagonal, .y = diagonal};
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "Error against spread: %s", where);
  (void)snprintf(x_label, sizeof x_label, "spread (%s)",
                 v->scene->facts->quantity[q->quantity].units);
  (void)snprintf(y_label, sizeof y_label, "root mean square error (%s)",
                 v->scene->facts->quantity[q->quantity].units);
  wx_eval_name(name, sizeof name, "spread-skill", name_of(p, q), "");
  const weir_status status = weir_report_figure(r, name,
                                                &(weir_figure){.title = title,
                                                               .x_label = x_label,
                                                               .y_label = y_label,
                                                               .series = line,
                                                               .n_series = lines,
                                                               .equal_axes = true});

  weir_free(&room);
  return status;
}

static bool was_counted(const wx_eval_page *p, const wx_page_quantity *q, int64_t event)
{
  const int64_t at = wx_score_sums_event(event, WX_EVENT_WEIGHT);

  for (int64_t m = 0; m < p->v->n_models; m++) {
    if (q->block[m] != NULL && q->block[m][at] > 0) {
      return true;
    }
  }
  return false;
}

weir_status wx_eval_figures(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  WEIR_TRY(add_skill_maps(p, q, r));
  WEIR_TRY(add_spread_skill(p, q, r));
  for (int64_t m = 0; m < p->v->n_models; m++) {
    if (q->block[m] != NULL) {
      WEIR_TRY(add_histograms(p, q, m, r));
    }
  }
  for (int64_t e = 0; e < p->v->n_events; e++) {
    if (was_counted(p, q, e)) {
      WEIR_TRY(add_curves(p, q, e, false, r));
      WEIR_TRY(add_curves(p, q, e, true, r));
    }
  }
  return WEIR_OK;
}

static weir_status case_map(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r,
                            const char *what, const char *title, const char *unit,
                            const float *field, const float *minus, bool diverging)
{
  const int64_t cells = p->v->scene->cells;
  double *value = NULL;
  char name[NAME];

  WEIR_TRY(weir_alloc(cells, sizeof *value, (void **)&value));
  for (int64_t i = 0; i < cells; i++) {
    value[i] = (double)field[i] - (minus != NULL ? (double)minus[i] : 0);
  }
  wx_eval_name(name, sizeof name, "case", name_of(p, q), what);
  const weir_status status = wx_eval_map(p, r, name, title, unit, value, diverging);

  weir_free(&value);
  return status;
}

static weir_status case_table(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  static const char *const head[] = {"model", "CRPS of the case", "CRPS of all starts"};
  weir_table c = {0};
  char name[NAME];

  for (int64_t m = 0; m < p->v->n_models; m++) {
    const wx_score_row *const row = wx_score_tables_find(p->tables, q->quantity, q->lead, m);

    if (row != NULL) {
      weir_table_add(&c, "%s", p->v->model[m].name);
      weir_table_add_real(&c, q->study.score[m]);
      weir_table_add_real(&c, row->score[WX_CRPS].value);
    }
  }
  wx_eval_name(name, sizeof name, "case", name_of(p, q), "");
  const weir_status status = weir_table_report(&c, r, name, 3, head);

  weir_table_fini(&c);
  return status;
}

static weir_status case_text(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  const wx_case_study *const s = &q->study;
  const wx_grid *const g = &p->v->scene->facts->grid;
  char start[WX_SHORT], where[64];

  wx_date_text((double)p->v->scene->facts->start[s->start] / DAY, start, sizeof start);
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  WEIR_TRY(weir_report_heading(r, "A case"));
  if (!s->by_efi) {
    return weir_report_text(r,
                            "%s: the start %s, the worst of %s (without a training part no "
                            "climate is known, by which one is extreme).",
                            where, start, p->v->model[p->v->reference[0]].name);
  }
  const int64_t i = s->point % g->n_lon, j = s->point / g->n_lon;
  const double lat = g->lat != NULL ? g->lat[g->kind == WX_GRID_SITES ? i : j] : NAN;

  return weir_report_text(
      r,
      "%s: the start %s, whose raw ensemble is the most extreme by the mean of "
      "the Extreme Forecast Index, %.2f. It is largest at (%g, %g): %.2f, with a "
      "shift of tails of %.2f. |EFI| over 0.5 is unusual, over 0.8 very.",
      where, start, s->efi_mean, lat, g->lon != NULL ? g->lon[i] : NAN, s->point_efi, s->point_sot);
}

weir_status wx_eval_case(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  const wx_verify *const v = p->v;
  const wx_case_study *const s = &q->study;
  const char *const units = v->scene->facts->quantity[q->quantity].units;
  const int64_t cells = v->scene->cells;
  char title[TITLE];

  WEIR_TRY(case_text(p, q, r));
  WEIR_TRY(case_table(p, q, r));
  if (s->by_efi) {
    WEIR_TRY(case_map(p, q, r, "efi", "Extreme Forecast Index of the raw ensemble", "1", s->efi,
                      NULL, true));
    WEIR_TRY(case_map(p, q, r, "anomaly", "Truth minus its mean over the training starts", units,
                      s->truth, s->usual, true));
  } else {
    WEIR_TRY(case_map(p, q, r, "truth", "Truth", units, s->truth, NULL, false));
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->block[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    char what[64];

    (void)snprintf(what, sizeof what, "error_%s", v->model[m].name);
    (void)snprintf(title, sizeof title, "Mean of %s minus truth", v->model[m].name);
    WEIR_TRY(case_map(p, q, r, what, title, units, s->mean + m * cells, s->truth, true));
    if (m != v->reference[0] && q->block[v->reference[0]] != NULL) {
      (void)snprintf(what, sizeof what, "gain_%s", v->model[m].name);
      (void)snprintf(title, sizeof title, "CRPS of %s minus that of %s", v->model[m].name,
                     v->model[v->reference[0]].name);
      WEIR_TRY(case_map(p, q, r, what, title, units, s->crps + m * cells,
                        s->crps + v->reference[0] * cells, true));
    }
  }
  return WEIR_OK;
}
