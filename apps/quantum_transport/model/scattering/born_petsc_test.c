/* born_petsc_test.c - the fixed point by Anderson's method is that of simple mixing, in no more
 * iterations. */
#include "model/scattering/born_test.h"

static const weir_string_list none = {.count = 0};

static void anderson_finds_the_same_point_sooner(void **state)
{
  static const struct {
    double coupling;
    int state, retarded;
  } cases[] = {{0.15, QT_PHONONS_COUPLED, QT_RETARDED_FULL},
               {0.3, QT_PHONONS_BATH, QT_RETARDED_HALF},
               {0.3, QT_PHONONS_COUPLED, QT_RETARDED_HALF},
               {0.6, QT_PHONONS_COUPLED, QT_RETARDED_HALF}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t iterations[2];
    double current[2];

    for (int m = 0; m < 2; m++) {
      chain c;
      qt_born b;

      chain_init(20, 121, cases[i].coupling, &c);
      c.opts.method = m == 0 ? QT_BORN_SIMPLE : QT_BORN_ANDERSON;
      c.opts.phonons.state = cases[i].state;
      c.opts.retarded = cases[i].retarded;
      c.opts.tolerance = 1e-8;
      assert_ok(qt_born_start(&c.opts, &none));
      assert_ok(qt_born_create(&c.spec, &b));
      iterations[m] = b.n_steps - 1;
      current[m] = b.step[b.n_steps - 1].current[QT_LEFT];
      assert_true(b.step[b.n_steps - 1].change < 1e-8);
      assert_true(b.step[b.n_steps - 1].current_error < 1e-6);
      assert_true(b.step[b.n_steps - 1].energy_error < 1e-5); /* of a small difference */
      qt_born_fini(&b);
      chain_fini(&c);
    }
    print_message("coupling %g: %lld iterations, simple mixing %lld\n", cases[i].coupling,
                  (long long)iterations[1], (long long)iterations[0]);
    assert_true(iterations[1] <= iterations[0]);
    assert_relative("current", current[1], current[0], 1e-6);
  }
}

static void too_few_iterations_are_told(void **state)
{
  chain c;
  qt_born b;

  (void)state;
  chain_init(5, 30, 0.3, &c);
  c.opts.method = QT_BORN_ANDERSON;
  c.opts.max_iterations = 2;
  assert_ok(qt_born_start(&c.opts, &none));
  assert_int_equal(qt_born_create(&c.spec, &b), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "after 2 iterations the self-energy changes by"));
  chain_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(anderson_finds_the_same_point_sooner),
      cmocka_unit_test(too_few_iterations_are_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
