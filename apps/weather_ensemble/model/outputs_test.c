/* outputs_test.c - distributions by quantity, what is refused, and their text. */
#include "model/outputs.h"
#include <string.h>
#include "base/weir_check.h"

static const wx_channel channel[] = {{.name = "z500"}, {.name = "ws500"}, {.name = "tprate"}};
enum { N = 3 };

static weir_status take(const wx_output_row *row, int64_t n, wx_output *out)
{
  const weir_struct_list rows = {.items = (void *)row, .count = n};

  return wx_outputs_of(&rows, channel, N, out);
}

static void rows_are_of_their_quantities(void **state)
{
  const wx_output_row row[] = {{"ws500", WX_TRUNCATED_NORMAL, 0.1, WX_NO_UPPER, 0},
                               {"tprate", WX_LOGISTIC, 0, WX_NO_UPPER, 0}};
  const wx_output_row gamma = {"tprate", WX_CENSORED_SHIFTED_GAMMA, 0, WX_NO_UPPER, 1e-6};
  const wx_output_row all = {"", WX_CENSORED_NORMAL, 0, WX_NO_UPPER, 0};
  const wx_output_row cover = {"tprate", WX_CENSORED_NORMAL, 0.1, 0.9, 0};
  const wx_output row_of_normal = {.family = WX_NORMAL};
  wx_output out[N];

  assert_ok(take(NULL, 0, out));
  assert_false(wx_outputs_differ(out, N));
  assert_ok(take(&row[1], 1, out));
  assert_true(wx_outputs_differ(out, N));
  assert_false(wx_outputs_bounded(out, N));
  assert_ok(take(row, 2, out));
  assert_true(wx_outputs_bounded(out, N));
  assert_int_equal(out[0].family, WX_NORMAL);
  assert_int_equal(out[1].family, WX_TRUNCATED_NORMAL);
  assert_true(out[1].lower == (double)0.1f); /* as f32 has it */
  assert_int_equal(out[2].family, WX_LOGISTIC);
  assert_ok(take(&all, 1, out));
  for (int c = 0; c < N; c++) {
    assert_int_equal(out[c].family, WX_CENSORED_NORMAL);
  }
  assert_false(wx_outputs_extra(out, N));
  assert_ok(take(&gamma, 1, out));
  assert_true(wx_outputs_extra(out, N) && wx_outputs_bounded(out, N));
  assert_true(out[2].shift == 1e-6 && wx_output_extra(&out[2]) == 1e-6);
  assert_ok(take(&cover, 1, out));
  assert_true(wx_outputs_extra(out, N) && wx_output_extra(&out[0]) == 0);
  assert_true(out[2].lower + out[2].width == (double)0.9f); /* as f32 has it */
  assert_ok(take(&gamma, 1, out));
  assert_near(wx_output_location(&out[2], 1, 1e-3), 1, 1e-6);
  assert_near(wx_output_location(&out[2], -1e-6, 1), 0.1 - 1e-6, 1e-15);
  assert_true(wx_output_location(&out[2], -5, 1) > -1e-6); /* not at its beginning */
  assert_true(wx_output_location(&row_of_normal, -5, 1) == -5);
}

static void rows_of_nothing_or_twice_are_refused(void **state)
{
  const wx_output_row unknown = {"t500", WX_LOGISTIC, 0, WX_NO_UPPER, 0};
  const wx_output_row twice[] = {{"", WX_LOGISTIC, 0, WX_NO_UPPER, 0},
                                 {"ws500", WX_NORMAL, 0, WX_NO_UPPER, 0}};
  const wx_output_row shifts[] = {{"tprate", WX_CENSORED_SHIFTED_GAMMA, 0, WX_NO_UPPER, 0},
                                  {"tprate", WX_CENSORED_LOGISTIC, 0, WX_NO_UPPER, 1}};
  const wx_output_row uppers[] = {{"tprate", WX_CENSORED_NORMAL, 1, 1, 0},
                                  {"tprate", WX_TRUNCATED_NORMAL, 0, 1, 0}};
  wx_output out[N];

  for (int k = 0; k < 2; k++) {
    assert_int_equal(take(&uppers[k], 1, out), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "model.distributions[0].upper: 1: families"));
  }
  assert_int_equal(take(&unknown, 1, out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "'t500' is none of data.target"));
  assert_int_equal(take(twice, 2, out), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "rows 0 and 1 are both of ws500"));
  for (int k = 0; k < 2; k++) {
    assert_int_equal(take(&shifts[k], 1, out), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), "model.distributions[0].shift"));
  }
}

static void texts_are_read_again(void **state)
{
  static const char *const bad[] = {"",
                                    "gauss",
                                    "truncated_normal",
                                    "normal, lower 0",
                                    "normal ",
                                    "censored_normal, lower ",
                                    "censored_normal, lower x",
                                    "censored_normal, lower 0 m",
                                    "censored_normal, lower nan",
                                    "censored_shifted_gamma, lower 0",
                                    "censored_shifted_gamma, lower 0, shift 0",
                                    "log_normal, lower 0, shift 1",
                                    "censored_normal, lower 0, upper 0",
                                    "censored_normal, lower 0, upper inf",
                                    "truncated_normal, lower 0, upper 1"};
  wx_output out;

  for (int f = 0; f < WX_FAMILIES; f++) {
    const bool bounded = wx_family_is_bounded((wx_family)f);
    const wx_output is = {(wx_family)f, bounded ? (double)-0.1f : 0,
                          f == WX_CENSORED_SHIFTED_GAMMA ? 1e-6 / 3 : 0,
                          wx_family_has_upper((wx_family)f) ? 100 + (double)0.1f : 0};
    char text[WX_NAME];

    wx_output_text(&is, text, sizeof text);
    assert_true(wx_output_parse(text, &out));
    assert_int_equal(out.family, is.family);
    assert_true(out.lower == is.lower && out.shift == is.shift && out.width == is.width);
  }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    assert_false(wx_output_parse(bad[k], &out));
  }
}

static void lists_are_read_again(void **state)
{
  static const wx_output output[] = {{WX_TRUNCATED_NORMAL, 0.5, 0, 0}, {WX_LOGISTIC, 0, 0, 0}};
  static const char *const bad[] = {"ws500", "ws500: ", "ws500: logistic; ", "ws500: logistic; t",
                                    "ws500: gauss; t: normal"};
  char list[128] = "";
  wx_output out = {.family = WX_NORMAL};
  bool found;

  assert_true(wx_output_find("", "ws500", &out, &found));
  assert_false(found);
  wx_output_list(&output[0], "ws500", list, sizeof list);
  wx_output_list(&output[1], "t500", list, sizeof list);
  assert_string_equal(list, "ws500: truncated_normal, lower 0.5; t500: logistic");
  assert_true(wx_output_find(list, "t500", &out, &found));
  assert_true(found && out.family == WX_LOGISTIC);
  assert_true(wx_output_find(list, "ws500", &out, &found));
  assert_true(found && out.family == WX_TRUNCATED_NORMAL && out.lower == 0.5);
  assert_true(wx_output_find(list, "s500", &out, &found));
  assert_false(found);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    assert_int_equal(wx_output_find(bad[k], "t500", &out, &found), k == 2);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_of_their_quantities),
      cmocka_unit_test(rows_of_nothing_or_twice_are_refused),
      cmocka_unit_test(texts_are_read_again),
      cmocka_unit_test(lists_are_read_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
