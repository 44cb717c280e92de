/* ecgsyn_test.c - truth against the signal, statistics of beats, noise and gaps, any chunking
 * alike. */
#include "base/weir_check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "data/ecgsyn.h"
#include "data/noise.h"

static ps_ecgsyn_opts usual(void)
{
  ps_ecgsyn_opts o;

  weir_opts_default(ps_ecgsyn_options, sizeof o, &o);
  return o;
}

typedef struct signal {
  int64_t n, n_marks;
  float *ecg;
  ps_mark *marks;
  double variance;
} signal;

/* n samples in chunks of up to `max_chunk` (random lengths), or one chunk when max_chunk is 0. */
static signal make(const ps_ecgsyn_opts *opts, uint64_t seed, int64_t n, int64_t max_chunk)
{
  signal s = {.n = n};
  ps_ecgsyn *gen = NULL;

  assert_ok(ps_ecgsyn_create(opts, seed, &gen));
  assert_ok(weir_alloc(n, sizeof *s.ecg, (void **)&s.ecg));
  assert_ok(weir_alloc(ps_ecgsyn_capacity(gen, n), sizeof *s.marks, (void **)&s.marks));
  for (int64_t at = 0, call = 0; at < n; call++) {
    int64_t take = n - at, got = 0;

    if (max_chunk > 0) {
      const int64_t wish =
          (int64_t)(weir_random_bits(9, 9, 0, (uint64_t)call) % (uint64_t)max_chunk);

      take = wish < take ? wish : take;
    }
    ps_ecgsyn_chunk(gen, take, s.ecg + at, s.marks + s.n_marks, &got);
    assert_true(got <= ps_ecgsyn_capacity(gen, take));
    s.n_marks += got;
    at += take;
  }
  s.variance = ps_ecgsyn_variance(gen);
  ps_ecgsyn_destroy(&gen);
  return s;
}

static void drop(signal *s)
{
  weir_free(&s->ecg);
  weir_free(&s->marks);
}

static void any_chunking_gives_the_same_bits(void **state)
{
  const ps_ecgsyn_opts o = usual();

  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    signal a = make(&o, seed, 60000, 0), b = make(&o, seed, 60000, 700);

    assert_memory_equal(a.ecg, b.ecg, (size_t)a.n * sizeof *a.ecg);
    assert_int_equal(a.n_marks, b.n_marks);
    for (int64_t i = 0; i < a.n_marks; i++) {
      assert_true(a.marks[i].sample == b.marks[i].sample && a.marks[i].wave == b.marks[i].wave);
    }
    drop(&a);
    drop(&b);
  }
}

static void marks_lie_on_the_peaks(void **state)
{
  const ps_ecgsyn_opts o = usual();
  signal s = make(&o, 4, 256 * 300, 0);
  int64_t beats = 0;
  double last = -1.0;

  (void)state;
  for (int64_t i = 0; i < s.n_marks; i++) {
    const double at = s.marks[i].sample;
    const int64_t near = (int64_t)lround(at);
    int64_t top = near;

    assert_true(at > last && at < (double)s.n);
    last = at;
    if (s.marks[i].wave != PS_WAVE_R || near < 20 || near >= s.n - 20) {
      continue;
    }
    for (int64_t k = near - 20; k <= near + 20; k++) {
      top = s.ecg[k] > s.ecg[top] ? k : top;
    }
    assert_true(llabs(top - near) <= 1);
    assert_true(s.ecg[top] > 1.0f);
    beats++;
  }
  assert_in_range(beats, 295, 305);
  drop(&s);
}

static void range_and_beats_are_as_asked(void **state)
{
  ps_ecgsyn_opts o = usual();

  (void)state;
  o.heart_rate = 75;
  o.heart_rate_std = 2;
  signal s = make(&o, 11, 256 * 1200, 0);
  float low = s.ecg[0], high = s.ecg[0];
  double last = -1.0, sum = 0.0, square = 0.0;
  int64_t n = 0;

  for (int64_t i = 0; i < 256 * 60; i++) {
    low = s.ecg[i] < low ? s.ecg[i] : low;
    high = s.ecg[i] > high ? s.ecg[i] : high;
  }
  assert_near(low, -0.4, 1e-6);
  assert_near(high, 1.2, 1e-6);
  for (int64_t i = 0; i < s.n_marks; i++) {
    if (s.marks[i].wave == PS_WAVE_R) {
      const double rr = (s.marks[i].sample - last) / o.rate;

      if (last >= 0.0) {
        sum += rr;
        square += rr * rr;
        n++;
      }
      last = s.marks[i].sample;
    }
  }
  const double mean = sum / (double)n, std = sqrt(square / (double)n - mean * mean);

  assert_near(mean, 0.8, 0.005);
  assert_near(std / (60.0 * 2 / (75.0 * 75.0)), 1.0, 0.15);
  drop(&s);
}

/* Independent from beat to beat, with the deviation that is asked for. */
static void beats_are_as_irregular_as_asked(void **state)
{
  ps_ecgsyn_opts o = usual();
  double last = -1, before = 0, sum = 0, square = 0, neighbours = 0;
  int64_t n = 0;

  (void)state;
  o.heart_rate = 75;
  o.irregular = 0.15;
  signal s = make(&o, 5, 256 * 2400, 0), parts = make(&o, 5, 256 * 2400, 3000);

  assert_memory_equal(s.ecg, parts.ecg, (size_t)s.n * sizeof *s.ecg);
  for (int64_t i = 0; i < s.n_marks; i++) {
    if (s.marks[i].wave != PS_WAVE_R) {
      continue;
    }
    const double rr = last >= 0 ? (s.marks[i].sample - last) / o.rate - 0.8 : 0;

    sum += rr;
    square += rr * rr;
    neighbours += rr * before;
    before = rr;
    last = s.marks[i].sample;
    n++;
  }
  assert_near(sum / (double)n, 0, 0.01);
  assert_near(sqrt(square / (double)n), 0.15 * 0.8, 0.006);
  assert_near(neighbours / square, 0, 0.06);
  drop(&s);
  drop(&parts);
}

static void noise_has_the_ratio_and_band_asked_for(void **state)
{
  const int64_t n = 256 * 200;
  ps_noise_opts o;
  float *x = NULL;

  (void)state;
  weir_opts_default(ps_noise_options, sizeof o, &o);
  assert_ok(weir_alloc(n, sizeof *x, (void **)&x));
  for (int kind = 0; kind < 2; kind++) {
    ps_noise *noise = NULL;
    double square = 0.0, slow = 0.0, sum = 0.0;

    o.white = kind == 0;
    o.emg = kind == 1;
    memset(x, 0, (size_t)n * sizeof *x);
    assert_ok(ps_noise_create(&o, 3, 256.0, 0.04, &noise));
    for (int64_t at = 0; at < n; at += 100) {
      ps_noise_add(noise, n - at < 100 ? n - at : 100, x + at);
    }
    ps_noise_destroy(&noise);
    for (int64_t i = 0; i < n; i++) {
      square += x[i] * x[i];
      sum += x[i];
      /* Sums over half a second keep what lies below some 2 Hz. */
      if (i % 128 == 127) {
        slow += sum * sum;
        sum = 0.0;
      }
    }
    assert_near(10 * log10(0.04 / (square / (double)n)), 12.0, 0.015);
    assert_true(kind == 0 ? slow > 0.7 * square : slow < 0.02 * square);
  }
  weir_free(&x);
}

static void noise_does_not_depend_on_the_chunking(void **state)
{
  const int64_t n = 5000;
  ps_noise_opts o;
  static float whole[5000], chunks[5000];

  (void)state;
  weir_opts_default(ps_noise_options, sizeof o, &o);
  o.white = o.emg = true;
  o.mains = 0.1;
  o.wander = 0.2;
  for (int chunked = 0; chunked < 2; chunked++) {
    float *x = chunked ? chunks : whole;
    ps_noise *noise = NULL;

    memset(x, 0, sizeof whole);
    assert_ok(ps_noise_create(&o, 5, 360.0, 0.1, &noise));
    for (int64_t at = 0, call = 0; at < n; call++) {
      const int64_t wish = chunked ? (int64_t)(weir_random_bits(1, 1, 0, (uint64_t)call) % 300) : n;
      const int64_t take = wish < n - at ? wish : n - at;

      ps_noise_add(noise, take, x + at);
      at += take;
    }
    ps_noise_destroy(&noise);
  }
  assert_memory_equal(whole, chunks, sizeof whole);
}

static void gaps_take_their_share(void **state)
{
  const double share[] = {0.0, 0.01, 0.1, 0.5, 0.9};
  static uint8_t present[400000], again[400000];

  (void)state;
  for (int k = 0; k < 5; k++) {
    const ps_gap_opts o = {.missing = share[k], .mean = 2.0};
    ps_gaps a, b;
    int64_t missing = 0;

    ps_gaps_init(&o, 7, 0, 50.0, &a);
    ps_gaps_init(&o, 7, 0, 50.0, &b);
    ps_gaps_fill(&a, 0, 400000, present);
    for (int64_t at = 0; at < 400000; at += 800) {
      ps_gaps_fill(&b, at, 800, again + at);
    }
    assert_memory_equal(present, again, sizeof present);
    for (int64_t i = 0; i < 400000; i++) {
      missing += !present[i];
    }
    const double got = (double)missing / 400000;

    assert_true(fabs(got - share[k]) <= 0.25 * share[k] * (1 - share[k]) + 1e-12);
  }
}

static void impossible_options_are_refused(void **state)
{
  ps_ecgsyn_opts o = usual();
  ps_ecgsyn *gen = NULL;
  ps_noise_opts bad;
  ps_noise *noise = NULL;

  (void)state;
  o.low = 2.0;
  assert_int_equal(ps_ecgsyn_create(&o, 1, &gen), WEIR_ERR_CONFIG);
  assert_null(gen);
  weir_opts_default(ps_noise_options, sizeof bad, &bad);
  bad.emg = true;
  bad.emg_lo = 90.0;
  assert_int_equal(ps_noise_create(&bad, 1, 100.0, 1.0, &noise), WEIR_ERR_CONFIG);
  assert_null(noise);
}

static void a_failed_allocation_leaves_nothing(void **state)
{
  const ps_ecgsyn_opts o = usual();

  (void)state;
  for (int64_t k = 1; k < 20; k++) {
    const int64_t before = weir_alloc_bytes();
    ps_ecgsyn *gen = NULL;

    weir_alloc_fail_after(k);
    const weir_status status = ps_ecgsyn_create(&o, 1, &gen);

    weir_alloc_fail_after(0);
    if (status == WEIR_OK) {
      ps_ecgsyn_destroy(&gen);
      assert_int_equal(weir_alloc_bytes(), before);
      return;
    }
    assert_null(gen);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  fail();
}

static void every_option_is_complete(void **state)
{
  (void)state;
  assert_int_equal(weir_opts_incomplete(ps_ecgsyn_options), 0);
  assert_int_equal(weir_opts_incomplete(ps_noise_options), 0);
  assert_int_equal(weir_opts_incomplete(ps_gap_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_chunking_gives_the_same_bits),
      cmocka_unit_test(marks_lie_on_the_peaks),
      cmocka_unit_test(range_and_beats_are_as_asked),
      cmocka_unit_test(beats_are_as_irregular_as_asked),
      cmocka_unit_test(noise_has_the_ratio_and_band_asked_for),
      cmocka_unit_test(noise_does_not_depend_on_the_chunking),
      cmocka_unit_test(gaps_take_their_share),
      cmocka_unit_test(impossible_options_are_refused),
      cmocka_unit_test(a_failed_allocation_leaves_nothing),
      cmocka_unit_test(every_option_is_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
