/* neighbours.c - see neighbours.h. */
#include "model/scattering/neighbours.h"

#include <string.h>

#include "base/weir_alloc.h"

void qt_neighbours_fini(qt_neighbours *n)
{
  weir_free(&n->atom);
  weir_free(&n->reverse);
  weir_free(&n->image);
  weir_free(&n->gradient);
  *n = (qt_neighbours){.n_atoms = 0};
}

static int64_t elements_of(const qt_system *s, const qt_gradient_pair *p)
{
  return s->atom[p->from].n_orbitals * s->atom[p->to].n_orbitals;
}

/* Whether the coupling to displacements of the first n_directions axes is not 0. */
static bool couples(const qt_system *s, const qt_gradient *g, const qt_gradient_pair *p,
                    int64_t n_directions)
{
  const weir_c128 *value = g->value + p->first;

  for (int64_t i = 0; i < n_directions * elements_of(s, p); i++) {
    if (value[i].re != 0 || value[i].im != 0) {
      return true;
    }
  }
  return false;
}

/* The lengths of the lists, and the maximum of orbitals. */
static void measure(const qt_system *s, const qt_gradient *g, qt_neighbours *out)
{
  int64_t from = -1, length = 0;

  out->n_neighbours = 1;
  for (int64_t i = 0; i < g->n_pairs; i++) {
    const qt_gradient_pair *p = &g->pair[i];

    if (!couples(s, g, p, out->n_directions)) {
      continue;
    }
    length = p->from == from ? length + 1 : 1;
    from = p->from;
    out->n_neighbours = length > out->n_neighbours ? length : out->n_neighbours;
  }
  for (int64_t a = 0; a < s->n_atoms; a++) {
    const int64_t n = s->atom[a].n_orbitals;

    out->n_orbitals = n > out->n_orbitals ? n : out->n_orbitals;
  }
}

/* Copies the blocks of a pair to position `at` of the lists. */
static void copy(const qt_system *s, const qt_gradient *g, const qt_gradient_pair *p, int64_t at,
                 const qt_neighbours *n)
{
  const int64_t rows = s->atom[p->from].n_orbitals, columns = s->atom[p->to].n_orbitals;
  const int64_t wide = n->n_orbitals;

  for (int64_t i = 0; i < n->n_directions * rows * columns; i++) {
    const int64_t axis = i / (rows * columns), row = i / columns % rows, column = i % columns;

    n->gradient[((at * n->n_directions + axis) * wide + row) * wide + column] =
        g->value[p->first + i];
  }
}

static void fill(const qt_system *s, const qt_gradient *g, qt_neighbours *n)
{
  int64_t from = -1, length = 0;

  for (int64_t i = 0; i < n->n_atoms * n->n_neighbours; i++) {
    n->atom[i] = (int32_t)(i / n->n_neighbours);
    n->reverse[i] = (int32_t)i;
  }
  for (int64_t i = 0; i < g->n_pairs; i++) {
    const qt_gradient_pair *p = &g->pair[i];

    if (couples(s, g, p, n->n_directions)) {
      length = p->from == from ? length + 1 : 0;
      from = p->from;
      n->atom[from * n->n_neighbours + length] = (int32_t)p->to;
      memcpy(n->image[from * n->n_neighbours + length], p->image, sizeof p->image);
      copy(s, g, p, from * n->n_neighbours + length, n);
    }
  }
}

/* Whether pair i, of atoms a and l, is pair r from l to a. */
static bool is_reverse(const qt_neighbours *n, int64_t i, int64_t r)
{
  return n->atom[r] == i / n->n_neighbours && n->image[r][0] == -n->image[i][0] &&
         n->image[r][1] == -n->image[i][1];
}

static weir_status pair_up(const qt_neighbours *n)
{
  const int64_t width = n->n_neighbours;

  for (int64_t i = 0; i < n->n_atoms * width; i++) {
    const int64_t a = i / width, l = n->atom[i];
    int64_t b = 0;

    while (l != a && b < width && !is_reverse(n, i, l * width + b)) {
      b++;
    }
    if (b == width) {
      return weir_fail(WEIR_ERR_DATA, "scattering: nabla H couples atom %lld to %lld, but not back",
                       (long long)a, (long long)l);
    }
    n->reverse[i] = (int32_t)(l == a ? i : l * width + b);
  }
  return WEIR_OK;
}

weir_status qt_neighbours_create(const qt_system *electrons, const qt_gradient *gradient,
                                 int64_t n_directions, qt_neighbours *out)
{
  qt_neighbours n = {.n_atoms = electrons->n_atoms, .n_directions = n_directions};
  weir_status status = WEIR_OK;

  *out = (qt_neighbours){.n_atoms = 0};
  if (n_directions != 1 && n_directions != 3) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "scattering: atoms with %lld displacements; phonons have 1 (along x) or 3",
                     (long long)n_directions);
  }
  measure(electrons, gradient, &n);
  const int64_t count = n.n_atoms * n.n_neighbours;

  WEIR_TRY_GOTO(weir_alloc(count, sizeof *n.atom, (void **)&n.atom), done);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *n.reverse, (void **)&n.reverse), done);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *n.image, (void **)&n.image), done);
  WEIR_TRY_GOTO(weir_alloc(count * n_directions * n.n_orbitals * n.n_orbitals, sizeof *n.gradient,
                           (void **)&n.gradient),
                done);
  fill(electrons, gradient, &n);
  status = pair_up(&n);
done:
  if (status != WEIR_OK) {
    qt_neighbours_fini(&n);
    return status;
  }
  *out = n;
  return WEIR_OK;
}
