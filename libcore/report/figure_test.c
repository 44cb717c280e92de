/* figure_test.c - axes, breaks, refusals, and numbers that come back from the CSV. */
#include "report/weir_figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_random.h"
#include "support/report/report_check.h"
#include "report/report_priv.h"

typedef weir_status (*writer)(const weir_figure *figure, FILE *out);

/* Text of a figure; the caller frees it. */
static char *text_of(writer write, const weir_figure *figure)
{
  FILE *const out = tmpfile();

  assert_non_null(out);
  assert_ok(write(figure, out));
  return text_written(out);
}

static void axes_hold_all_finite_values(void **state)
{
  for (uint64_t seed = 0; seed < 2000; seed++) {
    double x[8], y[8];
    const double scale = pow(10, 40 * (weir_random_uniform(seed, 1, 0, 0) - 0.5));
    const int64_t n = (int64_t)(weir_random_bits(seed, 1, 1, 0) % 9);

    for (uint64_t i = 0; i < 8; i++) {
      x[i] = scale * (weir_random_uniform(seed, 2, 0, i) - 0.3);
      y[i] = weir_random_bits(seed, 3, 0, i) % 5 == 0 ? NAN : 3 + scale * x[i];
    }
    const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = n, .x = x, .y = y};
    report_axis ax, ay;

    report_axes(&(weir_figure){.series = &s, .n_series = 1}, &ax, &ay);
    assert_true(ax.lo < ax.hi && ay.lo < ay.hi && ax.step > 0 && ay.step > 0);
    assert_true((ay.hi - ay.lo) / ay.step < 20 && (ax.hi - ax.lo) / ax.step < 20);
    for (int64_t i = 0; i < n; i++) {
      assert_true(x[i] >= ax.lo && x[i] <= ax.hi);
      assert_true(isnan(y[i]) ||
                  (y[i] >= ay.lo - 1e-6 * ay.step && y[i] <= ay.hi + 1e-6 * ay.step));
    }
  }
}

static void a_missing_value_breaks_the_line(void **state)
{
  const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, NAN, 2, 1};
  const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = 5, .x = x, .y = y};
  const weir_figure f = {
      .title = "a <b> & \"c\"", .x_label = "t", .y_label = "v", .series = &s, .n_series = 1};
  char *svg = text_of(weir_figure_svg, &f), *again = text_of(weir_figure_svg, &f);

  assert_int_equal(count(svg, "stroke-width=\"1.2\""), 2);
  assert_non_null(strstr(svg, "a &lt;b&gt; &amp; &quot;c&quot;"));
  assert_null(strstr(svg, "nan"));
  assert_string_equal(svg, again);
  free(svg);
  free(again);
}

/* The middle of 0.01 and 1 is 0.1; the CSV has the values. */
static void logarithmic_axes_have_powers_of_ten(void **state)
{
  const double x[] = {0.01, 0.1, 1}, y[] = {1, 1e5, 1e10};
  const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = 3, .x = x, .y = y};
  const weir_figure f = {.title = "p",
                         .x_label = "k",
                         .y_label = "P",
                         .series = &s,
                         .n_series = 1,
                         .log_x = true,
                         .log_y = true};
  char *svg = text_of(weir_figure_svg, &f), *csv = text_of(weir_figure_csv, &f);
  double at[3][2];
  const char *const path = strstr(svg, "fill=\"none\" stroke=\"#0072b2\"");

  assert_non_null(path);
  const char *line = path;

  while (line > svg && *line != 'M') {
    line--;
  }
  assert_int_equal(sscanf(line, "M%lf %lfL%lf %lfL%lf %lf", &at[0][0], &at[0][1], &at[1][0],
                          &at[1][1], &at[2][0], &at[2][1]),
                   6);
  assert_near(at[1][0], 0.5 * (at[0][0] + at[2][0]), 0.11);
  assert_near(at[1][1], 0.5 * (at[0][1] + at[2][1]), 0.11);
  assert_non_null(strstr(svg, ">0.01<"));
  assert_non_null(strstr(svg, ">0.2<"));
  assert_non_null(strstr(svg, "\xe2\x81\xb5<")); /* 10 to the 5 */
  assert_non_null(strstr(csv, "0.01,1"));
  free(svg);
  free(csv);
}

/* Ranges with none, one or two of 1, 2, 5 times a power of ten, and equal values. */
static void logarithmic_axes_of_less_than_a_decade_have_labels(void **state)
{
  static const struct {
    double lo, hi;
    const char *some[3];
  } cases[] = {{2.2, 2.9, {">2.2<", ">2.4<", ">2.8<"}},
               {0.0061, 0.0094, {">0.007<", ">0.008<"}},
               {2.1, 9, {">4<", ">6<", ">8<"}},
               {1.9, 5.2, {">2<", ">5<"}},
               {100, 100, {">80<", ">100<", ">120<"}}};

  for (int i = 0; i < 5; i++) {
    const double x[] = {cases[i].lo, cases[i].hi}, y[] = {0, 1};
    const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = 2, .x = x, .y = y};
    const weir_figure f = {
        .title = "p", .x_label = "k", .y_label = "P", .series = &s, .n_series = 1, .log_x = true};
    char *svg = text_of(weir_figure_svg, &f);

    for (int k = 0; k < 3 && cases[i].some[k] != NULL; k++) {
      assert_non_null(strstr(svg, cases[i].some[k]));
    }
    free(svg);
  }
}

static void every_kind_draws_its_marks(void **state)
{
  const double x[] = {0, 1, 2, 3}, y[] = {1, 2, 4}, lo[] = {0, 1, 3}, hi[] = {2, 3, 5};
  const char *const label[] = {"a", "b,\"x\"", "c"};
  const weir_figure_series lines[] = {
      {.kind = WEIR_FIGURE_LINE, .name = "l", .n = 3, .x = x, .y = y, .lo = lo, .hi = hi},
      {.kind = WEIR_FIGURE_POINTS, .name = "p", .n = 3, .x = x, .y = y},
  };
  const weir_figure_series bars = {.kind = WEIR_FIGURE_BARS, .n = 3, .y = y, .label = label};
  const weir_figure_series steps = {.kind = WEIR_FIGURE_HISTOGRAM, .n = 3, .x = x, .y = y};
  const weir_figure f[] = {{.title = "1", .series = lines, .n_series = 2},
                           {.title = "2", .series = &bars, .n_series = 1},
                           {.title = "3", .series = &steps, .n_series = 1}};
  char *svg[3], *csv[3];

  for (int i = 0; i < 3; i++) {
    svg[i] = text_of(weir_figure_svg, &f[i]);
    csv[i] = text_of(weir_figure_csv, &f[i]);
  }
  assert_int_equal(count(svg[0], "<circle"), 3);
  assert_int_equal(count(svg[0], "fill-opacity"), 1);
  assert_int_equal(count(svg[1], "<rect"), 3);
  assert_int_equal(count(svg[2], "<rect"), 3);
  assert_string_equal(csv[0], "series,x,y,lo,hi\nl,0,1,0,2\nl,1,2,1,3\nl,2,4,3,5\n"
                              "p,0,1,,\np,1,2,,\np,2,4,,\n");
  assert_string_equal(csv[1], "series,x,y,lo,hi\n,a,1,,\n,\"b,\"\"x\"\"\",2,,\n,c,4,,\n");
  assert_string_equal(csv[2], "series,x,y,lo,hi\n,0.5,1,0,1\n,1.5,2,1,2\n,2.5,4,2,3\n");
  for (int i = 0; i < 3; i++) {
    free(svg[i]);
    free(csv[i]);
  }
}

static void an_empty_figure_has_axes(void **state)
{
  const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = 0};
  char *svg = text_of(weir_figure_svg, &(weir_figure){.series = &s, .n_series = 1});

  assert_null(strstr(svg, "nan"));
  assert_null(strstr(svg, "inf"));
  assert_non_null(strstr(svg, ">no data<"));
  free(svg);
}

static void a_histogram_without_counts_says_so_above_zero(void **state)
{
  const double x[] = {0, 1, 2, 3}, y[] = {0, 0, 0};
  const weir_figure_series s = {.kind = WEIR_FIGURE_HISTOGRAM, .n = 3, .x = x, .y = y};
  const weir_figure f = {.series = &s, .n_series = 1, .empty = "no intervals"};
  char *svg = text_of(weir_figure_svg, &f);
  report_axis ax, ay;

  report_axes(&f, &ax, &ay);
  assert_true(ay.lo == 0 && ay.hi > 0);
  assert_non_null(strstr(svg, ">no intervals<"));
  free(svg);
}

static void the_last_tick_is_labelled_and_the_legend_is_above_the_axes(void **state)
{
  double x[2500], y[2500];

  for (int i = 0; i < 2500; i++) {
    x[i] = 206 + i / 250.0;
    y[i] = sin(x[i]);
  }
  const weir_figure_series s[] = {
      {.kind = WEIR_FIGURE_LINE, .name = "signal", .n = 2500, .x = x, .y = y},
      {.kind = WEIR_FIGURE_POINTS, .name = "beats", .n = 2500, .x = x, .y = y}};
  char *svg = text_of(weir_figure_svg, &(weir_figure){.series = s, .n_series = 2});
  double legend = 0, trace, left;

  assert_non_null(strstr(svg, ">216<"));
  for (const char *at = strstr(svg, "<rect "); at != NULL; at = strstr(at + 1, "<rect ")) {
    legend = fmax(legend, 10 + atof(strstr(at, "y=\"") + 3));
  }
  assert_true(legend > 10);
  for (const char *at = strstr(svg, "<circle "); at != NULL; at = strstr(at + 1, "<circle ")) {
    assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &left, &trace), 2);
    assert_true(trace - 3.2 > legend - 1);
  }
  free(svg);
}

/* The scale of the paper, from where two points stand; and no paper for what is too large. */
static void paper_has_ten_millimetres_to_a_millivolt_and_25_to_a_second(void **state)
{
  const double x[] = {0.3, 4.3}, y[] = {-0.4, 1.6}, mm = 96 / 25.4, wide[] = {0.3, 601};
  weir_figure_series s = {.kind = WEIR_FIGURE_POINTS, .n = 2, .x = x, .y = y};
  const weir_figure f = {.series = &s, .n_series = 1, .ecg_paper = true};
  double at[4];
  char *svg = text_of(weir_figure_svg, &f);
  const char *first = strstr(svg, "<circle "), *second = strstr(first + 1, "<circle ");

  assert_int_equal(sscanf(first, "<circle cx=\"%lf\" cy=\"%lf\"", &at[0], &at[1]), 2);
  assert_int_equal(sscanf(second, "<circle cx=\"%lf\" cy=\"%lf\"", &at[2], &at[3]), 2);
  assert_true(fabs(at[2] - at[0] - 4 * 25 * mm) < 0.6); /* whole pixels, and 0.1 of one */
  assert_true(fabs(at[1] - at[3] - 2 * 10 * mm) < 0.6);
  assert_int_equal(count(svg, "stroke=\"#d07070\" stroke-opacity=\"0.35\""), 1);
  free(svg);
  s.x = wide;
  svg = text_of(weir_figure_svg, &f);
  assert_null(strstr(svg, "#d07070"));
  free(svg);
}

static void equal_axes_have_one_range_and_one_scale(void **state)
{
  const double x[] = {0.5, 0.9}, y[] = {0.7, 1.7};
  const weir_figure_series s = {.kind = WEIR_FIGURE_POINTS, .n = 2, .x = x, .y = y};
  const weir_figure f = {.series = &s, .n_series = 1, .equal_axes = true};
  double at[4];
  char *svg = text_of(weir_figure_svg, &f);
  const char *first = strstr(svg, "<circle "), *second = strstr(first + 1, "<circle ");
  report_axis ax, ay;

  report_axes(&f, &ax, &ay);
  assert_true(ax.lo == ay.lo && ax.hi == ay.hi && ax.lo <= 0.5 && ax.hi >= 1.7);
  assert_int_equal(sscanf(first, "<circle cx=\"%lf\" cy=\"%lf\"", &at[0], &at[1]), 2);
  assert_int_equal(sscanf(second, "<circle cx=\"%lf\" cy=\"%lf\"", &at[2], &at[3]), 2);
  assert_true(fabs((at[2] - at[0]) / 0.4 - (at[1] - at[3])) < 0.5);
  free(svg);
}

static void spans_stand_on_rows_of_their_own(void **state)
{
  const double lo[] = {0, 20, 50}, hi[] = {10, 30, 100}, y[] = {0.5, 0, 1};
  const weir_figure_series s[] = {
      {.kind = WEIR_FIGURE_SPANS, .name = "missing", .n = 3, .y = y, .lo = lo, .hi = hi},
      {.kind = WEIR_FIGURE_SPANS, .name = "flat", .n = 1, .y = y + 2, .lo = lo + 2, .hi = hi + 2}};
  const weir_figure f = {.series = s, .n_series = 2};
  char *svg = text_of(weir_figure_svg, &f), *csv = text_of(weir_figure_csv, &f);

  assert_int_equal(count(svg, "<rect "), 3); /* a share of 0 is not drawn */
  assert_true(strstr(svg, ">missing<") != NULL && strstr(svg, ">flat<") != NULL);
  assert_string_equal(csv, "series,x,y,lo,hi\nmissing,5,0.5,0,10\nmissing,25,0,20,30\n"
                           "missing,75,1,50,100\nflat,75,1,50,100\n");
  free(svg);
  free(csv);
}

static void width_and_the_ends_of_y_are_those_asked_for(void **state)
{
  const double x[] = {0, 1}, y[] = {-0.5, 0.5};
  const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = 2, .x = x, .y = y};
  weir_figure f = {.title = "t",
                   .x_label = "x",
                   .y_label = "y",
                   .series = &s,
                   .n_series = 1,
                   .width = 300,
                   .y_lo = -1.03,
                   .y_hi = 2.1,
                   .legend_rows = 2};
  report_axis ax, ay;
  double at[4];

  report_axes(&f, &ax, &ay);
  assert_true(ay.lo == -1.03 && ay.hi == 2.1 && ay.step > 0);
  char *const text = text_of(weir_figure_svg, &f);
  const char *const line = strstr(text, "stroke-width=\"1.2\"");

  assert_non_null(strstr(text, "width=\"300\" height=\"332\"")); /* 300 and two rows of 16 */
  assert_non_null(line);
  const char *from = line;

  while (strncmp(from, "<path d=\"M", 10) != 0) {
    from--;
  }
  assert_int_equal(sscanf(from, "<path d=\"M%lf %lfL%lf %lf", &at[0], &at[1], &at[2], &at[3]), 4);
  assert_near((at[1] - at[3]) * 3.13, 220, 1); /* a unit of y: 220 pixels over 3.13 */
  free(text);
  FILE *const out = tmpfile();

  f.width = 199;
  assert_int_equal(weir_figure_svg(&f, out), WEIR_ERR_SHAPE);
  (void)fclose(out);
}

static void a_series_without_its_arrays_is_refused(void **state)
{
  const double y[] = {1};
  const weir_figure_series wrong[] = {{.kind = WEIR_FIGURE_LINE, .n = 1, .y = y},
                                      {.kind = WEIR_FIGURE_BARS, .n = 1, .y = y},
                                      {.kind = WEIR_FIGURE_LINE, .n = 1, .x = y, .y = y, .lo = y},
                                      {.kind = WEIR_FIGURE_SPANS, .n = 1, .x = y, .y = y},
                                      {.kind = WEIR_FIGURE_POINTS, .n = -1}};

  for (int i = 0; i < 5; i++) {
    const weir_figure f = {.title = "t", .series = &wrong[i], .n_series = 1};
    assert_int_equal(weir_figure_svg(&f, stderr), WEIR_ERR_SHAPE);
    assert_int_equal(weir_figure_csv(&f, stderr), WEIR_ERR_SHAPE);
  }
}

/* One colour for one meaning, whatever the order; references are grey and dashed. */
static void colours_are_those_that_are_asked_for(void **state)
{
  const double x[] = {0, 1};
  const weir_figure_series s[] = {
      {.kind = WEIR_FIGURE_LINE, .name = "1:1", .n = 2, .x = x, .y = x, .reference = true},
      {.kind = WEIR_FIGURE_LINE, .name = "b", .n = 2, .x = x, .y = x, .color = 1}};
  const weir_figure f = {.title = "one & all", .series = s, .n_series = 2};
  char *const svg = text_of(weir_figure_svg, &f);

  assert_int_equal(count(svg, "stroke=\"#888888\""), 2); /* one of them in the legend */
  assert_int_equal(count(svg, "stroke-dasharray"), 2);
  assert_int_equal(count(svg, "stroke=\"#0072b2\""), 1);
  assert_int_equal(count(svg, "fill=\"#0072b2\""), 1); /* in the legend */
  assert_non_null(strstr(svg, "role=\"img\">\n<title>one &amp; all</title>"));
  free(svg);
}

/* Very small and very large ranges are written in powers of a thousand. */
static void ticks_have_no_exponents(void **state)
{
  const double x[] = {0, 1e7}, y[] = {0, 6.9e-6};
  const weir_figure_series s = {.kind = WEIR_FIGURE_LINE, .n = 2, .x = x, .y = y};
  char *const svg =
      text_of(weir_figure_svg, &(weir_figure){.title = "t", .series = &s, .n_series = 1});

  assert_null(strstr(svg, "e-0"));
  assert_null(strstr(svg, "e+0"));
  assert_non_null(strstr(svg, ">10\xe2\x81\xbb\xe2\x81\xb6</text>"));
  assert_non_null(strstr(svg, ">10\xe2\x81\xb6</text>"));
  free(svg);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(colours_are_those_that_are_asked_for),
      cmocka_unit_test(ticks_have_no_exponents),
      cmocka_unit_test(axes_hold_all_finite_values),
      cmocka_unit_test(a_missing_value_breaks_the_line),
      cmocka_unit_test(logarithmic_axes_have_powers_of_ten),
      cmocka_unit_test(logarithmic_axes_of_less_than_a_decade_have_labels),
      cmocka_unit_test(every_kind_draws_its_marks),
      cmocka_unit_test(an_empty_figure_has_axes),
      cmocka_unit_test(a_histogram_without_counts_says_so_above_zero),
      cmocka_unit_test(the_last_tick_is_labelled_and_the_legend_is_above_the_axes),
      cmocka_unit_test(paper_has_ten_millimetres_to_a_millivolt_and_25_to_a_second),
      cmocka_unit_test(equal_axes_have_one_range_and_one_scale),
      cmocka_unit_test(spans_stand_on_rows_of_their_own),
      cmocka_unit_test(width_and_the_ends_of_y_are_those_asked_for),
      cmocka_unit_test(a_series_without_its_arrays_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
