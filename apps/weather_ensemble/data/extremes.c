/* extremes.c - see extremes.h: one target at one depth and lead at a time, a climate as long as its
 * initialisation times stay the same. */
#include "data/extremes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/date.h"
#include "eval/score/efi.h"
#include "eval/score/points.h"

enum { DAY = 86400, MIB = 1 << 20 };

const weir_opt wx_eecrps_options[] = {
    WEIR_OPT_REAL(wx_eecrps_opts, weight, 0, 0, 1, "1",
                  "share of |EFI| in the weight of a grid point, relative to 1: 1 is the EECRPS of "
                  "arXiv:2206.14786, 0 the CRPS"),
    WEIR_OPT_ENUM(wx_eecrps_opts, efi, WX_EFI_EXACT, "exact|ens10",
                  "the index as the integral over 101 quantiles, or as the sum of 21 that ENS-10 "
                  "takes, which ends at +-0.791"),
    WEIR_OPT_REAL(wx_eecrps_opts, window, 0, 0, 183, "d",
                  "training initialisation times of the climate lie so near in the day of the "
                  "year; 0: all of "
                  "them, for weather without seasons"),
    WEIR_OPT_INT(wx_eecrps_opts, memory, 512, 1, 1e6, "MiB",
                 "for the values that are sorted at a time; with less, fields are read more often"),
    WEIR_OPT_END,
};

/* A sample, and its day of the year. */
typedef struct dated {
  double season;
  int64_t sample;
} dated;

typedef struct work {
  const wx_eecrps_opts *opts;
  wx_archive *a;
  const wx_archive_info *of;
  const wx_info *facts;
  int64_t first, all, plane;
  wx_efi_rule efi;
  dated *order; /* [n_order] samples of training and validation */
  int64_t n_order;
  int64_t *start, n_start;   /* of training, ascending, once each     */
  int64_t *chosen, n_chosen; /* those that the climate at hand is of; n_chosen < 0: none */
  int64_t *wanted, n_wanted; /* those that a sample asks for          */
  float *x;                  /* [all, plane] the members of a start   */
  wx_points points;
  float *quantile; /* [steps + 1, plane]; NaN: no value     */
  wx_extremes *out;
} work;

double wx_eecrps_factor(double weight, double efi)
{
  return weight == 0 ? 1 : 1 - weight + weight * fabs(efi);
}

void wx_extremes_fini(wx_extremes *x)
{
  weir_free(&x->factor);
}

/* ---- Initialisation times and samples ---- */

static int by_season(const void *a, const void *b)
{
  const dated *x = a, *y = b;

  return x->season != y->season ? (x->season > y->season) - (x->season < y->season)
                                : (x->sample > y->sample) - (x->sample < y->sample);
}

/* The initialisation times of training, once each: samples lie in the order of their initialisation
 * times. */
static void list_init_times(work *w, const wx_split *split)
{
  for (int64_t i = 0; i < split->n[WX_TRAIN]; i++) {
    const int64_t start = w->facts->of_start[split->sample[WX_TRAIN][i]];

    if (w->n_start == 0 || start > w->start[w->n_start - 1]) {
      w->start[w->n_start++] = start;
    }
  }
}

/* Samples of one day of the year one after another, so that they share a climate. */
static void list_samples(work *w, const wx_split *split)
{
  for (int p = WX_TRAIN; p <= WX_VALID; p++) {
    for (int64_t i = 0; i < split->n[p]; i++) {
      const int64_t sample = split->sample[p][i];
      const double season = w->opts->window > 0 ? fmod(w->facts->start[sample], WX_DATE_YEAR) : 0;

      w->order[w->n_order++] = (dated){season, sample};
    }
  }
  qsort(w->order, (size_t)w->n_order, sizeof *w->order, by_season);
}

static void want(work *w, int64_t sample)
{
  w->n_wanted = 0;
  for (int64_t i = 0; i < w->n_start; i++) {
    const double days = (double)w->of->start[w->start[i]] / DAY - w->facts->start[sample];

    if (wx_date_near(days, w->opts->window)) {
      w->wanted[w->n_wanted++] = w->start[i];
    }
  }
}

/* ---- Climate ---- */

static void take_point(void *context, int64_t i, const double *x, int64_t n)
{
  const work *const w = context;

  wx_model_climate_quantiles(x, n, w->efi.steps, w->quantile + i, w->plane);
}

/* The points at hand. */
static weir_status take_points(work *w, int64_t lead, int64_t quantity)
{
  for (int64_t i = 0; i < w->n_chosen; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped at the climate of the EECRPS");
    }
    WEIR_TRY(wx_archive_read(w->a, w->chosen[i], lead, quantity, w->first, w->all, w->x));
    for (int64_t m = 0; m < w->all; m++) {
      wx_points_put(&w->points, w->x + m * w->plane);
    }
  }
  wx_points_each(&w->points, take_point, w);
  return WEIR_OK;
}

/* The climate of the initialisation times that are wanted, where it is not that at hand. */
static weir_status take_climate(work *w, int64_t lead, int64_t quantity)
{
  const size_t bytes = (size_t)w->n_wanted * sizeof *w->wanted;

  if (w->n_chosen == w->n_wanted && (bytes == 0 || memcmp(w->chosen, w->wanted, bytes) == 0)) {
    return WEIR_OK;
  }
  w->n_chosen = w->n_wanted;
  if (bytes > 0) {
    memcpy(w->chosen, w->wanted, bytes);
  }
  while (wx_points_next(&w->points)) {
    WEIR_TRY(take_points(w, lead, quantity));
  }
  return WEIR_OK;
}

/* ---- Factors ---- */

/* Target k at depth d of all samples at that lead. */
static weir_status take_lead(work *w, int64_t k, int64_t d, int64_t lead, bool any)
{
  const wx_info *f = w->facts;
  const int64_t quantity = f->target[k * f->depth + d];

  w->n_chosen = -1;
  for (int64_t i = 0; i < w->n_order; i++) {
    const int64_t sample = w->order[i].sample;
    float *const own =
        w->out->factor + (sample * f->n_channels[WX_Y] + k) * f->cells + d * w->plane;

    if (!any && f->of_lead[sample] != lead) {
      continue;
    }
    want(w, sample);
    WEIR_TRY(take_climate(w, lead, quantity));
    WEIR_TRY(
        wx_archive_read(w->a, f->of_start[sample], lead, quantity, w->first, f->members, w->x));
    WEIR_TRY(wx_efi_field(&w->efi, w->x, f->members, w->quantile, w->plane, own));
    for (int64_t e = 0; e < w->plane; e++) {
      own[e] = (float)wx_eecrps_factor(w->opts->weight, (double)own[e]);
    }
    weir_progress("EECRPS", i + 1, w->n_order, "samples");
  }
  return WEIR_OK;
}

static weir_status take_all(work *w)
{
  const wx_info *f = w->facts;
  const bool together = f->rank == 3 && strcmp(f->axis[0].name, "lead") == 0;

  for (int64_t at = 0; at < f->n_channels[WX_Y] * f->depth; at++) {
    const int64_t k = at / f->depth, d = at % f->depth;

    for (int64_t l = 0; l < (together ? 1 : f->n_leads); l++) {
      WEIR_TRY(take_lead(w, k, d, f->lead[together ? d : l], together));
    }
  }
  return WEIR_OK;
}

/* ---- All of it ---- */

static weir_status allocate(work *w, const wx_split *split)
{
  const wx_info *f = w->facts;
  const int64_t samples = split->n[WX_TRAIN] + split->n[WX_VALID];
  int64_t values = 0;

  if (!weir_mul_ok(f->n, f->n_channels[WX_Y] * f->cells, &values)) {
    return weir_fail(WEIR_ERR_MEMORY, "weights of %lld samples are too many", (long long)f->n);
  }
  WEIR_TRY(weir_alloc(values, sizeof(float), (void **)&w->out->factor));
  for (int64_t i = 0; i < values; i++) {
    w->out->factor[i] = NAN;
  }
  WEIR_TRY(weir_alloc(samples, sizeof *w->order, (void **)&w->order));
  WEIR_TRY(weir_alloc(split->n[WX_TRAIN], sizeof *w->start, (void **)&w->start));
  list_samples(w, split);
  list_init_times(w, split);
  WEIR_TRY(weir_alloc(w->n_start, sizeof *w->chosen, (void **)&w->chosen));
  WEIR_TRY(weir_alloc(w->n_start, sizeof *w->wanted, (void **)&w->wanted));
  WEIR_TRY(weir_alloc(w->all * w->plane, sizeof *w->x, (void **)&w->x));
  WEIR_TRY(wx_points_init(w->plane, w->n_start * w->all, w->opts->memory * MIB, &w->points));
  return weir_alloc((w->efi.steps + 1) * w->plane, sizeof *w->quantile, (void **)&w->quantile);
}

static weir_status fit(work *w, const wx_split *split)
{
  WEIR_TRY(allocate(w, split));
  w->out->n = w->n_start;
  w->out->first = w->n_start > 0 ? (double)w->of->start[w->start[0]] / DAY : NAN;
  w->out->last = w->n_start > 0 ? (double)w->of->start[w->start[w->n_start - 1]] / DAY : NAN;
  (void)snprintf(w->out->name, sizeof w->out->name, "w EECRPS %g %s %g d", w->opts->weight,
                 w->opts->efi == WX_EFI_ENS10 ? "ens10" : "exact", w->opts->window);
  return take_all(w);
}

weir_status wx_extremes_fit(const wx_eecrps_opts *opts, wx_archive *forecast, const wx_info *facts,
                            int64_t first, const wx_split *split, wx_extremes *out)
{
  work w = {.opts = opts,
            .a = forecast,
            .of = wx_archive_get(forecast),
            .facts = facts,
            .first = first,
            .plane = facts->cells / facts->depth,
            .efi = wx_efi_rule_of(opts->efi),
            .out = out};

  *out = (wx_extremes){.first = NAN, .last = NAN};
  if (opts->weight == 0) {
    return WEIR_OK;
  }
  w.all = w.of->n_members - first;
  const weir_status status = fit(&w, split);

  weir_free(&w.order);
  weir_free(&w.start);
  weir_free(&w.chosen);
  weir_free(&w.wanted);
  weir_free(&w.x);
  wx_points_fini(&w.points);
  weir_free(&w.quantile);
  if (status != WEIR_OK) {
    wx_extremes_fini(out);
  }
  return status;
}
