/* passes_slow.c - what the passes do to the shipped networks, on shrunk shapes: the oracle holds
 * after each of them, and leaving any one of them out changes a training step by rounding only. */
#include <math.h>
#include "pass/weir_pass.h"
#include "shipped.h"

static void leaving_a_pass_out_changes_rounding_only(void **state)
{
  const weir_tolerance rounding = {1e-6, 1e-6};
  shipped s;

  ship(&s);
  for (int k = 0; k < NETWORKS; k++) {
    s.exec.skip = "";
    outcome expected = outcome_of(&s.job[k]);

    for (int i = 0; weir_pass_table[i] != NULL; i++) {
      s.exec.skip = weir_pass_table[i]->name;
      outcome actual = outcome_of(&s.job[k]);

      assert_int_equal(
          weir_compare(s.exec.skip, WEIR_F32, actual.values, expected.values, expected.n, rounding),
          0);
      weir_free(&actual.values);
    }
    weir_free(&expected.values);
  }
}

static void the_oracle_holds_after_every_pass(void **state)
{
  shipped s;

  ship(&s);
  s.exec.verify = 1;
  for (int k = 0; k < NETWORKS; k++) {
    outcome o = outcome_of(&s.job[k]);

    assert_true(isfinite(o.values[o.n - 1]));
    weir_free(&o.values);
  }
}

/* The sums of every step are in one order, whoever adds them. */
static void two_threads_keep_every_bit(void **state)
{
  shipped s;

  ship(&s);
  for (int k = 0; k < NETWORKS; k++) {
    outcome expected = outcome_of(&s.job[k]);

    s.job[k].threads = 2;
    outcome actual = outcome_of(&s.job[k]);

    assert_memory_equal(actual.values, expected.values, (size_t)actual.n * sizeof *actual.values);
    weir_free(&actual.values);
    weir_free(&expected.values);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaving_a_pass_out_changes_rounding_only),
      cmocka_unit_test(the_oracle_holds_after_every_pass),
      cmocka_unit_test(two_threads_keep_every_bit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
