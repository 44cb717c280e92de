/* ptt_test.c - against a plain search over all pairs, on one clock and on two. */
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_ptt;

static step_signal events(uint64_t seed, uint32_t channel, int64_t n, int64_t rate, double share)
{
  step_signal s = step_signal_new(n, rate, 1);

  for (int64_t t = 0; t < n; t++) {
    s.present[t] = weir_random_uniform(seed, 51, channel, (uint64_t)t) < share / (double)rate &&
                   (t == 0 || !s.present[t - 1]);
    s.x[t] = s.present[t] ? 1.0f : 0.0f;
  }
  return s;
}

static void each_r_wave_gets_the_first_pulse_after_it(void **state)
{
  for (uint64_t seed = 0; seed < 6; seed++) {
    const int64_t rate = 100, up = seed % 2 ? 1 : 5;
    step_signal in[2] = {events(seed, 1, 12000 * up, rate * up, 1.5),
                         events(seed, 2, 12000, rate, 1.5)};
    step_result r;

    step_check_chunks(&ps_step_ptt, NULL, in, 2, &r);
    const step_stream *delay = step_get(&r, "delay"), *flags = step_get(&r, "flags");

    assert_int_equal(delay->rate_num, rate * up);
    for (int64_t t = 0; t < in[0].n; t++) {
      int64_t found = 0; /* slots to the pulse, 0 for none */

      assert_int_equal(flags->present[t], in[0].present[t]);
      if (!in[0].present[t]) {
        continue;
      }
      for (int64_t u = 0; u < in[1].n && u * up <= t + rate * up && found == 0; u++) {
        found = in[1].present[u] && u * up - t >= 5 * up ? u * up - t : 0;
      }
      assert_int_equal(delay->present[t], found > 0);
      assert_true(found == 0 || delay->x[t] == (float)((double)found / (double)(rate * up)));
      assert_true(flags->x[t] == (found == 0 ? 2.0f : found > 40 * up ? 1.0f : 0.0f));
    }
    step_result_free(&r);
    step_signal_free(&in[0]);
    step_signal_free(&in[1]);
  }
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 2, .n = 3000, .rate = 100, .scale = 1};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 4; seed++) {
    seen += step_check_garbage(&ps_step_ptt, NULL, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void clocks_that_do_not_fit_are_refused(void **state)
{
  step_signal in[2] = {step_signal_new(30, 300, 1), step_signal_new(20, 200, 1)};
  step_frame f;

  assert_int_equal(step_build(&ps_step_ptt, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "no multiple"));
  step_frame_fini(&f);
  in[0].rate_num = 360;
  in[1].rate_num = 125;
  assert_int_equal(step_build(&ps_step_ptt, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  assert_non_null(
      strstr(weir_last_message(), "add {name: ecg500, from: [ecg], do: {resample: {rate: 500}}}"));
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_ptt.opts), 0);
  step_signal_free(&in[0]);
  step_signal_free(&in[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_r_wave_gets_the_first_pulse_after_it),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(clocks_that_do_not_fit_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
