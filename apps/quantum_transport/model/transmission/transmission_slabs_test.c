/* transmission_slabs_test.c - spectra of points in slabs that threads share. */
#include "device/weir_parallel.h"
#include "support/quantum_transport/transmission_test.h"

enum { ENERGIES = 12 };

/* A rough ribbon, periodic along z, in 9 blocks of up to 2 slices of 4 sites. */
static const ribbon rough = {
    .width = 4, .length = 16, .hopping = -1, .periodic = -1, .disorder = 1.5, .merge = 2};

static qt_transport_spec spec_of(const double energy[ENERGIES])
{
  static const double k[2][2] = {{0, 0}, {0, 0.13}};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, ENERGIES, energy);

  spec.n_k = 2;
  spec.k = k;
  spec.shift = 1e-6;
  spec.dos = spec.lead_dos = spec.bond_currents = true;
  return spec;
}

static void set_energies(double energy[ENERGIES])
{
  for (int e = 0; e < ENERGIES; e++) {
    energy[e] = -3.037 + 0.51 * e;
  }
}

static void check(int64_t count, const double *x, const double *y)
{
  double max = 0;

  for (int64_t i = 0; i < count; i++) {
    max = fmax(max, fabs(y[i]));
  }
  for (int64_t i = 0; i < count; i++) {
    assert_true(fabs(x[i] - y[i]) <= 1e-12 * max);
  }
}

/* All results are near those of others, or have their bits. */
static void compare(const qt_transport *x, const qt_transport *y, bool bits)
{
  const int64_t points = 2 * ENERGIES, bonds = points * qt_sparse_count(&x->bonds);
  const double *a[] = {x->transmission,          x->dos,
                       x->lead_dos[QT_LEFT],     x->lead_dos[QT_RIGHT],
                       x->bond_current[QT_LEFT], x->bond_current[QT_RIGHT]};
  const double *b[] = {y->transmission,          y->dos,
                       y->lead_dos[QT_LEFT],     y->lead_dos[QT_RIGHT],
                       y->bond_current[QT_LEFT], y->bond_current[QT_RIGHT]};
  const int64_t count[] = {points, points * x->n, points * x->n, points * x->n, bonds, bonds};

  for (int i = 0; i < 6; i++) {
    if (bits) {
      assert_memory_equal(a[i], b[i], (size_t)count[i] * sizeof *a[i]);
    } else {
      check(count[i], a[i], b[i]);
    }
  }
  assert_int_equal(x->n_shifted, y->n_shifted);
}

static void slabs_do_not_change_spectra(void **state)
{
  qt_transport one, first, more;
  double energy[ENERGIES];

  (void)state;
  set_energies(energy);
  qt_transport_spec spec = spec_of(energy);

  assert_ok(ribbon_transport(&rough, &spec, &one));
  for (spec.slabs = 2; spec.slabs <= 9; spec.slabs++) {
    spec.threads = 1;
    assert_ok(ribbon_transport(&rough, &spec, &first));
    compare(&first, &one, false);
    assert_true(first.n_in_order <= ENERGIES);
    spec.threads = 3;
    assert_ok(ribbon_transport(&rough, &spec, &more));
    compare(&more, &first, true);
    qt_transport_fini(&first);
    qt_transport_fini(&more);
  }
  spec.dos = spec.lead_dos = spec.bond_currents = false;
  spec.slabs = 4;
  assert_ok(ribbon_transport(&rough, &spec, &first));
  check(2 * ENERGIES, first.transmission, one.transmission);
  qt_transport_fini(&first);
  qt_transport_fini(&one);
}

/* At E = 0 a site of the chain, cut off, is singular: its points go through the slabs in order. */
static void singular_slabs_are_counted(void **state)
{
  const ribbon chain = {.width = 1, .length = 9, .hopping = -1};
  const double energy[] = {-0.3, 0, 0.4};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 3, energy);
  qt_transport out;

  (void)state;
  spec.slabs = 3;
  assert_ok(ribbon_transport(&chain, &spec, &out));
  assert_int_equal(out.n_in_order, 1);
  for (int e = 0; e < 3; e++) {
    assert_near(out.transmission[e], 1, 1e-10);
  }
  qt_transport_fini(&out);
}

static void more_slabs_than_blocks_are_refused(void **state)
{
  double energy[ENERGIES];
  qt_transport out;
  qt_transport_size size;
  qt_system s;

  (void)state;
  set_energies(energy);
  qt_transport_spec spec = spec_of(energy);

  ribbon_create(&rough, &s);
  spec.slabs = s.n_blocks + 1;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "parallel.slabs: 10 slabs of a device of 9 blocks"));
  assert_int_equal(qt_transport_size_of(&s, &spec, &size), WEIR_ERR_CONFIG);
  qt_system_fini(&s);
}

/* The peak; threads that slabs have work for; flops of slabs between two others. */
static void sizes_are_predicted(void **state)
{
  const ribbon r = {.width = 30, .length = 40, .hopping = -1};
  double energy[ENERGIES];
  qt_transport_size size, one;
  qt_transport out;
  qt_system s;

  (void)state;
  set_energies(energy);
  qt_transport_spec spec = spec_of(energy);

  ribbon_create(&r, &s);
  assert_ok(qt_transport_size_of(&s, &spec, &one));
  spec.slabs = 3;
  spec.threads = 2;
  const int64_t before = weir_alloc_bytes();

  assert_ok(qt_transport_size_of(&s, &spec, &size));
  assert_int_equal(weir_alloc_bytes(), before);
  assert_int_equal(size.threads, 2);
  assert_true(size.point_flops > 1.1 * one.point_flops && size.point_flops < 2 * one.point_flops);
  assert_ok(qt_transport_create(&s, &spec, &out));
  const double peak = (double)(weir_alloc_peak() - before);

  print_message("%.0f bytes are predicted, %.0f were allocated\n", size.peak, peak);
  assert_true(fabs(size.peak - peak) <= 0.1 * peak);
  assert_near(out.flops, 2 * ENERGIES * size.point_flops, 1e-3 * out.flops);
  qt_transport_fini(&out);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slabs_do_not_change_spectra),
      cmocka_unit_test(singular_slabs_are_counted),
      cmocka_unit_test(more_slabs_than_blocks_are_refused),
      cmocka_unit_test(sizes_are_predicted),
  };

  weir_threads_set(3);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
