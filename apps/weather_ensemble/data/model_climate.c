/* model_climate.c - see model_climate.h: passes over the training initialisation times, one
 * quantity at one lead at a time.
 */
#include "data/model_climate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "data/date.h"
#include "data/las.h"
#include "data/samples/members.h"
#include "eval/score/efi.h"
#include "eval/score/points.h"

const weir_opt wx_model_climate_options[] = {
    WEIR_OPT_INT(wx_model_climate_opts, members, 1, 0, 1000, "1",
                 "first members that mean and standard deviation are of; 0: all (the paper: the "
                 "first trajectory)"),
    WEIR_OPT_INT(wx_model_climate_opts, window, 7, 1, 999, "cells",
                 "width of the windows of the local area-wise standardisation, odd"),
    WEIR_OPT_REAL(wx_model_climate_opts, smoothing, 10, 0, 1000, "cells",
                  "standard deviation of the Gaussian that smooths them; 0: none"),
    WEIR_OPT_ENUM(
        wx_model_climate_opts, sd, WX_LAS_YEARLY, WX_LAS_SD_CHOICES,
        "their standard deviation: of each year and averaged, or of all initialisation times"),
    WEIR_OPT_INT(
        wx_model_climate_opts, quantiles, 100, 0, 1000, "1",
        "intervals of probability of the quantiles for the EFI (eval: 100, ENS-10: 20) and "
        "of the truth's for events; 0: none"),
    WEIR_OPT_INT(wx_model_climate_opts, first, WX_FIRST_MEMBER, 0, 1e6, "1",
                 "of the quantiles: " WX_FIRST_MEMBER_HELP),
    WEIR_OPT_END,
};

enum { SUMS = 3, SCRATCH = 9 }; /* fields of doubles */
enum { MOST_BYTES = 1 << 28 };  /* of values that quantiles hold at once */

/* What a pass over the initialisation times works with. */
typedef struct work {
  const wx_model_climate_opts *opts;
  wx_archive *a, *truth; /* truth: NULL, not given */
  const wx_archive_info *facts;
  const int64_t *start;
  int64_t n, members, cells;
  int64_t *year;   /* [n] */
  float *x;        /* [members, cells] */
  double *scratch; /* [SCRATCH, cells] */
  wx_points points;
  int64_t from, ranked; /* members of quantiles: so many from a position on */
} work;

static int64_t year_of(int64_t seconds)
{
  char text[32];

  wx_date_text((double)seconds / 86400, text, sizeof text);
  return strtoll(text, NULL, 10);
}

/* A number near all values, so that sums of squares keep their digits. */
static double pivot_of(const float *x, int64_t n)
{
  double sum = 0;
  int64_t seen = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += isnan(x[i]) ? 0 : (double)x[i];
    seen += !isnan(x[i]);
  }
  return seen > 0 ? sum / (double)seen : NAN;
}

/* Of one year, or of all: counts, sums and squares beyond a pivot, [cells]. */
typedef struct sums {
  double *n, *sum, *square;
} sums;

static void add(const sums *s, const float *x, double pivot, int64_t members, int64_t cells)
{
  for (int64_t m = 0; m < members; m++) {
    for (int64_t i = 0; i < cells; i++) {
      const double d = (double)x[m * cells + i] - pivot;

      if (!isnan(d)) {
        s->n[i] += 1;
        s->sum[i] += d;
        s->square[i] += d * d;
      }
    }
  }
}

static void merge(const sums *into, const sums *s, int64_t cells)
{
  for (int64_t i = 0; i < cells; i++) {
    into->n[i] += s->n[i];
    into->sum[i] += s->sum[i];
    into->square[i] += s->square[i];
  }
}

/* The mean and standard deviation of the cells, and of the grid by area. */
static void take_cells(const work *w, const sums *s, double pivot, wx_model_climate *c, int64_t at)
{
  const double *area = w->facts->grid.weight;
  double n = 0, sum = 0, square = 0;

  for (int64_t i = 0; i < w->cells; i++) {
    const double m = s->sum[i] / s->n[i];
    const double variance = fmax(0, s->square[i] / s->n[i] - m * m);

    c->cell_mean[at * w->cells + i] = s->n[i] > 0 ? (float)(pivot + m) : NAN;
    c->cell_sd[at * w->cells + i] = s->n[i] > 0 ? (float)sqrt(variance) : NAN;
    n += area[i] * s->n[i];
    sum += area[i] * s->sum[i];
    square += area[i] * s->square[i];
  }
  c->mean[at] = n > 0 ? pivot + sum / n : NAN;
  c->sd[at] = n > 0 ? sqrt(fmax(0, square / n - sum / n * (sum / n))) : NAN;
}

static wx_map_shape shape_of(const work *w)
{
  const wx_grid *g = &w->facts->grid;

  return (wx_map_shape){g->n_lat, g->n_lon, g->wraps};
}

static weir_status finish_las(const work *w, const wx_las_total *total, wx_model_climate *c,
                              int64_t at)
{
  const wx_map_shape shape = shape_of(w);

  WEIR_TRY(wx_las_finish(&shape, w->opts->smoothing, total));
  for (int64_t i = 0; i < w->cells; i++) {
    c->las_mean[at * w->cells + i] = (float)total->mean[i];
    c->las_sd[at * w->cells + i] = (float)total->sd[i];
  }
  return WEIR_OK;
}

static weir_status check_stop(int64_t i, int64_t n)
{
  return weir_stop_requested() ? weir_fail(WEIR_ERR_STOPPED,
                                           "stopped at initialisation time %lld of %lld of the "
                                           "climate",
                                           (long long)i, (long long)n)
                               : WEIR_OK;
}

/* One quantity at one lead, all initialisation times, year by year. */
static weir_status take_moments(const work *w, int64_t lead, int64_t quantity, wx_model_climate *c,
                                int64_t at)
{
  const int64_t cells = w->cells;
  double *const r = w->scratch;
  const sums all = {r, r + cells, r + 2 * cells};
  const sums year = {r + 3 * cells, r + 4 * cells, r + 5 * cells};
  const wx_las_total total = {r + 6 * cells, r + 7 * cells, r + 8 * cells};
  const wx_map_shape shape = shape_of(w);
  double pivot = NAN;

  memset(r, 0, (size_t)(9 * cells) * sizeof *r);
  for (int64_t i = 0; i < w->n; i++) {
    WEIR_TRY(check_stop(i, w->n));
    WEIR_TRY(wx_archive_read(w->a, w->start[i], lead, quantity, 0, w->members, w->x));
    pivot = isnan(pivot) ? pivot_of(w->x, w->members * cells) : pivot;
    add(&year, w->x, isnan(pivot) ? 0 : pivot, w->members, cells);
    if (i == w->n - 1 || w->year[i + 1] != w->year[i]) {
      merge(&all, &year, cells);
      if (w->opts->sd == WX_LAS_YEARLY) {
        const wx_las_sums of = {year.n, year.sum, year.square, isnan(pivot) ? 0 : pivot};

        WEIR_TRY(wx_las_add(&shape, w->opts->window, &of, &total));
      }
      memset(year.n, 0, (size_t)(SUMS * cells) * sizeof *r);
    }
  }
  pivot = isnan(pivot) ? 0 : pivot;
  if (w->opts->sd == WX_LAS_POOLED) {
    const wx_las_sums of = {all.n, all.sum, all.square, pivot};

    WEIR_TRY(wx_las_add(&shape, w->opts->window, &of, &total));
  }
  take_cells(w, &all, pivot, c, at);
  return finish_las(w, &total, c, at);
}

/* Members that are ranked, or the truth, NaN where there is none. */
static weir_status read_start(const work *w, bool truth, int64_t i, int64_t lead, int64_t quantity)
{
  if (!truth) {
    return wx_archive_read(w->a, w->start[i], lead, quantity, w->from, w->ranked, w->x);
  }
  const wx_archive_info *const t = wx_archive_get(w->truth);
  const int64_t k = wx_archive_find_quantity(t, w->facts->quantity[quantity].name);
  const int64_t time = k < 0 ? -1 : wx_archive_find_truth(t, w->facts, w->start[i], lead);
  const bool same = time >= 0 && wx_archive_same_period(w->facts, quantity, lead, t, k, 0);

  if (same && wx_archive_has(w->truth, time, 0, k, 0)) {
    return wx_archive_read(w->truth, time, 0, k, 0, 1, w->x);
  }
  for (int64_t e = 0; e < w->cells; e++) {
    w->x[e] = NAN;
  }
  return WEIR_OK;
}

/* Where the quantiles of a quantity and lead go. */
typedef struct ranking {
  const wx_model_climate *c;
  int64_t at, cells; /* quantity and lead */
  bool truth;
} ranking;

static void take_point(void *context, int64_t i, const double *x, int64_t n)
{
  const ranking *const r = context;
  const wx_model_climate *const c = r->c;
  float *const of = r->truth ? c->truth_quantile : c->quantile;
  double mean = 0, square = 0;

  if (of != NULL) {
    wx_model_climate_quantiles(x, n, c->n_quantiles,
                               of + r->at * (c->n_quantiles + 1) * r->cells + i, r->cells);
  }
  if (!r->truth) {
    return;
  }
  for (int64_t k = 0; k < n; k++) {
    mean += x[k] / (double)n;
  }
  for (int64_t k = 0; k < n; k++) {
    square += (x[k] - mean) * (x[k] - mean);
  }
  c->truth_mean[r->at * r->cells + i] = n > 0 ? (float)mean : NAN;
  c->truth_sd[r->at * r->cells + i] = n > 0 ? (float)sqrt(square / (double)n) : NAN;
}

/* Every start is read once for the points that are in memory at a time. */
static weir_status take_quantiles(work *w, bool truth, int64_t lead, int64_t quantity,
                                  const wx_model_climate *c, int64_t at)
{
  ranking r = {c, at, w->cells, truth};

  while (wx_points_next(&w->points)) {
    for (int64_t i = 0; i < w->n; i++) {
      WEIR_TRY(check_stop(i, w->n));
      WEIR_TRY(read_start(w, truth, i, lead, quantity));
      for (int64_t k = 0; k < (truth ? 1 : w->ranked); k++) {
        wx_points_put(&w->points, w->x + k * w->cells);
      }
    }
    wx_points_each(&w->points, take_point, &r);
  }
  return WEIR_OK;
}

static weir_status take_names(const work *w, wx_model_climate *c)
{
  const wx_archive_info *const f = w->facts;
  const int64_t n = w->n, *const start = w->start;

  WEIR_TRY(weir_alloc(f->n_leads, sizeof *c->lead, (void **)&c->lead));
  WEIR_TRY(weir_alloc(f->n_quantities * WX_SHORT, 1, (void **)&c->name));
  WEIR_TRY(weir_alloc(n, sizeof *c->start, (void **)&c->start));
  WEIR_TRY(weir_alloc(w->ranked, sizeof *c->member, (void **)&c->member));
  memcpy(c->member, f->member + w->from, (size_t)w->ranked * sizeof *c->member);
  c->n_members = w->ranked;
  memcpy(c->lead, f->lead, (size_t)f->n_leads * sizeof *c->lead);
  for (int64_t k = 0; k < f->n_quantities; k++) {
    memcpy(c->name + k * WX_SHORT, f->quantity[k].name, WX_SHORT);
  }
  for (int64_t i = 0; i < n; i++) {
    c->start[i] = f->start[start[i]];
  }
  return WEIR_OK;
}

static weir_status take_arrays(wx_model_climate *c, bool truth)
{
  enum { OWN = 4, FIELDS = 6 };
  const int64_t kinds = c->n_leads * c->n_quantities, cells = c->n_lat * c->n_lon;
  float **const fields[FIELDS] = {&c->cell_mean, &c->cell_sd,    &c->las_mean,
                                  &c->las_sd,    &c->truth_mean, &c->truth_sd};
  float **const quantiles[] = {&c->quantile, &c->truth_quantile};
  int64_t n = 0;

  if (!weir_mul_ok(kinds, cells, &n) || !weir_mul_ok(n, c->n_quantiles + 1, &n)) {
    return weir_fail(WEIR_ERR_MEMORY,
                     "a climate of %lld leads and quantities, %lld cells, %lld "
                     "quantiles is too large: set climate.quantiles less",
                     (long long)kinds, (long long)cells, (long long)c->n_quantiles);
  }
  WEIR_TRY(weir_alloc(kinds, sizeof *c->mean, (void **)&c->mean));
  WEIR_TRY(weir_alloc(kinds, sizeof *c->sd, (void **)&c->sd));
  for (int k = 0; k < (truth ? FIELDS : OWN); k++) {
    WEIR_TRY(weir_alloc(kinds * cells, sizeof(float), (void **)fields[k]));
  }
  for (int k = 0; k < (truth ? 2 : 1) && c->n_quantiles > 0; k++) {
    WEIR_TRY(weir_alloc(n, sizeof(float), (void **)quantiles[k]));
  }
  return WEIR_OK;
}

static weir_status take_work(work *w, const wx_model_climate *c)
{
  const int64_t longest = w->members > w->ranked ? w->members : w->ranked;

  WEIR_TRY(weir_alloc(w->n, sizeof *w->year, (void **)&w->year));
  for (int64_t i = 0; i < w->n; i++) {
    w->year[i] = year_of(c->start[i]);
  }
  WEIR_TRY(weir_alloc(longest * w->cells, sizeof *w->x, (void **)&w->x));
  WEIR_TRY(weir_alloc(SCRATCH * w->cells, sizeof *w->scratch, (void **)&w->scratch));
  if (c->n_quantiles == 0 && w->truth == NULL) {
    return WEIR_OK;
  }
  return wx_points_init(w->cells, w->n * w->ranked, MOST_BYTES, &w->points);
}

static weir_status fit(work *w, wx_model_climate *c)
{
  const int64_t kinds = c->n_leads * c->n_quantities;

  WEIR_TRY(wx_members_choose(w->facts, "climate.first", w->opts->first, 0, &w->from, &w->ranked));
  WEIR_TRY(take_names(w, c));
  WEIR_TRY(take_arrays(c, w->truth != NULL));
  WEIR_TRY(take_work(w, c));
  for (int64_t at = 0; at < kinds; at++) {
    const int64_t lead = at / c->n_quantities, quantity = at % c->n_quantities;

    WEIR_TRY(take_moments(w, lead, quantity, c, at));
    if (c->n_quantiles > 0) {
      WEIR_TRY(take_quantiles(w, false, lead, quantity, c, at));
    }
    if (w->truth != NULL) {
      WEIR_TRY(take_quantiles(w, true, lead, quantity, c, at));
    }
    weir_progress("climate", at + 1, kinds, "quantities and leads");
  }
  return WEIR_OK;
}

weir_status wx_model_climate_check(const wx_model_climate_opts *opts)
{
  return opts->window % 2 != 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "climate.window: %lld is even: a window has a middle",
                         (long long)opts->window);
}

weir_status wx_model_climate_fit(const wx_model_climate_opts *opts, wx_archive *a,
                                 wx_archive *truth, const int64_t *start, int64_t n,
                                 wx_model_climate *out)
{
  const wx_archive_info *f = wx_archive_get(a);
  const int64_t members =
      opts->members == 0 || opts->members > f->n_members ? f->n_members : opts->members;
  work w = {.opts = opts,
            .a = a,
            .truth = truth,
            .facts = f,
            .start = start,
            .n = n,
            .members = members,
            .cells = wx_grid_cells(&f->grid)};

  WEIR_TRY(wx_model_climate_check(opts));
  *out = (wx_model_climate){.n_leads = f->n_leads,
                            .n_quantities = f->n_quantities,
                            .n_lat = f->grid.n_lat,
                            .n_lon = f->grid.n_lon,
                            .n_init_times = n,
                            .n_quantiles = opts->quantiles};
  const weir_status status =
      n > 0
          ? fit(&w, out)
          : weir_fail(WEIR_ERR_CONFIG, "%s: no initialisation time to take a climate of", f->name);

  weir_free(&w.year);
  weir_free(&w.x);
  weir_free(&w.scratch);
  wx_points_fini(&w.points);
  if (status != WEIR_OK) {
    wx_model_climate_fini(out);
  }
  return status;
}

void wx_model_climate_fini(wx_model_climate *c)
{
  weir_free(&c->lead);
  weir_free(&c->name);
  weir_free(&c->start);
  weir_free(&c->mean);
  weir_free(&c->sd);
  weir_free(&c->cell_mean);
  weir_free(&c->cell_sd);
  weir_free(&c->las_mean);
  weir_free(&c->las_sd);
  weir_free(&c->member);
  weir_free(&c->quantile);
  weir_free(&c->truth_mean);
  weir_free(&c->truth_sd);
  weir_free(&c->truth_quantile);
}

int64_t wx_model_climate_find(const wx_model_climate *c, const char *name, double lead)
{
  for (int64_t at = 0; at < c->n_leads * c->n_quantities; at++) {
    if (fabs(c->lead[at / c->n_quantities] - lead) < 1e-6 &&
        strcmp(c->name + at % c->n_quantities * WX_SHORT, name) == 0) {
      return at;
    }
  }
  return -1;
}
