/* sp3d5s.c - see sp3d5s.h. */
#include "model/silicon/sp3d5s.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

enum { S, P, D = 4, S_STAR = 9, N = QT_ORBITALS };

const weir_opt qt_sp3d5s_options[] = {
    WEIR_OPT_BOOL(qt_sp3d5s_opts, spin_orbit, false, "20 orbitals an atom instead of 10"),
    WEIR_OPT_ENUM(qt_sp3d5s_opts, passivation, QT_SHIFT, "shift|hydrogen|none",
                  "dangling bonds: raised in energy, ended by hydrogen, or left as they are"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, shift, 27, 0, 1e3, "eV", "energy added to dangling bonds"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, bond, 2.351691983976643, 1, 4, "Angstrom",
                  "bond length of the integrals below; scaled as (bond / length)^exponent"),
    WEIR_OPT_ENUM(qt_sp3d5s_opts, exponents, 0, "published|shear_corrected",
                  "exponents of the distance scaling"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, energy.s, -2.15168, -1e2, 1e2, "eV", "s orbital"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, energy.p, 4.22925, -1e2, 1e2, "eV", "p orbitals"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, energy.d, 13.78950, -1e2, 1e2, "eV", "d orbitals"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, energy.sstar, 19.11650, -1e2, 1e2, "eV", "excited s orbital"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, energy.spin_orbit, 0.01989, 0, 10, "eV",
                  "spin-orbit coupling of p orbitals, a third of the atomic splitting"),
#define X(name, value, published, corrected) \
  WEIR_OPT_REAL(qt_sp3d5s_opts, v.name, value, -1e2, 1e2, "eV", "two-centre integral"),
    QT_TWO_CENTRE(X)
#undef X
        WEIR_OPT_REAL(qt_sp3d5s_opts, hydrogen.energy, 0.99984, -1e2, 1e2, "eV",
                      "s orbital of hydrogen"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, hydrogen.ss_sigma, -3.99972, -1e2, 1e2, "eV", "hydrogen to s"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, hydrogen.sp_sigma, 4.25175, -1e2, 1e2, "eV", "hydrogen to p"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, hydrogen.s_sstar_sigma, -1.6977, -1e2, 1e2, "eV",
                  "hydrogen to excited s"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, hydrogen.sd_sigma, -2.10552, -1e2, 1e2, "eV", "hydrogen to d"),
    WEIR_OPT_REAL(qt_sp3d5s_opts, hydrogen.distance, 0.25, 0.01, 1, "1",
                  "its distance from silicon, of that of two silicon atoms"),
    WEIR_OPT_END,
};

/* What is being filled, and the first orbital of each silicon atom. */
typedef struct builder {
  const qt_crystal *c;
  const qt_sp3d5s_opts *o;
  int64_t spins, *first;
  qt_wire *out;
} builder;

static const int64_t here[3] = {0, 0, 0};

/* Lists silicon and hydrogen atoms, and counts orbitals. */
static weir_status list_atoms(builder *b)
{
  const bool has_hydrogen = b->o->passivation == QT_HYDROGEN;
  qt_wire *w = b->out;
  int64_t n = 0;

  w->n_atoms = b->c->n + (has_hydrogen ? qt_crystal_dangling(b->c) : 0);
  WEIR_TRY(weir_alloc(w->n_atoms, sizeof *w->atom, (void **)&w->atom));
  WEIR_TRY(weir_alloc(b->c->n, sizeof *b->first, (void **)&b->first));
  for (int64_t a = 0; a < b->c->n; a++) {
    const qt_crystal_atom *from = &b->c->atom[a];

    b->first[a] = w->n;
    w->atom[n] =
        (qt_atom){.first = w->n, .n_orbitals = N * b->spins, .symbol = "Si", .mass = 28.0855};
    memcpy(w->atom[n++].position, from->position, sizeof from->position);
    w->n += N * b->spins;
    for (int k = 0; k < 4 && has_hydrogen; k++) {
      if (from->bond[k].atom >= 0) {
        continue;
      }
      w->atom[n] = (qt_atom){.first = w->n, .n_orbitals = b->spins, .symbol = "H", .mass = 1.008};
      for (int i = 0; i < 3; i++) {
        w->atom[n].position[i] =
            from->position[i] + b->o->hydrogen.distance * from->bond[k].vector[i];
      }
      n++;
      w->n += b->spins;
    }
  }
  return WEIR_OK;
}

/* A real element, the same for both spins. orbitals: of each spin, of either atom. */
static void add(builder *b, int64_t row, int64_t row_orbitals, int64_t column,
                int64_t column_orbitals, const int64_t offset[3], double value)
{
  for (int64_t spin = 0; spin < b->spins && value != 0; spin++) {
    qt_elements_add(&b->out->elements, row + spin * row_orbitals, column + spin * column_orbitals,
                    offset, (weir_c128){value, 0});
  }
}

/* lambda L.sigma of the p orbitals that begin at `up` and `down`: (L_k)_ij = -i epsilon_kij. */
static void add_spin_orbit(builder *b, int64_t up, int64_t down)
{
  const double l = b->o->energy.spin_orbit;
  const struct {
    int64_t row, column;
    weir_c128 value;
  } upper[] = {
      {up, up + 1, {0, -l}},       {down, down + 1, {0, l}}, {up, down + 2, {l, 0}},
      {up + 1, down + 2, {0, -l}}, {up + 2, down, {-l, 0}},  {up + 2, down + 1, {0, l}},
  };

  for (size_t i = 0; i < sizeof upper / sizeof *upper; i++) {
    const weir_c128 x = upper[i].value;

    qt_elements_add(&b->out->elements, upper[i].row, upper[i].column, here, x);
    qt_elements_add(&b->out->elements, upper[i].column, upper[i].row, here,
                    (weir_c128){x.re, -x.im});
  }
}

/* shift |h><h|, h = (s + sqrt(3) p.u) / 2. */
static void add_shift(builder *b, int64_t first, const double u[3])
{
  const double h[4] = {0.5, sqrt(0.75) * u[0], sqrt(0.75) * u[1], sqrt(0.75) * u[2]};

  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      add(b, first + S + i, N, first + S + j, N, here, b->o->shift * h[i] * h[j]);
    }
  }
}

/* The hydrogen atom whose orbitals begin at `at`; u: from silicon to it. */
static void add_hydrogen(builder *b, int64_t first, int64_t at, const double u[3])
{
  const double to_silicon[3] = {-u[0], -u[1], -u[2]};
  double block[N * N];
  qt_sp3d5s_opts o = *b->o;

  o.v.ss_sigma = o.hydrogen.ss_sigma;
  o.v.s_sstar_sigma = o.hydrogen.s_sstar_sigma;
  o.v.sp_sigma = o.hydrogen.sp_sigma;
  o.v.sd_sigma = o.hydrogen.sd_sigma;
  o.bond = 1;
  qt_sp3d5s_block(&o, to_silicon, block);
  add(b, at, 1, at, 1, here, o.hydrogen.energy);
  for (int i = 0; i < N; i++) {
    add(b, at, 1, first + i, N, here, block[S * N + i]);
    add(b, first + i, N, at, 1, here, block[S * N + i]);
  }
}

static void add_bonds(builder *b, int64_t atom)
{
  int64_t next = b->first[atom] + N * b->spins; /* its first hydrogen atom */

  for (int k = 0; k < 4; k++) {
    const qt_bond *bond = &b->c->atom[atom].bond[k];
    const double *r = bond->vector, length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    const double u[3] = {r[0] / length, r[1] / length, r[2] / length};
    double block[N * N];

    if (bond->atom >= 0) {
      qt_sp3d5s_block(b->o, r, block);
      for (int i = 0; i < N * N; i++) {
        add(b, b->first[atom] + i / N, N, b->first[bond->atom] + i % N, N, bond->offset, block[i]);
      }
    } else if (b->o->passivation == QT_SHIFT) {
      add_shift(b, b->first[atom], u);
    } else if (b->o->passivation == QT_HYDROGEN) {
      add_hydrogen(b, b->first[atom], next, u);
      next += b->spins;
    }
  }
}

static void add_energies(builder *b, int64_t first)
{
  for (int64_t i = 0; i < N; i++) {
    const double e = i == S        ? b->o->energy.s
                     : i == S_STAR ? b->o->energy.sstar
                     : i < D       ? b->o->energy.p
                                   : b->o->energy.d;

    add(b, first + i, N, first + i, N, here, e);
  }
  if (b->spins == 2) {
    add_spin_orbit(b, first + P, first + N + P);
  }
}

weir_status qt_sp3d5s_wire(const qt_crystal *c, const qt_sp3d5s_opts *o, qt_wire *out)
{
  builder b = {.c = c, .o = o, .spins = o->spin_orbit ? 2 : 1, .out = out};
  weir_status status = WEIR_OK;

  *out = qt_crystal_wire(c, QT_ELECTRONS);
  WEIR_TRY_GOTO(list_atoms(&b), done);
  for (int64_t a = 0; a < c->n; a++) {
    add_energies(&b, b.first[a]);
    add_bonds(&b, a);
  }
  status = out->elements.status;
done:
  weir_free(&b.first);
  return status;
}
