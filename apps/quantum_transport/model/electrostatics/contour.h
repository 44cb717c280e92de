/* contour.h - electrons and holes of a Green's function by a contour in the upper half of the plane
 * of complex energies, where it is smooth.
 *
 * With electrons above an energy E0 in a band gap and holes below it,
 *   n - p = -1/pi Im [ int_E0^inf G f dE - int_-inf^E0 G (1 - f) dE ]
 *         = -1/pi Im [ int_E0^(E0 + i h) G dz + int_(x > E0) G f dx - int_(x < E0) G (1 - f) dx
 *                      - 2 pi i k_B T sum_j G(mu + i (2 j + 1) pi k_B T) ],
 * the integrals over x at height h = 2 pi k_B T m, where f is that of the real energy x, and m
 * poles of f below it. Of several chemical potentials the points are the same, but for the poles.
 */
#ifndef QT_CONTOUR_H
#define QT_CONTOUR_H
#include "base/weir_complex.h"
#include "base/weir_status.h"
#include "model/landauer.h"

/* A point: n - p is -1/pi Im of the sum of weight G. */
typedef struct qt_contour_point {
  weir_c128 energy, weight[2]; /* weight of each reservoir */
} qt_contour_point;

/* Computes points for two reservoirs of one temperature, at least 1 K; `order` of each segment.
 * *point is the caller's (weir_free). Fails: WEIR_ERR_CONFIG (temperatures), WEIR_ERR_MEMORY. */
weir_status qt_contour_create(double reference, const qt_reservoir reservoir[2], int64_t order,
                              qt_contour_point **point, int64_t *count) WEIR_CHECKED;
/* Nodes in (-1, 1) and weights of Gauss-Legendre quadrature. */
void qt_gauss_legendre(int64_t n, double *node, double *weight);

#endif
