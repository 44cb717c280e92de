/* counts.h - two summaries of a density rho = 1 + delta that count: the one-point distribution,
 * which is the share of voxels by ln(rho), and peak counts, which are the local maxima by their
 * height ln(rho).
 *
 * Bins: [lo, hi) in equal steps, and one below and one above, so that no voxel and no peak is lost.
 * A peak is larger than each of its 26 neighbours, of a map 8; two equal neighbours are none. Of a
 * sample that is not periodic only voxels that have all of them in it can be peaks. */
#ifndef CF_COUNTS_H
#define CF_COUNTS_H
#include <stdbool.h>
#include <stdint.h>

/* Bins of ln(rho). */
typedef struct cf_count_bins {
  double lo, hi;
  int64_t n;
} cf_count_bins;

/* Returns the numbers of a summary: the bins, and the two open ones. */
static inline int64_t cf_count_numbers(const cf_count_bins *b)
{
  return b->n + 2;
}
/* Sets out[0] to the share of voxels below lo, also those without matter, out[1 ..] to that of the
 * bins, and the last to the one at hi and above, of rho[voxels]. */
void cf_one_point(const cf_count_bins *b, const double *rho, int64_t voxels, double *out);
/* Counts the peaks of rho[n, n, n], or of a map rho[n, n], in the same bins. */
void cf_peaks(const cf_count_bins *b, const double *rho, int64_t n, bool map, bool periodic,
              double *out);
#endif
