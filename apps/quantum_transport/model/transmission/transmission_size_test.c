/* transmission_size_test.c - memory of computations: predicted, limited, refused. */
#include "support/quantum_transport/transmission_test.h"

/* Peaks of runs, each larger than what was allocated before, whose leads need no second method. */
static void memory_is_predicted(void **state)
{
  static const struct {
    int64_t width, length, energies;
    int method, threads;
    bool lead_dos, bonds;
  } cases[] = {
      {40, 6, 4, QT_LEAD_DECIMATION, 1, false, false},
      {60, 8, 4, QT_LEAD_MODES, 1, false, false},
      {30, 40, 20, QT_LEAD_MODES, 1, true, false},
      {30, 50, 20, QT_LEAD_MODES, 2, true, true},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const ribbon r = {.width = cases[i].width, .length = cases[i].length, .hopping = -1};
    double energy[20];
    qt_transport_size size;
    qt_transport out;
    qt_system s;

    for (int e = 0; e < 20; e++) {
      energy[e] = 0.01 + 0.02 * e;
    }
    qt_transport_spec spec = ribbon_spec(cases[i].method, cases[i].energies, energy);

    spec.threads = cases[i].threads;
    spec.lead_dos = cases[i].lead_dos;
    spec.bond_currents = cases[i].bonds;
    ribbon_create(&r, &s);
    const int64_t before = weir_alloc_bytes();

    assert_ok(qt_transport_size_of(&s, &spec, &size));
    assert_ok(qt_transport_create(&s, &spec, &out));
    const double peak = (double)(weir_alloc_peak() - before);

    print_message("%.0f bytes are predicted, %.0f were allocated\n", size.peak, peak);
    assert_true(fabs(size.peak - peak) <= 0.05 * peak);
    qt_transport_fini(&out);
    qt_system_fini(&s);
  }
}

/* Fewer threads, then fewer points at once; the same bits; less than one point is refused. */
static void memory_keeps_within_a_budget(void **state)
{
  const ribbon r = {.width = 6, .length = 9, .hopping = -1, .disorder = 1};
  double energy[200];
  qt_transport usual, out;
  qt_transport_size all, reduced;
  qt_system s;

  (void)state;
  for (int e = 0; e < 200; e++) {
    energy[e] = 0.013 + 0.01 * e;
  }
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 200, energy);

  spec.lead_dos = true;
  spec.threads = 2;
  ribbon_create(&r, &s);
  assert_ok(qt_transport_create(&s, &spec, &usual));
  assert_ok(qt_transport_size_of(&s, &spec, &all));
  assert_int_equal(all.threads, 2);
  spec.memory = 1;
  assert_int_equal(qt_transport_size_of(&s, &spec, &reduced), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "memory.budget: "));
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_CONFIG);
  for (int i = 10; i > 0; i--) {
    spec.memory = all.kept + (all.peak - all.kept) * i / 10;
    const weir_status status = qt_transport_size_of(&s, &spec, &reduced);

    if (status != WEIR_OK) {
      assert_true(i < 6 && reduced.threads == 1); /* of the budget before */
      break;
    }
    assert_true(reduced.peak <= spec.memory && reduced.at_once <= all.at_once);
    assert_ok(qt_transport_create(&s, &spec, &out));
    assert_memory_equal(out.transmission, usual.transmission, 200 * sizeof(double));
    assert_memory_equal(out.dos, usual.dos, (size_t)(200 * s.n) * sizeof(double));
    qt_transport_fini(&out);
  }
  qt_transport_fini(&usual);
  qt_system_fini(&s);
}

static void counts_that_overflow_are_refused(void **state)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, INT64_MAX / 5, NULL);
  qt_transport out;
  qt_transport_size size;
  qt_system s;

  (void)state;
  ribbon_create(&r, &s);
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_MEMORY);
  assert_non_null(strstr(weir_last_message(), "too many"));
  assert_int_equal(qt_transport_size_of(&s, &spec, &size), WEIR_ERR_MEMORY);
  qt_system_fini(&s);
}

static weir_status run_all(const qt_system *s)
{
  const double energy[] = {0.3};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 1, energy);
  qt_transport out;

  spec.lead_dos = true;
  spec.bond_currents = true;
  WEIR_TRY(qt_transport_create(s, &spec, &out));
  qt_transport_fini(&out);
  return WEIR_OK;
}

/* A plan makes do without memory for its own reports. */
static void missing_memory_is_reported(void **state)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1};
  int64_t failures = 0;
  bool hit = true;
  qt_system s;

  (void)state;
  ribbon_create(&r, &s);
  for (int64_t k = 1; hit; k++) {
    const int64_t before = weir_alloc_bytes();

    weir_alloc_fail_after(k);
    const weir_status status = run_all(&s);

    hit = weir_alloc_count() >= k;
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || (hit && status == WEIR_ERR_MEMORY));
    assert_int_equal(weir_alloc_bytes(), before);
    failures += status != WEIR_OK;
  }
  assert_true(failures > 300);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_predicted),
      cmocka_unit_test(memory_keeps_within_a_budget),
      cmocka_unit_test(counts_that_overflow_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
