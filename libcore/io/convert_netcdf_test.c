/* convert_netcdf_test.c - records to NetCDF and back; files of others, strange and truncated ones.
 */
#include "support/io/convert_check.h"
#include <math.h>
#include "io/weir_netcdf.h"
#include "io/weir_record_convert.h"

/* Texts of MIT-BIH count a byte of 0: the files come back byte by byte. */
static void annotations_through_netcdf(void **state)
{
  static const char *const names[] = {"100", "119", "208"};

  NEEDS_NETCDF();
  for (int i = 0; i < 3; i++) {
    char path[4096];
    weir_record *r = NULL;
    weir_annotations a;
    weir_record_events events;
    weir_convert_facts facts;
    char *before = NULL, *after = NULL;
    int64_t sizes[2] = {0};

    weir_check_shared(path, sizeof path, "physio/wfdb/mitdb");
    snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", names[i]);
    assert_ok(weir_record_open(path, NULL, &r));
    strcat(path, ".atr");
    assert_ok(weir_annotations_read(path, &a));
    assert_ok(weir_record_events_from(&a, 360, 1, &events));
    assert_ok(weir_record_to_netcdf(r, &events, NULL, in_dir("m.nc"), &facts));
    weir_record_events_fini(&events);
    weir_annotations_fini(&a);
    weir_record_close(&r);
    assert_ok(weir_record_open(in_dir("m.nc"), NULL, &r));
    assert_ok(weir_record_events_read(r, &events));
    assert_ok(weir_record_to_wfdb(r, &events, NULL, in_dir("m"), &any, &facts));
    weir_record_events_fini(&events);
    weir_record_close(&r);
    assert_ok(weir_file_read(path, 1 << 24, &before, &sizes[0]));
    assert_ok(weir_file_read(in_dir("m.atr"), 1 << 24, &after, &sizes[1]));
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(before, after, (size_t)sizes[0]);
    weir_free(&before);
    weir_free(&after);
    assert_int_equal(remove(in_dir("m.nc")), 0);
  }
}

static void edf_through_netcdf(void **state)
{
  weir_record *e = NULL;
  weir_record *n = NULL;
  weir_record_events events[2];
  weir_convert_facts facts;
  int64_t us[2] = {0};

  NEEDS_NETCDF();
  make_edf_file(in_dir("e.edf"));
  assert_ok(weir_record_open(in_dir("e.edf"), NULL, &e));
  assert_ok(weir_record_events_read(e, &events[0]));
  events[0].items[1].duration = 2500000;
  events[0].items[0].code = WEIR_ANN_PVC;
  events[0].items[0].subtype = -3;
  events[0].items[0].zeros = 2;
  assert_ok(weir_record_to_netcdf(e, &events[0], NULL, in_dir("e.nc"), &facts));
  assert_ok(weir_record_open(in_dir("e.nc"), NULL, &n));
  same_samples(e, n, true, 1e-5);
  for (int i = 0; i < 2; i++) {
    int64_t lo[2] = {0};
    int64_t hi[2] = {0};

    for (int64_t at = 0; at <= weir_record_signal(e, i)->count; at++) { /* gaps cost nothing */
      assert_ok(weir_record_next_run(e, i, at, &lo[0], &hi[0]));
      assert_ok(weir_record_next_run(n, i, at, &lo[1], &hi[1]));
      assert_int_equal(lo[0], lo[1]);
      assert_int_equal(hi[0], hi[1]);
    }
  }
  assert_int_equal(weir_record_start(e, &us[0]), weir_record_start(n, &us[1]));
  assert_int_equal(us[0], us[1]);
  assert_ok(weir_record_events_read(n, &events[1]));
  assert_int_equal(events[1].count, 2);
  for (int i = 0; i < 2; i++) {
    const weir_record_event *const x = &events[0].items[i];
    const weir_record_event *const y = &events[1].items[i];

    assert_int_equal(x->time, y->time);
    assert_int_equal(x->duration, y->duration);
    assert_int_equal(x->code, y->code);
    assert_int_equal(x->subtype, y->subtype);
    assert_int_equal(x->zeros, y->zeros);
    assert_string_equal(x->text, y->text);
  }
  weir_record_events_fini(&events[0]);
  weir_record_events_fini(&events[1]);
  weir_record_close(&n);
  weir_record_close(&e);
}

/* A file of one signal `x` of ten samples, with numbers as attributes; `runs` on it where given. */
static void make_netcdf(const char *path, const char *attribute, double number, int n_dims,
                        const int64_t *runs)
{
  const int64_t run_count = 1;
  weir_netcdf *nc = NULL;
  int dims[2] = {0};
  int var = 0;

  assert_ok(weir_netcdf_create(path, &nc));
  assert_ok(weir_netcdf_dim(nc, "time", 10, &dims[0]));
  assert_ok(weir_netcdf_dim(nc, "other", 2, &dims[1]));
  assert_ok(weir_netcdf_var(nc, "x", WEIR_I16, n_dims, dims, &var));
  if (strcmp(attribute, "sampling_rate") != 0) {
    const double rate = 250;

    assert_ok(weir_netcdf_put_numbers(nc, var, "sampling_rate", WEIR_F64, &rate, 1));
  }
  assert_ok(weir_netcdf_put_numbers(nc, var, attribute, WEIR_F64, &number, 1));
  if (runs) {
    assert_ok(weir_netcdf_put_numbers(nc, var, "runs_count", WEIR_I64, &run_count, 1));
    assert_ok(weir_netcdf_put_numbers(nc, var, "runs", WEIR_I64, runs, 2));
  }
  assert_ok(weir_netcdf_commit(&nc));
}

/* What CF says of absent values, as other programs write it: code 7 is one in turn, outside the
 * valid numbers, or nothing is stated. Value k of ten is k. */
static void absent_values_of_netcdf_are_gaps(void **state)
{
  static const struct {
    const char *attribute;
    double number[2];
    int n;
    uint8_t present[10];
  } cases[] = {{"note", {0}, 1, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
               {"missing_value", {7}, 1, {1, 1, 1, 1, 1, 1, 1, 0, 1, 1}},
               {"valid_max", {7}, 1, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0}},
               {"valid_min", {7}, 1, {0, 0, 0, 0, 0, 0, 0, 1, 1, 1}},
               {"valid_range", {2, 7}, 2, {0, 0, 1, 1, 1, 1, 1, 1, 0, 0}},
               {"valid_range", {7, 2}, 2, {0}}};

  NEEDS_NETCDF();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static const float value[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const int64_t zero = 0, ten = 10;
    const double rate = 250;
    weir_netcdf *nc = NULL;
    weir_record *r = NULL;
    uint8_t present[12];
    float x[12];
    int dim = 0, var = 0;

    assert_ok(weir_netcdf_create(in_dir("q.nc"), &nc));
    assert_ok(weir_netcdf_dim(nc, "time", 12, &dim));
    assert_ok(weir_netcdf_var(nc, "x", WEIR_F32, 1, &dim, &var));
    assert_ok(weir_netcdf_put_numbers(nc, var, "sampling_rate", WEIR_F64, &rate, 1));
    assert_ok(weir_netcdf_put_numbers(nc, var, cases[i].attribute, WEIR_F64, cases[i].number,
                                      cases[i].n));
    assert_ok(weir_netcdf_write(nc, var, &zero, &ten, value)); /* two are never written */
    assert_ok(weir_netcdf_commit(&nc));
    if (i == 5) {
      assert_int_equal(weir_record_open(in_dir("q.nc"), NULL, &r), WEIR_ERR_DATA);
      assert_non_null(strstr(weir_last_message(), "valid range 7 to 2 is empty"));
      break;
    }
    assert_ok(weir_record_open(in_dir("q.nc"), NULL, &r));
    assert_ok(weir_record_read(r, 0, 0, 12, x, present));
    assert_memory_equal(present, cases[i].present, 10);
    assert_int_equal(present[10] + present[11], 0);
    for (int k = 0; k < 10; k++) {
      assert_true(x[k] == (present[k] ? value[k] : 0.0f));
    }
    weir_record_close(&r);
  }
}

/* A name that cannot be a file's is not taken: the file's own stands for it. */
static void names_in_netcdf_files_lead_nowhere(void **state)
{
  static const char *const names[][2] = {
      {"bed-7.a", "bed-7.a"}, {"../../victim", "q"}, {"/tmp/x", "q"}, {"..", "q"}, {"a b", "q"}};

  NEEDS_NETCDF();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const int64_t start = 0, length = (int64_t)strlen(names[i][0]);
    weir_netcdf *nc = NULL;
    weir_record *r = NULL;
    const double rate = 250;
    int dims[2] = {0}, var = 0;

    assert_ok(weir_netcdf_create(in_dir("q.nc"), &nc));
    assert_ok(weir_netcdf_dim(nc, "time", 10, &dims[0]));
    assert_ok(weir_netcdf_dim(nc, "record_id_length", length, &dims[1]));
    assert_ok(weir_netcdf_var(nc, "x", WEIR_I16, 1, dims, &var));
    assert_ok(weir_netcdf_put_numbers(nc, var, "sampling_rate", WEIR_F64, &rate, 1));
    assert_ok(weir_netcdf_char_var(nc, "record_id", 1, &dims[1], &var));
    assert_ok(weir_netcdf_write(nc, var, &start, &length, names[i][0]));
    assert_ok(weir_netcdf_commit(&nc));
    assert_ok(weir_record_open(in_dir("q.nc"), NULL, &r));
    assert_string_equal(weir_record_name(r), names[i][1]);
    weir_record_close(&r);
  }
}

static void strange_netcdf_files(void **state)
{
  static const int64_t backward[] = {7, 3};
  static const int64_t beyond[] = {3, 11};
  static const struct {
    const char *attribute, *says;
    double number;
    int n_dims;
    const int64_t *runs;
  } cases[] = {{"note", NULL, 1, 1, NULL},
               {"sampling_rate", "its sampling rate is not a positive number", 0, 1, NULL},
               {"sampling_rate", "its sampling rate is not a positive number", -5, 1, NULL},
               {"sampling_rate", "its sampling rate is not a positive number", INFINITY, 1, NULL},
               {"rate", NULL, 1, 1, NULL},
               {"scale_factor", "is not a number", 0, 1, NULL},
               {"gain", "is not a number", INFINITY, 1, NULL},
               {"note", "a signal has one dimension", 1, 2, NULL},
               {"note", "its segments are not in order", 1, 1, backward},
               {"note", "its segments are not in order", 1, 1, beyond}};

  NEEDS_NETCDF();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;
    char path[512];

    snprintf(path, sizeof path, "%s/q%d.nc", dir, (int)i);
    make_netcdf(path, cases[i].attribute, cases[i].number, cases[i].n_dims, cases[i].runs);
    const weir_status status = weir_record_open(path, NULL, &r);

    assert_int_equal(status, cases[i].says ? WEIR_ERR_DATA : WEIR_OK);
    if (cases[i].says &&
        (!strstr(weir_last_message(), cases[i].says) || !strstr(weir_last_message(), path))) {
      fail_msg("case %zu: '%s' lacks '%s'", i, weir_last_message(), cases[i].says);
    }
    weir_record_close(&r);
  }
}

/* What the library itself checks: the length of a file. */
static void truncated_netcdf_files_are_refused(void **state)
{
  char *data = NULL;
  int64_t size = 0;

  NEEDS_NETCDF();
  make_netcdf(in_dir("whole.nc"), "note", 1, 1, NULL);
  assert_ok(weir_file_read(in_dir("whole.nc"), 1 << 24, &data, &size));
  for (int k = 0; k < 20; k++) {
    weir_record *r = NULL;
    char path[512];

    snprintf(path, sizeof path, "%s/cut%d.nc", dir, k); /* the library remembers files it knows */
    weir_check_write(path, data, (size_t)(size * k / 20));
    assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
    assert_null(r);
  }
  weir_free(&data);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edf_through_netcdf),
      cmocka_unit_test(annotations_through_netcdf),
      cmocka_unit_test(names_in_netcdf_files_lead_nowhere),
      cmocka_unit_test(absent_values_of_netcdf_are_gaps),
      cmocka_unit_test(strange_netcdf_files),
      cmocka_unit_test(truncated_netcdf_files_are_refused),
  };

  weir_check_mkdir(dir, sizeof dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
