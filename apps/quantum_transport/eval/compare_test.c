/* compare_test.c - errors against a plain evaluation, steps, ends. */
#include "eval/compare.h"

#include <math.h>

#include "base/weir_check.h"
#include "base/weir_random.h"

enum { N = 200 };
static double energy[2][N], t[2][N], difference[N];

static double draw(uint32_t which, int64_t i)
{
  return weir_random_uniform(5, which, 0, (uint64_t)i);
}

/* Whether an interval over which curve c jumps is within the margin of e. */
static bool is_near(const qt_compare_opts *o, int c, double shift, double factor, double e)
{
  for (int i = 1; i < N; i++) {
    if (fabs(factor * (t[c][i] - t[c][i - 1])) > o->step &&
        e >= energy[c][i - 1] + shift - o->margin && e <= energy[c][i] + shift + o->margin) {
      return true;
    }
  }
  return false;
}

static void errors_are_those_of_a_plain_evaluation(void **state)
{
  const qt_compare_opts o = {.shift = 0.03, .factor = 0.5, .margin = 0.002, .step = 0.5};
  qt_scores s;
  double sum = 0, square = 0, worst = 0;
  int64_t n = 0, near_steps = 0, outside = 0;

  for (int c = 0; c < 2; c++) {
    for (int i = 0; i < N; i++) {
      energy[c][i] = 0.01 * i + 0.004 * draw(1, 2 * i + c);
      t[c][i] = (c ? 2 : 1) * (floor(energy[c][i] / 0.3) + 0.1 * draw(2, 2 * i + c));
    }
  }
  const qt_curve a = {N, energy[0], t[0]}, b = {N, energy[1], t[1]};

  qt_compare(&o, &a, &b, difference, &s);
  for (int i = 0; i < N; i++) {
    const double e = energy[0][i], at = e - o.shift;

    if (at < energy[1][0] || at > energy[1][N - 1]) {
      outside++;
      assert_true(isnan(difference[i]));
      continue;
    }
    if (is_near(&o, 0, 0, 1, e) || is_near(&o, 1, o.shift, o.factor, e)) {
      near_steps++;
      assert_true(isnan(difference[i]));
      continue;
    }
    const double d = t[0][i] - 0.5 * qt_curve_at(&b, at);

    assert_near(difference[i], d, 1e-14);
    sum += d;
    square += d * d;
    worst = fmax(worst, fabs(d));
    n++;
  }
  assert_true(n > 100 && near_steps > 5 && outside > 2);
  assert_true(s.compared == n && s.near_steps == near_steps && s.outside == outside);
  assert_near(s.bias, sum / (double)n, 1e-14);
  assert_near(s.rmse, sqrt(square / (double)n), 1e-14);
  assert_true(s.max_error == worst && s.max_at > 0);
}

static void nothing_to_compare_has_no_errors(void **state)
{
  const qt_compare_opts o = {.factor = 1, .margin = 0, .step = 0.5};
  double one = 1, two = 2;
  const qt_curve a = {1, &one, &one}, b = {1, &two, &one};
  qt_scores s;

  qt_compare(&o, &a, &b, difference, &s);
  assert_true(s.outside == 1 && s.compared == 0 && isnan(s.mae) && isnan(s.max_error));
  qt_compare(&o, &a, &a, difference, &s);
  assert_true(s.compared == 1 && s.mae == 0 && s.max_error == 0 && s.max_at == 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_a_plain_evaluation),
      cmocka_unit_test(nothing_to_compare_has_no_errors),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
