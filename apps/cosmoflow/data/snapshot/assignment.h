/* assignment.h - mass of particles on the points of a periodic mesh (Hockney and Eastwood 1988, ch.
 * 5): to the nearest (NGP), linearly to two along an axis (CIC), quadratically to three (TSC).
 *
 * Point i of an axis is at i sides of a cell, as in data/simulation/particles.h. Sums are in double
 * precision, in the order of the particles. */
#ifndef CF_ASSIGNMENT_H
#define CF_ASSIGNMENT_H
#include <stdint.h>
#include "data/simulation/particles.h"

/* Mesh that particles are added to. */
typedef struct cf_assignment {
  cf_scheme scheme;
  int64_t n;    /* points along an axis: at least 3 */
  double box;   /* side, in the unit of the positions */
  double shift; /* by which particles are moved along every axis, in sides of a cell */
  int dims;     /* 3, or 2: a map */
  int axis[3];  /* [dims] of the positions, slowest first */
} cf_assignment;

/* Adds mass[i] of `count` particles at position [count, 3] in [0, box) to mesh [n, .., n], of
 * a->dims dimensions. */
void cf_assign(const cf_assignment *a, int64_t count, const double *position, const double *mass,
               double *mesh);

/* Computes one plus the overdensity, `density` [n, n, n], or [n, n] of a map: the mass of a point
 * over `mean`. With `shifted`, the same particles at shift = 1/2, the two meshes are interlaced,
 * which removes the images of odd order (Sefusatti et al., MNRAS 460 (2016) 3624, eq. 17);
 * coefficients at Nyquist's wave of an axis are those of `mesh`. With `deconvolve`, coefficients
 * are divided by the window of the scheme, prod sinc(w_i / n)^order. Both are for meshes of three
 * dimensions, in single precision, and do not keep densities above 0. Fails: WEIR_ERR_UNSUPPORTED
 * (both need FFTW), WEIR_ERR_MEMORY. */
weir_status cf_density(const cf_assignment *a, const double *mesh, const double *shifted,
                       bool deconvolve, double mean, float *density) WEIR_CHECKED;
#endif
