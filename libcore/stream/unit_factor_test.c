/* unit_factor_test.c - numbers with a unit in expressions: converted to the unit that they meet,
 * against the same expressions with the numbers converted by hand. */
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/stream/streams_check.h"
#include "stream/weir_formula.h"

enum { COUNT = 300, INPUTS = 3 };

static const char *const in_name[] = {"a", "b", "c"};

typedef struct pair {
  const char *units[INPUTS];
  const char *text, *plain; /* with units, and by hand */
  const char *unit;         /* of the result           */
} pair;

static weir_status build_text(const char *text, const weir_series_use *use, weir_series *out)
{
  weir_formula *f = NULL;

  WEIR_TRY(weir_formula_parse(text, &f));
  const weir_status status = weir_formula_build(f, use, out);
  weir_formula_destroy(&f);
  return status;
}

/* The expression with units and the one without. */
static int build_pair(streams_case *c, weir_graph *g, const weir_series *in, const void *context,
                      weir_series *out)
{
  const pair *p = context;
  weir_series stated[INPUTS];
  weir_series_use use = streams_use(c, g, in, INPUTS, NULL);

  use.in_name = in_name;
  memcpy(stated, in, sizeof stated);
  if (build_text(p->plain, &use, &out[1]) != WEIR_OK) {
    fail_msg("%s: %s", p->plain, weir_last_message());
  }
  for (int k = 0; k < INPUTS; k++) {
    weir_series_set_unit(&stated[k], p->units[k]);
  }
  use.in = stated;
  if (build_text(p->text, &use, &out[0]) != WEIR_OK) {
    fail_msg("%s: %s", p->text, weir_last_message());
  }
  assert_string_equal(out[0].unit, p->unit);
  for (int k = 0; k < 2; k++) {
    if (weir_value_desc(g, out[k].value)->dtype == WEIR_BOOL) {
      out[k].value = weir_cast(g, WEIR_F32, out[k].value);
    }
  }
  return 2;
}

static void numbers_are_converted_to_the_unit_that_they_meet(void **state)
{
  static const pair cases[] = {
      {{"mV", "s", "bpm"}, "a > 100 uV", "a > 0.1", "1"},
      {{"mV", "s", "bpm"}, "100 uV < a", "0.1 < a", "1"},
      {{"uV", "s", "bpm"}, "a + 0.5 mV", "a + 500", "uV"},
      {{"mV", "s", "bpm"}, "if(b > 500 ms, b, 0.25 min)", "if(b > 0.5, b, 15)", "s"},
      {{"mV", "s", "bpm"}, "clamp(b, -100 ms, 0.5 s)", "clamp(b, -0.1, 0.5)", "s"},
      {{"mV", "s", "bpm"}, "clamp(0.5 s, b - 1 s, b + 900 ms)", "clamp(0.5, b - 1, b + 0.9)", "s"},
      {{"mV", "s", "bpm"}, "max(-250 uV, a, 1 mV)", "max(-0.25, a, 1)", "mV"},
      {{"mV", "s", "bpm"}, "1 / b < 50 bpm", "1 / b < 50 / 60", "1"},
      {{"mV", "s", "bpm"}, "c < 0.03 Hz", "c < 1.8", "1"},
      {{"mV", "s", "1/min"}, "c < 2 bpm", "c < 2", "1"},
      {{"mV", "s", "bpm"}, "t > 500 ms", "t > 0.5", "1"},
      {{"mV", "s", "bpm"}, "b / 500 ms", "b / 0.5", "1"},
      {{"mV", "s", "bpm"}, "b * 120 bpm", "b * 2", "1"},
      {{"mV", "s", "bpm"}, "120 bpm * b", "2 * b", "1"},
      {{"mV", "s", "bpm"}, "c * 3 min", "c * 3", "1"},
      {{"mV", "s", "bpm"}, "60 [s/min] / b", "1 / b", "1/s"},
      {{"mV", "s", "bpm"}, "2 * 100 uV < a", "0.2 < a", "1"},
      {{"mV", "s", "bpm"}, "b > 500 ms + 0.25 s", "b > 0.75", "1"},
      {{"mV", "s", "bpm"}, "a * 1 V / 2 [mV2]", "a * 500", "1"},
      {{"mV", "s", "bpm"}, "a^2 > 10000 [uV2]", "a^2 > 0.01", "1"},
      {{"mmHg", "s", "bpm"}, "a / b > 0.1 [kPa/min]", "a / b > 0.1 * 7.50061683 / 60", "1"},
      {{"mV", "s", "bpm"}, "mod(b, 300 ms)", "mod(b, 0.3)", "s"},
      {{"", "s", "bpm"}, "a > 0.1 uV", "a > 0.1", "1"},
      {{"%", "s", "bpm"}, "a < 0.9 [1]", "a < 90", "1"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static streams_case c;

    c.n = 0;
    for (int k = 0; k < INPUTS; k++) {
      (void)streams_add(&c, 5 + i, 128, COUNT, 9, 0.3);
    }
    streams_run(&c, build_pair, &cases[i], WEIR_TIER_VECTOR, 1, (weir_stream_cfg){.window = 3});
    const streams_result *x = &c.out[0], *y = &c.out[1];
    double max_abs = 0;

    assert_int_equal(x->n, COUNT);
    for (int t = 0; t < COUNT; t++) {
      assert_int_equal(x->present[t], y->present[t]);
      max_abs = fmax(max_abs, fabs((double)y->y[t]));
      if (!(fabs((double)x->y[t] - (double)y->y[t]) <= 1e-5 * fmax(1, fabs((double)y->y[t])))) {
        fail_msg("%s: slot %d is %.9g, not %.9g", cases[i].text, t, (double)x->y[t],
                 (double)y->y[t]);
      }
    }
    assert_true(max_abs > 0); /* both sides of a comparison are met */
  }
}

static void expect_refused(const char *text, const char *message)
{
  static const char *const units[] = {"mV", "s", "uV"}, *const present[] = {"pa", "pb", "pc"};
  weir_series_keeper keeper = {NULL};
  weir_series in[INPUTS], out;
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  for (int k = 0; k < INPUTS; k++) {
    in[k] = weir_series_input(g, in_name[k], present[k], 128, 1);
    weir_series_set_unit(&in[k], units[k]);
  }
  const weir_series_use use = {
      .graph = g, .step = "step", .in = in, .in_name = in_name, .n_in = INPUTS, .keeper = &keeper};

  if (build_text(text, &use, &out) != WEIR_ERR_CONFIG) {
    fail_msg("%s is not refused as wrong", text);
  }
  if (strstr(weir_last_message(), message) == NULL) {
    fail_msg("%s: %s", text, weir_last_message());
  }
  weir_graph_destroy(&g);
  weir_series_keeper_fini(&keeper);
}

static void another_quantity_is_refused(void **state)
{
  (void)state;
  expect_refused("a > 500 ms",
                 "> of mV and ms: the units are of different quantities: write the number in [mV]");
  expect_refused("500 ms < a",
                 "< of ms and mV: the units are of different quantities: write the number in [mV]");
  expect_refused("b < 120 bpm", "< of s and bpm: the units are of different quantities");
  expect_refused("clamp(b, 1 mV, 2 s)", "clamp of s and mV: the units must be the same");
  expect_refused("if(b > 1, a, 3 min)", "if of mV and min: the units must be the same");
  expect_refused("a > 1 [NU]", "> of mV and NU");
  expect_refused("a > 2 MV", "> of mV and MV"); /* no millivolts, and no million of volts */
}

static void streams_are_not_converted(void **state)
{
  (void)state;
  expect_refused("a + c", "+ of mV and uV: only numbers are converted, not streams: convert one of "
                          "them first with {select: {unit: mV}}");
}

static void a_factor_that_is_there_already_is_refused(void **state)
{
  (void)state;
  expect_refused("60 / b < 50 bpm",
                 "numbers in bpm are converted to 1/s here, so that the factor 60 "
                 "of the expression would convert twice: remove it, or write "
                 "[1/s]");
  expect_refused("1000 * a > 20 uV",
                 "numbers in uV are converted to mV here, so that the factor 1000");
  expect_refused("a * 0.001 > 20 uV", "so that the factor 0.001");
  expect_refused("b * 1000 / 1 ms > 3", "so that the factor 1000");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_converted_to_the_unit_that_they_meet),
      cmocka_unit_test(another_quantity_is_refused),
      cmocka_unit_test(streams_are_not_converted),
      cmocka_unit_test(a_factor_that_is_there_already_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
