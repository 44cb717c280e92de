/* network_measure_test.c - the parameters of a simulated network are found again. */
#include "place/measure/network_measure.h"

#include "base/weir_check.h"
#include "place/measure/weir_network_measure.h"

static weir_status find_again(weir_comm *c, void *context)
{
  const weir_network *is = context;
  weir_network found = {.eager_max_bytes = is->eager_max_bytes};

  WEIR_TRY(place_network_measure(c, true, &found));
  assert_near(found.overhead * 1e6, is->overhead * 1e6, 1e-6);
  assert_near(found.latency * 1e6, is->latency * 1e6, 1e-6);
  /* a gap below the overhead cannot be seen */
  assert_near(found.gap * 1e6, (is->gap > is->overhead ? is->gap : is->overhead) * 1e6, 1e-6);
  assert_near(1e9 / found.link_bw, 1e9 / is->link_bw, 1e-6);
  return WEIR_OK;
}

static void a_network_is_found_again(void **state)
{
  const weir_network networks[] = {
      {.latency = 1e-6, .overhead = 3e-7, .gap = 1e-7, .link_bw = 25e9, .eager_max_bytes = 1e18},
      {.latency = 2e-6, .overhead = 5e-7, .gap = 9e-7, .link_bw = 1e9, .eager_max_bytes = 8192},
      {.latency = 50e-6, .overhead = 0, .gap = 4e-6, .link_bw = 1e8, .eager_max_bytes = 65536}};

  (void)state;
  for (int k = 0; k < 3; k++) {
    for (int ranks = 2; ranks <= 3; ranks++) {
      weir_network n = networks[k];
      const weir_inproc run = {.ranks = ranks, .network = &n};

      assert_ok(weir_inproc_run(&run, find_again, &n));
    }
  }
}

static weir_status measure(weir_comm *c, void *context)
{
  weir_network *n = context;
  weir_network own = {.eager_max_bytes = 8192};

  WEIR_TRY(weir_network_measure(c, &own));
  n[weir_comm_rank(c)] = own;
  return WEIR_OK;
}

/* Numbers that any machine keeps to, however busy; the same on all ranks. */
static void a_machine_has_a_network(void **state)
{
  weir_network n[2];
  const weir_inproc run = {.ranks = 2, .concurrent = true};

  (void)state;
  assert_ok(weir_inproc_run(&run, measure, n));
  assert_memory_equal(&n[0], &n[1], sizeof n[0]);
  assert_true(n[0].latency >= 0 && n[0].overhead >= 0 && n[0].gap >= 0);
  assert_true(n[0].latency + n[0].overhead > 0);
  assert_true(n[0].link_bw > 0 && n[0].reduce_bw > 0 && n[0].eager_max_bytes == 8192);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_network_is_found_again),
      cmocka_unit_test(a_machine_has_a_network),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
