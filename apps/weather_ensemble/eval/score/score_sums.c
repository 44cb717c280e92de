/* score_sums.c - see score_sums.h. */
#include "eval/score/score_sums.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "eval/score/crps.h"
#include "eval/sort/sort.h"
#include "eval/ensemble.h"
#include "eval/given.h"
#include "eval/score/score_sums_priv.h"

enum {
  CHUNK = 4096, /* points of a partial sum: the same sums for any number of threads */
  PIT_BINS = 20,
  HERSBACH = 3,     /* weight, below, above */
  SPREAD = 3,       /* of a bin: weight, variance, square */
  TIES = 0x57545249 /* purpose of random bits */
};

const weir_opt wx_score_sums_options[] = {
    WEIR_OPT_INT(wx_score_sums_opts, ddof, 1, 0, 1, "1",
                 "the variance of members is divided by their number less this, in crps_gauss and "
                 "in the probabilities of a normal distribution made of them; spread takes 1"),
    WEIR_OPT_REAL(wx_score_sums_opts, almost_fair, 0.95, 0, 1, "1",
                  "share of the fair CRPS in the almost fair one"),
    WEIR_OPT_REAL(wx_score_sums_opts, coverage, 0.8, 0.01, 0.999, "1",
                  "nominal coverage of the central intervals; members reach (m - 1) / (m + 1)"),
    WEIR_OPT_INT(wx_score_sums_opts, bins, 11, 2, 1001, "1",
                 "distinct probabilities in reliability and ROC; members need one more than "
                 "there are of them, and get no more"),
    WEIR_OPT_INT(wx_score_sums_opts, patch, 4, 0, 8, "points",
                 "edge of the squares whose points the energy and the variogram score take "
                 "together; 0: none"),
    WEIR_OPT_REAL(wx_score_sums_opts, order, 0.5, 0.01, 4, "1", "of the variogram score"),
    WEIR_OPT_END,
};

int64_t wx_score_sums_event(int64_t event, int sum)
{
  return WX_SUMS + WX_EVENT_SUMS * event + (int64_t)sum;
}

int64_t wx_score_sums_bin_row(const wx_score_sums *t, int64_t event, int64_t bin)
{
  return t->n_sums + 2 * (event * t->bins + bin);
}

static int64_t chunks(const wx_score_sums *t)
{
  return (t->cells + CHUNK - 1) / CHUNK;
}

static int64_t blocks(const wx_score_sums *t)
{
  return t->regions->n * WX_WEIGHTINGS;
}

static void lay_out(wx_score_sums *t)
{
  const int64_t ranks = t->members > 0 ? t->members + 1 : 0;
  wx_score_sums_block *const b = &t->at;

  b->rank = t->n_sums;
  b->pit = b->rank + ranks;
  b->alpha = b->pit + t->pit_bins;
  b->beta = b->alpha + ranks;
  b->hersbach = b->beta + ranks;
  b->spread = b->hersbach + HERSBACH;
  b->events = b->spread + SPREAD * WX_SPREAD_BINS;
  b->size =
      b->events + t->n_events * t->bins * (int64_t)(sizeof(wx_reliability_bin) / sizeof(double));
}

weir_status wx_score_sums_create(const wx_score_sums_opts *opts, const wx_grid *grid,
                                 const wx_regions *regions, int64_t members, int64_t n_events,
                                 int64_t n_init_times, wx_score_sums *out)
{
  const int64_t cells = grid->n_lat * grid->n_lon;
  weir_status status = WEIR_OK;

  _Static_assert(sizeof(wx_reliability_bin) % sizeof(double) == 0, "bins lie among numbers");
  *out = (wx_score_sums){.opts = opts,
                         .grid = grid,
                         .regions = regions,
                         .members = members,
                         .bins = members > 0 && members + 1 < opts->bins ? members + 1 : opts->bins,
                         .pit_bins = PIT_BINS,
                         .n_events = n_events,
                         .cells = cells,
                         .n_init_times = n_init_times,
                         .n_sums = WX_SUMS + WX_EVENT_SUMS * n_events};
  out->n_rows = wx_score_sums_bin_row(out, n_events, 0);
  lay_out(out);
  const int64_t all = blocks(out) * out->at.size, scratch = weir_threads_get() * (2 * members + 1);

  WEIR_TRY_GOTO(weir_alloc(all, sizeof(double), (void **)&out->total), done);
  WEIR_TRY_GOTO(
      weir_alloc(blocks(out) * out->n_rows * n_init_times, sizeof(double), (void **)&out->series),
      done);
  WEIR_TRY_GOTO(weir_alloc(WX_MAPS * cells, sizeof(double), (void **)&out->map), done);
  WEIR_TRY_GOTO(weir_alloc(cells, sizeof(float), (void **)&out->crps), done);
  WEIR_TRY_GOTO(weir_alloc(chunks(out) * all, sizeof(double), (void **)&out->partial), done);
  WEIR_TRY_GOTO(
      weir_alloc(weir_threads_get() * members, WX_LANES * sizeof(double), (void **)&out->lanes),
      done);
  WEIR_TRY_GOTO(weir_alloc(scratch, sizeof(double), (void **)&out->scratch), done);
  WEIR_TRY_GOTO(wx_score_sums_patches_reserve(out, wx_score_sums_patches_edge(out), 1), done);
done:
  if (status != WEIR_OK) {
    wx_score_sums_fini(out);
  }
  return status;
}

void wx_score_sums_fini(wx_score_sums *t)
{
  weir_free(&t->total);
  weir_free(&t->series);
  weir_free(&t->map);
  weir_free(&t->crps);
  weir_free(&t->partial);
  weir_free(&t->lanes);
  weir_free(&t->scratch);
  wx_score_sums_patches_fini(t);
}

void wx_score_sums_clear(wx_score_sums *t)
{
  memset(t->total, 0, (size_t)(blocks(t) * t->at.size) * sizeof *t->total);
  memset(t->series, 0, (size_t)(blocks(t) * t->n_rows * t->n_init_times) * sizeof *t->series);
  memset(t->map, 0, (size_t)(WX_MAPS * t->cells) * sizeof *t->map);
}

bool wx_given_is_whole(const wx_given *g, int64_t cells, int64_t i, bool some)
{
  int64_t finite = 0;

  if (g->members == 0) {
    return isfinite(g->mean[i]) && isfinite(g->sd[i]) && g->sd[i] >= 0;
  }
  for (int64_t k = 0; k < g->members; k++) {
    finite += isfinite(g->member[k * cells + i]) != 0;
  }
  return finite == g->members || (some && finite >= 2);
}

/* A point: what its forecast is, and what it adds to each sum. */
typedef struct point {
  const double *x; /* [m] ascending; m 0: a distribution */
  int64_t m, rank;
  wx_distribution d; /* the normal one of the members, with the options' divisor */
  double mean, y, pit;
  double sum[WX_SUMS];
  double event[WX_EVENTS][WX_EVENT_SUMS], chance[WX_EVENTS];
  int came[WX_EVENTS];
} point;

typedef struct job {
  wx_score_sums *t;
  const wx_start_case *c;
  const wx_given *g;
} job;

/* Sums that members and distributions have in common. */
static void score_mean(const wx_score_sums_opts *o, point *p, double variance)
{
  const double m = (double)p->m, error = p->mean - p->y;
  const double tail = (1 - o->coverage) / 2;
  const wx_interval w = p->m > 0
                            ? wx_interval_ensemble(p->x, p->m, o->coverage)
                            : (wx_interval){wx_distribution_quantile(&p->d, tail),
                                            wx_distribution_quantile(&p->d, 1 - tail), o->coverage};

  p->sum[WX_SUM_CELLS] = 1;
  p->sum[WX_SUM_WEIGHT] = 1;
  p->sum[WX_SUM_GAUSS] = wx_distribution_crps(&p->d, p->y);
  p->sum[WX_SUM_ERROR] = error;
  p->sum[WX_SUM_ABSOLUTE] = fabs(error);
  p->sum[WX_SUM_SQUARE] = error * error;
  p->sum[WX_SUM_UNBIASED] = error * error - (p->m > 0 ? variance / m : 0);
  p->sum[WX_SUM_VARIANCE] = variance;
  p->sum[WX_SUM_CORRECTED] = p->m > 0 ? variance * (m + 1) / m : variance;
  p->sum[WX_SUM_SD] = sqrt(variance);
  p->sum[WX_SUM_SD_ABSOLUTE] = sqrt(variance) * fabs(error);
  p->sum[WX_SUM_LOG] = wx_distribution_log_score(&p->d, p->y);
  p->sum[WX_SUM_PIT] = p->pit;
  p->sum[WX_SUM_PIT_SQUARE] = p->pit * p->pit;
  p->sum[WX_SUM_COVERED] = p->y >= w.lo && p->y <= w.hi;
  p->sum[WX_SUM_NOMINAL] = w.nominal;
  p->sum[WX_SUM_WIDTH] = w.hi - w.lo;
  p->sum[WX_SUM_INTERVAL] = wx_interval_score(&w, p->y);
}

static void score_members(const wx_score_sums_opts *o, const wx_start_case *c, int64_t cells,
                          int64_t i, point *p)
{
  const uint64_t index = (uint64_t)(c->start * cells + i);
  const wx_moments own = wx_ensemble_moments(p->x, p->m, (int)o->ddof);
  const wx_moments one = wx_ensemble_moments(p->x, p->m, 1);
  const wx_crps_decomposition terms = wx_crps_sorted(p->x, p->m, p->y);

  p->mean = own.mean;
  p->d = (wx_distribution){WX_NORMAL, own.mean, sqrt(own.variance), 0, 0, 0};
  p->rank = wx_ensemble_rank(p->x, p->m, p->y, weir_random_bits(c->seed, TIES, c->number, index));
  p->pit = wx_pit_rank(p->rank, p->m, weir_random_uniform(c->seed, TIES + 1, c->number, index));
  score_mean(o, p, one.variance);
  p->sum[WX_SUM_CRPS] = wx_crps_empirical(&terms);
  p->sum[WX_SUM_FAIR] = wx_crps_fair(&terms);
  p->sum[WX_SUM_ALMOST] = wx_crps_almost_fair(&terms, o->almost_fair);
}

/* The probability below the truth, and a share u of that of the truth itself. */
static double pit_of_distribution(const wx_distribution *d, double y, double u)
{
  const double below = wx_distribution_below(d, y);

  if (d->scale == 0) {
    return isnan(y - d->location) ? NAN : (below + (1 - wx_distribution_above(d, y))) / 2;
  }
  const bool atom =
      wx_family_is_censored(d->family) && (y == d->lower || y == wx_distribution_upper(d));

  return atom ? below + u * (1 - wx_distribution_above(d, y) - below) : below;
}

/* The score of a distribution is that of infinitely many members: fair. */
static void score_distribution(const wx_score_sums_opts *o, const wx_start_case *c, int64_t cells,
                               int64_t i, double sd, point *p)
{
  const uint64_t index = (uint64_t)(c->start * cells + i);
  const double u = weir_random_uniform(c->seed, TIES + 1, c->number, index);

  p->pit = pit_of_distribution(&p->d, p->y, u);
  score_mean(o, p, sd * sd);
  p->sum[WX_SUM_CRPS] = p->sum[WX_SUM_FAIR] = p->sum[WX_SUM_ALMOST] = p->sum[WX_SUM_GAUSS];
}

static double chance_of(const point *p, double threshold, bool above)
{
  int64_t n = 0;

  if (p->m == 0) {
    return above ? wx_distribution_above(&p->d, threshold)
                 : wx_distribution_below(&p->d, threshold);
  }
  for (int64_t k = 0; k < p->m; k++) {
    n += above ? p->x[k] > threshold : p->x[k] < threshold;
  }
  return (double)n / (double)p->m;
}

/* Events, extremes and anomalies, where their climate is known. scratch: [m]. */
static void score_against_climate(const wx_start_case *c, int64_t cells, int64_t i, point *p,
                                  double *scratch)
{
  const wx_climatology *const climate = c->climate;

  if (c->efi != NULL && isfinite(c->efi[i])) {
    p->sum[WX_SUM_EXTREME_WEIGHT] = 1;
    p->sum[WX_SUM_EXTREME] = fabs((double)c->efi[i]);
    p->sum[WX_SUM_EXTREME_CRPS] = fabs((double)c->efi[i]) * p->sum[WX_SUM_CRPS];
  }
  if (climate == NULL) {
    return;
  }
  if (isfinite(climate->mean[i])) {
    const double usual = (double)climate->mean[i];

    p->sum[WX_SUM_PRODUCT] = (p->mean - usual) * (p->y - usual);
    p->sum[WX_SUM_FORECAST] = (p->mean - usual) * (p->mean - usual);
    p->sum[WX_SUM_TRUTH] = (p->y - usual) * (p->y - usual);
  }
  for (int64_t e = 0; e < climate->n_events; e++) {
    const double at = (double)climate->threshold[e * cells + i];
    const bool above = climate->event[e].above;

    if (!isfinite(at)) {
      continue;
    }
    const double chance = chance_of(p, at, above);
    const int came = above ? p->y > at : p->y < at;

    p->chance[e] = chance;
    p->came[e] = came;
    p->event[e][WX_EVENT_WEIGHT] = 1;
    p->event[e][WX_EVENT_BRIER] = wx_brier(chance, came);
    p->event[e][WX_EVENT_BRIER_FAIR] = wx_brier_fair(chance, came, p->m);
    if (p->m > 0) {
      const wx_crps_decomposition tail = wx_crps_tail(p->x, p->m, p->y, at, above, scratch);

      p->event[e][WX_EVENT_TAIL] = wx_crps_empirical(&tail);
    } else {
      p->event[e][WX_EVENT_TAIL] = wx_distribution_crps_tail(&p->d, p->y, at, above);
    }
  }
}

static void add_spread(const point *p, double weight, double *bins)
{
  const double variance = p->sum[WX_SUM_CORRECTED];
  const double at = WX_SPREAD_BINS / 2 + floor(2 * log2(variance)); /* a quarter of the power */

  if (isfinite(variance)) {
    double *const bin = bins + SPREAD * (int64_t)fmax(0, fmin(WX_SPREAD_BINS - 1, at));

    bin[0] += weight;
    bin[1] += weight * variance;
    bin[2] += weight * p->sum[WX_SUM_SQUARE];
  }
}

static void add_point(const wx_score_sums *t, const point *p, double weight, double *block)
{
  const wx_score_sums_block *const at = &t->at;
  const int64_t pit = (int64_t)(p->pit * (double)t->pit_bins);

  block[WX_SUM_CELLS]++;
  for (int s = WX_SUM_CELLS + 1; s < WX_SUMS; s++) {
    block[s] += weight * p->sum[s];
  }
  for (int64_t e = 0; e < t->n_events; e++) {
    double *const sum = block + wx_score_sums_event(e, 0);

    if (p->event[e][WX_EVENT_WEIGHT] == 0) {
      continue;
    }
    for (int s = 0; s < WX_EVENT_SUMS; s++) {
      sum[s] += weight * p->event[e][s];
    }
    wx_reliability_take((wx_reliability_bin *)(block + at->events) + e * t->bins, t->bins,
                        p->chance[e], p->came[e], weight);
  }
  add_spread(p, weight, block + at->spread);
  if (pit >= 0) {
    block[at->pit + (pit < t->pit_bins ? pit : t->pit_bins - 1)] += weight;
  }
  if (p->m > 0 && p->m == t->members) { /* of fewer the ranks are others */
    wx_hersbach h = {.m = p->m, .alpha = block + at->alpha, .beta = block + at->beta};

    block[at->rank + p->rank] += weight;
    wx_hersbach_take(&h, p->x, p->y, weight);
    block[at->hersbach] += h.weight;
    block[at->hersbach + 1] += h.below;
    block[at->hersbach + 2] += h.above;
  }
}

static void add_map(wx_score_sums *t, const point *p, int64_t i)
{
  t->map[WX_MAP_COUNT * t->cells + i]++;
  t->map[WX_MAP_CRPS * t->cells + i] += p->sum[WX_SUM_CRPS];
  t->map[WX_MAP_ERROR * t->cells + i] += p->sum[WX_SUM_ERROR];
  t->map[WX_MAP_SQUARE * t->cells + i] += p->sum[WX_SUM_SQUARE];
  t->map[WX_MAP_VARIANCE * t->cells + i] += p->sum[WX_SUM_VARIANCE];
  t->crps[i] = (float)p->sum[WX_SUM_CRPS];
}

/* scratch: the m members of the point, ascending, and as many numbers again. */
static void score_point(const job *j, int64_t i, int64_t m, double *scratch, double *partial)
{
  wx_score_sums *const t = j->t;
  const wx_given *const g = j->g;
  const double area = t->grid->weight != NULL ? t->grid->weight[i] : 1;
  point p = {.x = scratch, .m = m, .y = (double)j->c->truth[i]};

  if (g->members > 0) {
    score_members(t->opts, j->c, t->cells, i, &p);
  } else {
    p.mean = (double)g->mean[i];
    p.d = wx_given_distribution(g, i);
    score_distribution(t->opts, j->c, t->cells, i, (double)g->sd[i], &p);
  }
  score_against_climate(j->c, t->cells, i, &p, scratch + t->members);
  for (int64_t r = 0; r < t->regions->n; r++) {
    if (t->regions->mask[i] >> r & 1) {
      add_point(t, &p, area, partial + (r * WX_WEIGHTINGS + WX_BY_AREA) * t->at.size);
      add_point(t, &p, 1, partial + (r * WX_WEIGHTINGS + WX_BY_POINT) * t->at.size);
    }
  }
  add_map(t, &p, i);
}

/* Points [from, from + n), n <= WX_LANES. */
static void score_block(const job *j, int64_t from, int64_t n, int thread, double *partial)
{
  wx_score_sums *const t = j->t;
  double *const lanes = t->lanes + thread * t->members * WX_LANES;
  double *const scratch = t->scratch + thread * (2 * t->members + 1);
  int64_t m[WX_LANES] = {0};
  bool any = false;

  for (int64_t l = 0; l < n; l++) {
    any = any || j->c->use[from + l];
  }
  if (any && j->g->members > 0) {
    wx_sort_fields(j->g->member + from, j->g->members, t->cells, n, FLT_MAX, lanes, m);
  }
  for (int64_t l = 0; l < n; l++) {
    t->crps[from + l] = NAN;
    if (j->c->use[from + l]) {
      wx_lane_copy(lanes, m[l], l, scratch);
      score_point(j, from + l, m[l], scratch, partial);
    }
  }
}

static void score_chunk(void *context, int64_t chunk, int thread)
{
  const job *const j = context;
  wx_score_sums *const t = j->t;
  const int64_t all = blocks(t) * t->at.size, lo = chunk * CHUNK;
  const int64_t hi = lo + CHUNK < t->cells ? lo + CHUNK : t->cells;
  double *const partial = t->partial + chunk * all;

  memset(partial, 0, (size_t)all * sizeof *partial);
  for (int64_t i = lo; i < hi; i += WX_LANES) {
    score_block(j, i, hi - i < WX_LANES ? hi - i : WX_LANES, thread, partial);
  }
}

/* What a start adds to the series of a block. */
static void keep_start(wx_score_sums *t, int64_t b, int64_t at)
{
  double *const sum = t->partial + b * t->at.size, *const row =
                                                       t->series + b * t->n_rows * t->n_init_times;
  const double both = sqrt(sum[WX_SUM_FORECAST] * sum[WX_SUM_TRUTH]);
  const wx_reliability_bin *const bin = (const wx_reliability_bin *)(sum + t->at.events);

  sum[WX_SUM_ONE] = both > 0;
  sum[WX_SUM_ACC] = both > 0 ? sum[WX_SUM_PRODUCT] / both : 0;
  for (int64_t s = 0; s < t->n_sums; s++) {
    row[s * t->n_init_times + at] = sum[s];
  }
  for (int64_t k = 0; k < t->n_events * t->bins; k++) {
    row[(t->n_sums + 2 * k) * t->n_init_times + at] = bin[k].weight;
    row[(t->n_sums + 2 * k + 1) * t->n_init_times + at] = bin[k].observed;
  }
}

/* Adds the sums of a start, t->partial, to the series and to those of all initialisation times. */
static void keep(wx_score_sums *t, int64_t at)
{
  for (int64_t b = 0; b < blocks(t); b++) {
    keep_start(t, b, at);
  }
  for (int64_t k = 0; k < blocks(t) * t->at.size; k++) {
    t->total[k] += t->partial[k];
  }
}

weir_status wx_score_sums_take_joint(wx_score_sums *t, const wx_joint_case *c, int64_t at)
{
  const int64_t edge = t->grid->kind == WX_GRID_SITES ? 1 : t->opts->patch;

  WEIR_TRY(wx_score_sums_patches_reserve(t, edge, c->n));
  memset(t->partial, 0, (size_t)(blocks(t) * t->at.size) * sizeof *t->partial);
  wx_score_sums_patches(t, c, edge, t->partial);
  keep(t, at);
  return WEIR_OK;
}

void wx_score_sums_take(wx_score_sums *t, const wx_start_case *c, const wx_given *given, int64_t at)
{
  static const double one = 1;
  const int64_t all = blocks(t) * t->at.size;
  const wx_joint_case alone = {.n = 1,
                               .truth = c->truth,
                               .member = given->member,
                               .members = given->members,
                               .scale = &one,
                               .use = c->use};
  job j = {t, c, given};

  weir_parallel(chunks(t), 0, score_chunk, &j);
  for (int64_t s = 1; s < chunks(t); s++) {
    for (int64_t k = 0; k < all; k++) {
      t->partial[k] += t->partial[s * all + k];
    }
  }
  wx_score_sums_patches(t, &alone, wx_score_sums_patches_edge(t), t->partial);
  keep(t, at);
}

const double *wx_score_sums_series(const wx_score_sums *t, int64_t region, int weighting,
                                   int64_t sum)
{
  return t->series + ((region * WX_WEIGHTINGS + weighting) * t->n_rows + sum) * t->n_init_times;
}

const double *wx_score_sums_total(const wx_score_sums *t, int64_t region, int weighting)
{
  return t->total + (region * WX_WEIGHTINGS + weighting) * t->at.size;
}

wx_spread_bin wx_spread_bin_get(const wx_score_sums *t, const double *block, int64_t k)
{
  const double *const bin = block + t->at.spread + SPREAD * k;

  return bin[0] > 0 ? (wx_spread_bin){sqrt(bin[1] / bin[0]), sqrt(bin[2] / bin[0]),
                                      bin[0] / block[WX_SUM_WEIGHT]}
                    : (wx_spread_bin){NAN, NAN, 0};
}

double wx_score_sums_local_bias(const wx_score_sums *t, int64_t region, int weighting)
{
  const double *const count = t->map + WX_MAP_COUNT * t->cells;
  const double *const error = t->map + WX_MAP_ERROR * t->cells;
  double sum = 0, all = 0;

  for (int64_t i = 0; i < t->cells; i++) {
    const double w = weighting == WX_BY_AREA && t->grid->weight != NULL ? t->grid->weight[i] : 1;

    if (count[i] > 0 && t->regions->mask[i] >> region & 1) {
      sum += w * (error[i] / count[i]) * (error[i] / count[i]);
      all += w;
    }
  }
  return all > 0 ? sqrt(sum / all) : NAN;
}

double wx_spread_correlation(const double *block)
{
  const double n = block[WX_SUM_WEIGHT], sd = block[WX_SUM_SD] / n;
  const double error = block[WX_SUM_ABSOLUTE] / n;
  const double both =
      sqrt((block[WX_SUM_VARIANCE] / n - sd * sd) * (block[WX_SUM_SQUARE] / n - error * error));

  return (block[WX_SUM_SD_ABSOLUTE] / n - sd * error) / both;
}

wx_hersbach wx_score_sums_hersbach(const wx_score_sums *t, int64_t region, int weighting)
{
  double *const b = t->total + (region * WX_WEIGHTINGS + weighting) * t->at.size;

  return (wx_hersbach){.m = t->members,
                       .alpha = b + t->at.alpha,
                       .beta = b + t->at.beta,
                       .weight = b[t->at.hersbach],
                       .below = b[t->at.hersbach + 1],
                       .above = b[t->at.hersbach + 2]};
}

const wx_reliability_bin *wx_score_sums_bins(const wx_score_sums *t, int64_t region, int weighting,
                                             int64_t event)
{
  return (const wx_reliability_bin *)(wx_score_sums_total(t, region, weighting) + t->at.events) +
         event * t->bins;
}
