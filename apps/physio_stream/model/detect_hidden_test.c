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

/* Normal beats have a fifth of the height of ventricular ones there, and up to minute 30 their T
 * waves are higher. Without this rule 329 were missed and 271 false, before mean beats and sums of
 * smoothed differences 438 and 166. */
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
  assert_true(s.fn <= 256 && s.fp <= 228); /* five more of each: rounding on another processor */
  ps_beats_fini(&reference);
  weir_free(&x);
  weir_free(&present);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(beats_lower_than_their_t_waves_are_found),
                                     cmocka_unit_test(a_lead_with_small_normal_beats_is_no_worse)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
