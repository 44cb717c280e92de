/* self_energy_test.h - Green's functions and self-energies of tests, and what is true of any. Tests
 * only. */
#ifndef QT_SELF_ENERGY_TEST_H
#define QT_SELF_ENERGY_TEST_H
#include <math.h>
#include <stdio.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "graph/weir_complex_scalar.h"
#include "model/scattering/power.h"
#include "model/scattering/self_energy.h"

/* ---- A case: neighbours, G and Dhat of all pairs of atoms ---- */

typedef struct sample {
  qt_neighbours list;
  qt_self_energy_spec spec;
  weir_tensor t[QT_SELF_ENERGY_ARRAYS]; /* inputs and results */
  weir_c128 *d;                         /* [2, k, frequency, atom, direction, atom, direction] */
  double *energy;
} sample;

static inline weir_c128 *data_of(const sample *c, qt_self_energy_array which)
{
  return c->t[which].data;
}

static inline void allocate(int64_t atoms, int64_t width, int64_t orbitals, int64_t directions,
                            sample *c)
{
  const int64_t count = atoms * width;

  c->list = (qt_neighbours){
      .n_atoms = atoms, .n_neighbours = width, .n_orbitals = orbitals, .n_directions = directions};
  assert_ok(weir_alloc(count, sizeof *c->list.atom, (void **)&c->list.atom));
  assert_ok(weir_alloc(count, sizeof *c->list.reverse, (void **)&c->list.reverse));
  assert_ok(weir_alloc(count, sizeof *c->list.image, (void **)&c->list.image));
  assert_ok(weir_alloc(count * directions * orbitals * orbitals, sizeof *c->list.gradient,
                       (void **)&c->list.gradient));
  for (int64_t i = 0; i < count; i++) {
    c->list.atom[i] = (int32_t)(i / width);
    c->list.reverse[i] = (int32_t)i;
  }
}

static inline void size_up(sample *c)
{
  const int64_t n = c->list.n_atoms * c->list.n_directions;

  c->spec.neighbours = &c->list;
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = qt_self_energy_desc(&c->spec, (qt_self_energy_array)i);

    assert_ok(weir_tensor_init(&c->t[i], WEIR_C128, d.rank, d.shape));
  }
  assert_ok(
      weir_alloc(2 * c->spec.n_k * c->spec.n_frequencies * n * n, sizeof *c->d, (void **)&c->d));
  assert_ok(weir_alloc(c->spec.n_energies, sizeof *c->energy, (void **)&c->energy));
  for (int64_t e = 0; e < c->spec.n_energies; e++) {
    c->energy[e] = c->spec.step * (double)e;
  }
}

static inline void sample_fini(sample *c)
{
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&c->t[i]);
  }
  qt_neighbours_fini(&c->list);
  weir_free(&c->d);
  weir_free(&c->energy);
}

/* Block (a, l) of D at point x k w, its element (i, j). */
static inline int64_t index_of(const sample *c, int64_t x, int64_t k, int64_t w, int64_t a,
                               int64_t i, int64_t l, int64_t j)
{
  const int64_t n = c->list.n_atoms, d = c->list.n_directions;
  const int64_t point = (x * c->spec.n_k + k) * c->spec.n_frequencies + w;

  return (((point * n + a) * d + i) * n + l) * d + j;
}

/* The blocks that the self-energies read, of all of D. */
static inline void take_blocks(sample *c)
{
  const int64_t n = c->list.n_atoms, d = c->list.n_directions, width = c->list.n_neighbours;
  const int64_t points = 2 * c->spec.n_k * c->spec.n_frequencies;
  weir_c128 *self = data_of(c, QT_PHONON_SELF), *pair = data_of(c, QT_PHONON_PAIR);

  for (int64_t at = 0; at < points * n * d * d; at++) {
    const int64_t j = at % d, i = at / d % d, a = at / d / d % n, point = at / d / d / n;

    self[at] = c->d[index_of(c, 0, 0, point, a, i, a, j)];
    for (int64_t b = 0; b < width; b++) {
      pair[(((point * n + a) * width + b) * d + i) * d + j] =
          c->d[index_of(c, 0, 0, point, c->list.atom[a * width + b], i, a, j)];
    }
  }
}

static inline void run(sample *c)
{
  qt_self_energy e;

  assert_ok(qt_self_energy_create(&c->spec, &e));
  assert_ok(qt_self_energy_run(&e, c->t));
  qt_self_energy_fini(&e);
}

/* ---- Comparisons ---- */

static inline void assert_close(const char *what, const weir_c128 *x, const weir_c128 *y, int64_t n)
{
  double worst = 0, max = 0;

  for (int64_t i = 0; i < n; i++) {
    worst = fmax(worst, weir_abs_c128(weir_sub_c128(x[i], y[i])));
    max = fmax(max, weir_abs_c128(y[i]));
    assert_false(isnan(x[i].re) || isnan(x[i].im));
  }
  if (!(worst <= 1e-12 * max)) {
    fail_msg("%s: %g apart, of %g", what, worst, max);
  }
}

/* Blocks of pi, laid out as D, against the results. */
static inline void check_pi(const sample *c, const weir_c128 *pi)
{
  const int64_t n = c->list.n_atoms, d = c->list.n_directions, width = c->list.n_neighbours;
  const int64_t points = 2 * c->spec.n_k * c->spec.n_frequencies;
  weir_c128 *self, *pair;

  assert_ok(weir_alloc(points * n * d * d, sizeof *self, (void **)&self));
  assert_ok(weir_alloc(points * n * width * d * d, sizeof *pair, (void **)&pair));
  for (int64_t at = 0; at < points * n * d * d; at++) {
    const int64_t j = at % d, i = at / d % d, a = at / d / d % n, point = at / d / d / n;

    self[at] = pi[index_of(c, 0, 0, point, a, i, a, j)];
    for (int64_t b = 0; b < width; b++) {
      const int64_t l = c->list.atom[a * width + b];

      pair[(((point * n + a) * width + b) * d + i) * d + j] =
          l == a ? (weir_c128){0, 0} : pi[index_of(c, 0, 0, point, a, i, l, j)];
    }
  }
  assert_close("Pi of atoms", data_of(c, QT_PI_SELF), self, points * n * d * d);
  assert_close("Pi of pairs", data_of(c, QT_PI_PAIR), pair, points * n * width * d * d);
  weir_free(&self);
  weir_free(&pair);
}

/* What holds for any G and D: an electron gives what a phonon takes. */
static inline void check_conservation(const sample *c, double power[2])
{
  const int64_t atoms = c->list.n_atoms, o = c->list.n_orbitals;
  const int64_t blocks = c->spec.n_k * c->spec.n_energies * atoms, half = blocks * o * o;
  const weir_c128 *sigma = data_of(c, QT_SIGMA), *g = data_of(c, QT_GREEN);
  double of_atom[2][16], in = 0, out = 0;

  assert_true(atoms <= 16);
  for (int64_t i = 0; i < blocks; i++) {
    in += qt_trace_of_product(o, o, sigma + i * o * o, g + half + i * o * o);
    out += qt_trace_of_product(o, o, sigma + half + i * o * o, g + i * o * o);
  }
  assert_true(fabs(in - out) <= 1e-12 * fabs(in));
  qt_power_of_electrons(&c->spec, c->energy, 0, g, sigma, of_atom[0]);
  qt_power_of_phonons(&c->spec, data_of(c, QT_PHONON_SELF), data_of(c, QT_PHONON_PAIR),
                      data_of(c, QT_PI_SELF), data_of(c, QT_PI_PAIR), of_atom[1]);
  for (int p = 0; p < 2; p++) {
    power[p] = 0;
    for (int64_t a = 0; a < atoms; a++) {
      power[p] += of_atom[p][a];
    }
  }
  assert_true(fabs(power[0] + power[1]) <= 1e-12 * fabs(power[0]));
}

#endif
