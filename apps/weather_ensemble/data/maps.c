/* maps.c - see maps.h: both work along columns, then along rows. */
#include "data/maps.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

/* n values `step` apart. */
typedef struct line {
  double *at;
  int64_t n, step;
  bool wraps;
} line;

/* Sums of half values before and behind, from running totals. total: [n + 1]. */
static void window_line(const line *l, int64_t half, double *total)
{
  const int64_t n = l->n;

  total[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    total[i + 1] = total[i] + l->at[i * l->step];
  }
  for (int64_t i = 0; i < n; i++) {
    const int64_t from = i - half, to = i + half + 1;
    const double inside = total[to < n ? to : n] - total[from > 0 ? from : 0];

    if (!l->wraps) {
      l->at[i * l->step] = inside;
    } else if (to - from >= n) {
      l->at[i * l->step] = total[n];
    } else {
      l->at[i * l->step] =
          inside + (from < 0 ? total[n] - total[n + from] : 0) + (to > n ? total[to - n] : 0);
    }
  }
}

/* Calls for every row, then for every column. */
#define EACH_LINE(shape, map, l, ...)                                               \
  for (int64_t j = 0; j < (shape)->n_lat; j++) {                                    \
    const line l = {(map) + j * (shape)->n_lon, (shape)->n_lon, 1, (shape)->wraps}; \
    __VA_ARGS__;                                                                    \
  }                                                                                 \
  for (int64_t i = 0; i < (shape)->n_lon; i++) {                                    \
    const line l = {(map) + i, (shape)->n_lat, (shape)->n_lon, false};              \
    __VA_ARGS__;                                                                    \
  }

static int64_t longest(const wx_map_shape *s)
{
  return s->n_lat > s->n_lon ? s->n_lat : s->n_lon;
}

weir_status wx_map_window(const wx_map_shape *shape, int64_t window, double *map)
{
  double *total = NULL;

  if (window <= 1) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(longest(shape) + 1, sizeof *total, (void **)&total));
  EACH_LINE(shape, map, l, window_line(&l, window / 2, total))
  weir_free(&total);
  return WEIR_OK;
}

/* weight: [reach + 1] of the distances, made to sum to 1; copy: [n]. */
static void smooth_line(const line *l, const double *weight, int64_t reach, double *copy)
{
  for (int64_t i = 0; i < l->n; i++) {
    copy[i] = l->at[i * l->step];
  }
  for (int64_t i = 0; i < l->n; i++) {
    double sum = weight[0] * copy[i];

    for (int64_t k = 1; k <= reach; k++) {
      const int64_t before = i - k, behind = i + k;
      const int64_t lo = l->wraps ? ((before % l->n) + l->n) % l->n : before > 0 ? before : 0;
      const int64_t hi = l->wraps ? behind % l->n : behind < l->n ? behind : l->n - 1;

      sum += weight[k] * (copy[lo] + copy[hi]);
    }
    l->at[i * l->step] = sum;
  }
}

weir_status wx_map_smooth(const wx_map_shape *shape, double sigma, double *map)
{
  const int64_t reach = (int64_t)ceil(4 * sigma);
  double *room = NULL, all = 0;

  if (sigma <= 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(reach + 1 + longest(shape), sizeof *room, (void **)&room));
  for (int64_t k = 0; k <= reach; k++) {
    room[k] = exp(-0.5 * (double)(k * k) / (sigma * sigma));
    all += (k > 0 ? 2 : 1) * room[k];
  }
  for (int64_t k = 0; k <= reach; k++) {
    room[k] /= all;
  }
  EACH_LINE(shape, map, l, smooth_line(&l, room, reach, room + reach + 1))
  weir_free(&room);
  return WEIR_OK;
}
