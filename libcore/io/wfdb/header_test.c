/* header_test.c - headers as they occur, and headers that lie: each refusal names file and line. */
#include "support/io/io_test.h"
#include "io/wfdb/wfdb_priv.h"

static weir_status parse(const char *text, weir_wfdb_header *h)
{
  return weir_wfdb_header_parse(text, (int64_t)strlen(text), "x.hea", false, h);
}

static void defaults_are_those_of_the_format(void **state)
{
  weir_wfdb_header h;

  (void)state;
  assert_ok(parse("r 1\nr.dat 16\n", &h));
  assert_string_equal(h.name, "r");
  assert_int_equal(h.fs_num, 250);
  assert_int_equal(h.frames, 0);
  assert_int_equal(h.signals[0].spf, 1);
  assert_near(h.signals[0].gain, 200, 0);
  assert_near(h.signals[0].baseline, 0, 0);
  assert_string_equal(h.signals[0].units, "mV");
  assert_string_equal(h.signals[0].name, "signal 0");
  assert_false(h.signals[0].has_checksum);
  weir_wfdb_header_fini(&h);
  assert_ok(parse("r 0", &h));
  weir_wfdb_header_fini(&h);
}

static void oddities_are_accepted(void **state)
{
  weir_wfdb_header h;

  (void)state;
  assert_ok(parse("# a comment\r\n\r\nr-1 3 62.4725/999.56(-12.5)  1000 9:08:07.25\t04/05/2704 \r\n"
                  "a.mat 16x4:3+24 1.052e+04/mV 16 0 9127 -301 0 V of two words \r\n"
                  "\n  # between\n"
                  "sub/b.d0 212 16(800)/mmHg 12 2048 0 49347 0 ABP\n"
                  "~ 0 1.28(-109)/NU 11 1024\n#<age>: 20",
                  &h));
  assert_int_equal(h.fs_num, 24989);
  assert_int_equal(h.fs_den, 400);
  assert_int_equal(h.start_kind, 2);
  assert_int_equal(h.start_us % INT64_C(86400000000), INT64_C(32887250000));
  assert_int_equal(h.start_us / INT64_C(86400000000), 268211);
  const weir_wfdb_signal *s = h.signals;

  assert_int_equal(s[0].spf, 4);
  assert_int_equal(s[0].skew, 3);
  assert_int_equal(s[0].offset, 24);
  assert_near(s[0].gain, 10520, 0);
  assert_int_equal(s[0].checksum, -301);
  assert_string_equal(s[0].name, "V of two words");
  assert_string_equal(s[1].file, "sub/b.d0");
  assert_near(s[1].baseline, 800, 0);
  assert_int_equal(s[1].checksum, 49347);
  assert_null(s[2].file);
  assert_near(s[2].baseline, -109, 0);
  weir_wfdb_header_fini(&h);
  assert_ok(parse("r 1 0.0166666666667 3\nr.dat 8 100 11 1024\n", &h));
  assert_int_equal(h.fs_num, INT64_C(166666666667));
  assert_int_equal(h.fs_den, INT64_C(10000000000000));
  assert_near(h.signals[0].baseline, 1024, 0);
  assert_int_equal(h.signals[0].initial, 1024);
  weir_wfdb_header_fini(&h);
  assert_ok(parse("m/3 2 125 30\nlay 0\n~ 10\nm_1 20\n", &h));
  assert_int_equal(h.n_segments, 3);
  assert_null(h.segments[1].name);
  assert_int_equal(h.segments[2].frames, 20);
  weir_wfdb_header_fini(&h);
}

static const struct {
  const char *text, *says;
} bad_headers[] = {
    {"", "x.hea:0: there is no record line"},
    {"#only\n\n", "x.hea:2: there is no record line"},
    {"r\n", "x.hea:1: the record line does not give the number of signals"},
    {"r 1025\n", "x.hea:1: number of signals is '1025'"},
    {"r -1\n", "x.hea:1: number of signals is '-1'"},
    {"r 1 0\n", "x.hea:1: the sampling rate is not a positive number: '0'"},
    {"r 1 nan\n", "not a positive number: 'nan'"},
    {"r 1 -5\n", "not a positive number"},
    {"r 1 1e30\n", "not a positive number"},
    {"r 1 9e18\n", "the sampling rate is too large"},
    {"r 1 250/x\n", "the counter frequency is not a number"},
    {"r 1 250/1(a)\n", "the base counter value"},
    {"r 1 250 99999999999999999999\n", "number of samples is '99999999999999999999'"},
    {"r 1 250 10 25:x\n", "the start time is not HH:MM:SS"},
    {"r 1 250 10 1:1:1 31/02/2000\n", "the start date does not exist"},
    {"r 1 250 10 1:1:1 1/2\n", "the start date is not DD/MM/YYYY"},
    {"r 1 250 10 1:1:1 1/2/2000 more\n", "unexpected text at the end of the record line"},
    {".. 1\n", "x.hea:1: a record name has"},
    {".r 1\n", "does not start with '.'"},
    {"r\\s 1\n", "files are named after it: 'r\\s'"},
    {"../r 1\n", "number of segments is 'r'"},
    {"r/0 1\n", "number of segments is '0'"},
    {"r/100001 1\n", "number of segments is '100001'"},
    {"r 2\nr.dat 16\n", "x.hea: 2 signals declared, 1 listed"},
    {"r 1\nr.dat 16\nr.dat 16\n", "x.hea:3: more lines than the 1 signals declared"},
    {"r/1 1\ns 5\ns 6\n", "x.hea:3: more lines than the 1 segments declared"},
    {"r 1\nr.dat\n", "x.hea:2: a signal line needs a file and a format"},
    {"r 1\nr.dat 17\n", "x.hea:2: sample format 17 is not supported: choose one of 8, 16, 24, 32"},
    {"r 1\nr.dat 16x0\n", "samples per frame is '0'"},
    {"r 1\nr.dat 16x1025\n", "samples per frame is '1025'"},
    {"r 1\nr.dat 16:-1\n", "skew is '-1'"},
    {"r 1\nr.dat 16+-1\n", "byte offset is '-1'"},
    {"r 1\n\n# c\n/etc/passwd 16\n", "x.hea:4: a name must be relative"},
    {"r 1\n../r.dat 16\n", "x.hea:2: a name must not leave"},
    {"r 1\na/../../r.dat 16\n", "x.hea:2: a name must not leave"},
    {"r/1 1\n../s 16\n", "x.hea:2: a name must not leave"},
    {"r 1\nr.dat 16 0\n", "x.hea:2: the gain is 0"},
    {"r 1\nr.dat 16 nan\n", "the gain is not a positive number: 'nan'"},
    {"r 1\nr.dat 16 inf/mV\n", "the gain is not a positive number"},
    {"r 1\nr.dat 16 -2\n", "the gain is not a positive number"},
    {"r 1\nr.dat 16 1e-320\n", "the gain is too small"},
    {"r 1\nr.dat 16 200(x)\n", "the baseline is not a number"},
    {"r 1\nr.dat 16 200(5\n", "the baseline is not a number"},
    {"r 1\nr.dat 16 200 12x\n", "ADC resolution is '12x'"},
    {"r 1\nr.dat 16 200 12 0 0 9999999999\n", "checksum is '9999999999'"},
    {"r 3\na 16\nb 16\na 16\n", "x.hea:4: the signals of one file are not listed together: 'a'"},
    {"r 2\na 16\na 212\n", "x.hea:3: signals of one file differ"},
    {"r/1 1\ns\n", "x.hea:2: a segment line needs"},
    {"r/1 1\ns 1 2\n", "x.hea:2: unexpected text"},
    {"r 1\nr\x01.dat 16\n", "x.hea:2: the line contains a control character"},
};

static void bad_headers_are_refused_with_their_line(void **state)
{
  weir_wfdb_header h;

  (void)state;
  for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
    const weir_status status = parse(bad_headers[i].text, &h);

    if (status != WEIR_ERR_DATA || !strstr(weir_last_message(), bad_headers[i].says)) {
      fail_msg("'%s': status %d, '%s' lacks '%s'", bad_headers[i].text, status, weir_last_message(),
               bad_headers[i].says);
    }
  }
  if (!weir_wfdb_flac_available()) {
    assert_int_equal(parse("r 1\nr.dat 516x4 200\n", &h), WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "x.hea:2: sample format 516 (FLAC)"));
  }
  assert_true(parse("r 2\nr.dat 516x4 200\nr.dat 516x2 200\n", &h) != WEIR_OK);
  assert_ok(weir_wfdb_header_parse("r 1\nr.dat 16 0\n", 15, "x.hea", true, &h));
  assert_near(h.signals[0].gain, 200, 0);
  weir_wfdb_header_fini(&h);
}

static void a_long_line_is_refused(void **state)
{
  char text[2000];
  weir_wfdb_header h;

  (void)state;
  memset(text, 'a', sizeof text);
  assert_int_equal(weir_wfdb_header_parse(text, sizeof text, "x.hea", false, &h), WEIR_ERR_DATA);
  text[0] = '#'; /* a comment may be long */
  assert_int_equal(weir_wfdb_header_parse(text, sizeof text, "x.hea", false, &h), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no record line"));
}

/* Counts are claims: a header that declares much and lists little costs little. */
static void memory_follows_the_lines(void **state)
{
  weir_wfdb_header h;

  (void)state;
  weir_alloc_fail_after(0);
  const int64_t before = weir_alloc_bytes();

  assert_int_equal(parse("r/100000 1024 250 1000000000000\ns 5\n", &h), WEIR_ERR_DATA);
  assert_true(weir_alloc_count() < 20);
  assert_int_equal(weir_alloc_bytes(), before);
}

static void damaged_headers_never_crash(void **state)
{
  static const char good[] = "r 3 360/1(0) 650000 1:2:3 04/05/1999\n"
                             "a.dat 212x2:1+24 200(-5)/mV 11 1024 995 -22131 0 MLII\n"
                             "a.dat 212+24 200 11 1024 995 -22131 0 V5\n~ 0\n# info\n";
  char text[sizeof good];
  weir_wfdb_header h;

  (void)state;
  const int64_t size = (int64_t)strlen(good);
  const int64_t before = weir_alloc_bytes();

  for (int64_t n_bytes = 0; n_bytes <= size; n_bytes++) {
    const weir_status status = weir_wfdb_header_parse(good, n_bytes, "x.hea", false, &h);

    assert_true(status == WEIR_OK || status == WEIR_ERR_DATA);
    assert_true(status == WEIR_OK || n_bytes < size);
    weir_wfdb_header_fini(&h);
  }
  memcpy(text, good, sizeof good);
  for (uint64_t k = 0; k < 20000; k++) {
    const int64_t bit = random_in(3, k, 0, size * 8 - 1);

    text[bit / 8] = (char)(text[bit / 8] ^ (1 << (bit % 8)));
    const weir_status status = weir_wfdb_header_parse(text, size, "x.hea", false, &h);

    assert_true(status == WEIR_OK || status == WEIR_ERR_DATA || status == WEIR_ERR_UNSUPPORTED);
    weir_wfdb_header_fini(&h);
    if (k % 4 == 0) {
      memcpy(text, good, sizeof good);
    }
  }
  assert_int_equal(weir_alloc_bytes(), before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_those_of_the_format),
      cmocka_unit_test(oddities_are_accepted),
      cmocka_unit_test(bad_headers_are_refused_with_their_line),
      cmocka_unit_test(a_long_line_is_refused),
      cmocka_unit_test(memory_follows_the_lines),
      cmocka_unit_test(damaged_headers_never_crash),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
