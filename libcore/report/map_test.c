/* map_test.c - the largest y is above, missing values are white, large fields are averaged, numbers
 * come back. */
#include "report/weir_map.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "support/report/report_check.h"

typedef weir_status (*writer)(const weir_map *map, FILE *out);

/* Text of a map; the caller frees it. */
static char *text_of(writer write, const weir_map *map)
{
  FILE *const out = tmpfile();

  assert_non_null(out);
  assert_ok(write(map, out));
  return text_written(out);
}

static void rows_stand_as_their_coordinates_say(void **state)
{
  const double value[] = {1, 2, 3, NAN}, up[] = {10, 20}, down[] = {20, 10}, x[] = {0, 5};
  weir_map m = {.title = "t",
                .x_label = "x",
                .y_label = "y",
                .unit = "K",
                .rows = 2,
                .columns = 2,
                .x = x,
                .y = up,
                .value = value};
  char *text = text_of(weir_map_csv, &m);

  assert_string_equal(text, "x,y,value\n0,20,3\n5,20,\n0,10,1\n5,10,2\n");
  free(text);
  m.y = down;
  text = text_of(weir_map_csv, &m);
  assert_string_equal(text, "x,y,value\n0,20,1\n5,20,2\n0,10,3\n5,10,\n");
  free(text);
}

static void cells_of_one_colour_are_one_path(void **state)
{
  const double value[] = {0, 0, 0, 1, NAN, 1};
  const weir_map m = {.title = "a & b",
                      .x_label = "",
                      .y_label = "",
                      .unit = "1",
                      .rows = 2,
                      .columns = 3,
                      .value = value};
  char *text = text_of(weir_map_svg, &m), *again = text_of(weir_map_svg, &m);

  assert_int_equal(count(text, "<path"), 2);
  assert_int_equal(count(text, "Z"), 3); /* one run of zeros, two ones */
  assert_non_null(strstr(text, "a &amp; b"));
  assert_string_equal(text, again);
  free(text);
  free(again);
}

static void large_fields_are_averaged(void **state)
{
  enum { ROWS = 241, COLUMNS = 361 };
  static double value[ROWS * COLUMNS];
  double sum = 0;
  int lines = 0;

  for (int i = 0; i < ROWS * COLUMNS; i++) {
    value[i] = i % 2;
  }
  const weir_map m = {.title = "",
                      .x_label = "",
                      .y_label = "",
                      .unit = "",
                      .rows = ROWS,
                      .columns = COLUMNS,
                      .value = value,
                      .diverging = true};
  char *text = text_of(weir_map_csv, &m);

  for (char *line = strtok(text, "\n"); (line = strtok(NULL, "\n")) != NULL; lines++) {
    sum += strtod(strrchr(line, ',') + 1, NULL);
  }
  assert_true(lines <= 180 * 120 && lines > 5000);
  assert_near(sum / lines, 0.5, 0.01);
  free(text);
}

/* Ticks are round numbers where they lie between the middles of cells, also of uneven ones. */
static void axes_have_round_numbers(void **state)
{
  const double x[] = {0.7, 3.3, 41.9, 100.2}, y[] = {1.97, 0.03, -2.03};
  const double value[12] = {0, 0.717};
  const weir_map m = {.title = "",
                      .x_label = "",
                      .y_label = "",
                      .unit = "",
                      .rows = 3,
                      .columns = 4,
                      .x = x,
                      .y = y,
                      .value = value};
  char *text = text_of(weir_map_svg, &m), tag[64];
  static const char *const shown[] = {">20<", ">100<", ">2<", ">-2<", ">0.2<", ">0<"};

  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    assert_non_null(strstr(text, shown[i]));
  }
  assert_null(strstr(text, "41.9"));
  assert_null(strstr(text, "1.97"));
  assert_null(strstr(text, "717"));
  /* 20 of x: between the middles of cells 1 and 2 of 4 across 560 pixels from 84 on */
  (void)snprintf(tag, sizeof tag, "<text x=\"%.1f\"", 84 + 140 * (1.5 + (20 - 3.3) / (41.9 - 3.3)));
  assert_non_null(strstr(text, tag));
  free(text);
}

static void constants_and_nothing_have_a_scale(void **state)
{
  const double same[] = {5, 5}, none[] = {NAN, NAN};
  weir_map m = {.title = "",
                .x_label = "",
                .y_label = "",
                .unit = "",
                .rows = 1,
                .columns = 2,
                .value = same};

  free(text_of(weir_map_svg, &m));
  m.value = none;
  m.diverging = true;
  char *text = text_of(weir_map_svg, &m);

  assert_int_equal(count(text, "<path"), 0);
  assert_int_equal(count(text, "nan"), 0);
  free(text);
  m.value = NULL;
  assert_int_equal(weir_map_svg(&m, stderr), WEIR_ERR_SHAPE);
}

/* Coasts are drawn where longitudes and latitudes are, from any meridian on, with ticks of a chart.
 */
static void coasts_lie_on_maps_of_the_globe(void **state)
{
  enum { ROWS = 18, COLUMNS = 36 };
  double value[ROWS * COLUMNS] = {0}, lat[ROWS], lon[2][COLUMNS];
  size_t length[2];

  for (int j = 0; j < ROWS; j++) {
    lat[j] = 85 - 10.0 * j;
  }
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < COLUMNS; i++) {
      lon[k][i] = 10.0 * i + (k == 0 ? 5 : -175);
    }
    weir_map m = {.title = "t",
                  .unit = "1",
                  .rows = ROWS,
                  .columns = COLUMNS,
                  .x = lon[k],
                  .y = lat,
                  .value = value};
    char *const plain = text_of(weir_map_svg, &m);

    m.degrees = true;
    char *const text = text_of(weir_map_svg, &m);
    const char *const coast = strstr(text, "stroke-opacity=\"0.6\"");

    assert_non_null(coast);
    assert_null(strstr(plain, "stroke-opacity=\"0.6\""));
    assert_non_null(strstr(text, k == 0 ? ">180</text>" : ">-120</text>"));
    assert_non_null(strstr(text, ">-60</text>"));
    length[k] = strlen(text) - strlen(plain);
    free(text);
    free(plain);
  }
  /* The same coasts, but for those that the edge cuts. */
  assert_true(fabs((double)length[0] / (double)length[1] - 1) < 0.1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coasts_lie_on_maps_of_the_globe),
      cmocka_unit_test(rows_stand_as_their_coordinates_say),
      cmocka_unit_test(cells_of_one_colour_are_one_path),
      cmocka_unit_test(large_fields_are_averaged),
      cmocka_unit_test(axes_have_round_numbers),
      cmocka_unit_test(constants_and_nothing_have_a_scale),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
