/* beat_class_test.c - features of beats that are known, a class by weights, and anything. */
#include "model/beat_features.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_beat_class;

enum { RATE = 250, N = 60 * RATE };

/* Beats every 0.8 s, the tenth of each ten 0.5 s after the one before, wide and inverted. in: the
 * ECG, intervals, widths, and P waves. */
static void simulate(step_signal in[4])
{
  static const char *const units[4] = {"mV", "s", "s", "s"};
  int64_t at = RATE, last = -1;

  for (int k = 0; k < 4; k++) {
    in[k] = step_signal_new(N, RATE, 1);
    in[k].unit = units[k];
    memset(in[k].present, k == 0, N);
  }
  for (int64_t b = 0; at < N - RATE; b++) {
    const bool ectopic = b % 10 == 9;

    for (int64_t t = at - 50; t <= at + 50; t++) {
      const double u = (double)(t - at) / (ectopic ? 9 : 3);

      in[0].x[t] += (float)((ectopic ? -1.5 : 1) * exp(-u * u / 2));
    }
    if (last >= 0) {
      in[1].present[at] = in[2].present[at] = 1;
      in[1].x[at] = (float)(at - last) / RATE;
      in[2].x[at] = ectopic ? 0.16f : 0.09f;
      in[3].present[at] = !ectopic;
      in[3].x[at] = -0.16f;
    }
    last = at;
    at += (b + 1) % 10 == 9 ? RATE / 2 : RATE * 4 / 5;
  }
}

static void free_all(step_signal *in)
{
  for (int k = 0; k < 4; k++) {
    step_signal_free(&in[k]);
  }
}

/* As text: V where the width exceeds 0.12 s, else N; S and F never. */
static const char *weights(void)
{
  static char text[1024];
  int n = snprintf(text, sizeof text, "weights=[");

  for (int c = 0; c < PS_CLASSES; c++) {
    for (int k = 0; k <= PS_FEATURES; k++) {
      const double w = c == PS_CLASS_V && k == 0                        ? -12
                       : c == PS_CLASS_V && k == 1 + PS_FEATURE_WIDTH   ? 100
                       : (c == PS_CLASS_S || c == PS_CLASS_F) && k == 0 ? -1e30
                                                                        : 0;

      n += snprintf(text + n, sizeof text - (size_t)n, "%s%g", c + k > 0 ? "," : "", w);
    }
  }
  (void)snprintf(text + n, sizeof text - (size_t)n, "]");
  return text;
}

static void features_are_as_computed(void **state)
{
  const char *const sets[] = {weights(), NULL};
  int64_t n = 0, ectopic = 0, last = -1, before = -1;
  step_signal in[4];
  step_result r;

  simulate(in);
  step_check_chunks(&ps_step_beat_class, sets, in, 4, &r);
  assert_int_equal(r.n, PS_FEATURES + 1);
  for (int64_t t = 0; t < N; t++) {
    if (!in[1].present[t]) {
      assert_false(r.out[0].present[t]);
      continue;
    }
    if (r.out[0].present[t]) {
      const bool wide = in[2].x[t] > 0.12f;
      const double pre = log((double)in[1].x[t] / 0.8), prior = log((double)in[1].x[last] / 0.8);

      assert_near((double)step_get(&r, "pre")->x[t], pre, 1e-6);
      assert_near((double)step_get(&r, "before")->x[t], prior, 1e-6);
      assert_near((double)step_get(&r, "width")->x[t], wide ? 0.16 : 0.09, 1e-6);
      assert_true((step_get(&r, "p")->x[t] > 0) == !wide);
      assert_true(wide ? step_get(&r, "shape")->x[t] < -0.5f : step_get(&r, "shape")->x[t] > 0.99f);
      assert_near((double)step_get(&r, "height")->x[t],
                  wide ? log(1.5 * (1 - exp(-0.5 * 25 * 25 / 81.0))) : 0, 0.01);
      assert_int_equal(step_get(&r, "class")->x[t], wide ? 3 : 1);
      ectopic += wide;
      n++;
    }
    if (before >= 0 && r.out[0].present[last]) {
      assert_near((double)step_get(&r, "post")->x[last], log((double)in[1].x[t] / 0.8), 1e-6);
    }
    before = last;
    last = t;
  }
  assert_true(n > 60 && ectopic >= 6);
  step_result_free(&r);
  free_all(in);
}

/* Wide and unlike the usual beats is V: single ones, and each of a run of 20, but not wide beats of
 * the usual shape; the shape of a run is not taken for the usual one, and that of a first V not for
 * ever. */
static void the_rule_finds_wide_beats_of_another_shape(void **state)
{
  static const char *const sets[] = {"rule=true", NULL};
  static const char *const wider[] = {"rule=true", "wide=0.17", NULL};
  int64_t beats = 0, ventricular = 0, run = 0;
  step_signal in[4];
  step_result r;

  simulate(in);
  for (int64_t t = 0; t < N; t++) {
    if (in[1].present[t]) {
      const bool in_run = beats == 0 || (beats >= 30 && beats < 50), usual_wide = beats >= 55;

      for (int64_t u = t - 50; in_run && u <= t + 50; u++) {
        const double v = (double)(u - t) / 9;

        in[0].x[u] = (float)(-1.5 * exp(-v * v / 2));
      }
      in[2].x[t] = in_run || usual_wide ? 0.16f : in[2].x[t];
      run += in_run;
      beats++;
    }
  }
  step_check_chunks(&ps_step_beat_class, sets, in, 4, &r);
  for (int64_t t = 0, k = 0; t < N; t++) {
    if (in[1].present[t]) {
      const bool v = step_get(&r, "shape")->x[t] < 0 && in[2].x[t] > 0.12f;

      if (r.out[0].present[t]) {
        assert_int_equal(step_get(&r, "class")->x[t], v ? 3 : 1);
        assert_true(k < 30 || k >= 50 || v);
        ventricular += v;
      }
      k++;
    }
  }
  assert_int_equal(run, 21);
  assert_in_range(ventricular, 22, 30);
  step_result_free(&r);
  step_run(&ps_step_beat_class, wider, in, 4, (step_how){0}, &r);
  for (int64_t t = 0; t < N; t++) {
    assert_true(!r.out[0].present[t] || step_get(&r, "class")->x[t] == 1.0f);
  }
  step_result_free(&r);
  free_all(in);
}

/* A beat with a sample missing has no features; without weights there is no class. */
static void gaps_have_no_class(void **state)
{
  step_signal in[4];
  step_result r;
  int64_t beats = 0, last = 0;

  simulate(in);
  for (int64_t t = 0; t < N; t++) {
    beats += in[1].present[t];
    if (in[1].present[t] && beats == 20) {
      in[0].present[t + 10] = 0;
      last = t;
    }
  }
  step_check_chunks(&ps_step_beat_class, NULL, in, 4, &r);
  assert_int_equal(r.n, PS_FEATURES);
  assert_false(r.out[0].present[last]);
  assert_int_equal(step_count(&r.out[0]), beats - 4);
  step_result_free(&r);
  free_all(in);
}

/* Beat 20 has no interval, as one after a gap: that from 19 to 21 is not the one after 19. */
static void an_interval_over_a_beat_is_not_known(void **state)
{
  step_signal in[4];
  step_result r;
  int64_t beats = 0, before = 0, last = 0;

  simulate(in);
  for (int64_t t = 0; t < N; t++) {
    if (in[1].present[t] && ++beats <= 21) {
      before = beats == 19 ? t : before;
      last = t;
      in[1].present[t] = beats != 20;
    }
  }
  step_check_chunks(&ps_step_beat_class, NULL, in, 4, &r);
  assert_false(r.out[0].present[before]);
  assert_true(r.out[0].present[last]);
  step_result_free(&r);
  free_all(in);
}

static void no_input_upsets_it(void **state)
{
  const char *const sets[] = {weights(), NULL};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    step_signal in[4];
    step_result r;

    for (int k = 0; k < 4; k++) {
      in[k] = step_signal_new(4000, 100, 1);
      step_garbage(&in[k], seed + 10 * (uint64_t)k, 1);
      in[k].unit = k == 0 ? "mV" : "s";
    }
    for (int64_t t = 0; t < 4000; t++) {
      in[1].present[t] &= weir_random_bits(seed, 51, 0, (uint64_t)t) % 40 == 0;
    }
    step_check_chunks(&ps_step_beat_class, sets, in, 4, &r);
    assert_true(step_is_sound(&r));
    seen += step_count_all(&r);
    step_result_free(&r);
    free_all(in);
  }
  assert_true(seen > 0);
}

static void what_is_no_discriminant_is_refused(void **state)
{
  static const char *const sets[] = {"weights=[1, 2, 3]", NULL};
  step_signal in[4];
  step_frame f;

  simulate(in);
  assert_int_equal(step_build(&ps_step_beat_class, sets, in, 4, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "3 numbers"));
  step_frame_fini(&f);
  static const char *const both[] = {"rule=true", "network=weights.nc", NULL};

  assert_int_equal(step_build(&ps_step_beat_class, both, in, 4, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "give one of them"));
  step_frame_fini(&f);
  in[2].unit = "mV";
  assert_int_equal(step_build(&ps_step_beat_class, NULL, in, 4, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_beat_class.opts), 0);
  free_all(in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(features_are_as_computed),
      cmocka_unit_test(the_rule_finds_wide_beats_of_another_shape),
      cmocka_unit_test(gaps_have_no_class),
      cmocka_unit_test(an_interval_over_a_beat_is_not_known),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_is_no_discriminant_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
