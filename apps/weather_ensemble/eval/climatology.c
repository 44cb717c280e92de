/* climatology.c - see climatology.h. */
#include "eval/climatology.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "data/samples/members.h"
#include "eval/score/points.h"

enum { DAY = 86400, MIB = 1 << 20 };

const weir_opt wx_climatology_options[] = {
    WEIR_OPT_REAL(wx_climatology_opts, window, 0, 0, 183, "d",
                  "initialisation times of the climate lie so near in the day of the year; 0: all "
                  "of them, for "
                  "weather without seasons"),
    WEIR_OPT_INT(
        wx_climatology_opts, memory, 512, 1, 1e6, "MiB",
        "for the values that are sorted at a time, and with a window as much again for the "
        "fields of the training initialisation times; with less, fields are read more often"),
    WEIR_OPT_ENUM(wx_climatology_opts, efi, WX_EFI_EXACT, "exact|ens10",
                  "the Extreme Forecast Index as the integral over 101 quantiles, or as the sum of "
                  "21 that ENS-10 takes, which ends at +-0.791"),
    WEIR_OPT_INT(wx_climatology_opts, first, WX_FIRST_MEMBER, 0, 1e6, "1",
                 "of the index and its climate: " WX_FIRST_MEMBER_HELP),
    WEIR_OPT_PATH(wx_climatology_opts, file, "",
                  "climate.nc of prepare (import.climate), of the same initialisation times of "
                  "training, in place "
                  "of reading them; also for the model climatology. Empty: they are read"),
    WEIR_OPT_END,
};

weir_status wx_climatology_check(const wx_climatology_opts *opts)
{
  return opts->file[0] == 0 || opts->window <= 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "eval.climate.file: it is of all its initialisation "
                                          "times, and eval.climate.window asks "
                                          "for those near in the year: set one of them");
}

weir_status wx_climatology_create(const wx_climatology_opts *opts, const wx_event *event,
                                  int64_t n_events, const wx_eval_data *s, const int64_t *scored,
                                  int64_t n, wx_climatology *out)
{
  weir_status status = WEIR_OK;

  *out = (wx_climatology){.opts = opts,
                          .event = event,
                          .n_events = n_events,
                          .efi = wx_efi_rule_of(opts->efi),
                          .n_known = -1,
                          .scored = scored,
                          .n_scored = n,
                          .kept_lead = -1};
  WEIR_TRY(wx_climatology_check(opts));
  WEIR_TRY_GOTO(weir_alloc(s->cells, sizeof(float), (void **)&out->mean), done);
  WEIR_TRY_GOTO(weir_alloc(n_events * s->cells, sizeof(float), (void **)&out->threshold), done);
  WEIR_TRY_GOTO(weir_alloc((out->efi.steps + 1) * s->cells, sizeof(float), (void **)&out->quantile),
                done);
  WEIR_TRY_GOTO(weir_alloc(s->n_fit, sizeof(int64_t), (void **)&out->row), done);
  WEIR_TRY_GOTO(weir_alloc(s->n_fit, sizeof(int64_t), (void **)&out->known), done);
done:
  if (status != WEIR_OK) {
    wx_climatology_fini(out);
  }
  return status;
}

void wx_climatology_fini(wx_climatology *c)
{
  weir_free(&c->mean);
  weir_free(&c->threshold);
  weir_free(&c->quantile);
  weir_free(&c->row);
  weir_free(&c->known);
  weir_free(&c->kept[0]);
  weir_free(&c->kept[1]);
}

static void choose(wx_climatology *c, const wx_eval_data *s, int64_t start)
{
  c->n = 0;
  for (int64_t i = 0; i < s->n_fit; i++) {
    const int64_t apart = s->facts->start[s->fit[i]] - s->facts->start[start];

    if (wx_date_near((double)apart / DAY, c->opts->window)) {
      c->row[c->n++] = i;
    }
  }
}

/* Of an event of a quantity at a point whose truths (or quantiles at equal distances) are x[n]
 * ascending; NaN: it is of another quantity, or there is no climate. */
static double threshold(const char *name, const wx_event *event, const double *x, int64_t n)
{
  if (event->quantity[0] != 0 && strcmp(event->quantity, name) != 0) {
    return NAN;
  }
  if (isnan(event->quantile)) {
    return event->value;
  }
  const double at = event->quantile * (double)(n - 1);
  const int64_t j = n > 0 ? (int64_t)at : 0;

  return n == 0 ? NAN : j + 1 < n ? x[j] + (at - (double)j) * (x[j + 1] - x[j]) : x[n - 1];
}

/* A climate that is being made. */
typedef struct making {
  wx_climatology *c;
  const wx_eval_data *s;
} making;

static void take_members(void *context, int64_t i, const double *x, int64_t n)
{
  const making *const m = context;

  wx_model_climate_quantiles(x, n, m->c->efi.steps, m->c->quantile + i, m->s->cells);
}

/* Mean and thresholds of a point. */
static void take_truth(void *context, int64_t i, const double *x, int64_t n)
{
  const making *const m = context;
  wx_climatology *const c = m->c;
  double mean = 0;

  for (int64_t k = 0; k < n; k++) {
    mean += x[k] / (double)n;
  }
  c->mean[i] = n > 0 ? (float)mean : NAN;
  for (int64_t e = 0; e < c->n_events; e++) {
    c->threshold[e * m->s->cells + i] =
        (float)threshold(m->s->facts->quantity[c->quantity].name, &c->event[e], x, n);
  }
}

/* The truth of a start of the fit, or its members from `from` on; NULL: there is no truth. */
static weir_status read_row(wx_climatology *c, wx_eval_data *s, bool truth, int64_t row,
                            int64_t from, const float **field)
{
  const int64_t of_row = truth ? 1 : s->facts->n_members - from;

  if (c->kept[truth] != NULL) {
    *field = c->kept[truth] + row * of_row * s->cells;
    return WEIR_OK;
  }
  if (truth) {
    return wx_eval_data_truth(s, s->fit[row], c->lead, c->quantity, field);
  }
  WEIR_TRY(wx_eval_data_members(s, s->fit[row], c->lead, c->quantity, field));
  *field += from * s->cells;
  return WEIR_OK;
}

static weir_status fill(wx_climatology *c, wx_eval_data *s, bool truth, int64_t from, wx_points *p)
{
  const int64_t of_row = truth ? 1 : s->facts->n_members - from;

  for (int64_t i = 0; i < c->n; i++) {
    const float *field;

    WEIR_TRY(read_row(c, s, truth, c->row[i], from, &field));
    for (int64_t m = 0; m < of_row && field != NULL; m++) {
      wx_points_put(p, field + m * s->cells);
    }
  }
  return WEIR_OK;
}

/* Where every start has initialisation times of its own, the fields of all of them are read once,
 * if they fit. */
static weir_status keep(wx_climatology *c, wx_eval_data *s, int64_t from)
{
  const int64_t members = s->facts->n_members - from, budget_bytes = c->opts->memory * MIB;
  int64_t size[2], bytes;

  if (c->opts->window == 0 || !weir_mul_ok(s->n_fit, members * s->cells, &size[0]) ||
      !weir_mul_ok(size[0] + s->n_fit * s->cells, (int64_t)sizeof(float), &bytes) ||
      bytes > budget_bytes || (c->kept_lead == c->lead && c->kept_quantity == c->quantity)) {
    return WEIR_OK;
  }
  size[1] = s->n_fit * s->cells;
  c->kept_lead = -1;
  for (int truth = 0; truth < 2; truth++) {
    const int64_t of_row = size[truth] / s->n_fit;
    float *all = c->kept[truth];

    c->kept[truth] = NULL; /* so that rows are read */
    if (all == NULL) {
      WEIR_TRY(weir_alloc(size[truth], sizeof *all, (void **)&all));
    }
    weir_status status = WEIR_OK;

    for (int64_t i = 0; i < s->n_fit && status == WEIR_OK; i++) {
      const float *field = NULL;

      status = read_row(c, s, truth, i, from, &field);
      for (int64_t k = 0; k < of_row && status == WEIR_OK; k++) {
        all[i * of_row + k] = field != NULL ? field[k] : NAN;
      }
    }
    c->kept[truth] = all;
    WEIR_TRY(status);
  }
  c->kept_lead = c->lead;
  c->kept_quantity = c->quantity;
  return WEIR_OK;
}

/* All points, as many at a time as the memory holds. */
static weir_status take_source(wx_climatology *c, wx_eval_data *s, bool truth, int64_t from)
{
  const int64_t of_start = truth ? 1 : s->facts->n_members - from;
  making m = {c, s};
  weir_status status = WEIR_OK;
  wx_points p;

  WEIR_TRY_GOTO(wx_points_init(s->cells, c->n * of_start, c->opts->memory * MIB, &p), done);
  while (wx_points_next(&p)) {
    WEIR_TRY_GOTO(fill(c, s, truth, from, &p), done);
    wx_points_each(&p, truth ? take_truth : take_members, &m);
  }
done:
  wx_points_fini(&p);
  return status;
}

/* Refuses a file of what is scored, or that the index cannot be made of. */
static weir_status check_file(const wx_climatology *c, const wx_eval_data *s,
                              const wx_model_climate *f)
{
  int64_t at, n;

  for (int64_t k = 0; k < f->n_init_times; k++) {
    for (int64_t i = 0; i < c->n_scored; i++) {
      if (s->facts->start[c->scored[i]] == f->start[k]) {
        return weir_fail(
            WEIR_ERR_CONFIG,
            "eval.climate.file: %s is made of initialisation times that are scored: take the "
            "data.split that it was prepared with, and another eval.part",
            s->climate);
      }
    }
  }
  if (f->n_quantiles == 0 || f->n_quantiles % c->efi.steps != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.climate.file: %s has quantiles of %lld intervals and eval.climate.efi "
                     "takes %lld: prepare it with climate.quantiles=%lld",
                     s->climate, (long long)f->n_quantiles, (long long)c->efi.steps,
                     (long long)c->efi.steps);
  }
  WEIR_TRY(wx_climatology_members(c, s, &at, &n));
  bool same = f->n_members == n;

  for (int64_t k = 0; k < n && same; k++) {
    same = f->member[k] == s->facts->member[at + k];
  }
  return same ? WEIR_OK
              : weir_fail(WEIR_ERR_CONFIG,
                          "eval.climate.file: the quantiles of %s are of %lld members from number "
                          "%lld on, and the index of %lld from %lld: set climate.first for prepare "
                          "or eval.climate.first here, or prepare it with the same archive",
                          s->climate, (long long)f->n_members, (long long)f->member[0],
                          (long long)n, (long long)s->facts->member[at]);
}

/* Thresholds of a point from the quantiles of its truth. scratch: [n_quantiles + 1]. */
static void take_thresholds(wx_climatology *c, const wx_eval_data *s, const wx_model_climate *f,
                            int64_t i, double *scratch)
{
  const char *const name = s->facts->quantity[c->quantity].name;
  int64_t n = 0;

  for (int64_t k = 0; k <= f->n_quantiles && f->truth_quantile != NULL; k++) {
    scratch[k] = (double)f->truth_quantile[k * s->cells + i];
    n += isfinite(scratch[k]) != 0;
  }
  n = n > f->n_quantiles ? n : 0;
  for (int64_t e = 0; e < c->n_events; e++) {
    c->threshold[e * s->cells + i] = (float)threshold(name, &c->event[e], scratch, n);
  }
}

static weir_status take_file(wx_climatology *c, const wx_eval_data *s)
{
  double *scratch = NULL;
  wx_model_climate f;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_eval_data_climate(s, c->lead, c->quantity, &f));
  WEIR_TRY_GOTO(check_file(c, s, &f), done);
  WEIR_TRY_GOTO(weir_alloc(f.n_quantiles + 1, sizeof *scratch, (void **)&scratch), done);
  for (int64_t i = 0; i < s->cells; i++) {
    for (int64_t k = 0; k <= c->efi.steps; k++) {
      c->quantile[k * s->cells + i] = f.quantile[k * (f.n_quantiles / c->efi.steps) * s->cells + i];
    }
    c->mean[i] = f.truth_mean != NULL ? f.truth_mean[i] : NAN;
    take_thresholds(c, s, &f, i, scratch);
  }
  c->n = c->n_known = f.n_init_times;
done:
  weir_free(&scratch);
  wx_model_climate_fini(&f);
  return status;
}

weir_status wx_climatology_update(wx_climatology *c, wx_eval_data *s, int64_t start, int64_t lead,
                                  int64_t quantity)
{
  const bool same = c->n_known >= 0 && c->lead == lead && c->quantity == quantity;
  const bool file = c->opts->file[0] != 0;
  int64_t from = 0, n;

  if (!file) {
    choose(c, s, start);
  }
  if (same &&
      (file || (c->n == c->n_known &&
                (c->n == 0 || memcmp(c->row, c->known, (size_t)c->n * sizeof *c->row) == 0)))) {
    return WEIR_OK;
  }
  c->n_known = -1;
  c->lead = lead;
  c->quantity = quantity;
  if (file) {
    return take_file(c, s);
  }
  if (c->n > 0) {
    WEIR_TRY(wx_climatology_members(c, s, &from, &n));
    WEIR_TRY(keep(c, s, from));
  }
  WEIR_TRY(take_source(c, s, true, 0));
  WEIR_TRY(take_source(c, s, false, from));
  if (c->n > 0) {
    memcpy(c->known, c->row, (size_t)c->n * sizeof *c->row);
  }
  c->n_known = c->n;
  return WEIR_OK;
}

weir_status wx_climatology_members(const wx_climatology *c, const wx_eval_data *s, int64_t *at,
                                   int64_t *n)
{
  return wx_members_choose(s->facts, "eval.climate.first", c->opts->first, 0, at, n);
}

weir_status wx_climatology_efi(const wx_climatology *c, const wx_eval_data *s, const float *members,
                               float *efi)
{
  int64_t at, n;

  WEIR_TRY(wx_climatology_members(c, s, &at, &n));
  return wx_efi_field(&c->efi, members + at * s->cells, n, c->quantile, s->cells, efi);
}
