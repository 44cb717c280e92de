/* forecast_model_yaml_test.c - the evaluation data finds the truth of a forecast, and raw members
 * are some of all.
 */
#include "eval/forecast_model.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"

enum { INIT_TIMES = 3, LEADS = 2, MEMBERS = 4, CELLS = 6, DAY = 86400 };

static const int64_t start[INIT_TIMES] = {0, DAY, 2 * DAY}, member[MEMBERS] = {0, 1, 2, 3};
static const double lead[LEADS] = {0, 24}, lat[] = {10, 0}, lon[] = {0, 1, 2};
static wx_quantity quantity = {.variable = "t", .units = "K", .kind = WX_LEVEL_SURFACE};
static float values[INIT_TIMES * LEADS * MEMBERS * CELLS], truth[(INIT_TIMES - 1) * CELLS];

static wx_archive_info facts(void)
{
  wx_quantity_complete(&quantity);
  for (int i = 0; i < INIT_TIMES * LEADS * MEMBERS * CELLS; i++) {
    values[i] = (float)i;
  }
  for (int i = 0; i < (INIT_TIMES - 1) * CELLS; i++) {
    truth[i] = (float)-i;
  }
  return (wx_archive_info){.name = "forecasts",
                           .n_init_times = INIT_TIMES,
                           .n_leads = LEADS,
                           .n_members = MEMBERS,
                           .n_quantities = 1,
                           .start = start,
                           .lead = lead,
                           .member = member,
                           .quantity = &quantity,
                           .grid = {.kind = WX_GRID_LATLON,
                                    .n_lat = 2,
                                    .n_lon = 3,
                                    .lat = lat,
                                    .lon = lon,
                                    .units = {"degrees_north", "degrees_east"}}};
}

typedef struct pair {
  wx_archive *forecast, *truth;
  wx_eval_data data;
} pair;

static void open_pair(pair *p)
{
  const wx_archive_info f = facts();
  wx_archive_info t = f;

  t.name = "truth";
  t.n_init_times = INIT_TIMES - 1; /* from the second day on */
  t.start = start + 1;
  t.n_leads = t.n_members = 1;
  assert_ok(wx_archive_of_memory(&f, values, &p->forecast));
  assert_ok(wx_archive_of_memory(&t, truth, &p->truth));
  assert_ok(wx_eval_data_open(p->forecast, p->truth, &p->data));
}

static void close_pair(pair *p)
{
  wx_eval_data_fini(&p->data);
  wx_archive_close(&p->forecast);
  wx_archive_close(&p->truth);
}

static void truth_is_that_of_the_valid_time(void **state)
{
  const float *field;
  pair p;

  open_pair(&p);
  assert_int_equal(wx_eval_data_valid(&p.data, 0, 0, 0), -1);
  assert_int_equal(wx_eval_data_valid(&p.data, 0, 1, 0), 0);
  assert_int_equal(wx_eval_data_valid(&p.data, 1, 1, 0), 1);
  assert_int_equal(wx_eval_data_valid(&p.data, 2, 1, 0), -1);
  assert_ok(wx_eval_data_truth(&p.data, 2, 0, 0, &field));
  assert_true(field[2] == -8);
  assert_ok(wx_eval_data_truth(&p.data, 2, 1, 0, &field));
  assert_null(field);
  close_pair(&p);
}

static void raw_members_are_those_asked_for(void **state)
{
  weir_config *config = NULL;
  wx_model_row row;
  wx_model m;
  wx_given g;
  pair p;

  open_pair(&p);
  assert_ok(weir_opts_parse(wx_model_row_options, sizeof row, "use: {raw: {members: 2, first: 1}}",
                            &row, &config));
  assert_ok(wx_model_open(&row, &p.data, &m));
  assert_string_equal(m.name, "raw 2");
  assert_true(m.used == 2 && m.gives == 2);
  assert_ok(wx_model_fit(&m, &p.data, 1, 0));
  assert_ok(wx_model_give(&m, &p.data, 2, &g));
  assert_int_equal(g.members, 2);
  assert_true(g.member[0] == ((2 * LEADS + 1) * MEMBERS + 1) * CELLS); /* without the control */
  wx_model_close(&m);
  weir_config_destroy(&config);
  const wx_model_row plain = {.name = "all", .use = {.name = "raw"}};

  assert_ok(wx_model_open(&plain, &p.data, &m));
  assert_string_equal(m.name, "all");
  assert_int_equal(m.gives, 4); /* the control among them */
  wx_model_close(&m);
  close_pair(&p);
}

static void refusals_say_why(void **state)
{
  weir_config *config = NULL;
  wx_model_row row = {.name = ""};
  wx_model m;
  pair p;

  open_pair(&p);
  assert_int_equal(wx_model_open(&row, &p.data, &m), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "{raw: {members: 5}}"));
  assert_ok(weir_opts_parse(wx_model_row_options, sizeof row, "use: {raw: {members: 4, first: 1}}",
                            &row, &config));
  assert_int_equal(wx_model_open(&row, &p.data, &m), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "4 members from number 1 on"));
  weir_config_destroy(&config);
  wx_archive_info other = facts();
  wx_archive *truth_elsewhere = NULL;
  wx_eval_data s;

  other.n_leads = other.n_members = 1;
  other.grid.lon = (const double[]){3, 4, 5};
  assert_ok(wx_archive_of_memory(&other, values, &truth_elsewhere));
  assert_int_equal(wx_eval_data_open(p.forecast, truth_elsewhere, &s), WEIR_ERR_SHAPE);
  wx_archive_close(&truth_elsewhere);
  close_pair(&p);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(truth_is_that_of_the_valid_time),
      cmocka_unit_test(raw_members_are_those_asked_for),
      cmocka_unit_test(refusals_say_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
