/* points_petsc_test.c - points of wave functions within a budget of memory, stopped and resumed,
 * and of more states than are solved for at once. */
#include <stdio.h>

#include "base/weir_signal.h"
#include "model/qtbm/qtbm.h"
#include "support/quantum_transport/transmission_test.h"
#include "train/weir_checkpoint.h"

enum { ENERGIES = 40 };

static void fill_energies(double energy[ENERGIES])
{
  for (int e = 0; e < ENERGIES; e++) {
    energy[e] = -1.537 + 0.0713 * e;
  }
}

static qt_transport_spec waves(int64_t n, const double *energy)
{
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, n, energy);

  spec.method = QT_TRANSPORT_QTBM;
  return spec;
}

/* Peaks of runs, each larger than what was allocated before, whose leads need no second method.
 * MUMPS holds factors in addition. */
static void memory_is_predicted(void **state)
{
  static const struct {
    int64_t width, length, energies;
    int threads;
    bool dos, bonds;
  } cases[] = {
      {40, 40, 4, 1, false, false},
      {50, 40, 4, 1, false, false},
      {30, 200, 8, 1, true, false},
      {30, 200, 20, 2, true, true},
  };
  double energy[ENERGIES];

  (void)state;
  fill_energies(energy);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const ribbon r = {.width = cases[i].width, .length = cases[i].length, .hopping = -1};
    qt_transport_spec spec = waves(cases[i].energies, energy);
    qt_transport_size size;
    qt_transport out;
    qt_system s;

    spec.threads = cases[i].threads;
    spec.lead_dos = cases[i].dos;
    spec.bond_currents = cases[i].bonds;
    spec.channels = true;
    ribbon_create(&r, &s);
    const int64_t before = weir_alloc_bytes();

    assert_ok(qt_transport_size_of(&s, &spec, &size));
    assert_true(size.factors >= 1e6 && size.factors < 1e9);
    assert_ok(qt_transport_create(&s, &spec, &out));
    const double peak = (double)(weir_alloc_peak() - before);

    print_message("%.0f bytes are predicted, %.0f were allocated; factors: %.0f\n", size.peak, peak,
                  size.factors);
    assert_true(fabs(size.peak - peak) <= 0.05 * peak);
    qt_transport_fini(&out);
    qt_system_fini(&s);
  }
}

/* Fewer threads, then fewer points at once, factors counted; the same bits. */
static void memory_keeps_within_a_budget(void **state)
{
  const ribbon r = {.width = 20, .length = 30, .hopping = -1, .disorder = 1};
  double energy[ENERGIES];
  qt_transport usual, out;
  qt_transport_size all, reduced;
  qt_system s;

  (void)state;
  fill_energies(energy);
  qt_transport_spec spec = waves(ENERGIES, energy);

  spec.dos = true;
  spec.threads = 3;
  ribbon_create(&r, &s);
  assert_ok(qt_transport_create(&s, &spec, &usual));
  assert_ok(qt_transport_size_of(&s, &spec, &all));
  assert_int_equal(all.threads, 3);
  spec.memory = all.peak + all.factors - 1;
  assert_ok(qt_transport_size_of(&s, &spec, &reduced));
  assert_true(reduced.threads < 3 || reduced.at_once < all.at_once);
  assert_true(reduced.peak + reduced.factors <= spec.memory);
  assert_ok(qt_transport_create(&s, &spec, &out));
  assert_memory_equal(out.transmission, usual.transmission, ENERGIES * sizeof(double));
  assert_memory_equal(out.dos, usual.dos, (size_t)(ENERGIES * s.n) * sizeof(double));
  qt_transport_fini(&out);
  spec.memory = all.factors;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "sparse factors: "));
  qt_transport_fini(&usual);
  qt_system_fini(&s);
}

/* Of wave vectors and energies, each batch by itself, on other threads: all arrays have the bits of
 * a computation that is not stopped. */
static void a_stopped_computation_has_the_same_bits(void **state)
{
  const ribbon r = {.width = 8, .length = 12, .hopping = -1, .periodic = -0.5, .disorder = 1};
  const double k[][2] = {{0, 0.1}, {0, 0.3}};
  double energy[ENERGIES];
  char dir[256];
  int64_t done = 0, last = 0;
  qt_transport whole, out;
  qt_system s;

  (void)state;
  fill_energies(energy);
  weir_check_mkdir(dir, sizeof dir);
  const qt_transport_save save = {.dir = dir, .keep = 2, .resume = true};
  qt_transport_spec spec = waves(ENERGIES, energy);

  spec.n_k = 2;
  spec.k = k;
  spec.lead_dos = spec.bond_currents = spec.channels = true;
  ribbon_create(&r, &s);
  assert_ok(qt_transport_create(&s, &spec, &whole));
  spec.save = &save;
  for (int i = 0; i < 3; i++) {
    weir_stop_request(15);
    assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_STOPPED);
    weir_stop_request(0);
    assert_ok(weir_checkpoint_newest(dir, &done));
    assert_true(done > last && done < 2 * ENERGIES);
    last = done;
  }
  spec.method = QT_TRANSPORT_RGF;
  spec.channels = false;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_CONFIG);
  spec.method = QT_TRANSPORT_QTBM;
  spec.channels = true;
  spec.threads = 2;
  assert_ok(qt_transport_create(&s, &spec, &out));
  const size_t points = (size_t)(2 * ENERGIES), n = (size_t)s.n;

  assert_memory_equal(out.transmission, whole.transmission, points * sizeof(double));
  assert_memory_equal(out.channel, whole.channel, points * (size_t)out.n_channels * sizeof(double));
  assert_memory_equal(out.dos, whole.dos, points * n * sizeof(double));
  for (int c = 0; c < QT_LEADS; c++) {
    const size_t bonds = (size_t)qt_sparse_count(&out.bonds);

    assert_memory_equal(out.n_modes[c], whole.n_modes[c], points * sizeof(int64_t));
    assert_memory_equal(out.lead_dos[c], whole.lead_dos[c], points * n * sizeof(double));
    assert_memory_equal(out.bond_current[c], whole.bond_current[c],
                        points * bonds * sizeof(double));
  }
  assert_true(out.seconds[QT_PHASE_LEADS] > 0 && out.seconds[QT_PHASE_RECURSION] > 0);
  assert_true(out.seconds[QT_PHASE_ASSEMBLY] > 0);
  qt_transport_fini(&whole);
  qt_transport_fini(&out);
  qt_system_fini(&s);
  weir_check_rmdir(dir);
}

/* A wide ribbon near the middle of its band: both leads send more waves than are solved for at
 * once. */
static void many_states_agree_with_green_functions(void **state)
{
  const ribbon r = {.width = 75, .length = 4, .hopping = -1, .disorder = 1};
  const double energy[] = {0.0371, 0.0713, -1.937};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 3, energy);
  qt_transport out[2];
  qt_system s;

  (void)state;
  ribbon_create(&r, &s);
  spec.lead_dos = spec.bond_currents = true;
  for (int i = 0; i < 2; i++) {
    spec.method = i == 0 ? QT_TRANSPORT_RGF : QT_TRANSPORT_QTBM;
    assert_ok(qt_transport_create(&s, &spec, &out[i]));
  }
  const int64_t bonds = qt_sparse_count(&out[0].bonds);

  assert_true(out[1].n_modes[QT_LEFT][0] > 70);
  for (int p = 0; p < 3; p++) {
    assert_near(out[1].transmission[p], out[0].transmission[p], 1e-8);
    for (int c = 0; c < QT_LEADS; c++) {
      for (int64_t i = 0; i < s.n; i++) {
        assert_near(out[1].lead_dos[c][p * s.n + i], out[0].lead_dos[c][p * s.n + i], 1e-8);
      }
      for (int64_t i = 0; i < bonds; i++) {
        assert_near(out[1].bond_current[c][p * bonds + i], out[0].bond_current[c][p * bonds + i],
                    1e-8);
      }
    }
  }
  qt_transport_fini(&out[0]);
  qt_transport_fini(&out[1]);
  qt_system_fini(&s);
}

static void slabs_are_refused(void **state)
{
  const ribbon r = {.width = 2, .length = 5, .hopping = -1};
  const double energy[] = {0.3};
  qt_transport_spec spec = waves(1, energy);
  qt_transport out;

  (void)state;
  spec.slabs = 2;
  assert_int_equal(ribbon_transport(&r, &spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "parallel.slabs"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_predicted),
      cmocka_unit_test(memory_keeps_within_a_budget),
      cmocka_unit_test(a_stopped_computation_has_the_same_bits),
      cmocka_unit_test(many_states_agree_with_green_functions),
      cmocka_unit_test(slabs_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
