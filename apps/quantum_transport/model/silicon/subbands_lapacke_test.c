/* subbands_lapacke_test.c - subbands of wires against reference values; slabs against wider ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/device.h"
#include "model/silicon/silicon.h"
#include "ops/weir_lapack.h"

enum { COLUMNS = 20, LISTED = 16 };

/* Ascending eigenvalues of a lead's cell + next exp(i k) + its adjoint at the transverse wave
 * vector k_z. Real where it may be. */
static double *bands(const qt_lead *lead, double k, double k_z)
{
  const int64_t n = lead->n, next_at = n * n;
  const bool is_real = k == 0 && k_z == 0;
  const weir_dtype dtype = is_real ? WEIR_F64 : WEIR_C128;
  weir_c128 *h = NULL;
  double *value = NULL;
  void *work = NULL;

  weir_lapack_start();
  assert_ok(weir_alloc(2 * n * n, sizeof *h, (void **)&h));
  assert_ok(weir_alloc(n, sizeof *value, (void **)&value));
  assert_ok(weir_alloc(weir_lapack_work(dtype, n), 1, &work));
  qt_bloch_add(&lead->cell, (const double[2]){0, k_z}, (weir_c128){1, 0}, h);
  qt_bloch_add(&lead->next, (const double[2]){0, k_z}, (weir_c128){cos(k), sin(k)}, h + next_at);
  for (int64_t i = 0; i < n * n; i++) {
    const weir_c128 x = h[next_at + i], y = h[next_at + i % n * n + i / n];

    h[i].re += x.re + y.re;
    h[i].im += x.im - y.im;
  }
  for (int64_t i = 0; i < n * n && is_real; i++) {
    ((double *)h)[i] = h[i].re;
  }
  assert_int_equal(weir_lapack_hermitian(dtype, false, (int)n, h, value, work), 0);
  weir_free(&h);
  weir_free(&work);
  return value;
}

static void wire(int64_t m, qt_silicon_opts *o, qt_system *s)
{
  const qt_device *d = qt_device_find("silicon_wire");

  weir_opts_default(d->opts, sizeof *o, o);
  o->length = 1;
  o->height = o->width = m;
  *s = (qt_system){.n = 0};
  assert_ok(d->build(o, 0, s));
}

static void wires_have_the_subbands_of_the_reference(void **state)
{
  char path[512], line[2048], *column[COLUMNS];
  int64_t m = 0, rows = 0;
  qt_system s = {.n = 0};
  qt_silicon_opts o;

  weir_check_shared(path, sizeof path, "quantum/reference/si_wire_subbands.csv");
  FILE *file = fopen(path, "r");

  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    int n = 0;

    if (line[0] == '#') {
      continue;
    }
    for (char *at = strtok(line, ","); at != NULL && n < COLUMNS; at = strtok(NULL, ",")) {
      column[n++] = at;
    }
    assert_int_equal(n, COLUMNS);
    if (atoi(column[0]) != m) {
      m = atoi(column[0]);
      qt_system_fini(&s);
      wire(m, &o, &s);
      assert_int_equal(s.n_atoms, atoi(column[1]));
    }
    const int64_t occupied = (4 * atoi(column[1]) - atoi(column[2])) / 2;
    double *value = bands(&s.lead[QT_LEFT], atof(column[3]) * M_PI, 0);

    for (int i = 0; i < LISTED; i++) {
      assert_true(fabs(value[occupied - LISTED / 2 + i] - atof(column[4 + i])) < 5.1e-7);
    }
    weir_free(&value);
    rows++;
  }
  assert_int_equal(rows, 10);
  (void)fclose(file);
  qt_system_fini(&s);
}

static void thick_wires_have_the_gap_of_the_reference(void **state)
{
  qt_silicon_opts o;
  qt_system s;

  wire(4, &o, &s);
  assert_int_equal(s.lead[QT_RIGHT].n, 1260);
  double *value = bands(&s.lead[QT_RIGHT], 0, 0);

  assert_true(fabs(value[222] + 0.2900) < 5e-5);
  assert_true(fabs(value[223] - 1.5116) < 5e-5);
  weir_free(&value);
  qt_system_fini(&s);
}

/* Neither a larger shift nor hydrogen moves states into the gap of 3.1664 eV (m = 2). */
static void surfaces_have_no_states_in_the_gap(void **state)
{
  const qt_device *d = qt_device_find("silicon_wire");
  qt_silicon_opts o;
  qt_system s;

  for (int kind = 0; kind < 2; kind++) {
    const int64_t occupied = kind == 0 ? 47 : 47 + 26; /* bonds to hydrogen are occupied */

    wire(2, &o, &s);
    qt_system_fini(&s);
    o.electrons.shift = 30;
    o.electrons.passivation = kind == 0 ? QT_SHIFT : QT_HYDROGEN;
    assert_ok(d->build(&o, 0, &s));
    double *value = bands(&s.lead[QT_LEFT], 0, 0);
    const double gap = value[occupied] - value[occupied - 1];

    assert_true(kind == 0 ? fabs(gap - 3.1664) < 1e-3 : gap > 2.5);
    weir_free(&value);
    qt_system_fini(&s);
  }
}

/* The bands of a slab two cells wide along z are those of one cell at k_z / 2 and (k_z + 1) / 2. */
static void check_slab(bool is_phonons)
{
  const double k = 0.7, k_z = 0.3, a = 5.431;
  const bool periodic[3] = {true, false, true};
  const int64_t n = is_phonons ? 24 : 80;
  double *value[3];

  for (int i = 0; i < 3; i++) {
    const int64_t cells[3] = {1, 1, i == 0 ? 2 : 1};
    qt_sp3d5s_opts electrons;
    qt_force_opts phonons;
    qt_system s = {.n = 0};
    qt_crystal c;
    qt_wire w;

    weir_opts_default(qt_sp3d5s_options, sizeof electrons, &electrons);
    weir_opts_default(qt_force_options, sizeof phonons, &phonons);
    assert_ok(qt_crystal_create(cells, periodic, (const double[3]){a, a, a}, &c));
    assert_ok(is_phonons ? qt_force_wire(&c, &phonons, &w) : qt_sp3d5s_wire(&c, &electrons, &w));
    assert_ok(qt_wire_create(&w, 1, NULL, (const double[2]){0, 0}, &s));
    value[i] = bands(&s.lead[QT_LEFT], k, i == 0 ? k_z : (k_z + i - 1) / 2);
    qt_system_fini(&s);
    qt_wire_fini(&w);
    qt_crystal_fini(&c);
  }
  for (int64_t i = 0, j = 0; i + j < 2 * n;) { /* merge the two halves */
    const bool first = j == n || (i < n && value[1][i] <= value[2][j]);
    const double expected = first ? value[1][i] : value[2][j];

    assert_near(value[0][i + j], expected, is_phonons ? 1e-16 : 1e-11);
    i += first;
    j += !first;
  }
  for (int i = 0; i < 3; i++) {
    weir_free(&value[i]);
  }
}

static void slabs_have_the_bands_of_wider_cells(void **state)
{
  check_slab(false);
  check_slab(true);
}

/* At q = 0 three shifts and the rotation about x; near it two flexural branches, omega ~ q^2, then
 * torsion and stretching, omega ~ q. */
static void wires_have_four_acoustic_branches(void **state)
{
  const qt_device *d = qt_device_find("silicon_wire");
  const double step = 0.02;
  qt_silicon_opts o;
  qt_system s;

  for (int model = 0; model < 2; model++) {
    for (int64_t m = 2; m < 4; m++) {
      weir_opts_default(d->opts, sizeof o, &o);
      o.particle = QT_PHONONS;
      o.phonons.model = model;
      o.length = 1;
      o.height = o.width = m;
      s = (qt_system){.n = 0};
      assert_ok(d->build(&o, 0, &s));
      double *zero = bands(&s.lead[QT_LEFT], 0, 0), *one = bands(&s.lead[QT_LEFT], step, 0);
      double *two = bands(&s.lead[QT_LEFT], 2 * step, 0), max = zero[s.n - 1];

      assert_true(zero[0] > -1e-14 * max && zero[3] < 1e-13 * max && zero[4] > 1e-3 * max);
      for (int b = 0; b < 4; b++) {
        assert_true(fabs(two[b] / one[b] / (b < 2 ? 16 : 4) - 1) < 0.02);
      }
      for (double q = 0.4; q < 3.2; q += 0.9) {
        double *value = bands(&s.lead[QT_LEFT], q, 0);

        assert_true(value[0] > 0);
        weir_free(&value);
      }
      weir_free(&zero);
      weir_free(&one);
      weir_free(&two);
      qt_system_fini(&s);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wires_have_the_subbands_of_the_reference),
      cmocka_unit_test(thick_wires_have_the_gap_of_the_reference),
      cmocka_unit_test(surfaces_have_no_states_in_the_gap),
      cmocka_unit_test(wires_have_four_acoustic_branches),
      cmocka_unit_test(slabs_have_the_bands_of_wider_cells),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
