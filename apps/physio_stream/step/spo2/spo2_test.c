/* spo2_test.c - pulsations of known ratio, and a plain loop over windows with gaps. */
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_spo2;

static step_signal light(int64_t n, int64_t rate, double mean, double amplitude)
{
  step_signal s = step_signal_new(n, rate, 1);

  for (int64_t t = 0; t < n; t++) {
    const double phase = 2 * acos(-1.0) * 1.25 * (double)t / (double)rate;

    s.x[t] = (float)(mean + amplitude * sin(phase) + 0.2 * amplitude * sin(2 * phase));
  }
  return s;
}

static void the_ratio_of_pulsations_gives_the_saturation(void **state)
{
  static const double ratio[] = {0.4, 0.5, 1.0, 5.0};

  for (int k = 0; k < 4; k++) {
    step_signal in[2] = {light(4000, 100, 2.0, 0.02 * ratio[k]), light(4000, 100, 3.0, 0.03)};
    const double wanted = fmax(0, fmin(100, 110 - 25 * ratio[k]));
    step_result r;
    int64_t seen = 0;

    step_check_chunks(&ps_step_spo2, NULL, in, 2, &r);
    const step_stream *s = step_get(&r, "spo2");

    assert_int_equal(s->rate_num, 1);
    for (int64_t t = 0; t < s->n; t++) {
      if (s->present[t]) {
        seen++;
        assert_true(fabs((double)s->x[t] - wanted) < 0.05);
        assert_true(fabs((double)step_get(&r, "ratio")->x[t] - ratio[k]) < 0.002 * ratio[k]);
      }
    }
    assert_int_equal(seen, 35);
    step_result_free(&r);
    step_signal_free(&in[0]);
    step_signal_free(&in[1]);
  }
}

static void too_little_signal_gives_no_value(void **state)
{
  step_signal in[2] = {light(4000, 100, 2.0, 0.01), light(4000, 100, 3.0, 0.03)};
  step_result r;

  memset(in[0].present + 1500, 0, 100);
  memset(in[1].present + 2000, 0, 30);
  step_check_chunks(&ps_step_spo2, NULL, in, 2, &r);
  const step_stream *s = step_get(&r, "spo2");

  for (int64_t j = 0; j < s->n; j++) {
    const int64_t lo = 100 * j - 500, hi = 100 * j + 100;
    int64_t n = 0;

    for (int64_t t = lo < 0 ? 0 : lo; t < hi; t++) {
      n += in[0].present[t] && in[1].present[t];
    }
    assert_int_equal(s->present[j], n >= 540 && j != 15);
  }
  step_result_free(&r);
  step_signal_free(&in[0]);
  step_signal_free(&in[1]);
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 2, .n = 3000, .rate = 50, .scale = 1};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 4; seed++) {
    seen += step_check_garbage(&ps_step_spo2, NULL, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void clocks_that_differ_are_refused(void **state)
{
  step_signal in[2] = {step_signal_new(30, 300, 1), step_signal_new(20, 200, 1)};
  step_frame f;

  assert_int_equal(step_build(&ps_step_spo2, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "different rates"));
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_spo2.opts), 0);
  step_signal_free(&in[0]);
  step_signal_free(&in[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ratio_of_pulsations_gives_the_saturation),
      cmocka_unit_test(too_little_signal_gives_no_value),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(clocks_that_differ_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
