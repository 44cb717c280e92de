/* select_test.c - the function where a sample is, 0 where none is. */
#include "stream/op/select/weir_stream_select.h"
#include <math.h>
#include "support/stream/series_check.h"

extern const weir_series_op weir_series_op_select;
static series_case c;

static void run_step(const weir_stream_select_opts *o)
{
  const char *unit = o->unit[0] != 0 ? o->unit : "mV";

  series_run_step(&(series_step){&c, &weir_series_op_select, o, "mV", unit, 0});
}

static void refuse(const weir_stream_select_opts *o, const char *message)
{
  assert_string_equal(
      series_refusal(&(series_step){&c, &weir_series_op_select, o, "mV", NULL, 0}, 1), message);
}

static void a_step_evaluates_its_expression(void **state)
{
  const weir_stream_select_opts log = {.value = "2 * x - if(x > 0.5, 1, nan)", .unit = ""};
  weir_stream_select_opts plain;

  (void)state;
  weir_opts_default(weir_series_op_select.opts, sizeof plain, &plain);
  series_draw(&c, 2, 0.4);
  run_step(&log);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool kept = c.present[t] && c.x[t] > 0.5f;

    assert_int_equal(c.y_present[t], kept);
    assert_true(c.y[t] == (kept ? 2 * c.x[t] - 1.0f : 0.0f));
  }
  run_step(&plain); /* as it came */
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  assert_memory_equal(c.y, c.x, sizeof c.y);
}

/* The stream is in mV. */
static void units_of_one_quantity_are_converted(void **state)
{
  static const struct {
    const char *value, *unit;
    double factor;
  } cases[] = {{"x", "uV", 1000},
               {"x", "\xC2\xB5V", 1000},
               {"x", "V", 1e-3},
               {"x", "mV", 1},
               {"x * x", "uV2", 1e6},
               {"x / 2 s", "V/min", 0.03},
               {"x / 1 mV * 1 mmHg", "kPa", 0.133322387415},
               {"x / 1 mV / 1 s", "bpm", 60},
               {"x / 1 mV", "%", 100}};

  (void)state;
  series_draw(&c, 4, 0.4);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const weir_stream_select_opts o = {.value = cases[k].value, .unit = cases[k].unit};

    series_run_step(&(series_step){&c, &weir_series_op_select, &o, "mV", o.unit, 0});
    assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      const double x = (double)c.x[t] * (k == 4 ? (double)c.x[t] : 1);
      const double expected = c.present[t] ? cases[k].factor * x : 0;

      assert_true(fabs((double)c.y[t] - expected) <= 1e-6 * fabs(expected));
    }
  }
}

static void a_unit_of_another_quantity_is_refused(void **state)
{
  (void)state;
  refuse(&(weir_stream_select_opts){.value = "x", .unit = "MV"},
         "unit: x is in mV and cannot be converted to MV, a unit of another quantity: if mV is "
         "wrong, write (x) / 1 [mV] * 1 [MV]");
  refuse(&(weir_stream_select_opts){.value = "2 * x", .unit = "mmHg"},
         "unit: 2 * x is in mV and cannot be converted to mmHg, a unit of another quantity: if mV "
         "is wrong, write (2 * x) / 1 [mV] * 1 [mmHg]");
  refuse(&(weir_stream_select_opts){.value = "x / 1 mV", .unit = "mV"},
         "unit: x / 1 mV is in 1 and cannot be converted to mV, a unit of another quantity: if 1 "
         "is wrong, write (x / 1 mV) / 1 [1] * 1 [mV]");
  refuse(&(weir_stream_select_opts){.value = "x", .unit = "odd"},
         "unit: x is in mV and cannot be converted to odd, a unit of another quantity: if mV is "
         "wrong, write (x) / 1 [mV] * 1 [odd]");
}

/* Of a stream without a unit the option states it; "NU" is how WFDB writes that there is none. */
static void a_unit_is_stated_where_there_is_none(void **state)
{
  const weir_stream_select_opts o = {.value = "x", .unit = "mV"};

  (void)state;
  series_draw(&c, 5, 0.4);
  series_run_step(&(series_step){&c, &weir_series_op_select, &o, NULL, "mV", 0});
  assert_memory_equal(c.y, c.x, sizeof c.y);
  series_run_step(&(series_step){&c, &weir_series_op_select, &o, "NU", "mV", 0});
  assert_memory_equal(c.y, c.x, sizeof c.y);
}

static void a_truth_is_one_or_zero(void **state)
{
  const weir_stream_select_opts o = {.value = "x > 0 mV", .unit = "1"};

  (void)state;
  series_draw(&c, 3, 0.4);
  run_step(&o);
  assert_memory_equal(c.y_present, c.present, SERIES_COUNT);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    assert_true(c.y[t] == (c.present[t] && c.x[t] > 0 ? 1.0f : 0.0f));
  }
}

static void wrong_options_are_refused(void **state)
{
  (void)state;
  refuse(&(weir_stream_select_opts){.value = "x + y", .unit = ""},
         "expression x + y, column 5: y is not an input: choose one of: x");
  refuse(&(weir_stream_select_opts){.value = "x", .unit = "a unit that is far too long"},
         "unit: a unit that is far too long is longer than 23 characters");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_evaluates_its_expression),
      cmocka_unit_test(units_of_one_quantity_are_converted),
      cmocka_unit_test(a_unit_of_another_quantity_is_refused),
      cmocka_unit_test(a_unit_is_stated_where_there_is_none),
      cmocka_unit_test(a_truth_is_one_or_zero),
      cmocka_unit_test(wrong_options_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
