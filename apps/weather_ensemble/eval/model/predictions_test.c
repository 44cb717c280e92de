/* predictions_test.c - archives of mean and spread are distributions, those of members members;
 * what they lack is missing, and what does not fit is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "eval/forecast_model.h"
#include "eval/given.h"
#include "io/weir_netcdf.h"

enum { INIT_TIMES = 3, MEMBERS = 4, CELLS = 6, DAY = 86400, PATH = 512 };

static const int64_t start[INIT_TIMES] = {0, DAY, 2 * DAY}, member[MEMBERS] = {1, 2, 3, 4};
static const double lead[] = {24, 48}, lat[] = {10, 0}, lon[] = {0, 1, 2};
static wx_quantity quantity[4] = {
    {.variable = "z", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500},
    {.variable = "z_spread", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500},
    {.variable = "z_location", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500},
    {.variable = "z_scale", .units = "m2 s-2", .kind = WX_LEVEL_PRESSURE, .level = 500}};
static float values[INIT_TIMES * 2 * 4 * MEMBERS * CELLS];
static char dir[PATH], path[2 * PATH];

static wx_archive_info facts(int64_t init_times, int64_t leads, int64_t quantities, int64_t members)
{
  for (size_t k = 0; k < sizeof quantity / sizeof *quantity; k++) {
    wx_quantity_set_name(&quantity[k]);
  }
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    values[i] = (float)i;
  }
  return (wx_archive_info){.name = "forecasts",
                           .n_init_times = init_times,
                           .n_leads = leads,
                           .n_members = members,
                           .n_quantities = quantities,
                           .start = start + INIT_TIMES - init_times,
                           .lead = lead,
                           .member = member,
                           .quantity = quantity,
                           .grid = {.kind = WX_GRID_LATLON,
                                    .n_lat = 2,
                                    .n_lon = 3,
                                    .lat = lat,
                                    .lon = lon,
                                    .units = {"degrees_north", "degrees_east"}}};
}

/* A file of all that the facts have; distributions: its attribute, or NULL. */
static void write_named(const wx_archive_info *f, const char *distributions)
{
  wx_archive_writer *w = NULL;
  int64_t at = 0;

  assert_ok(wx_archive_create(path, f, &w));
  for (int64_t s = 0; s < f->n_init_times; s++) {
    for (int64_t l = 0; l < f->n_leads; l++) {
      for (int64_t q = 0; q < f->n_quantities; q++) {
        assert_ok(wx_archive_write(w, s, l, q, 0, f->n_members, values + at));
        at += f->n_members * CELLS;
      }
    }
  }
  if (distributions != NULL) {
    assert_ok(wx_archive_put_text(w, "distributions", distributions));
  }
  assert_ok(wx_archive_commit(&w));
}

static void write_file(const wx_archive_info *f)
{
  write_named(f, NULL);
}

typedef struct fixture {
  wx_archive *archive, *truth;
  wx_eval_data data;
  weir_config *config;
  wx_model_row row;
  wx_model model;
} fixture;

static weir_status open_fixture(fixture *t, const char *yaml)
{
  const wx_archive_info f = facts(INIT_TIMES, 2, 1, MEMBERS);
  char text[3 * PATH];

  memset(t, 0, sizeof *t);
  assert_ok(wx_archive_of_memory(&f, values, &t->archive));
  const wx_archive_info single = facts(INIT_TIMES, 2, 1, 1);

  assert_ok(wx_archive_of_memory(&single, values, &t->truth));
  assert_ok(wx_eval_data_open(t->archive, t->truth, &t->data));
  (void)snprintf(text, sizeof text, yaml, path);
  assert_ok(weir_opts_parse(wx_model_row_options, sizeof t->row, text, &t->row, &t->config));
  return wx_model_open(&t->row, &t->data, &t->model);
}

static void close_fixture(fixture *t)
{
  wx_model_close(&t->model);
  wx_eval_data_fini(&t->data);
  wx_archive_close(&t->archive);
  wx_archive_close(&t->truth);
  weir_config_destroy(&t->config);
}

static void begin(void)
{
  if (!weir_netcdf_available()) {
    printf("skipped: this build has no NetCDF\n");
    skip();
  }
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/predictions.nc", dir);
}

static const char *const yaml = "use: {predictions: {files: [%s], members: 5}}";

static void mean_and_spread_are_a_distribution(void **state)
{
  const wx_archive_info f = facts(2, 1, 2, 1); /* the last two times, at 24 h alone */
  wx_given g;
  fixture t;

  begin();
  write_file(&f);
  assert_ok(open_fixture(&t, yaml));
  assert_true(t.model.used == 5 && t.model.gives == 0);
  assert_string_equal(t.model.name, "predictions");
  assert_ok(wx_model_fit(&t.model, &t.data, 0, 0));
  assert_false(t.model.absent);
  assert_ok(wx_model_give(&t.model, &t.data, 2, &g));
  assert_int_equal(g.members, 0);
  assert_true(g.mean[1] == 2 * CELLS + 1 && g.sd[1] == 3 * CELLS + 1);
  assert_ok(wx_model_give(&t.model, &t.data, 0, &g));
  assert_true(isnan(g.mean[0]) && isnan(g.sd[5]));
  assert_ok(wx_model_fit(&t.model, &t.data, 1, 0));
  assert_true(t.model.absent);
  close_fixture(&t);
  weir_check_rmdir(dir);
}

static void members_are_members(void **state)
{
  const wx_archive_info f = facts(INIT_TIMES, 2, 1, 3);
  wx_given g;
  fixture t;

  begin();
  write_file(&f);
  assert_ok(open_fixture(&t, yaml));
  assert_int_equal(t.model.gives, 3);
  assert_ok(wx_model_fit(&t.model, &t.data, 1, 0));
  assert_ok(wx_model_give(&t.model, &t.data, 1, &g));
  assert_int_equal(g.members, 3);
  assert_true(g.member[2 * CELLS] == (3 * 3 + 2) * CELLS);
  close_fixture(&t);
  weir_check_rmdir(dir);
}

static void what_does_not_fit_is_refused(void **state)
{
  wx_archive_info f = facts(INIT_TIMES, 2, 1, 1);
  fixture t;

  begin();
  f.grid.lat = (const double[]){50, 40};
  write_file(&f);
  assert_int_equal(open_fixture(&t, yaml), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "is not on the grid of"));
  close_fixture(&t);
  assert_int_equal(open_fixture(&t, "use: predictions"), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "set files"));
  close_fixture(&t);
  weir_check_rmdir(dir);
}

static void a_named_distribution_is_read(void **state)
{
  const wx_archive_info f = facts(INIT_TIMES, 1, 4, 1);
  wx_given g;
  fixture t;

  begin();
  write_named(&f, "t500: logistic; z500: truncated_normal, lower 2");
  assert_ok(open_fixture(&t, yaml));
  assert_int_equal(t.model.gives, 0);
  assert_ok(wx_model_fit(&t.model, &t.data, 0, 0));
  assert_ok(wx_model_give(&t.model, &t.data, 1, &g));
  assert_true(g.mean[1] == 4 * CELLS + 1 && g.sd[1] == 5 * CELLS + 1);
  const wx_distribution d = wx_given_distribution(&g, 1);

  assert_int_equal(d.family, WX_TRUNCATED_NORMAL);
  assert_true(d.location == 6 * CELLS + 1 && d.scale == 7 * CELLS + 1 && d.lower == 2);
  close_fixture(&t);
  weir_check_rmdir(dir);
}

/* Never a normal distribution where another one was written. */
static void half_a_distribution_is_refused(void **state)
{
  static const struct {
    int64_t quantities;
    const char *text, *message;
  } bad[] = {{4, NULL, "attribute distributions, location and scale are not all there"},
             {3, "z500: logistic", "location and scale are not all there"},
             {2, "z500: logistic", "location and scale are not all there"},
             {4, "t500: logistic", "location and scale are not all there"},
             {4, "z500: cauchy", "is no list of distributions: 'z500: cauchy'"}};
  fixture t;

  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    const wx_archive_info f = facts(INIT_TIMES, 1, bad[k].quantities, 1);

    begin();
    write_named(&f, bad[k].text);
    assert_ok(open_fixture(&t, yaml));
    assert_int_equal(wx_model_fit(&t.model, &t.data, 0, 0), WEIR_ERR_DATA);
    assert_non_null(strstr(weir_last_message(), bad[k].message));
    close_fixture(&t);
    weir_check_rmdir(dir);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mean_and_spread_are_a_distribution),
      cmocka_unit_test(members_are_members),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(a_named_distribution_is_read),
      cmocka_unit_test(half_a_distribution_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
