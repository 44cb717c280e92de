/* contract_bf16_test.c - products of bf16 and their derivatives are claimed, and computed as the
 * loops do; other ones are left to others. */
#include <math.h>
#include <string.h>

#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/contract/weir_contract.h"
#include "ops/conv/winograd/winograd_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/exec/kernel_check.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { A, B, C, T, READ, Z = READ, DA, DB, DC, ALL };

static const char *const names[ALL] = {"a", "b", "c", "t", "z", "da", "db", "dc"};

/* z = (a b) c, and the derivatives of the sum of its products with t. The product of a and b is an
 * operand of another, so that it is kept in bf16. */
typedef struct test_case {
  weir_graph *g;
  weir_tensor of[ALL];
} test_case;

static test_case make(int64_t m, int64_t k, int64_t n, int64_t p, bool nan, uint64_t seed)
{
  const weir_array_desc d[] = {{.dtype = WEIR_F32, .rank = 3, .shape = {2, m, k}},
                               {.dtype = WEIR_F32, .rank = 2, .shape = {k, n}},
                               {.dtype = WEIR_F32, .rank = 2, .shape = {n, p}},
                               {.dtype = WEIR_F32, .rank = 3, .shape = {2, m, p}}};
  const weir_array_desc *all[] = {&d[A], &d[B], &d[C], &d[T], &d[T], &d[A], &d[B], &d[C]};
  test_case t = {.g = new_graph()};
  weir_value in[READ], grads[3];

  for (int i = 0; i < READ; i++) {
    in[i] = weir_input(t.g, names[i], &d[i]);
  }
  const weir_value z =
      weir_contract(t.g, "imn,np->imp", weir_contract(t.g, "imk,kn->imn", in[A], in[B]), in[C]);

  assert_ok(weir_gradients(t.g, weir_sum(t.g, weir_mul(t.g, z, in[T]), -1), in, 3, grads));
  weir_output(t.g, names[Z], z);
  for (int i = 0; i < 3; i++) {
    weir_output(t.g, names[DA + i], grads[i]);
  }
  for (int i = 0; i < ALL; i++) {
    assert_ok(weir_tensor_init(&t.of[i], WEIR_F32, all[i]->rank, all[i]->shape));
    for (int64_t e = 0; i < READ && e < weir_tensor_numel(&t.of[i]); e++) {
      ((float *)t.of[i].data)[e] = (float)weir_dtype_rounded(
          WEIR_BF16, 2 * weir_random_uniform(seed, (uint32_t)i, 0, (uint64_t)e) - 1);
    }
  }
  if (nan) {
    ((float *)t.of[A].data)[k] = NAN;
  }
  return t;
}

static void end(test_case *t)
{
  for (int i = 0; i < ALL; i++) {
    weir_tensor_fini(&t->of[i]);
  }
  weir_graph_destroy(&t->g);
}

/* Relative to the largest that is no NaN: what is between products is rounded to bf16. */
static void compare(const char *name, const weir_tensor *one, const weir_tensor *plain)
{
  const float *x = one->data, *y = plain->data;
  double largest = 0;

  for (int64_t i = 0; i < weir_tensor_numel(plain); i++) {
    largest = fmax(largest, fabs((double)y[i]));
  }
  for (int64_t i = 0; i < weir_tensor_numel(plain); i++) {
    if (!(isnan(y[i]) ? isnan(x[i]) : fabs((double)x[i] - (double)y[i]) <= 0x1p-7 * largest)) {
      print_error("%s %lld: %g, expected %g\n", name, (long long)i, (double)x[i], (double)y[i]);
      assert_true(0);
    }
  }
}

/* With the kernel as without it, and the same bits on two threads; returns the groups it has. */
static int agree(int64_t m, int64_t k, int64_t n, int64_t p, bool nan)
{
  test_case t = make(m, k, n, p, nan, 7);
  weir_tensor plain[ALL], one[ALL], two[ALL];

  (void)run_kernel(t.g, "none", 1, names, t.of, READ, ALL, plain);
  const int claimed = run_kernel_in(true, t.g, "contract.bf16", 1, names, t.of, READ, ALL, one);

  assert_int_equal(run_kernel_in(true, t.g, "contract.bf16", 2, names, t.of, READ, ALL, two),
                   claimed);
  for (int i = READ; i < ALL; i++) {
    compare(names[i], &one[i], &plain[i]);
    assert_memory_equal(one[i].data, two[i].data,
                        (size_t)weir_tensor_numel(&one[i]) * sizeof(float));
    weir_tensor_fini(&plain[i]);
    weir_tensor_fini(&one[i]);
    weir_tensor_fini(&two[i]);
  }
  end(&t);
  return claimed;
}

static void needs_products(void)
{
  if (winograd_kernels_get(WEIR_BF16) == NULL) {
    print_message("skipped: this processor has no products of bf16\n");
    skip();
  }
}

/* One row, rows that fill no block, several chunks of the sums of derivatives by b and c. */
static void products_agree_with_loops(void **state)
{
  needs_products();
  assert_int_equal(agree(1, 64, 64, 64, false), 6);
  assert_int_equal(agree(37, 48, 80, 32, false), 6);
  assert_int_equal(agree(1203, 32, 16, 16, false), 6);
}

/* Rows of an odd number of elements are no pairs, and rows of the result are whole vectors. */
static void what_it_cannot_do_is_left(void **state)
{
  needs_products();
  assert_int_equal(agree(40, 17, 16, 16, false), 4);
  assert_int_equal(agree(40, 16, 15, 16, false), 1);
}

static void nan_stays_in_its_sums(void **state)
{
  needs_products();
  assert_int_equal(agree(37, 48, 80, 32, true), 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_agree_with_loops),
      cmocka_unit_test(what_it_cannot_do_is_left),
      cmocka_unit_test(nan_stays_in_its_sums),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
