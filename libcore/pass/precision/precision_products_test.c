/* precision_products_test.c - products of f64 and c128 with rounded operands: how far they are from
 * exact ones, by which scales, and what stays as it is. */
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/contract/weir_contract.h"
#include "pass/weir_pass.h"

extern const weir_pass weir_pass_precision;

enum { A = 3, M = 5, K = 37, N = 4 };

/* y[a, m, n] = sum over k of l[a, m, k] r[a, k, n], or of conj(l). */
typedef struct product {
  weir_dtype dtype;
  bool conjugate;
  weir_c128 l[A * M * K], r[A * K * N], y[A * M * N];
} product;

static weir_graph *graph_of(const product *p, weir_value *y)
{
  const weir_array_desc l = {p->dtype, 3, {A, M, K}, 0}, r = {p->dtype, 3, {A, K, N}, 0};
  const weir_contract_spec spec = {.labels = "amk,akn->amn", .conjugate = p->conjugate};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value in[] = {weir_input(g, "l", &l), weir_input(g, "r", &r)};

  *y = weir_contract_n(g, &spec, in, 2);
  weir_output(g, "y", *y);
  assert_ok(weir_graph_status(g));
  return g;
}

static void fill(const weir_c128 *from, int64_t n, weir_tensor *t)
{
  for (int64_t i = 0; i < n; i++) {
    if (weir_dtype_is_complex(t->dtype)) {
      weir_dtype_store_complex(t->dtype, t->data, i, from[i]);
    } else {
      weir_dtype_store_real(t->dtype, t->data, i, from[i].re);
    }
  }
}

static void multiply(product *p, weir_products products, bool scaled)
{
  weir_tensor l, r, y;
  weir_exec_cfg cfg;
  weir_plan *plan;
  weir_value v;
  weir_graph *g = graph_of(p, &v);

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.products = (int)products;
  cfg.scale_products = scaled;
  cfg.verify = 1;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  assert_ok(weir_tensor_init(&l, p->dtype, 3, (int64_t[]){A, M, K}));
  assert_ok(weir_tensor_init(&r, p->dtype, 3, (int64_t[]){A, K, N}));
  assert_ok(weir_tensor_init(&y, p->dtype, 3, (int64_t[]){A, M, N}));
  fill(p->l, (int64_t)A * M * K, &l);
  fill(p->r, (int64_t)A * K * N, &r);
  assert_ok(weir_plan_run(plan, (weir_binding[]){{"l", &l}, {"r", &r}, {"y", &y}}, 3));
  for (int64_t i = 0; i < (int64_t)A * M * N; i++) {
    p->y[i] = weir_dtype_load_complex(p->dtype, y.data, i);
  }
  weir_tensor_fini(&l);
  weir_tensor_fini(&r);
  weir_tensor_fini(&y);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
}

static weir_c128 random_number(uint32_t which, int i)
{
  return (weir_c128){weir_random_uniform(5, which, 0, (uint64_t)i) - 0.5,
                     weir_random_uniform(5, which, 1, (uint64_t)i) - 0.5};
}

/* Elements of batch a are 2^(step a) times those of batch 0. */
static void draw(product *p, int step)
{
  for (int i = 0; i < A * M * K; i++) {
    const weir_c128 z = random_number(0, i % (M * K));

    p->l[i] = (weir_c128){ldexp(z.re, step * (i / (M * K))), ldexp(z.im, step * (i / (M * K)))};
  }
  for (int i = 0; i < A * K * N; i++) {
    p->r[i] = random_number(1, i % (K * N));
  }
}

/* Root of the mean square difference of batch 0, relative. */
static double distance(const product *x, const product *y)
{
  double apart = 0, of = 0;

  for (int i = 0; i < M * N; i++) {
    const double re = x->y[i].re - y->y[i].re, im = x->y[i].im - y->y[i].im;

    apart += re * re + im * im;
    of += y->y[i].re * y->y[i].re + y->y[i].im * y->y[i].im;
  }
  return sqrt(apart / of);
}

/* Half a unit of each format is the most that an operand is off. */
static void errors_are_those_of_the_format(void **state)
{
  static const double unit[] = {0, 0x1p-24, 0x1p-8, 0x1p-11, 0x1p-22};
  static product exact, rounded;

  for (int i = 0; i < 3; i++) {
    exact = (product){.dtype = i == 0 ? WEIR_F64 : WEIR_C128, .conjugate = i == 2};
    draw(&exact, 0);
    rounded = exact;
    multiply(&exact, WEIR_PRODUCTS_F64, true);
    for (int f = WEIR_PRODUCTS_F32; f <= WEIR_PRODUCTS_F16X2; f++) {
      multiply(&rounded, (weir_products)f, true);
      const double error = distance(&rounded, &exact);

      assert_true(error < 4 * unit[f] && error > 0.1 * unit[f]);
    }
  }
}

/* Each batch has scales of its own: powers of two in the operands are powers of two in the result,
 * to the last bit, far outside the range of f16 and of f32. Without scales small ones are lost and
 * large ones infinite. */
static void scale_every_batch(weir_products products)
{
  static product p;

  for (int step = -300; step <= 300; step += 120) {
    p = (product){.dtype = WEIR_C128};
    draw(&p, step / 2);
    multiply(&p, products, true);
    for (int i = M * N; i < A * M * N; i++) {
      const weir_c128 z = p.y[i % (M * N)];
      const int by = step / 2 * (i / (M * N));

      assert_true(p.y[i].re == ldexp(z.re, by) && p.y[i].im == ldexp(z.im, by));
    }
    multiply(&p, products, false);
    const weir_c128 last = p.y[A * M * N - 1];

    assert_true(step < 0 ? last.re == 0 && last.im == 0 : !isfinite(last.re) || step == 0);
  }
}

static void every_batch_is_scaled(void **state)
{
  scale_every_batch(WEIR_PRODUCTS_F16);
  scale_every_batch(WEIR_PRODUCTS_F16X2);
}

/* An infinite or NaN element, and an operand without any that is not 0. */
static void see_special_elements(weir_products products)
{
  static product p;

  for (int i = 0; i < 3; i++) {
    p = (product){.dtype = WEIR_C128};
    draw(&p, 0);
    p.l[0].im = i == 0 ? (double)NAN : INFINITY;
    for (int k = 0; k < A * M * K && i == 2; k++) {
      p.l[k] = (weir_c128){0, 0};
    }
    multiply(&p, products, true);
    if (i == 2) {
      assert_true(p.y[0].re == 0 && p.y[0].im == 0);
    } else {
      assert_false(isfinite(p.y[0].re) && isfinite(p.y[0].im));
      assert_true(isfinite(p.y[A * M * N - 1].re)); /* of another batch */
    }
  }
}

static void special_elements_are_seen(void **state)
{
  see_special_elements(WEIR_PRODUCTS_F16);
  see_special_elements(WEIR_PRODUCTS_F16X2);
}

/* h f [k, n] is an operand of a sum over n alone, made once for all e; sums are of c64, as is what
 * they read, results of c128. */
static void products_of_few_flops_stay(void **state)
{
  const weir_array_desc h = {WEIR_C128, 2, {4, 4}, 0}, f = {WEIR_C128, 2, {4, 30}, 0};
  const weir_array_desc e = {WEIR_C128, 2, {30, 200}, 0};
  const weir_pass_opts opts = {.products = WEIR_PRODUCTS_F16};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value few =
      weir_contract(g, "ij,jk->ik", weir_input(g, "h", &h), weir_input(g, "f", &f));
  const weir_value many = weir_contract(g, "ik,kn->in", few, weir_input(g, "e", &e));

  weir_output(g, "y", many);
  assert_ok(weir_pass_precision.run(g, &opts));
  assert_ok(weir_graph_validate(g));
  assert_false(weir_graph_node(g, few.node)->dead);
  assert_int_equal(weir_value_desc(g, few)->dtype, WEIR_C128);
  assert_true(weir_graph_node(g, many.node)->dead);
  assert_int_equal(weir_value_desc(g, many)->dtype, WEIR_C128);
  int sums = 0;

  for (int32_t i = many.node + 1; i < weir_graph_nodes(g); i++) {
    const weir_access *a = &weir_graph_node(g, i)->access;

    if (a->combine == WEIR_COMBINE_SUM) {
      assert_int_equal(a->accumulator, WEIR_C64);
      assert_int_equal(a->in[0].dtype, WEIR_C64);
      sums++;
    }
  }
  assert_int_equal(sums, 1);
  weir_graph_destroy(&g);
}

static void other_sums_stay(void **state)
{
  const weir_array_desc x = {WEIR_F32, 2, {6, 6}, 0}, y = {WEIR_C128, 2, {6, 6}, 0};
  const weir_array_desc empty = {WEIR_C128, 2, {6, 0}, 0}, none = {WEIR_C128, 2, {0, 6}, 0};
  weir_graph *g;

  for (int f = WEIR_PRODUCTS_F64; f <= WEIR_PRODUCTS_F16; f += WEIR_PRODUCTS_F16) {
    assert_ok(weir_graph_create(&g));
    const weir_value of32 = weir_input(g, "x", &x), of128 = weir_input(g, "y", &y);

    weir_output(g, "a", weir_contract(g, "ij,jk->ik", of32, of32));
    weir_output(
        g, "b",
        weir_contract(g, "ij,jk->ik", weir_input(g, "c", &empty), weir_input(g, "d", &none)));
    if (f == WEIR_PRODUCTS_F64) {
      weir_output(g, "e", weir_contract(g, "ij,jk->ik", of128, of128));
    }
    const int32_t n = weir_graph_nodes(g);

    assert_ok(weir_pass_precision.run(g, &(weir_pass_opts){.products = (weir_products)f}));
    assert_int_equal(weir_graph_nodes(g), n);
    weir_graph_destroy(&g);
  }
}

/* x x^T: both operands are the same array, which is rounded once. */
static void an_array_is_rounded_once(void **state)
{
  const weir_array_desc d = {WEIR_F64, 2, {7, 9}, 0};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), y = weir_contract(g, "ik,jk->ij", x, x);

  weir_output(g, "y", y);
  const int32_t n = weir_graph_nodes(g);

  assert_ok(weir_pass_precision.run(g, &(weir_pass_opts){.products = WEIR_PRODUCTS_BF16}));
  assert_ok(weir_graph_validate(g));
  assert_int_equal(weir_graph_nodes(g), n + 5); /* largest, scale, rounded; product; result */
  weir_graph_destroy(&g);
}

static weir_status make(void *context)
{
  weir_graph *g = NULL;

  WEIR_TRY(weir_graph_copy(context, &g));
  const weir_status status =
      weir_pass_precision.run(g, &(weir_pass_opts){.products = WEIR_PRODUCTS_F16X2});

  weir_graph_destroy(&g);
  return status;
}

static void every_failed_allocation_is_reported(void **state)
{
  static product p = {.dtype = WEIR_C128};
  weir_value y;
  weir_graph *g = graph_of(&p, &y);

  assert_true(weir_check_faults(make, g) > 0);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_the_format),
      cmocka_unit_test(every_batch_is_scaled),
      cmocka_unit_test(special_elements_are_seen),
      cmocka_unit_test(products_of_few_flops_stay),
      cmocka_unit_test(other_sums_stay),
      cmocka_unit_test(an_array_is_rounded_once),
      cmocka_unit_test(every_failed_allocation_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
