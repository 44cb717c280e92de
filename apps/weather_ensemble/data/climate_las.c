/* climate_las.c - statistics of the surroundings of each cell: windows by summed-area tables (Crow,
 * SIGGRAPH 1984), smoothed. */
#include <math.h>
#include "data/climate.h"

/* Sums over [0, j) x [0, i). */
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

static double box(const double *table, int64_t row, int64_t j, int64_t i, int64_t h, int64_t w)
{
  return table[(j + h) * row + i + w] - table[j * row + i + w] - table[(j + h) * row + i] +
         table[j * row + i];
}

static int64_t within(int64_t at, int64_t hi)
{
  return at < 0 ? 0 : at > hi ? hi : at;
}

void wx_las_windows(const wx_las_sums *s, int64_t n_lat, int64_t n_lon, int64_t width,
                    double *table, double *mean, double *variance)
{
  const int64_t h = width < n_lat ? width : n_lat - 1 + n_lat % 2;
  const int64_t w = width < n_lon ? width : n_lon - 1 + n_lon % 2;
  const int64_t row = n_lon + 1, size = row * (n_lat + 1);
  const double *const sums[3] = {s->n, s->sum, s->square};

  for (int k = 0; k < 3; k++) {
    integrate(sums[k], n_lat, n_lon, table + k * size);
  }
  for (int64_t j = 0; j < n_lat; j++) {
    const int64_t top = within(j - h / 2, n_lat - h);

    for (int64_t i = 0; i < n_lon; i++) {
      const int64_t left = within(i - w / 2, n_lon - w);
      const double n = round(box(table, row, top, left, h, w));
      const double m = n > 0 ? box(table + size, row, top, left, h, w) / n : NAN;
      const double square = n > 0 ? box(table + 2 * size, row, top, left, h, w) / n : NAN;

      mean[j * n_lon + i] = m;
      variance[j * n_lon + i] = n > 0 ? fmax(0, square - m * m) : NAN;
    }
  }
}

/* Along lines of n elements `stride` apart; kernel: [reach + 1]. */
static void smooth_line(const double *in, int64_t n, int64_t stride, bool wraps,
                        const double *kernel, int64_t reach, double *out)
{
  for (int64_t i = 0; i < n; i++) {
    double sum = 0, weight = 0;

    for (int64_t k = -reach; k <= reach; k++) {
      const int64_t at = wraps ? ((i + k) % n + n) % n : within(i + k, n - 1);
      const double w = kernel[k < 0 ? -k : k], x = in[at * stride];

      sum += isnan(x) ? 0 : w * x;
      weight += isnan(x) ? 0 : w;
    }
    out[i * stride] = weight > 0 ? sum / weight : NAN;
  }
}

void wx_las_smooth(double *field, int64_t n_lat, int64_t n_lon, bool wraps, double sigma,
                   double *room)
{
  const int64_t reach = wx_las_reach(sigma);
  double *const kernel = room + n_lat * n_lon;

  if (!(sigma > 0)) {
    return;
  }
  for (int64_t k = 0; k <= reach; k++) {
    kernel[k] = exp(-0.5 * (double)(k * k) / (sigma * sigma));
  }
  for (int64_t j = 0; j < n_lat; j++) {
    smooth_line(field + j * n_lon, n_lon, 1, wraps, kernel, reach, room + j * n_lon);
  }
  for (int64_t i = 0; i < n_lon; i++) {
    smooth_line(room + i, n_lat, n_lon, false, kernel, reach, field + i);
  }
}

int64_t wx_las_reach(double sigma)
{
  return (int64_t)(4 * sigma + 0.5);
}
