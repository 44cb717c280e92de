/* units.c - the units of signals: converted within a quantity, refused across, stated where
 * missing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "program.h"

/* The record `rec` again as NAME, its header with another gain and unit. */
static void with_unit(const char *name, const char *gain_and_unit)
{
  char command[6 * PATH];

  (void)snprintf(command, sizeof command,
                 "mkdir %s && sed 's|^\\(ecgsyn.dat [^ ]* \\)[^ ]*|\\1%s|' %s > %s && cp %s %s",
                 in_scratch("%s", name), gain_and_unit, in_scratch("rec/ecgsyn.hea"),
                 in_scratch("%s/ecgsyn.hea", name), in_scratch("rec/ecgsyn.dat"),
                 in_scratch("%s", name));
  assert_int_equal(system(command), 0);
}

/* A minute with a gain of GAIN steps a mV, and the same signal in other units. */
static void make_records(void)
{
  char gain[64] = "", head[PATH];
  char *text = NULL;

  assert_int_equal(program("prepare --set ecgsyn.duration=60 --out %s", in_scratch("rec")), 0);
  text = contents(in_scratch("rec/ecgsyn.hea"));
  assert_int_equal(sscanf(strstr(text, "ecgsyn.dat"), "ecgsyn.dat %*s %63s", gain), 1);
  free(text);
  const double steps = atof(gain);

  assert_true(steps > 0);
  (void)snprintf(head, sizeof head, "%.9g(0)/uV", steps / 1000);
  with_unit("uv", head);
  (void)snprintf(head, sizeof head, "%.9g(0)/mmHg", steps);
  with_unit("mmhg", head);
  (void)snprintf(head, sizeof head, "%.9g(0)/NU", steps);
  with_unit("nu", head);
  (void)snprintf(head, sizeof head, "%.9g(0)/mv", steps);
  with_unit("lower", head);
  (void)snprintf(head, sizeof head, "%.9g(0)/MV", steps);
  with_unit("mega", head);
}

static void voltages_are_converted_for_beats(void **state)
{
  (void)state;
  make_records();
  assert_int_equal(program("run --input %s --out %s", in_scratch("rec/ecgsyn"), in_scratch("a")),
                   0);
  assert_int_equal(program("run --input %s --out %s", in_scratch("uv/ecgsyn"), in_scratch("b")), 0);
  assert_non_null(strstr(printed(), "signal ECG of ecgsyn is converted from uV to mV"));
  assert_true(same_contents(in_scratch("a/beats.csv"), in_scratch("b/beats.csv")));
}

static void another_quantity_is_refused(void **state)
{
  (void)state;
  make_records();
  assert_int_equal(program("run --input %s --out %s", in_scratch("mmhg/ecgsyn"), in_scratch("a")),
                   2);
  assert_non_null(
      strstr(printed(), "signal ECG of ecgsyn is in mmHg, and mV is asked for, a unit of another"));
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("run --input %s --set input.unit=mV --out %s", in_scratch("mmhg/ecgsyn"),
                           in_scratch("b")),
                   2);
}

/* Lower case has one meaning; MV are megavolts by the letters, and millivolts by sense. */
static void millivolts_in_other_letters_are_understood_or_refused(void **state)
{
  (void)state;
  make_records();
  assert_int_equal(program("run --input %s --out %s", in_scratch("rec/ecgsyn"), in_scratch("a")),
                   0);
  assert_int_equal(program("run --input %s --out %s", in_scratch("lower/ecgsyn"), in_scratch("b")),
                   0);
  assert_null(strstr(printed(), "not in mV"));
  assert_true(same_contents(in_scratch("a/beats.csv"), in_scratch("b/beats.csv")));
  assert_int_equal(program("run --input %s --out %s", in_scratch("mega/ecgsyn"), in_scratch("c")),
                   2);
  assert_non_null(strstr(printed(), "signal ECG of ecgsyn is in MV, and mV is asked for"));
  assert_non_null(strstr(printed(), "(mV: millivolts, MV: mega)"));
  assert_true(only_log(in_scratch("c")));
}

static void a_missing_unit_is_warned_of_or_stated(void **state)
{
  (void)state;
  make_records();
  assert_int_equal(program("run --input %s --out %s", in_scratch("nu/ecgsyn"), in_scratch("a")), 0);
  assert_non_null(strstr(printed(), "signal ECG of ecgsyn states no unit (NU)"));
  assert_int_equal(program("run --input %s --set input.unit=mV --out %s", in_scratch("nu/ecgsyn"),
                           in_scratch("b")),
                   0);
  assert_null(strstr(printed(), "states no unit"));
  assert_int_equal(program("run --input %s --set input.unit=uV --out %s", in_scratch("nu/ecgsyn"),
                           in_scratch("c")),
                   0); /* a thousandth of the size */
  assert_non_null(strstr(printed(), "is converted from uV to mV"));
}

#ifdef HAVE_CONFIG_FILES
/* The second number of the first row below the head. */
static double first_value(const char *path)
{
  char *text = contents(path);
  double value = NAN;

  assert_int_equal(sscanf(strchr(text, '\n') + 1, "%*[^,],%lf", &value), 1);
  free(text);
  return value;
}

static int query(const char *record, const char *stream, const char *steps, const char *output)
{
  char text[2048];
  const int n = snprintf(text, sizeof text,
                         "input: {record: %s}\nquery:\n  streams: [{name: ecg, signal: ECG%s}]\n"
                         "  steps:\n    - %s\n  outputs: [{stream: %s, format: csv}]\n",
                         record, stream, steps, output);

  assert_true(n > 0 && n < (int)sizeof text);
  weir_check_write(in_scratch("q.yaml"), text, (size_t)n);
  return program("run --overwrite --config %s --out %s", in_scratch("q.yaml"), in_scratch("q"));
}

static void streams_of_a_query_have_the_unit_asked_for(void **state)
{
  static const char *const same = "{name: y, from: [ecg], do: {select: {value: ecg}}}";
  const char *mv, *uv, *mmhg, *nu;

  (void)state;
  make_records();
  mv = in_scratch("rec/ecgsyn");
  uv = in_scratch("uv/ecgsyn");
  mmhg = in_scratch("mmhg/ecgsyn");
  nu = in_scratch("nu/ecgsyn");
  assert_int_equal(query(mv, "", same, "y"), 0);
  const double x = first_value(in_scratch("q/y.csv"));

  assert_true(x != 0);
  assert_int_equal(query(mv, ", unit: uV", same, "y"), 0);
  assert_near(first_value(in_scratch("q/y.csv")), 1000 * x, 1e-5 * fabs(1000 * x));
  assert_int_equal(query(uv, ", unit: mV", same, "y"), 0);
  assert_near(first_value(in_scratch("q/y.csv")), x, 1e-5 * fabs(x));
  assert_int_equal(query(mmhg, ", unit: mV", same, "y"), 2);
  assert_non_null(strstr(printed(), "is in mmHg, and mV is asked for"));
  assert_int_equal(
      query(mmhg, "", "{name: y, from: [ecg], do: {select: {value: ecg, unit: mV}}}", "y"), 2);
  assert_non_null(strstr(printed(), "ecg is in mmHg and cannot be converted to mV"));
  assert_int_equal(
      query(mmhg, "",
            "{name: y, from: [ecg], do: {select: {value: 'ecg / 1 [mmHg] * 1 [mV]', unit: mV}}}",
            "y"),
      0);
  /* A step that needs a unit takes none on trust. */
  assert_int_equal(query(nu, "", "{name: y, from: [ecg], do: detect}", "y.rr"), 2);
  assert_non_null(strstr(printed(), "ecg has no known unit (NU)"));
  assert_int_equal(query(nu, ", unit: mV", "{name: y, from: [ecg], do: detect}", "y.rr"), 0);
  assert_int_equal(query(uv, "", "{name: y, from: [ecg], do: detect}", "y.rr"), 2);
  assert_non_null(strstr(printed(), "convert it by a step {select: {value: ecg, unit: mV}}"));
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(voltages_are_converted_for_beats),
      TEST(another_quantity_is_refused),
      TEST(millivolts_in_other_letters_are_understood_or_refused),
      TEST(a_missing_unit_is_warned_of_or_stated),
#ifdef HAVE_CONFIG_FILES
      TEST(streams_of_a_query_have_the_unit_asked_for),
#endif
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
