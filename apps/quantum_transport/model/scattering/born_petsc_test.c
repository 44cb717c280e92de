/* born_petsc_test.c - the fixed point by Anderson's method is that of simple mixing, in no more
 * iterations. */
#include "support/quantum_transport/born_save_test.h"

static const weir_string_list none = {.count = 0};

/* Of the table, and Anderson's method in no more iterations than simple mixing. */
static void methods_find_the_same_point(void **state)
{
  (void)state;
  for (int m = QT_BORN_ANDERSON; m <= QT_BORN_NGMRES; m++) {
    for (int i = 0; i < ROWS; i++) {
      const born_row *r = &born_table()[i];
      chain c;
      qt_born b;

      row_init(r, &c);
      c.opts.method = m;
      assert_ok(qt_born_start(&c.opts, &none));
      assert_ok(qt_born_create(&c.spec, &b));
      check_row(r, &b);
      assert_true(b.step[b.n_steps - 1].change < 1e-8);
      assert_true(b.step[b.n_steps - 1].current_error < 1e-6);
      assert_true(b.step[b.n_steps - 1].energy_error < 1e-5); /* of a small difference */
      print_message("coupling %g: %lld iterations, simple mixing %lld\n", r->coupling,
                    (long long)(b.n_steps - 1), (long long)r->iterations);
      assert_true(m != QT_BORN_ANDERSON || b.n_steps - 1 <= r->iterations);
      qt_born_fini(&b);
      chain_fini(&c);
    }
  }
}

static void too_few_iterations_are_told(void **state)
{
  chain c;
  qt_born b;

  (void)state;
  for (int m = QT_BORN_ANDERSON; m <= QT_BORN_NGMRES; m++) {
    chain_init(5, 30, 0.3, &c);
    c.opts.method = m;
    c.opts.max_iterations = 3;
    assert_ok(qt_born_start(&c.opts, &none));
    assert_int_equal(qt_born_create(&c.spec, &b), WEIR_ERR_NUMERIC);
    assert_non_null(strstr(weir_last_message(), "after 3 iterations the self-energy changes by"));
    chain_fini(&c);
  }
}

/* With more iterations than the solver remembers. */
static void a_stopped_iteration_has_the_same_bits(void **state)
{
  (void)state;
  for (int r = 0; r < 3; r++) {
    chain c;

    chain_init(6, 40, 0.3, &c);
    c.opts.method = r < 2 ? QT_BORN_ANDERSON : QT_BORN_NGMRES;
    c.opts.history = 3;
    c.opts.retarded = r > 0;
    c.opts.phonons.state = r == 1 ? QT_PHONONS_BATH : QT_PHONONS_COUPLED;
    c.opts.tolerance = 1e-8;
    assert_true(check_resumption(&c) > 4);
    chain_fini(&c);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stopped_iteration_has_the_same_bits),
      cmocka_unit_test(methods_find_the_same_point),
      cmocka_unit_test(too_few_iterations_are_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
