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

/* Labels of a, b, a b, c and z; i, of extent 2, are rows of a together with m, or a stack. */
typedef struct form {
  const char *a, *b, *ab, *c, *z;
} form;

static const form rows = {"imk", "kn", "imn", "np", "imp"};
static const form stack = {"imk", "ikn", "imn", "inp", "imp"};
/* As attention has them: heads between positions and their elements, and the second turned. */
static const form heads = {"mik", "nik", "imn", "nip", "mip"};

static weir_array_desc desc_of(const char *labels, const int64_t extent[256])
{
  weir_array_desc d = {.dtype = WEIR_F32, .rank = (int)strlen(labels)};

  for (int k = 0; k < d.rank; k++) {
    d.shape[k] = extent[(unsigned char)labels[k]];
  }
  return d;
}

static weir_value product(weir_graph *g, const char *x, const char *y, const char *z, weir_value a,
                          weir_value b)
{
  char text[16];

  (void)snprintf(text, sizeof text, "%s,%s->%s", x, y, z);
  return weir_contract(g, text, a, b);
}

static test_case make(const form *f, int64_t m, int64_t k, int64_t n, int64_t p, bool nan,
                      uint64_t seed)
{
  const int64_t extent[256] = {['i'] = 2, ['m'] = m, ['k'] = k, ['n'] = n, ['p'] = p};
  const weir_array_desc d[] = {desc_of(f->a, extent), desc_of(f->b, extent), desc_of(f->c, extent),
                               desc_of(f->z, extent)};
  const weir_array_desc *all[] = {&d[A], &d[B], &d[C], &d[T], &d[T], &d[A], &d[B], &d[C]};
  test_case t = {.g = new_graph()};
  weir_value in[READ], grads[3];

  for (int i = 0; i < READ; i++) {
    in[i] = weir_input(t.g, names[i], &d[i]);
  }
  const weir_value ab = product(t.g, f->a, f->b, f->ab, in[A], in[B]);
  const weir_value z = product(t.g, f->ab, f->c, f->z, ab, in[C]);

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
static int agree(const form *f, int64_t m, int64_t k, int64_t n, int64_t p, bool nan)
{
  test_case t = make(f, m, k, n, p, nan, 7);
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
  assert_int_equal(agree(&rows, 1, 64, 64, 64, false), 6);
  assert_int_equal(agree(&rows, 37, 48, 80, 32, false), 6);
  assert_int_equal(agree(&rows, 1203, 32, 16, 16, false), 6);
}

/* Chunks of a sum over 2100 rows, too. */
static void stacks_agree_with_loops(void **state)
{
  needs_products();
  assert_int_equal(agree(&stack, 1, 64, 64, 64, false), 6);
  assert_int_equal(agree(&stack, 37, 48, 80, 32, false), 6);
  assert_int_equal(agree(&stack, 2100, 32, 16, 16, true), 6);
  assert_int_equal(agree(&heads, 38, 48, 80, 32, false), 6);
  assert_int_equal(agree(&heads, 96, 32, 96, 32, true), 6);
}

/* Rows of an odd number of elements are no pairs, and rows of the result are whole vectors. */
static void what_it_cannot_do_is_left(void **state)
{
  needs_products();
  assert_int_equal(agree(&rows, 40, 17, 16, 16, false), 4);
  assert_int_equal(agree(&rows, 40, 16, 15, 16, false), 1);
}

static void nan_stays_in_its_sums(void **state)
{
  needs_products();
  assert_int_equal(agree(&rows, 37, 48, 80, 32, true), 6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_agree_with_loops),
      cmocka_unit_test(stacks_agree_with_loops),
      cmocka_unit_test(what_it_cannot_do_is_left),
      cmocka_unit_test(nan_stays_in_its_sums),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
