/* conv_tiles_test.c - the kernel claims what it can do, and computes it as the loops do. */
#include "support/ops/conv_plan_check.h"
#include "ops/conv/tiles/tiles_priv.h"

static int agree(const weir_conv_spec *spec, const weir_array_desc *x, const weir_array_desc *w,
                 uint64_t seed)
{
  return conv_plan_check("conv.tiles", true, spec, x, w, seed);
}

static void needs_tiles(void)
{
  if (tiles_code_get() == NULL) {
    print_message("skipped: this processor has no products of tiles\n");
    skip();
  }
}

/* One to three dimensions, kernels of 1 to 4 elements, padding that counts as 0, and borders whose
 * sums are folded in f32. */
static void random_convolutions_agree(void **state)
{
  static const weir_border borders[] = {WEIR_BORDER_WRAP, WEIR_BORDER_REPLICATE,
                                        WEIR_BORDER_REFLECT};
  int claimed = 0;

  needs_tiles();
  for (uint64_t seed = 0; seed < 6; seed++) {
    weir_draw r = {.seed = seed};
    const int d = (int)weir_draw_int(&r, 1, 3);
    weir_array_desc x = {.dtype = WEIR_F32, .rank = d + 2, .shape = {weir_draw_int(&r, 1, 2)}};
    weir_array_desc w = {.dtype = WEIR_F32, .rank = d + 2};
    weir_conv_spec s = {.groups = 0};

    for (int k = 0; k < d; k++) {
      w.shape[k] = weir_draw_one_in(&r, 2) ? 3 : weir_draw_int(&r, 1, 4);
      s.border[k] = weir_draw_one_in(&r, 3) ? borders[weir_draw_int(&r, 0, 2)] : 0;
      s.pad_before[k] = weir_draw_int(&r, 0, 2);
      s.pad_after[k] = weir_draw_int(&r, 0, 2);
      x.shape[k + 1] = w.shape[k] + weir_draw_int(&r, 0, k < d - 1 ? 4 : d == 1 ? 400 : 20);
    }
    x.shape[d + 1] = w.shape[d] = weir_draw_int(&r, 8, 40);
    w.shape[d + 1] = weir_draw_int(&r, 8, 40);
    claimed += agree(&s, &x, &w, seed);
  }
  print_message("%d of 18 sums by the kernel\n", claimed);
  assert_true(claimed > 12);
}

/* What the kernel cannot do is left to others; so is f32. */
static void others_are_left(void **state)
{
  const weir_conv_spec refused[] = {{.dilation = {2, 1}}, {.stride = {1, 2}}, {.groups = 2}};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 4, .shape = {1, 20, 30, 32}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 3, 32, 32}};
  const weir_array_desc half = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 3, 16, 32}};
  const weir_conv_spec plain = {.groups = 0};

  needs_tiles();
  assert_int_equal(agree(&plain, &x, &w, 1), 3);
  assert_int_equal(conv_plan_check("conv.tiles", false, &plain, &x, &w, 1), 0);
  assert_int_equal(agree(&refused[0], &x, &w, 1), 0);
  assert_int_equal(agree(&refused[1], &x, &w, 1), 0);
  assert_int_equal(agree(&refused[2], &x, &half, 1), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_convolutions_agree),
      cmocka_unit_test(others_are_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
