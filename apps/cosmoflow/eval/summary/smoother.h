/* smoother.h - Gaussian smoothing of a cube, or of a map, in real space.
 *
 * One axis after the other, with weights exp(-d^2 / 2 sigma^2) up to the offset int(4 sigma + 1/2),
 * the radius of scipy.ndimage.gaussian_filter. A periodic cube goes on at its opposite face. A cube
 * that was cut from a larger box is not: there, weights of offsets beyond a face are left out and
 * the others divided by their sum, so that a constant stays what it is. In real space, since a
 * transform would mix voxels of opposite faces. */
#ifndef CF_SMOOTHER_H
#define CF_SMOOTHER_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

typedef struct cf_smoother {
  int64_t n, radius;
  bool periodic, map;
  double *weight; /* [2 radius + 1], their sum is 1 */
  double *inside; /* [n] sum of the weights that lie in the cube; periodic: 1 */
} cf_smoother;

/* Prepares the smoothing of cubes of n^3 voxels, or of maps of n^2, sigma in voxels, 0: none.
 * Fails: WEIR_ERR_MEMORY. */
weir_status cf_smoother_init(int64_t n, bool map, bool periodic, double sigma,
                             cf_smoother *out) WEIR_CHECKED;
void cf_smoother_fini(cf_smoother *s);
/* Returns the numbers that cf_smoother_run works with. */
int64_t cf_smoother_line(const cf_smoother *s);
/* Smooths x[n, n, n], or x[n, n] of a map, in place; line: [cf_smoother_line]. */
void cf_smoother_run(const cf_smoother *s, double *x, double *line);
#endif
