/* derive_test.c - gradients of every operator against central differences, in f64. */
#include "pass/derive/weir_derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"

enum { MOST_IN = WEIR_MAX_OPERANDS, PROBES = 8, CASES = 120 };

/* A graph of one operator, its loss a weighted sum of all that it makes. */
typedef struct subject {
  weir_op_case c;
  weir_graph *g;
  weir_value in[MOST_IN], loss, grad[MOST_IN], wrt[MOST_IN];
  int which[MOST_IN], n_wrt; /* inputs that are floats */
  int n_weights;
  weir_tensor tensor[MOST_IN + WEIR_MAX_OUTPUTS], made[MOST_IN], value;
  weir_plan *plan;
} subject;

static const char *name_of(char prefix, int k)
{
  static const char *const names[] = {"x0", "x1", "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
                                      "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15"};
  static const char *const weights[] = {"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
  static const char *const grads[] = {"g0", "g1", "g2",  "g3",  "g4",  "g5",  "g6",  "g7",
                                      "g8", "g9", "g10", "g11", "g12", "g13", "g14", "g15"};

  return prefix == 'x' ? names[k] : prefix == 'w' ? weights[k] : grads[k];
}

/* f64 where the case has another float, so that differences tell something. */
static bool make_inputs(subject *s, const weir_op_desc *op, uint64_t seed)
{
  if (op->sample == NULL || op->sample(seed, &s->c) != WEIR_OK) {
    return false;
  }
  s->n_wrt = 0;
  for (int k = 0; k < s->c.n_in; k++) {
    weir_array_desc *d = &s->c.in[k];

    if (d->time > 0) {
      return false;
    }
    s->in[k] = weir_input(s->g, name_of('x', k), d);
    if (d->dtype == WEIR_F64) {
      s->wrt[s->n_wrt] = s->in[k];
      s->which[s->n_wrt++] = k;
    } else if (weir_dtype_is_float(d->dtype)) {
      return false;
    }
  }
  return s->n_wrt > 0;
}

/* sum_o sum(w_o y_o), of the outputs that are floats. */
static bool make_loss(subject *s, const weir_op_desc *op)
{
  const weir_value y =
      weir_graph_add(s->g, op, s->c.spec.bytes, s->in, s->c.n_in, "derive_test.c:1");

  if (y.node < 0) {
    return false;
  }
  s->n_weights = 0;
  s->loss = weir_scalar(s->g, WEIR_F64, 0);
  for (int o = 0; o < weir_graph_node(s->g, y.node)->n_out; o++) {
    const weir_value v = {y.node, o};
    const weir_array_desc d = *weir_value_desc(s->g, v);

    if (d.dtype == WEIR_F64 && d.time == 0) {
      const weir_value w = weir_input(s->g, name_of('w', s->n_weights++), &d);

      s->loss = weir_add(s->g, s->loss, weir_sum(s->g, weir_mul(s->g, v, w), -1));
    }
  }
  return s->n_weights > 0;
}

static void fill(weir_tensor *t, double lo, double hi, uint32_t purpose, uint64_t seed)
{
  for (int64_t i = 0; i < weir_tensor_count(t); i++) {
    const double x = lo + (hi - lo) * weir_random_uniform(seed, purpose, 0, (uint64_t)i);

    if (weir_dtype_is_float(t->dtype)) {
      weir_dtype_store_real(t->dtype, t->data, i, x);
    } else {
      weir_dtype_store_int(t->dtype, t->data, i, (int64_t)floor(x + 0.5));
    }
  }
}

static int bind(subject *s, weir_binding *b)
{
  int n = 0;

  for (int k = 0; k < s->c.n_in; k++) {
    b[n++] = (weir_binding){name_of('x', k), &s->tensor[k]};
  }
  for (int k = 0; k < s->n_weights; k++) {
    b[n++] = (weir_binding){name_of('w', k), &s->tensor[MOST_IN + k]};
  }
  for (int k = 0; k < s->n_wrt; k++) {
    b[n++] = (weir_binding){name_of('g', k), &s->made[k]};
  }
  b[n++] = (weir_binding){"loss", &s->value};
  return n;
}

static void run(subject *s)
{
  weir_binding b[2 * MOST_IN + WEIR_MAX_OUTPUTS + 1];
  const int n = bind(s, b);

  assert_ok(weir_plan_run(s->plan, b, n));
}

static void make_plan(subject *s, uint64_t seed)
{
  weir_exec_cfg cfg;

  weir_output(s->g, "loss", s->loss);
  for (int k = 0; k < s->n_wrt; k++) {
    /* A gradient may be an array that has a name already: a copy has none. */
    weir_output(s->g, name_of('g', k), weir_scale(s->g, s->grad[k], 1));
  }
  assert_ok(weir_graph_status(s->g));
  assert_ok(weir_graph_validate(s->g));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = 2;
  assert_ok(weir_plan_create(s->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &s->plan));
  for (int k = 0; k < s->c.n_in; k++) {
    const weir_array_desc *d = &s->c.in[k];

    assert_ok(weir_tensor_init(&s->tensor[k], d->dtype, d->rank, d->shape));
    fill(&s->tensor[k], s->c.lo[k], s->c.hi[k], 10 + (uint32_t)k, seed);
  }
  for (int k = 0; k < s->n_wrt; k++) {
    const weir_array_desc *d = &s->c.in[s->which[k]];

    assert_ok(weir_tensor_init(&s->made[k], d->dtype, d->rank, d->shape));
  }
  assert_ok(weir_tensor_init(&s->value, WEIR_F64, 0, NULL));
}

static void make_weights(subject *s, uint64_t seed)
{
  for (int32_t i = 0; i < weir_graph_nodes(s->g); i++) {
    const weir_node *node = weir_graph_node(s->g, i);
    const weir_array *a = weir_graph_get_array(s->g, node->out[0]);

    for (int k = 0; node->op == NULL && a->name != NULL && k < s->n_weights; k++) {
      if (strcmp(a->name, name_of('w', k)) == 0) {
        assert_ok(weir_tensor_init(&s->tensor[MOST_IN + k], WEIR_F64, a->desc.rank, a->desc.shape));
        fill(&s->tensor[MOST_IN + k], -1, 1, 40 + (uint32_t)k, seed);
      }
    }
  }
}

static double loss_at(subject *s, double *x, double value)
{
  const double kept = *x;

  *x = value;
  run(s);
  *x = kept;
  return *(const double *)s->value.data;
}

/* Central differences of two steps, extrapolated. */
static void probe(subject *s, const char *op, uint64_t seed)
{
  run(s);
  if (!isfinite(*(const double *)s->value.data)) {
    return; /* the maximum of nothing: no difference tells anything */
  }
  for (int k = 0; k < s->n_wrt; k++) {
    weir_tensor *t = &s->tensor[s->which[k]];
    const int64_t n = weir_tensor_count(t);

    for (int i = 0; i < PROBES && n > 0; i++) {
      const int64_t at =
          (int64_t)(weir_random_bits(seed, 70 + (uint32_t)k, 0, (uint64_t)i) % (uint64_t)n);
      double *x = (double *)t->data + at;
      const double h = 1e-4;
      const double wide = (loss_at(s, x, *x + 2 * h) - loss_at(s, x, *x - 2 * h)) / (4 * h);
      const double close = (loss_at(s, x, *x + h) - loss_at(s, x, *x - h)) / (2 * h);
      const double wanted = close + (close - wide) / 3;

      run(s);
      const double got = ((const double *)s->made[k].data)[at];

      if (!(fabs(got - wanted) <= 1e-6 * (1 + fabs(wanted)))) {
        fprintf(stderr, "%s, case %llu: d/dx%d[%lld] is %.12g, differences give %.12g\n", op,
                (unsigned long long)seed, s->which[k], (long long)at, got, wanted);
        fail();
      }
    }
  }
}

static void free_subject(subject *s)
{
  for (int k = 0; k < MOST_IN + WEIR_MAX_OUTPUTS; k++) {
    weir_tensor_fini(&s->tensor[k]);
  }
  for (int k = 0; k < MOST_IN; k++) {
    weir_tensor_fini(&s->made[k]);
  }
  weir_tensor_fini(&s->value);
  weir_plan_destroy(&s->plan);
  weir_graph_destroy(&s->g);
}

/* Returns whether the case was one to check; refusals are counted. */
static bool check_case(const weir_op_desc *op, uint64_t seed, int *refused)
{
  subject *s = calloc(1, sizeof *s);
  bool done = false;

  assert_non_null(s);
  assert_ok(weir_graph_create(&s->g));
  if (make_inputs(s, op, seed) && make_loss(s, op)) {
    make_weights(s, seed);
    const weir_status status = weir_derive(s->g, s->loss, s->wrt, s->n_wrt, s->grad);

    if (status == WEIR_ERR_UNSUPPORTED) {
      assert_non_null(strstr(weir_last_message(), op->name));
      assert_non_null(strstr(weir_last_message(), "derive_test.c:1"));
      ++*refused;
    } else {
      assert_ok(status);
      make_plan(s, seed);
      probe(s, op->name, seed);
      done = true;
    }
  }
  free_subject(s);
  free(s);
  return done;
}

static bool is_among(const char *name, const char *const *names, int n)
{
  bool yes = false;

  for (int i = 0; i < n; i++) {
    yes = yes || strcmp(name, names[i]) == 0;
  }
  return yes;
}

static const char *only; /* operator that is checked alone */

static void every_operator_against_differences(void **state)
{
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    int checked = 0, refused = 0;

    if (only != NULL && strcmp(only, weir_op_table[i]->name) != 0) {
      continue;
    }

    for (uint64_t seed = 1; seed <= CASES; seed++) {
      checked += check_case(weir_op_table[i], seed, &refused);
    }
    /* These have no rule yet. */
    static const char *const without[] = {"call", "random"};

    if (!is_among(weir_op_table[i]->name, without, 2)) {
      assert_true(checked > 0);
      assert_int_equal(refused, 0);
    }
    print_message("%-12s %3d cases checked, %3d refused\n", weir_op_table[i]->name, checked,
                  refused);
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

  assert_ok(weir_derive(g, weir_sum(g, y, -1), &in, 1, &first));
  assert_ok(weir_derive(g, weir_sum(g, first, -1), &in, 1, &second));
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

static void what_does_not_matter_has_gradient_0(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {3, 5}};
  float made[15] = {1};
  weir_tensor x, z = weir_tensor_wrap(made, WEIR_F32, 2, d.shape);
  weir_exec_cfg cfg;
  weir_plan *p = NULL;
  weir_graph *g = new_graph();
  weir_value wrt[2] = {weir_input(g, "x", &d), weir_input(g, "z", &d)}, grads[2];

  assert_ok(weir_derive(g, weir_sum(g, weir_square(g, wrt[0]), -1), wrt, 2, grads));
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
  assert_ok(weir_derive(g, weir_reduce(g, &spec, v), &v, 1, &grad));
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

static void a_loss_is_one_float(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 4);
  weir_value grad;

  assert_int_equal(weir_derive(g, x, &x, 1, &grad), WEIR_ERR_SHAPE);
  assert_int_equal(grad.node, -1);
  assert_refused(g, grad, "no float of rank 0");
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operator_against_differences),
      cmocka_unit_test(elementwise_is_derived_twice),
      cmocka_unit_test(what_does_not_matter_has_gradient_0),
      cmocka_unit_test(zeros_of_a_product_and_equal_maxima),
      cmocka_unit_test(a_loss_is_one_float),
  };

  only = argc > 1 ? argv[1] : NULL;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
