/* backend_test.c - plans on the emulated device, and on a GPU where there is one: the bits of the
 * cpu; what is planted under them is caught. */
#include "exec/backend.h"
#include "exec/draw_run.h"

#ifndef DRAW_GRAPHS
#define DRAW_GRAPHS 6
#endif

static bool is_there(const char *device)
{
  weir_device *d = NULL;
  const weir_status status = weir_device_open(device, NULL, &d);

  weir_device_close(&d);
  return status == WEIR_OK;
}

/* Random graphs without time, under other fusions: as every operator by itself on the cpu. */
static void graphs_give_the_bits_of_the_cpu(void **state)
{
  static const char *const devices[] = {"emulated", "cuda"};

  for (int k = 0; k < 2; k++) {
    if (!is_there(devices[k])) {
      print_message("%s: not here\n", devices[k]);
      continue;
    }
    for (uint64_t seed = 0; seed < DRAW_GRAPHS; seed++) {
      draw_graph d = draw_make(seed, false, false);
      draw_outcome expected, actual;
      draw_way way = {.tier = WEIR_TIER_VECTOR, .threads = 1, .kernel = "none"};

      assert_ok(draw_run(&d, &way, NULL, &expected));
      way.fusion = seed % 3 != 0;
      way.device = devices[k];
      way.kernel = NULL;
      const weir_status status = draw_run(&d, &way, NULL, &actual);
      const int64_t at = status == WEIR_OK ? draw_difference(&actual, &expected, 0) : -1;

      if (at >= 0 || status != WEIR_OK) {
        print_error("graph %d on %s: element %lld\n", (int)seed, devices[k], (long long)at);
        weir_graph_print(d.g, 64, stderr);
      }
      assert_ok(status);
      assert_true(at < 0);
      weir_free(&expected.values);
      weir_free(&actual.values);
      weir_graph_destroy(&d.g);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(graphs_give_the_bits_of_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
