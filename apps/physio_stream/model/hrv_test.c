/* hrv_test.c - the printed figures of three records, and spectra that are known. */
#include "model/hrv_nonlinear.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "eval/beats.h"

enum { CAPACITY = 4000, SCRATCH = 4 * CAPACITY + 40000 };
static ps_interval v[CAPACITY];
static double scratch[SCRATCH];

/* Figures of the reference annotations to the digits of the table. */
static void figures_of_three_records_are_reproduced(void **state)
{
  static const struct {
    const char *record;
    int64_t beats;
    const char *figures;
    double neurokit2[4]; /* its SDANN5, VLF, LF, HF of these NN intervals and their times */
  } rows[] = {{"100",
               2273,
               "795.0116 35.9609 27.4805 5.3481",
               {16.4558352348, 254.893299231, 68.9785545392, 535.489669929}},
              {"119",
               1987,
               "900.9411 41.3959 34.4715 15.1883",
               {7.72836610616, 1192.48939394, 526.479578012, 301.862808138}},
              {"208",
               2955,
               "582.7930 55.0812 23.8178 2.8926",
               {29.2135247515, 61595.9014848, 555.039704956, 99.4182059129}}};
  const ps_hrv_opts neurokit2 = {.definitions = PS_HRV_NEUROKIT2};
  char path[4096], text[128];

  for (int k = 0; k < 3; k++) {
    ps_beats b = {0};

    weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/%s.atr", rows[k].record);
    assert_ok(ps_beats_read(path, &(ps_beats_clock){360, 1, 360, 1}, 650000, &b));
    assert_int_equal(b.n, rows[k].beats);
    assert_true(b.n <= CAPACITY);
    const int64_t n = ps_beats_intervals(&b, NULL, v);
    const ps_hrv_times t = ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 360);

    (void)snprintf(text, sizeof text, "%.4f %.4f %.4f %.4f", t.mean, t.sd, t.rmssd, t.pnn50);
    assert_string_equal(text, rows[k].figures);
    const ps_hrv_bands bands = ps_hrv_spectrum(&neurokit2, v, n, 360, scratch);
    const double *const want = rows[k].neurokit2;

    assert_near(ps_hrv_time_domain(PS_HRV_NEUROKIT2, v, n, 360).sdann, want[0], 1e-9);
    assert_near(bands.vlf, want[1], 1e-8 * want[1]);
    assert_near(bands.lf, want[2], 1e-8 * want[2]);
    assert_near(bands.hf, want[3], 1e-8 * want[3]);
    ps_beats_fini(&b);
  }
}

/* Intervals of 1 / 360 s whose length swings with amplitude a ms at f Hz around the mean. */
static int64_t swing(double seconds, double mean, double a, double f)
{
  double t = 0;
  int64_t n = 0;

  while (t < seconds) {
    const double length = mean + a * sin(2 * acos(-1.0) * f * t);

    t += length / 1000;
    v[n] = (ps_interval){.end = 360 * t, .length = 0.36 * length, .counts = true, .joined = n > 0};
    n++;
  }
  return n;
}

/* A sine of amplitude a has the power a^2 / 2, all of it in its band. Cubic splines lose little at
 * these frequencies. A piece of Welch has two bins below 0.04 Hz, and none at 0.003 to 0.0156: it
 * says nothing of the slowest band. */
static void a_sine_has_its_power_in_its_band(void **state)
{
  static const double f[3] = {2 / 64.0, 0.1, 0.25};

  for (int method = PS_HRV_WELCH; method <= PS_HRV_LOMB; method++) {
    const ps_hrv_opts opts = {.bridge = 5, .spectrum = method};

    for (int k = 0; k < 3; k++) {
      const int64_t n = swing(600, 800, 20, f[k]);
      const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, n, 360, scratch);
      const double own = k == 0 ? b.vlf : k == 1 ? b.lf : b.hf;

      assert_int_equal(isnan(b.vlf), method == PS_HRV_WELCH);
      if (isnan(own)) {
        continue;
      }
      const double all = (isnan(b.vlf) ? 0 : b.vlf) + b.lf + b.hf;

      assert_true(fabs(all - 200) < 0.08 * 200);
      assert_true(own > 0.95 * all);
    }
  }
}

/* Half an hour of intervals with variation at 0.1 and 0.25 Hz, in 1 / 10000 s, by a formula that
 * any program repeats. */
static int64_t formula(void)
{
  const double turn = 2 * acos(-1.0);
  double end = 0;
  int64_t n = 0;

  while (end < 1800 * 10000.0) {
    const double t = end / 10000, k = (double)(n + 1);
    const double ms = 800 + 40 * sin(turn * 0.1 * t) + 25 * sin(turn * 0.25 * t) +
                      60 * sin(turn * t / 1200) + 20 * (fmod(k * k * 0.618033988749895, 1) - 0.5);
    const double length = floor(10 * ms + 0.5);

    assert_true(n < CAPACITY);
    end += length;
    v[n] = (ps_interval){.end = end, .length = length, .counts = true, .joined = n > 0};
    n++;
  }
  return n;
}

/* `hrv_time` and `hrv_frequency(normalize=False)` of NeuroKit2 0.3.0 of the formula. Where the
 * definitions are the same all digits agree, also of SDANN, as the record begins with the first
 * interval; pNN50 is there a share of the intervals, here of their differences. LF and HF are there
 * of pieces of half the series at 100 Hz, integrated by the trapezoidal rule, here of 64 s with a
 * line taken out: the edges of shorter pieces leak more of 0.1 Hz into HF, 2.5 %. By our definition
 * SciPy 1.17.1
 * (`CubicSpline`, `welch`) gives all digits. */
static void measures_are_those_of_neurokit2(void **state)
{
  const ps_hrv_opts opts = {.bridge = 5};
  const int64_t n = formula();
  const ps_hrv_times t = ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 10000);
  const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, n, 10000, scratch);

  assert_int_equal(n, 2225);
  assert_near(t.mean, 809.3406292, 1e-7);
  assert_near(t.sd, 53.08552421, 1e-8);
  assert_near(t.rmssd, 26.74520271, 1e-8);
  assert_near(t.pnn50 * (double)(n - 1) / (double)n, 5.078651685, 1e-9);
  assert_near(t.sdann, 39.46116142, 1e-8);
  assert_near(b.lf, 803.26755, 0.03 * 803);
  assert_near(b.hf, 319.9017, 0.03 * 320);
  assert_near(b.lf / b.hf, 2.5109824, 0.03 * 2.5);
  assert_near(b.lf, 798.3968185, 1e-7); /* SciPy */
  assert_near(b.hf, 327.8246665, 1e-7);
}

/* What `hrv_time`, `hrv_frequency(normalize=False)` and `hrv_nonlinear` of NeuroKit2 0.3.0 give,
 * all digits, of all of the formula and of its first 370 intervals; short ones have none. */
static void definitions_of_neurokit2_give_its_values(void **state)
{
  static const struct {
    int64_t n;
    double pnn50, sdann, vlf, lf, hf, alpha1, alpha2;
  } rows[] = {{2225, 5.07865168539, 39.4611614219, 2.39834168087, 803.267545752, 319.901702956,
               1.29850022815, 0.727411106149},
              {370, 6.21621621622, NAN, 2.34761697468, 762.881353523, 337.894069632, 1.25986863368,
               0.107236217822}};
  ps_hrv_opts opts;

  weir_opts_default(ps_hrv_options, sizeof opts, &opts);
  opts.definitions = PS_HRV_NEUROKIT2;
  (void)formula();
  for (int k = 0; k < 2; k++) {
    const ps_hrv_times t = ps_hrv_time_domain(opts.definitions, v, rows[k].n, 10000);
    const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, rows[k].n, 10000, scratch);
    const ps_hrv_nonlinear m = ps_hrv_nonlinear_of(&opts, v, rows[k].n, 10000, scratch);

    assert_near(t.pnn50, rows[k].pnn50, 1e-10);
    assert_int_equal(isnan(t.sdann), isnan(rows[k].sdann));
    if (!isnan(t.sdann)) {
      assert_near(t.sdann, rows[k].sdann, 1e-9);
    }
    assert_near(b.vlf, rows[k].vlf, 1e-8);
    assert_near(b.lf, rows[k].lf, 1e-8 * rows[k].lf);
    assert_near(b.hf, rows[k].hf, 1e-8 * rows[k].hf);
    assert_near(m.alpha1, rows[k].alpha1, 1e-9);
    assert_near(m.alpha2, rows[k].alpha2, 1e-9);
  }
  assert_true(isnan(ps_hrv_spectrum(&opts, v, 5, 10000, scratch).hf));
  opts.spectrum = PS_HRV_LOMB;
  assert_int_equal(ps_hrv_check("nn", &opts), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "neurokit2 has its own spectrum"));
}

static double welch_of(const double *x, int64_t n, double lo, double hi);

/* Against the definition, for intervals of exactly 250 ms, whose spline is the intervals. */
static void welch_is_what_its_definition_says(void **state)
{
  const ps_hrv_opts opts = {.bridge = 5};
  static double x[1000];

  for (int64_t i = 0; i < 1000; i++) {
    x[i] = 250 + 20 * weir_random_normal(1, 1, 0, (uint64_t)i);
    v[i] = (ps_interval){
        .end = 90.0 * (double)(i + 1), .length = 0.36 * x[i], .counts = true, .joined = i > 0};
  }
  const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, 1000, 360, scratch);

  assert_true(isnan(b.vlf));
  assert_near(b.lf, welch_of(x, 1000, 0.04, 0.15), 1e-9);
  assert_near(b.hf, welch_of(x, 1000, 0.15, 0.4), 1e-9);
}

/* Sum of the one-sided density over a band times the width of a bin, term by term. */
static double welch_of(const double *x, int64_t n, double lo, double hi)
{
  const double pi = acos(-1.0);
  double power = 0;
  int pieces = 0;

  for (int64_t from = 0; from + 256 <= n; from += 128, pieces++) {
    double st = 0, sx = 0, stt = 0, stx = 0, weight = 0;

    for (int i = 0; i < 256; i++) {
      st += i;
      sx += x[from + i];
      stt += (double)i * i;
      stx += i * x[from + i];
      weight += pow(sin(pi * i / 256), 4);
    }
    const double slope = (256 * stx - st * sx) / (256 * stt - st * st);
    const double base = (sx - slope * st) / 256;

    for (int k = 1; k < 128; k++) {
      double re = 0, im = 0;

      for (int i = 0; i < 256; i++) {
        const double y = (x[from + i] - base - slope * i) * pow(sin(pi * i / 256), 2);

        re += y * cos(2 * pi * k * i / 256);
        im += y * sin(2 * pi * k * i / 256);
      }
      power += k / 64.0 >= lo && k / 64.0 < hi ? 2 * (re * re + im * im) / (4 * weight) / 64 : 0;
    }
  }
  return power / pieces;
}

/* The periodogram term by term, for the intervals v. */
static double lomb_of(int64_t n, double lo, double hi)
{
  const double duration = (v[n - 1].end - v[0].end) / 360;
  double mean = 0, power = 0;

  for (int64_t i = 0; i < n; i++) {
    mean += v[i].length / 0.36 / (double)n;
  }
  for (int64_t k = 1; (double)k / duration < hi; k++) {
    const double w = 2 * acos(-1.0) * (double)k / duration;
    double s2 = 0, c2 = 0, yc = 0, ys = 0, cc = 0, ss = 0;

    for (int64_t i = 0; i < n && (double)k / duration >= lo; i++) {
      s2 += sin(2 * w * v[i].end / 360);
      c2 += cos(2 * w * v[i].end / 360);
    }
    const double tau = atan2(s2, c2) / (2 * w);

    for (int64_t i = 0; i < n && (double)k / duration >= lo; i++) {
      const double c = cos(w * (v[i].end / 360 - tau)), s = sin(w * (v[i].end / 360 - tau));

      yc += (v[i].length / 0.36 - mean) * c;
      ys += (v[i].length / 0.36 - mean) * s;
      cc += c * c;
      ss += s * s;
    }
    power += cc > 0 && ss > 0 ? (yc * yc / cc + ys * ys / ss) / (double)n : 0;
  }
  return power;
}

static double nn_seconds(int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += v[i].counts ? v[i].length / 360 : 0;
  }
  return sum;
}

/* Against the definition, a gap of half the time included. */
static void lomb_is_what_its_definition_says(void **state)
{
  const ps_hrv_opts opts = {.bridge = 5, .spectrum = PS_HRV_LOMB};

  for (int k = 0; k < 4; k++) {
    static const double seconds[] = {20, 300, 700, 1500};
    int64_t n = swing(seconds[k], k % 2 ? 800 : 1100, 20, 0.1);

    for (int64_t i = 0; i < n; i++) {
      v[i].length += 3 * weir_random_normal((uint64_t)k, 2, 0, (uint64_t)i);
      v[i].end += k == 3 && i > n / 2 ? 360 * 1500 : 0;
    }
    const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, n, 360, scratch);
    const double vlf = lomb_of(n, 0.003, 0.04), tolerance = 1e-10 * (vlf + b.lf + b.hf);

    assert_true(b.hf > 0 && (int64_t)ps_hrv_scratch(&opts, n, ps_hrv_span(v, n, 360)) <= SCRATCH);
    if (nn_seconds(n) > 300) {
      assert_near(b.vlf, vlf, tolerance);
    } else { /* Task Force 1996: to be avoided */
      assert_true(isnan(b.vlf));
    }
    assert_near(b.lf, lomb_of(n, 0.04, 0.15), tolerance);
    assert_near(b.hf, lomb_of(n, 0.15, 0.4), tolerance);
  }
}

static void an_interval_far_from_the_median_does_not_count(void **state)
{
  const int64_t n = swing(300, 800, 10, 0.1);

  v[50].length *= 0.6;
  v[51].length *= 1.4;
  v[60].length *= 1.2;
  ps_hrv_exclude(0, v, n, scratch);
  assert_true(v[50].counts && v[51].counts);
  ps_hrv_exclude(0.25, v, n, scratch);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(v[i].counts, i != 50 && i != 51);
  }
  /* It is interpolated in the spectrum, and left out of successive differences. */
  const ps_hrv_opts opts = {.bridge = 5};
  const ps_hrv_bands b = ps_hrv_spectrum(&opts, v, n, 360, scratch);
  const ps_hrv_times t = ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 360);

  assert_true(b.lf > 40 && b.lf < 120);
  assert_int_equal(t.n, n - 2);
  assert_true(t.sd < 15);
}

/* 63 s on either side of a gap make no piece of 64 s; a bridge that is too short breaks a series
 * too. */
static void no_piece_spans_a_gap(void **state)
{
  const ps_hrv_opts opts = {.bridge = 5}, brief = {.bridge = 0.5};
  const int64_t n = swing(126, 800, 10, 0.1);

  assert_true(!isnan(ps_hrv_spectrum(&opts, v, n, 360, scratch).lf));
  v[n / 2].joined = false;
  assert_true(isnan(ps_hrv_spectrum(&opts, v, n, 360, scratch).lf));
  v[n / 2].joined = true;
  v[n / 2].counts = false;
  assert_true(!isnan(ps_hrv_spectrum(&opts, v, n, 360, scratch).lf));
  assert_true(isnan(ps_hrv_spectrum(&brief, v, n, 360, scratch).lf));
}

static void five_minute_means_make_sdann(void **state)
{
  static const struct {
    double length;
    int count;
  } runs[] = {{0.8, 375}, {0.9, 333}, {1.0, 299}};
  int64_t n = 0;
  double t = -1e-6;

  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < runs[k].count; i++) {
      t += runs[k].length;
      v[n++] = (ps_interval){.end = 360 * t, .length = 360 * runs[k].length, .counts = true};
    }
  }
  assert_near(ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 360).sdann, 100.0, 0.01);
  for (int i = 0; i < 100; i++) { /* the first 120 s of a segment are none */
    t += 1.2;
    v[n++] = (ps_interval){.end = 360 * t, .length = 360 * 1.2, .counts = true};
  }
  assert_near(ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 360).sdann, 100.0, 0.01);
  assert_true(isnan(ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, 375 + 100, 360).sdann));
}

/* Three segments of five minutes. In the last there are only two stretches of `seconds`, at its
 * begin and end: what they span says nothing, what they cover does. */
static void a_segment_of_seconds_does_not_enter_sdann(void **state)
{
  static const double seconds[] = {10, 90, 130};

  (void)state;
  for (int c = 0; c < 3; c++) {
    int64_t n = 0;

    for (int segment = 0; segment < 3; segment++) {
      const double length = 0.75 + 0.05 * segment, covered = segment < 2 ? 150 : seconds[c];

      for (int half = 0; half < 2; half++) {
        double t = 300 * segment + (half ? 300 - covered : 0);

        for (bool joined = false; t + length < 300 * segment + (half ? 300 : covered);
             joined = true) {
          t += length;
          v[n++] = (ps_interval){
              .end = 360 * t, .length = 360 * length, .counts = true, .joined = joined};
        }
      }
    }
    const ps_hrv_times t = ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 360);

    assert_int_equal(t.segments, c == 2 ? 3 : 2);
    assert_near(t.sdann, c == 2 ? 50 : 50 / sqrt(2), 1e-6);
  }
}

static void too_little_is_nan(void **state)
{
  const ps_hrv_opts welch = {0}, lomb = {.spectrum = PS_HRV_LOMB};

  for (int64_t n = 0; n < 4; n++) {
    (void)swing(5, 800, 10, 0.1);
    const ps_hrv_times t = ps_hrv_time_domain(PS_HRV_TASK_FORCE, v, n, 360);

    assert_int_equal(t.n, n);
    assert_int_equal(isnan(t.mean), n < 1);
    assert_int_equal(isnan(t.sd), n < 2);
    assert_int_equal(isnan(t.rmssd), n < 2);
    assert_true(isnan(ps_hrv_spectrum(&welch, v, n, 360, scratch).hf));
    assert_true(isnan(ps_hrv_spectrum(&lomb, v, n, 360, scratch).hf));
  }
  assert_int_equal(weir_opts_incomplete(ps_hrv_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_of_three_records_are_reproduced),
      cmocka_unit_test(a_sine_has_its_power_in_its_band),
      cmocka_unit_test(measures_are_those_of_neurokit2),
      cmocka_unit_test(definitions_of_neurokit2_give_its_values),
      cmocka_unit_test(welch_is_what_its_definition_says),
      cmocka_unit_test(lomb_is_what_its_definition_says),
      cmocka_unit_test(an_interval_far_from_the_median_does_not_count),
      cmocka_unit_test(no_piece_spans_a_gap),
      cmocka_unit_test(five_minute_means_make_sdann),
      cmocka_unit_test(a_segment_of_seconds_does_not_enter_sdann),
      cmocka_unit_test(too_little_is_nan),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
