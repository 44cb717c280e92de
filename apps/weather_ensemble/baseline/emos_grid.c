/* emos_grid.c - coefficients of every cell, and the distributions that they give; see emos.h. */
#include <math.h>
#include "base/weir_alloc.h"
#include "baseline/emos.h"
#include "device/weir_parallel.h"

enum { BLOCK = 16 }; /* neighbours that one thread takes: they share lines of the cache */

typedef struct fits {
  const wx_emos_opts *opts;
  const wx_cases *cases;
  const wx_emos_grid *grid;
  int64_t cells, capacity; /* capacity: maximum cases of a cell and its window */
  float *buffer;           /* [threads, 3, capacity] */
  double *weight;          /* [threads, capacity]    */
  wx_emos *out;
  int64_t *n; /* [cells] cases that counted */
} fits;

/* Appends the cases of columns [from, to) of one row of the grid, all dates. */
static void gather_row(const fits *f, int64_t lat, int64_t from, int64_t to, wx_cases *into,
                       float *const at[3], double *weight)
{
  const float *const value[3] = {f->cases->mean, f->cases->variance, f->cases->truth};

  for (int64_t t = 0; t < f->cases->rows; t++) {
    for (int64_t lon = from; lon < to; lon++) {
      const int64_t wrapped = (lon % f->grid->n_lon + f->grid->n_lon) % f->grid->n_lon;
      const int64_t cell = lat * f->grid->n_lon + wrapped;

      for (int k = 0; k < 3; k++) {
        at[k][into->columns] = value[k][t * f->cells + cell];
      }
      weight[into->columns++] = f->cases->weight != NULL ? f->cases->weight[cell] : 1;
    }
  }
}

static void fit_cell(const fits *f, int64_t cell, int thread)
{
  const int64_t reach = f->opts->pool == WX_EMOS_WINDOW ? f->opts->radius : 0;
  const int64_t lat = cell / f->grid->n_lon, lon = cell % f->grid->n_lon, n_lon = f->grid->n_lon;
  float *const buffer = f->buffer + (int64_t)thread * 3 * f->capacity;
  float *const at[3] = {buffer, buffer + f->capacity, buffer + 2 * f->capacity};
  double *const weight = f->weight + (int64_t)thread * f->capacity;
  wx_cases c = {.rows = 1, .mean = at[0], .variance = at[1], .truth = at[2], .weight = weight};
  int64_t from = lon - reach, to = lon + reach + 1;
  wx_emos_fit fit;

  if (!f->grid->wraps || to - from >= n_lon) { /* no column twice */
    from = f->grid->wraps || from < 0 ? 0 : from;
    to = f->grid->wraps || to > n_lon ? n_lon : to;
  }
  for (int64_t j = lat - reach; j <= lat + reach; j++) {
    if (j >= 0 && j < f->grid->n_lat) {
      gather_row(f, j, from, to, &c, at, weight);
    }
  }
  (void)wx_emos_minimise(f->opts, &c, NULL, &fit);
  f->out[cell] = fit.at;
  f->n[cell] = fit.constant ? 0 : fit.cases; /* such truth says nothing of a scale */
}

static void body(void *context, int64_t item, int thread)
{
  const fits *const f = context;

  for (int64_t cell = item * BLOCK; cell < (item + 1) * BLOCK && cell < f->cells; cell++) {
    fit_cell(f, cell, thread);
  }
}

/* Cells of too few cases, or of a truth that never changes, have the coefficients of all. */
static weir_status fill(const fits *f, int64_t *few)
{
  wx_emos_fit all = {.cases = -1};

  *few = 0;
  for (int64_t cell = 0; cell < f->cells; cell++) {
    if (f->n[cell] < f->opts->min_cases) {
      if (all.cases < 0) {
        WEIR_TRY(wx_emos_fit_cases(f->opts, f->cases, &all));
      }
      f->out[cell] = all.at;
      ++*few;
    }
  }
  return WEIR_OK;
}

int64_t wx_emos_sets(const wx_emos_opts *opts, int64_t cells)
{
  return opts->pool == WX_EMOS_GLOBAL ? 1 : cells;
}

weir_status wx_emos_fit_grid(const wx_emos_opts *opts, const wx_cases *cases,
                             const wx_emos_grid *grid, wx_emos *out, int64_t *few)
{
  const int64_t threads = weir_threads_get(), side = 2 * opts->radius + 1;
  const int64_t high = side < grid->n_lat ? side : grid->n_lat;
  const int64_t wide = side < grid->n_lon ? side : grid->n_lon;
  fits f = {.opts = opts, .cases = cases, .grid = grid, .cells = cases->columns, .out = out};
  weir_status status = WEIR_OK;
  wx_emos_fit all;

  *few = 0;
  if (grid->n_lat * grid->n_lon != cases->columns) {
    return weir_fail(WEIR_ERR_SHAPE, "EMOS: cases of %lld cells on a grid of %lld x %lld",
                     (long long)cases->columns, (long long)grid->n_lat, (long long)grid->n_lon);
  }
  WEIR_TRY(wx_emos_check_truth(opts, cases));
  if (opts->pool == WX_EMOS_GLOBAL) {
    WEIR_TRY(wx_emos_fit_cases(opts, cases, &all));
    out[0] = all.at;
    return WEIR_OK;
  }
  f.capacity = cases->rows * (opts->pool == WX_EMOS_WINDOW ? high * wide : 1);
  WEIR_TRY_GOTO(weir_alloc(threads * 3 * f.capacity, sizeof *f.buffer, (void **)&f.buffer), done);
  WEIR_TRY_GOTO(weir_alloc(threads * f.capacity, sizeof *f.weight, (void **)&f.weight), done);
  WEIR_TRY_GOTO(weir_alloc(f.cells, sizeof *f.n, (void **)&f.n), done);
  weir_parallel((f.cells + BLOCK - 1) / BLOCK, 0, body, &f);
  WEIR_TRY_GOTO(fill(&f, few), done);
done:
  weir_free(&f.buffer);
  weir_free(&f.weight);
  weir_free(&f.n);
  return status;
}

void wx_emos_apply(const wx_emos *at, int64_t n_sets, const float *mean, const float *variance,
                   int64_t n, float *mu, float *sigma)
{
  for (int64_t i = 0; i < n; i++) {
    const wx_emos *const e = &at[n_sets > 1 ? i : 0];

    mu[i] = (float)(e->alpha + e->beta * (double)mean[i]);
    sigma[i] = (float)sqrt(e->gamma * e->gamma + e->delta * e->delta * (double)variance[i]);
  }
}
