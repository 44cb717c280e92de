/* eval_page_figures.c - the figures of a label. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include "base/weir_alloc.h"
#include "eval/eval_page_priv.h"

enum { NAME = 160, TITLE = 256, MAX_MEANS = 32 };

/* what_label_set, of the letters that a file name may have. */
static void name_figure(char *text, const char *what, const char *label, const char *set)
{
  (void)snprintf(text, NAME, "%s_%s%s%s", what, label, set[0] != 0 ? "_" : "", set);
  for (char *c = text; *c != 0; c++) {
    *c = (char)(isalnum((unsigned char)*c) || *c == '_' ? *c : '-');
  }
}

/* Returns the number of every step-th of n values: at most `max`. */
static int64_t thin(int64_t n, int64_t max, int64_t *step)
{
  *step = (n + max - 1) / max;
  return (n + *step - 1) / *step;
}

/* Returns points of one model over the truth of `axis`, its predictions or (error) its errors;
 * buffer: [2 n]. */
static weir_figure_series points_of(const cf_cases *c, const double *axis, bool error,
                                    const char *name, int64_t step, int64_t n, double *buffer)
{
  for (int64_t i = 0; i < n; i++) {
    buffer[i] = axis[i * step];
    buffer[n + i] = c->predicted[i * step] - (error ? c->truth[i * step] : 0);
  }
  return (weir_figure_series){.kind = WEIR_FIGURE_POINTS,
                              .name = name,
                              .n = n,
                              .x = buffer,
                              .y = buffer + n,
                              .color = CF_BY_NETWORK + 1};
}

/* Adds predictions against the truth, of the network and of the best regression. */
static weir_status add_scatter(const cf_evaluation *e, int64_t set, int64_t label, weir_report *r)
{
  const cf_predictions *const p = e->set[0].p;
  const char *const set_name = e->set[set].opts->name;
  const double ends[] = {p->lo[label], p->hi[label]};
  weir_figure_series s[CF_PREDICTORS + 1];
  char name[NAME], title[TITLE], x_label[64], y_label[64];
  double *buffer = NULL;
  cf_cases c;
  int64_t step = 1;
  int n_series = 0;

  const int64_t n = thin(e->set[set].level[CF_BY_SAMPLE].n, e->opts->points, &step);
  const cf_predictor best = cf_evaluation_best(e, set, CF_BY_SAMPLE, label);

  WEIR_TRY(weir_alloc(2 * n * CF_PREDICTORS, sizeof *buffer, (void **)&buffer));
  for (int by = CF_LAST_REGRESSION; by >= CF_BY_NETWORK; by--) { /* the network is drawn above */
    if (cf_evaluation_cases(e, set, (cf_predictor)by, CF_BY_SAMPLE, label, &c) &&
        (by == CF_BY_NETWORK || by == (int)best)) {
      s[n_series] = points_of(&c, c.truth, false, cf_evaluation_name(e, set, (cf_predictor)by),
                              step, n, buffer + 2 * n * n_series);
      s[n_series].color = by + 1;
      n_series++;
    }
  }
  s[n_series++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                       .name = "1:1 line",
                                       .n = 2,
                                       .x = ends,
                                       .y = ends,
                                       .reference = true};
  name_figure(name, "scatter", p->label[label], set_name);
  (void)snprintf(title, sizeof title, "%s: predicted against true %s", set_name, p->label[label]);
  (void)snprintf(x_label, sizeof x_label, "true %s", p->label[label]);
  (void)snprintf(y_label, sizeof y_label, "predicted %s", p->label[label]);
  const weir_status status = weir_report_figure(r, name,
                                                &(weir_figure){.title = title,
                                                               .x_label = x_label,
                                                               .y_label = y_label,
                                                               .series = s,
                                                               .n_series = n_series,
                                                               .equal_axes = true});

  weir_free(&buffer);
  return status;
}

/* Adds errors of the network against another parameter. */
static weir_status add_residual(const cf_evaluation *e, int64_t label, int64_t other,
                                weir_report *r)
{
  const cf_predictions *const p = e->set[0].p;
  const double ends[] = {p->lo[other], p->hi[other]}, zero[] = {0, 0};
  char what[64], name[NAME], title[TITLE], x_label[64], y_label[64];
  double *buffer = NULL;
  cf_cases c, axis;
  int64_t step = 1;

  if (!cf_evaluation_cases(e, 0, CF_BY_NETWORK, CF_BY_SAMPLE, label, &c) ||
      !cf_evaluation_cases(e, 0, CF_BY_NETWORK, CF_BY_SAMPLE, other, &axis)) {
    return WEIR_OK;
  }
  const int64_t n = thin(c.n, e->opts->points, &step);

  WEIR_TRY(weir_alloc(2 * n, sizeof *buffer, (void **)&buffer));
  const weir_figure_series s[] = {
      points_of(&c, axis.truth, true, p->model, step, n, buffer),
      {.kind = WEIR_FIGURE_LINE,
       .name = "zero bias",
       .n = 2,
       .x = ends,
       .y = zero,
       .reference = true},
  };

  (void)snprintf(what, sizeof what, "residual_%s", p->label[label]);
  name_figure(name, what, p->label[other], "");
  (void)snprintf(title, sizeof title, "Error of %s against true %s", p->label[label],
                 p->label[other]);
  (void)snprintf(x_label, sizeof x_label, "true %s", p->label[other]);
  (void)snprintf(y_label, sizeof y_label, "predicted minus true %s", p->label[label]);
  const weir_status status = weir_report_figure(
      r, name,
      &(weir_figure){
          .title = title, .x_label = x_label, .y_label = y_label, .series = s, .n_series = 2});

  weir_free(&buffer);
  return status;
}

/* Computes the bias by bins of the truth with its interval; buffer: [4 bins]. */
static weir_status bias_line(const cf_evaluation *e, cf_predictor by, int64_t label, double *buffer,
                             weir_figure_series *out)
{
  const int64_t bins = e->opts->bins;
  weir_estimate score[CF_SCORES];
  cf_cases c;

  *out = (weir_figure_series){0};
  if (!cf_evaluation_cases(e, 0, by, CF_BY_SAMPLE, label, &c)) {
    return WEIR_OK;
  }
  for (int64_t b = 0; b < bins; b++) {
    double lo, hi;
    int64_t n = 0;

    WEIR_TRY(cf_score_in_bin(e, 0, &c, label, b, score, &n));
    cf_score_bin(e, label, b, &lo, &hi);
    buffer[b] = 0.5 * (lo + hi);
    buffer[bins + b] = score[CF_BIAS].value;
    buffer[2 * bins + b] = score[CF_BIAS].lo;
    buffer[3 * bins + b] = score[CF_BIAS].hi;
  }
  *out = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                              .name = cf_evaluation_name(e, 0, by),
                              .n = bins,
                              .x = buffer,
                              .y = buffer + bins,
                              .lo = buffer + 2 * bins,
                              .hi = buffer + 3 * bins,
                              .color = (int)by + 1};
  return WEIR_OK;
}

static weir_status add_bias(const cf_evaluation *e, int64_t label, weir_report *r)
{
  const cf_predictions *const p = e->set[0].p;
  const double ends[] = {p->lo[label], p->hi[label]}, zero[] = {0, 0};
  const int64_t bins = e->opts->bins;
  weir_figure_series s[CF_PREDICTORS + 1];
  char name[NAME], title[TITLE], x_label[64], y_label[64];
  double *buffer = NULL;
  int n_series = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(4 * bins * CF_PREDICTORS, sizeof *buffer, (void **)&buffer));
  for (int by = 0; by < CF_BY_MEAN; by++) {
    WEIR_TRY_GOTO(bias_line(e, (cf_predictor)by, label, buffer + 4 * bins * by, &s[n_series]),
                  done);
    n_series += s[n_series].n > 0;
  }
  s[n_series++] = (weir_figure_series){.kind = WEIR_FIGURE_LINE,
                                       .name = "zero bias",
                                       .n = 2,
                                       .x = ends,
                                       .y = zero,
                                       .reference = true};
  name_figure(name, "bias", p->label[label], "");
  (void)snprintf(title, sizeof title, "Mean bias of %s against its true value", p->label[label]);
  (void)snprintf(x_label, sizeof x_label, "true %s", p->label[label]);
  (void)snprintf(y_label, sizeof y_label, "mean of predicted minus true");
  status = weir_report_figure(r, name,
                              &(weir_figure){.title = title,
                                             .x_label = x_label,
                                             .y_label = y_label,
                                             .series = s,
                                             .n_series = n_series,
                                             .empty = "no predictions"});
done:
  weir_free(&buffer);
  return status;
}

/* Adds the RMSE of means of 1, 2, 4 ... samples of a universe, compared with independent errors. */
static weir_status add_averages(const cf_evaluation *e, int64_t label, weir_report *r)
{
  const cf_predictions *const p = e->set[0].p;
  double x[MAX_MEANS], y[MAX_MEANS], alone[MAX_MEANS];
  char name[NAME], title[TITLE], y_label[64];
  cf_cases c, mean;
  int64_t n = 0, means = 1;

  if (!cf_evaluation_cases(e, 0, CF_BY_NETWORK, CF_BY_SAMPLE, label, &c) ||
      !cf_evaluation_cases(e, 0, CF_BY_NETWORK, CF_BY_UNIVERSE, label, &mean)) {
    return WEIR_OK;
  }
  while (n < MAX_MEANS) {
    const double rmse = cf_metrics_blocks(&c, (int64_t)1 << n, &means);

    if (means == 0) {
      break;
    }
    x[n] = (double)((int64_t)1 << n);
    y[n] = rmse;
    alone[n] = y[0] / sqrt(x[n]);
    n++;
  }
  const weir_figure_series s[] = {
      {.kind = WEIR_FIGURE_LINE,
       .name = p->model,
       .n = n,
       .x = x,
       .y = y,
       .color = CF_BY_NETWORK + 1},
      {.kind = WEIR_FIGURE_LINE,
       .name = "independent errors",
       .n = n,
       .x = x,
       .y = alone,
       .reference = true},
  };
  const cf_sharing shared = cf_metrics_sharing(&c);

  name_figure(name, "averages", p->label[label], "");
  (void)snprintf(title, sizeof title, "Error of %s: mean of samples of a universe",
                 p->label[label]);
  (void)snprintf(y_label, sizeof y_label, "root mean square error of %s", p->label[label]);
  WEIR_TRY(weir_report_figure(r, name,
                              &(weir_figure){.title = title,
                                             .x_label = "number of samples averaged",
                                             .y_label = y_label,
                                             .series = s,
                                             .n_series = 2}));
  return weir_report_text(r,
                          "Standard deviation of the errors within a universe: %.3g; of the error "
                          "that its samples share, which averaging does not reduce: %.3g.",
                          shared.within, shared.shared);
}

weir_status cf_eval_figures(const cf_evaluation *e, int64_t label, weir_report *r)
{
  for (int64_t i = 0; i < e->n_sets; i++) {
    WEIR_TRY(add_scatter(e, i, label, r));
  }
  WEIR_TRY(add_bias(e, label, r));
  for (int64_t k = 0; k < e->n_labels; k++) {
    if (k != label) {
      WEIR_TRY(add_residual(e, label, k, r));
    }
  }
  return add_averages(e, label, r);
}
