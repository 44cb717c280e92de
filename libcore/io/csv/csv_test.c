/* csv_test.c - text in the shapes that people have, against what was printed into it; and refusals.
 */
#include <locale.h>
#include <math.h>
#include "io/csv/csv_priv.h"
#include "support/io/io_test.h"

static char dir[256];
static char path[512];

static weir_status open_text(const char *text, double fs, weir_record **r)
{
  const weir_record_opts opts = {.csv_fs = fs};

  write_text(path, text);
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_record_open(path, &opts, r);

  weir_log_set_level(WEIR_LOG_INFO);
  return status;
}

/* Opens `text` and compares signal `signal` with `want` (NaN: absent) at the rate num/den. */
static void reads_as(const char *text, double fs, int signal, int64_t num, int64_t den,
                     const double *want, int64_t n)
{
  weir_record *r = NULL;
  float v[64];
  uint8_t p[64];

  assert_ok(open_text(text, fs, &r));
  assert_int_equal(weir_record_signal(r, signal)->count, n);
  assert_int_equal(weir_record_signal(r, signal)->fs_num, num);
  assert_int_equal(weir_record_signal(r, signal)->fs_den, den);
  assert_ok(weir_record_read(r, signal, 0, n, v, p));
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(p[i], !isnan(want[i]));
    assert_true(v[i] == (isnan(want[i]) ? 0.0f : (float)want[i]));
  }
  weir_record_close(&r);
}

static void shapes_of_tables(void **state)
{
  const double abc[] = {1.5, NAN, -3e-2, 4};
  const double gap[] = {1, 2, NAN, NAN, 5};
  const double two[] = {7, 8};

  (void)state;
  reads_as("1.5\n\n-3e-2\n4\n", 250, 0, 250, 1, abc, 4);
  reads_as("1.5\r\nnan\r\n-0.03\r\n+4", 62.4725, 0, 24989, 400, abc, 4);
  reads_as("\xEF\xBB\xBF# Sampling Rate (Hz):= 1000.00\n# Labels:= ECG\n1.5\nNA\n-.03\n4.\n\n\n", 0,
           0, 1000, 1, abc, 4);
  reads_as("time,a,b\n0,9,1.5\n0.004,9,\n0.008,9,-3E-02\n0.012,9,4\n", 0, 1, 250, 1, abc, 4);
  reads_as("0;1.5\n4e-3;null\n8e-3;-.03\n12e-3;4\n", 0, 0, 250, 1, abc, 4);
  reads_as("time_ms\tx (mV)\n100\t1\n108\t2\n# comment\n132\t5\n", 125, 0, 125, 1, gap, 5);
  reads_as("time_us x\n0 1\n8000 2\n  32000   5 \n", 125, 0, 125, 1, gap, 5);
  reads_as(
      "t,x\n2026-01-31T23:59:59.990Z,1\n2026-02-01T00:00:00Z,2\n2026-02-01 01:00:00.030+01:00,5\n",
      0, 0, 100, 1, gap, 5);
  reads_as("'Elapsed time','MLII','V5'\n'mm:ss.mmm','mV','mV'\n'0:59.9',1,7\n'1:00.0',2,8\n", 0, 1,
           10, 1, two, 2);
  reads_as("'sample #','MLII'\n10,1\n11,2\n14,5\n", 360, 0, 360, 1, gap, 5);
  reads_as("a,b\n7,0\n8,0\n", 100, 0, 100, 1, two, 2);
}

static void names_and_units(void **state)
{
  weir_record *r = NULL;
  int signal = -1;
  int64_t us = 0;

  (void)state;
  assert_ok(open_text("Time,\"ECG II\" [mV],ABP (mmHg)\n1970-01-02T00:00:00.5,1,2\n"
                      "1970-01-02T00:00:01,1,2\n",
                      0, &r));
  assert_int_equal(weir_record_signals(r), 2);
  assert_string_equal(weir_record_name(r), "x");
  assert_string_equal(weir_record_signal(r, 1)->name, "ABP");
  assert_string_equal(weir_record_signal(r, 1)->units, "mmHg");
  assert_ok(weir_record_find(r, NULL, &signal));
  assert_int_equal(signal, 0);
  assert_int_equal(weir_record_start(r, &us), 2);
  assert_int_equal(us, INT64_C(86400500000));
  assert_int_equal(weir_record_read_raw(r, 0, 0, 1, &signal, NULL), WEIR_ERR_UNSUPPORTED);
  weir_record_close(&r);
}

/* A blank before a unit in brackets shortens no name; between two units it does. */
static void units_behind_a_blank(void **state)
{
  static const struct {
    const char *text;
    int signals;
    const char *name, *units;
  } cases[] = {
      {"ECG [mV]\n1\n2\n", 1, "ECG", "mV"},
      {"ECG (raw units)\n1\n2\n", 1, "ECG", "raw units"},
      {"ECG [mV] ABP [mmHg]\n1 5\n2 5\n", 2, "ECG", "mV"},
      {"ECG ABP\n[mV] [mmHg]\n1 5\n2 5\n", 2, "ECG", "mV"},
      {"ECG,ABP\n(mV),(mmHg)\n1,5\n2,5\n", 2, "ECG", "mV"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;

    assert_ok(open_text(cases[i].text, 100, &r));
    assert_int_equal(weir_record_signals(r), cases[i].signals);
    assert_string_equal(weir_record_signal(r, 0)->name, cases[i].name);
    assert_string_equal(weir_record_signal(r, 0)->units, cases[i].units);
    weir_record_close(&r);
  }
}

/* Times as programs print them: the rate must come out exactly. */
static void rates_are_told_from_times(void **state)
{
  static const struct {
    double fs;
    int digits;
    int64_t rows, num, den;
  } cases[] = {{360, 3, 4000, 360, 1}, {360, 6, 50, 360, 1},           {125, 3, 3, 125, 1},
               {1000, 3, 10, 1000, 1}, {62.4725, 6, 5000, 24989, 400}, {1 / 60.0, 0, 30, 1, 60},
               {333, 6, 3000, 333, 1}, {128, 4, 3000, 128, 1}};
  static char text[1 << 18];

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;
    int used = 0;

    for (int64_t k = 0; k < cases[i].rows; k++) {
      used += snprintf(text + used, sizeof text - (size_t)used, "%.*f,%d\n", cases[i].digits,
                       (double)k / cases[i].fs, (int)(k % 1000));
    }
    assert_ok(open_text(text, 0, &r));
    if (cases[i].fs != 62.4725) { /* a fraction with a large denominator needs to be stated */
      assert_int_equal(weir_record_signal(r, 0)->fs_num, cases[i].num);
      assert_int_equal(weir_record_signal(r, 0)->fs_den, cases[i].den);
    }
    assert_int_equal(weir_record_signal(r, 0)->count, cases[i].rows);
    weir_record_close(&r);
  }
}

/* Four units of time a sample: the rate that comes of it. */
static void units_of_time_are_understood(void **state)
{
  static const struct {
    const char *text;
    double fs;
  } cases[] = {
      {"time (msecs),a\n0,1\n4,2\n8,3\n", 250},
      {"time_ms,a\n0,1\n4,2\n8,3\n", 250},
      {"t,a\nmilliseconds,mV\n0,1\n4,2\n8,3\n", 250},
      {"time (\xC2\xB5s),a\n0,1\n4000,2\n8000,3\n", 250},
      {"timestamp (ms),a\n1700000000000,1\n1700000000004,2\n1700000000008,3\n", 250},
      {"elapsed time,a\n(seconds),(mV)\n0,1\n0.004,2\n0.008,3\n", 250},
      {"time (min),a\n0,1\n4,2\n8,3\n", 1 / 240.0},
      {"time,a\n0,1\n4,2\n8,3\n", 0.25}, /* seconds, where nothing is stated */
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;

    assert_ok(open_text(cases[i].text, 0, &r));
    const weir_signal_info *s = weir_record_signal(r, 0);

    assert_near((double)s->fs_num / (double)s->fs_den, cases[i].fs, 1e-9);
    assert_int_equal(s->count, 3);
    weir_record_close(&r);
  }
}

static void what_is_wrong_is_refused_with_its_line(void **state)
{
  static const struct {
    const char *text;
    double fs;
    weir_status status;
    const char *says;
  } cases[] = {
      {"", 1, WEIR_ERR_DATA, "there are no samples"},
      {"# only\n\n", 1, WEIR_ERR_DATA, "there are no samples"},
      {"a,b\n", 1, WEIR_ERR_DATA, "there are no samples"},
      {"1\n2\n", 0, WEIR_ERR_CONFIG, "neither a time column nor a sampling rate"},
      {"1\n2\n", NAN, WEIR_ERR_CONFIG, "not a positive number"},
      {"1\n2\n", -5, WEIR_ERR_CONFIG, "not a positive number"},
      {"a,b\n1,2\n1\n", 9, WEIR_ERR_DATA, "x.csv:3: fewer fields than the 2"},
      {"a,b\n1,2\n# c\n1,2,3\n", 9, WEIR_ERR_DATA, "x.csv:4: more fields than the 2"},
      {"a,b\n1\n", 9, WEIR_ERR_DATA, "x.csv:2: 1 fields where the names have 2"},
      {"1\n2x\n", 9, WEIR_ERR_DATA, "x.csv:2: column 1 is '2x'"},
      {"1\n1e999\n", 9, WEIR_ERR_DATA, "x.csv:2: column 1 is '1e999'"},
      {"1\ninf\n", 9, WEIR_ERR_DATA, "x.csv:2"},
      {"1\n0x10\n", 9, WEIR_ERR_DATA, "x.csv:2"},
      {"0,5;1,2\n0,6;1,3\n", 9, WEIR_ERR_DATA, "x.csv:1: decimal commas are not supported"},
      {"time;ECG\n0;-1,25\n1;2\n", 9, WEIR_ERR_DATA, "x.csv:2: decimal commas are not supported"},
      {"time,a\n0,1\nx,2\n", 0, WEIR_ERR_DATA,
       "x.csv:3: column 1 is 'x': a time in another format"},
      {"time,a\n0,1\n,2\n", 0, WEIR_ERR_DATA, "x.csv:3"},
      {"time (ticks),a\n0,1\n4,2\n", 0, WEIR_ERR_DATA, "unknown unit 'ticks' of the time column"},
      {"time,a\nbeats,mV\n0,1\n4,2\n", 0, WEIR_ERR_DATA, "unknown unit 'beats' of the time column"},
      {"timestamp,a\n1700000000000,1\n1700000000004,2\n", 0, WEIR_ERR_DATA,
       "the first time is 1700000000000, too large for seconds"},
      {"time,a\n0,1\n1e30,2\n", 0, WEIR_ERR_DATA, "x.csv:3"},
      {"time,a\n0,1\n", 0, WEIR_ERR_CONFIG, "cannot be determined from the times"},
      {"time,a\n0,1\n0.003,1\n0.006,2\n0.008,3\n", 0, WEIR_ERR_CONFIG, "cannot be determined"},
      {"time,a\n0,1\n0,1\n", 0, WEIR_ERR_CONFIG, "cannot be determined"},
      {"# sampling rate: zero\n1\n", 0, WEIR_ERR_DATA, "x.csv:1: the sampling rate 'zero'"},
      {"2026-01-31T10:00:00,1\n2026-02-30T10:00:00,1\n", 0, WEIR_ERR_DATA, "x.csv:2"},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;
    const weir_status status = open_text(cases[i].text, cases[i].fs, &r);

    if (status != cases[i].status || !strstr(weir_last_message(), cases[i].says)) {
      fail_msg("'%s': status %d, '%s' lacks '%s'", cases[i].text, status, weir_last_message(),
               cases[i].says);
    }
    assert_null(r);
  }
  assert_int_equal(remove(path), 0);
  weir_record *r = NULL;

  assert_int_equal(weir_record_open(path, NULL, &r), WEIR_ERR_DATA);
  assert_int_equal(weir_record_open("/nowhere/at/all", NULL, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "csv: "));
  assert_non_null(strstr(weir_last_message(), "wfdb: "));
}

static void odd_times_are_counted_out(void **state)
{
  const double want[] = {1, 2, 4, NAN, 6};

  (void)state; /* a repeated time, one that goes back; 0.0405 snaps to the nearest slot */
  reads_as("time,a\n0,1\n0.01,2\n0.01,9\n0.0199,4\n0.005,9\n0.0405,6\n", 100, 0, 100, 1, want, 5);
}

/* 360 Hz to two decimals: most rows have the time of the row before. */
static void times_rounded_too_coarsely_are_refused(void **state)
{
  static char text[1 << 14];
  weir_record *r = NULL;
  int n = snprintf(text, sizeof text, "time_s,a\n");

  (void)state;
  for (int i = 0; i < 500; i++) {
    n += snprintf(text + n, sizeof text - (size_t)n, "%.2f,%d\n", i / 360.0, i);
  }
  for (int given = 0; given < 2; given++) {
    assert_int_equal(open_text(text, given ? 360 : 0, &r), WEIR_ERR_CONFIG);
  }
  assert_int_equal(open_text(text, 0, &r), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "remove the time column"));
}

/* Times are found by their name wherever they are; the other columns keep their order. */
static void times_need_not_be_first(void **state)
{
  const double want[] = {1, 2, NAN, 4};
  weir_record *r = NULL;

  (void)state;
  reads_as("a,time_ms,b\n1,0,9\n2,10,9\n4,30,9\n", 0, 0, 100, 1, want, 4);
  reads_as("b,a,t (s)\n9,1,0\n9,2,0.01\n9,4,0.03\n", 0, 1, 100, 1, want, 4);
  reads_as("a,time_of_flight\n1,9\n2,9\n,9\n4,9\n", 100, 0, 100, 1, want, 4);
  reads_as("a,T\n1,9\n2,9\n,9\n4,9\n", 100, 0, 100, 1, want, 4);
  assert_int_equal(open_text("a,b,time\n1,x,0\n2,y,0.01\n", 0, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), ":2: column 2 is 'x'"));
}

static void a_unit_may_end_the_name(void **state)
{
  static const struct {
    const char *text, *name, *units;
  } cases[] = {{"ECG_mV\n1\n2\n", "ECG_mV", "mV"},
               {"ecg_uV\n1\n2\n", "ecg_uV", "uV"},
               {"abp_mmHg\n1\n2\n", "abp_mmHg", "mmHg"},
               {"ecg_V\n1\n2\n", "ecg_V", "NU"},
               {"ECG_uV (mV)\n1\n2\n", "ECG_uV", "mV"}};

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    weir_record *r = NULL;

    assert_ok(open_text(cases[i].text, 100, &r));
    assert_string_equal(weir_record_signal(r, 0)->name, cases[i].name);
    assert_string_equal(weir_record_signal(r, 0)->units, cases[i].units);
    weir_record_close(&r);
  }
}

/* Without a signal in mV the only one in another unit of voltage is taken. */
static void the_only_voltage_is_found(void **state)
{
  weir_record *r = NULL;
  int signal = -1;

  (void)state;
  assert_ok(open_text("abp (mmHg),ecg (uV)\n1,2\n1,2\n", 100, &r));
  assert_ok(weir_record_find(r, NULL, &signal));
  assert_int_equal(signal, 1);
  weir_record_close(&r);
  assert_ok(open_text("eeg (uV),ecg (uV)\n1,2\n1,2\n", 100, &r));
  assert_int_equal(weir_record_find(r, NULL, &signal), WEIR_ERR_CONFIG);
  weir_record_close(&r);
}

enum { ROWS = 60000, SLOTS = 400000 };

/* What a large file holds. */
typedef struct large {
  float x[2][SLOTS];
  uint8_t present[2][SLOTS];
} large;

static large wanted;

/* A file far larger than the buffer, with gaps. */
static void write_large(void)
{
  FILE *const f = fopen(path, "wb");
  int64_t slot = 0;

  assert_non_null(f);
  fprintf(f, "time,a,b\n");
  for (uint64_t k = 0; k < ROWS; k++) {
    const int a = (int)random_in(2, 2 * k, -9999, 9999);
    const int64_t jump = random_in(3, k, 0, 999);
    char text[32];

    snprintf(text, sizeof text, "%d.%d", a, (int)(k % 10));
    fprintf(f, "%.3f,%s,%s\n", (double)slot / 500, text, k % 3 ? "1e1" : "");
    wanted.x[0][slot] = strtof(text, NULL);
    wanted.present[0][slot] = 1;
    wanted.x[1][slot] = k % 3 ? 10.0f : 0.0f;
    wanted.present[1][slot] = k % 3 != 0;
    slot += jump == 0 ? 5000 : jump < 50 ? 2 : 1;
    assert_true(slot < SLOTS);
  }
  assert_int_equal(fclose(f), 0);
}

/* Slots [at, at + n) of signal s, of which those after the end are absent. */
static void assert_piece(weir_record *r, int s, int64_t at, int64_t n)
{
  static float got[SLOTS];
  static uint8_t p[SLOTS];

  assert_ok(weir_record_read(r, s, at, n, got, p));
  for (int64_t i = 0; i < n; i++) {
    const bool inside = at + i < weir_record_signal(r, s)->count;

    assert_int_equal(p[i], inside && wanted.present[s][at + i]);
    assert_true(got[i] == (p[i] ? wanted.x[s][at + i] : 0.0f));
  }
}

/* Every sample lies in a run; long gaps in none. */
static void assert_runs(weir_record *r)
{
  const int64_t count = weir_record_signal(r, 0)->count;
  int64_t covered = 0;

  for (int64_t at = 0; at < count;) {
    int64_t lo = 0;
    int64_t hi = 0;

    assert_ok(weir_record_next_run(r, 0, at, &lo, &hi));
    for (int64_t i = at; i < lo; i++) {
      assert_false(wanted.present[0][i]);
    }
    covered += hi - lo;
    at = hi;
  }
  assert_true(covered < count - 20 * 4000);
}

/* Random ranges, two signals alternately; then slots anywhere. */
static void pieces_equal_the_whole(void **state)
{
  weir_record *r = NULL;

  (void)state;
  write_large();
  assert_ok(weir_record_open(path, NULL, &r));
  const int64_t count = weir_record_signal(r, 0)->count;

  assert_int_equal(weir_record_signal(r, 0)->fs_num, 500);
  assert_true(weir_alloc_bytes() < 300000);
  for (int64_t k = 0, at = 0; at < count; k++) {
    const int64_t n = random_in(4, (uint64_t)k, 1, 30000);

    for (int s = 0; s < 2; s++) {
      assert_piece(r, s, at, n);
    }
    at += n;
  }
  for (uint64_t k = 0; k < 100; k++) {
    assert_piece(r, 0, random_in(5, k, 0, count - 1), 1);
  }
  assert_runs(r);
  weir_record_close(&r);
}

static void damaged_text_never_crashes(void **state)
{
  static const char good[] = "# Sampling Rate (Hz):= 1e3\n# Labels:= A,B\ntime (ms),a (mV),b\n"
                             "0,1.5,2\n1,nan,-3e5\n2,,\"7\"\n5,1,1\n";
  char text[sizeof good];
  float v[64];
  uint8_t p[64];

  (void)state;
  const size_t size = strlen(good);
  const int64_t before = weir_alloc_bytes();

  memcpy(text, good, sizeof good);
  for (uint64_t k = 0; k < 600; k++) {
    const size_t length = k < size ? (size_t)k : size;
    const int64_t bit = random_in(6, k, 0, (int64_t)size * 8 - 1);
    weir_record *r = NULL;

    if (k >= size) {
      text[bit / 8] = (char)(text[bit / 8] ^ (1 << (bit % 8)));
    }
    weir_check_write(path, text, length);
    weir_log_set_level(WEIR_LOG_ERROR);
    const weir_status status = weir_record_open(path, NULL, &r);

    weir_log_set_level(WEIR_LOG_INFO);
    assert_true(status == WEIR_OK || status == WEIR_ERR_DATA || status == WEIR_ERR_CONFIG);
    for (int i = 0; r && i < weir_record_signals(r); i++) {
      assert_ok(weir_record_read(r, i, 0, 64, v, p));
    }
    weir_record_close(&r);
    if (k % 3 == 0) {
      memcpy(text, good, sizeof good);
    }
  }
  assert_int_equal(weir_alloc_bytes(), before);
}

static void failing_allocations_are_reported(void **state)
{
  weir_record *r = NULL;
  weir_status status = WEIR_ERR_MEMORY;
  const int64_t before = weir_alloc_bytes();

  (void)state;
  write_text(path, "time (ms),a (mV),b\n0,1.5,2\n1,nan,-3e5\n");
  for (int64_t k = 1; status != WEIR_OK; k++) {
    weir_alloc_fail_after(k);
    status = weir_record_open(path, NULL, &r);
    weir_alloc_fail_after(0);
    assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
    assert_true(status == WEIR_OK || weir_alloc_bytes() == before);
  }
  weir_record_close(&r);
  assert_int_equal(weir_alloc_bytes(), before);
}

static void a_long_line_is_refused(void **state)
{
  static char text[WEIR_CSV_BUFFER + 100];
  weir_record *r = NULL;

  (void)state;
  memset(text, '1', sizeof text);
  text[sizeof text - 1] = 0;
  assert_int_equal(open_text(text, 1, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "x.csv:1: the line is longer"));
  memset(text, ',', sizeof text - 1);
  assert_int_equal(open_text(text + 5000, 1, &r), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "more than 1024 columns"));
}

/* The point stays the point in a locale that writes a comma. */
static void the_locale_does_not_matter(void **state)
{
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
  const double want[] = {1.5, 2.25};
  bool found = false;

  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++) {
    found = setlocale(LC_NUMERIC, names[i]) != NULL;
  }
  reads_as("1.5\n2.25000000000000000000001\n", 62.5, 0, 125, 2, want, 2);
  setlocale(LC_NUMERIC, "C");
}

/* A9: lab recordings with a '#' preamble. */
static void biosppy_texts_are_read(void **state)
{
  static const struct {
    const char *file, *name;
    int64_t count;
    double first;
  } cases[] = {{"csv/biosppy_ecg.txt", "ECG", 15000, 2044},
               {"csv/biosppy_ppg.txt", "PPG", 20000, 2065}};
  char file[4096];

  (void)state;
  for (int i = 0; i < 2; i++) {
    weir_record *r = NULL;
    int signal = -1;
    float v = 0;

    weir_check_shared(file, sizeof file, "physio/%s", cases[i].file);
    assert_ok(weir_record_open(file, NULL, &r));
    assert_ok(weir_record_find(r, NULL, &signal));
    assert_string_equal(weir_record_signal(r, signal)->name, cases[i].name);
    assert_int_equal(weir_record_signal(r, signal)->count, cases[i].count);
    assert_int_equal(weir_record_signal(r, signal)->fs_num, 1000);
    assert_ok(weir_record_read(r, signal, 0, 1, &v, NULL));
    assert_near(v, cases[i].first, 0);
    weir_record_close(&r);
  }
}

static void count_warnings(void *context, weir_log_level level, const char *module,
                           const char *text)
{
  int *const n = context;

  (void)module;
  *n += level == WEIR_LOG_WARN && strstr(text, "states no unit") != NULL;
}

static int unit_warnings(const char *text)
{
  weir_record *r = NULL;
  int n = 0;

  write_text(path, text);
  weir_log_set_sink(count_warnings, &n);
  assert_ok(weir_record_open(path, NULL, &r));
  weir_log_set_sink(NULL, NULL);
  weir_record_close(&r);
  return n;
}

/* Milliseconds that are not said to be such give a rate that no sensor has. */
static void a_time_without_a_unit_is_told_where_it_makes_a_slow_signal(void **state)
{
  (void)state;
  assert_int_equal(unit_warnings("time,a\n0,1\n4,2\n8,3\n"), 1);
  assert_int_equal(unit_warnings("time (s),a\n0,1\n4,2\n8,3\n"), 0);
  assert_int_equal(unit_warnings("time_s,a\n0,1\n4,2\n8,3\n"), 0);
  assert_int_equal(unit_warnings("seconds,a\n0,1\n4,2\n8,3\n"), 0);
  assert_int_equal(unit_warnings("time,a\n0,1\n1,2\n2,3\n"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_of_tables),
      cmocka_unit_test(names_and_units),
      cmocka_unit_test(units_behind_a_blank),
      cmocka_unit_test(rates_are_told_from_times),
      cmocka_unit_test(units_of_time_are_understood),
      cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
      cmocka_unit_test(odd_times_are_counted_out),
      cmocka_unit_test(times_rounded_too_coarsely_are_refused),
      cmocka_unit_test(times_need_not_be_first),
      cmocka_unit_test(a_unit_may_end_the_name),
      cmocka_unit_test(the_only_voltage_is_found),
      cmocka_unit_test(pieces_equal_the_whole),
      cmocka_unit_test(damaged_text_never_crashes),
      cmocka_unit_test(failing_allocations_are_reported),
      cmocka_unit_test(a_long_line_is_refused),
      cmocka_unit_test(a_time_without_a_unit_is_told_where_it_makes_a_slow_signal),
      cmocka_unit_test(the_locale_does_not_matter),
      cmocka_unit_test(biosppy_texts_are_read),
  };

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/x.csv", dir);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_check_rmdir(dir);
  return failed;
}
