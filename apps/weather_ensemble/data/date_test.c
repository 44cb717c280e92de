/* date_test.c - dates by hand, there and back, and texts that are none. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/date.h"

static void dates_are_days(void **state)
{
  double d = 0;

  assert_true(wx_date_parse("1970-01-01", &d) && d == 0);
  assert_true(wx_date_parse("2000-01-01", &d) && d == 10957);
  assert_true(wx_date_parse("2000-02-29T12:00", &d) && d == 11016.5);
  assert_true(wx_date_parse("1969-12-31 18:00:00", &d) && d == -0.25);
  assert_true(wx_date_parse("2000-01-01 06:00:00.0 UTC", &d) && d == 10957.25);
  assert_true(wx_date_parse("2000-01-01Z", &d) && d == 10957);
}

static void what_is_no_date_is_refused(void **state)
{
  static const char *const bad[] = {"",
                                    "2000",
                                    "2000-13-01",
                                    "2000-00-10",
                                    "2001-02-29",
                                    "1900-02-29",
                                    "2000-01-01x",
                                    "2000-01-01 24:00",
                                    "2000-01-01 10:60",
                                    "2000-01-32",
                                    "2000-1",
                                    "2000-01-01 1:2x",
                                    "2000-01-01 ",
                                    "2000-01-01 01:00:00.5",
                                    " 2000-01-01"};
  double d = 7;

  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(wx_date_parse(bad[i], &d) && printf("'%s' is taken\n", bad[i]));
  }
  assert_true(d == 7);
}

static void dates_come_back(void **state)
{
  char text[32];
  double d = 0;

  for (uint64_t i = 0; i < 2000; i++) {
    const double minutes = floor((weir_random_uniform(3, 1, 0, i) - 0.3) * 2e9);

    wx_date_text(minutes / 1440, text, sizeof text);
    if (text[0] != '-' && strlen(text) == 16) { /* years 0 to 9999 */
      assert_true(wx_date_parse(text, &d));
      assert_near(d * 1440, minutes, 1e-12);
    }
  }
}

static void units_of_time_are_read(void **state)
{
  double unit = 0, origin = 0;

  assert_true(wx_date_units("hours since 2000-01-01 00:00:00", &unit, &origin));
  assert_true(unit == 1.0 / 24 && origin == 10957);
  assert_true(wx_date_units("seconds since 1970-01-01", &unit, &origin) && origin == 0);
  assert_true(wx_date_units("Hours Since 2000-1-1 0:0:0.0 UTC", &unit, &origin));
  assert_true(unit == 1.0 / 24 && origin == 10957);
  assert_true(wx_date_units(" days  since 2000-01-01t06:00z ", &unit, &origin));
  assert_true(unit == 1 && origin == 10957.25);
  assert_true(wx_date_units("hours since 2000-01-01 06:00 +00:00", &unit, &origin));
  assert_false(wx_date_units("months since 2000-01-01", &unit, &origin));
  assert_false(wx_date_units("hours after 2000-01-01", &unit, &origin));
  assert_false(wx_date_units("hours since noon", &unit, &origin));
}

static void other_zones_are_told(void **state)
{
  static const char *const of[][2] = {{"hours since 2000-01-01 00:00 +02:00", "+02:00"},
                                      {"Hours Since 2000-1-1 0:0:0.0-6", "-6"},
                                      {"hours since 2000-01-01 00:00:00 CET", "CET"}};
  char zone[8];
  double unit = 0, origin = 0;

  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    assert_false(wx_date_units(of[i][0], &unit, &origin));
    assert_true(wx_date_zone(of[i][0], zone, sizeof zone));
    assert_true(strcmp(zone, of[i][1]) == 0);
  }
  assert_false(wx_date_zone("hours since 2000-01-01 00:00 UTC", zone, sizeof zone));
  assert_false(wx_date_zone("months since 2000-01-01 00:00 CET", zone, sizeof zone));
  assert_false(wx_date_zone("hours", zone, sizeof zone));
}

static void years_have_the_length_of_their_calendar(void **state)
{
  static const struct {
    const char *at;
    double share;
  } of[] = {{"2000-01-01", 0},           {"2000-12-31", 365.0 / 366},
            {"2001-12-31", 364.0 / 365}, {"2001-07-02 12:00", 0.5},
            {"1900-03-01", 59.0 / 365},  {"1969-01-01 06:00", 0.25 / 365},
            {"2000-07-02 00:00", 0.5}};

  for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
    double d = 0;

    assert_true(wx_date_parse(of[i].at, &d));
    assert_near(wx_date_year_share(d), of[i].share, 1e-12);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dates_are_days),
      cmocka_unit_test(what_is_no_date_is_refused),
      cmocka_unit_test(dates_come_back),
      cmocka_unit_test(units_of_time_are_read),
      cmocka_unit_test(other_zones_are_told),
      cmocka_unit_test(years_have_the_length_of_their_calendar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
