/* conv_test.c - extents, what a box of the output needs, and refusals. */
#include "ops/conv/weir_conv.h"
#include "support/ops/ops_check.h"

static void extents_follow_the_rule_of_the_field(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 17, 8, 9, 6);
  const weir_value w = GIVEN(g, "w", WEIR_F32, 3, 2, 3, 3, 10);
  const weir_conv_spec s = {.stride = {2, 1, 3},
                            .dilation = {2, 1, 1},
                            .pad_before = {1, 0, 2},
                            .pad_after = {1, 1, 0},
                            .groups = 2};

  /* (17 + 2 - 4 - 1) / 2 + 1, (8 + 1 - 1 - 1) + 1, (9 + 2 - 2 - 1) / 3 + 1 */
  assert_shape(g, weir_conv(g, &s, x, w), WEIR_F32, 2, 8, 8, 3, 10);
  weir_graph_destroy(&g);
}

/* The halo of a box, and the channels of a group alone. */
static void a_box_needs_its_kernel_and_its_group(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F64, 1, 50, 40, 8);
  const weir_value w = GIVEN(g, "w", WEIR_F64, 3, 5, 2, 12);
  const weir_conv_spec s = {.pad_before = {1, 2},
                            .pad_after = {1, 2},
                            .border = {WEIR_BORDER_ZERO, WEIR_BORDER_WRAP},
                            .groups = 4};
  const weir_access *a = access_of(g, weir_conv(g, &s, x, w));
  weir_box box = weir_iterations(a);

  box.lo[1] = 10;
  box.hi[1] = 20;
  box.lo[2] = 0;
  box.hi[2] = 3;
  box.lo[3] = 2; /* group */
  box.hi[3] = 3;
  const weir_region r = weir_needed(a, 0, &box), v = weir_needed(a, 1, &box);

  assert_true(r.interval[1][0].lo == 9 && r.interval[1][0].hi == 21);
  assert_true(r.n[2] == 2 && r.interval[2][0].lo == 0 && r.interval[2][0].hi == 5);
  assert_true(r.interval[2][1].lo == 38 && r.interval[2][1].hi == 40);
  assert_true(r.interval[3][0].lo == 4 && r.interval[3][0].hi == 6);
  assert_true(v.interval[3][0].lo == 6 && v.interval[3][0].hi == 9);
  weir_graph_destroy(&g);
}

static void refuse(const weir_conv_spec *s, weir_dtype dtype, int64_t in, const char *text)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 1, 5, 4), w = GIVEN(g, "w", dtype, 3, in, 6);

  assert_refused(g, weir_conv(g, s, x, w), text);
}

static void impossible_convolutions_are_refused(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 5, 4), w = GIVEN(g, "w", WEIR_F32, 3, 4);

  assert_refused(g, weir_conv(g, &(weir_conv_spec){.groups = 0}, x, w), "conv: ranks 2 and 2");
  refuse(&(weir_conv_spec){.groups = 3}, WEIR_F32, 4, "conv: 4 channels in, 6 out, 3 groups");
  refuse(&(weir_conv_spec){.groups = 2}, WEIR_F32, 4, "conv: 4 channels in, 6 out, 2 groups");
  refuse(&(weir_conv_spec){.groups = 1}, WEIR_F64, 4, "conv: x is f32, w f64");
  refuse(&(weir_conv_spec){.dilation = {3}}, WEIR_F32, 4, "exceeds the padded extent 5");
  refuse(&(weir_conv_spec){.stride = {-1}}, WEIR_F32, 4, "stride -1");
  refuse(&(weir_conv_spec){.pad_before = {-1}}, WEIR_F32, 4, "padding -1 and 0");
  refuse(&(weir_conv_spec){.border = {WEIR_BORDER_VALUE}}, WEIR_F32, 4, "border rule");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_follow_the_rule_of_the_field),
      cmocka_unit_test(a_box_needs_its_kernel_and_its_group),
      cmocka_unit_test(impossible_convolutions_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
