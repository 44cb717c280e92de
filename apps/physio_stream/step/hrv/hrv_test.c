/* hrv_test.c - windows of a stream against the measures of the intervals in them. */
#include "model/hrv_nonlinear.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_hrv;

enum { RATE = 100, SECONDS = 500, CAPACITY = 4000 };

/* Intervals of 0.7 to 0.9 s that swing, with a gap and a few outliers, and exact to below the slots
 * that they end in, as those of a parabola are: up to 4 slots from the distance of these. */
static step_signal intervals(uint64_t seed)
{
  step_signal s = step_signal_new(RATE * SECONDS, RATE, 1);
  int64_t last = 0;

  memset(s.present, 0, (size_t)s.n);
  for (uint64_t k = 0;; k++) {
    const double noise = weir_random_uniform(seed, 41, 0, k);
    const double t = (double)last / RATE;
    int64_t step = (int64_t)(100 * (0.75 + 0.05 * sin(0.6 * t) + 0.1 * noise));

    step = k % 61 == 60 ? step / 2 : step;
    last += step;
    if (last >= s.n) {
      break;
    }
    if (t < 260 || t > 290) {
      s.present[last] = 1;
      s.x[last] = (float)(((double)step + 8 * weir_random_uniform(seed, 42, 0, k) - 4) / RATE);
    }
  }
  s.unit = "s";
  return s;
}

/* Intervals that end in slots [lo, hi), as the step sees them. */
static int64_t collect(const step_signal *in, int64_t lo, int64_t hi, ps_interval *v)
{
  int64_t n = 0, last = -1;

  for (int64_t t = 0; t < hi; t++) {
    if (!in->present[t]) {
      continue;
    }
    const double length = (double)in->x[t] * RATE;

    if (t >= lo) {
      v[n++] = (ps_interval){.end = (double)t,
                             .length = length,
                             .counts = true,
                             .joined = last >= 0 && fabs((double)(t - last) - length) <= 10};
    }
    last = t;
  }
  return n;
}

static void expect(const step_result *r, const char *name, int64_t k, double value)
{
  const step_stream *s = step_get(r, name);

  assert_true(k < s->n);
  assert_int_equal(s->present[k], !isnan(value));
  assert_true(isnan(value) || weir_near((double)s->x[k], value, 1e-6));
}

/* The nonlinear measures of a window. */
static void expect_nonlinear(const step_result *r, int64_t k, const ps_hrv_nonlinear *m)
{
  const bool enough = m != NULL;

  expect(r, "sd1", k, enough ? m->sd1 : NAN);
  expect(r, "sd2", k, enough ? m->sd2 : NAN);
  expect(r, "sd1_sd2", k, enough ? m->sd_ratio : NAN);
  expect(r, "ellipse", k, enough ? m->ellipse : NAN);
  expect(r, "apen", k, enough ? m->apen : NAN);
  expect(r, "sampen", k, enough ? m->sampen : NAN);
  expect(r, "mse_ci", k, enough ? m->mse_ci : NAN);
  expect(r, "dfa_alpha1", k, enough ? m->alpha1 : NAN);
  expect(r, "dfa_alpha2", k, enough ? m->alpha2 : NAN);
}

/* Of windows that end in slots; the options are those of the second set, and the usual ones. */
static void nonlinear_measures_are_those_of_the_intervals(void **state)
{
  static const char *const sets[][8] = {
      {"window=300", "hop=100", NULL},
      {"window=200", "hop=40", "nn.entropy.m=1", "nn.entropy.r=0.3", "nn.entropy.scales=3",
       "nn.entropy.min_templates=20", "nn.dfa={short_min: 5, long_max: 24, ratio: 1}", NULL},
  };
  static const ps_hrv_opts opts[] = {
      {.entropy = {2, 0.2, 5, 100}, .dfa = {4, 11, 12, 0, 1.0905077326652577, false}},
      {.entropy = {1, 0.3, 3, 20}, .dfa = {5, 11, 12, 24, 1, false}}};
  static const int64_t windows[] = {300, 200}, hops[] = {100, 40};
  static ps_interval v[CAPACITY];
  static double scratch[20 * CAPACITY];
  int64_t seen[4] = {0};

  for (int c = 0; c < 2; c++) {
    const int64_t hop = hops[c] * RATE;
    step_signal in = intervals(7 + (uint64_t)c);
    step_result r;

    step_check_chunks(&ps_step_hrv, sets[c], &in, 1, &r);
    for (int64_t k = 0; k < step_get(&r, "n")->n; k++) {
      const int64_t hi = (k + 1) * hop < in.n ? (k + 1) * hop : in.n;
      const int64_t n = collect(&in, hi - windows[c] * RATE, hi, v);

      ps_hrv_exclude(0.25, v, n, scratch);
      const bool enough = ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, RATE).n >= 10;
      const ps_hrv_nonlinear m = ps_hrv_nonlinear_of(&opts[c], v, n, RATE, scratch);

      expect_nonlinear(&r, k, enough ? &m : NULL);
      seen[0] += isfinite(m.sampen);
      seen[1] += isfinite(m.mse_ci);
      seen[2] += isfinite(m.alpha1);
      seen[3] += isfinite(m.alpha2);
    }
    step_result_free(&r);
    step_signal_free(&in);
  }
  print_message("windows with sampen %lld, mse_ci %lld, alpha 1 %lld, alpha 2 %lld\n",
                (long long)seen[0], (long long)seen[1], (long long)seen[2], (long long)seen[3]);
  for (int k = 0; k < 4; k++) {
    assert_true(seen[k] > 3);
  }
}

static void windows_hold_what_ends_in_them(void **state)
{
  static const char *const sets[][5] = {
      {"window=100", "hop=20", NULL},
      {"window=120", "hop=60", "nn.spectrum=lomb", NULL},
      {"window=50", "hop=50", "nn.exclude=0", "min_intervals=2", NULL},
      {"window=400", "hop=100", "nn.spectrum=lomb", NULL},
      {"window=120", "hop=60", "nn.definitions=neurokit2", NULL},
  };
  static const int64_t windows[] = {100, 120, 50, 400, 120}, hops[] = {20, 60, 50, 100, 60};
  int64_t slowest = 0;
  static ps_interval v[CAPACITY];
  static double scratch[4 * CAPACITY + 8000];

  for (int c = 0; c < 5; c++) {
    const ps_hrv_opts opts = {.definitions = c == 4 ? PS_HRV_NEUROKIT2 : PS_HRV_TASK_FORCE,
                              .bridge = 5,
                              .spectrum = c % 2 == 1 ? PS_HRV_LOMB : PS_HRV_WELCH};
    const int64_t hop = hops[c] * RATE;
    step_signal in = intervals((uint64_t)c);
    step_result r;
    int64_t seen = 0;

    step_check_chunks(&ps_step_hrv, sets[c], &in, 1, &r);
    assert_int_equal(step_get(&r, "n")->n, (in.n + hop - 1) / hop);
    assert_int_equal(step_get(&r, "n")->rate_den, hops[c]);
    for (int64_t k = 0; k < step_get(&r, "n")->n; k++) {
      const int64_t hi = (k + 1) * hop < in.n ? (k + 1) * hop : in.n;
      const int64_t n = collect(&in, hi - windows[c] * RATE, hi, v);

      ps_hrv_exclude(c == 2 ? 0 : 0.25, v, n, scratch);
      const ps_hrv_times t = ps_hrv_time_domain(opts.definitions, v, n, RATE);
      const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, n, RATE, scratch);
      const bool enough = t.n >= (c == 2 ? 2 : 10);

      seen += enough;
      slowest += enough && !isnan(b.vlf);
      expect(&r, "n", k, enough ? (double)t.n : NAN);
      expect(&r, "mean_nn", k, enough ? t.mean : NAN);
      expect(&r, "sdnn", k, enough ? t.sd : NAN);
      expect(&r, "rmssd", k, enough ? t.rmssd : NAN);
      expect(&r, "pnn50", k, enough ? t.pnn50 : NAN);
      expect(&r, "vlf", k, enough ? b.vlf : NAN);
      expect(&r, "hf", k, enough ? b.hf : NAN);
      expect(&r, "lf_hf", k, enough ? b.lf / b.hf : NAN);
    }
    assert_true(seen > (c == 3 ? 3 : 5));
    step_result_free(&r);
    step_signal_free(&in);
  }
  assert_int_equal(slowest, 2);
}

/* Five minutes each at 0.8, 0.9 and 1 s: none of them alone has a deviation. */
static void long_windows_have_sdann(void **state)
{
  static const char *const sets[] = {"window=900", "hop=300", NULL};
  static const double expected[3] = {-1, 70.7107, 100};
  step_signal in = step_signal_new(90000, RATE, 1);
  step_result r;

  memset(in.present, 0, (size_t)in.n);
  for (int64_t t = 80; t < in.n; t += 80 + 10 * (t / 30000)) {
    in.present[t] = 1;
    in.x[t] = (float)(80 + 10 * (t / 30000)) / RATE;
  }
  in.unit = "s";
  step_check_chunks(&ps_step_hrv, sets, &in, 1, &r);
  const step_stream *sdann = step_get(&r, "sdann");

  assert_int_equal(sdann->n, 3);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(sdann->present[k], expected[k] > 0);
    assert_true(expected[k] < 0 || fabs((double)sdann->x[k] - expected[k]) < 0.5);
  }
  step_result_free(&r);
  step_signal_free(&in);
}

static void what_is_no_length_of_time_changes_nothing(void **state)
{
  step_signal in = intervals(3);

  assert_true(step_check_odd_times(&ps_step_hrv, &in) > 0);
  step_signal_free(&in);
}

static void no_input_upsets_it(void **state)
{
  static const char *const sets[] = {"window=20", "hop=5", "min_intervals=2", NULL};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 8; seed++) {
    /* Where a flat stretch is at a slot's length, each interval joins the one before. */
    const step_garbage_opts garbage = {
        .n_in = 1, .n = 6000, .rate = 50, .scale = seed % 2 ? 1 : 0.02};

    seen += step_check_garbage(&ps_step_hrv, sets, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void a_hop_between_two_slots_is_refused(void **state)
{
  static const char *const sets[] = {"hop=7.5", NULL};
  step_signal in = step_signal_new(10, 1, 1);
  step_frame f;

  assert_int_equal(step_build(&ps_step_hrv, sets, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "hrv.hop"));
  step_frame_fini(&f);
  static const char *const sizes[] = {"nn.dfa.short_max=4", NULL};

  assert_int_equal(step_build(&ps_step_hrv, sizes, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "hrv.nn.dfa.short_max"));
  step_frame_fini(&f);
  in.unit = "mV";
  assert_int_equal(step_build(&ps_step_hrv, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_hrv.opts), 0);
  step_signal_free(&in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_hold_what_ends_in_them),
      cmocka_unit_test(nonlinear_measures_are_those_of_the_intervals),
      cmocka_unit_test(long_windows_have_sdann),
      cmocka_unit_test(what_is_no_length_of_time_changes_nothing),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(a_hop_between_two_slots_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
