/* eval_page_figures.c - figures of one quantity at one lead, and the case. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "eval/sort/sort.h"
#include "eval/score/histogram.h"
#include "page/eval_page_priv.h"

enum { DAY = 86400, NAME = 128, TITLE = 192 };

/* Ends of the colours: a hundredth of the values lies beyond each, so that a few points do not
 * bleach the others. Widens [*lo, *hi] where that is not empty. */
static weir_status find_ends(const double *value, int64_t n, bool diverging, double *lo, double *hi)
{
  const double before[] = {*lo, *hi};
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
  if (before[0] < before[1]) {
    *lo = fmin(*lo, before[0]);
    *hi = fmax(*hi, before[1]);
  }
  if (diverging) {
    *hi = fmax(fabs(*lo), fabs(*hi));
    *lo = -*hi;
  }
  weir_free(&sorted);
  return WEIR_OK;
}

/* A map of a field over the grid; `scale`: ends of its colours, which maps share that are compared;
 * NULL: those of its values. */
static weir_status add_map(const wx_eval_page *p, weir_report *r, const char *name,
                           const char *title, const char *unit, const double *value, bool diverging,
                           const double *scale)
{
  const wx_grid *const g = &p->v->data->facts->grid;
  char x[64], y[64];
  double lo = scale != NULL ? scale[0] : 0, hi = scale != NULL ? scale[1] : 0;

  if (g->kind == WX_GRID_SITES) {
    return WEIR_OK; /* sites make no map */
  }
  if (scale == NULL) {
    WEIR_TRY(find_ends(value, p->v->data->cells, diverging, &lo, &hi));
  }
  if (g->kind == WX_GRID_LATLON) {
    (void)snprintf(x, sizeof x, "longitude (\xc2\xb0 east)");
    (void)snprintf(y, sizeof y, "latitude (\xc2\xb0 north)");
  } else {
    (void)snprintf(x, sizeof x, "x (%s)", g->units[1]);
    (void)snprintf(y, sizeof y, "y (%s)", g->units[0]);
  }
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
                                     .degrees = g->kind == WX_GRID_LATLON,
                                     .diverging = diverging});
}

static const char *name_of(const wx_eval_page *p, const wx_page_quantity *q)
{
  return p->v->data->facts->quantity[q->quantity].name;
}

/* Maps of skill relative to the first reference, in percent, in one scale of colours. */
static weir_status add_skill_maps(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  const wx_verify *const v = p->v;
  char name[NAME], title[TITLE], where[64];
  double scale[2] = {0, 0};

  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->skill[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    for (int64_t i = 0; i < v->data->cells; i++) {
      q->skill[m][i] *= 100;
    }
    WEIR_TRY(find_ends(q->skill[m], v->data->cells, true, &scale[0], &scale[1]));
  }
  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->skill[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    (void)snprintf(title, sizeof title, "CRPS skill score of %s relative to %s (%%): %s",
                   v->model[m].name, v->model[v->reference[0]].name, where);
    wx_eval_name(name, sizeof name, "gain", name_of(p, q), v->model[m].name);
    WEIR_TRY(add_map(p, r, name, title, "%", q->skill[m], true, scale));
  }
  return WEIR_OK;
}

/* Shares of a histogram of `bins` counts at `count`, as a figure, with the band that holds 95 % of
 * those of `cases` independent cases from a uniform one; NaN: no band. */
static weir_status add_histogram(weir_report *r, const char *name, const char *title,
                                 const char *x_label, const double *count, int64_t bins,
                                 const double *edge, double cases, int color)
{
  const double half = 1.96 * wx_histogram_error(bins, cases);
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
  const double lo[] = {fmax(1 - half, 0), fmax(1 - half, 0)}, hi[] = {1 + half, 1 + half};
  const weir_figure_series series[] = {
      {.kind = WEIR_FIGURE_HISTOGRAM,
       .name = "forecasts",
       .n = bins,
       .x = edge,
       .y = share,
       .color = color},
      {.kind = WEIR_FIGURE_LINE,
       .name = isfinite(half) ? "uniform, with 95 % sampling band" : "uniform",
       .n = 2,
       .x = ends,
       .y = even,
       .lo = isfinite(half) ? lo : NULL,
       .hi = isfinite(half) ? hi : NULL,
       .reference = true}};

  status = weir_report_figure(r, name,
                              &(weir_figure){.title = title,
                                             .x_label = x_label,
                                             .y_label = "relative frequency (uniform = 1)",
                                             .series = series,
                                             .n_series = 2});
  weir_free(&share);
  return status;
}

static weir_status add_histograms(const wx_eval_page *p, const wx_page_quantity *q, int64_t m,
                                  weir_report *r)
{
  const wx_score_sums *const t = &p->v->score_sums[m];
  const int64_t bins = t->members > 0 ? t->members + 1 : t->pit_bins;
  const wx_score_row *const row = wx_score_tables_find(p->tables, q->quantity, q->lead, m);
  char name[NAME], title[TITLE], where[64];
  double *edge = NULL;

  WEIR_TRY(weir_alloc(bins + 1, sizeof *edge, (void **)&edge));
  for (int64_t k = 0; k <= bins; k++) {
    edge[k] = t->members > 0 ? (double)k - 0.5 : (double)k / (double)bins;
  }
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "%s, %s: %s",
                 t->members > 0 ? "Rank histogram" : "PIT histogram", p->v->model[m].name, where);
  wx_eval_name(name, sizeof name, t->members > 0 ? "rank" : "pit", name_of(p, q),
               p->v->model[m].name);
  const weir_status status = add_histogram(
      r, name, title, t->members > 0 ? "members below the truth" : "forecast probability below it",
      q->block[m] + (t->members > 0 ? t->at.rank : t->at.pit), bins, edge,
      row != NULL ? row->n_eff : NAN, (int)m + 1);

  weir_free(&edge);
  return status;
}

static const wx_reliability_bin *bins_of(const double *block, const wx_score_sums *t, int64_t event)
{
  return (const wx_reliability_bin *)(block + t->at.events) + event * t->bins;
}

/* A model's line: observed frequencies with their intervals, or the ROC. scratch: [4, bins + 1]. */
static weir_figure_series curve_of(const wx_eval_page *p, const wx_page_quantity *q, int64_t m,
                                   int64_t event, bool roc, double *scratch)
{
  const wx_score_sums *const t = &p->v->score_sums[m];
  const wx_reliability_bin *const bin = bins_of(q->block[m], t, event);
  const int64_t n = t->bins + 1;
  double *const x = scratch, *const y = x + n, *const lo = y + n, *const hi = lo + n;

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
                              .hi = roc ? NULL : hi,
                              .color = (int)m + 1};
}

/* How often the event came, over all initialisation times and points: the forecast of its
 * climatology. */
static double base_rate(const wx_eval_page *p, const wx_page_quantity *q, int64_t event)
{
  double weight = 0, observed = 0;

  for (int64_t m = 0; m < p->v->n_models && weight == 0; m++) {
    const wx_score_sums *const t = &p->v->score_sums[m];

    for (int64_t k = 0; q->block[m] != NULL && k < t->bins; k++) {
      weight += bins_of(q->block[m], t, event)[k].weight;
      observed += bins_of(q->block[m], t, event)[k].observed;
    }
  }
  return weight > 0 ? observed / weight : NAN;
}

/* How often each probability is forecast, in percent, at the mean of its bin. */
static weir_status add_sharpness(const wx_eval_page *p, const wx_page_quantity *q, int64_t event,
                                 weir_report *r)
{
  const wx_verify *const v = p->v;
  const int64_t each = 2 * v->opts->score.bins;
  weir_figure_series line[WX_MODELS];
  double *scratch = NULL;
  char name[NAME], title[TITLE], where[64];
  int lines = 0;

  WEIR_TRY(weir_alloc(each * v->n_models, sizeof *scratch, (void **)&scratch));
  for (int64_t m = 0; m < v->n_models; m++) {
    const int64_t bins = v->score_sums[m].bins; /* fewer for few members */
    double *const x = scratch + each * m, *const y = x + bins, all = 0;

    if (q->block[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    const wx_reliability_bin *const bin = bins_of(q->block[m], &v->score_sums[m], event);

    for (int64_t k = 0; k < bins; k++) {
      all += bin[k].weight;
    }
    for (int64_t k = 0; k < bins; k++) {
      x[k] = bin[k].weight > 0 ? bin[k].forecast / bin[k].weight : ((double)k + 0.5) / (double)bins;
      y[k] = all > 0 ? 100 * bin[k].weight / all : NAN;
    }
    line[lines++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                         .name = v->model[m].name,
                                         .n = bins,
                                         .x = x,
                                         .y = y,
                                         .color = (int)m + 1};
  }
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "Sharpness, %s: %s", v->event[event].name, where);
  wx_eval_name(name, sizeof name, "sharpness", name_of(p, q), v->event[event].name);
  const weir_status status = weir_report_figure(r, name,
                                                &(weir_figure){.title = title,
                                                               .x_label = "forecast probability",
                                                               .y_label = "forecasts (%)",
                                                               .series = line,
                                                               .n_series = lines});

  weir_free(&scratch);
  return status;
}

/* Reliability, or ROC, of all models for an event. */
static weir_status add_curves(const wx_eval_page *p, const wx_page_quantity *q, int64_t event,
                              bool roc, weir_report *r)
{
  const wx_verify *const v = p->v;
  const double diagonal[] = {0, 1}, rate = base_rate(p, q, event), rates[] = {rate, rate};
  const int64_t each = 4 * (v->opts->score.bins + 1);
  weir_figure_series line[WX_MODELS + 2] = {{.kind = WEIR_FIGURE_LINE,
                                             .name = roc ? "no skill" : "perfect reliability",
                                             .n = 2,
                                             .x = diagonal,
                                             .y = diagonal,
                                             .reference = true},
                                            {.kind = WEIR_FIGURE_LINE,
                                             .name = "climatology",
                                             .n = 2,
                                             .x = diagonal,
                                             .y = rates,
                                             .reference = true}};
  double *scratch = NULL;
  char name[NAME], title[TITLE], where[64];
  int lines = roc ? 1 : 2;

  WEIR_TRY(weir_alloc(each * v->n_models, sizeof *scratch, (void **)&scratch));
  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->block[m] != NULL && !wx_eval_is_far(p, q->quantity, m)) {
      line[lines++] = curve_of(p, q, m, event, roc, scratch + each * m);
    }
  }
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "%s %s: %s", roc ? "ROC," : "Reliability,",
                 v->event[event].name, where);
  wx_eval_name(name, sizeof name, roc ? "roc" : "reliability", name_of(p, q), v->event[event].name);
  const weir_status status = weir_report_figure(
      r, name,
      &(weir_figure){.title = title,
                     .x_label = roc ? "false alarm rate (POFD)" : "forecast probability",
                     .y_label = roc ? "hit rate (POD)" : "observed frequency",
                     .series = line,
                     .n_series = lines,
                     .equal_axes = true});

  weir_free(&scratch);
  return status;
}

/* Error against spread: points whose forecasts say the same spread, by powers of 2^(1/4). */
static weir_status add_spread_skill(const wx_eval_page *p, const wx_page_quantity *q,
                                    weir_report *r)
{
  const wx_verify *const v = p->v;
  weir_figure_series line[WX_MODELS + 1];
  double *scratch = NULL, max_value = 0;
  char name[NAME], title[TITLE], where[64], x_label[64], y_label[64];
  int lines = 1;

  WEIR_TRY(weir_alloc(2 * WX_SPREAD_BINS * v->n_models, sizeof *scratch, (void **)&scratch));
  for (int64_t m = 0; m < v->n_models; m++) {
    double *const x = scratch + 2 * WX_SPREAD_BINS * m, *const y = x + WX_SPREAD_BINS;

    if (q->block[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    for (int64_t k = 0; k < WX_SPREAD_BINS; k++) {
      const wx_spread_bin b = wx_spread_bin_get(&v->score_sums[m], q->block[m], k);

      x[k] = b.share >= 0.005 ? b.spread : NAN; /* fewer say nothing */
      y[k] = b.share >= 0.005 ? b.rmse : NAN;
      max_value = fmax(max_value, fmax(x[k], y[k]));
    }
    line[lines++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                         .name = v->model[m].name,
                                         .n = WX_SPREAD_BINS,
                                         .x = x,
                                         .y = y,
                                         .color = (int)m + 1};
  }
  const double diagonal[] = {0, max_value};

  line[0] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                 .name = "1:1 line",
                                 .n = 2,
                                 .x = diagonal,
                                 .y = diagonal,
                                 .reference = true};
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "Spread-error diagram: %s", where);
  (void)snprintf(x_label, sizeof x_label, "spread (%s)",
                 v->data->facts->quantity[q->quantity].units);
  (void)snprintf(y_label, sizeof y_label, "root mean square error (%s)",
                 v->data->facts->quantity[q->quantity].units);
  wx_eval_name(name, sizeof name, "spread-skill", name_of(p, q), "");
  const weir_status status = weir_report_figure(r, name,
                                                &(weir_figure){.title = title,
                                                               .x_label = x_label,
                                                               .y_label = y_label,
                                                               .series = line,
                                                               .n_series = lines,
                                                               .equal_axes = true});

  weir_free(&scratch);
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
      WEIR_TRY(add_sharpness(p, q, e, r));
      WEIR_TRY(add_curves(p, q, e, true, r));
    }
  }
  return WEIR_OK;
}

/* scale: NULL, or [2]; with `r` NULL it is widened by the map, which is then not drawn. */
static weir_status case_map(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r,
                            const char *what, const char *title, const char *unit,
                            const float *field, const float *minus, bool diverging, double *scale)
{
  const int64_t cells = p->v->data->cells;
  double *value = NULL;
  char name[NAME];

  WEIR_TRY(weir_alloc(cells, sizeof *value, (void **)&value));
  for (int64_t i = 0; i < cells; i++) {
    value[i] = (double)field[i] - (minus != NULL ? (double)minus[i] : 0);
  }
  wx_eval_name(name, sizeof name, "case", name_of(p, q), what);
  const weir_status status = r == NULL ? find_ends(value, cells, diverging, &scale[0], &scale[1])
                                       : add_map(p, r, name, title, unit, value, diverging, scale);

  weir_free(&value);
  return status;
}

static weir_status case_table(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  static const char *const head[] = {"model", "CRPS of the case",
                                     "CRPS of all initialisation times"};
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
  const wx_grid *const g = &p->v->data->facts->grid;
  char start[WX_SHORT], where[64], title[TITLE];

  wx_date_text((double)p->v->data->facts->start[s->start] / DAY, start, sizeof start);
  wx_eval_title(p, q->quantity, q->lead, where, sizeof where);
  (void)snprintf(title, sizeof title, "Case study: %s", where);
  WEIR_TRY(weir_report_heading(r, title));
  if (!s->by_efi) {
    return weir_report_text(
        r,
        "Initialised %s, the initialisation time with the highest CRPS of %s (without "
        "training initialisation times there is no climatology by which to choose an "
        "extreme one).",
        start, p->v->model[p->v->reference[0]].name);
  }
  const int64_t i = s->point % g->n_lon, j = s->point / g->n_lon;
  const double lat = g->lat != NULL ? g->lat[g->kind == WX_GRID_SITES ? i : j] : NAN;

  return weir_report_text(
      r,
      "Initialised %s, whose raw ensemble is the most extreme by the mean of the Extreme Forecast "
      "Index (EFI), %.2f. It is largest at (%g, %g): %.2f, with a shift of tails (SOT) of %.2f. "
      "|EFI| above 0.5 is unusual, above 0.8 very unusual.",
      start, s->efi_mean, lat, g->lon != NULL ? g->lon[i] : NAN, s->point_efi, s->point_sot);
}

/* Errors of the mean of all models, then CRPS relative to the first reference, each in one scale of
 * colours; with `r` NULL the scales are found. */
static weir_status case_models(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r,
                               double scale[2][2])
{
  const wx_verify *const v = p->v;
  const wx_case_study *const s = &q->study;
  const char *const units = v->data->facts->quantity[q->quantity].units;
  const int64_t cells = v->data->cells, reference = v->reference[0];
  char title[TITLE], what[64];

  for (int64_t m = 0; m < v->n_models; m++) {
    if (q->block[m] == NULL || wx_eval_is_far(p, q->quantity, m)) {
      continue;
    }
    (void)snprintf(what, sizeof what, "error_%s", v->model[m].name);
    (void)snprintf(title, sizeof title, "Error of the mean of %s", v->model[m].name);
    WEIR_TRY(case_map(p, q, r, what, title, units, s->mean + m * cells, s->truth, true, scale[0]));
    if (m != reference && q->block[reference] != NULL) {
      (void)snprintf(what, sizeof what, "gain_%s", v->model[m].name);
      (void)snprintf(title, sizeof title, "CRPS of %s minus that of %s", v->model[m].name,
                     v->model[reference].name);
      WEIR_TRY(case_map(p, q, r, what, title, units, s->crps + m * cells,
                        s->crps + reference * cells, true, scale[1]));
    }
  }
  return WEIR_OK;
}

weir_status wx_eval_case(const wx_eval_page *p, const wx_page_quantity *q, weir_report *r)
{
  const wx_case_study *const s = &q->study;
  const char *const units = p->v->data->facts->quantity[q->quantity].units;
  double scale[2][2] = {{0, 0}, {0, 0}};

  WEIR_TRY(case_text(p, q, r));
  WEIR_TRY(case_table(p, q, r));
  if (s->by_efi) {
    WEIR_TRY(case_map(p, q, r, "efi", "Extreme Forecast Index of the raw ensemble", "1", s->efi,
                      NULL, true, NULL));
    WEIR_TRY(case_map(p, q, r, "anomaly",
                      "Truth minus its mean over the training initialisation times", units,
                      s->truth, s->usual, true, NULL));
  } else {
    WEIR_TRY(case_map(p, q, r, "truth", "Truth", units, s->truth, NULL, false, NULL));
  }
  WEIR_TRY(case_models(p, q, NULL, scale));
  return case_models(p, q, r, scale);
}
