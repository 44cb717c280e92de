/* timeline_test.c - the usual interval, what it misses, and months. */
#include "data/archive/timeline.h"
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/date.h"

enum { HOUR = 3600, DAY = 86400, MAX = 400 };

static const int64_t whole[MAX];

static void one_time_has_no_interval(void **state)
{
  const int64_t time = 7 * DAY;
  wx_timeline t;

  (void)state;
  assert_ok(wx_timeline_create(&time, 1, whole, &t));
  assert_true(t.step == 0 && t.n_intervals == 0 && t.missing == 0 && t.n_runs == 1);
  assert_true(t.run[0].is == WX_COMPLETE && t.run[0].first == time && t.run[0].n == 1);
  wx_timeline_fini(&t);
}

static void gaps_and_incomplete_times_are_runs(void **state)
{
  const int64_t times[] = {0, DAY, 2 * DAY, 5 * DAY, 6 * DAY}, absent[] = {0, 0, 0, 3, 0};
  wx_timeline t;
  char text[32];

  (void)state;
  assert_ok(wx_timeline_create(times, 5, absent, &t));
  assert_true(!t.months && t.step == DAY && t.missing == 2 && t.n_runs == 4);
  assert_true(t.run[0].is == WX_COMPLETE && t.run[0].n == 3 && t.run[0].last == 2 * DAY);
  assert_true(t.run[1].is == WX_MISSING && t.run[1].n == 2 && t.run[1].first == 3 * DAY &&
              t.run[1].last == 4 * DAY);
  assert_true(t.run[2].is == WX_INCOMPLETE && t.run[2].n == 1 && t.run[2].absent == 3);
  assert_true(t.run[3].is == WX_COMPLETE && t.run[3].first == 6 * DAY);
  assert_true(t.n_intervals == 2 && t.interval[0].count == 3 && t.interval[1].length == 3 * DAY);
  wx_timeline_interval_text(&t, t.step, text, sizeof text);
  assert_string_equal(text, "1 d");
  wx_timeline_interval_text(&t, 6 * HOUR, text, sizeof text);
  assert_string_equal(text, "6 h");
  wx_timeline_fini(&t);
}

/* Mondays and Thursdays: no interval of the two lacks a time. */
static void irregular_intervals_lack_no_time(void **state)
{
  int64_t times[20];
  wx_timeline t;

  (void)state;
  for (int i = 0; i < 20; i++) {
    times[i] = (i / 2 * 7 + i % 2 * 3) * (int64_t)DAY;
  }
  assert_ok(wx_timeline_create(times, 20, whole, &t));
  assert_true(t.step == 3 * DAY && t.missing == 0 && t.n_intervals == 2 && t.n_runs == 1);
  assert_true(t.interval[0].count == 10 && t.interval[1].count == 9);
  wx_timeline_fini(&t);
}

static void months_are_no_number_of_days(void **state)
{
  int64_t times[30];
  double day = 0;
  int n = 0;
  wx_timeline t;
  char text[32];

  (void)state;
  assert_true(wx_date_parse("1999-11-01 12:00", &day));
  for (int m = 0; m < 26; m++) {
    if (m != 4 && m != 5) { /* March and April 2000 */
      times[n++] = wx_date_add_months((int64_t)(day * DAY), m);
    }
  }
  assert_ok(wx_timeline_create(times, n, whole, &t));
  assert_true(t.months && t.step == 1 && t.missing == 2 && t.n_runs == 3 && t.run[1].n == 2);
  wx_date_text((double)t.run[1].first / DAY, text, sizeof text);
  assert_string_equal(text, "2000-03-01 12:00");
  wx_date_text((double)t.run[1].last / DAY, text, sizeof text);
  assert_string_equal(text, "2000-04-01 12:00");
  wx_timeline_interval_text(&t, 1, text, sizeof text);
  assert_string_equal(text, "1 month");
  wx_timeline_fini(&t);
}

/* Whichever times of a regular series are left out, they are those that are missing. */
static void what_is_left_out_is_missing(void **state)
{
  (void)state;
  for (uint32_t pass = 0; pass < 200; pass++) {
    int64_t times[MAX], left[MAX], n = 0, n_left = 0, at = 0;
    const int64_t step = HOUR * (1 + (int64_t)(8 * weir_random_uniform(3, 0, pass, MAX)));
    wx_timeline t;

    for (int64_t i = 0; i < 120; i++) {
      const bool is = i == 0 || i == 119 || weir_random_uniform(3, 0, pass, (uint64_t)i) > 0.2;

      *(is ? &times[n++] : &left[n_left++]) = -1000000 + i * step;
    }
    assert_ok(wx_timeline_create(times, n, whole, &t));
    assert_true(t.step == step && t.missing == n_left);
    for (int64_t i = 0; i < t.n_runs; i++) {
      for (int64_t k = 0; t.run[i].is == WX_MISSING && k < t.run[i].n; k++) {
        assert_true(t.run[i].first + k * step == left[at++]);
      }
    }
    assert_true(at == n_left);
    wx_timeline_fini(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_time_has_no_interval),
      cmocka_unit_test(gaps_and_incomplete_times_are_runs),
      cmocka_unit_test(irregular_intervals_lack_no_time),
      cmocka_unit_test(months_are_no_number_of_days),
      cmocka_unit_test(what_is_left_out_is_missing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
