/* flow_test.c - densities and inverses of flows against zuko, and against each other. */
#include "data/flow.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "support/cosmoflow/flow_reference.h"

enum { START = 64 };

/* The flow of the reference. */
static cf_flow *make(const cf_flow_shape *shape, flow_numbers *numbers)
{
  cf_flow *f = NULL;

  flow_numbers_make(shape, numbers);
  assert_ok(cf_flow_create(shape, &f));
  assert_false(cf_flow_is_finite(f));
  memcpy(f->weight, numbers->weight, (size_t)cf_flow_count(shape) * sizeof(double));
  assert_true(cf_flow_is_finite(f));
  return f;
}

static void densities_and_inverses_are_those_of_zuko(void **state)
{
  static const double zero[FLOW_LABELS];

  for (int c = 0; c < FLOW_CASES; c++) {
    const flow_reference *const r = &flow_references[c];
    const int64_t labels = r->shape.labels;
    double start[START], y[FLOW_LABELS];
    flow_numbers x;
    cf_flow *f = make(&r->shape, &x);

    for (int64_t i = 0; i < FLOW_N; i++) {
      cf_flow_start(f, x.feature + i * r->shape.features, start);
      assert_near(cf_flow_log_density(f, start, x.truth + i * labels), r->density[i], 1e-12);
      cf_flow_invert(f, start, x.z + i * labels, y);
      for (int64_t k = 0; k < labels; k++) {
        assert_near(y[k], r->inverse[i * labels + k], 1e-12);
      }
      cf_flow_invert(f, start, zero, y);
      for (int64_t k = 0; k < labels; k++) {
        assert_near(y[k], r->centre[i * labels + k], 1e-12);
      }
    }
    cf_flow_destroy(&f);
  }
}

static double determinant(double m[FLOW_LABELS][FLOW_LABELS])
{
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Draws have the density: ln q(y(z)) = ln N(z) - ln |det dy / dz|, by central differences. */
static void the_inverse_has_the_density(void **state)
{
  const flow_reference *const r = &flow_references[1];
  const double h = 1e-5;
  double start[START], y[FLOW_LABELS], lo[FLOW_LABELS], hi[FLOW_LABELS];
  double jacobian[FLOW_LABELS][FLOW_LABELS];
  flow_numbers x;
  cf_flow *f = make(&r->shape, &x);

  for (int64_t i = 0; i < FLOW_N; i++) {
    double *const z = x.z + i * FLOW_LABELS, normal = -1.5 * log(2 * acos(-1));

    cf_flow_start(f, x.feature + i * r->shape.features, start);
    for (int k = 0; k < FLOW_LABELS; k++) {
      const double at = z[k];

      normal -= 0.5 * at * at;
      z[k] = at - h;
      cf_flow_invert(f, start, z, lo);
      z[k] = at + h;
      cf_flow_invert(f, start, z, hi);
      z[k] = at;
      for (int l = 0; l < FLOW_LABELS; l++) {
        jacobian[k][l] = (hi[l] - lo[l]) / (2 * h);
      }
    }
    cf_flow_invert(f, start, z, y);
    assert_near(cf_flow_log_density(f, start, y), normal - log(fabs(determinant(jacobian))), 1e-7);
  }
  cf_flow_destroy(&f);
}

/* By the midpoint rule, of a flow with half the weights, which has no long tails. */
static void the_density_integrates_to_one(void **state)
{
  const double half = 16, step = 0.05;
  double start[START], sum = 0;
  flow_numbers x;
  cf_flow *f = make(&(cf_flow_shape){2, 3, 2, 5}, &x);

  for (int64_t i = 0; i < cf_flow_count(&f->shape); i++) {
    f->weight[i] *= 0.5;
  }
  cf_flow_start(f, x.feature, start);
  for (double a = -half + step / 2; a < half; a += step) {
    for (double b = -half + step / 2; b < half; b += step) {
      sum += step * step * exp(cf_flow_log_density(f, start, (double[]){a, b}));
    }
  }
  assert_near(sum, 1, 1e-6);
  cf_flow_destroy(&f);
}

static void other_shapes_are_refused(void **state)
{
  static const cf_flow_shape refused[] = {{1, 3, 2, 5}, {17, 3, 2, 5}, {2, 0, 2, 5},
                                          {2, 3, 0, 5}, {2, 3, 17, 5}, {2, 3, 2, 257}};
  cf_flow *f = NULL;

  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    assert_int_equal(cf_flow_create(&refused[i], &f), WEIR_ERR_SHAPE);
    assert_null(f);
  }
  cf_flow_destroy(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(densities_and_inverses_are_those_of_zuko),
      cmocka_unit_test(the_inverse_has_the_density),
      cmocka_unit_test(the_density_integrates_to_one),
      cmocka_unit_test(other_shapes_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
