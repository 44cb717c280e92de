/* nabla.c - derivatives of the Hamiltonian of silicon devices; see silicon.h. */
#include <string.h>

#include "model/silicon/silicon.h"

enum { N = QT_ORBITALS };

static bool is_silicon(const qt_system *s, int64_t atom)
{
  return strcmp(s->atom[atom].symbol, "Si") == 0;
}

/* The block of a bond, once for each spin. */
static void fill(const qt_sp3d5s_opts *o, const qt_gradient_pair *p, weir_c128 *value)
{
  const int64_t spins = o->spin_orbit ? 2 : 1, wide = N * spins;
  double block[3][N * N];

  qt_sp3d5s_gradient(o, p->vector, block);
  for (int64_t i = 0; i < 3 * spins * N * N; i++) {
    const int64_t axis = i / (spins * N * N), spin = i / (N * N) % spins, at = i % (N * N);
    const int64_t row = spin * N + at / N, column = spin * N + at % N;

    value[(axis * wide + row) * wide + column] = (weir_c128){block[axis][at], 0};
  }
}

weir_status qt_silicon_gradient(const qt_silicon_opts *o, const qt_system *s, qt_gradient *out)
{
  WEIR_TRY(qt_gradient_create(s, 0, out));
  for (int64_t k = 0; k < out->n_pairs; k++) {
    qt_gradient_pair *const p = &out->pair[k];

    if (is_silicon(s, p->from) && is_silicon(s, p->to)) {
      fill(&o->electrons, p, out->value + p->first);
    }
    memset(p->is_known, 1, sizeof p->is_known);
  }
  return WEIR_OK;
}
