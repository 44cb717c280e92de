/* climatology.c - what is usual at each point: mean and standard deviation of the truth over the
 * initialisation times that may be fitted on. The zero that skill begins at. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "baseline/training.h"
#include "eval/forecast_model.h"

typedef struct climatology_opts {
  wx_dates_opts dates;
} climatology_opts;

static const weir_opt options[] = {
    WEIR_OPT_TABLE(climatology_opts, dates, wx_dates_options,
                   "training initialisation times for a forecast"),
    WEIR_OPT_END,
};

typedef struct own {
  int64_t n, *time;              /* [n] training initialisation times that have a truth       */
  int64_t *row, n_rows, *chosen; /* those that mean and sd are of; scratch for them */
  float *truth;                  /* [n, cells]                                  */
  float *mean, *sd;              /* [cells]                                     */
} own;

static weir_status open_model(wx_model *m, wx_eval_data *s)
{
  own *a = NULL;

  WEIR_TRY(weir_alloc(1, sizeof *a, &m->own));
  a = m->own;
  if (m->name[0] == 0) {
    (void)snprintf(m->name, sizeof m->name, "climatology");
  }
  WEIR_TRY(weir_alloc(s->n_fit, sizeof *a->time, (void **)&a->time));
  WEIR_TRY(weir_alloc(s->n_fit, sizeof *a->row, (void **)&a->row));
  WEIR_TRY(weir_alloc(s->n_fit, sizeof *a->chosen, (void **)&a->chosen));
  WEIR_TRY(weir_alloc(s->cells, sizeof *a->mean, (void **)&a->mean));
  WEIR_TRY(weir_alloc(s->cells, sizeof *a->sd, (void **)&a->sd));
  int64_t all;

  if (!weir_mul_ok(s->n_fit, s->cells, &all)) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: %lld initialisation times are too many", s->facts->name,
                     (long long)s->n_fit);
  }
  return weir_alloc(all, sizeof *a->truth, (void **)&a->truth);
}

/* Of all initialisation times of a climate that was made before. */
static weir_status take_climate(const wx_model *m, const wx_eval_data *s)
{
  own *const a = m->own;
  wx_model_climate c;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_eval_data_climate(s, m->lead, m->quantity, &c));
  const double n = (double)c.n_init_times,
               own_mean = sqrt(n / (n - 1)); /* is taken from them, too */

  if (c.truth_mean == NULL) {
    status =
        weir_fail(WEIR_ERR_CONFIG, "%s: it has no climate of the truth: prepare it with data.truth",
                  s->climate);
  }
  for (int64_t i = 0; i < s->cells && status == WEIR_OK; i++) {
    a->mean[i] = c.truth_mean[i];
    a->sd[i] = c.n_init_times > 1 ? (float)(own_mean * (double)c.truth_sd[i]) : NAN;
  }
  wx_model_climate_fini(&c);
  return status;
}

static bool is_of_file(const wx_model *m, const wx_eval_data *s)
{
  const climatology_opts *const o = m->opts;

  return s->climate != NULL && o->dates.kind == WX_DATES_ALL;
}

static weir_status fit(wx_model *m, wx_eval_data *s)
{
  own *const a = m->own;

  a->n = a->n_rows = 0;
  if (is_of_file(m, s)) {
    return take_climate(m, s);
  }
  for (int64_t i = 0; i < s->n_fit; i++) {
    const float *truth = NULL;

    WEIR_TRY(wx_eval_data_truth(s, s->fit[i], m->lead, m->quantity, &truth));
    if (truth != NULL) {
      for (int64_t c = 0; c < s->cells; c++) {
        a->truth[a->n * s->cells + c] = truth[c];
      }
      a->time[a->n++] = s->facts->start[s->fit[i]];
    }
  }
  m->absent = a->n == 0;
  return WEIR_OK;
}

static void take_point(own *a, int64_t cells, int64_t c)
{
  double sum = 0, squares = 0, count = 0;

  for (int64_t i = 0; i < a->n_rows; i++) {
    const double y = (double)a->truth[a->row[i] * cells + c];

    sum += isfinite(y) ? y : 0;
    count += isfinite(y);
  }
  const double mean = sum / count;

  for (int64_t i = 0; i < a->n_rows; i++) {
    const double d = (double)a->truth[a->row[i] * cells + c] - mean;

    squares += isfinite(d) ? d * d : 0;
  }
  a->mean[c] = (float)mean; /* NaN of none, and so is the spread of one */
  a->sd[c] = count > 1 ? (float)sqrt(squares / (count - 1)) : NAN;
}

static weir_status give(wx_model *m, wx_eval_data *s, int64_t start, wx_given *out)
{
  const climatology_opts *const o = m->opts;
  own *const a = m->own;

  *out = (wx_given){.mean = a->mean, .sd = a->sd};
  if (is_of_file(m, s)) {
    return WEIR_OK;
  }
  const int64_t n = wx_dates_choose(&o->dates, a->time, a->n, s->facts->start[start],
                                    s->facts->lead[m->lead], a->chosen, &m->few_dates);
  const size_t bytes = (size_t)n * sizeof *a->row;

  if (n != a->n_rows || memcmp(a->row, a->chosen, bytes) != 0) {
    memcpy(a->row, a->chosen, bytes);
    a->n_rows = n;
    for (int64_t c = 0; c < s->cells; c++) {
      take_point(a, s->cells, c);
    }
  }
  return WEIR_OK;
}

static void close_model(wx_model *m)
{
  own *const a = m->own;

  if (a != NULL) {
    weir_free(&a->time);
    weir_free(&a->row);
    weir_free(&a->chosen);
    weir_free(&a->truth);
    weir_free(&a->mean);
    weir_free(&a->sd);
    weir_free(&m->own);
  }
}

const wx_model_desc wx_model_climatology = {
    .name = "climatology",
    .help = "mean and standard deviation of the truth at each point",
    .cite = "",
    .opts = options,
    .opts_size = sizeof(climatology_opts),
    .open = open_model,
    .fit = fit,
    .give = give,
    .close = close_model,
};
