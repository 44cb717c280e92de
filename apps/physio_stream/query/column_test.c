/* column_test.c - what a column keeps is what it was given, however it came. */
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "query/column.h"

enum { SLOTS = 30000 };

static const weir_query_column what = {.name = "x", .part = "x", .rate_num = 250, .rate_den = 1};

/* Hands [0, SLOTS) over in pieces as the seed says; pieces without a value are skipped at times. */
static void give(ps_column *c, const float *x, uint64_t seed)
{
  for (int64_t lo = 0, k = 0, hi; lo < SLOTS; lo = hi, k++) {
    const weir_view view = {.data = (void *)(uintptr_t)x,
                            .dtype = WEIR_F32,
                            .rank = 1,
                            .stride = {1},
                            .extent = {SLOTS}};
    bool empty = true;

    hi = lo + (int64_t)(weir_random_bits(seed, 1, 0, (uint64_t)k) % 9000);
    hi = hi < SLOTS ? hi : SLOTS;
    for (int64_t t = lo; t < hi; t++) {
      empty = empty && isnan(x[t]);
    }
    if (!empty || hi == SLOTS) {
      assert_ok(ps_column_take(c, &view, lo, hi, hi == SLOTS));
    }
  }
}

static void check(const ps_column *c, const float *x)
{
  static ps_column_reader r;
  int64_t present = 0;
  double sum = 0;

  assert_ok(ps_column_open(c, &r));
  for (int64_t t = 0; t < SLOTS; t++) {
    if (!isnan(x[t])) {
      assert_true(r.slot == t && r.value == x[t]);
      assert_true(c->min <= (double)x[t] && c->max >= (double)x[t]);
      assert_ok(ps_column_next(&r));
      present++;
      sum += (double)x[t];
    }
  }
  assert_true(r.slot == INT64_MAX);
  assert_true(c->present == present && c->slots == SLOTS && c->sum == sum);
}

static void check_strip(const ps_column *c, const float *x)
{
  assert_true(c->strip.lo == c->first && c->strip.hi == c->first + 500);
  for (int64_t t = c->strip.lo; t < c->strip.hi && t < SLOTS; t++) {
    const double drawn = c->strip.value[t - c->strip.lo];

    assert_true(isnan(x[t]) ? isnan(drawn) : drawn == (double)x[t]);
  }
}

static void all_that_came_is_read_back(void **state)
{
  static float x[SLOTS];

  for (uint64_t seed = 0; seed < 12; seed++) {
    const double share = (double)(seed % 4) / 3; /* 0: nothing is present, 1: everything */
    const uint64_t stretch = seed % 2 == 0 ? 1 : 700;
    ps_column c;

    for (int64_t t = 0; t < SLOTS; t++) {
      const double u = weir_random_uniform(seed, 2, 0, (uint64_t)t / stretch);

      x[t] = u < share ? (float)t - 1000 : NAN;
    }
    assert_ok(ps_column_init(&what, 0, 2, &c));
    give(&c, x, seed);
    check(&c, x);
    check(&c, x); /* as often as it is wanted */
    if (c.first >= 0) {
      check_strip(&c, x);
    }
    ps_column_fini(&c);
  }
}

static void a_strip_may_have_its_start(void **state)
{
  static float x[SLOTS];
  ps_column c;

  for (int64_t t = 0; t < SLOTS; t++) {
    x[t] = (float)t;
  }
  assert_ok(ps_column_init(&what, 10, 1, &c));
  give(&c, x, 3);
  assert_true(c.strip.lo == 2500 && c.strip.hi == 2750 && c.strip.value[0] == 2500);
  assert_true(ps_column_time(&c, 2500) == 10);
  ps_column_fini(&c);
}

static void infinities_and_undefined_slots_are_counted(void **state)
{
  static float x[SLOTS];
  static uint8_t undefined[SLOTS];
  const weir_view view = {
      .data = undefined, .dtype = WEIR_BOOL, .rank = 1, .stride = {1}, .extent = {SLOTS}};
  ps_column c;

  for (int64_t t = 0; t < SLOTS; t++) {
    x[t] = t == 700 || t == 29999 ? INFINITY : t == 800 ? -INFINITY : t < 600 ? NAN : 1.0f;
    undefined[t] = t >= 100 && t < 160;
  }
  assert_ok(ps_column_init(&what, 0, 0, &c));
  give(&c, x, 5);
  assert_ok(ps_column_take_undefined(&c, &view, 0, 120, false));
  assert_ok(
      ps_column_take_undefined(&c, &view, 150, SLOTS, true)); /* what lies between is skipped */
  assert_true(c.infinite.n == 3 && c.infinite.first == 700);
  assert_true(c.undefined.n == 30 && c.undefined.first == 100);
  ps_column_fini(&c);
}

/* A slow column is a trend: the whole of it is drawn. */
static void a_trend_is_drawn_whole(void **state)
{
  const weir_query_column slow = {.name = "hr", .rate_num = 1, .rate_den = 10};
  ps_column c;

  (void)state;
  assert_ok(ps_column_init(&slow, 0, 10, &c));
  assert_int_equal(c.strip.hi - c.strip.lo, PS_COLUMN_STRIP);
  ps_column_fini(&c);
  assert_ok(ps_column_init(&slow, 50, 20, &c));
  assert_int_equal(c.strip.hi - c.strip.lo, 2);
  ps_column_fini(&c);
}

/* A value each second of 120 at 250 Hz is drawn to its end; of a signal with gaps, and with a
 * stated start, the strip. */
static void events_are_drawn_whole(void **state)
{
  static float x[SLOTS];
  ps_column_drawn d;
  ps_column c;

  for (int64_t t = 0; t < SLOTS; t++) {
    x[t] = t % 250 == 40 ? (float)t : NAN;
  }
  for (int start = 0; start < 2; start++) {
    assert_ok(ps_column_init(&what, start, 10, &c));
    give(&c, x, 3);
    assert_ok(ps_column_draw(&c, &d));
    assert_true(d.points);
    assert_int_equal(d.n, start ? 2500 : SLOTS / 250);
    for (int64_t i = 0; start == 0 && i < d.n; i++) {
      assert_true(d.value[i] == (double)(250 * i + 40) && d.time[i] == d.value[i] / 250);
    }
    ps_column_drawn_fini(&d);
    ps_column_fini(&c);
  }
  for (int64_t t = 0; t < SLOTS; t++) {
    x[t] = t < SLOTS / 5 ? (float)t : NAN;
  }
  assert_ok(ps_column_init(&what, 0, 10, &c));
  give(&c, x, 4);
  assert_ok(ps_column_draw(&c, &d));
  assert_int_equal(d.n, 2500);
  assert_true(d.time[2499] == 2499.0 / 250 && d.value[2499] == 2499);
  ps_column_drawn_fini(&d);
  ps_column_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_that_came_is_read_back),
      cmocka_unit_test(a_strip_may_have_its_start),
      cmocka_unit_test(a_trend_is_drawn_whole),
      cmocka_unit_test(events_are_drawn_whole),
      cmocka_unit_test(infinities_and_undefined_slots_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
