/* bulk_test.h - energies of the bulk crystal at a wave vector. Tests only. */
#ifndef QT_BULK_TEST_H
#define QT_BULK_TEST_H
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "model/wire.h"
#include "ops/weir_dense.h"

enum { BULK_CAPACITY = 40 };

/* Eigenvalues of the primitive cell at k (in 2 pi / length of the cubic cell along each axis):
 * Bloch sums over one atom of each of the two sublattices, which alternate with x in the layers of
 * the cubic cell. Returns how many. */
static inline int64_t bulk_bands(const qt_wire *w, const double k[3], double *value)
{
  const int64_t per_atom = w->atom[0].n_orbitals, n = 2 * per_atom;
  weir_c128 h[BULK_CAPACITY * BULK_CAPACITY], v[BULK_CAPACITY * BULK_CAPACITY];

  assert_true(n <= BULK_CAPACITY);
  memset(h, 0, sizeof h);
  for (int64_t i = 0; i < w->elements.count; i++) {
    const qt_element *e = &w->elements.item[i];
    const qt_atom *from = &w->atom[e->row / per_atom], *to = &w->atom[e->column / per_atom];
    const int64_t sides[2] = {from->position[0] > 0, fmod(to->position[0], w->cell[0][0] / 2) > 0};
    double angle = 0;

    if (from != &w->atom[0] && from != &w->atom[2]) {
      continue;
    }
    for (int x = 0; x < 3; x++) {
      angle += 2 * M_PI * k[x] *
               ((to->position[x] - from->position[x]) / w->cell[x][x] + (double)e->offset[x]);
    }
    weir_c128 *at = &h[(sides[0] * per_atom + e->row % per_atom) * n + sides[1] * per_atom +
                       e->column % per_atom];

    at->re += e->value.re * cos(angle) - e->value.im * sin(angle);
    at->im += e->value.re * sin(angle) + e->value.im * cos(angle);
  }
  weir_dense_hermitian(h, n, value, v);
  return n;
}
#endif
