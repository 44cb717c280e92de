/* inventory_test.c - what is counted, what is refused, and that a copy is the same. */
#include "data/archive/inventory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "support/io/io_test.h"
#include "io/weir_netcdf.h"

enum { INIT_TIMES = 2, LEADS = 2, QUANTITIES = 2, MEMBERS = 3, COLUMNS = 4 };
enum { N = INIT_TIMES * LEADS * QUANTITIES * MEMBERS * COLUMNS };

static float values[N];
static const int64_t start[3] = {0, 86400, 172800}, member[MEMBERS] = {0, 1, 2};
static const double lead[LEADS] = {24, 48}, zero = 0, lat[1] = {0};
static const double lon[COLUMNS] = {0, 90, 180, 270};
static wx_quantity quantity[QUANTITIES];

static wx_archive_info facts(void)
{
  for (int k = 0; k < QUANTITIES; k++) {
    quantity[k] = (wx_quantity){.kind = WX_LEVEL_PRESSURE, .level = 500 + 350 * k};
    (void)snprintf(quantity[k].variable, WX_SHORT, "t");
    (void)snprintf(quantity[k].units, WX_SHORT, "K");
    wx_quantity_complete(&quantity[k]);
  }
  return (wx_archive_info){.name = "forecasts",
                           .n_init_times = INIT_TIMES,
                           .n_leads = LEADS,
                           .n_members = MEMBERS,
                           .n_quantities = QUANTITIES,
                           .start = start,
                           .lead = lead,
                           .member = member,
                           .quantity = quantity,
                           .grid = {.kind = WX_GRID_LATLON,
                                    .n_lat = 1,
                                    .n_lon = COLUMNS,
                                    .lat = lat,
                                    .lon = lon,
                                    .units = {"degrees_north", "degrees_east"},
                                    .wraps = true}};
}

static wx_archive_info truth_facts(void)
{
  wx_archive_info t = facts();

  t.name = "truths";
  t.n_init_times = 3;
  t.n_leads = t.n_members = t.n_quantities = 1;
  t.lead = &zero;
  return t;
}

static void every_value_is_counted(void **state)
{
  const wx_archive_info f = facts();
  wx_archive *a = NULL;
  wx_inventory s;

  (void)state;
  for (int i = 0; i < N; i++) {
    values[i] = i == 1 ? NAN : 250 + (float)(i % 7);
  }
  assert_ok(wx_archive_of_memory(&f, values, &a));
  assert_ok(wx_inventory_take(a, NULL, &s));
  assert_int_equal(s.n, LEADS * QUANTITIES);
  for (int64_t at = 0; at < s.n; at++) {
    const wx_inventory_line *l = &s.line[at];
    double sum = 0, square = 0, n = 0;

    for (int64_t i = 0; i < INIT_TIMES * MEMBERS * COLUMNS; i++) {
      const int64_t e = i / (MEMBERS * COLUMNS) * (s.n * MEMBERS * COLUMNS) +
                        at * MEMBERS * COLUMNS + i % (MEMBERS * COLUMNS);
      const double x = (double)values[e];

      sum += isnan(x) ? 0 : x;
      square += isnan(x) ? 0 : x * x;
      n += isnan(x) ? 0 : 1;
    }
    assert_true(l->fields == 6 && l->expected == 6 && l->missing == (at == 0));
    assert_near(l->mean, sum / n, 1e-12);
    assert_near(l->sd, sqrt(square / n - sum / n * (sum / n)), 1e-8);
    assert_true(l->min == 250 && l->max == 256);
    assert_null(wx_inventory_doubt(&quantity[at % 2], l));
  }
  assert_int_equal(s.absent, 0);
  assert_ok(wx_inventory_check(&f, &s, &(wx_import_opts){.members = 3}));
  assert_int_equal(wx_inventory_check(&f, &s, &(wx_import_opts){.members = 5}), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "have 3 members (0 to 2), import.members asks for 5"));
  wx_inventory_fini(&s);
  wx_archive_close(&a);
}

/* Over both leads, as over all their values at once. */
static void leads_are_pooled(void **state)
{
  const wx_archive_info f = facts();
  wx_archive *a = NULL;
  wx_inventory s, counted;

  (void)state;
  for (int i = 0; i < N; i++) {
    values[i] = i % 11 == 3 ? NAN : 250 + (float)(i * i % 17);
  }
  assert_ok(wx_archive_of_memory(&f, values, &a));
  assert_ok(wx_inventory_take(a, NULL, &s));
  assert_ok(wx_inventory_count(a, &counted));
  for (int64_t k = 0; k < QUANTITIES; k++) {
    const wx_inventory_line l = wx_inventory_pool(&s, k), none = wx_inventory_pool(&counted, k);
    double sum = 0, square = 0, n = 0;

    for (int64_t i = 0; i < N; i++) {
      const double x = (double)values[i];

      if (i / (MEMBERS * COLUMNS) % QUANTITIES == k && !isnan(x)) {
        sum += x;
        square += x * x;
        n += 1;
      }
    }
    assert_true(l.values == (int64_t)n && l.values + l.missing == N / QUANTITIES);
    assert_true(l.lead == -1 && l.fields == 12 && l.expected == 12);
    assert_near(l.mean, sum / n, 1e-12);
    assert_near(l.sd, sqrt(square / n - sum / n * (sum / n)), 1e-8);
    assert_true(none.fields == 12 && none.values == 0 && isnan(none.mean) && isnan(none.min));
  }
  assert_true(s.absent_at[0] == 0 && s.absent_at[1] == 0);
  wx_inventory_fini(&s);
  wx_inventory_fini(&counted);
  wx_archive_close(&a);
}

static void a_truth_has_to_go_with_its_forecast(void **state)
{
  const wx_archive_info f = facts();
  wx_archive_info t = truth_facts();
  const double moved[COLUMNS] = {45, 135, 225, 315};
  const int64_t late[] = {864000, 864001, 864002};
  wx_quantity other = quantity[0];
  int64_t found[LEADS];

  (void)state;
  assert_ok(wx_inventory_pair(&f, &t, found));
  assert_true(found[0] == 2 && found[1] == 1);
  t.n_members = 3;
  assert_int_equal(wx_inventory_pair(&f, &t, found), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "3 members; a truth has one"));
  t = truth_facts();
  t.n_leads = 2;
  t.lead = lead;
  assert_int_equal(wx_inventory_pair(&f, &t, found), WEIR_ERR_DATA);
  t = truth_facts();
  t.grid.lon = moved;
  assert_int_equal(wx_inventory_pair(&f, &t, found), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "forecasts (1 x 4 lat-lon"));
  t = truth_facts();
  t.start = late;
  assert_int_equal(wx_inventory_pair(&f, &t, found), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "the first is valid at 1970-01-02 00:00"));
  t = truth_facts();
  t.quantity = &other;
  (void)snprintf(other.units, WX_SHORT, "degC");
  assert_int_equal(wx_inventory_pair(&f, &t, found), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "'degC' in the truth"));
  (void)snprintf(other.name, WX_SHORT, "q1");
  assert_int_equal(wx_inventory_pair(&f, &t, found), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no quantity in common"));
}

static void strange_values_are_told(void **state)
{
  const wx_inventory_line code = {.fields = 1, .values = 9, .min = 270, .max = 9999, .sd = 1};
  const wx_inventory_line celsius = {.fields = 1, .values = 9, .min = -20, .max = 30, .sd = 1};
  const wx_inventory_line same = {.fields = 1, .values = 9, .min = 270, .max = 270};
  const wx_inventory_line none = {.fields = 1, .missing = 9};

  (void)state;
  (void)facts();
  assert_non_null(strstr(wx_inventory_doubt(quantity, &code), "code for missing"));
  assert_non_null(strstr(wx_inventory_doubt(quantity, &celsius), "units"));
  assert_non_null(strstr(wx_inventory_doubt(quantity, &same), "the same"));
  assert_non_null(strstr(wx_inventory_doubt(quantity, &none), "no value"));
}

/* The second start lacks a member: it is named; kept, it is missing in the copy too. */
static void absent_fields_are_named(void **state)
{
  char dir[256], path[2][300], to[300];
  const char *const paths[2] = {path[0], path[1]}, *const copied[1] = {to};
  wx_archive_info f = facts();
  wx_archive_writer *w = NULL;
  wx_archive *a = NULL;
  wx_inventory s;
  float x[MEMBERS * COLUMNS];

  (void)state;
  NEEDS_NETCDF();
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(to, sizeof to, "%s/copy.nc", dir);
  f.n_init_times = 1;
  for (int k = 0; k < 2; k++) {
    (void)snprintf(path[k], sizeof path[k], "%s/%d.nc", dir, k);
    f.start = &start[k];
    f.n_members = MEMBERS - k;
    assert_ok(wx_archive_create(path[k], &f, &w));
    for (int64_t i = 0; i < LEADS * QUANTITIES; i++) {
      assert_ok(wx_archive_write(w, 0, i / QUANTITIES, i % QUANTITIES, 0, f.n_members, values));
    }
    assert_ok(wx_archive_commit(&w));
  }
  assert_ok(wx_archive_open(paths, 2, &a));
  assert_ok(wx_archive_create(to, wx_archive_get(a), &w));
  assert_ok(wx_inventory_take(a, w, &s));
  assert_ok(wx_archive_commit(&w));
  assert_int_equal(s.absent, LEADS * QUANTITIES);
  assert_true(s.line[0].fields == 5 && s.line[0].expected == 6);
  assert_true(s.absent_at[0] == 0 && s.absent_at[1] == LEADS * QUANTITIES);
  assert_int_equal(wx_inventory_check(wx_archive_get(a), &s, &(wx_import_opts){.members = 0}),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(),
                         "t500 of initialisation time 1970-01-02 00:00, lead 24 h, member 2"));
  assert_ok(wx_inventory_check(wx_archive_get(a), &s,
                               &(wx_import_opts){.incomplete = WX_INCOMPLETE_KEEP}));
  wx_inventory_fini(&s);
  wx_archive_close(&a);
  assert_ok(wx_archive_open(copied, 1, &a));
  assert_ok(wx_archive_read(a, 1, 1, 1, 0, MEMBERS, x));
  assert_memory_equal(x, values, 2 * COLUMNS * sizeof *x);
  assert_true(isnan(x[2 * COLUMNS]));
  wx_archive_close(&a);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_value_is_counted),
      cmocka_unit_test(leads_are_pooled),
      cmocka_unit_test(a_truth_has_to_go_with_its_forecast),
      cmocka_unit_test(strange_values_are_told),
      cmocka_unit_test(absent_fields_are_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
