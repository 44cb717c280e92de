/* number_test.c - how numbers are shown: known texts, and what holds for all. */
#include <math.h>
#include <stdlib.h>
#include "support/report/report_check.h"
#include "report/report_priv.h"
#include "report/weir_report.h"

#define MINUS "\xe2\x88\x92"
#define TIMES "\xc2\xa0\xc3\x97\xc2\xa0"

static char *typeset(const char *text, bool html)
{
  FILE *const out = tmpfile();

  assert_non_null(out);
  report_put_typeset(out, text, html);
  return text_written(out);
}

static void numbers_that_stand_alone_are_typeset(void **state)
{
  static const struct {
    const char *text, *html, *svg;
  } cases[] = {
      {"3.938e-07", "3.938" TIMES "10<sup>" MINUS "7</sup>",
       "3.938" TIMES "10\xe2\x81\xbb\xe2\x81\xb7"},
      {"-1.11e-15", MINUS "1.11" TIMES "10<sup>" MINUS "15</sup>",
       MINUS "1.11" TIMES "10\xe2\x81\xbb\xc2\xb9\xe2\x81\xb5"},
      {"1e+06 W", "10<sup>6</sup> W", "10\xe2\x81\xb6 W"},
      {"(2e10, nan)", "(2" TIMES "10<sup>10</sup>, not computed)",
       "(2" TIMES "10\xc2\xb9\xe2\x81\xb0, not computed)"},
      {"of 5e-3.", "of 5" TIMES "10<sup>" MINUS "3</sup>.", "of 5" TIMES "10\xe2\x81\xbb\xc2\xb3."},
      {"-inf", MINUS "\xe2\x88\x9e", MINUS "\xe2\x88\x9e"},
      {"0.5 < 12", "0.5 &lt; 12", "0.5 &lt; 12"},
      /* Names, paths, settings and colours are no numbers. */
      {"out-1e-05/a", "out-1e-05/a", "out-1e-05/a"},
      {"--set x=1e-9", "--set x=1e-9", "--set x=1e-9"},
      {"nano, info, run1e5", "nano, info, run1e5", "nano, info, run1e5"},
      {"1e5b 2e 3e+ 1.2.3e4", "1e5b 2e 3e+ 1.2.3e4", "1e5b 2e 3e+ 1.2.3e4"},
      {"", "", ""},
      /* Units as CF writes them. */
      {"RMSE (m s-1)", "RMSE (m\xc2\xa0s<sup>" MINUS "1</sup>)",
       "RMSE (m\xc2\xa0s\xe2\x81\xbb\xc2\xb9)"},
      {"kg m**-2 s^-1 of rain",
       "kg\xc2\xa0m<sup>" MINUS "2</sup>\xc2\xa0s<sup>" MINUS "1</sup> of rain",
       "kg\xc2\xa0m\xe2\x81\xbb\xc2\xb2\xc2\xa0s\xe2\x81\xbb\xc2\xb9 of rain"},
      {"m2*s-2.", "m<sup>2</sup>\xc2\xa0s<sup>" MINUS "2</sup>.",
       "m\xc2\xb2\xc2\xa0s\xe2\x81\xbb\xc2\xb2."},
      {"m2, m s, m-1x, run-1 of s-", "m2, m s, m-1x, run-1 of s-", "m2, m s, m-1x, run-1 of s-"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *const html = typeset(cases[i].text, true), *const svg = typeset(cases[i].text, false);

    assert_string_equal(html, cases[i].html);
    assert_string_equal(svg, cases[i].svg);
    free(html);
    free(svg);
  }
}

/* The number that a typeset text says. */
static double said(const char *text)
{
  char plain[128] = "";
  size_t n = 0;
  bool scaled = false;

  for (const char *c = text; *c != 0;) {
    if (strncmp(c, MINUS, 3) == 0) {
      plain[n++] = '-';
      c += 3;
    } else if (strncmp(c, TIMES "10<sup>", sizeof TIMES + 6) == 0 ||
               strncmp(c, "10<sup>", 7) == 0) {
      if (*c == '1') {
        plain[n++] = '1';
      }
      plain[n++] = 'e';
      c = strchr(c, '>') + 1;
      scaled = true;
    } else if (*c == '<') {
      break;
    } else {
      plain[n++] = *c++;
    }
  }
  assert_true(scaled);
  return strtod(plain, NULL);
}

/* Over all powers: no exponent is left, and the number is the one that was given. */
static void no_power_of_ten_is_left_or_changed(void **state)
{
  uint64_t noise = 1;

  (void)state;
  for (int power = -290; power <= 290; power++) {
    char text[64];

    noise = noise * 6364136223846793005u + 1442695040888963407u;
    const double digits = 1 + 9.0 * (double)(noise >> 11) / 0x1p53;
    const double value = (power % 2 == 0 ? -digits : digits) * pow(10, power);

    (void)snprintf(text, sizeof text, "%.*g", 1 + (int)(noise % 6), value);
    if (strchr(text, 'e') == NULL) {
      continue;
    }
    char *const html = typeset(text, true);

    assert_null(strchr(html, 'e'));
    assert_true(fabs(said(html) / strtod(text, NULL) - 1) < 1e-14);
    free(html);
  }
}

static void prefixes_leave_one_to_three_digits(void **state)
{
  static const char *const order[] = {"a", "f", "p", "n", "\xc2\xb5", "m", "", "k", "M", "G", "T"};
  const char *prefix = NULL;

  (void)state;
  for (double exponent = -17.9; exponent < 14.9; exponent += 0.0371) {
    const double value = (fmod(exponent, 2) < 1 ? 1 : -1) * pow(10, exponent);
    const double scaled = weir_si_scale(value, &prefix);
    int at = 0;

    while (strcmp(order[at], prefix) != 0) {
      at++;
    }
    assert_true(fabs(scaled) < 999.95 && fabs(scaled) > 0.9999);
    assert_true(fabs(scaled * pow(10, 3 * (at - 6)) / value - 1) < 1e-12);
  }
  assert_near(weir_si_scale(6.9019e-6, &prefix), 6.9019, 1e-12);
  assert_string_equal(prefix, "\xc2\xb5");
  assert_near(weir_si_scale(999.96, &prefix), 0.99996, 1e-12);
  assert_string_equal(prefix, "k");
  assert_near(weir_si_scale(0, &prefix), 0, 0);
  assert_string_equal(prefix, "");
  assert_true(isnan(weir_si_scale(NAN, &prefix)));
  assert_true(weir_si_scale(1e-30, &prefix) == 1e-30 && prefix[0] == 0);
}

/* Ticks of any range: no exponents, not many characters, as far apart as the ticks are. */
static void amounts_are_read_without_exponents(void **state)
{
  char text[WEIR_AMOUNT_SIZE];

  (void)state;
  assert_string_equal(weir_amount(5.7871e6, "flop", text), "5.787 Mflop");
  assert_string_equal(weir_amount(0, "flop", text), "0 flop");
  assert_string_equal(weir_amount(999960, "flop", text), "1 Mflop");
  assert_string_equal(weir_amount_number(999.94, text), "999.9");
  assert_string_equal(weir_amount_number(-999.95, text), "-1000");
  assert_string_equal(weir_amount_number(1234567, text), "1234567");
  assert_string_equal(weir_amount_number(0.00012345678, text), "0.0001235");
  assert_string_equal(weir_amount_number(NAN, text), "-");
  assert_string_equal(weir_amount_bytes(0, text), "0 bytes");
  assert_string_equal(weir_amount_bytes(1023, text), "1023 bytes");
  assert_string_equal(weir_amount_bytes(1707082, text), "1.628 MiB");
  assert_string_equal(weir_amount_bytes(1048575, text), "1 MiB");
  assert_string_equal(weir_amount_time(0.0565, text), "56.5 ms");
  assert_string_equal(weir_amount_time(119, text), "119 s");
  assert_string_equal(weir_amount_time(120, text), "2 minutes");
  assert_string_equal(weir_amount_time(12240, text), "3.4 hours");
  assert_string_equal(weir_amount_time(864000, text), "10 days");
  for (int power = -17; power < 14; power++) {
    assert_null(strstr(weir_amount(1.2345 * pow(10, power), "W", text), "e-"));
  }
}

static void ticks_are_short_at_any_scale(void **state)
{
  (void)state;
  for (int power = -40; power <= 40; power++) {
    for (int k = -3; k <= 3; k++) {
      report_axis a = {.lo = k * pow(10, power), .hi = (k + 2.3) * pow(10, power)};

      report_round(&a, 6, false);
      const int scale = report_tick_power(&a);

      assert_int_equal(scale % 3, 0);
      for (double tick = ceil(a.lo / a.step); tick * a.step <= a.hi; tick++) {
        char text[32];

        report_tick_text(&a, tick, scale, text, sizeof text);
        assert_null(strchr(text, 'e'));
        assert_true(strlen(text) <= 8);
        assert_true(fabs(strtod(text, NULL) * pow(10, scale) - tick * a.step) < 1e-5 * a.step);
      }
    }
  }
}

static void coasts_are_lines_on_the_globe(void **state)
{
  int size = 0, lines = 0;
  const int16_t *const coast = report_coast(&size);

  (void)state;
  for (int i = 0; i < size; i += 1 + 2 * coast[i]) {
    assert_true(coast[i] >= 2 && i + 2 * coast[i] < size);
    for (int k = 0; k < coast[i]; k++) {
      assert_true(abs(coast[i + 1 + 2 * k]) <= 18000 && abs(coast[i + 2 + 2 * k]) <= 9000);
    }
    lines++;
  }
  assert_true(lines > 50);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_that_stand_alone_are_typeset),
      cmocka_unit_test(no_power_of_ten_is_left_or_changed),
      cmocka_unit_test(prefixes_leave_one_to_three_digits),
      cmocka_unit_test(amounts_are_read_without_exponents),
      cmocka_unit_test(ticks_are_short_at_any_scale),
      cmocka_unit_test(coasts_are_lines_on_the_globe),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
