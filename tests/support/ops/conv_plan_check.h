/* conv_plan_check.h - plans of convolutions and their gradients with a kernel and without. Tests
 * only. */
#ifndef CONV_PLAN_CHECK_H
#define CONV_PLAN_CHECK_H
#include <math.h>

#include "base/weir_random.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/exec/kernel_check.h"
#include "support/ops/ops_check.h"

enum { CONV_X, CONV_W, CONV_T, CONV_READ, CONV_Y = CONV_READ, CONV_DX, CONV_DW, CONV_ALL };

/* A convolution, and its gradients with weights t on the outputs; half: operands are numbers of
 * bf16, and products are made in it. */
typedef struct conv_plan_case {
  weir_graph *g;
  bool half;
  weir_tensor of[CONV_ALL];
} conv_plan_case;

static const char *const conv_plan_names[CONV_ALL] = {"x", "w", "t", "y", "dx", "dw"};

static inline conv_plan_case conv_plan_make(bool half, const weir_conv_spec *spec,
                                            const weir_array_desc *x, const weir_array_desc *w,
                                            uint64_t seed)
{
  conv_plan_case t = {.g = new_graph(), .half = half};
  const weir_value from[] = {weir_input(t.g, conv_plan_names[CONV_X], x),
                             weir_input(t.g, conv_plan_names[CONV_W], w)};
  const weir_value y = weir_conv(t.g, spec, from[0], from[1]);
  const weir_array_desc out = *weir_value_desc(t.g, y), *all[] = {x, w, &out, &out, x, w};
  weir_value loss = weir_mul(t.g, y, weir_input(t.g, conv_plan_names[CONV_T], &out)), grads[2];

  for (int k = out.rank - 1; k >= 0; k--) {
    loss = weir_sum(t.g, loss, k);
  }
  assert_ok(weir_gradients(t.g, loss, from, 2, grads));
  weir_output(t.g, conv_plan_names[CONV_Y], y);
  weir_output(t.g, conv_plan_names[CONV_DX], grads[0]);
  weir_output(t.g, conv_plan_names[CONV_DW], grads[1]);
  for (int k = 0; k < CONV_ALL; k++) {
    assert_ok(weir_tensor_init(&t.of[k], WEIR_F32, all[k]->rank, all[k]->shape));
    for (int64_t i = 0; k < CONV_READ && i < weir_tensor_numel(&t.of[k]); i++) {
      ((float *)t.of[k].data)[i] =
          (float)weir_dtype_rounded(half ? WEIR_BF16 : WEIR_F32,
                                    2 * weir_random_uniform(seed, (uint32_t)k, 0, (uint64_t)i) - 1);
    }
  }
  return t;
}

static inline void conv_plan_end(conv_plan_case *t)
{
  for (int k = 0; k < CONV_ALL; k++) {
    weir_tensor_fini(&t->of[k]);
  }
  weir_graph_destroy(&t->g);
}

/* As run_kernel, into `made`. */
static inline int conv_plan_run(conv_plan_case *t, const char *kernel, int threads,
                                weir_tensor made[CONV_ALL])
{
  return run_kernel_in(t->half, t->g, kernel, threads, conv_plan_names, t->of, CONV_READ, CONV_ALL,
                       made);
}

/* Of results: of bf16 relative to the largest of them. */
static inline weir_tolerance conv_plan_tolerance(const conv_plan_case *t, const weir_tensor *plain)
{
  double largest = 0;

  for (int64_t i = 0; i < weir_tensor_numel(plain); i++) {
    largest = fmax(largest, fabs((double)((const float *)plain->data)[i]));
  }
  return t->half ? (weir_tolerance){largest, 0.02 * largest} : (weir_tolerance){5e-5, 1e-4};
}

/* With the kernel as without it, and the same bits on two threads; returns the groups it has. */
static inline int conv_plan_agree(conv_plan_case *t, const char *kernel)
{
  weir_tensor plain[CONV_ALL], one[CONV_ALL], two[CONV_ALL];

  assert_int_equal(conv_plan_run(t, "none", 1, plain), 0);
  const int claimed = conv_plan_run(t, kernel, 1, one);

  assert_int_equal(conv_plan_run(t, kernel, 2, two), claimed);
  for (int k = CONV_READ; k < CONV_ALL; k++) {
    const int64_t count = weir_tensor_numel(&plain[k]);

    assert_int_equal(weir_compare(conv_plan_names[k], WEIR_F32, one[k].data, plain[k].data, count,
                                  conv_plan_tolerance(t, &plain[k])),
                     0);
    assert_memory_equal(one[k].data, two[k].data, (size_t)count * sizeof(float));
    weir_tensor_fini(&plain[k]);
    weir_tensor_fini(&one[k]);
    weir_tensor_fini(&two[k]);
  }
  return claimed;
}

/* A convolution of random numbers; half: products are made in bf16. Returns the groups the kernel
 * has, of three. */
static inline int conv_plan_check(const char *kernel, bool half, const weir_conv_spec *spec,
                                  const weir_array_desc *x, const weir_array_desc *w, uint64_t seed)
{
  conv_plan_case t = conv_plan_make(half, spec, x, w, seed);
  const int claimed = conv_plan_agree(&t, kernel);

  conv_plan_end(&t);
  return claimed;
}
#endif
