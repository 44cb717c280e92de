/* points.c - see points.h. */
#include "eval/score/points.h"
#include <float.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "eval/sort/sort.h"

enum { CHUNK = 256 };

weir_status wx_points_init(int64_t cells, int64_t capacity, int64_t bytes, wx_points *p)
{
  *p = (wx_points){.cells = cells, .capacity = capacity > 0 ? capacity : 1};
  const int64_t fit = bytes / (int64_t)sizeof *p->value / p->capacity;

  p->wide = fit < 1 ? 1 : fit < cells ? fit : cells;
  const int64_t scratch = weir_threads_get() * p->capacity;

  WEIR_TRY(weir_alloc(scratch, WX_LANES * sizeof *p->lanes, (void **)&p->lanes));
  WEIR_TRY(weir_alloc(scratch, sizeof *p->sorted, (void **)&p->sorted));
  return weir_alloc(p->wide * p->capacity, sizeof *p->value, (void **)&p->value);
}

void wx_points_fini(wx_points *p)
{
  weir_free(&p->lanes);
  weir_free(&p->value);
  weir_free(&p->sorted);
}

bool wx_points_next(wx_points *p)
{
  p->lo += p->n;
  p->n = p->lo + p->wide < p->cells ? p->wide : p->cells - p->lo;
  p->fields = 0;
  p->lo = p->n > 0 ? p->lo : 0;
  return p->n > 0;
}

void wx_points_put(wx_points *p, const float *field)
{
  memcpy(p->value + p->fields++ * p->wide, field + p->lo, (size_t)p->n * sizeof *p->value);
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
  double *const lanes = p->lanes + thread * p->capacity * WX_LANES;
  const int64_t end = (chunk + 1) * CHUNK < p->n ? (chunk + 1) * CHUNK : p->n;

  for (int64_t k = chunk * CHUNK; k < end; k += WX_LANES) {
    const int64_t n = end - k < WX_LANES ? end - k : WX_LANES;
    int64_t count[WX_LANES];

    wx_sort_fields(p->value + k, p->fields, p->wide, n, FLT_MAX, lanes, count);
    for (int64_t l = 0; l < n; l++) {
      wx_lane_copy(lanes, count[l], l, x);
      j->each(j->context, p->lo + k + l, x, count[l]);
    }
  }
}

void wx_points_each(const wx_points *p, wx_point_fn *each, void *context)
{
  job j = {p, each, context};

  weir_parallel((p->n + CHUNK - 1) / CHUNK, 0, sort_chunk, &j);
}
