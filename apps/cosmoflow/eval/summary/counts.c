/* counts.c - see counts.h. */
#include "eval/summary/counts.h"
#include <math.h>
#include <string.h>

/* Smoothing may leave rounding below 0 where there is no matter: ln has no value there. */
static int64_t bin_of(const cf_count_bins *b, double rho)
{
  const double u = rho > 0 ? log(rho) : -INFINITY;

  if (u < b->lo) {
    return 0;
  }
  if (u >= b->hi) {
    return b->n + 1;
  }
  const int64_t at = (int64_t)((u - b->lo) / (b->hi - b->lo) * (double)b->n);

  return 1 + (at < b->n ? at : b->n - 1);
}

void cf_one_point(const cf_count_bins *b, const double *rho, int64_t voxels, double *out)
{
  memset(out, 0, (size_t)cf_count_numbers(b) * sizeof *out);
  for (int64_t i = 0; i < voxels; i++) {
    out[bin_of(b, rho[i])] += 1;
  }
  for (int64_t k = 0; k < cf_count_numbers(b); k++) {
    out[k] /= (double)voxels;
  }
}

static int64_t wrap(int64_t i, int64_t n)
{
  return i < 0 ? i + n : i >= n ? i - n : i;
}

/* Of a map the neighbours in its plane, x = 0. */
static bool is_peak(const double *rho, int64_t n, bool map, int64_t x, int64_t y, int64_t z)
{
  const double value = rho[(x * n + y) * n + z];

  for (int k = map ? 9 : 0; k < (map ? 18 : 27); k++) {
    const int64_t i = wrap(x + k / 9 - 1, n), j = wrap(y + k / 3 % 3 - 1, n);

    if (k != 13 && rho[(i * n + j) * n + wrap(z + k % 3 - 1, n)] >= value) {
      return false;
    }
  }
  return true;
}

void cf_peaks(const cf_count_bins *b, const double *rho, int64_t n, bool map, bool periodic,
              double *out)
{
  const int64_t first = periodic ? 0 : 1, end = periodic ? n : n - 1;

  memset(out, 0, (size_t)cf_count_numbers(b) * sizeof *out);
  for (int64_t x = map ? 0 : first; x < (map ? 1 : end); x++) {
    for (int64_t y = first; y < end; y++) {
      for (int64_t z = first; z < end; z++) {
        if (is_peak(rho, n, map, x, y, z)) {
          out[bin_of(b, rho[(x * n + y) * n + z])] += 1;
        }
      }
    }
  }
}
