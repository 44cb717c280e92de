/* series_native_test.c - every stream operator of the build compiled: the bits of the vector
 * engine.
 */
#include "support/stream/series_check.h"
#include <stdio.h>
#include "device/weir_compile.h"
#include "exec/backend/native/native_priv.h"

static series_case vector, native;

static void native_gives_the_bits_of_vector(void **state)
{
  for (int n = 0; weir_series_op_table[n] != NULL; n++) {
    const weir_series_op *op = weir_series_op_table[n];

    printf("%s\n", op->name);
    for (uint64_t seed = 3; seed < 12; seed += 7) {
      const series_drawn v = {op, seed, &vector}, w = {op, seed, &native};

      series_draw(&vector, seed, 0.3);
      native = vector;
      series_run(&vector, series_build_drawn, &v, WEIR_TIER_VECTOR,
                 (weir_stream_cfg){.window = 64});
      series_run(&native, series_build_drawn, &w, WEIR_TIER_NATIVE,
                 (weir_stream_cfg){.window = 64});
      assert_int_equal(native.n, vector.n);
      assert_int_equal(native.report.tier, WEIR_TIER_NATIVE);
      assert_memory_equal(native.y, vector.y, (size_t)vector.n * sizeof native.y[0]);
      assert_memory_equal(native.y_present, vector.y_present, (size_t)vector.n);
    }
  }
}

int main(void)
{
  char compiler[4096], identity[256];

  if (weir_compiler_find("", compiler, identity) != WEIR_OK) {
    fprintf(stderr, "skipped: %s\n", weir_last_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(native_gives_the_bits_of_vector)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
