/* points.c - see points.h. */
#include "eval/score/points.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "eval/score/crps.h"

enum { CHUNK = 256 };

weir_status wx_points_init(int64_t cells, int64_t capacity, int64_t bytes, wx_points *p)
{
  *p = (wx_points){.cells = cells, .capacity = capacity > 0 ? capacity : 1};
  const int64_t fit = bytes / (int64_t)sizeof *p->value / p->capacity;

  p->wide = fit < 1 ? 1 : fit < cells ? fit : cells;
  WEIR_TRY(weir_alloc(p->wide, sizeof *p->count, (void **)&p->count));
  WEIR_TRY(weir_alloc(weir_threads_get() * p->capacity, sizeof *p->sorted, (void **)&p->sorted));
  return weir_alloc(p->wide * p->capacity, sizeof *p->value, (void **)&p->value);
}

void wx_points_fini(wx_points *p)
{
  weir_free(&p->count);
  weir_free(&p->value);
  weir_free(&p->sorted);
}

bool wx_points_next(wx_points *p)
{
  p->lo += p->n;
  p->n = p->lo + p->wide < p->cells ? p->wide : p->cells - p->lo;
  memset(p->count, 0, (size_t)p->n * sizeof *p->count);
  p->lo = p->n > 0 ? p->lo : 0;
  return p->n > 0;
}

void wx_points_put(wx_points *p, const float *field)
{
  for (int64_t k = 0; k < p->n; k++) {
    if (isfinite(field[p->lo + k])) {
      p->value[k * p->capacity + p->count[k]++] = field[p->lo + k];
    }
  }
}

typedef struct job {
  const wx_points *p;
  wx_point_fn *each;
  void *context;
} job;

static void sort_chunk(void *context, int64_t chunk, int thread)
{
  const job *const j = context;
  const wx_points *const p = j->p;
  double *const x = p->sorted + thread * p->capacity;
  const int64_t end = (chunk + 1) * CHUNK < p->n ? (chunk + 1) * CHUNK : p->n;

  for (int64_t k = chunk * CHUNK; k < end; k++) {
    for (int64_t i = 0; i < p->count[k]; i++) {
      x[i] = (double)p->value[k * p->capacity + i];
    }
    wx_sort(x, p->count[k]);
    j->each(j->context, p->lo + k, x, p->count[k]);
  }
}

void wx_points_each(const wx_points *p, wx_point_fn *each, void *context)
{
  job j = {p, each, context};

  weir_parallel((p->n + CHUNK - 1) / CHUNK, 0, sort_chunk, &j);
}
