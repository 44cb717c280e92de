/* interpolate_rows_test.c - the kernel claims interpolation and its derivative, and computes them
 * as the loops do, alone and in blocks. */
#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_bf16.h"
#include "base/weir_random.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/interpolate/rows.h"
#include "ops/interpolate/weir_interpolate.h"
#include "ops/ops_cases.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/resample/weir_resample.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/precision/precision_priv.h"
#include "support/exec/kernel_check.h"
#include "support/ops/ops_check.h"

enum { X, A, T, READ, MADE = READ, ALL };

static const char *const names[ALL] = {"x", "a", "t", "made"};

/* y = 2 interpolate(x, a), whose loop joins the kernel's group, or the derivative by x of the sum
 * of y t. */
static weir_graph *make(const weir_interpolate_spec *s, const weir_array_desc *x,
                        const weir_array_desc *a, bool derivative, weir_array_desc *out)
{
  weir_graph *g = new_graph();
  const weir_value from = weir_input(g, names[X], x);
  const weir_value y = weir_scale(g, weir_interpolate(g, s, from, weir_input(g, names[A], a)), 2);
  weir_value grad;

  *out = *weir_value_desc(g, y);
  const weir_value loss = weir_sum(g, weir_mul(g, y, weir_input(g, names[T], out)), -1);

  assert_ok(weir_gradients(g, loss, &from, 1, &grad));
  weir_output(g, names[MADE], derivative ? grad : y);
  return g;
}

static int agree(uint64_t seed, const weir_interpolate_spec *s, const weir_array_desc *x,
                 const weir_array_desc *a, bool derivative)
{
  weir_array_desc out;
  weir_graph *g = make(s, x, a, derivative, &out);
  const weir_array_desc *all[] = {x, a, &out, derivative ? x : &out};
  weir_tensor of[ALL], made[3][ALL];

  for (int k = 0; k < ALL; k++) {
    assert_ok(weir_tensor_init(&of[k], WEIR_F32, all[k]->rank, all[k]->shape));
    for (int64_t i = 0; k < READ && i < weir_tensor_numel(&of[k]); i++) {
      ((float *)of[k].data)[i] =
          (float)(2 * weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 1);
    }
  }
  if (weir_tensor_numel(&of[X]) > 0 && seed % 4 == 0) {
    ((float *)of[X].data)[weir_tensor_numel(&of[X]) / 2] = NAN;
  }
  if (seed % 4 == 1) {
    ((float *)of[A].data)[seed % (uint64_t)weir_tensor_numel(&of[A])] =
        seed % 8 == 1 ? NAN : INFINITY;
  }
  assert_int_equal(run_kernel(g, "none", 1, names, of, READ, ALL, made[0]), 0);
  const int claimed = run_kernel(g, "interpolate.rows", 1, names, of, READ, ALL, made[1]);

  assert_int_equal(run_kernel(g, "interpolate.rows", 2, names, of, READ, ALL, made[2]), claimed);
  for (int k = READ; k < ALL; k++) {
    const int64_t count = weir_tensor_numel(&of[k]);

    assert_int_equal(weir_compare(names[k], WEIR_F32, made[1][k].data, made[0][k].data, count,
                                  (weir_tolerance){5e-6, 1e-5}),
                     0);
    assert_memory_equal(made[1][k].data, made[2][k].data, (size_t)count * sizeof(float));
    for (int i = 0; i < 3; i++) {
      weir_tensor_fini(&made[i][k]);
    }
  }
  for (int k = 0; k < ALL; k++) {
    weir_tensor_fini(&of[k]);
  }
  weir_graph_destroy(&g);
  return claimed;
}

static void random_sums_agree(void **state)
{
  int claimed[2] = {0, 0};

  if (rows_sum_get(WEIR_F32, WEIR_F32) == NULL) {
    print_message("skipped: this processor has no vector code for sums of rows\n");
    skip();
  }
  for (uint64_t seed = 0; seed < 24; seed++) {
    weir_draw r = {.seed = seed};
    weir_array_desc x = {.dtype = WEIR_F32, .rank = (int)weir_draw_int(&r, 3, 6)};
    weir_array_desc a = {.dtype = WEIR_F32, .rank = 3};
    weir_interpolate_spec s = {.pad = weir_draw_int(&r, -1, 2),
                               .before = weir_draw_int(&r, -1, 2),
                               .border = weir_draw_one_in(&r, 2) ? WEIR_BORDER_WRAP : 0};

    for (int d = 0; d < x.rank; d++) {
      x.shape[d] = weir_draw_int(&r, 1, d == x.rank - 1 ? 150 : 5);
    }
    s.dim = (int)weir_draw_int(&r, 0, x.rank - 3);
    s.taps = (int)weir_draw_int(&r, s.dim + 1, x.rank - 2);
    a.shape[0] = weir_draw_one_in(&r, 2) ? 2 * x.shape[s.dim] : weir_draw_int(&r, 1, 12);
    a.shape[1] = x.shape[s.taps];
    a.shape[2] = weir_draw_int(&r, 1, 3);
    claimed[0] += agree(seed, &s, &x, &a, false);
    claimed[1] += agree(seed, &s, &x, &a, true);
  }
  print_message("of 24 sums %d, of 24 derivatives %d by the kernel\n", claimed[0], claimed[1]);
  assert_true(claimed[0] >= 12 && claimed[1] >= 12);
}

/* A filter before the first element: there zeros are multiplied, or (absent) nothing is. */
static void what_lies_outside_counts_as_the_border_says(void **state)
{
  static const char *const of_filter[] = {"x", "taps", "y"};
  const weir_border borders[] = {WEIR_BORDER_ABSENT, WEIR_BORDER_ZERO};
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 2, .shape = {9, 20}};
  const weir_array_desc taps = {.dtype = WEIR_F32, .rank = 2, .shape = {4, 3}};

  for (int k = 0; k < 2; k++) {
    const weir_resample_spec s = {
        .method = WEIR_RESAMPLE_FIR, .up = 3, .down = 2, .border = borders[k]};
    weir_graph *g = new_graph();
    weir_tensor of[3], made[2];

    weir_output(g, "y",
                weir_resample_fir(g, &s, weir_input(g, "x", &x), weir_input(g, "taps", &taps)));
    assert_ok(weir_tensor_init(&of[0], WEIR_F32, 2, x.shape));
    assert_ok(weir_tensor_init(&of[1], WEIR_F32, 2, taps.shape));
    of[2] = (weir_tensor){.rank = 2, .shape = {14, 20}};
    for (int64_t i = 0; i < 9 * 20; i++) {
      ((float *)of[0].data)[i] = (float)(i % 7);
    }
    for (int64_t i = 0; i < 4 * 3; i++) {
      ((float *)of[1].data)[i] = i == 10 ? NAN : (float)(i % 5);
    }
    const char *const kernels[] = {"none", "interpolate.rows"};
    int claimed = 0;

    for (int n = 0; n < 2; n++) {
      weir_tensor all[3];

      claimed += run_kernel(g, kernels[n], 1, of_filter, of, 2, 3, all);
      made[n] = all[2];
    }
    print_message("a filter with border rule %d: %d by the kernel\n", (int)borders[k], claimed);
    assert_int_equal(weir_compare("y", WEIR_F32, made[1].data, made[0].data,
                                  weir_tensor_numel(&made[0]), (weir_tolerance){5e-6, 1e-5}),
                     0);
    for (int n = 0; n < 2; n++) {
      weir_tensor_fini(&made[n]);
      weir_tensor_fini(&of[n]);
    }
    weir_graph_destroy(&g);
  }
}

/* Rows in f32 of a sum of numbers that bf16 has, and these rounded, are its rows where x or the
 * result, or both, are of bf16. */
static void same_in_half(const weir_graph *g, int32_t node, const weir_tensor *x,
                         const weir_tensor *a, const weir_tensor *made, bool of_half, bool to_half)
{
  const weir_dtype dtype = to_half ? WEIR_BF16 : WEIR_F32;
  weir_access access;
  weir_tensor half_x, result;
  rows_plan plan;

  assert_ok(weir_access_copy(&weir_graph_node(g, node)->access, &access));
  access.out[0].dtype = dtype;
  assert_ok(precision_widen_loads(&access, of_half ? 1 : 0));
  assert_ok(weir_tensor_init(&result, dtype, made->rank, made->shape));
  assert_ok(weir_tensor_init(&half_x, WEIR_BF16, x->rank, x->shape));
  for (int64_t i = 0; i < weir_tensor_numel(x); i++) {
    ((weir_bf16 *)half_x.data)[i] = weir_bf16_from_f32(((const float *)x->data)[i]);
  }
  assert_ok(rows_plan_make(&access, &plan));
  const weir_view views[] = {weir_view_of(of_half ? &half_x : x), weir_view_of(a),
                             weir_view_of(&result)};
  void *workspace;

  assert_ok(weir_alloc(rows_workspace(&plan) + 1, 1, &workspace));
  rows_fill(&plan, &views[0], &views[1], workspace);
  for (int64_t piece = 0; piece < rows_pieces(&plan); piece++) {
    rows_piece(&plan, &views[0], &views[2], workspace, piece);
  }
  for (int64_t i = 0; i < weir_tensor_numel(made); i++) {
    const float exact = ((const float *)made->data)[i];
    const float expected = to_half ? weir_f32_from_bf16(weir_bf16_from_f32(exact)) : exact;
    const float found = to_half ? weir_f32_from_bf16(((const weir_bf16 *)result.data)[i])
                                : ((const float *)result.data)[i];

    assert_true(isnan(expected) ? isnan(found) : found == expected);
  }
  weir_free(&workspace);
  rows_plan_fini(&plan);
  weir_tensor_fini(&half_x);
  weir_tensor_fini(&result);
  weir_access_fini(&access);
}

static void rows_may_be_of_bf16(void **state)
{
  static const char *const names2[] = {"x", "a", "y"};
  int compared = 0;

  if (rows_sum_get(WEIR_F32, WEIR_BF16) == NULL) {
    print_message("skipped: this processor has no vector code for rows of bf16\n");
    skip();
  }
  for (uint64_t seed = 0; seed < 12; seed++) {
    weir_draw r = {.seed = 100 + seed};
    const int64_t n = weir_draw_int(&r, 1, 6), row = weir_draw_int(&r, 1, 150);
    const weir_array_desc x = {.dtype = WEIR_F32, .rank = 4, .shape = {2, n, 3, row}};
    const weir_array_desc a = {.dtype = WEIR_F32, .rank = 3, .shape = {2 * n, 3, 2}};
    const weir_interpolate_spec s = {.dim = 1, .taps = 2, .pad = 1};
    weir_graph *g = new_graph();
    const weir_value y = weir_interpolate(g, &s, weir_input(g, "x", &x), weir_input(g, "a", &a));
    const weir_array_desc *made = weir_value_desc(g, y);
    weir_tensor of[3], result[3];

    weir_output(g, "y", y);
    assert_ok(weir_tensor_init(&of[0], WEIR_F32, 4, x.shape));
    assert_ok(weir_tensor_init(&of[1], WEIR_F32, 3, a.shape));
    of[2] = (weir_tensor){.rank = made->rank};
    memcpy(of[2].shape, made->shape, sizeof of[2].shape);
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < weir_tensor_numel(&of[k]); i++) {
        ((float *)of[k].data)[i] = (float)weir_dtype_rounded(
            WEIR_BF16, 2 * weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 1);
      }
    }
    ((float *)of[0].data)[row / 2] = seed % 3 == 0 ? NAN : 0;
    if (run_kernel(g, "interpolate.rows", 1, names2, of, 2, 3, result) == 1) {
      int32_t node = 0;

      while (weir_graph_node(g, node)->op != &weir_op_interpolate) {
        node++;
      }
      same_in_half(g, node, &of[0], &of[1], &result[2], false, true);
      same_in_half(g, node, &of[0], &of[1], &result[2], true, false);
      same_in_half(g, node, &of[0], &of[1], &result[2], true, true);
      compared++;
    }
    weir_tensor_fini(&result[2]);
    weir_tensor_fini(&of[0]);
    weir_tensor_fini(&of[1]);
    weir_graph_destroy(&g);
  }
  assert_true(compared >= 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_sums_agree),
      cmocka_unit_test(rows_may_be_of_bf16),
      cmocka_unit_test(what_lies_outside_counts_as_the_border_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
