/* las.c - see las.h: windows by summed-area tables (Crow, SIGGRAPH 1984). */
#include "data/las.h"
#include <math.h>
#include "base/weir_alloc.h"

enum { SUMS = 3 };

/* A window, and the table that it is looked up in: sums over [0, j) x [0, i). */
typedef struct boxes {
  int64_t n_lat, n_lon, high, wide;
  double *table[SUMS]; /* [n_lat + 1, n_lon + 1] */
} boxes;

static void integrate(const double *x, int64_t n_lat, int64_t n_lon, double *table)
{
  const int64_t row = n_lon + 1;

  for (int64_t i = 0; i <= n_lon; i++) {
    table[i] = 0;
  }
  for (int64_t j = 0; j < n_lat; j++) {
    double line = 0;

    table[(j + 1) * row] = 0;
    for (int64_t i = 0; i < n_lon; i++) {
      line += x[j * n_lon + i];
      table[(j + 1) * row + i + 1] = table[j * row + i + 1] + line;
    }
  }
}

static double sum_of(const boxes *b, int k, int64_t j, int64_t i)
{
  const double *const t = b->table[k];
  const int64_t row = b->n_lon + 1;

  return t[(j + b->high) * row + i + b->wide] - t[j * row + i + b->wide] -
         t[(j + b->high) * row + i] + t[j * row + i];
}

static int64_t within(int64_t at, int64_t hi)
{
  return at < 0 ? 0 : at > hi ? hi : at;
}

weir_status wx_las_add(const wx_map_shape *shape, int64_t window, const wx_las_sums *s,
                       const wx_las_total *t)
{
  const double *const sums[SUMS] = {s->n, s->sum, s->square};
  const int64_t size = (shape->n_lat + 1) * (shape->n_lon + 1);
  boxes b = {.n_lat = shape->n_lat,
             .n_lon = shape->n_lon,
             .high = window < shape->n_lat ? window : shape->n_lat,
             .wide = window < shape->n_lon ? window : shape->n_lon};
  double *scratch = NULL;

  WEIR_TRY(weir_alloc(SUMS * size, sizeof *scratch, (void **)&scratch));
  for (int k = 0; k < SUMS; k++) {
    b.table[k] = scratch + k * size;
    integrate(sums[k], b.n_lat, b.n_lon, b.table[k]);
  }
  for (int64_t c = 0; c < b.n_lat * b.n_lon; c++) {
    const int64_t j = within(c / b.n_lon - b.high / 2, b.n_lat - b.high);
    const int64_t i = within(c % b.n_lon - b.wide / 2, b.n_lon - b.wide);
    const double n = round(sum_of(&b, 0, j, i));

    if (n > 0) {
      const double mean = sum_of(&b, 1, j, i) / n;

      t->mean[c] += s->pivot + mean;
      t->sd[c] += sqrt(fmax(0, sum_of(&b, 2, j, i) / n - mean * mean));
      t->years[c]++;
    }
  }
  weir_free(&scratch);
  return WEIR_OK;
}

weir_status wx_las_finish(const wx_map_shape *shape, double smoothing, const wx_las_total *t)
{
  for (int64_t c = 0; c < shape->n_lat * shape->n_lon; c++) {
    t->mean[c] = t->years[c] > 0 ? t->mean[c] / t->years[c] : NAN;
    t->sd[c] = t->years[c] > 0 ? t->sd[c] / t->years[c] : NAN;
  }
  WEIR_TRY(wx_map_smooth(shape, smoothing, t->mean));
  return wx_map_smooth(shape, smoothing, t->sd);
}
