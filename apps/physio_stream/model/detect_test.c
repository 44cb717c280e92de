/* detect_test.c - figures on real and synthetic records, and what must hold for any input. */
#include "base/weir_check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "data/ecgsyn.h"
#include "data/noise.h"
#include "eval/beats.h"
#include "io/weir_record.h"
#include "model/detect.h"
#include "support/physio_stream/front_check.h"

/* Features of a signal, its reference beats, and the beats found. */
typedef struct recording {
  double rate;
  int64_t n, n_reference, n_beats;
  float *x, *filtered, *feature;
  uint8_t *present;
  int64_t *reference, *beats;
} recording;

static ps_detect_opts usual(void)
{
  ps_detect_opts o;

  weir_opts_default(ps_detect_options, sizeof o, &o);
  return o;
}

static void begin(recording *t, int64_t n, double rate)
{
  *t = (recording){.n = n, .rate = rate};
  assert_ok(weir_alloc(n, sizeof *t->x, (void **)&t->x));
  assert_ok(weir_alloc(n, sizeof *t->filtered, (void **)&t->filtered));
  assert_ok(weir_alloc(n, sizeof *t->feature, (void **)&t->feature));
  assert_ok(weir_alloc(n, sizeof *t->present, (void **)&t->present));
  assert_ok(weir_alloc(n, sizeof *t->beats, (void **)&t->beats));
  memset(t->present, 1, (size_t)n);
}

static void end(recording *t)
{
  weir_free(&t->x);
  weir_free(&t->filtered);
  weir_free(&t->feature);
  weir_free(&t->present);
  weir_free(&t->reference);
  weir_free(&t->beats);
}

/* Fills the features from x and present. */
static void front_end(recording *t)
{
  const ps_detect_opts o = usual();
  ps_front front;
  ps_front_state *s = NULL;

  assert_ok(ps_front_design(&o.front, t->rate, &front));
  assert_ok(weir_alloc(1, sizeof *s, (void **)&s));
  ps_front_run(&front, s, t->n, t->x, t->present, t->filtered, t->feature);
  weir_free(&s);
}

static void *new_state(const ps_detect_opts *o, double rate)
{
  const size_t bytes = ps_detect_state_bytes(o, rate);
  void *s = NULL;

  assert_true(bytes > 0);
  assert_ok(weir_alloc(1, bytes, &s));
  assert_ok(ps_detect_init(o, rate, s, bytes));
  return s;
}

/* How a stream is handed over. */
typedef struct chunking {
  int64_t max_chunk; /* samples of a chunk, random up to this; 0: all at once    */
  int skip;          /* leave absent stretches out instead of passing them       */
  int move;          /* copy the state elsewhere between chunks                  */
  uint64_t seed;
} chunking;

/* Length of the next chunk from `at`, which holds present samples only when they are skipped. */
static int64_t next_length(const recording *t, const chunking *c, int64_t at, uint64_t call)
{
  int64_t n = t->n - at;

  if (c->max_chunk > 0) {
    const int64_t wish = (int64_t)(weir_random_bits(c->seed, 1, 0, call) % (uint64_t)c->max_chunk);

    n = wish < n ? wish : n;
  }
  if (c->skip) {
    int64_t k = 0;

    while (k < n && t->present[at + k]) {
      k++;
    }
    n = k;
  }
  return n;
}

static void detect(recording *t, const chunking *c)
{
  const ps_detect_opts o = usual();
  const size_t bytes = ps_detect_state_bytes(&o, t->rate);
  void *s = new_state(&o, t->rate);
  int64_t got = 0, call = 0;
  int64_t *out = NULL;

  assert_ok(weir_alloc(ps_detect_capacity(s, t->n), sizeof *out, (void **)&out));
  t->n_beats = 0;
  for (int64_t at = 0; at < t->n; call++) {
    if (c->skip && !t->present[at]) {
      at++;
      continue;
    }
    const int64_t n = next_length(t, c, at, (uint64_t)call);
    const int64_t capacity = ps_detect_capacity(s, n);

    ps_detect_chunk(s, t->filtered + at, t->feature + at, c->skip ? NULL : t->present + at, at, n,
                    out, NULL, capacity, &got);
    assert_true(got <= capacity);
    memcpy(t->beats + t->n_beats, out, (size_t)got * sizeof *out);
    t->n_beats += got;
    at += n;
    if (c->move) {
      void *other = NULL;

      assert_ok(weir_alloc(1, bytes, &other));
      memcpy(other, s, bytes);
      weir_free(&s);
      s = other;
    }
  }
  ps_detect_flush(s, out, NULL, ps_detect_capacity(s, 0), &got);
  memcpy(t->beats + t->n_beats, out, (size_t)got * sizeof *out);
  t->n_beats += got;
  weir_free(&out);
  weir_free(&s);
}

static const chunking whole = {0};

static ps_score score(const recording *t, double start)
{
  const ps_score_opts o = {.start = start, .window = 0.15};
  const ps_score_input in = {.reference = t->reference,
                             .n_reference = t->n_reference,
                             .test = t->beats,
                             .n_test = t->n_beats,
                             .rate = t->rate,
                             .length = t->n};
  ps_score s = {0};

  assert_ok(ps_score_record(&o, &in, &s));
  return s;
}

typedef struct synthetic {
  double rate, seconds, heart_rate, snr, missing;
  double t_strength; /* of the T wave; 0 for the usual one */
  int emg;
  uint64_t seed;
} synthetic;

/* Reference: R waves at present samples. */
static void make(const synthetic *s, recording *t)
{
  const ps_gap_opts gap = {.missing = s->missing, .mean = 10};
  ps_ecgsyn_opts o;
  ps_noise_opts noise;
  ps_ecgsyn *gen = NULL;
  ps_noise *n = NULL;
  ps_mark *marks = NULL;
  ps_gaps gaps;
  int64_t n_marks = 0;

  begin(t, (int64_t)(s->rate * s->seconds), s->rate);
  weir_opts_default(ps_ecgsyn_options, sizeof o, &o);
  weir_opts_default(ps_noise_options, sizeof noise, &noise);
  o.rate = s->rate;
  o.oversample = s->rate < 300 ? 2 : 1;
  o.heart_rate = s->heart_rate;
  o.t.strength = s->t_strength > 0.0 ? s->t_strength : o.t.strength;
  o.t.width = s->t_strength > 0.0 ? 0.2 : o.t.width;
  noise.white = !s->emg;
  noise.emg = s->emg;
  noise.white_snr = noise.emg_snr = s->snr;
  assert_ok(ps_ecgsyn_create(&o, s->seed, &gen));
  assert_ok(weir_alloc(ps_ecgsyn_capacity(gen, t->n), sizeof *marks, (void **)&marks));
  assert_ok(
      weir_alloc(ps_ecgsyn_capacity(gen, t->n), sizeof *t->reference, (void **)&t->reference));
  ps_ecgsyn_chunk(gen, t->n, t->x, marks, &n_marks);
  assert_ok(ps_noise_create(&noise, s->seed, s->rate, ps_ecgsyn_variance(gen), &n));
  ps_noise_add(n, t->n, t->x);
  ps_gaps_init(&gap, s->seed, 0, s->rate, &gaps);
  ps_gaps_fill(&gaps, 0, t->n, t->present);
  for (int64_t i = 0; i < n_marks; i++) {
    const int64_t at = llround(marks[i].sample);

    if (marks[i].wave == PS_WAVE_R && at < t->n && t->present[at]) {
      t->reference[t->n_reference++] = at;
    }
  }
  weir_free(&marks);
  ps_noise_destroy(&n);
  ps_ecgsyn_destroy(&gen);
  front_end(t);
}

/* One signal of a record of the shared data. */
static void read_signal(const char *where, int signal, recording *t)
{
  char path[4096];
  weir_record *r = NULL;

  weir_check_shared(path, sizeof path, "physio/%s", where);
  assert_ok(weir_record_open(path, NULL, &r));
  const weir_signal_info *info = weir_record_signal(r, signal);

  begin(t, info->count, (double)info->fs_num / (double)info->fs_den);
  assert_ok(weir_record_read(r, signal, 0, t->n, t->x, t->present));
  weir_record_close(&r);
  front_end(t);
}

typedef struct goal {
  const char *record;
  double sensitivity, predictivity; /* percent */
} goal;

static void real_records_reach_their_figures(void **state)
{
  /* 100 and 119 are what gqrs reaches, 208 more than gqrs (99.26/99.55) and XQRS (95.08/99.74). */
  const goal goals[] = {{"100", 100, 100}, {"119", 100, 99.7}, {"208", 99.3, 99.5}};
  char path[1024];
  ps_score gross = {0};

  (void)state;
  for (int i = 0; i < 3; i++) {
    recording t;
    ps_beats reference = {0};

    snprintf(path, sizeof path, "wfdb/mitdb/%s", goals[i].record);
    read_signal(path, 0, &t);
    weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/%s.atr", goals[i].record);
    assert_ok(ps_beats_read(path, &(ps_beats_clock){360, 1, 360, 1}, t.n, &reference));
    t.reference = reference.times;
    t.n_reference = reference.n;
    reference.times = NULL;
    ps_beats_fini(&reference);
    detect(&t, &whole);
    const ps_score s = score(&t, 300.0);

    print_message("%s: Se %.3f +P %.3f RR error %.1f ms\n", goals[i].record,
                  ps_score_sensitivity(&s), ps_score_predictivity(&s), 1e3 * ps_score_rr_error(&s));
    assert_true(ps_score_sensitivity(&s) >= goals[i].sensitivity);
    assert_true(ps_score_predictivity(&s) >= goals[i].predictivity);
    ps_score_add(&gross, &s);
    end(&t);
  }
  print_message("gross: Se %.3f +P %.3f\n", ps_score_sensitivity(&gross),
                ps_score_predictivity(&gross));
  assert_int_equal(gross.tp + gross.fn, 1902 + 1661 + 2437);
  assert_true(ps_score_sensitivity(&gross) >= 99.88 && ps_score_predictivity(&gross) >= 99.93);
}

static void fifteen_beats_of_a_short_recording_are_found(void **state)
{
  recording t;

  (void)state;
  read_signal("csv/biosppy_ecg.txt", 0, &t);
  detect(&t, &whole);
  assert_int_equal(t.n_beats, 15);
  end(&t);
}

/* Acceptance case A10, with the options of all other cases. At -6 dB +P was 42 % with a noise level
 * of candidates that are no beats. */
static void synthetic_beats_are_found_from_the_first_one(void **state)
{
  static const double snr[] = {24, 12, 6, 0, -6}, least[] = {100, 100, 99.9, 99.5, 80};

  (void)state;
  for (int k = 0; k < 5; k++) {
    ps_score sum = {0};

    for (int i = 0; i < 6; i++) {
      const synthetic s = {.rate = 256,
                           .seconds = 300,
                           .heart_rate = 60,
                           .snr = snr[k],
                           .emg = i % 2,
                           .seed = 1 + (uint64_t)i / 2};
      recording t;

      make(&s, &t);
      detect(&t, &whole);
      const ps_score got = score(&t, 0.0);

      ps_score_add(&sum, &got);
      for (int64_t j = 0; snr[k] >= 12 && j < t.n_beats; j++) {
        assert_true(llabs(t.beats[j] - t.reference[j]) <= 2);
      }
      end(&t);
    }
    /* Beats come as whole samples: rounding alone gives 0.41 samples. */
    const double rr = ps_score_rr_error(&sum) * 256;

    print_message("%g dB: Se %.3f +P %.3f, RR error %.2f samples\n", snr[k],
                  ps_score_sensitivity(&sum), ps_score_predictivity(&sum), rr);
    assert_true(snr[k] < 12 || (sum.fn == 0 && sum.fp == 0 && rr < 1.0));
    assert_true(ps_score_sensitivity(&sum) >= least[k] && ps_score_predictivity(&sum) >= least[k]);
  }
}

static void any_rate_of_samples_and_beats_will_do(void **state)
{
  const double rates[] = {125, 200, 360, 500, 1000}, hearts[] = {40, 75, 100, 140, 180};

  (void)state;
  for (int k = 0; k < 10; k++) {
    const synthetic s = {.rate = k < 5 ? rates[k] : 256,
                         .seconds = 90,
                         .heart_rate = k < 5 ? 60 : hearts[k - 5],
                         .snr = 12,
                         .seed = 20 + (uint64_t)k};
    recording t;

    make(&s, &t);
    detect(&t, &whole);
    const ps_score got = score(&t, 0.0);

    assert_int_equal(got.fn + got.fp, 0);
    end(&t);
  }
}

/* T waves as high as the R waves and half as wide as usual. */
static void tall_t_waves_are_no_beats(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    const synthetic s = {.rate = 250,
                         .seconds = 120,
                         .heart_rate = 55 + 20 * k,
                         .snr = 20,
                         .t_strength = 7.5,
                         .seed = 40 + (uint64_t)k};
    recording t;

    make(&s, &t);
    detect(&t, &whole);
    const ps_score got = score(&t, 0.0);

    assert_int_equal(got.fn, 0);
    assert_int_equal(got.fp, 0);
    end(&t);
  }
}

/* Beats in gaps of every share; beats truncated by a gap's edge may be missed or seen. */
static void gaps_cost_only_what_they_hide(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    const double missing[] = {0.1, 0.5, 0.9};
    const synthetic s = {.rate = 256,
                         .seconds = 600,
                         .heart_rate = 60,
                         .snr = 12,
                         .missing = missing[k],
                         .seed = 30 + (uint64_t)k};
    recording t;
    int64_t stretches = 0;

    make(&s, &t);
    detect(&t, &whole);
    for (int64_t i = 1; i < t.n; i++) {
      stretches += t.present[i] && !t.present[i - 1];
    }
    const ps_score got = score(&t, 0.0);

    assert_true(got.fn + got.fp <= 1 + stretches / 6);
    end(&t);
  }
}

static void expect_same(recording *t, const chunking *c)
{
  const int64_t n = t->n_beats;
  int64_t *first = NULL;

  assert_ok(weir_alloc(n, sizeof *first, (void **)&first));
  memcpy(first, t->beats, (size_t)n * sizeof *first);
  detect(t, c);
  assert_int_equal(t->n_beats, n);
  assert_memory_equal(first, t->beats, (size_t)n * sizeof *first);
  weir_free(&first);
}

static void beats_do_not_depend_on_the_chunking(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    const synthetic s = {.rate = 250,
                         .seconds = 150,
                         .heart_rate = 80,
                         .snr = 0,
                         .missing = 0.1 * (double)seed,
                         .seed = seed};
    const chunking tiny = {.max_chunk = 3, .seed = seed},
                   small = {.max_chunk = 200, .seed = seed, .move = 1},
                   large = {.max_chunk = 9000, .seed = seed}, skipping = {.skip = 1},
                   both = {.max_chunk = 500, .seed = seed, .skip = 1};
    recording t;

    make(&s, &t);
    detect(&t, &whole);
    assert_true(t.n_beats > 0);
    expect_same(&t, &tiny);
    expect_same(&t, &small);
    expect_same(&t, &large);
    expect_same(&t, &skipping);
    expect_same(&t, &both);
    end(&t);
  }
}

/* In chunks of a tenth of a second each beat comes within the stated time, gaps and learning
 * included; without gaps most come within half a second once learning is over. */
static void beats_come_in_time(void **state)
{
  (void)state;
  for (int k = 0; k < 6; k++) {
    const synthetic s = {.rate = 200,
                         .seconds = 200,
                         .heart_rate = 70,
                         .snr = 6,
                         .missing = 0.3 * (k % 4),
                         .seed = 6 + (uint64_t)k};
    ps_detect_opts o = usual();
    recording t;
    int64_t beats[128], got = 0, seen = 0, late = 0;

    o.decide = k < 2 ? o.decide : 8;
    o.at_once = k >= 4;
    make(&s, &t);
    void *d = new_state(&o, s.rate);

    assert_true(!o.at_once || ps_detect_latency(d) < 200); /* a second */
    for (int64_t at = 0; at + 20 <= t.n; at += 20) {
      ps_detect_chunk(d, t.filtered + at, t.feature + at, t.present + at, at, 20, beats, NULL,
                      ps_detect_capacity(d, 20), &got);
      for (int64_t i = 0; i < got; i++) {
        assert_true(at + 20 - beats[i] <= ps_detect_latency(d) + 20);
        late += beats[i] > 10 * 200 && at + 20 - beats[i] > 100;
        seen++;
      }
    }
    assert_true(seen > (k % 4 == 0 ? 200 : 5));
    assert_true(k % 4 > 0 || late * 100 < seen);
    weir_free(&d);
    end(&t);
  }
}

/* A power of two changes no rounding, so the beats are the same and not only alike. */
static void beats_do_not_depend_on_the_scale(void **state)
{
  const synthetic s = {.rate = 360, .seconds = 120, .heart_rate = 70, .snr = 6, .seed = 5};
  recording t;

  (void)state;
  make(&s, &t);
  detect(&t, &whole);
  for (int k = 0; k < 2; k++) {
    const float scale = k ? 1.0f / 1024 : 4096.0f;

    for (int64_t i = 0; i < t.n; i++) {
      t.x[i] *= scale;
    }
    front_end(&t);
    expect_same(&t, &whole);
  }
  end(&t);
}

/* Values of every kind, with gaps and jumps: beats ascend and stay within what was seen. */
static void nothing_upsets_it(void **state)
{
  const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-45f, 1.0f};

  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    const double rate = seed % 3 ? 360 : 62.4725;
    ps_detect_opts o = usual();
    static float filtered[3000], feature[3000];
    static uint8_t present[3000];
    void *s = new_state(&o, rate);
    int64_t at = (int64_t)(seed % 2) * ((int64_t)1 << 50), last = -1;

    for (uint64_t call = 0; call < 30; call++) {
      const int64_t n = (int64_t)(weir_random_bits(seed, 1, 0, call) % 3000);
      int64_t *out = NULL, got = 0;

      for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = weir_random_bits(seed, 2, (uint32_t)call, (uint64_t)i);
        const float value = (float)weir_random_normal(seed, 3, (uint32_t)call, (uint64_t)i);

        present[i] = (uint8_t)(seed % 5 == 0 ? bits % 2 : bits % 997 != 0);
        filtered[i] = bits % 101 == 0 ? odd[bits / 101 % 9] : value;
        feature[i] = bits % 103 == 0 ? odd[bits / 103 % 9] : seed % 7 ? value * value : 0.0f;
      }
      const int64_t capacity = ps_detect_capacity(s, n);

      assert_ok(weir_alloc(capacity, sizeof *out, (void **)&out));
      ps_detect_chunk(s, filtered, feature, present, at, n, out, NULL, capacity, &got);
      assert_true(got <= capacity);
      for (int64_t i = 0; i < got; i++) {
        assert_true(out[i] > last && out[i] < at + n);
        last = out[i];
      }
      at += n + (call % 4 == 3 ? (int64_t)(weir_random_bits(seed, 4, 0, call) % 100000) : 0);
      if (call % 11 == 10) {
        ps_detect_flush(s, out, NULL, capacity, &got);
        last = got > 0 ? out[got - 1] : last;
      }
      weir_free(&out);
    }
    weir_free(&s);
  }
}

static void silence_has_no_beats(void **state)
{
  recording t;

  (void)state;
  begin(&t, 360 * 60, 360);
  for (int64_t i = 0; i < t.n; i++) {
    t.x[i] = 1.25f;
  }
  front_end(&t);
  detect(&t, &whole);
  assert_int_equal(t.n_beats, 0);
  memset(t.present, 0, (size_t)t.n);
  detect(&t, &whole);
  assert_int_equal(t.n_beats, 0);
  end(&t);
}

static void bad_requests_are_refused(void **state)
{
  ps_detect_opts o = usual();
  uint64_t small[4];

  (void)state;
  assert_int_equal(weir_opts_incomplete(ps_detect_options), 0);
  assert_int_equal(ps_detect_init(&o, 360, small, sizeof small), WEIR_ERR_SHAPE);
  assert_int_equal(ps_detect_init(&o, 0, small, sizeof small), WEIR_ERR_CONFIG);
  assert_int_equal(ps_detect_init(&o, NAN, small, sizeof small), WEIR_ERR_CONFIG);
  assert_int_equal(ps_detect_init(&o, 30, small, sizeof small), WEIR_ERR_CONFIG);
  assert_int_equal((int)ps_detect_state_bytes(&o, -1), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(real_records_reach_their_figures),
      cmocka_unit_test(fifteen_beats_of_a_short_recording_are_found),
      cmocka_unit_test(synthetic_beats_are_found_from_the_first_one),
      cmocka_unit_test(any_rate_of_samples_and_beats_will_do),
      cmocka_unit_test(gaps_cost_only_what_they_hide),
      cmocka_unit_test(tall_t_waves_are_no_beats),
      cmocka_unit_test(beats_do_not_depend_on_the_chunking),
      cmocka_unit_test(beats_do_not_depend_on_the_scale),
      cmocka_unit_test(beats_come_in_time),
      cmocka_unit_test(nothing_upsets_it),
      cmocka_unit_test(silence_has_no_beats),
      cmocka_unit_test(bad_requests_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
