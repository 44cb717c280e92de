/* mean_beat_test.c - what a mean beat is of, its noise, and where it is aligned. */
#include "model/mean_beat.h"
#include "support/physio_stream/waves_check.h"

enum { RATE = 500, N = 400, R = 200 };

/* A complex of this width (s) whose R wave is `moved` samples after y[R]. */
static void make_beat(double width, double moved, double *y)
{
  for (int64_t i = 0; i < N; i++) {
    const double u = ((double)(i - R) - moved) / RATE / width;

    y[i] = (1.2 - 0.4 * u) * exp(-u * u / 2);
  }
}

static void quiet_beats_are_measured_each_alone(void **state)
{
  ps_mean_beat mean = {.most = 32};
  double x[N], y[N], shift = 1;

  for (int k = 0; k < 3; k++) {
    make_beat(0.01 + 0.001 * k, 0, y);
    assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0, &shift));
    assert_memory_equal(x, y + R - ps_mean_reach(RATE), 2 * 50 * sizeof *x);
    assert_true(shift == 0 && mean.noise == 0);
  }
}

/* White noise of n beats of weight 1/n is sqrt(n) times smaller; from 32 beats on the weight stays,
 * and it falls on to sqrt(w / (2 - w)). */
static void noise_falls_as_of_a_mean(void **state)
{
  ps_mean_beat mean = {.most = 32};
  const int64_t h = ps_mean_reach(RATE);
  step_signal series = step_signal_new(200 * N, RATE, 1);
  double x[N], y[N], clean[N], shift = 0;

  add_noise(&series, 0.03, 0);
  make_beat(0.01, 0, clean);
  for (int k = 1; k <= 200; k++) {
    double square = 0;

    for (int64_t i = 0; i < N; i++) {
      y[i] = clean[i] + (double)series.x[(k - 1) * N + i];
    }
    assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0.03, &shift));
    assert_true(fabs(shift) < 1);
    for (int64_t i = -h; i < -40; i++) { /* away from the flanks, which move by the alignment */
      square += (x[h + i] - clean[R + i]) * (x[h + i] - clean[R + i]);
    }
    if (k == 16 || k == 200) {
      const double w = 1.0 / 32, expected = 0.03 * (k == 16 ? 0.25 : sqrt(w / (2 - w)));

      assert_near(mean.noise / expected, 1, 0.01);
      assert_near(sqrt(square / (double)(h - 40)) / expected, 1, 0.25);
    }
  }
  step_signal_free(&series);
}

static void moved_beats_are_aligned(void **state)
{
  static const double moves[] = {-4, -1.7, 0.4, 3.25};

  for (int k = 0; k < 4; k++) {
    ps_mean_beat mean = {.most = 32};
    double x[N], y[N], shift = 0;

    make_beat(0.012, 0, y);
    assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0.05, &shift));
    make_beat(0.012, moves[k], y);
    assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0.05, &shift));
    assert_near(shift, moves[k], 0.1);
  }
}

static void other_beats_are_left_out(void **state)
{
  ps_mean_beat mean = {.most = 32};
  double x[N], before[N], y[N], shift = 0;

  make_beat(0.01, 0, y);
  assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0.02, &shift));
  memcpy(before, x, sizeof x);
  make_beat(0.04, 0, y);
  for (int k = 0; k < 8; k++) {
    assert_false(ps_mean_add(&mean, x, y, N, R, RATE, 0.02, &shift));
    assert_memory_equal(x, before, 100 * sizeof *x);
  }
  assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0.02, &shift)); /* the ninth in a row */
  assert_int_equal(mean.n, 1);
  assert_false(ps_mean_add(&mean, x, y, 300, R, RATE, 0.02, &shift)); /* too few samples */
  assert_false(ps_mean_add(&mean, x, y, N, 100, RATE, 0.02, &shift));
}

/* The noise after a beat, whose variance less that of noise is next to none, is like no mean. */
static void noise_alone_is_no_beat(void **state)
{
  ps_mean_beat mean = {.most = 32};
  step_signal series = step_signal_new(8 * N, RATE, 1);
  double x[N], y[N], shift = 0;

  add_noise(&series, 0.03, 0);
  make_beat(0.01, 0, y);
  assert_true(ps_mean_add(&mean, x, y, N, R, RATE, 0.03, &shift));
  for (int64_t k = 0; k < 8; k++) {
    for (int64_t i = 0; i < N; i++) {
      y[i] = (double)series.x[k * N + i];
    }
    assert_false(ps_mean_add(&mean, x, y, N, R, RATE, 0.03, &shift));
  }
  step_signal_free(&series);
}

/* A mean that an ectopic beat of trigeminy has begun gives way to the two usual ones of three. */
static void the_usual_beat_becomes_the_mean(void **state)
{
  ps_mean_beat mean = {.most = 32};
  double x[N], y[N], shift = 0;
  int like = 0;

  for (int k = 0; k < 60; k++) {
    make_beat(k % 3 == 0 ? 0.04 : 0.01, 0, y);
    like += ps_mean_add(&mean, x, y, N, R, RATE, 0.02, &shift) && k % 3 != 0 && k >= 30;
  }
  assert_int_equal(like, 20);
}

/* b = 5 - 2 a: the mean of neither matters. Half of the variance of either is noise: the waves
 * alone have twice the correlation. */
static void likeness_is_of_the_waves_alone(void **state)
{
  const double a[4] = {3, 5, 3, 5}, b[4] = {-1, -5, -1, -5}, c[4] = {2, 2, 4, 4}, flat[4] = {0};
  const double half[4] = {1, 5, 3, 7}; /* correlation with a: 2 / sqrt(5) */
  ps_likeness like = ps_beat_compare(a, 0, b, 0, 4);

  assert_near(like.correlation, -1, 1e-12);
  assert_near(like.size, -2, 1e-12);
  assert_near(ps_beat_compare(a, 0, c, 0, 4).correlation, 0, 1e-12);
  assert_near(ps_beat_compare(a, 0, half, 0, 4).correlation, 2 / sqrt(5), 1e-12);
  assert_near(ps_beat_compare(a, 0, half, 1, 4).correlation, 1, 1e-12); /* of variance 5, 1 */
  like = ps_beat_compare(a, sqrt(0.5), half, sqrt(2.5), 4);
  assert_near(like.correlation, 4 / sqrt(5), 1e-12);
  assert_near(like.size, 4, 1e-12);
  assert_true(ps_beat_compare(a, 0, flat, 0, 4).correlation == 0);
  assert_true(ps_beat_compare(a, 1, b, 0, 4).correlation == 0); /* nothing but noise */
  assert_near(ps_beat_height(b, 4), 4, 0);
}

/* Beats of bigeminy count in turn, 300 in a row whether they count or not. */
static void a_mean_is_given_up_by_either_count(void **state)
{
  ps_mean_beat mean = {0};
  const double y[2] = {1, 2};
  double x[2];

  assert_true(ps_mean_count(&mean, true, true, 300)); /* there is none */
  ps_mean_begin(&mean, x, y, 2, 0);
  for (int k = 0; k < 600; k++) {
    assert_false(ps_mean_count(&mean, k % 2 == 0, true, 8));
  }
  for (int k = 2; k <= 301; k++) { /* the last one was unlike it */
    assert_true(ps_mean_count(&mean, false, false, 300) == (k == 301));
  }
  ps_mean_begin(&mean, x, y, 2, 0);
  for (int k = 0; k < 9; k++) {
    assert_true(ps_mean_count(&mean, false, true, 300) == (k == 8));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(likeness_is_of_the_waves_alone),
      cmocka_unit_test(a_mean_is_given_up_by_either_count),
      cmocka_unit_test(quiet_beats_are_measured_each_alone),
      cmocka_unit_test(noise_falls_as_of_a_mean),
      cmocka_unit_test(moved_beats_are_aligned),
      cmocka_unit_test(other_beats_are_left_out),
      cmocka_unit_test(noise_alone_is_no_beat),
      cmocka_unit_test(the_usual_beat_becomes_the_mean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
