/* conv_winograd_test.c - the kernel claims what it can do, and computes it as the loops do. */
#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "support/exec/kernel_check.h"
#include "ops/conv/weir_conv.h"
#include "ops/conv/winograd/winograd_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { X, W, T, READ, Y = READ, DX, DW, ALL };

/* A convolution, and its gradients with weights t on the outputs; half: operands are numbers of
 * bf16, and products are made in it. */
typedef struct test_case {
  weir_graph *g;
  bool half;
  weir_tensor of[ALL];
} test_case;

static const char *const names[ALL] = {"x", "w", "t", "y", "dx", "dw"};

static test_case make(bool half, const weir_conv_spec *spec, const weir_array_desc *x,
                      const weir_array_desc *w, uint64_t seed)
{
  test_case t = {.g = new_graph(), .half = half};
  const weir_value from[] = {weir_input(t.g, names[X], x), weir_input(t.g, names[W], w)};
  const weir_value y = weir_conv(t.g, spec, from[0], from[1]);
  const weir_array_desc out = *weir_value_desc(t.g, y), *all[] = {x, w, &out, &out, x, w};
  weir_value loss = weir_mul(t.g, y, weir_input(t.g, names[T], &out)), grads[2];

  for (int k = out.rank - 1; k >= 0; k--) {
    loss = weir_sum(t.g, loss, k);
  }
  assert_ok(weir_gradients(t.g, loss, from, 2, grads));
  weir_output(t.g, names[Y], y);
  weir_output(t.g, names[DX], grads[0]);
  weir_output(t.g, names[DW], grads[1]);
  for (int k = 0; k < ALL; k++) {
    assert_ok(weir_tensor_init(&t.of[k], WEIR_F32, all[k]->rank, all[k]->shape));
    for (int64_t i = 0; k < READ && i < weir_tensor_numel(&t.of[k]); i++) {
      ((float *)t.of[k].data)[i] =
          (float)weir_dtype_rounded(half ? WEIR_BF16 : WEIR_F32,
                                    2 * weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 1);
    }
  }
  return t;
}

static void end(test_case *t)
{
  for (int k = 0; k < ALL; k++) {
    weir_tensor_fini(&t->of[k]);
  }
  weir_graph_destroy(&t->g);
}

/* As run_kernel, into `made`. */
static int run(test_case *t, const char *kernel, int threads, weir_tensor made[ALL])
{
  return run_kernel_in(t->half, t->g, kernel, threads, names, t->of, READ, ALL, made);
}

/* Of results: of bf16 relative to the largest of them. */
static weir_tolerance tolerance_of(const test_case *t, const weir_tensor *plain)
{
  double largest = 0;

  for (int64_t i = 0; i < weir_tensor_numel(plain); i++) {
    largest = fmax(largest, fabs((double)((const float *)plain->data)[i]));
  }
  return t->half ? (weir_tolerance){largest, 0.02 * largest} : (weir_tolerance){5e-5, 1e-4};
}

/* With the kernel as without it, and the same bits on two threads; returns the groups it has. */
static int agree_in(test_case *t)
{
  weir_tensor plain[ALL], one[ALL], two[ALL];

  assert_int_equal(run(t, "none", 1, plain), 0);
  const int claimed = run(t, "conv.winograd", 1, one);

  assert_int_equal(run(t, "conv.winograd", 2, two), claimed);
  for (int k = READ; k < ALL; k++) {
    const int64_t count = weir_tensor_numel(&plain[k]);

    assert_int_equal(weir_compare(names[k], WEIR_F32, one[k].data, plain[k].data, count,
                                  tolerance_of(t, &plain[k])),
                     0);
    assert_memory_equal(one[k].data, two[k].data, (size_t)count * sizeof(float));
    weir_tensor_fini(&plain[k]);
    weir_tensor_fini(&one[k]);
    weir_tensor_fini(&two[k]);
  }
  return claimed;
}

static int agree_as(bool half, const weir_conv_spec *spec, const weir_array_desc *x,
                    const weir_array_desc *w, uint64_t seed)
{
  test_case t = make(half, spec, x, w, seed);
  const int claimed = agree_in(&t);

  end(&t);
  return claimed;
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
  test_case t = make(false, &s, &x, &w, 1);

  needs(WEIR_F32);
  assert_int_equal(chosen(t.g, WEIR_F32, WEIR_WINOGRAD_TRUE), 3);
  assert_int_equal(chosen(t.g, WEIR_F32, WEIR_WINOGRAD_F32), 3);
  assert_int_equal(chosen(t.g, WEIR_F32, WEIR_WINOGRAD_FALSE), 0);
  if (winograd_kernels_get(WEIR_BF16) != NULL) {
    assert_true(chosen(t.g, WEIR_BF16, WEIR_WINOGRAD_TRUE) >= 2);
  }
  assert_int_equal(chosen(t.g, WEIR_BF16, WEIR_WINOGRAD_F32), 0);
  assert_int_equal(chosen(t.g, WEIR_BF16, WEIR_WINOGRAD_FALSE), 0);
  end(&t);
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
