/* structure_test.c - all points of small structures, the ends of long ones, few of wide ones,
 * numbers that come back, refusals. */
#include "report/weir_structure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "support/report/report_check.h"

enum { MAX = 5000 };
static double position[MAX][3];
static int kind[MAX];
static int64_t bond[MAX][2];
static const weir_structure_kind kinds[] = {{"Si & co", "#c8a060", 1}, {"H", "#dddddd", 0.6}};

static weir_structure chain(int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    position[i][0] = 0.1 * (double)i;
    position[i][1] = (double)(i % 2);
    position[i][2] = (double)(i % 3);
    kind[i] = (int)(i % 2);
    bond[i][0] = i;
    bond[i][1] = i + 1;
  }
  return (weir_structure){.title = "t",
                          .axis = {"x (Angstrom)", "y (Angstrom)", "z (Angstrom)"},
                          .end = {"left lead", "right lead"},
                          .n_points = n,
                          .position = (const double(*)[3])position,
                          .kind = kind,
                          .n_kinds = 2,
                          .kinds = kinds,
                          .n_bonds = n - 1,
                          .bond = (const int64_t(*)[2])bond};
}

static char *svg_of(const weir_structure *s)
{
  FILE *const out = tmpfile();

  assert_non_null(out);
  assert_ok(weir_structure_svg(s, out));
  return text_written(out);
}

static char *csv_of(const weir_structure *s)
{
  FILE *const out = tmpfile();

  assert_non_null(out);
  assert_ok(weir_structure_csv(s, out));
  return text_written(out);
}

static void small_structures_are_drawn_whole(void **state)
{
  for (int64_t n = 1; n <= 1000; n = 10 * n) {
    const weir_structure s = chain(n);
    char *text = svg_of(&s), *again = svg_of(&s);

    assert_int_equal(count(text, "<circle"), n + 2); /* two of the legend */
    assert_int_equal(count(text, "L") >= n - 1, true);
    assert_null(strstr(text, "are drawn"));
    assert_non_null(strstr(text, "Si &amp; co"));
    assert_non_null(strstr(text, "right lead"));
    assert_null(strstr(text, "nan"));
    assert_string_equal(text, again);
    free(text);
    free(again);
  }
}

static void points_lie_within_the_drawing(void **state)
{
  for (int64_t n = 1; n <= 1000; n = 3 * n) {
    const weir_structure s = chain(n);
    char *const text = svg_of(&s);
    double width, height, x, y;

    assert_int_equal(
        sscanf(strstr(text, "width="), "width=\"%lf\" height=\"%lf\"", &width, &height), 2);
    for (const char *at = strstr(text, "<circle"); at != NULL; at = strstr(at + 1, "<circle")) {
      assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
      assert_true(x > 0 && x < width && y > 0 && y < height);
    }
    free(text);
  }
}

static void z_leads_to_the_left_and_down(void **state)
{
  weir_structure s = chain(2);
  double at[2][2];

  position[0][0] = position[1][0] = position[0][1] = position[1][1] = position[0][2] = 0;
  position[1][2] = 3;
  char *const text = svg_of(&s);
  const char *circle = strstr(text, "r=\"5\"");

  for (int i = 0; i < 2; i++) { /* beyond the legend; the far one is first */
    circle = strstr(strstr(circle, "<g fill"), "<circle");
    assert_int_equal(sscanf(circle, "<circle cx=\"%lf\" cy=\"%lf\"", &at[i][0], &at[i][1]), 2);
  }
  assert_true(at[1][0] < at[0][0] && at[1][1] > at[0][1]);
  free(text);
}

static void the_middle_of_long_structures_is_left_out(void **state)
{
  const weir_structure s = chain(MAX);
  char *text = csv_of(&s);
  double x, y, z, first = INFINITY, last = -INFINITY;

  assert_true(count(text, "\n") <= WEIR_STRUCTURE_POINTS + 1);
  assert_true(count(text, "\n") >= WEIR_STRUCTURE_POINTS - 3);
  for (const char *at = strchr(text, '\n') + 1; *at != 0; at = strchr(at, '\n') + 1) {
    assert_int_equal(sscanf(strchr(at, ','), ",%lf,%lf,%lf", &x, &y, &z), 3);
    assert_true(x < 80 || x > 420);
    first = fmin(first, x);
    last = fmax(last, x);
  }
  assert_true(first == 0 && last == position[MAX - 1][0]);
  free(text);
  text = svg_of(&s);
  assert_non_null(strstr(text, "of 5000 points are drawn, those of the ends"));
  assert_true(strlen(text) < 300000);
  free(text);
}

/* Bonds of a tenth of a pixel otherwise. */
static void long_thin_structures_keep_bonds_that_can_be_seen(void **state)
{
  weir_structure s = chain(1000);

  for (int64_t i = 0; i < 1000; i++) {
    position[i][0] = (double)i;
    position[i][1] = position[i][2] = 0;
  }
  char *const text = svg_of(&s);

  assert_true(count(text, "<circle") > 100 && count(text, "<circle") < 160);
  free(text);
}

static void wide_structures_are_thinned(void **state)
{
  weir_structure s = chain(MAX);

  for (int64_t i = 0; i < MAX; i++) {
    position[i][0] = 2;
    position[i][1] = (double)(i % 70);
    position[i][2] = (double)(i / 70);
  }
  char *const text = csv_of(&s);

  assert_int_equal(count(text, "\n"), 1 + 1250);
  free(text);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
  FILE *const out = tmpfile();
  weir_structure s = chain(3);

  assert_non_null(out);
  s.n_points = 0;
  assert_int_equal(weir_structure_svg(&s, out), WEIR_ERR_SHAPE);
  s = chain(3);
  bond[1][1] = 3;
  assert_int_equal(weir_structure_svg(&s, out), WEIR_ERR_SHAPE);
  s = chain(3);
  kind[2] = 2;
  assert_int_equal(weir_structure_csv(&s, out), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "point 2 has kind 2 of 2"));
  s = chain(3);
  position[0][1] = NAN;
  assert_int_equal(weir_structure_csv(&s, out), WEIR_ERR_SHAPE);
  (void)fclose(out);
}

static weir_status make(void *context)
{
  FILE *const out = tmpfile();
  const weir_status status = weir_structure_svg(context, out);

  (void)fclose(out);
  return status;
}

static void memory_that_is_refused_is_reported(void **state)
{
  weir_structure s = chain(MAX);

  assert_int_equal(weir_check_faults(make, &s), 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_structures_are_drawn_whole),
      cmocka_unit_test(points_lie_within_the_drawing),
      cmocka_unit_test(z_leads_to_the_left_and_down),
      cmocka_unit_test(the_middle_of_long_structures_is_left_out),
      cmocka_unit_test(long_thin_structures_keep_bonds_that_can_be_seen),
      cmocka_unit_test(wide_structures_are_thinned),
      cmocka_unit_test(what_cannot_be_drawn_is_refused),
      cmocka_unit_test(memory_that_is_refused_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
