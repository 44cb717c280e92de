/* training.c - see training.h. */
#include "baseline/training.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_signal.h"
#include "data/date.h"

const weir_opt wx_dates_options[] = {
    WEIR_OPT_ENUM(wx_dates_opts, kind, WX_DATES_ALL, WX_DATES_CHOICES,
                  "training initialisation times that a forecast is fitted to: all, those near its "
                  "day of the "
                  "year, or those shortly before it whose truth was known by then"),
    WEIR_OPT_REAL(wx_dates_opts, window, 60, 1, 36600, "d",
                  "season: width of the window around the day; past: its length before the "
                  "initialisation time"),
    WEIR_OPT_INT(wx_dates_opts, min_count, 10, 1, 1000000, "1",
                 "initialisation times a window has to hold; with fewer, a warning: all are taken",
                 .alias = "least"),
    WEIR_OPT_END,
};

static const double day = 86400;

int64_t wx_dates_choose(const wx_dates_opts *opts, const int64_t *time, int64_t n, int64_t now,
                        double lead, int64_t *row, int64_t *few)
{
  int64_t count = 0;

  for (int64_t i = 0; i < n && opts->kind != WX_DATES_ALL; i++) {
    const double days = (double)(now - time[i]) / day;

    if (opts->kind == WX_DATES_SEASON ? wx_date_season(days) <= opts->window / 2
                                      : days * 24 >= lead && days <= opts->window) {
      row[count++] = i;
    }
  }
  *few += opts->kind != WX_DATES_ALL && count < opts->min_count;
  if (opts->kind == WX_DATES_ALL || count < opts->min_count) {
    for (count = 0; count < n; count++) {
      row[count] = count;
    }
  }
  return count;
}

static bool any_finite(const float *a, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (isfinite(a[i])) {
      return true;
    }
  }
  return false;
}

static weir_status take_start(wx_eval_data *s, const wx_training_of *of, int64_t start,
                              wx_training *t)
{
  const int64_t cells = t->cells, at = t->n * cells;
  const float *members = NULL, *truth = NULL;

  WEIR_TRY(wx_eval_data_truth(s, start, of->lead, of->quantity, &truth));
  if (truth == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(wx_eval_data_members(s, start, of->lead, of->quantity, &members));
  members += of->at * cells;
  wx_cases_moments(members, of->n, cells, t->mean + at, t->variance + at);
  if (!any_finite(t->mean + at, cells)) {
    return WEIR_OK;
  }
  memcpy(t->truth + at, truth, (size_t)cells * sizeof *truth);
  if (t->member != NULL) {
    memcpy(t->member + at * of->n, members, (size_t)(of->n * cells) * sizeof *members);
  }
  t->time[t->n++] = s->facts->start[start];
  return WEIR_OK;
}

static weir_status read_all(wx_eval_data *s, const wx_training_of *of, bool keep, wx_training *t)
{
  const int64_t n = s->n_fit;
  int64_t all, values;

  if (!weir_mul_ok(n, s->cells, &all) || !weir_mul_ok(all, of->n, &values)) {
    return weir_fail(WEIR_ERR_MEMORY,
                     "%s: %lld initialisation times of %lld members at %lld points are too many",
                     s->facts->name, (long long)n, (long long)of->n, (long long)s->cells);
  }
  WEIR_TRY(weir_alloc(n, sizeof *t->time, (void **)&t->time));
  WEIR_TRY(weir_alloc(all, sizeof *t->mean, (void **)&t->mean));
  WEIR_TRY(weir_alloc(all, sizeof *t->variance, (void **)&t->variance));
  WEIR_TRY(weir_alloc(all, sizeof *t->truth, (void **)&t->truth));
  if (keep) {
    WEIR_TRY(weir_alloc(values, sizeof *t->member, (void **)&t->member));
  }
  for (int64_t i = 0; i < n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED,
                       "stopped at initialisation time %lld of %lld that is fitted on",
                       (long long)i, (long long)n);
    }
    WEIR_TRY(take_start(s, of, s->fit[i], t));
  }
  return WEIR_OK;
}

weir_status wx_training_read(wx_eval_data *s, const wx_training_of *of, bool keep_members,
                             wx_training *out)
{
  *out = (wx_training){.cells = s->cells, .members = of->n};
  const weir_status status = read_all(s, of, keep_members, out);

  if (status != WEIR_OK) {
    wx_training_fini(out);
  }
  return status;
}

void wx_training_fini(wx_training *t)
{
  weir_free(&t->time);
  weir_free(&t->mean);
  weir_free(&t->variance);
  weir_free(&t->truth);
  weir_free(&t->member);
}

wx_cases wx_training_cases(const wx_training *t, const double *weight, const int64_t *row,
                           int64_t n, float *scratch)
{
  wx_cases c = {.rows = t->n,
                .columns = t->cells,
                .mean = t->mean,
                .variance = t->variance,
                .truth = t->truth,
                .weight = weight};

  if (row != NULL) {
    const float *const from[] = {t->mean, t->variance, t->truth};
    const int64_t size = n * t->cells;

    for (int k = 0; k < 3; k++) {
      for (int64_t i = 0; i < n; i++) {
        memcpy(scratch + k * size + i * t->cells, from[k] + row[i] * t->cells,
               (size_t)t->cells * sizeof *scratch);
      }
    }
    c.rows = n;
    c.mean = scratch;
    c.variance = scratch + size;
    c.truth = scratch + 2 * size;
  }
  return c;
}
