/* force_field.c - see force_field.h. Near equilibrium s_ij = 2 d_ij.(u_j - u_i) and t_jik =
 * d_ij.(u_k - u_i) + d_ik.(u_j - u_i): each term of the energy is a product of two linear forms of
 * the displacements u, and adds the outer product of the two to the force constants. */
#include "model/silicon/force_field.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/units.h"

enum { BONDS = 4, MAX_PAIRS = 32 }; /* an atom, its 4 + 12 next neighbours and 12 third ones: 29 */

const weir_opt qt_force_options[] = {
    WEIR_OPT_ENUM(qt_force_opts, model, 0, "mvff|keating|custom",
                  "four-parameter force field, Keating's, or the constants below"),
    WEIR_OPT_REAL(qt_force_opts, custom.alpha, 49.4, 0, 1e4, "N/m", "bond stretching"),
    WEIR_OPT_REAL(qt_force_opts, custom.beta, 4.79, 0, 1e4, "N/m", "bond bending"),
    WEIR_OPT_REAL(qt_force_opts, custom.delta, 5.2, -1e4, 1e4, "N/m",
                  "stretching of two bonds of an atom"),
    WEIR_OPT_REAL(qt_force_opts, custom.nu, 6.99, -1e4, 1e4, "N/m",
                  "bending of two angles in a plane"),
    WEIR_OPT_REAL(qt_force_opts, custom.gamma, 0, -1e4, 1e4, "N/m",
                  "stretching and bending of a bond"),
    WEIR_OPT_REAL(qt_force_opts, mass, 28.0855, 1, 1e3, "amu", "mass of an atom"),
    WEIR_OPT_END,
};

/* sum of coefficient.u over up to three atoms, each in its own cell. */
typedef struct form {
  int n;
  struct {
    int64_t atom, offset[3];
    double coefficient[3];
  } term[3];
} form;

/* Force constants between an atom of the cell and another, which may be in a neighbouring cell. */
typedef struct pair {
  int64_t atom, offset[3];
  double k[3][3];
} pair;
typedef struct force {
  const qt_crystal *c;
  qt_force_constants constants; /* 3 / (16 d^2) times, in eV/Angstrom^4 */
  int64_t *count;               /* [n] pairs of each atom               */
  pair *pair;                   /* [n, MAX_PAIRS]                       */
} force;

/* A periodic image of an atom: the atom and its cell. */
typedef struct image {
  int64_t atom, offset[3];
} image;

static image follow(const image *from, const qt_bond *bond)
{
  image to = {.atom = bond->atom};

  for (int i = 0; i < 3; i++) {
    to.offset[i] = from->offset[i] + bond->offset[i];
  }
  return to;
}

/* f += factor d.(u_to - u_from) */
static void add_difference(form *f, double factor, const double d[3], const image *from,
                           const image *to)
{
  const image *const ends[] = {from, to};

  for (int e = 0; e < 2; e++) {
    int t = 0;

    while (t < f->n && (f->term[t].atom != ends[e]->atom ||
                        memcmp(f->term[t].offset, ends[e]->offset, sizeof ends[e]->offset) != 0)) {
      t++;
    }
    if (t == f->n) {
      f->term[f->n++].atom = ends[e]->atom;
      memcpy(f->term[t].offset, ends[e]->offset, sizeof ends[e]->offset);
    }
    for (int i = 0; i < 3; i++) {
      f->term[t].coefficient[i] += (e == 0 ? -factor : factor) * d[i];
    }
  }
}

static form stretching(const image *i, const image *j, const double d_ij[3])
{
  form f = {.n = 0};

  add_difference(&f, 2, d_ij, i, j);
  return f;
}

static form bending(const image *i, const image *j, const double d_ij[3], const image *k,
                    const double d_ik[3])
{
  form f = {.n = 0};

  add_difference(&f, 1, d_ij, i, k);
  add_difference(&f, 1, d_ik, i, j);
  return f;
}

static pair *find_pair(force *f, int64_t atom, int64_t other, const int64_t offset[3])
{
  pair *first = &f->pair[atom * MAX_PAIRS];
  int64_t i = 0;

  while (i < f->count[atom] &&
         (first[i].atom != other || memcmp(first[i].offset, offset, sizeof first[i].offset) != 0)) {
    i++;
  }
  if (i == f->count[atom]) {
    WEIR_ASSERT(i < MAX_PAIRS);
    first[i].atom = other;
    memcpy(first[i].offset, offset, sizeof first[i].offset);
    f->count[atom]++;
  }
  return &first[i];
}

/* Second derivatives of factor a b. */
static void add_product(force *f, double factor, const form *a, const form *b)
{
  for (int s = 0; s < a->n && factor != 0; s++) {
    for (int t = 0; t < b->n; t++) {
      int64_t offset[3], back[3];

      for (int x = 0; x < 3; x++) {
        offset[x] = b->term[t].offset[x] - a->term[s].offset[x];
        back[x] = -offset[x];
      }
      pair *to = find_pair(f, a->term[s].atom, b->term[t].atom, offset);
      pair *from = find_pair(f, b->term[t].atom, a->term[s].atom, back);

      for (int x = 0; x < 3; x++) {
        for (int y = 0; y < 3; y++) {
          const double k = factor * a->term[s].coefficient[x] * b->term[t].coefficient[y];

          to->k[x][y] += k;
          from->k[y][x] += k;
        }
      }
    }
  }
}

/* Whether bonds j-i, i-k, k-l lie in a plane: l is as far from k as i is from j, and that way. */
static bool is_coplanar(const double d_ij[3], const double d_kl[3])
{
  return fabs(d_ij[0] + d_kl[0]) + fabs(d_ij[1] + d_kl[1]) + fabs(d_ij[2] + d_kl[2]) < 1e-6;
}

/* Chains j-i-k-l of a given angle j-i-k. */
static void add_chains(force *f, const image *i, const qt_bond *to_j, const qt_bond *to_k,
                       const form *angle)
{
  const image k = follow(i, to_k);
  const double *v = to_k->vector, back[3] = {-v[0], -v[1], -v[2]};

  for (int b = 0; b < BONDS; b++) {
    const qt_bond *to_l = &f->c->atom[k.atom].bond[b];

    if (to_l->atom >= 0 && is_coplanar(to_j->vector, to_l->vector)) {
      const image l = follow(&k, to_l);
      const form other = bending(&k, i, back, &l, to_l->vector);

      add_product(f, f->constants.nu, angle, &other);
    }
  }
}

static void add_atom(force *f, int64_t atom)
{
  const qt_bond *bond = f->c->atom[atom].bond;
  const image i = {.atom = atom};

  for (int b = 0; b < BONDS; b++) {
    if (bond[b].atom < 0) {
      continue;
    }
    const image j = follow(&i, &bond[b]);
    const form s_ij = stretching(&i, &j, bond[b].vector);

    add_product(f, f->constants.alpha, &s_ij, &s_ij);
    for (int m = 0; m < BONDS; m++) {
      if (m == b || bond[m].atom < 0) {
        continue;
      }
      const image k = follow(&i, &bond[m]);
      const form s_ik = stretching(&i, &k, bond[m].vector);
      const form t_jik = bending(&i, &j, bond[b].vector, &k, bond[m].vector);

      add_product(f, f->constants.beta, &t_jik, &t_jik);
      add_product(f, f->constants.delta, &s_ij, &s_ik);
      add_product(f, f->constants.gamma, &s_ij, &t_jik);
      add_chains(f, &i, &bond[b], &bond[m], &t_jik);
    }
  }
}

/* The constants of the model, scaled. */
static qt_force_constants constants(const qt_crystal *c, const qt_force_opts *o)
{
  const qt_force_constants mvff = {.alpha = 49.4, .beta = 4.79, .delta = 5.2, .nu = 6.99};
  const qt_force_constants keating = {.alpha = 48.5, .beta = 13.8};
  const qt_force_constants k = o->model == 0 ? mvff : o->model == 1 ? keating : o->custom;
  const double *d = c->atom[0].bond[0].vector;
  const double scale = 3 * QT_NEWTON / (16 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));

  return (qt_force_constants){.alpha = scale * k.alpha,
                              .beta = scale * k.beta,
                              .delta = scale * k.delta,
                              .nu = scale * k.nu,
                              .gamma = scale * k.gamma};
}

static void add_elements(const force *f, double mass, qt_elements *out)
{
  for (int64_t a = 0; a < f->c->n; a++) {
    for (int64_t i = 0; i < f->count[a]; i++) {
      const pair *p = &f->pair[a * MAX_PAIRS + i];

      for (int x = 0; x < 9; x++) {
        qt_elements_add(out, 3 * a + x / 3, 3 * p->atom + x % 3, p->offset,
                        (weir_c128){QT_VIBRATION / mass * p->k[x / 3][x % 3], 0});
      }
    }
  }
}

weir_status qt_force_wire(const qt_crystal *c, const qt_force_opts *o, qt_wire *out)
{
  force f = {.c = c, .constants = constants(c, o)};
  weir_status status = WEIR_OK;

  *out = qt_crystal_wire(c, QT_PHONONS);
  out->n = 3 * c->n;
  out->n_atoms = c->n;
  WEIR_TRY_GOTO(weir_alloc(c->n, sizeof *out->atom, (void **)&out->atom), done);
  WEIR_TRY_GOTO(weir_alloc(c->n, sizeof *f.count, (void **)&f.count), done);
  WEIR_TRY_GOTO(weir_alloc(c->n * MAX_PAIRS, sizeof *f.pair, (void **)&f.pair), done);
  for (int64_t a = 0; a < c->n; a++) {
    out->atom[a] = (qt_atom){.first = 3 * a, .n_orbitals = 3, .symbol = "Si", .mass = o->mass};
    memcpy(out->atom[a].position, c->atom[a].position, sizeof c->atom[a].position);
    add_atom(&f, a);
  }
  add_elements(&f, o->mass, &out->elements);
  status = out->elements.status;
done:
  weir_free(&f.count);
  weir_free(&f.pair);
  return status;
}
