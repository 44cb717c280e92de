/* window_test.c - the window of a beat: linear interpolation where it is finer than the signal, a
 * low pass of known gain where it is coarser, of mean 0 and standard deviation 1. */
#include "beats/window.h"
#include <math.h>
#include "base/weir_check.h"

enum { SLOTS = 4000, SAMPLES = 96 };
#define PI 3.14159265358979323846

/* The window at the middle of x(t) = f(t, p), t from the beat on. */
static void take(const ps_beat_window *w, double fs, double (*f)(double, double), double p,
                 float *y)
{
  const int64_t behind = ps_beat_window_behind(w, fs), n = behind + 1 + ps_beat_window_ahead(w, fs);
  float x[SLOTS];

  assert_true(n <= SLOTS);
  for (int64_t i = 0; i < n; i++) {
    x[i] = (float)f((double)(i - behind) / fs, p);
  }
  ps_beat_window_take(w, fs, x, 1, y);
}

static double line(double t, double slope)
{
  return 0.5 + slope * t;
}

static double sine(double t, double hertz)
{
  return sin(2 * PI * hertz * t);
}

static double small(double t, double size)
{
  return size * sin(2 * PI * 10 * t);
}

/* A line stays one: samples k of mean m and standard deviation s become (k - m) / s. */
static void lines_are_interpolated(void **state)
{
  static const double rates[] = {60, 128, 256, 512};
  const ps_beat_window w = {.rate = 128, .before = 40, .after = 56};
  float y[SAMPLES];

  for (int r = 0; r < 4; r++) {
    take(&w, rates[r], line, 3, y);
    for (int k = 0; k < SAMPLES; k++) {
      assert_near((double)y[k], (k - 47.5) / sqrt((SAMPLES * SAMPLES - 1) / 12.0), 1e-5);
    }
  }
}

/* Before it is normalised, a sine of f Hz has the amplitude sinc^2(f / rate): seen from the ratio
 * of two sines, the second of which is hardly damped. */
static double two_sines(double t, double hertz)
{
  return sine(t, 4) + sine(t, hertz);
}

static void coarser_windows_are_low_passes(void **state)
{
  const ps_beat_window w = {.rate = 128, .before = 64, .after = 64};
  float y[128];

  for (int f = 20; f <= 60; f += 10) { /* whole periods in the window of 1 s */
    double amplitude[2] = {0, 0};

    take(&w, 2048, two_sines, f, y);
    for (int k = 0; k < 128; k++) {
      const double t = (double)(k - 64) / 128;

      amplitude[0] += (double)y[k] * sine(t, 4);
      amplitude[1] += (double)y[k] * sine(t, f);
    }
    const double a = PI * f / 128, b = PI * 4 / 128;
    const double want = pow(sin(a) / a, 2) / pow(sin(b) / b, 2);

    assert_near(amplitude[1] / amplitude[0], want, 5e-3);
  }
}

static void windows_are_normalised_unless_flat(void **state)
{
  const ps_beat_window w = {.rate = 100, .before = 30, .after = 70};
  double mean = 0, squares = 0;
  float y[100];

  take(&w, 360, sine, 7, y);
  for (int k = 0; k < 100; k++) {
    mean += (double)y[k] / 100;
    squares += (double)y[k] * (double)y[k] / 100;
  }
  assert_near(mean, 0, 1e-6);
  assert_near(squares, 1, 1e-5);
  take(&w, 1000, small, 0.001, y); /* 1 uV over 10 uV */
  for (int k = 0; k < 100; k++) {
    assert_true(fabs((double)y[k]) < 0.11);
  }
}

static void only_stated_samples_are_read(void **state)
{
  const ps_beat_window w = {.rate = 128, .before = 38, .after = 58};

  assert_int_equal(ps_beat_window_samples(&w), 96);
  assert_int_equal(ps_beat_window_behind(&w, 360), (int64_t)floor(39 * 360.0 / 128));
  assert_int_equal(ps_beat_window_ahead(&w, 360), (int64_t)floor(58 * 360.0 / 128));
  assert_int_equal(ps_beat_window_behind(&w, 64), 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_interpolated),
      cmocka_unit_test(coarser_windows_are_low_passes),
      cmocka_unit_test(windows_are_normalised_unless_flat),
      cmocka_unit_test(only_stated_samples_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
