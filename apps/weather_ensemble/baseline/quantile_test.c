/* quantile_test.c - distributions that are moved onto each other, ends, ties and missing values. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "baseline/quantile.h"

enum { DATES = 400, MEMBERS = 5, CELLS = 3, ALL = DATES * MEMBERS * CELLS };

typedef struct field {
  float x[ALL], y[DATES * CELLS];
} field;

static wx_quantile_data data_of(const field *f)
{
  return (wx_quantile_data){
      .dates = DATES, .members = MEMBERS, .cells = CELLS, .forecast = f->x, .truth = f->y};
}

/* Truth is 3 + 2 x of members that are normal. */
static void draw(field *f)
{
  for (int64_t i = 0; i < ALL; i++) {
    f->x[i] = (float)weir_random_normal(1, 0, 0, (uint64_t)i);
  }
  for (int64_t i = 0; i < DATES * CELLS; i++) {
    f->y[i] = (float)(3 + 2 * weir_random_normal(1, 0, 1, (uint64_t)i));
  }
}

static void members_get_the_distribution_of_truth(void **state)
{
  static field f;
  const wx_quantile_data data = data_of(&f);
  const wx_quantile_opts o = {.levels = 100};
  wx_quantile q;
  double sum = 0, squares = 0;

  draw(&f);
  assert_ok(wx_quantile_fit(&o, &data, &q));
  wx_quantile_apply(&q, DATES * MEMBERS, f.x);
  for (int64_t i = 0; i < ALL; i += CELLS) {
    sum += (double)f.x[i];
    squares += (double)f.x[i] * (double)f.x[i];
  }
  double of_truth = 0, squares_of_truth = 0;

  for (int64_t t = 0; t < DATES; t++) {
    of_truth += (double)f.y[t * CELLS] / DATES;
    squares_of_truth += (double)(f.y[t * CELLS] * f.y[t * CELLS]) / DATES;
  }
  sum /= DATES * MEMBERS;
  squares /= DATES * MEMBERS;
  assert_near(sum, of_truth, 0.01);
  assert_near(sqrt(squares - sum * sum), sqrt(squares_of_truth - of_truth * of_truth), 0.02);
  wx_quantile_fini(&q);
}

/* What is above stays above. */
static void order_is_kept(void **state)
{
  static field f;
  const wx_quantile_data data = data_of(&f);

  draw(&f);
  for (int tails = WX_TAILS_SHIFT; tails <= WX_TAILS_LINEAR; tails++) {
    const wx_quantile_opts o = {.levels = 37, .tails = tails};
    wx_quantile q;

    assert_ok(wx_quantile_fit(&o, &data, &q));
    for (float x = -8; x < 8; x += 0.01f) {
      assert_true(wx_quantile_of(&q, 1, x + 0.01f) >= wx_quantile_of(&q, 1, x));
    }
    wx_quantile_fini(&q);
  }
}

/* 0, 1, 2, .. against 10, 12, 14, ..: levels are the values. */
static void values_and_ends_by_hand(void **state)
{
  enum { N = 20 };
  float x[N], y[N];
  const wx_quantile_data data = {.dates = N, .members = 1, .cells = 1, .forecast = x, .truth = y};

  for (int i = 0; i < N; i++) {
    x[(7 * i) % N] = (float)i;
    y[(3 * i) % N] = (float)(10 + 2 * i);
  }
  for (int tails = WX_TAILS_SHIFT; tails <= WX_TAILS_LINEAR; tails++) {
    const wx_quantile_opts o = {.levels = 1000, .tails = tails};
    const double slope = tails == WX_TAILS_LINEAR ? 2 : 1;
    wx_quantile q;

    assert_ok(wx_quantile_fit(&o, &data, &q));
    assert_int_equal(q.levels, N);
    assert_near((double)wx_quantile_of(&q, 0, 4), 18, 1e-6);
    assert_near((double)wx_quantile_of(&q, 0, 4.5f), 19, 1e-6);
    assert_near((double)wx_quantile_of(&q, 0, 19), 48, 1e-6);
    assert_near((double)wx_quantile_of(&q, 0, 22), 48 + 3 * slope, 1e-6);
    assert_near((double)wx_quantile_of(&q, 0, -5), 10 - 5 * slope, 1e-6);
    wx_quantile_fini(&q);
  }
}

static void odd_cells(void **state)
{
  enum { N = 4 };
  /* no truth; members that never change; half of them equal; no members */
  const float x[N][4] = {{1, 5, 0, NAN}, {2, 5, 0, NAN}, {3, 5, 1, NAN}, {4, 5, 2, NAN}};
  const float y[N][4] = {{NAN, 1, 1, 1}, {NAN, 2, 2, 2}, {NAN, 6, 5, 3}, {NAN, 7, 9, 4}};
  const wx_quantile_data data = {
      .dates = N, .members = 1, .cells = 4, .forecast = x[0], .truth = y[0]};
  const wx_quantile_data none = {.members = 1, .cells = 4};
  const wx_quantile_opts o = {.levels = 100};
  float members[] = {2, 5, 0, 3, NAN, 8, 1, 4};
  wx_quantile q;

  assert_ok(wx_quantile_fit(&o, &data, &q));
  wx_quantile_apply(&q, 2, members);
  assert_true(members[0] == 2 && members[3] == 3 && isnan(members[4]));
  assert_true(members[1] == 6 && members[5] == 9); /* by what the medians differ, here 1 */
  assert_near((double)members[2], 1.5, 1e-6);
  assert_near((double)members[6], 5, 1e-6);
  wx_quantile_fini(&q);
  assert_int_equal(wx_quantile_fit(&o, &none, &q), WEIR_ERR_DATA);
}

static weir_status make(void *context)
{
  static field f;
  const wx_quantile_data data = data_of(&f);
  const wx_quantile_opts o = {.levels = 10};
  wx_quantile q;

  WEIR_TRY(wx_quantile_fit(&o, &data, &q));
  wx_quantile_fini(&q);
  return WEIR_OK;
}

static void lack_of_memory_is_told(void **state)
{
  assert_true(weir_check_faults(make, NULL) >= 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_get_the_distribution_of_truth),
      cmocka_unit_test(order_is_kept),
      cmocka_unit_test(values_and_ends_by_hand),
      cmocka_unit_test(odd_cells),
      cmocka_unit_test(lack_of_memory_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
