/* detect_hidden_test.c - normal beats among large ectopic ones, lower than their own T waves. */
#include "base/weir_check.h"
#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "eval/beats.h"
#include "eval/score.h"
#include "io/weir_record.h"
#include "model/detect.h"
#include "support/physio_stream/front_check.h"

enum { RATE = 360, MAX_BEATS = 20000 };

static ps_detect_opts usual(void)
{
  ps_detect_opts o;

  weir_opts_default(ps_detect_options, sizeof o, &o);
  return o;
}

/* Beats of x[n] at RATE, handed over in chunks of at most `chunk` samples. */
static int64_t detect(const ps_detect_opts *o, const float *x, int64_t n, int64_t chunk,
                      int64_t *beats)
{
  const size_t bytes = ps_detect_state_bytes(o, RATE);
  float *filtered = NULL, *feature = NULL;
  ps_front_state *s = NULL;
  void *state = NULL;
  int64_t found = 0, more = 0;
  ps_front front;

  assert_ok(ps_front_design(&o->front, RATE, &front));
  assert_ok(weir_alloc(1, sizeof *s, (void **)&s));
  assert_ok(weir_alloc(n, sizeof *filtered, (void **)&filtered));
  assert_ok(weir_alloc(n, sizeof *feature, (void **)&feature));
  assert_ok(weir_alloc(1, bytes, &state));
  ps_front_run(&front, s, n, x, NULL, filtered, feature);
  assert_ok(ps_detect_init(o, RATE, state, bytes));
  for (int64_t t = 0; t < n; t += chunk) {
    const int64_t length = t + chunk < n ? chunk : n - t;

    ps_detect_chunk(state, filtered + t, feature + t, NULL, t, length, beats + found, NULL,
                    MAX_BEATS - found, &more);
    found += more;
  }
  ps_detect_flush(state, beats + found, NULL, MAX_BEATS - found, &more);
  weir_free(&s);
  weir_free(&filtered);
  weir_free(&feature);
  weir_free(&state);
  return found + more;
}

static double wave(double t, double height, double deviation)
{
  return height * exp(-t * t / (2 * deviation * deviation));
}

/* A ventricular beat, then three normal ones of a seventh of its height, whose T waves are three
 * times as high as they: one beat every 0.7 s from 0.5 s on. */
static double quadrigeminy(double t)
{
  double x = 0.0;

  for (int64_t k = t < 1.4 ? 0 : (int64_t)(t / 0.7) - 2; k <= (int64_t)(t / 0.7) + 1; k++) {
    const double since = t - 0.5 - 0.7 * (double)k;

    if (k % 4 == 0) {
      x += wave(since, 0.8, 0.03) + wave(since - 0.3, -0.2, 0.04);
    } else {
      x += wave(since, -0.12, 0.008) + wave(since - 0.25, -0.4, 0.035);
    }
  }
  return x;
}

static void beats_lower_than_their_t_waves_are_found(void **state)
{
  static float x[120 * RATE];
  static int64_t beats[MAX_BEATS], cut[MAX_BEATS];
  const int64_t n = 120 * RATE, expected = (int64_t)((120 - 0.5) / 0.7) + 1;
  ps_detect_opts o = usual();
  int64_t late = 0;

  (void)state;
  for (int64_t i = 0; i < n; i++) {
    x[i] =
        (float)(quadrigeminy((double)i / RATE) + 0.004 * weir_random_normal(7, 0, 0, (uint64_t)i));
  }
  const int64_t found = detect(&o, x, n, n, beats);

  assert_int_equal(found, expected);
  for (int64_t k = 0; k < found; k++) {
    assert_true(fabs((double)beats[k] / RATE - 0.5 - 0.7 * (double)k) <= 0.05);
  }
  assert_int_equal(detect(&o, x, n, 17, cut), found);
  assert_memory_equal(cut, beats, (size_t)found * sizeof *beats);
  o.t_wave_smooth = 0.0;
  const int64_t without = detect(&o, x, n, n, beats);

  for (int64_t k = 0; k < without; k++) {
    late += fabs(remainder((double)beats[k] / RATE - 0.5, 0.7)) > 0.05;
  }
  assert_true(late > 100); /* of 128 normal beats the T wave */
}

/* A wide beat each second from 0.5 s on, of 1 mV, and once levels are learnt a smooth wave of a
 * quarter of that half a second later. */
static double waves_between_beats(double t)
{
  return wave(t - floor(t) - 0.5, 1.0, 0.03) + (t > 9.5 ? wave(t - round(t), 0.25, 0.035) : 0.0);
}

/* A wide beat each 0.8 s from 0.5 s on, of 1 mV up to 60 s, then of 0.3 mV. */
static double fading_beats(double t)
{
  const double k = floor((t - 0.1) / 0.8), at = 0.5 + 0.8 * k;

  return wave(t - at, at < 60 ? 1.0 : 0.3, 0.03);
}

/* Fills x[n] with a signal in noise of 2 uV. */
static void make(double (*signal)(double t), float *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    x[i] = (float)(signal((double)i / RATE) + 0.002 * weir_random_normal(8, 0, 0, (uint64_t)i));
  }
}

static void smooth_waves_far_lower_than_beats_are_none(void **state)
{
  static float x[120 * RATE];
  static int64_t beats[MAX_BEATS];
  const int64_t n = 120 * RATE;
  ps_detect_opts o = usual();

  (void)state;
  make(waves_between_beats, x, n);
  assert_int_equal(detect(&o, x, n, n, beats), 120);
  for (int64_t k = 0; k < 120; k++) {
    assert_true(fabs((double)beats[k] / RATE - 0.5 - (double)k) <= 0.05);
  }
  o.t_wave_smooth = 0.0;
  assert_true(detect(&o, x, n, n, beats) > 220); /* of 110 waves more than 100 */
}

/* The same waves at the times of beats: they are searched, since the rhythm misses them. */
static void beats_that_fade_to_that_are_found(void **state)
{
  static float x[120 * RATE];
  static int64_t beats[MAX_BEATS], cut[MAX_BEATS];
  const int64_t n = 120 * RATE, expected = (int64_t)((120 - 0.5) / 0.8) + 1;
  const ps_detect_opts o = usual();

  (void)state;
  make(fading_beats, x, n);
  assert_int_equal(detect(&o, x, n, n, beats), expected);
  for (int64_t k = 0; k < expected; k++) {
    assert_true(fabs((double)beats[k] / RATE - 0.5 - 0.8 * (double)k) <= 0.05);
  }
  assert_int_equal(detect(&o, x, n, 17, cut), expected);
  assert_memory_equal(cut, beats, (size_t)expected * sizeof *beats);
}

/* Normal beats have a fifth of the height of ventricular ones there, and up to minute 30 their T
 * waves are higher. Before mean beats and sums of smoothed differences 438 were missed and 166
 * false, and 251 and 224 where smooth low waves were sure beats. */
static void a_lead_with_small_normal_beats_is_no_worse(void **state)
{
  static int64_t beats[MAX_BEATS];
  const ps_detect_opts o = usual();
  char path[4096];
  weir_record *r = NULL;
  ps_beats reference = {0};
  ps_score s = {0};
  uint8_t *present = NULL;
  float *x = NULL;

  (void)state;
  weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/208");
  assert_ok(weir_record_open(path, NULL, &r));
  const int64_t n = weir_record_signal(r, 1)->count;

  assert_ok(weir_alloc(n, sizeof *x, (void **)&x));
  assert_ok(weir_alloc(n, sizeof *present, (void **)&present));
  assert_ok(weir_record_read(r, 1, 0, n, x, present));
  weir_record_close(&r);
  weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/208.atr");
  assert_ok(ps_beats_read(path, &(ps_beats_clock){RATE, 1, RATE, 1}, n, &reference));
  const ps_score_input in = {.reference = reference.times,
                             .test = beats,
                             .n_reference = reference.n,
                             .n_test = detect(&o, x, n, n, beats),
                             .rate = RATE,
                             .length = n};

  assert_ok(ps_score_record(&(ps_score_opts){.start = 0, .window = 0.15}, &in, &s));
  print_message("missed %lld, false %lld\n", (long long)s.fn, (long long)s.fp);
  assert_int_equal(s.tp + s.fn, 2955);
  /* five more missed, two more false: rounding on another processor; +P as before mean beats */
  assert_true(s.fn <= 264 && s.fp <= 178 && 10000 * s.tp >= 9381 * (s.tp + s.fp));
  ps_beats_fini(&reference);
  weir_free(&x);
  weir_free(&present);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(beats_lower_than_their_t_waves_are_found),
                                     cmocka_unit_test(smooth_waves_far_lower_than_beats_are_none),
                                     cmocka_unit_test(beats_that_fade_to_that_are_found),
                                     cmocka_unit_test(a_lead_with_small_normal_beats_is_no_worse)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
