/* resp_rate_test.c - rates of signals whose modulation is known, windows at gaps,
 * and of anything. */
#include "step/resp_rate/modulation.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_resp_rate;

#define TWO_PI 6.283185307179586476925286766559

/* Breaths a minute that modulate the baseline, the amplitude and the intervals. */
typedef struct breaths {
  double bw, am, fm;
} breaths;

/* Pulses 0.8 s apart, of standard deviation `width` s, and the intervals in seconds. */
static void simulate(int64_t n, int64_t rate, double width, breaths b, step_signal in[2])
{
  double t = 1, interval = 0.8;

  in[0] = step_signal_new(n, rate, 1);
  in[1] = step_signal_new(n, rate, 1);
  in[0].unit = "mV";
  in[1].unit = "s";
  memset(in[1].present, 0, (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    in[0].x[i] = (float)(0.1 * sin(TWO_PI * b.bw / 60 * (double)i / (double)rate));
  }
  while (t < (double)n / (double)rate - 1) {
    const double height = 1 + 0.1 * cos(TWO_PI * b.am / 60 * t);
    const int64_t at = (int64_t)floor(t * (double)rate + 0.5);
    const int64_t reach = (int64_t)(6 * width * (double)rate);

    for (int64_t i = at - reach > 0 ? at - reach : 0; i <= at + reach && i < n; i++) {
      const double u = ((double)i / (double)rate - t) / width;

      in[0].x[i] += (float)(height * exp(-u * u / 2));
    }
    in[1].present[at] = 1;
    in[1].x[at] = (float)interval;
    interval = 0.8 + 0.03 * sin(TWO_PI * b.fm / 60 * t);
    t += interval;
  }
}

static void free_all(step_signal *in)
{
  step_signal_free(&in[0]);
  step_signal_free(&in[1]);
}

/* Present values are all within `tolerance` of the rate; returns their number. */
static int64_t expect_rate(const step_result *r, const char *name, double rate, double tolerance)
{
  const step_stream *s = step_get(r, name);
  int64_t seen = 0;

  for (int64_t k = 0; k < s->n; k++) {
    if (s->present[k]) {
      if (fabs((double)s->x[k] - rate) > tolerance) {
        fail_msg("%s of window %d: %g instead of %g", name, (int)k, (double)s->x[k], rate);
      }
      seen++;
    }
  }
  return seen;
}

static void each_modulation_has_its_rate(void **state)
{
  static const breaths cases[] = {{15, 15, 15}, {22.4, 22.4, 22.4}, {8, 17, 25}, {33, 10.5, 22}};
  static const struct {
    int64_t rate;
    double width;
    const char *sets[2];
  } signals[] = {{125, 0.02, {"signal=ecg", NULL}},
                 {360, 0.01, {"signal=ecg", NULL}},
                 {125, 0.08, {"signal=ppg", NULL}}};

  for (size_t i = 0; i < 3; i++) {
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
      const breaths b = cases[k];
      step_signal in[2];
      step_result r;

      simulate(200 * signals[i].rate, signals[i].rate, signals[i].width, b, in);
      step_check_chunks(&ps_step_resp_rate, signals[i].sets, in, 2, &r);
      assert_in_range(expect_rate(&r, "bw", b.bw, 0.15), 20, 22);
      assert_in_range(expect_rate(&r, "am", b.am, 0.15), 20, 22);
      assert_in_range(expect_rate(&r, "fm", b.fm, 0.15), 20, 22);
      assert_in_range(expect_rate(&r, "rate", b.am, 0.1), k < 2 ? 20 : 0, k < 2 ? 22 : 0);
      step_result_free(&r);
      free_all(in);
    }
  }
}

/* Rates that disagree are not fused, but given. */
static void rates_that_differ_are_not_fused(void **state)
{
  step_signal in[2];
  step_result r;

  simulate(20000, 125, 0.02, (breaths){12, 20, 28}, in);
  step_run(&ps_step_resp_rate, NULL, in, 2, (step_how){0}, &r);
  assert_int_equal(step_count(step_get(&r, "rate")), 0);
  assert_true(expect_rate(&r, "sd", 8, 0.2) > 10);
  assert_true(expect_rate(&r, "am", 20, 0.1) > 10);
  step_result_free(&r);
  free_all(in);
}

static void a_respiration_signal_has_its_rate(void **state)
{
  static const int64_t rates[] = {10, 25, 125};
  static const double breaths_a_minute[] = {6, 14.3, 40};

  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      step_signal in = step_signal_new(120 * rates[i], rates[i], 1);
      step_result r;

      for (int64_t t = 0; t < in.n; t++) {
        const double turn = TWO_PI * breaths_a_minute[k] / 60 * (double)t / (double)rates[i];

        in.x[t] = (float)(300 + 0.1 * (double)t / (double)rates[i] + sin(turn));
      }
      step_check_chunks(&ps_step_resp_rate, NULL, &in, 1, &r);
      assert_int_equal(r.n, 1);
      assert_in_range(expect_rate(&r, "rate", breaths_a_minute[k], 0.05), 11, 12);
      step_result_free(&r);
      step_signal_free(&in);
    }
  }
}

/* A window has a result where 0.8 of it lie on one side of the gap from 100 to 110 s. */
static void no_stretch_spans_a_gap(void **state)
{
  step_signal in[2];
  step_result r;

  simulate(25000, 125, 0.02, (breaths){15, 15, 15}, in);
  memset(in[0].present + 12500, 0, 1250);
  memset(in[1].present + 12500, 0, 1250);
  step_check_chunks(&ps_step_resp_rate, NULL, in, 2, &r);
  const step_stream *rate = step_get(&r, "rate");

  for (int64_t k = 0; k < rate->n; k++) {
    const double end = 8 * (double)(k + 1), least = 0.8 * 32;
    const bool before = end > 1.8 + least && end < 100 + 32 - least - 1;
    const bool after = end > 110 + least + 2 && end < 200;

    assert_true(!(before || after) || rate->present[k]);
    assert_true(rate->present[k] == 0 || end <= 100 + 32 - least + 1 || end >= 110 + least);
  }
  assert_true(expect_rate(&r, "rate", 15, 0.1) > 12);
  step_result_free(&r);
  free_all(in);
}

/* Without any modulation no rate is made of rounding. */
static void equal_values_have_no_rate(void **state)
{
  ps_modulated v[40];
  double scratch[1000];

  for (int64_t i = 0; i < 40; i++) {
    v[i] = (ps_modulated){(double)i * 0.8, {0.1, 0.1, 0.8}, i > 0};
  }
  for (int m = 0; m < PS_MODULATIONS; m++) {
    assert_true(isnan(ps_modulation_rate(v, 40, m, 4, 65, scratch)));
    assert_true(isnan(ps_modulation_rate(v, 3, m, 4, 65, scratch)));
  }
  const double rates[] = {14, 15, 19};
  double sd = 0;

  assert_true(weir_near(ps_modulation_fuse(rates, &sd), 16, 1e-12));
  assert_true(weir_near(sd, sqrt(7), 1e-12));
}

static void no_input_upsets_it(void **state)
{
  static const char *const sets[] = {"window=16", "hop=4", "cover=0.1", NULL};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 8; seed++) {
    const step_garbage_opts garbage = {
        .n_in = 1 + (int)(seed % 2), .n = 12000, .rate = 100, .scale = 2};

    seen += step_check_garbage(&ps_step_resp_rate, sets, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void impossible_uses_are_refused(void **state)
{
  static const char *const sets[][2] = {{"min_rate=65", NULL}, {"window=32.001", NULL}, {NULL}};

  for (int k = 0; k < 4; k++) {
    step_signal in[2] = {step_signal_new(10, 125, 1), step_signal_new(10, k == 2 ? 25 : 125, 1)};
    step_frame f;

    in[1].unit = k == 3 ? "mV" : "s";
    assert_int_equal(step_build(&ps_step_resp_rate, sets[k < 2 ? k : 2], in, 2, &f),
                     WEIR_ERR_CONFIG);
    step_frame_fini(&f);
    free_all(in);
  }
  assert_int_equal(weir_opts_incomplete(ps_step_resp_rate.opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_modulation_has_its_rate),
      cmocka_unit_test(rates_that_differ_are_not_fused),
      cmocka_unit_test(a_respiration_signal_has_its_rate),
      cmocka_unit_test(no_stretch_spans_a_gap),
      cmocka_unit_test(equal_values_have_no_rate),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(impossible_uses_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
