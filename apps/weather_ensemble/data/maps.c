/* maps.c - see maps.h. */
#include "data/maps.h"
#include <math.h>
#include "base/weir_alloc.h"

/* n values `step` apart. */
typedef struct line {
  double *at;
  int64_t n, step;
  bool wraps;
} line;

typedef struct gauss {
  int64_t reach;
  double *weight; /* [reach + 1] of distances */
  double *copy;   /* of a line */
} gauss;

/* Returns the index of the value at `i`, which may lie beyond an end. */
static int64_t index_in(const line *l, int64_t i)
{
  return l->wraps ? (i % l->n + l->n) % l->n : i < 0 ? 0 : i < l->n ? i : l->n - 1;
}

static void smooth_line(const line *l, const gauss *g)
{
  for (int64_t i = 0; i < l->n; i++) {
    g->copy[i] = l->at[i * l->step];
  }
  for (int64_t i = 0; i < l->n; i++) {
    double sum = 0, all = 0;

    for (int64_t k = -g->reach; k <= g->reach; k++) {
      const double w = g->weight[k < 0 ? -k : k], x = g->copy[index_in(l, i + k)];

      sum += isnan(x) ? 0 : w * x;
      all += isnan(x) ? 0 : w;
    }
    l->at[i * l->step] = all > 0 ? sum / all : NAN;
  }
}

weir_status wx_map_smooth(const wx_map_shape *shape, double sigma, double *map)
{
  const int64_t longest = shape->n_lat > shape->n_lon ? shape->n_lat : shape->n_lon;
  gauss g = {.reach = (int64_t)(4 * sigma + 0.5)};

  if (!(sigma > 0)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(g.reach + 1 + longest, sizeof *g.weight, (void **)&g.weight));
  g.copy = g.weight + g.reach + 1;
  for (int64_t k = 0; k <= g.reach; k++) {
    g.weight[k] = exp(-0.5 * (double)(k * k) / (sigma * sigma));
  }
  for (int64_t j = 0; j < shape->n_lat; j++) {
    smooth_line(&(line){map + j * shape->n_lon, shape->n_lon, 1, shape->wraps}, &g);
  }
  for (int64_t i = 0; i < shape->n_lon; i++) {
    smooth_line(&(line){map + i, shape->n_lat, shape->n_lon, false}, &g);
  }
  weir_free(&g.weight);
  return WEIR_OK;
}
