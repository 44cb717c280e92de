/* machine_test.c - times of messages and reductions against closed forms. */
#include "perf/weir_machine.h"

#include "base/weir_check.h"

static const weir_machine usual = {.latency = 1e-5, .link_bw = 1e8, .reduce_bw = 1e9, .tree = 64};

static void sums_cost_what_their_messages_do(void **state)
{
  const double a = usual.latency, b = 1 / usual.link_bw, g = 1 / usual.reduce_bw;

  assert_near(weir_message_seconds(&usual, 1000), a + 1000 * b, 1e-15);
  assert_near(weir_allreduce_seconds(&usual, 1, 1000), 0, 0);
  assert_near(weir_allreduce_seconds(&usual, 8, 0), 0, 0);
  /* 64 bytes go along the tree: 3 levels up and down. */
  assert_near(weir_allreduce_seconds(&usual, 8, 64), 6 * (a + 64 * b) + 3 * 64 * g, 1e-15);
  assert_near(weir_allreduce_seconds(&usual, 5, 64), 6 * (a + 64 * b) + 3 * 64 * g, 1e-15);
  assert_near(weir_allreduce_seconds(&usual, 8, 8000), 6 * a + 14000 * b + 7000 * g, 1e-15);
  assert_near(weir_allreduce_seconds(&usual, 5, 8000), 8 * a + 12800 * b + 6400 * g, 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_cost_what_their_messages_do),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
