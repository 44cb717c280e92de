/* eof_test.c - a bias that follows the state is found; left-out dates as fitted without them. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/eof.h"
#include "device/weir_parallel.h"

enum { DATES = 40, CELLS = 30, MODES = 3, ALL = DATES * CELLS };

typedef struct field {
  float mean[ALL], truth[ALL];
  double weight[CELLS];
} field;

static double pattern(int64_t k, int64_t c)
{
  return sin((double)((k + 1) * (c + 1)) * acos(-1.0) / (CELLS + 1));
}

/* Fields of MODES patterns; the error is 2, and a half of the first pattern's part, here and there.
 */
static void draw(field *f, uint64_t seed, double noise)
{
  for (int64_t t = 0; t < DATES; t++) {
    for (int64_t c = 0; c < CELLS; c++) {
      const uint64_t i = (uint64_t)(t * CELLS + c);
      double m = 100;

      for (int64_t k = 0; k < MODES; k++) {
        m += (double)(8 >> k) * pattern(k, c) *
             weir_random_normal(seed, 1, (uint32_t)k, (uint64_t)t);
      }
      f->mean[i] = (float)m;
      f->truth[i] =
          (float)(m + 2 + 0.5 * pattern(1, c) * weir_random_normal(seed, 1, 0, (uint64_t)t) +
                  noise * weir_random_normal(seed, 1, 9, i));
    }
  }
  for (int64_t c = 0; c < CELLS; c++) {
    f->weight[c] = 1 + 0.3 * cos((double)c);
  }
}

static wx_cases cases_of(const field *f)
{
  return (wx_cases){
      .rows = DATES, .columns = CELLS, .mean = f->mean, .truth = f->truth, .weight = f->weight};
}

static void error_that_follows_the_state_is_found(void **state)
{
  static field f, other;
  const wx_eof_opts o = {.count = MODES};
  float corrected[CELLS];
  double share = 0;
  wx_eof eof;

  draw(&f, 1, 0);
  draw(&other, 2, 0);
  const wx_cases c = cases_of(&f);

  assert_ok(wx_eof_fit(&o, &c, &eof, NULL));
  assert_int_equal(eof.count, MODES);
  for (int64_t k = 0; k < MODES; k++) {
    share += eof.share[k];
  }
  assert_near(share, 1, 1e-6);
  for (int64_t t = 0; t < DATES; t++) { /* dates that it has not seen */
    wx_eof_apply(&eof, f.weight, other.mean + t * CELLS, corrected);
    for (int64_t i = 0; i < CELLS; i++) {
      assert_near((double)corrected[i], (double)other.truth[t * CELLS + i], 2e-5);
    }
  }
  wx_eof_fini(&eof);
}

/* u has mean 0, variance 1 and no correlation over the dates of the fit. */
static void predictors_are_orthonormal(void **state)
{
  static field f;
  const wx_eof_opts o = {.count = 2};
  double u[DATES][2], sum[2] = {0}, product[2][2] = {{0}};
  wx_eof eof;

  draw(&f, 3, 0.3);
  const wx_cases c = cases_of(&f);

  assert_ok(wx_eof_fit(&o, &c, &eof, NULL));
  for (int64_t t = 0; t < DATES; t++) {
    for (int k = 0; k < 2; k++) {
      u[t][k] = 0;
      for (int64_t i = 0; i < CELLS; i++) {
        u[t][k] += f.weight[i] * (double)(f.mean[t * CELLS + i] - eof.mean[i]) *
                   (double)eof.pattern[k * CELLS + i];
      }
      sum[k] += u[t][k] / DATES;
    }
    for (int k = 0; k < 4; k++) {
      product[k / 2][k % 2] += u[t][k / 2] * u[t][k % 2] / DATES;
    }
  }
  for (int k = 0; k < 4; k++) {
    assert_near(product[k / 2][k % 2], k / 2 == k % 2 ? 1 : 0, 1e-5);
    assert_near(sum[k % 2], 0, 1e-5);
  }
  wx_eof_fini(&eof);
}

/* Least squares on 1 and u_k of all dates but one, by normal equations of two unknowns. */
static void left_out_is_as_fitted_without(void **state)
{
  static field f;
  static float left[ALL];
  const wx_eof_opts o = {.count = 1};
  double u[DATES];
  wx_eof eof;

  draw(&f, 4, 0.5);
  const wx_cases c = cases_of(&f);

  assert_ok(wx_eof_fit(&o, &c, &eof, left));
  for (int64_t t = 0; t < DATES; t++) {
    u[t] = 0;
    for (int64_t i = 0; i < CELLS; i++) {
      u[t] += f.weight[i] * (double)(f.mean[t * CELLS + i] - eof.mean[i]) * (double)eof.pattern[i];
    }
  }
  for (int64_t i = 0; i < CELLS; i += 7) {
    for (int64_t out = 0; out < DATES; out++) {
      double n = 0, su = 0, se = 0, suu = 0, sue = 0;

      for (int64_t t = 0; t < DATES; t++) {
        const double e = (double)f.truth[t * CELLS + i] - (double)f.mean[t * CELLS + i];

        if (t != out) {
          n++;
          su += u[t];
          se += e;
          suu += u[t] * u[t];
          sue += u[t] * e;
        }
      }
      const double slope = (n * sue - su * se) / (n * suu - su * su);
      const double want = (se - slope * su) / n + slope * u[out];

      assert_near((double)left[out * CELLS + i] - (double)f.mean[out * CELLS + i], want, 1e-3);
    }
  }
  wx_eof_fini(&eof);
}

static void missing_values_are_left_out(void **state)
{
  static field f;
  const wx_eof_opts o = {.count = 100}, none = {.count = 0};
  float corrected[CELLS];
  wx_eof eof;

  draw(&f, 5, 0);
  f.mean[3 * CELLS + 4] = NAN; /* one date */
  f.truth[6 * CELLS + 7] = NAN;
  for (int64_t t = 0; t < DATES; t++) {
    f.truth[t * CELLS + 9] = NAN;
  }
  const wx_cases c = cases_of(&f);

  assert_ok(wx_eof_fit(&o, &c, &eof, NULL));
  assert_int_equal(eof.count,
                   MODES); /* there is no more variance than in these, but for rounding */
  f.mean[2] = NAN;
  wx_eof_apply(&eof, f.weight, f.mean, corrected);
  for (int64_t i = 0; i < CELLS; i++) {
    assert_true(isfinite(corrected[i]) || i == 2);
  }
  assert_near((double)corrected[9], (double)f.mean[9], 1e-6);
  wx_eof_fini(&eof);
  assert_ok(wx_eof_fit(&none, &c, &eof, NULL)); /* the bias alone */
  wx_eof_apply(&eof, f.weight, f.mean, corrected);
  assert_near((double)(corrected[0] - f.mean[0]), 2, 0.2);
  wx_eof_fini(&eof);
  const wx_cases few = {.rows = 3, .columns = CELLS, .mean = f.mean, .truth = f.truth};

  assert_int_equal(wx_eof_fit(&o, &few, &eof, NULL), WEIR_ERR_DATA);
}

static weir_status make(void *context)
{
  static field f;
  const wx_eof_opts o = {.count = 2};
  wx_eof eof;

  draw(&f, 6, 0.2);
  const wx_cases c = cases_of(&f);

  WEIR_TRY(wx_eof_fit(&o, &c, &eof, NULL));
  wx_eof_fini(&eof);
  return WEIR_OK;
}

static void lack_of_memory_is_told(void **state)
{
  assert_true(weir_check_faults(make, NULL) >= 10);
}

static void bits_do_not_depend_on_threads(void **state)
{
  static field f;
  const wx_eof_opts o = {.count = 5};
  const int threads = weir_threads_get();
  wx_eof eof[2];

  draw(&f, 7, 1);
  const wx_cases c = cases_of(&f);

  for (int k = 0; k < 2; k++) {
    weir_threads_set(1 + k);
    assert_ok(wx_eof_fit(&o, &c, &eof[k], NULL));
  }
  weir_threads_set(threads);
  assert_memory_equal(eof[0].slope, eof[1].slope, sizeof(float) * 6 * CELLS);
  assert_memory_equal(eof[0].pattern, eof[1].pattern, sizeof(float) * 5 * CELLS);
  for (int k = 0; k < 2; k++) {
    wx_eof_fini(&eof[k]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_that_follows_the_state_is_found),
      cmocka_unit_test(predictors_are_orthonormal),
      cmocka_unit_test(left_out_is_as_fitted_without),
      cmocka_unit_test(missing_values_are_left_out),
      cmocka_unit_test(lack_of_memory_is_told),
      cmocka_unit_test(bits_do_not_depend_on_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
