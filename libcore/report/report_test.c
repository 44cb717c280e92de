/* report_test.c - content of the page, when it appears, and refusals. */
#include "report/weir_report.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

static const double some[] = {1, 2, 3};
static const weir_figure_series series = {.kind = WEIR_FIGURE_POINTS, .n = 3, .x = some, .y = some};
static const weir_figure figure = {.title = "f", .series = &series, .n_series = 1};
static const char *const head[] = {"what", "value"};

static bool is_there(const char *dir, const char *name)
{
  char path[512];

  assert_ok(weir_path_join(dir, name, path, sizeof path));
  return weir_file_exists(path);
}

static weir_status fill(weir_report *r)
{
  weir_table cells = {0};

  weir_report_fact(r, "seed", "%d", 7);
  WEIR_TRY(weir_report_heading(r, "a & b"));
  WEIR_TRY(weir_report_heading(r, "c"));
  WEIR_TRY(weir_report_text(r, "<%s>", "script"));
  weir_table_add(&cells, "beats");
  weir_table_add(&cells, "%d", 1902);
  const weir_status status = weir_table_report(&cells, r, "scores", 2, head);
  weir_table_fini(&cells);
  WEIR_TRY(status);
  return weir_report_figure(r, "points", &figure);
}

static const double corner[2][3] = {{0, 0, 0}, {1, 0, 0}};
static const int kinds_of[] = {0, 0};
static const int64_t bonds[1][2] = {{0, 1}};
static const weir_structure_kind kind = {"C", "#505050", 1};
static const weir_structure structure = {.title = "s",
                                         .axis = {"x", "y", "z"},
                                         .n_points = 2,
                                         .position = corner,
                                         .kind = kinds_of,
                                         .n_kinds = 1,
                                         .kinds = &kind,
                                         .n_bonds = 1,
                                         .bond = bonds};

/* One legend of two series moves the axes of both figures of a row down. */
static void figures_of_a_row_are_aligned(void **state)
{
  const weir_figure_series two[] = {
      {.kind = WEIR_FIGURE_POINTS, .name = "a", .n = 3, .x = some, .y = some},
      {.kind = WEIR_FIGURE_POINTS, .name = "b", .n = 3, .x = some, .y = some}};
  const weir_figure row[] = {{.title = "f", .series = &series, .n_series = 1, .width = 300},
                             {.title = "g", .series = two, .n_series = 2, .width = 300}};
  const char *const names[] = {"left", "right"};
  char dir[256], path[512], *text = NULL;
  int64_t size = 0, n = 0;
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(weir_report_row(r, 2, names, row));
  assert_ok(weir_report_structure(r, "device", &structure));
  assert_ok(weir_report_commit(&r, WEIR_OK));
  assert_true(is_there(dir, "figures/left.svg") && is_there(dir, "figures/right.csv"));
  assert_true(is_there(dir, "figures/device.svg") && is_there(dir, "figures/device.csv"));
  assert_ok(weir_path_join(dir, "report.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "<div class=\"row\">\n<figure id=\"figure_left\">"));
  for (const char *at = text; (at = strstr(at, "width=\"300\" height=\"316\"")) != NULL; at++) {
    n++;
  }
  assert_int_equal(n, 2);
  weir_free(&text);
  weir_check_rmdir(dir);
}

static void a_page_appears_when_it_is_committed(void **state)
{
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(fill(r));
  assert_false(is_there(dir, "report.html"));
  assert_false(is_there(dir, "figures/points.svg"));
  assert_ok(weir_report_commit(&r, WEIR_OK));
  assert_null(r);
  assert_true(is_there(dir, "figures/points.svg"));
  assert_true(is_there(dir, "figures/points.csv"));
  assert_ok(weir_path_join(dir, "report.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "<h2 id=\"part_1\">a &amp; b</h2>"));
  assert_non_null(
      strstr(text, "<li><a href=\"#part_1\">a &amp; b</a></li>\n<li><a href=\"#part_2"));
  assert_non_null(strstr(text, "<p id=\"about\">Weir "));
  assert_non_null(strstr(text, " \xc2\xb7 seed 7</p>"));
  assert_non_null(strstr(text, "<meta name=\"viewport\""));
  assert_non_null(strstr(text, "prefers-color-scheme:dark"));
  assert_non_null(strstr(text, "role=\"img\">\n<title>f</title>"));
  assert_non_null(strstr(text, "<p>&lt;script&gt;</p>"));
  assert_non_null(strstr(text, "<table id=\"scores\">"));
  assert_non_null(strstr(text, "<tr><td>beats</td><td class=\"number\">1902</td></tr>"));
  assert_non_null(strstr(text, "<figure id=\"figure_points\">"));
  assert_non_null(strstr(text, "</main></body></html>"));
  weir_free(&text);
  weir_check_rmdir(dir);
}

static void pages_of_a_folder_link_each_other(void **state)
{
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open_page(dir, "other.html", "t", &r));
  assert_ok(weir_report_link(r, "report.html", "a < b"));
  assert_false(is_there(dir, "other.html"));
  assert_ok(weir_report_commit(&r, WEIR_OK));
  assert_false(is_there(dir, "report.html"));
  assert_ok(weir_path_join(dir, "other.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "<p><a href=\"report.html\">a &lt; b</a></p>"));
  weir_free(&text);
  weir_check_rmdir(dir);
}

/* A page with a table of `rows` rows and three figures in DIR/step, and what the page
 * DIR/index.html shows of it. */
static char *excerpt_of(const char *dir, int64_t rows)
{
  static const char *const names[] = {"one", "two", "three"};
  const weir_figure drawing = {.title = "a \"b\" < c"};
  char path[512], *text = NULL;
  weir_table cells = {0};
  int64_t size = 0;
  weir_report *r = NULL;

  assert_ok(weir_path_join(dir, "step", path, sizeof path));
  assert_ok(weir_dir_create(path));
  assert_ok(weir_report_open(path, "t", &r));
  for (int64_t i = 0; i < rows; i++) {
    weir_table_add_real_pair(&cells, "v", 1.5e-7);
  }
  assert_ok(weir_table_report_pairs(&cells, r, "first"));
  weir_table_add_real_pair(&cells, "v", 3);
  assert_ok(weir_table_report_pairs(&cells, r, "second"));
  for (int i = 0; i < 3; i++) {
    assert_ok(weir_report_figure(r, names[i], &drawing));
  }
  assert_ok(weir_report_commit(&r, WEIR_OK));
  assert_ok(weir_report_open_page(dir, "index.html", "t", &r));
  assert_ok(weir_report_subheading(r, "step", "a & b"));
  assert_ok(weir_report_verbatim(r, "run  --set x=1e-07\n<b>"));
  assert_ok(weir_report_commit(&r, weir_report_excerpt(r, "step")));
  assert_ok(weir_path_join(dir, "index.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  return text;
}

static void a_page_shows_the_main_results_of_another(void **state)
{
  char dir[256], *text;

  weir_check_mkdir(dir, sizeof dir);
  text = excerpt_of(dir, WEIR_EXCERPT_ROWS);
  assert_non_null(strstr(text, "<h3 id=\"step\">a &amp; b</h3>"));
  assert_non_null(strstr(text, "<pre>run  --set x=1e-07\n&lt;b&gt;</pre>"));
  assert_non_null(strstr(text, "<table id=\"step:first\">\n<tr><th scope=\"col\">quantity</th>"));
  assert_non_null(strstr(text, "<td class=\"number\" data-value=\"1.5e-07\">1.5"));
  assert_null(strstr(text, "second"));
  assert_non_null(strstr(text,
                         "<figure><a href=\"step/report.html#figure_one\"><img loading=\"lazy\" "
                         "src=\"step/figures/one.svg\" width=\"760\" height=\"300\" alt=\"a "
                         "&quot;b&quot; &lt; c\"></a></figure>"));
  assert_non_null(strstr(text, "figures/two.svg"));
  assert_null(strstr(text, "figures/three.svg"));
  weir_free(&text);
  text = excerpt_of(dir, WEIR_EXCERPT_ROWS + 1);
  assert_non_null(strstr(text, "<p>The page has a table of 41 rows.</p>"));
  assert_null(strstr(text, "step:first"));
  weir_free(&text);
  weir_check_rmdir(dir);
}

/* A page that is cut off, or not of this module, shows what is whole. */
static void what_is_shown_of_a_damaged_page_is_whole(void **state)
{
  static const char *const pages[] = {"", "<table id=\"a\">\n<tr>", "<figure id=\"figure_a\"",
                                      "<figure id=\"figure_a\">\n<svg width=\"1\" viewBox=<title>"};
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "report.html", path, sizeof path));
  for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
    weir_report *r = NULL;
    char index[512];

    weir_check_write(path, pages[i], strlen(pages[i]));
    assert_ok(weir_report_open_page(dir, "index.html", "t", &r));
    assert_ok(weir_report_commit(&r, weir_report_excerpt(r, ".")));
    assert_ok(weir_path_join(dir, "index.html", index, sizeof index));
    assert_ok(weir_file_read(index, 1 << 20, &text, &size));
    assert_null(strstr(text, "<table"));
    assert_null(strstr(text, "<img"));
    weir_free(&text);
  }
  weir_report *r = NULL;
  assert_ok(weir_report_open_page(dir, "other.html", "t", &r));
  assert_int_equal(weir_report_excerpt(r, "nowhere"), WEIR_ERR_DATA);
  weir_report_destroy(&r);
  weir_check_rmdir(dir);
}

static void a_page_that_is_given_up_leaves_nothing(void **state)
{
  char dir[256], path[512];
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(fill(r));
  weir_report_destroy(&r);
  weir_report_destroy(&r);
  assert_ok(weir_path_join(dir, "figures", path, sizeof path));
  assert_false(weir_dir_has_entries(path));
  assert_false(is_there(dir, "report.html"));
  weir_check_rmdir(dir);
}

static void wrong_names_and_tables_are_refused(void **state)
{
  char dir[256];
  weir_report *r = NULL;
  weir_table cells = {0};

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open(dir, "t", &r));
  assert_int_equal(weir_report_figure(r, "../x", &figure), WEIR_ERR_SHAPE);
  assert_int_equal(weir_report_figure(r, "", &figure), WEIR_ERR_SHAPE);
  assert_ok(weir_report_figure(r, "x", &figure));
  assert_int_equal(weir_report_figure(r, "x", &figure), WEIR_ERR_SHAPE);
  weir_table_add(&cells, "alone");
  assert_int_equal(weir_table_report(&cells, r, "t", 2, head), WEIR_ERR_SHAPE);
  weir_table_fini(&cells);
  weir_report_destroy(&r);
  weir_check_rmdir(dir);
}

static void cells_become_a_file_of_columns(void **state)
{
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;
  weir_table cells = {0};

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_table_write_csv(&cells, dir, "none.csv", 2, head));
  weir_table_add(&cells, "a, \"b\"");
  assert_int_equal(weir_table_write_csv(&cells, dir, "t.csv", 2, head), WEIR_ERR_SHAPE);
  assert_false(is_there(dir, "t.csv"));
  weir_table_add(&cells, "%d", 1902);
  weir_table_add(&cells, "%s", "");
  weir_table_add(&cells, "two\nlines");
  assert_ok(weir_table_write_csv(&cells, dir, "t.csv", 2, head));
  assert_ok(weir_path_join(dir, "t.csv", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_string_equal(text, "what,value\n\"a, \"\"b\"\"\",1902\n,\"two\nlines\"\n");
  weir_free(&text);
  assert_ok(weir_path_join(dir, "none.csv", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_string_equal(text, "what,value\n");
  weir_free(&text);
  weir_table_fini(&cells);
  weir_check_rmdir(dir);
}

static void pairs_and_numbers_become_cells(void **state)
{
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;
  weir_report *r = NULL;
  weir_table c = {0};

  weir_table_add_number(&c, "%.2f", 0.126, "none");
  weir_table_add_number(&c, "%.2f", NAN, "none");
  weir_table_add_pair(&c, "length", "%d %s", 7, "m");
  weir_table_add_count_pair(&c, "samples", 1234567);
  weir_table_add_real_pair(&c, "rate", NAN);
  assert_int_equal(c.count, 8);
  assert_string_equal(c.cell[0], "0.13");
  assert_string_equal(c.cell[1], "none");
  assert_string_equal(c.cell[3], "7 m");
  assert_string_equal(c.cell[5], "1234567");
  assert_string_equal(c.cell[7], "-");
  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(weir_report_commit(&r, weir_table_report_pairs(&c, r, "pairs")));
  assert_int_equal(c.count, 0);
  assert_ok(weir_path_join(dir, "report.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "id=\"pairs\""));
  assert_non_null(strstr(text, "quantity"));
  weir_free(&text);
  weir_check_rmdir(dir);
}

/* What a person reads is typeset, what a program reads is next to it, and cells are shaded. */
static void cells_are_typeset_and_marked(void **state)
{
  static const char *const cells[] = {"3.9e-07", "<1e-3>", "+2.5", "nan"};
  static const signed char mark[] = {0, 0, 1, 0};
  static const char *const address[] = {NULL, "a?b&c", NULL, NULL};
  char dir[256], path[512], *text = NULL;
  int64_t size = 0;
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(weir_report_add_rows(r, &(weir_report_rows){.id = "m",
                                                        .columns = 2,
                                                        .rows = 2,
                                                        .head = head,
                                                        .cells = cells,
                                                        .mark = mark,
                                                        .address = address}));
  assert_ok(weir_report_text(r, "to %g eV", 1e-9));
  assert_ok(weir_report_commit(&r, WEIR_OK));
  assert_ok(weir_path_join(dir, "report.html", path, sizeof path));
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  assert_non_null(strstr(text, "<td class=\"number\" data-value=\"3.9e-07\">3.9"));
  assert_non_null(strstr(text, "<td><a href=\"a?b&amp;c\">&lt;1e-3&gt;</a></td>"));
  assert_non_null(strstr(text, "<td class=\"none\" data-value=\"nan\" title=\"not computed\">"));
  assert_non_null(strstr(text, "<td class=\"number good\">+2.5</td>"));
  assert_non_null(strstr(text, "to 10<sup>"));
  weir_free(&text);
  weir_check_rmdir(dir);
}

static void page_that_is_not_filled_does_not_appear(void **state)
{
  char dir[256], path[512];
  weir_report *r = NULL;

  weir_check_mkdir(dir, sizeof dir);
  assert_ok(weir_path_join(dir, "report.html", path, sizeof path));
  assert_ok(weir_report_open(dir, "t", &r));
  assert_int_equal(weir_report_commit(&r, WEIR_ERR_NUMERIC), WEIR_ERR_NUMERIC);
  assert_null(r);
  assert_false(weir_file_exists(path));
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(weir_report_commit(&r, weir_report_heading(r, "A")));
  assert_null(r);
  assert_true(weir_file_exists(path));
  weir_check_rmdir(dir);
}

static weir_status make(void *context)
{
  weir_report *r = NULL;

  WEIR_TRY(weir_report_open(context, "t", &r));
  const weir_status status = fill(r);
  weir_report_destroy(&r);
  return status;
}

static void every_fault_of_memory_is_reported(void **state)
{
  char dir[256];

  weir_check_mkdir(dir, sizeof dir);
  assert_true(weir_check_faults(make, dir) > 4);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_of_a_row_are_aligned),
      cmocka_unit_test(a_page_appears_when_it_is_committed),
      cmocka_unit_test(pages_of_a_folder_link_each_other),
      cmocka_unit_test(a_page_shows_the_main_results_of_another),
      cmocka_unit_test(what_is_shown_of_a_damaged_page_is_whole),
      cmocka_unit_test(a_page_that_is_given_up_leaves_nothing),
      cmocka_unit_test(wrong_names_and_tables_are_refused),
      cmocka_unit_test(cells_become_a_file_of_columns),
      cmocka_unit_test(pairs_and_numbers_become_cells),
      cmocka_unit_test(cells_are_typeset_and_marked),
      cmocka_unit_test(page_that_is_not_filled_does_not_appear),
      cmocka_unit_test(every_fault_of_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
