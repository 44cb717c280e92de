/* moments.h - moments of the inverse of a matrix polynomial over points of the complex plane: from
 * those on circles follow its eigenvalues between them (Beyn, Linear Algebra Appl. 436, 3839
 * (2012)). With n_moments 2, weights of 1 and -1 and first 0 this is the kernel contour_integral of
 * npbench (Ziogas et al., ICS 21, doi 10.1145/3447818.3460360). */
#ifndef QT_LEAD_MOMENTS_H
#define QT_LEAD_MOMENTS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_complex.h"

/* T(z) = sum over m < count of z^(lowest + m) matrix[m]; borrowed. */
typedef struct lead_polynomial {
  int64_t n, lowest, count;
  const weir_c128 *matrix; /* [count, n, n] */
} lead_polynomial;
/* Evaluates T(z), [n, n]; z is not 0 where a power is negative. */
void lead_polynomial_at(const lead_polynomial *t, weir_c128 z, weir_c128 *out);

/* All borrowed. */
typedef struct lead_moments {
  int64_t n_points;
  const weir_c128 *point, *weight; /* [n_points]                                        */
  int64_t columns;
  const weir_c128 *y;       /* [n, columns]                                             */
  int64_t first, n_moments; /* powers first, first + 1, ...                             */
  weir_c128 *moment;        /* result, [n_moments, n, columns]: sum over the points of  */
} lead_moments;             /*   weight z^(first + k) T(z)^-1 y                         */
/* Returns the bytes of scratch memory. */
int64_t lead_moments_work(int64_t n, int64_t columns);
/* Computes the moments; returns false where T is singular at a point. */
bool lead_moments_compute(const lead_polynomial *t, const lead_moments *m, void *work);

#endif
