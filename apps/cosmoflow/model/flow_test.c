/* flow_test.c - densities, centres and gradients of flows as graphs against zuko, the loops of
 * data/flow.c and finite differences. */
#include "model/flow.h"
#include <math.h>
#include "exec/weir_plan.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/cosmoflow/flow_reference.h"
#include "support/ops/ops_check.h"

enum { RAW, TRUTH, FIRST_PART, INPUTS = FIRST_PART + CF_FLOW_PARTS };
enum {
  LOSS = INPUTS,
  DENSITY,
  CENTRE,
  BY_RAW,
  FIRST_BY_PART,
  ARRAYS = FIRST_BY_PART + CF_FLOW_PARTS
};

static const char *const name[ARRAYS] = {
    "raw",     "truth",  "label",  "feature",  "bias",       "out",     "out_bias", "loss",
    "density", "centre", "by_raw", "by_label", "by_feature", "by_bias", "by_out",   "by_out_bias"};

/* The loss of FLOW_N samples and all its gradients. */
typedef struct trial {
  cf_flow_shape shape;
  weir_dtype dtype;
  weir_graph *g;
  weir_plan *plan;
  weir_tensor array[ARRAYS];
} trial;

static void make_tensor(trial *t, int k, int rank, int64_t rows, int64_t columns)
{
  assert_ok(weir_tensor_init(&t->array[k], t->dtype, rank, (int64_t[]){rows, columns}));
}

static void make_tensors(trial *t)
{
  const cf_flow_shape *const s = &t->shape;

  make_tensor(t, RAW, 2, FLOW_N, s->features);
  make_tensor(t, BY_RAW, 2, FLOW_N, s->features);
  make_tensor(t, TRUTH, 2, FLOW_N, s->labels);
  make_tensor(t, CENTRE, 2, FLOW_N, s->labels);
  make_tensor(t, DENSITY, 2, FLOW_N, 1);
  assert_ok(weir_tensor_init(&t->array[LOSS], t->dtype, 0, NULL));
  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    make_tensor(t, FIRST_PART + p, 2, s->transforms, cf_flow_part_count(s, (cf_flow_part)p));
    make_tensor(t, FIRST_BY_PART + p, 2, s->transforms, cf_flow_part_count(s, (cf_flow_part)p));
  }
}

static void begin(trial *t, const cf_flow_shape *shape, weir_dtype dtype)
{
  cf_flow_values f = {.shape = *shape};
  weir_value by[1 + CF_FLOW_PARTS], wrt[1 + CF_FLOW_PARTS];
  weir_exec_cfg cfg;

  *t = (trial){.shape = *shape, .dtype = dtype, .g = new_graph()};
  make_tensors(t);
  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    f.part[p] = GIVEN(t->g, name[FIRST_PART + p], dtype, shape->transforms,
                      cf_flow_part_count(shape, (cf_flow_part)p));
    wrt[1 + p] = f.part[p];
  }
  wrt[0] = GIVEN(t->g, name[RAW], dtype, FLOW_N, shape->features);
  const weir_value truth = GIVEN(t->g, name[TRUTH], dtype, FLOW_N, shape->labels);
  const weir_value density = cf_flow_graph_log_density(t->g, &f, wrt[0], truth);
  const weir_value loss = weir_loss_mean(t->g, weir_neg(t->g, density), WEIR_NO_VALUE);

  weir_output(t->g, name[CENTRE], cf_flow_graph_centre(t->g, &f, wrt[0]));
  assert_ok(weir_gradients(t->g, loss, wrt, 1 + CF_FLOW_PARTS, by));
  weir_output(t->g, name[DENSITY], density);
  weir_output(t->g, name[LOSS], loss);
  for (int k = 0; k <= CF_FLOW_PARTS; k++) {
    weir_output(t->g, name[BY_RAW + k], by[k]);
  }
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &t->plan));
}

static void put(trial *t, int k, const double *x)
{
  for (int64_t i = 0; i < weir_tensor_numel(&t->array[k]); i++) {
    weir_dtype_store_real(t->dtype, t->array[k].data, i, x[i]);
  }
}

static void fill(trial *t, flow_numbers *x)
{
  const double *at = x->weight;

  flow_numbers_make(&t->shape, x);
  put(t, RAW, x->feature);
  put(t, TRUTH, x->truth);
  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    put(t, FIRST_PART + p, at);
    at += weir_tensor_numel(&t->array[FIRST_PART + p]);
  }
}

static double at(const trial *t, int k, int64_t i)
{
  return weir_dtype_load_real(t->dtype, t->array[k].data, i);
}

static double run(trial *t)
{
  weir_binding b[ARRAYS];

  for (int k = 0; k < ARRAYS; k++) {
    b[k] = (weir_binding){name[k], &t->array[k]};
  }
  assert_ok(weir_plan_run(t->plan, b, ARRAYS));
  return at(t, LOSS, 0);
}

static void end(trial *t)
{
  for (int k = 0; k < ARRAYS; k++) {
    weir_tensor_fini(&t->array[k]);
  }
  weir_plan_destroy(&t->plan);
  weir_graph_destroy(&t->g);
}

/* Sum, sum of squares and last element of arrays [first, first + n), one after the other. */
static void assert_gradient(const trial *t, int first, int n, const double *wanted,
                            double tolerance)
{
  double sum = 0, square = 0, last = 0;

  for (int k = first; k < first + n; k++) {
    for (int64_t i = 0; i < weir_tensor_numel(&t->array[k]); i++) {
      last = at(t, k, i);
      sum += last;
      square += last * last;
    }
  }
  assert_near(sum, wanted[0], tolerance * (1 + fabs(wanted[0])));
  assert_near(square, wanted[1], tolerance * (1 + wanted[1]));
  assert_near(last, wanted[2], tolerance);
}

static void densities_and_gradients_are_those_of_zuko(void **state)
{
  for (int c = 0; c < 2 * FLOW_CASES; c++) {
    const flow_reference *const r = &flow_references[c / 2];
    const weir_dtype dtype = c % 2 == 0 ? WEIR_F64 : WEIR_F32;
    const double tolerance = dtype == WEIR_F64 ? 1e-12 : 2e-5;
    flow_numbers x;
    trial t;

    begin(&t, &r->shape, dtype);
    fill(&t, &x);
    assert_near(run(&t), -0.5 * (r->density[0] + r->density[1]), tolerance);
    for (int64_t i = 0; i < FLOW_N; i++) {
      assert_near(at(&t, DENSITY, i), r->density[i], tolerance);
    }
    for (int64_t i = 0; i < FLOW_N * r->shape.labels; i++) {
      assert_near(at(&t, CENTRE, i), r->centre[i], tolerance);
    }
    assert_gradient(&t, FIRST_BY_PART, CF_FLOW_PARTS, r->by_weights, tolerance);
    assert_gradient(&t, BY_RAW, 1, r->by_features, tolerance);
    end(&t);
  }
}

/* Central differences, error of order step^2, of all features and weights; weights that masks hide
 * have none. */
static void the_gradient_is_that_of_finite_differences(void **state)
{
  const double step = 1e-5;
  flow_numbers numbers;
  trial t;

  begin(&t, &flow_references[1].shape, WEIR_F64);
  fill(&t, &numbers);
  for (int p = 0; p <= CF_FLOW_PARTS; p++) {
    const int in = p == 0 ? RAW : FIRST_PART + p - 1;
    double *const x = t.array[in].data;

    for (int64_t i = 0; i < weir_tensor_numel(&t.array[in]); i++) {
      const double value = x[i];

      (void)run(&t);
      const double gradient = at(&t, BY_RAW + p, i);

      x[i] = value + step;
      const double above = run(&t);

      x[i] = value - step;
      assert_near(gradient, (above - run(&t)) / (2 * step), 1e-7);
      x[i] = value;
    }
  }
  end(&t);
}

/* Features and weights far from those of any training: finite loss and gradient. */
static void extreme_numbers_have_finite_losses(void **state)
{
  trial t;

  begin(&t, &flow_references[0].shape, WEIR_F32);
  for (int k = 0; k < INPUTS; k++) {
    for (int64_t i = 0; i < weir_tensor_numel(&t.array[k]); i++) {
      ((float *)t.array[k].data)[i] = i % 3 == 0 ? 80.0F : i % 3 == 1 ? -80.0F : 0.0F;
    }
  }
  assert_true(isfinite(run(&t)));
  for (int k = BY_RAW; k < ARRAYS; k++) {
    for (int64_t i = 0; i < weir_tensor_numel(&t.array[k]); i++) {
      assert_true(isfinite(at(&t, k, i)));
    }
  }
  end(&t);
}

static void other_shapes_are_refused(void **state)
{
  const cf_flow_values f = {.shape = {2, 3, 1, 4}};
  weir_graph *const g = new_graph();

  assert_refused(g,
                 cf_flow_graph_log_density(g, &f, GIVEN(g, "raw", WEIR_F32, 4, 2),
                                           GIVEN(g, "truth", WEIR_F32, 4, 2)),
                 "takes 3 features and 2 labels");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(densities_and_gradients_are_those_of_zuko),
      cmocka_unit_test(the_gradient_is_that_of_finite_differences),
      cmocka_unit_test(extreme_numbers_have_finite_losses),
      cmocka_unit_test(other_shapes_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
