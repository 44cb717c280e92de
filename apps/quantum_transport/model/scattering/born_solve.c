/* born_solve.c - see born_priv.h: Green's functions of an iteration. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "model/scattering/born_priv.h"

void born_atoms_fini(born_atoms *a)
{
  weir_free(&a->first);
  weir_free(&a->block);
}

weir_status born_find_atoms(const qt_system *s, born_atoms *out)
{
  int64_t block = 0;

  WEIR_TRY(weir_alloc(s->n_blocks + 1, sizeof *out->first, (void **)&out->first));
  WEIR_TRY(weir_alloc(s->n_atoms, sizeof *out->block, (void **)&out->block));
  for (int64_t a = 0; a < s->n_atoms; a++) {
    const qt_atom *atom = &s->atom[a];

    while (atom->first >= s->block[block + 1]) {
      out->first[++block] = a;
    }
    if (atom->first + atom->n_orbitals > s->block[block + 1]) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "scattering: the orbitals of atom %lld lie in two blocks of the device",
                       (long long)a);
    }
    out->block[a] = block;
  }
  while (block < s->n_blocks) {
    out->first[++block] = s->n_atoms;
  }
  return WEIR_OK;
}

/* First element of an atom's rows in its block, counted in rows. */
static int64_t row_of(const qt_system *s, const born_atoms *atoms, int64_t a)
{
  return s->atom[a].first - s->block[atoms->block[a]];
}

static const weir_c128 *used(const born_job *j, qt_self_energy_array which)
{
  return j->used[which].data;
}

/* to [rows, columns] of a block `stride` wide += factor times from [n, n], its first ones. */
static void add_block(int64_t rows, int64_t columns, weir_c128 factor, const weir_c128 *from,
                      int64_t n, weir_c128 *to, int64_t stride)
{
  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = from[i / columns * n + i % columns];

    to[i / columns * stride + i % columns].re += factor.re * x.re - factor.im * x.im;
    to[i / columns * stride + i % columns].im += factor.re * x.im + factor.im * x.re;
  }
}

/* exp(2 pi i q . image), by which displacements of an image differ at wave vector q. */
static weir_c128 phase_of(const double q[2], const int64_t image[2])
{
  const double angle = 2 * M_PI * (q[0] * (double)image[0] + q[1] * (double)image[1]);

  return (weir_c128){cos(angle), sin(angle)};
}

static weir_c128 scaled(double factor, weir_c128 z)
{
  return (weir_c128){factor * z.re, factor * z.im};
}

/* ---- Electrons ---- */

/* qt_scattering_source.add: blocks of atoms alone. */
static void add_sigma(const void *context, int64_t at, qt_scattering_kind kind, int64_t row,
                      int64_t column, double factor, weir_c128 *out)
{
  const born_job *j = context;
  const qt_system *s = j->spec->electrons;
  const int64_t n = j->list.n_orbitals, wide = s->block[row + 1] - s->block[row];
  const weir_c128 *sigma = used(j, kind == QT_SCATTERING_LESSER ? QT_SIGMA : QT_SIGMA_RETARDED);
  const born_atoms *atoms = &j->of_electrons;

  for (int64_t a = atoms->first[row]; a < atoms->first[row + 1] && row == column; a++) {
    const int64_t from = row_of(s, atoms, a), rows = s->atom[a].n_orbitals;

    add_block(rows, rows, (weir_c128){factor, 0}, sigma + (at * s->n_atoms + a) * n * n, n,
              out + from * (wide + 1), wide);
  }
}

/* Writes block (a, l) of a bank, times a factor, to `to` [n, n]. */
static void take_block(const qt_open_points *o, const born_atoms *atoms, int64_t a, int64_t l,
                       weir_c128 factor, const weir_c128 *bank, int64_t n, weir_c128 *to)
{
  const qt_system *s = o->system;
  const int64_t rows = s->atom[a].n_orbitals, columns = s->atom[l].n_orbitals;
  const int64_t stride = qt_layout_rows(&o->layout, atoms->block[l]);
  const weir_c128 *from = bank + qt_layout_at(&o->layout, atoms->block[a], atoms->block[l]) +
                          row_of(s, atoms, a) * stride + row_of(s, atoms, l);

  for (int64_t i = 0; i < rows * columns; i++) {
    const weir_c128 x = from[i / columns * stride + i % columns];

    to[i / columns * n + i % columns] =
        (weir_c128){factor.re * x.re - factor.im * x.im, factor.re * x.im + factor.im * x.re};
  }
}

static void take_flows(const born_job *j, int particle, const qt_open_point *p)
{
  const int64_t point = born_point(j, particle, p->point);

  memcpy(j->flow[particle] + point * QT_LEADS, p->flow, sizeof p->flow);
  memcpy(j->gross[particle] + point * QT_LEADS, p->gross, sizeof p->gross);
}

static void take_electrons(void *context, const qt_open_point *p)
{
  born_job *j = context;
  const qt_open_points *o = &j->electrons;
  const int64_t n = j->list.n_orbitals, atoms = j->list.n_atoms, max = o->layout.max;
  const int64_t half = o->n_k * o->n_energies * atoms * n * n;
  const weir_c128 one = {1, 0};
  weir_c128 *green = j->t[QT_GREEN].data;

  for (int64_t a = 0; a < atoms; a++) {
    weir_c128 *to = green + (p->point * atoms + a) * n * n;

    take_block(o, &j->of_electrons, a, a, one, p->lesser, n, to);
    take_block(o, &j->of_electrons, a, a, one, p->greater, n, to + half);
  }
  take_flows(j, BORN_ELECTRONS, p);
  qt_open_points_cuts(o, p, j->scratch + p->thread * 2 * max * max,
                      j->cut + born_point(j, BORN_ELECTRONS, p->point) * j->out->n_cuts);
}

weir_status born_solve_electrons(born_job *j)
{
  const qt_scattering_source source = {.add = j->scatters ? add_sigma : NULL, .context = j};

  return qt_open_points_solve(&j->electrons, &source, take_electrons, j);
}

/* ---- Phonons ---- */

/* Pi between scaled displacements from Pihat, times factor: of retarded functions half the
 * difference. */
static void add_pi_block(const born_job *j, qt_scattering_kind kind, weir_c128 factor,
                         const weir_c128 *pi, int64_t half, weir_c128 *to, int64_t stride)
{
  const int64_t n = j->list.n_directions;

  if (kind == QT_SCATTERING_LESSER) {
    add_block(n, n, factor, pi, n, to, stride);
  } else {
    add_block(n, n, scaled(-0.5, factor), pi, n, to, stride);
    add_block(n, n, scaled(0.5, factor), pi + half, n, to, stride);
  }
}

/* qt_scattering_source.add. */
static void add_pi(const void *context, int64_t at, qt_scattering_kind kind, int64_t row,
                   int64_t column, double factor, weir_c128 *out)
{
  const born_job *j = context;
  const qt_system *s = j->spec->phonons;
  const born_atoms *atoms = &j->of_phonons;
  const int64_t n = j->list.n_directions, width = j->list.n_neighbours;
  const int64_t wide = s->block[column + 1] - s->block[column];
  const int64_t half = weir_tensor_numel(&j->used[QT_PI_SELF]) / 2;
  const double *q = j->phonons.k[at / j->phonons.n_energies], *mass = j->mass_factor;

  for (int64_t a = atoms->first[row]; a < atoms->first[row + 1]; a++) {
    const int64_t number = at * s->n_atoms + a;
    weir_c128 *const to = out + row_of(s, atoms, a) * wide;

    if (row == column) {
      add_pi_block(j, kind, (weir_c128){factor * mass[a] * mass[a], 0},
                   used(j, QT_PI_SELF) + number * n * n, half, to + row_of(s, atoms, a), wide);
    }
    for (int64_t b = a * width; b < (a + 1) * width; b++) {
      const int64_t l = j->list.atom[b];

      if (l != a && atoms->block[l] == column) {
        add_pi_block(j, kind, scaled(factor * mass[a] * mass[l], phase_of(q, j->list.image[b])),
                     used(j, QT_PI_PAIR) + (number * width + b - a * width) * n * n, width * half,
                     to + row_of(s, atoms, l), wide);
      }
    }
  }
}

static void take_phonons(void *context, const qt_open_point *p)
{
  born_job *j = context;
  const qt_open_points *o = &j->phonons;
  const int64_t n = j->list.n_directions, atoms = j->list.n_atoms, width = j->list.n_neighbours;
  const int64_t half = o->n_k * o->n_energies * atoms * n * n;
  const double *q = o->k[p->point / o->n_energies], *mass = j->mass_factor;

  for (int64_t a = 0; a < atoms; a++) {
    const int64_t number = p->point * atoms + a;
    weir_c128 *self = (weir_c128 *)j->t[QT_PHONON_SELF].data + number * n * n;

    const weir_c128 own = {mass[a] * mass[a], 0};

    take_block(o, &j->of_phonons, a, a, own, p->lesser, n, self);
    take_block(o, &j->of_phonons, a, a, own, p->greater, n, self + half);
    for (int64_t b = 0; b < width; b++) {
      const int64_t l = j->list.atom[a * width + b];
      const weir_c128 factor = scaled(mass[a] * mass[l], phase_of(q, j->list.image[a * width + b]));
      weir_c128 *pair = (weir_c128 *)j->t[QT_PHONON_PAIR].data + (number * width + b) * n * n;

      take_block(o, &j->of_phonons, l, a, factor, p->lesser, n, pair);
      take_block(o, &j->of_phonons, l, a, factor, p->greater, n, pair + width * half);
    }
  }
  take_flows(j, BORN_PHONONS, p);
}

weir_status born_solve_phonons(born_job *j)
{
  const bool coupled = j->spec->opts->phonons.state == QT_PHONONS_COUPLED;
  const qt_scattering_source source = {
      .add = j->scatters && coupled ? add_pi : NULL, .context = j, .tridiagonal = true};

  return qt_open_points_solve(&j->phonons, &source, take_phonons, j);
}
