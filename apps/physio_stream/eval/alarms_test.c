/* alarms_test.c - labels, results and the score of the Challenge 2015. */
#include "eval/alarms.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "io/weir_record.h"

static void labels_are_read_from_headers(void **state)
{
  ps_alarm alarm = PS_ALARMS;
  bool truth = true;
  char path[4096];
  weir_record *r = NULL;

  assert_ok(ps_alarm_label("x", "Ventricular_Tachycardia\nTrue alarm\n", &alarm, &truth));
  assert_int_equal(alarm, PS_ALARM_VENTRICULAR_TACHYCARDIA);
  assert_true(truth);
  assert_ok(ps_alarm_label("x", "age 70\n tachycardia \r\nFalse alarm", &alarm, &truth));
  assert_int_equal(alarm, PS_ALARM_TACHYCARDIA);
  assert_false(truth);
  assert_int_equal(ps_alarm_label("x", "Asystole\n", &alarm, &truth), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "true or false"));
  assert_int_equal(ps_alarm_label("x", "True alarm\n", &alarm, &truth), WEIR_ERR_DATA);
  weir_check_shared(path, sizeof path, "physio/wfdb/challenge2015/a103l");
  assert_ok(weir_record_open(path, NULL, &r));
  assert_ok(ps_alarm_label("a103l", weir_record_comments(r), &alarm, &truth));
  assert_int_equal(alarm, PS_ALARM_ASYSTOLE);
  assert_false(truth);
  weir_record_close(&r);
}

static void results_are_searched_between_two_times(void **state)
{
  char dir[256], path[320];
  bool raised = true;

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.csv", dir);
  FILE *file = fopen(path, "w");

  assert_non_null(file);
  fputs("time_s,value\n12.5,1\n290.000,1\n", file);
  (void)fclose(file);
  assert_ok(ps_alarm_raised(path, 290, 300, &raised));
  assert_true(raised);
  assert_ok(ps_alarm_raised(path, 291, 300, &raised));
  assert_false(raised);
  assert_ok(ps_alarm_raised(path, 13, 289, &raised));
  assert_false(raised);
  assert_ok(ps_alarm_raised(path, 280, 290, &raised)); /* the second from 290 s on */
  assert_false(raised);
  file = fopen(path, "w");
  assert_non_null(file);
  fputs("time_s,value\n12.5,1\nnothing\n", file);
  (void)fclose(file);
  assert_int_equal(ps_alarm_raised(path, 290, 300, &raised), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "a.csv:3"));
  (void)snprintf(path, sizeof path, "%s/b.csv", dir);
  assert_int_equal(ps_alarm_raised(path, 290, 300, &raised), WEIR_ERR_DATA);
  weir_check_rmdir(dir);
}

/* A missed alarm costs five times as much as a false one. */
static void the_score_is_that_of_the_challenge(void **state)
{
  ps_alarm_counts c = {0};

  assert_true(isnan(ps_alarm_score(&c)));
  for (int k = 0; k < 3; k++) {
    ps_alarm_count(&c, true, true);
  }
  ps_alarm_count(&c, false, false);
  ps_alarm_count(&c, false, true);
  ps_alarm_count(&c, true, false);
  assert_int_equal(c.tp, 3);
  assert_int_equal(c.tn, 1);
  assert_int_equal(c.fp, 1);
  assert_int_equal(c.fn, 1);
  assert_near(ps_alarm_score(&c), 40, 1e-12);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(labels_are_read_from_headers),
      cmocka_unit_test(results_are_searched_between_two_times),
      cmocka_unit_test(the_score_is_that_of_the_challenge),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
