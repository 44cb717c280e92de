/* detect_test.c - the step against the detector of command run, the second detector against the
 * first, and what may come in. */
#include "model/graph.h"
#include "support/physio_stream/step_check.h"
#include "data/synth.h"

extern const weir_series_op ps_step_detect;

static const char *const second[] = {"method=elgendi", NULL};
static const char *const at_once[] = {"adaptive.at_once=true", NULL};

/* R waves in samples: where the cycle of the model passes their angle, and where the signal without
 * noise has its maximum. */
typedef struct truth {
  double r[4000], top[4000];
  int64_t n;
} truth;

/* The maximum of a parabola through the largest of x[n] within 0.06 s of `at` and its neighbours.
 */
static double maximum_near(const float *x, int64_t n, double rate, double at)
{
  const int64_t lo = (int64_t)fmax(ceil(at - 0.06 * rate), 1);
  const int64_t hi = (int64_t)fmin(floor(at + 0.06 * rate), (double)n - 2);
  int64_t top = lo;

  for (int64_t t = lo; t <= hi; t++) {
    top = x[t] > x[top] ? t : top;
  }
  const double a = (double)x[top - 1], b = (double)x[top], c = (double)x[top + 1];
  const double bend = a - 2 * b + c;

  return bend < 0 ? (double)top + fmax(-0.5, fmin(0.5, 0.5 * (a - c) / bend)) : (double)top;
}

/* The same recording without noise and gaps. */
static void find_maxima(const ps_synth_opts *how, uint64_t seed, int64_t n, truth *exact)
{
  float *const x = calloc((size_t)n, sizeof *x);
  uint8_t *const present = calloc((size_t)n, 1);
  ps_synth_opts clean = *how;
  ps_synth *synth = NULL;
  int64_t n_marks = 0;

  assert_true(x != NULL && present != NULL);
  clean.noise.white = false;
  clean.gaps.missing = 0;
  assert_ok(ps_synth_create(&clean, seed, &synth));
  ps_mark *const marks = calloc((size_t)ps_synth_marks(synth, n), sizeof *marks);

  assert_non_null(marks);
  ps_synth_chunk(synth, n, x, present, marks, &n_marks);
  for (int64_t i = 0; i < exact->n; i++) {
    exact->top[i] = maximum_near(x, n, how->model.rate, exact->r[i]);
  }
  free(marks);
  free(present);
  free(x);
  ps_synth_destroy(&synth);
}

/* A synthetic recording of how->duration; `exact` or NULL. */
static step_signal synthetic_of(const ps_synth_opts *how, uint64_t seed, truth *exact)
{
  const int64_t rate = (int64_t)how->model.rate;
  step_signal s = step_signal_new(rate * (int64_t)how->duration, rate, 1);
  ps_synth *synth = NULL;

  assert_ok(ps_synth_create(how, seed, &synth));
  int64_t n_marks = 0;
  ps_mark *marks = calloc((size_t)ps_synth_marks(synth, s.n), sizeof *marks);

  assert_non_null(marks);
  ps_synth_chunk(synth, s.n, s.x, s.present, marks, &n_marks);
  for (int64_t i = 0; exact != NULL && i < n_marks; i++) {
    if (marks[i].wave == PS_WAVE_R) {
      assert_true(exact->n < 4000);
      exact->r[exact->n++] = marks[i].sample;
    }
  }
  free(marks);
  ps_synth_destroy(&synth);
  if (exact != NULL) {
    find_maxima(how, seed, s.n, exact);
  }
  s.unit = "mV";
  return s;
}

/* With white noise and gaps. */
static step_signal synthetic_with(uint64_t seed, int64_t rate, int64_t seconds, double missing,
                                  double mean, double snr, truth *exact)
{
  ps_synth_opts how;

  weir_opts_default(ps_synth_options, sizeof how, &how);
  how.model.rate = (double)rate;
  how.duration = (double)seconds;
  how.noise.white = true;
  how.noise.white_snr = snr;
  how.gaps = (ps_gap_opts){.missing = missing, .mean = mean};
  return synthetic_of(&how, seed, exact);
}

static step_signal synthetic(uint64_t seed, int64_t rate, int64_t seconds, double missing,
                             double mean, double snr)
{
  return synthetic_with(seed, rate, seconds, missing, mean, snr, NULL);
}

/* Beats of the classic graph. */
typedef struct classic {
  int64_t beats[8000], gaps[8000], fractions[8000], n;
} classic;

static weir_status take_beats(void *context, const weir_view *v, int64_t lo, int64_t hi, bool last)
{
  classic *c = context;
  const int64_t *result = v->data, columns = v->extent[1];

  for (int64_t i = 1; i <= result[0]; i++) {
    assert_true(c->n < 8000);
    c->beats[c->n] = result[i];
    c->gaps[c->n] = result[columns + i];
    c->fractions[c->n++] = result[2 * columns + i];
  }
  return WEIR_OK;
}

static void run_classic(const step_signal *in, classic *c)
{
  const weir_stream_source source = {.value = PS_INPUT_X,
                                     .present = PS_INPUT_PRESENT,
                                     .rate_num = in->rate_num,
                                     .rate_den = in->rate_den,
                                     .count = in->n,
                                     .read = step_source_,
                                     .context = (step_signal *)(uintptr_t)in};
  const weir_stream_sink sink = {PS_RESULT_BEATS, take_beats, c};
  const weir_stream_cfg cfg = {.window = 10};
  weir_stream_report report;
  ps_detect_opts opts;
  ps_graph g;

  c->n = 0;
  weir_opts_default(ps_detect_options, sizeof opts, &opts);
  assert_ok(ps_graph_create(&opts, in->rate_num, in->rate_den, 1 << 16, false, &g));
  const weir_stream_job job = {.graph = g.graph,
                               .store = g.store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = &sink,
                               .n_sinks = 1,
                               .stream = &cfg,
                               .threads = 1};
  run_job(job, WEIR_TIER_VECTOR, &report);
  ps_graph_destroy(&g);
}

/* Every beat of the classic path stands in its slot, with the interval where no gap lies before. */
static void assert_classic(const step_result *r, const classic *c)
{
  const step_stream *beat = step_get(r, "beat"), *rr = step_get(r, "rr");
  const double rate = (double)beat->rate_num / (double)beat->rate_den;

  assert_int_equal(step_count(beat), c->n);
  for (int64_t i = 0; i < c->n; i++) {
    const int64_t at = c->beats[i];
    const bool joined = i > 0 && !c->gaps[i];
    const double since =
        i == 0 ? 0
               : (double)(at - c->beats[i - 1]) +
                     (double)(c->fractions[i] - c->fractions[i - 1]) / (double)PS_DETECT_PER_SAMPLE;

    assert_true(beat->present[at] && beat->x[at] == 1.0f);
    assert_int_equal(rr->present[at], joined);
    assert_true(!joined || rr->x[at] == (float)(since / rate));
  }
}

static classic *expected;

static void the_step_finds_what_run_finds(void **state)
{
  for (uint64_t seed = 0; seed < 6; seed++) {
    step_signal in = synthetic(seed, seed % 2 ? 250 : 125, 100, 0.3 * (double)(seed % 4),
                               seed < 3 ? 0.4 : 8, 12);
    step_result r;

    run_classic(&in, expected);
    assert_true(expected->n > 4);
    step_check_chunks(&ps_step_detect, NULL, &in, 1, &r);
    assert_classic(&r, expected);
    assert_string_equal(step_get(&r, "rr")->unit, "s");
    step_result_free(&r);
    step_signal_free(&in);
  }
}

static void so_it_does_in_recordings(void **state)
{
  static const char *const records[] = {"wfdb/mitdb/100", "wfdb/mitdb/119", "wfdb/mitdb/208"};

  for (int k = 0; k < 3; k++) {
    step_signal in;
    step_result r;

    step_read(records[k], 0, 200000, &in);
    run_classic(&in, expected);
    step_run(&ps_step_detect, NULL, &in, 1, (step_how){.window = 30}, &r);
    assert_classic(&r, expected);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* Root mean square error of the intervals against the exact ones, in samples. */
static double rr_error(const step_result *result, const truth *exact)
{
  const step_stream *beat = step_get(result, "beat"), *rr = step_get(result, "rr");
  double square = 0;
  int64_t last = -1, n = 0;

  for (int64_t t = 0, k = 0; t < beat->n; t++) {
    if (!beat->present[t]) {
      continue;
    }
    while (k + 1 < exact->n && fabs(exact->r[k + 1] - (double)t) < fabs(exact->r[k] - (double)t)) {
      k++;
    }
    if (rr->present[t] && last >= 0) {
      const double error = (double)rr->x[t] * (double)rr->rate_num - (exact->r[k] - exact->r[last]);

      square += error * error;
      n++;
    }
    last = k;
  }
  assert_true(n > 100);
  return sqrt(square / (double)n);
}

/* A10: with one set of options the intervals of every rate are exact to below one sample, which
 * they owe to the parabola; samples of beats do not depend on it. */
static void a10_intervals_are_exact_to_below_a_sample(void **state)
{
  static const char *const on_samples[] = {"adaptive.refine=0", NULL};
  static const int64_t rates[] = {128, 256, 360, 500, 1000};

  for (int k = 0; k < 10; k++) {
    const int64_t rate = rates[k / 2];
    const double snr = k % 2 ? 24 : 12;
    truth *exact = calloc(1, sizeof *exact);

    assert_non_null(exact);
    step_signal in = synthetic_with((uint64_t)k, rate, 200, 0, 1, snr, exact);
    step_result fine, coarse;

    step_run(&ps_step_detect, NULL, &in, 1, (step_how){0}, &fine);
    step_run(&ps_step_detect, on_samples, &in, 1, (step_how){0}, &coarse);
    const step_stream *a = step_get(&fine, "beat"), *b = step_get(&coarse, "beat");
    const double with = rr_error(&fine, exact), without = rr_error(&coarse, exact);

    print_message("%d Hz, %g dB: %.3f samples, %.3f without the parabola\n", (int)rate, snr, with,
                  without);
    assert_int_equal(step_count(a), exact->n);
    assert_memory_equal(a->present, b->present, (size_t)a->n);
    assert_true(with < 1 && with < 0.65 * without);
    step_result_free(&fine);
    step_result_free(&coarse);
    step_signal_free(&in);
    free(exact);
  }
}

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Samples by which beats of the result lie after the maxima of the signal: of `share` of them at
 * most. */
static double offset_at(const step_result *result, const truth *exact, double share)
{
  const step_stream *beat = step_get(result, "beat");
  double *off = calloc((size_t)exact->n, sizeof *off);
  int64_t n = 0;

  assert_non_null(off);
  for (int64_t t = 0, k = 0; t < beat->n && n < exact->n; t++) {
    if (!beat->present[t]) {
      continue;
    }
    while (k + 1 < exact->n && fabs(exact->r[k + 1] - (double)t) < fabs(exact->r[k] - (double)t)) {
      k++;
    }
    off[n++] = (double)t - exact->top[k];
  }
  assert_true(n > 100);
  qsort(off, (size_t)n, sizeof *off, by_size);
  const double value = off[(int64_t)(share * (double)(n - 1))];

  free(off);
  return value;
}

/* Both detectors mark the R wave, not the second lobe of the filter's response 30 ms later: the
 * median is less than 8 ms from the maximum of the signal without noise (the R wave of ECGSYN is
 * wider than the one whose delay is taken out, so that marks are early: the test below), nine of
 * ten beats lie within 8 ms. */
static void beats_are_at_the_r_wave(void **state)
{
  static const int64_t rates[] = {128, 256, 360, 500, 1000};

  for (int k = 0; k < 10; k++) {
    const int64_t rate = rates[k / 2];
    truth *exact = calloc(1, sizeof *exact);

    assert_non_null(exact);
    step_signal in = synthetic_with((uint64_t)k, rate, 200, 0, 1, 24, exact);
    step_result r;

    step_run(&ps_step_detect, k % 2 ? second : NULL, &in, 1, (step_how){0}, &r);
    const double lo = offset_at(&r, exact, 0.05), median = offset_at(&r, exact, 0.5),
                 hi = offset_at(&r, exact, 0.95), ms = 1000 / (double)rate;

    print_message("%d Hz, %s: %.2f ms late, 5 %% to 95 %%: %.2f to %.2f ms\n", (int)rate,
                  k % 2 ? "elgendi" : "adaptive", median * ms, lo * ms, hi * ms);
    assert_true(fabs(median) * ms < 8 && (hi - lo) * ms < 8);
    step_result_free(&r);
    step_signal_free(&in);
    free(exact);
  }
}

/* R waves of half, one and one and a half times the usual width, without noise: the maximum lies
 * within 1 ms of the time at which the cycle passes the angle of the wave, and beats within two
 * samples of the maximum where the wave is narrow. With a wider wave the delay that is taken out is
 * too long, so that beats are earlier: what the test above allows of the usual width. */
static void the_width_of_the_r_wave_moves_beats(void **state)
{
  static const double widths[] = {0.5, 1, 1.5};
  double before[2] = {INFINITY, INFINITY};

  for (int k = 0; k < 6; k++) {
    truth *exact = calloc(1, sizeof *exact);
    double moved = 0;
    ps_synth_opts how;
    step_result r;

    assert_non_null(exact);
    weir_opts_default(ps_synth_options, sizeof how, &how);
    how.model.rate = 500;
    how.duration = 150;
    how.noise.white = false;
    how.gaps.missing = 0;
    how.model.r.width *= widths[k / 2];
    step_signal in = synthetic_of(&how, (uint64_t)k, exact);

    for (int64_t i = 0; i < exact->n; i++) {
      moved += (exact->top[i] - exact->r[i]) / (double)exact->n;
    }
    step_run(&ps_step_detect, k % 2 ? second : NULL, &in, 1, (step_how){0}, &r);
    const double lo = offset_at(&r, exact, 0.05), median = offset_at(&r, exact, 0.5),
                 hi = offset_at(&r, exact, 0.95);

    print_message("width %g, %s: maximum %.2f ms after the angle, beats %.2f to %.2f ms after it\n",
                  widths[k / 2], k % 2 ? "elgendi" : "adaptive", 2 * moved, 2 * lo, 2 * hi);
    assert_true(fabs(2 * moved) < 1);
    assert_true(k >= 2 || (lo > -2 && hi < 2));
    assert_true(median < before[k % 2]);
    before[k % 2] = median;
    step_result_free(&r);
    step_signal_free(&in);
    free(exact);
  }
}

/* Beats of two results that lie within 0.15 s of each other. */
static int64_t matched(const step_stream *a, const step_stream *b)
{
  const int64_t w = 15 * a->rate_num / (100 * a->rate_den);
  int64_t n = 0, last = -1;

  for (int64_t t = 0; t < a->n; t++) {
    for (int64_t u = t > w ? t - w : 0; a->present[t] && u <= t + w && u < b->n; u++) {
      if (b->present[u] && u > last) {
        last = u;
        n++;
        break;
      }
    }
  }
  return n;
}

static void a9_two_detectors_agree_on_every_beat(void **state)
{
  step_signal in;
  step_result a, b;

  step_read("csv/biosppy_ecg.txt", 0, INT64_MAX, &in);
  assert_int_equal(in.n, 15000);
  step_check_chunks(&ps_step_detect, NULL, &in, 1, &a);
  step_check_chunks(&ps_step_detect, second, &in, 1, &b);
  assert_int_equal(step_count(step_get(&a, "beat")), 15);
  assert_int_equal(step_count(step_get(&b, "beat")), 15);
  assert_int_equal(matched(step_get(&a, "beat"), step_get(&b, "beat")), 15);
  step_result_free(&a);
  step_result_free(&b);
  step_signal_free(&in);
}

/* At 12 dB the second detector finds what the first does, which finds all (model/detect_test). */
static void the_second_detector_is_of_use(void **state)
{
  for (uint64_t seed = 1; seed < 4; seed++) {
    step_signal in = synthetic(seed, 250, 120, 0, 1, 12);
    step_result a, b;

    step_run(&ps_step_detect, NULL, &in, 1, (step_how){0}, &a);
    step_run(&ps_step_detect, second, &in, 1, (step_how){0}, &b);
    const int64_t n = step_count(step_get(&a, "beat")), m = step_count(step_get(&b, "beat"));
    const int64_t both = matched(step_get(&a, "beat"), step_get(&b, "beat"));

    print_message("seed %d: %d and %d beats, %d of both\n", (int)seed, (int)n, (int)m, (int)both);
    assert_true(2 * both >= n + m - 3);
    step_result_free(&a);
    step_result_free(&b);
    step_signal_free(&in);
  }
}

/* Half of the signal is missing, in pieces of 2 s: of the R waves that are there few are missed,
 * and hardly a beat is found that is none. */
static void the_second_detector_finds_beats_next_to_gaps(void **state)
{
  for (uint64_t seed = 1; seed < 3; seed++) {
    truth *exact = calloc(1, sizeof *exact);

    assert_non_null(exact);
    step_signal in = synthetic_with(seed, 250, 900, 0.5, 2, 12, exact);
    step_stream reference = {.n = in.n, .rate_num = 250, .rate_den = 1};
    step_result r;
    int64_t there = 0;

    reference.present = calloc((size_t)in.n, 1);
    assert_non_null(reference.present);
    for (int64_t i = 0; i < exact->n; i++) {
      const int64_t at = llround(exact->r[i]);

      if (at < in.n && in.present[at]) {
        reference.present[at] = 1;
        there++;
      }
    }
    step_run(&ps_step_detect, second, &in, 1, (step_how){0}, &r);
    const int64_t found = step_count(step_get(&r, "beat"));
    const int64_t both = matched(&reference, step_get(&r, "beat"));

    print_message("seed %d: %d beats, %d missed, %d false\n", (int)seed, (int)there,
                  (int)(there - both), (int)(found - both));
    assert_true(there > 400 && 100 * (there - both) < 4 * there && 100 * (found - both) < there);
    step_result_free(&r);
    step_signal_free(&in);
    free(reference.present);
    free(exact);
  }
}

/* Half a second ahead in place of 30: the beats of the default but those of the first 8 s of
 * signal, while levels are learnt, and, next to gaps, some that only a search would find. */
static void beats_may_be_had_at_once(void **state)
{
  for (uint64_t seed = 3; seed < 5; seed++) {
    const bool whole = seed % 2;
    step_signal in = synthetic(seed, 250, 120, whole ? 0 : 0.3, 3, 12);
    step_result a, b;

    step_run(&ps_step_detect, NULL, &in, 1, (step_how){0}, &a);
    step_check_chunks(&ps_step_detect, at_once, &in, 1, &b);
    const step_stream *all = step_get(&a, "beat"), *some = step_get(&b, "beat");
    int64_t missed = 0, n = 0, heard = 0;

    for (int64_t t = 0; t < in.n; t++) {
      const bool learning = heard < 9 * 250;

      heard += in.present[t] != 0;

      assert_true(all->present[t] || !some->present[t] || !whole);
      assert_true(!some->present[t] || t > 7 * 250);
      n += !learning && all->present[t];
      missed += !learning && all->present[t] && !some->present[t];
    }
    print_message("seed %d: %d of %d beats not had at once\n", (int)seed, (int)missed, (int)n);
    assert_true(n > 60 && missed * 20 <= (whole ? 0 : n));
    step_result_free(&a);
    step_result_free(&b);
    step_signal_free(&in);
  }
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 1, .n = 12000, .rate = 250, .scale = 1};
  int64_t seen[3] = {0, 0, 0};

  for (uint64_t seed = 0; seed < 6; seed++) {
    seen[0] += step_check_garbage(&ps_step_detect, NULL, &garbage, seed);
    seen[1] += step_check_garbage(&ps_step_detect, second, &garbage, seed);
    seen[2] += step_check_garbage(&ps_step_detect, at_once, &garbage, seed);
  }
  assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

static void a_stream_that_is_no_voltage_is_refused(void **state)
{
  step_signal in = step_signal_new(10, 250, 1);
  step_frame f;

  in.unit = "mmHg";
  assert_int_equal(step_build(&ps_step_detect, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "a is in mmHg"));
  step_frame_fini(&f);
  in.unit = "mV";
  in.rate_num = 20; /* the band ends at 20 Hz */
  assert_int_equal(step_build(&ps_step_detect, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_detect.opts), 0);
  step_signal_free(&in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_step_finds_what_run_finds),
      cmocka_unit_test(so_it_does_in_recordings),
      cmocka_unit_test(a9_two_detectors_agree_on_every_beat),
      cmocka_unit_test(a10_intervals_are_exact_to_below_a_sample),
      cmocka_unit_test(beats_are_at_the_r_wave),
      cmocka_unit_test(the_width_of_the_r_wave_moves_beats),
      cmocka_unit_test(the_second_detector_is_of_use),
      cmocka_unit_test(the_second_detector_finds_beats_next_to_gaps),
      cmocka_unit_test(beats_may_be_had_at_once),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(a_stream_that_is_no_voltage_is_refused),
  };

  expected = malloc(sizeof *expected);
  if (expected == NULL) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(expected);
  return failed;
}
