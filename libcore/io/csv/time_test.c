/* time_test.c - clocks of text files that say less than they mean: midnight, and rates. */
#include <math.h>
#include "io/csv/csv_priv.h"
#include "support/io/io_test.h"

static char dir[256];
static char path[512];

static weir_status open_text(const char *text, double fs, weir_record **r)
{
  const weir_record_opts opts = {.csv_fs = fs};

  write_text(path, text);
  return weir_record_open(path, &opts, r);
}

/* `text` is read at 100 Hz as `want` (NaN: absent). */
static void reads_as(const char *text, const double *want, int64_t n)
{
  weir_record *r = NULL;
  float v[64];
  uint8_t p[64];

  assert_ok(open_text(text, 100, &r));
  assert_int_equal(weir_record_signal(r, 0)->count, n);
  assert_ok(weir_record_read(r, 0, 0, n, v, p));
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(p[i], !isnan(want[i]));
    assert_true(v[i] == (isnan(want[i]) ? 0.0f : (float)want[i]));
  }
  weir_record_close(&r);
}

/* The log's lines on midnight. */
static void count_midnights(void *context, weir_log_level level, const char *module,
                            const char *text)
{
  (void)level;
  (void)module;
  *(int *)context += strstr(text, "24 h are added") != NULL;
}

/* Two nights and a bit at 1 Hz, as recorders print times of day, read from anywhere. */
static void times_of_day_pass_midnight(void **state)
{
  enum { SECONDS = 180000, FROM = 80000 };
  FILE *const f = fopen(path, "wb");
  weir_record *r = NULL;
  int said = 0;

  (void)state;
  assert_non_null(f);
  fprintf(f, "time,a\n");
  for (int k = 0; k < SECONDS; k++) {
    const int t = (FROM + k) % 86400;

    fprintf(f, "%02d:%02d:%02d,%d\n", t / 3600, t / 60 % 60, t % 60, k);
  }
  assert_int_equal(fclose(f), 0);
  weir_log_set_sink(count_midnights, &said);
  assert_ok(weir_record_open(path, NULL, &r));
  weir_log_set_sink(NULL, NULL);
  assert_int_equal(said, 1);
  assert_int_equal(weir_record_signal(r, 0)->count, SECONDS);
  assert_int_equal(weir_record_signal(r, 0)->fs_num, 1);
  for (uint64_t k = 0; k < 50; k++) {
    const int64_t at = random_in(7, k, 0, SECONDS - 2);
    float v[2] = {0};
    uint8_t p[2] = {0};

    assert_ok(weir_record_read(r, 0, at, 2, v, p));
    assert_true(p[0] && p[1] && v[0] == (float)at && v[1] == (float)(at + 1));
  }
  weir_record_close(&r);
}

/* What is a midnight and what is none: steps of 12 h, a row that is late, hours beyond a day. */
static void only_a_step_back_of_half_a_day_is_a_midnight(void **state)
{
  const double gap[] = {1, 2, NAN, NAN, 5};
  const double late[] = {1, 2, 4};
  const double elapsed[] = {1, 2, 3};
  weir_record *r = NULL;

  (void)state;
  reads_as("t,a\n23:59:59.98,1\n23:59:59.99,2\n00:00:00.02,5\n", gap, 5);
  reads_as("t,a\n23:59:59.99,1\n0:00:00.00,2\n0:00:00.00,9\n0:00:00.01,4\n", late, 3);
  reads_as("t,a\n13:00:00.00,1\n13:00:00.01,2\n01:30:00.00,9\n13:00:00.02,4\n", late, 3);
  reads_as("t,a\n30:00:00.00,1\n30:00:00.01,2\n0:00:00.00,9\n30:00:00.02,3\n", elapsed, 3);
  assert_int_equal(open_text("t,a\n23:59:59.98,1\n0:00:00.00,2\n23:59:59.99,9\n", 100, &r),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "x.csv:4: column 1 is '23:59:59.99'"));
  assert_non_null(strstr(weir_last_message(), "write dates"));
}

/* A rate that is given for a file that has one of its own: equal ones agree. */
static void a_rate_that_contradicts_the_file_is_refused(void **state)
{
  static const char times[] = "time,a\n0,1\n0.004,2\n0.008,3\n0.012,4\n0.016,5\n0.020,6\n";
  static const char preamble[] = "# Sampling Rate (Hz):= 1000.00\n# Labels:= ECG\n1\n2\n3\n";
  static const struct {
    const char *text;
    double fs;
    weir_status status;
    const char *says;
  } cases[] = {
      {times, 0, WEIR_OK, NULL},
      {times, 250, WEIR_OK, NULL},
      {times, 251, WEIR_OK, NULL},
      {times, 500, WEIR_ERR_CONFIG, "given rate is 500 Hz, but the file states 250 Hz"},
      {"time,a\n0,1\n1,2\n2,3\n3,4\n", 250, WEIR_ERR_CONFIG,
       "states 1 Hz (its times; name a column"},
      {"time,a\n0,1\n0.003,1\n0.006,2\n0.008,3\n", 360, WEIR_OK, NULL}, /* they do not tell */
      {"time,a\n0,1\n3906,2\n7812,3\n11719,4\n15625,5\n", 0, WEIR_ERR_CONFIG,
       "read in seconds because no unit is stated, give about 0.000256 samples per second"},
      {"time,a\n0,1\n3906,2\n7812,3\n11719,4\n15625,5\n", 256, WEIR_ERR_CONFIG,
       "the file states 0.000256"},
      {preamble, 1000, WEIR_OK, NULL},
      {preamble, 1001, WEIR_ERR_CONFIG, "states 1000 Hz (its preamble)"},
      {"# Sampling Rate: 500\nt,a\n0,1\n0.004,2\n0.008,3\n", 0, WEIR_ERR_DATA,
       "the preamble says 500 Hz, but the times give 250 Hz"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;

    assert_int_equal(open_text(cases[i].text, cases[i].fs, &r), cases[i].status);
    assert_true(cases[i].says == NULL || strstr(weir_last_message(), cases[i].says) != NULL);
    weir_record_close(&r);
  }
}

/* What spreadsheets call Unicode text. */
static void text_of_two_bytes_a_letter_is_refused_by_its_name(void **state)
{
  static const char little[] = "\xFF\xFEt\0,\0a\0\n\0"
                               "0\0,\0"
                               "1\0\n\0";
  static const char big[] = "\xFE\xFF\0t\0,\0a\0\n\0"
                            "0\0,\0"
                            "1\0\n";
  weir_record *r = NULL;

  (void)state;
  weir_check_write(path, little, sizeof little - 1);
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "x.csv:1: zero bytes, as in UTF-16"));
  weir_check_write(path, big, sizeof big - 1);
  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "not UTF-8 text"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_of_day_pass_midnight),
      cmocka_unit_test(only_a_step_back_of_half_a_day_is_a_midnight),
      cmocka_unit_test(text_of_two_bytes_a_letter_is_refused_by_its_name),
      cmocka_unit_test(a_rate_that_contradicts_the_file_is_refused),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.csv", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
