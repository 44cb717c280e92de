/* hr_test.c - against a plain median, and with what may come in. */
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_hr;

/* Intervals at random slots, seldom far apart. */
static step_signal intervals(uint64_t seed, int64_t n, int64_t rate)
{
  step_signal s = step_signal_new(n, rate, 1);
  int64_t last = 0;

  memset(s.present, 0, (size_t)n);
  for (uint64_t k = 0; last < n; k++) {
    const uint64_t bits = weir_random_bits(seed, 31, 0, k);
    const int64_t step = bits % 23 == 0 ? 15 * rate : rate / 2 + (int64_t)(bits / 32) % rate;

    last += step;
    if (last < n && step < 2 * rate) {
      s.present[last] = 1;
      s.x[last] = (float)((double)step / (double)rate);
    }
  }
  s.unit = "s";
  return s;
}

static int by_value(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;

  return (x > y) - (x < y);
}

static void it_is_the_median_of_the_last_intervals(void **state)
{
  static const char *const sets[][2] = {{NULL}, {"beats=5", NULL}, {"beats=1", NULL}};
  static const int64_t beats[] = {8, 5, 1};

  for (uint64_t seed = 0; seed < 6; seed++) {
    const int64_t m = beats[seed % 3];
    step_signal in = intervals(seed, 20000, 50);
    float last[8] = {0}, sorted[8];
    int64_t have = 0, before = -1;
    step_result r;

    step_check_chunks(&ps_step_hr, sets[seed % 3], &in, 1, &r);
    for (int64_t t = 0; t < in.n; t++) {
      if (!in.present[t]) {
        assert_false(r.out[0].present[t]);
        continue;
      }
      have = before >= 0 && t - before > 500 ? 0 : have;
      before = t;
      memmove(last + 1, last, sizeof last - sizeof *last);
      last[0] = in.x[t];
      have++;
      assert_int_equal(r.out[0].present[t], have >= m);
      if (have >= m) {
        memcpy(sorted, last, sizeof last);
        qsort(sorted, (size_t)m, sizeof *sorted, by_value);
        assert_near((double)r.out[0].x[t],
                    120.0 / ((double)sorted[(m - 1) / 2] + (double)sorted[m / 2]), 1e-6);
      }
    }
    assert_string_equal(r.out[0].unit, "1/min");
    step_result_free(&r);
    step_signal_free(&in);
  }
}

static void what_is_no_length_of_time_changes_nothing(void **state)
{
  step_signal in = intervals(3, 20000, 50);

  assert_true(step_check_odd_times(&ps_step_hr, &in) > 0);
  step_signal_free(&in);
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 1, .n = 5000, .rate = 50, .scale = 1};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    seen += step_check_garbage(&ps_step_hr, NULL, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void what_is_no_time_is_refused(void **state)
{
  step_signal in = step_signal_new(10, 50, 1);
  step_frame f;

  in.unit = "mV";
  assert_int_equal(step_build(&ps_step_hr, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_hr.opts), 0);
  step_signal_free(&in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_the_median_of_the_last_intervals),
      cmocka_unit_test(what_is_no_length_of_time_changes_nothing),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_is_no_time_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
