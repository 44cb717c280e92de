/* autodiff_test.c - what differences cannot tell: ties, zeros, what does not matter, refusals.
 * Every operator against differences: tests/conform/derive.c. */
#include "pass/autodiff/autodiff_priv.h"
#include "pass/autodiff/weir_gradients.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "support/ops/scan_check.h"
#include "ops/resample/weir_resize_op.h"

static void fill(weir_tensor *t, double lo, double hi, uint32_t purpose, uint64_t seed)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    const double x = lo + (hi - lo) * weir_random_uniform(seed, purpose, 0, (uint64_t)i);

    if (weir_dtype_is_real(t->dtype)) {
      weir_dtype_store_real(t->dtype, t->data, i, x);
    } else {
      weir_dtype_store_int(t->dtype, t->data, i, (int64_t)floor(x + 0.5));
    }
  }
}

/* y = tanh(x) exp(x): derived twice, against the formula. */
static void elementwise_is_derived_twice(void **state)
{
  enum { N = 37 };
  const weir_array_desc d = {.dtype = WEIR_F64, .rank = 1, .shape = {N}};
  weir_tensor x, made;
  weir_value first, second;
  weir_exec_cfg cfg;
  weir_plan *p = NULL;
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &d);
  const weir_value y = weir_mul(g, weir_tanh(g, in), weir_exp(g, in));

  assert_ok(weir_gradients(g, weir_sum(g, y, -1), &in, 1, &first));
  assert_ok(weir_gradients(g, weir_sum(g, first, -1), &in, 1, &second));
  weir_output(g, "second", second);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  assert_ok(weir_tensor_init(&x, WEIR_F64, 1, d.shape));
  assert_ok(weir_tensor_init(&made, WEIR_F64, 1, d.shape));
  fill(&x, -2, 2, 1, 9);
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &x}, {"second", &made}}, 2));
  for (int i = 0; i < N; i++) {
    const double a = ((double *)x.data)[i], t = tanh(a), u = 1 - t * t;

    /* (t e)'' = e (t + 2 u - 2 t u) */
    assert_near(((double *)made.data)[i], exp(a) * (t + 2 * u - 2 * t * u), 1e-12 * exp(a) * 4);
  }
  weir_tensor_fini(&x);
  weir_tensor_fini(&made);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* An adjoint of a sum of products says of which operator it is, and so does the adjoint of that;
 * one of a maximum says where its argmax are. */
static void adjoints_say_what_they_are_of(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 9, 4}};
  const weir_array_desc f = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 4, 5}};
  weir_graph *g = new_graph();
  const weir_value in[] = {weir_input(g, "x", &d), weir_input(g, "w", &f)};
  const weir_pool_spec pool = {.kernel_size = {2}};
  const weir_conv_spec spec = {.pad_before = {1}, .pad_after = {1}};
  const weir_value y = weir_pool_max(g, &pool, weir_conv(g, &spec, in[0], in[1]));
  weir_value by[2], again[2];
  int conv = 0, maximum = 0;

  assert_ok(weir_gradients(g, weir_sum(g, weir_square(g, y), -1), in, 2, by));
  for (int k = 0; k < 2; k++) {
    const weir_derivation *t = &weir_graph_node(g, by[k].node)->derivation;

    assert_true(t->of == &weir_op_conv && t->made == k && t->in[0] + t->in[1] == 3 - k);
    assert_true(t->dim[1].array == k && t->dim[1].dim == 1);
  }
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_derivation *t = &weir_graph_node(g, i)->derivation;

    maximum +=
        t->of == &weir_op_pool && t->made == 0 && t->in[0] == 1 && t->in[1] == WEIR_DERIVED_ARGMAX;
  }
  assert_int_equal(maximum, 1);
  const int32_t before = weir_graph_nodes(g);

  assert_ok(weir_gradients(g, weir_sum(g, weir_square(g, by[0]), -1), &in[1], 1, again));
  for (int32_t i = before; i < weir_graph_nodes(g); i++) {
    const weir_derivation *t = &weir_graph_node(g, i)->derivation;

    conv += t->of == &weir_op_conv && t->made == 2; /* by what dx is made of: the convolution */
  }
  assert_true(conv > 0);
  weir_graph_destroy(&g);
}

static void what_does_not_matter_has_gradient_0(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {3, 5}};
  float made[15] = {1};
  weir_tensor x, z = weir_tensor_wrap(made, WEIR_F32, 2, d.shape);
  weir_exec_cfg cfg;
  weir_plan *p = NULL;
  weir_graph *g = new_graph();
  weir_value wrt[2] = {weir_input(g, "x", &d), weir_input(g, "z", &d)}, grads[2];

  assert_ok(weir_gradients(g, weir_sum(g, weir_square(g, wrt[0]), -1), wrt, 2, grads));
  weir_output(g, "gz", grads[1]);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  assert_ok(weir_tensor_init(&x, WEIR_F32, 2, d.shape));
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &x}, {"z", &x}, {"gz", &z}}, 3));
  for (int i = 0; i < 15; i++) {
    assert_true(made[i] == 0);
  }
  weir_tensor_fini(&x);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* d result / d x of a reduction of three numbers. */
static void check_three(weir_monoid combine, const double *x, const double *wanted)
{
  const weir_array_desc d = {.dtype = WEIR_F64, .rank = 1, .shape = {3}};
  double from[3], made[3];
  weir_tensor in = weir_tensor_wrap(from, WEIR_F64, 1, d.shape);
  weir_tensor out = weir_tensor_wrap(made, WEIR_F64, 1, d.shape);
  weir_exec_cfg cfg;
  weir_plan *p = NULL;
  weir_graph *g = new_graph();
  const weir_value v = weir_input(g, "x", &d);
  const weir_reduce_spec spec = {.combine = combine};
  weir_value grad;

  memcpy(from, x, sizeof from);
  assert_ok(weir_gradients(g, weir_reduce(g, &spec, v), &v, 1, &grad));
  weir_output(g, "g", grad);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &in}, {"g", &out}}, 2));
  assert_memory_equal(made, wanted, sizeof made);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void zeros_of_a_product_and_equal_maxima(void **state)
{
  check_three(WEIR_COMBINE_PROD, (double[]){2, 4, 3}, (double[]){12, 6, 8});
  check_three(WEIR_COMBINE_PROD, (double[]){2, 0, 3}, (double[]){0, 6, 0});
  check_three(WEIR_COMBINE_PROD, (double[]){0, 0, 3}, (double[]){0, 0, 0});
  check_three(WEIR_COMBINE_MAX, (double[]){1, 5, 5}, (double[]){0, 1, 0});
  check_three(WEIR_COMBINE_MIN, (double[]){7, 5, 5}, (double[]){0, 1, 0});
}

/* x (tanh x + 1): the derivative by x reads tanh x + 1; x is an input, tanh is computed again. */
static void what_the_derivative_reads_is_told(void **state)
{
  const weir_array_desc line = {.dtype = WEIR_F64, .rank = 1, .shape = {100}};
  derive_saved *saved;
  weir_value grad;
  weir_graph *g;
  int32_t n;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line), y = weir_tanh(g, x);
  const weir_value loss = weir_sum(g, weir_mul(g, x, weir_add_scalar(g, y, 1)), -1);

  assert_ok(derive_find_saved(g, &saved, &n));
  assert_int_equal(n, 0);
  assert_ok(weir_gradients(g, loss, &x, 1, &grad));
  weir_output(g, "g", grad);
  assert_ok(derive_find_saved(g, &saved, &n));
  assert_int_equal(n, 2); /* y, of which its derivative is made, and y + 1 */
  assert_int_equal(saved[0].bytes, 800);
  weir_free(&saved);
  weir_graph_destroy(&g);
}

/* exp' = exp and tanh' = 1 - tanh^2 read the result: what it was made of is not kept for them. */
static void exp_and_tanh_are_derived_from_their_results(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {5}};

  for (int k = 0; k < 3; k++) {
    weir_graph *g = NULL;
    weir_value grad;

    assert_ok(weir_graph_create(&g));
    const weir_value in = weir_input(g, "x", &d), x = weir_scale(g, in, 3);
    const weir_value y = k == 0 ? weir_exp(g, x) : k == 1 ? weir_tanh(g, x) : weir_erf(g, x);
    const int32_t array = weir_value_array(g, x);

    assert_ok(weir_gradients(g, weir_sum(g, y, -1), &in, 1, &grad));
    assert_int_equal(weir_graph_readers(g, array, NULL, 0), k < 2 ? 1 : 2);
    assert_int_equal(weir_graph_readers(g, weir_value_array(g, y), NULL, 0), k < 2 ? 2 : 1);
    weir_graph_destroy(&g);
  }
}

/* sum(w cast(x)): the gradient is w, cast to the dtype in between and to that of x. */
static void the_derivative_of_a_cast_is_a_cast(void **state)
{
  static const weir_dtype pairs[][2] = {
      {WEIR_F32, WEIR_BF16}, {WEIR_BF16, WEIR_F32}, {WEIR_F64, WEIR_BF16}, {WEIR_F64, WEIR_F16}};

  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    const weir_array_desc line = {.dtype = pairs[i][0], .rank = 1, .shape = {100}};
    weir_graph *g;
    weir_value grad;

    assert_ok(weir_graph_create(&g));
    const weir_value x = weir_input(g, "x", &line);
    const weir_value y = weir_cast(g, pairs[i][1], x);
    const weir_value w = weir_input(g, "w", weir_value_desc(g, y));

    assert_ok(weir_gradients(g, weir_sum(g, weir_mul(g, w, y), -1), &x, 1, &grad));
    assert_int_equal(weir_value_desc(g, grad)->dtype, pairs[i][0]);
    const weir_access *a = &weir_graph_node(g, grad.node)->access;

    assert_int_equal(a->combine, WEIR_COMBINE_NONE);
    assert_int_equal(a->body.exprs[a->value[0]].dtype, pairs[i][0]);
    weir_graph_destroy(&g);
  }
}

/* Most reduced iterations of any node of the gradient of sum(w resize(x)). */
static int64_t tried_by_resize(int64_t from, int64_t to, weir_border border)
{
  const weir_array_desc line = {.dtype = WEIR_F64, .rank = 3, .shape = {1, from, 5}};
  const weir_resize_spec s = {.linear = true, .size = {to}, .border = {border}};
  weir_graph *g;
  weir_value grad;
  int64_t max = 0;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &line), y = weir_resize(g, &s, x);
  const weir_value w = weir_input(g, "w", weir_value_desc(g, y));
  const weir_value loss = weir_sum(g, weir_mul(g, w, y), -1);
  const int32_t before = weir_graph_nodes(g);

  assert_ok(weir_gradients(g, loss, &x, 1, &grad));
  for (int32_t i = before; i < weir_graph_nodes(g); i++) {
    const weir_access *a = &weir_graph_node(g, i)->access;
    int64_t n = 1;

    for (int k = 0; k < a->n_dims; k++) {
      n *= a->dim[k].kind == WEIR_REDUCED ? a->dim[k].hi - a->dim[k].lo : 1;
    }
    max = n > max ? n : max;
  }
  weir_graph_destroy(&g);
  return max;
}

/* By a whole number m, m elements of the result lie between two neighbours, and at an edge or the
 * seam as many again are looked at; else the numbers share what the divisor tells. */
static void an_enlargement_tries_only_rests_that_occur(void **state)
{
  for (int64_t m = 2; m < 6; m++) {
    assert_int_equal(tried_by_resize(7, 7 * m, WEIR_BORDER_NEVER), 2 * m);
    assert_int_equal(tried_by_resize(7, 7 * m, WEIR_BORDER_WRAP), 2 * m);
  }
  assert_int_equal(tried_by_resize(8, 12, WEIR_BORDER_NEVER), 2 * 3);
}

enum { ROWS = 5, COLUMNS = 7, CHANNELS = 3, WINDOWS = 2 * 3 * CHANNELS };

/* Element (2 y + t, 2 x + u, c) of [1, 5, 7, 3]. */
static int element_of(int y, int x, int t, int c)
{
  return ((2 * y + t / 2) * COLUMNS + 2 * x + t % 2) * CHANNELS + c;
}

/* d sum(w max over 2 x 2 of f(x + b)) / d x and b, f with slope 0.3 below 0: the greatest x + b of
 * a window, the first of equal ones; NaN is none. */
static void expect_maxima(const double *x, const double *b, const double *w, double *gx, double *gb)
{
  for (int o = 0; o < WINDOWS; o++) {
    const int c = o % CHANNELS, at = o / CHANNELS;
    int best = -1;

    for (int t = 0; t < 4; t++) {
      const int e = element_of(at / 3, at % 3, t, c);

      best = x[e] > (best < 0 ? -(double)INFINITY : x[best]) ? e : best;
    }
    if (best >= 0) {
      gx[best] = w[o] * (x[best] + b[c] > 0 ? 1 : 0.3);
      gb[c] += gx[best];
    }
  }
}

static int64_t max_saved(const weir_graph *g)
{
  derive_saved *saved;
  int64_t bytes = 0;
  int32_t n;

  assert_ok(derive_find_saved(g, &saved, &n));
  for (int32_t i = 0; i < n; i++) {
    bytes = saved[i].bytes > bytes ? saved[i].bytes : bytes;
  }
  weir_free(&saved);
  return bytes;
}

static void maxima_pass_what_rises(void **state)
{
  const weir_pool_spec halves = {.kernel_size = {2, 2}};
  weir_graph *g = new_graph();
  const weir_value in[3] = {GIVEN(g, "x", WEIR_F64, 1, ROWS, COLUMNS, CHANNELS),
                            GIVEN(g, "b", WEIR_F64, CHANNELS),
                            GIVEN(g, "w", WEIR_F64, 1, 2, 3, CHANNELS)};
  double x[ROWS * COLUMNS * CHANNELS], b[CHANNELS] = {-1, 0.5, 0}, w[WINDOWS];
  double gx[ROWS * COLUMNS * CHANNELS], gb[CHANNELS], wanted[ROWS * COLUMNS * CHANNELS];
  weir_tensor t[] = {weir_tensor_wrap(x, WEIR_F64, 4, (int64_t[]){1, ROWS, COLUMNS, CHANNELS}),
                     weir_tensor_wrap(b, WEIR_F64, 1, (int64_t[]){CHANNELS}),
                     weir_tensor_wrap(w, WEIR_F64, 4, (int64_t[]){1, 2, 3, CHANNELS}),
                     weir_tensor_wrap(gx, WEIR_F64, 4, (int64_t[]){1, ROWS, COLUMNS, CHANNELS}),
                     weir_tensor_wrap(gb, WEIR_F64, 1, (int64_t[]){CHANNELS})};
  const weir_value z = weir_add(g, in[0], in[1]), f = weir_max(g, z, weir_scale(g, z, 0.3));
  const weir_value loss = weir_sum(g, weir_mul(g, in[2], weir_pool_max(g, &halves, f)), -1);
  weir_value grads[2];
  weir_plan *p = NULL;
  weir_exec_cfg cfg;

  assert_ok(weir_gradients(g, loss, in, 2, grads));
  weir_output(g, "gx", grads[0]);
  weir_output(g, "gb", grads[1]);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  assert_true(max_saved(g) <= WINDOWS * (int64_t)sizeof *x);
  for (uint64_t seed = 0; seed < 20; seed++) {
    double sum[CHANNELS] = {0};

    fill(&t[0], -2, 2, 1, seed);
    fill(&t[2], 1, 2, 2, seed);
    memset(wanted, 0, sizeof wanted);
    for (int e = 0; e < ROWS * COLUMNS * CHANNELS; e++) {
      x[e] = seed % 3 == 0 ? 1 : floor(2 * x[e]) / 2; /* many are equal */
    }
    for (int tap = 0; tap < 4 && seed % 2 == 1; tap++) {
      x[element_of(1, 0, tap, 0)] = x[element_of(0, 1, tap / 2, 1)] = NAN;
    }
    expect_maxima(x, b, w, wanted, sum);
    assert_ok(weir_plan_run(
        p, (weir_binding[]){{"x", &t[0]}, {"b", &t[1]}, {"w", &t[2]}, {"gx", &t[3]}, {"gb", &t[4]}},
        5));
    for (int e = 0; e < ROWS * COLUMNS * CHANNELS; e++) {
      assert_near(gx[e], wanted[e], 1e-15);
    }
    for (int c = 0; c < CHANNELS && seed % 2 == 0; c++) { /* NaN: no window, but its w counts */
      assert_near(gb[c], sum[c], 1e-13);
    }
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* Real numbers in and out, complex ones between. */
static weir_status complex_sum(weir_scan *s)
{
  weir_scan_emit(s, weir_body_unary(&s->access->body, WEIR_CODE_REAL, scan_check_sum(s)));
  return WEIR_OK;
}

static void a_way_through_complex_numbers_is_refused(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F64, .rank = 1, .shape = {4}};
  const weir_scan_spec s = {.name = "complex sum", .define = complex_sum, .n_data = 1};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d);
  const weir_value size = weir_abs2(g, weir_make(g, x, x));
  const weir_value sums = weir_scan_at(g, &s, &x, 1, WEIR_WHERE);
  weir_value grad;

  assert_int_equal(weir_gradients(g, weir_sum(g, sums, -1), &x, 1, &grad), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "no derivative is defined for complex numbers"));

  assert_int_equal(weir_gradients(g, weir_sum(g, size, -1), &x, 1, &grad), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "no derivative is defined for complex numbers"));
  weir_graph_destroy(&g);
}

static void a_loss_is_one_float(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 4);
  weir_value grad;

  assert_int_equal(weir_gradients(g, x, &x, 1, &grad), WEIR_ERR_SHAPE);
  assert_int_equal(grad.node, -1);
  assert_refused(g, grad, "must be a scalar of a float type");
}

/* Sums with windows, monoids that read more than their results, scans. */
static weir_status derive_once(void *context)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {2, 6, 1}};
  const weir_array_desc kernel = {.dtype = WEIR_F32, .rank = 3, .shape = {3, 1, 1}};
  const weir_conv_spec conv = {
      .pad_before = {1}, .pad_after = {1}, .border = {WEIR_BORDER_REFLECT}};
  static const weir_monoid monoids[] = {WEIR_COMBINE_PROD, WEIR_COMBINE_MIN, WEIR_COMBINE_SOFTMAX};
  weir_value wrt[2], grad[2];
  weir_graph *g;

  WEIR_TRY(weir_graph_create(&g));
  wrt[0] = weir_input(g, "x", &d);
  wrt[1] = weir_input(g, "w", &kernel);
  const weir_value y = weir_conv(g, &conv, wrt[0], wrt[1]), z = weir_cumsum(g, y, 1);
  weir_value loss = weir_sum(g, weir_cast(g, WEIR_F32, z), -1);

  for (size_t k = 0; k < sizeof monoids / sizeof *monoids; k++) {
    loss = weir_add(g, loss, weir_reduce(g, &(weir_reduce_spec){.combine = monoids[k]}, y));
  }
  const weir_status built = weir_graph_status(g);
  const weir_status status = built == WEIR_OK ? weir_gradients(g, loss, wrt, 2, grad) : built;

  weir_graph_destroy(&g);
  return status;
}

static void memory_that_is_missing_is_told(void **state)
{
  assert_true(weir_check_faults(derive_once, NULL) > 200);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adjoints_say_what_they_are_of),
      cmocka_unit_test(elementwise_is_derived_twice),
      cmocka_unit_test(what_does_not_matter_has_gradient_0),
      cmocka_unit_test(zeros_of_a_product_and_equal_maxima),
      cmocka_unit_test(what_the_derivative_reads_is_told),
      cmocka_unit_test(exp_and_tanh_are_derived_from_their_results),
      cmocka_unit_test(the_derivative_of_a_cast_is_a_cast),
      cmocka_unit_test(an_enlargement_tries_only_rests_that_occur),
      cmocka_unit_test(maxima_pass_what_rises),
      cmocka_unit_test(a_way_through_complex_numbers_is_refused),
      cmocka_unit_test(a_loss_is_one_float),
      cmocka_unit_test(memory_that_is_missing_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
