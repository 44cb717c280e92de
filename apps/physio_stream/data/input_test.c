/* input_test.c - the built-in recording and its gaps, however they are read; what is refused. */
#include "data/input.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { COUNT = 20000 };

static void defaults(ps_input_opts *input, ps_synth_opts *synth)
{
  weir_opts_default(ps_input_options, sizeof *input, input);
  weir_opts_default(ps_synth_options, sizeof *synth, synth);
  synth->model.rate = 250;
  synth->duration = COUNT / 250.0;
  synth->noise.white = true;
  synth->gaps = (ps_gap_opts){.missing = 0.4, .mean = 0.5};
}

static void read_whole(uint64_t seed, float *x, uint8_t *present)
{
  ps_input_opts input;
  ps_synth_opts synth;
  ps_input *in = NULL;

  defaults(&input, &synth);
  assert_ok(ps_input_open(&input, &synth, seed, &in));
  assert_int_equal(ps_input_get(in)->count, COUNT);
  assert_int_equal(ps_input_get(in)->fs_num, 250);
  assert_string_equal(ps_input_get(in)->name, "ecgsyn");
  assert_ok(ps_input_read(in, 0, COUNT, x, present));
  ps_input_close(&in);
}

static void pieces_and_skipped_gaps_give_the_same_samples(void **state)
{
  static float whole[COUNT], x[COUNT + 8];
  static uint8_t whole_present[COUNT], present[COUNT + 8];

  for (uint64_t seed = 1; seed < 6; seed++) {
    ps_input_opts input;
    ps_synth_opts synth;
    ps_input *in = NULL;
    int64_t t = 0, lo, hi, absent = 0;

    read_whole(seed, whole, whole_present);
    defaults(&input, &synth);
    assert_ok(ps_input_open(&input, &synth, seed, &in));
    for (uint64_t k = 0; t < COUNT; k++) {
      assert_ok(ps_input_next_run(in, t, &lo, &hi));
      for (; t < lo; t++, absent++) {
        assert_int_equal(whole_present[t], 0);
      }
      const int64_t n = 1 + (int64_t)(weir_random_bits(seed, 9, 0, k) % 700);
      const int64_t own = n < COUNT - t ? n : COUNT - t;
      assert_ok(ps_input_read(in, t, n < own + 8 ? n : own + 8, x, present));
      assert_memory_equal(x, whole + t, (size_t)own * sizeof *x);
      assert_memory_equal(present, whole_present + t, (size_t)own);
      t += own;
    }
    assert_true(absent > 0);
    assert_ok(ps_input_next_run(in, COUNT, &lo, &hi));
    assert_true(lo == COUNT && hi == COUNT);
    ps_input_close(&in);
  }
}

static void slots_after_the_end_are_absent(void **state)
{
  ps_input_opts input;
  ps_synth_opts synth;
  ps_input *in = NULL;
  float x[20];
  uint8_t present[20];

  defaults(&input, &synth);
  synth.gaps.missing = 0;
  assert_ok(ps_input_open(&input, &synth, 1, &in));
  assert_ok(ps_input_read(in, COUNT - 10, 20, x, present));
  for (int i = 0; i < 20; i++) {
    assert_int_equal(present[i], i < 10);
  }
  ps_input_close(&in);
}

/* Of any range, in any pieces: the samples of the whole, and nothing outside. */
static void a_range_is_a_part_of_the_whole(void **state)
{
  static float whole[COUNT], x[COUNT + 8];
  static uint8_t whole_present[COUNT], present[COUNT + 8];

  read_whole(3, whole, whole_present);
  for (uint64_t k = 0; k < 12; k++) {
    ps_input_opts input;
    ps_synth_opts synth;
    ps_input *in = NULL;
    const int64_t first = (int64_t)(weir_random_bits(k, 7, 0, 0) % (COUNT - 1));
    const int64_t size = 1 + (int64_t)(weir_random_bits(k, 7, 0, 1) % (COUNT - 1));
    const int64_t end = k < 2 || first + size > COUNT ? COUNT : first + size;

    defaults(&input, &synth);
    input.from = k == 0 ? 0 : (double)first / 250;
    input.to = k == 0 ? 0 : k == 1 ? 1e6 : (double)end / 250;
    assert_ok(ps_input_open(&input, &synth, 3, &in));
    assert_int_equal(ps_input_get(in)->count, end);
    const int64_t from = k == 0 ? 0 : first;

    for (int64_t t = 0, lo = 0, hi = 0; t < end; t = hi) {
      assert_ok(ps_input_next_run(in, t, &lo, &hi));
      assert_true(lo >= from && lo <= hi && hi <= end);
      for (int64_t i = t > from ? t : from; i < lo; i++) {
        assert_int_equal(whole_present[i], 0);
      }
      /* From before the run to after it. */
      const int64_t at = t, n = (hi > lo ? hi : lo) - t + (hi == end ? 8 : 0);

      assert_ok(ps_input_read(in, at, n, x, present));
      for (int64_t i = at; i < at + n; i++) {
        const bool in_range = i >= from && i < end;

        assert_int_equal(present[i - at], in_range && whole_present[i]);
        assert_true(x[i - at] == (in_range ? whole[i] : 0.0f));
      }
      if (lo == hi) {
        break;
      }
    }
    ps_input_close(&in);
  }
}

static void rates_become_fractions(void **state)
{
  static const struct {
    double rate;
    int64_t num, den;
  } cases[] = {{360, 360, 1}, {62.4725, 24989, 400}, {999.56, 24989, 25}, {0x1p-3 + 20, 161, 8}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ps_input_opts input;
    ps_synth_opts opts;
    ps_synth *s = NULL;
    int64_t num, den;

    defaults(&input, &opts);
    opts.model.rate = cases[i].rate;
    opts.noise.white = false;
    assert_ok(ps_synth_create(&opts, 1, &s));
    ps_synth_rate(s, &num, &den);
    assert_int_equal(num, cases[i].num);
    assert_int_equal(den, cases[i].den);
    ps_synth_destroy(&s);
  }
}

static void two_inputs_and_missing_files_are_refused(void **state)
{
  ps_input_opts input;
  ps_synth_opts synth;
  ps_input *in = NULL;

  defaults(&input, &synth);
  input.record = "a";
  input.csv = "b.csv";
  assert_int_equal(ps_input_open(&input, &synth, 1, &in), WEIR_ERR_CONFIG);
  input.csv = "";
  input.record = "/nowhere/a";
  assert_int_equal(ps_input_open(&input, &synth, 1, &in), WEIR_ERR_DATA);
  assert_null(in);
  input.record = "";
  input.fs = 250; /* of no text file */
  assert_int_equal(ps_input_open(&input, &synth, 1, &in), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "input.fs is 250 Hz"));
  assert_non_null(strstr(weir_last_message(), "ecgsyn.model.rate"));
  input.fs = 0;
  synth.model.rate = 3.14159265358979;
  assert_int_equal(ps_input_open(&input, &synth, 1, &in), WEIR_ERR_CONFIG);
}

/* Opens a record or text file at the rate `fs`; the failure must end with `advice`. */
static void fails_with(const char *path, double fs, weir_status status, const char *advice)
{
  const size_t n = strlen(advice);
  ps_input_opts input;
  ps_synth_opts synth;
  ps_input *in = NULL;

  defaults(&input, &synth);
  input.record = path;
  input.fs = fs;
  assert_int_equal(ps_input_open(&input, &synth, 1, &in), status);
  assert_null(in);
  const char *says = weir_last_message();

  if (strlen(says) < n || strcmp(says + strlen(says) - n, advice) != 0) {
    fail_msg("'%s' does not end with '%s'", says, advice);
  }
}

static void failures_name_the_option_that_avoids_them(void **state)
{
  static const struct {
    const char *file, *text, *advice;
    double fs;
    weir_status status;
  } cases[] = {
      {"a.hea", "a 1 100 5\na.dat 16 200/mV\n", ": --set input.allow_short=true", 0, WEIR_ERR_DATA},
      {"a.hea", "a 1 100 2\na.dat 16 0/mV\n", ": --set input.zero_gain=true", 0, WEIR_ERR_DATA},
      {"a.hea", "a 1 100 2\na.dat 16 200/mV\n", ": leave input.fs out", 50, WEIR_ERR_CONFIG},
      {"a.csv", "1\n2\n", ": --set input.fs=HZ", 0, WEIR_ERR_CONFIG},
      {"a.csv", "time,a\n0,1\n", ": --set input.fs=HZ", 0, WEIR_ERR_CONFIG},
      {"a.csv", "time,a\n0,1\n3906,2\n7812,3\n11719,4\n15625,5\n", ": --set input.fs=HZ", 0,
       WEIR_ERR_CONFIG},
      {"a.csv", "time,a\n0,1\n0.004,2\n0.008,3\n0.012,4\n0.016,5\n0.020,6\n",
       ": leave input.fs out", 500, WEIR_ERR_CONFIG},
      {"a.csv", "a [uV],b [uV]\n1,2\n3,4\n", ": --set input.signal=NAME", 50, WEIR_ERR_CONFIG},
  };
  static const int16_t samples[2] = {1, 2};
  char dir[256], path[512];

  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/a.dat", dir);
  weir_check_write(path, samples, sizeof samples);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", dir, cases[i].file);
    weir_check_write(path, cases[i].text, strlen(cases[i].text));
    fails_with(path, cases[i].fs, cases[i].status, cases[i].advice);
  }
  weir_check_rmdir(dir);
}

static weir_status make(void *context)
{
  ps_input_opts input;
  ps_synth_opts synth;
  ps_input *in = NULL;

  defaults(&input, &synth);
  WEIR_TRY(ps_input_open(&input, &synth, 1, &in));
  ps_input_close(&in);
  return WEIR_OK;
}

static void every_fault_of_memory_is_reported(void **state)
{
  assert_true(weir_check_faults(make, NULL) > 4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_and_skipped_gaps_give_the_same_samples),
      cmocka_unit_test(slots_after_the_end_are_absent),
      cmocka_unit_test(a_range_is_a_part_of_the_whole),
      cmocka_unit_test(rates_become_fractions),
      cmocka_unit_test(two_inputs_and_missing_files_are_refused),
      cmocka_unit_test(failures_name_the_option_that_avoids_them),
      cmocka_unit_test(every_fault_of_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
