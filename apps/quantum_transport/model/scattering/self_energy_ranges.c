/* self_energy_ranges.c - see self_energy.h: ranges of atoms, each with its neighbours. */
#include <string.h>

#include "base/weir_alloc.h"
#include "model/scattering/self_energy.h"

void qt_atom_range_fini(qt_atom_range *a)
{
  weir_free(&a->local);
  weir_free(&a->atom);
  *a = (qt_atom_range){.n = 0};
}

/* Place of an atom among those of a range, the next free one where it is new. */
static int64_t local_index(const qt_atom_range *a, int64_t first, int32_t atom,
                           const int32_t *local, int64_t n_local)
{
  int64_t i = a->n;

  if (atom >= first && atom < first + a->n) {
    return atom - first;
  }
  while (i < n_local && local[i] != atom) {
    i++;
  }
  return i;
}

/* Fills the lists of range r, `capacity` long; returns how many atoms they are of. */
static int64_t fill_range(const qt_neighbours *n, const qt_atom_range *a, int64_t r,
                          int64_t capacity, int32_t *local, int32_t *atom)
{
  const int64_t first = qt_atom_range_first(a, n->n_atoms, r), width = n->n_neighbours;
  int64_t n_local = a->n;

  memset(local, 0, (size_t)capacity * sizeof *local);
  for (int64_t i = 0; i < a->n; i++) {
    local[i] = (int32_t)(first + i);
  }
  for (int64_t i = 0; i < a->n * width; i++) {
    const int32_t of = n->atom[first * width + i];
    const int64_t at = local_index(a, first, of, local, n_local);

    local[at] = of;
    atom[i] = (int32_t)at;
    n_local = at == n_local ? n_local + 1 : n_local;
  }
  return n_local;
}

weir_status qt_atom_range_create(const qt_neighbours *n, int64_t n_at_once, qt_atom_range *out)
{
  qt_atom_range a = {.n = n_at_once, .n_ranges = (n->n_atoms + n_at_once - 1) / n_at_once};
  const int64_t width = n->n_neighbours, capacity = a.n * (1 + width);
  weir_status status = WEIR_OK;

  *out = (qt_atom_range){.n = 0};
  WEIR_TRY_GOTO(weir_alloc(a.n_ranges * capacity, sizeof *a.local, (void **)&a.local), done);
  WEIR_TRY_GOTO(weir_alloc(a.n_ranges * a.n * width, sizeof *a.atom, (void **)&a.atom), done);
  for (int64_t r = 0; r < a.n_ranges; r++) {
    const int64_t n_local =
        fill_range(n, &a, r, capacity, a.local + r * capacity, a.atom + r * a.n * width);

    a.n_local = n_local > a.n_local ? n_local : a.n_local;
  }
  for (int64_t r = 1; r < a.n_ranges; r++) { /* without what no range needs */
    memmove(a.local + r * a.n_local, a.local + r * capacity, (size_t)a.n_local * sizeof *a.local);
  }
done:
  if (status != WEIR_OK) {
    qt_atom_range_fini(&a);
    return status;
  }
  *out = a;
  return WEIR_OK;
}
