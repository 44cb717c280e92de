/* scr_test.c - responses of a sum of known ones against NeuroKit2 0.3.0, stored here; gaps, garbage
 * and what is refused. */
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_scr;

enum { RATE = 20, COUNT = 1000 };

/* Six responses (Bateman), a wave and a slope. */
static step_signal responses(void)
{
  static const double shape[6][2] = {{3, 0.6},   {11, 1.0}, {14.5, 0.3},
                                     {26, 0.08}, {33, 0.7}, {41, 0.45}};
  step_signal s = step_signal_new(COUNT, RATE, 1);

  s.unit = "uS";
  for (int i = 0; i < COUNT; i++) {
    const double t = (double)i / RATE;
    double x = 0.02 * sin(1.9 * t) + 0.004 * t;

    for (int k = 0; k < 6; k++) {
      const double u = t - shape[k][0];

      x += u > 0 ? 3 * shape[k][1] * (exp(-u / 2.5) - exp(-u / 0.7)) : 0;
    }
    s.x[i] = (float)x;
  }
  return s;
}

/* min_amplitude is 0.1 of the largest prominence, which NeuroKit2 takes. */
static const char *const stored_opts[] = {"min_amplitude=0.12899", NULL};

static void responses_are_those_of_neurokit2(void **state)
{
  static const struct {
    int64_t peak;
    double amplitude, rise, recovery; /* -1: none */
  } stored[] = {{85, 0.836618, 1.85, 2.7},
                {244, 1.256617, 1.2, -1},
                {302, 0.157025, 0.6, 0.7},
                {684, 0.954525, 1.9, 2.7},
                {844, 0.532284, 1.2, 2.35}};
  step_signal in = responses();
  step_result r;
  size_t k = 0;

  step_check_chunks(&ps_step_scr, stored_opts, &in, 1, &r);
  const step_stream *amplitude = step_get(&r, "amplitude"), *rise = step_get(&r, "rise");
  const step_stream *recovery = step_get(&r, "recovery");

  assert_string_equal(amplitude->unit, "uS");
  assert_string_equal(recovery->unit, "s");
  for (int64_t t = 0; t < COUNT; t++) {
    if (!amplitude->present[t]) {
      continue;
    }
    assert_true(k < 5 && t == stored[k].peak);
    assert_near((double)amplitude->x[t], stored[k].amplitude, 1e-6);
    assert_near((double)rise->x[t], stored[k].rise, 1e-6);
    assert_int_equal(recovery->present[t], stored[k].recovery >= 0);
    assert_near((double)recovery->x[t], fmax(stored[k].recovery, 0), 1e-6);
    k++;
  }
  assert_int_equal(k, 5);
  step_result_free(&r);
  step_signal_free(&in);
}

/* No response spans a gap: of the second, whose rise is cut, nothing is left; the first keeps its
 * amplitude, not its recovery. */
static void a_gap_ends_what_is_known(void **state)
{
  step_signal in = responses();
  step_result r;

  memset(in.present + 130, 0, 100); /* 6.5 s to 11.5 s: from 2.25 s after the first peak */
  step_check_chunks(&ps_step_scr, stored_opts, &in, 1, &r);
  const step_stream *amplitude = step_get(&r, "amplitude"), *recovery = step_get(&r, "recovery");

  assert_int_equal(step_count(amplitude), 4);
  assert_true(amplitude->present[85] && !amplitude->present[244] && amplitude->present[302]);
  assert_near((double)amplitude->x[85], 0.836618, 1e-6);
  assert_int_equal(recovery->present[85], 0);
  step_result_free(&r);
  step_signal_free(&in);
}

/* From slot 100 to 180, 20 s: the onset is still known when the response is complete. */
static void a_slow_rise_keeps_its_onset(void **state)
{
  step_signal in = step_signal_new(600, 4, 1);
  step_result r;

  in.unit = "uS";
  for (int i = 0; i < 600; i++) {
    in.x[i] = (float)(i <= 100   ? 5 - 0.01 * i
                      : i <= 180 ? 4 + 0.05 * (i - 100)
                                 : 8 - 0.01 * (i - 180));
  }
  step_check_chunks(&ps_step_scr, NULL, &in, 1, &r);
  const step_stream *amplitude = step_get(&r, "amplitude"), *rise = step_get(&r, "rise");

  assert_int_equal(step_count(amplitude), 1);
  assert_true(amplitude->present[180]);
  assert_near((double)amplitude->x[180], 4, 1e-6);
  assert_near((double)rise->x[180], 20, 1e-6);
  step_result_free(&r);
  step_signal_free(&in);
}

/* A flat top is one peak in its middle, and a flat trough one onset. */
static void flat_tops_count_once(void **state)
{
  static const float x[] = {3, 2, 1, 1, 1, 2, 5, 5, 5, 5, 4, 2, 1, 0};
  static const char *const sets[] = {"min_amplitude=1", "window=1", NULL};
  step_signal in = step_signal_new(14, RATE, 1);
  step_result r;

  in.unit = "uS";
  memcpy(in.x, x, sizeof x);
  step_check_chunks(&ps_step_scr, sets, &in, 1, &r);
  const step_stream *amplitude = step_get(&r, "amplitude"), *rise = step_get(&r, "rise");

  assert_int_equal(step_count(amplitude), 1);
  assert_true(amplitude->present[7]);
  assert_near((double)amplitude->x[7], 4, 0);
  assert_near((double)rise->x[7], 4.0 / RATE, 1e-6);
  step_result_free(&r);
  step_signal_free(&in);
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 1, .n = 3000, .rate = 20, .scale = 3};
  static const char *const sets[] = {"window=5", NULL};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    seen += step_check_garbage(&ps_step_scr, sets, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void what_cannot_be_searched_is_refused(void **state)
{
  static const char *const sets[] = {"window=1", NULL};
  step_signal in = step_signal_new(10, 2, 1);
  step_frame f;

  assert_int_equal(step_build(&ps_step_scr, sets, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "window: 1 s are 2 samples"));
  step_frame_fini(&f);
  in.unit = "mV";
  assert_int_equal(step_build(&ps_step_scr, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "needs uS"));
  step_frame_fini(&f);
  step_signal_free(&in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(responses_are_those_of_neurokit2),
      cmocka_unit_test(a_gap_ends_what_is_known),
      cmocka_unit_test(a_slow_rise_keeps_its_onset),
      cmocka_unit_test(flat_tops_count_once),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_cannot_be_searched_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
