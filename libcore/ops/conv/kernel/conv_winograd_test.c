/* conv_winograd_test.c - the kernel claims what it can do, and computes it as the loops do. */
#include <string.h>

#include "exec/weir_plan.h"
#include "support/ops/conv_plan_check.h"
#include "ops/conv/winograd/winograd_priv.h"

static int agree_as(bool half, const weir_conv_spec *spec, const weir_array_desc *x,
                    const weir_array_desc *w, uint64_t seed)
{
  return conv_plan_check("conv.winograd", half, spec, x, w, seed);
}

static int agree(const weir_conv_spec *spec, const weir_array_desc *x, const weir_array_desc *w,
                 uint64_t seed)
{
  return agree_as(false, spec, x, w, seed);
}

static void needs(weir_dtype dtype)
{
  if (winograd_kernels_get(dtype) == NULL) {
    print_message("skipped: this processor has no vector code for Winograd convolutions of %s\n",
                  weir_dtype_name(dtype));
    skip();
  }
}

static void check_random_convolutions(bool half)
{
  static const weir_border borders[] = {WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE,
                                        WEIR_BORDER_REFLECT};
  int claimed = 0;

  needs(half ? WEIR_BF16 : WEIR_F32);
  for (uint64_t seed = 0; seed < 14; seed++) {
    weir_draw r = {.seed = seed};
    const int d = (int)weir_draw_int(&r, 2, 3);
    weir_array_desc x = {.dtype = WEIR_F32, .rank = d + 2, .shape = {weir_draw_int(&r, 1, 2)}};
    weir_array_desc w = {.dtype = WEIR_F32, .rank = d + 2};
    weir_conv_spec s = {.groups = 0};

    for (int k = 0; k < d; k++) {
      w.shape[k] = d == 3 && k == 0 && weir_draw_one_in(&r, 4) ? 1 : 3;
      s.border[k] = weir_draw_one_in(&r, 3) ? borders[weir_draw_int(&r, 0, 2)] : 0;
      s.pad_before[k] = weir_draw_int(&r, 0, 2);
      s.pad_after[k] = weir_draw_int(&r, 0, 2);
      x.shape[k + 1] = w.shape[k] + weir_draw_int(&r, 0, k == d - 1 ? 20 : 4);
    }
    x.shape[d + 1] = w.shape[d] = weir_draw_int(&r, 8, 24);
    w.shape[d + 1] = weir_draw_int(&r, 8, 24);
    claimed += agree_as(half, &s, &x, &w, seed);
  }
  print_message("%d of 42 sums by the kernel\n", claimed);
  assert_true(claimed > 32);
}

static void random_convolutions_agree(void **state)
{
  check_random_convolutions(false);
}

/* Padding that counts as 0, and borders whose sums are folded in f32. */
static void random_convolutions_of_bf16_agree(void **state)
{
  check_random_convolutions(true);
}

/* The fields of U-Nets: fewer elements than a tile has along one dimension, too. */
static void levels_of_networks_are_claimed(void **state)
{
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const int64_t shapes[][5] = {
      {2, 8, 16, 96, 32}, {1, 5, 9, 32, 96}, {1, 16, 16, 64, 64}, {3, 7, 11, 17, 31}};

  needs(WEIR_F32);
  for (int i = 0; i < 4; i++) {
    const int64_t *e = shapes[i];
    const weir_array_desc x = {.dtype = WEIR_F32, .rank = 5, .shape = {1, e[0], e[1], e[2], e[3]}};
    const weir_array_desc w = {.dtype = WEIR_F32, .rank = 5, .shape = {3, 3, 3, e[3], e[4]}};

    assert_int_equal(agree(&s, &x, &w, 1), 3);
  }
}

/* What the kernel cannot do is left to others. */
static void others_are_left(void **state)
{
  const weir_conv_spec refused[] = {{.dilation = {2, 1}}, {.stride = {1, 2}}, {.groups = 2}};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 4, .shape = {1, 20, 30, 32}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 3, 32, 32}};
  const weir_array_desc half = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 3, 16, 32}};
  const weir_array_desc five = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 5, 32, 32}};
  const weir_array_desc line = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 900, 32}};
  const weir_array_desc taps = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 32, 32}};
  const weir_conv_spec plain = {.groups = 0};

  needs(WEIR_F32);
  assert_int_equal(agree(&plain, &x, &w, 1), 3);
  assert_int_equal(agree(&refused[0], &x, &w, 1), 0);
  assert_int_equal(agree(&refused[1], &x, &w, 1), 0);
  assert_int_equal(agree(&refused[2], &x, &half, 1), 0);
  assert_int_equal(agree(&plain, &x, &five, 1), 0);
  assert_int_equal(agree(&plain, &line, &taps, 1), 0);
}

/* Groups of products of that dtype that the kernel has in a plan for it that chooses freely; in
 * bf16 between this kernel and loops: where the processor multiplies tiles, a library is faster. */
static int chosen(const weir_graph *g, weir_dtype dtype, weir_winograd winograd)
{
  weir_exec_cfg cfg;
  weir_plan *plan;
  int n = 0;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.precision = dtype == WEIR_BF16;
  cfg.winograd = (int)winograd;
  cfg.kernel = dtype == WEIR_BF16 ? "conv.winograd" : cfg.kernel;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  for (int32_t i = 0; i < weir_plan_groups(plan); i++) {
    const weir_group_report report = weir_plan_group(plan, i);

    n += strcmp(report.kernel, "conv.winograd") == 0 && report.dtype == dtype;
  }
  weir_plan_destroy(&plan);
  return n;
}

static void the_option_decides(void **state)
{
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 5, .shape = {1, 8, 16, 16, 32}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 5, .shape = {3, 3, 3, 32, 32}};
  conv_plan_case t = conv_plan_make(false, &s, &x, &w, 1);

  needs(WEIR_F32);
  assert_int_equal(chosen(t.g, WEIR_F32, WEIR_WINOGRAD_TRUE), 3);
  assert_int_equal(chosen(t.g, WEIR_F32, WEIR_WINOGRAD_F32), 3);
  assert_int_equal(chosen(t.g, WEIR_F32, WEIR_WINOGRAD_FALSE), 0);
  if (winograd_kernels_get(WEIR_BF16) != NULL) {
    assert_true(chosen(t.g, WEIR_BF16, WEIR_WINOGRAD_TRUE) >= 2);
  }
  assert_int_equal(chosen(t.g, WEIR_BF16, WEIR_WINOGRAD_F32), 0);
  assert_int_equal(chosen(t.g, WEIR_BF16, WEIR_WINOGRAD_FALSE), 0);
  conv_plan_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_convolutions_agree),
      cmocka_unit_test(random_convolutions_of_bf16_agree),
      cmocka_unit_test(levels_of_networks_are_claimed),
      cmocka_unit_test(others_are_left),
      cmocka_unit_test(the_option_decides),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
