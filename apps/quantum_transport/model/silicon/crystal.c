/* crystal.c - see crystal.h. Sites have whole coordinates, in quarters of the lattice constant. */
#include "model/silicon/crystal.h"

#include "base/weir_alloc.h"

enum { QUARTERS = 4, BONDS = 4, MIN_BONDS = 2, REMOVED = -1 };

typedef struct sites {
  int64_t size[3];
  bool periodic[3];
  int64_t *atom; /* [x, y, z] number of the atom, REMOVED where there is none */
} sites;

void qt_crystal_fini(qt_crystal *c)
{
  weir_free(&c->atom);
  *c = (qt_crystal){.n = 0};
}

/* Of the two interpenetrating face-centred lattices: 0, 1, or -1 for neither. */
static int sublattice(const int64_t at[3])
{
  const int64_t odd = at[0] % 2;

  if (at[1] % 2 != odd || at[2] % 2 != odd || (at[0] + at[1] + at[2]) % 4 != 3 * odd) {
    return -1;
  }
  return (int)odd;
}

static int64_t *at_site(const sites *s, const int64_t at[3])
{
  return &s->atom[(at[0] * s->size[1] + at[1]) * s->size[2] + at[2]];
}

/* Neighbour k of a site: its direction, and where it is in the cell; false when it is cut off. */
static bool neighbour(const sites *s, const int64_t at[3], int k, int64_t step[3], int64_t to[3],
                      int64_t offset[3])
{
  static const int direction[BONDS][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  bool inside = true;

  for (int i = 0; i < 3; i++) {
    step[i] = at[0] % 2 ? -direction[k][i] : direction[k][i];
    to[i] = at[i] + step[i];
    offset[i] = to[i] < 0 ? -1 : to[i] >= s->size[i];
    inside = inside && (offset[i] == 0 || s->periodic[i]);
    to[i] -= offset[i] * s->size[i];
  }
  return inside && *at_site(s, to) != REMOVED;
}

static int count_bonds(const sites *s, const int64_t at[3])
{
  int64_t step[3], to[3], offset[3];
  int n = 0;

  for (int k = 0; k < BONDS; k++) {
    n += neighbour(s, at, k, step, to, offset);
  }
  return n;
}

static bool next_site(const sites *s, int64_t at[3])
{
  for (int i = 2; i >= 0; i--) {
    if (++at[i] < s->size[i]) {
      return true;
    }
    at[i] = 0;
  }
  return false;
}

/* Marks the sites of atoms that remain with their numbers; returns how many these are. */
static int64_t number_atoms(sites *s)
{
  int64_t at[3] = {0, 0, 0}, n = 0;
  bool changed = true;

  do {
    *at_site(s, at) = sublattice(at) < 0 ? REMOVED : 0;
  } while (next_site(s, at));
  while (changed) {
    changed = false;
    do {
      if (*at_site(s, at) != REMOVED && count_bonds(s, at) < MIN_BONDS) {
        *at_site(s, at) = REMOVED;
        changed = true;
      }
    } while (next_site(s, at));
  }
  do {
    if (*at_site(s, at) != REMOVED) {
      *at_site(s, at) = n++;
    }
  } while (next_site(s, at));
  return n;
}

static void locate(const sites *s, const int64_t at[3], const double lattice[3],
                   qt_crystal_atom *atom)
{
  for (int i = 0; i < 3; i++) {
    atom->position[i] = lattice[i] / QUARTERS * (double)at[i];
  }
  for (int k = 0; k < BONDS; k++) {
    qt_bond *b = &atom->bond[k];
    int64_t step[3], to[3];

    b->atom = neighbour(s, at, k, step, to, b->offset) ? *at_site(s, to) : -1;
    for (int i = 0; i < 3; i++) {
      b->vector[i] = lattice[i] / QUARTERS * (double)step[i];
    }
  }
}

weir_status qt_crystal_create(const int64_t cells[3], const bool periodic[3],
                              const double lattice[3], qt_crystal *out)
{
  sites s = {.atom = NULL};
  int64_t at[3] = {0, 0, 0}, n = 1;
  weir_status status = WEIR_OK;

  *out = (qt_crystal){.n = 0};
  for (int i = 0; i < 3; i++) {
    s.size[i] = QUARTERS * cells[i];
    s.periodic[i] = out->periodic[i] = periodic[i];
    out->length[i] = lattice[i] * (double)cells[i];
    n *= s.size[i];
  }
  WEIR_TRY(weir_alloc(n, sizeof *s.atom, (void **)&s.atom));
  out->n = number_atoms(&s);
  WEIR_TRY_GOTO(weir_alloc(out->n, sizeof *out->atom, (void **)&out->atom), done);
  do {
    if (*at_site(&s, at) != REMOVED) {
      locate(&s, at, lattice, &out->atom[*at_site(&s, at)]);
    }
  } while (next_site(&s, at));
done:
  weir_free(&s.atom);
  return status;
}

qt_wire qt_crystal_wire(const qt_crystal *c, qt_particle particle)
{
  qt_wire w = {.particle = particle};

  for (int i = 0; i < 3; i++) {
    w.cell[i][i] = c->length[i];
    w.periodic[i] = c->periodic[i];
  }
  return w;
}

int64_t qt_crystal_dangling(const qt_crystal *c)
{
  int64_t n = 0;

  for (int64_t a = 0; a < c->n; a++) {
    for (int k = 0; k < BONDS; k++) {
      n += c->atom[a].bond[k].atom < 0;
    }
  }
  return n;
}
