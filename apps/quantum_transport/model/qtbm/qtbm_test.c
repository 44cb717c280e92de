/* qtbm_test.c - what wave functions need is asked for in words. */
#include "model/qtbm/qtbm.h"

#include "support/quantum_transport/transmission_test.h"

static void decimation_is_refused(void **state)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1};
  const double energy[] = {0.3};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_DECIMATION, 1, energy);
  qt_transport out;

  spec.method = QT_TRANSPORT_QTBM;
  assert_int_equal(ribbon_transport(&r, &spec, &out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "set lead.method: modes"));
  assert_null(out.transmission);
}

/* Results, or what the build lacks. */
static void a_build_without_petsc_says_so(void **state)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1};
  const double energy[] = {0.3};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, 1, energy);
  qt_transport out;

  spec.method = QT_TRANSPORT_QTBM;
  const weir_status status = ribbon_transport(&r, &spec, &out);

  if (status == WEIR_ERR_UNSUPPORTED) {
    assert_non_null(strstr(weir_last_message(), "set transport.method: rgf"));
    assert_null(out.transmission);
    return;
  }
  assert_ok(status);
  assert_near(out.transmission[0], 2, 1e-9);
  qt_transport_fini(&out);
}

static void sizes_are_checked(void **state)
{
  const ribbon r = {.width = 2, .length = 3, .hopping = -1};
  qt_transport_spec spec = ribbon_spec(QT_LEAD_MODES, INT64_MAX / 5, NULL);
  qt_transport out;
  qt_system s;

  ribbon_create(&r, &s);
  spec.method = QT_TRANSPORT_QTBM;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_MEMORY);
  assert_non_null(strstr(weir_last_message(), "too many"));
  spec.n_energies = 1;
  s.lead[QT_RIGHT].n = 1;
  assert_int_equal(qt_transport_create(&s, &spec, &out), WEIR_ERR_SHAPE);
  s.lead[QT_RIGHT].n = 2;
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decimation_is_refused),
      cmocka_unit_test(a_build_without_petsc_says_so),
      cmocka_unit_test(sizes_are_checked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
