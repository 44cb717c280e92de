/* hrv_nonlinear_test.c - nonlinear measures against their definitions, known values and NeuroKit2.
 */
#include "model/hrv_nonlinear.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { CAPACITY = 6000, RATE = 1000 };
static ps_interval v[CAPACITY];

static const ps_hrv_opts usual = {
    .entropy = {.m = 2, .r = 0.2, .scales = 5, .min_templates = 100},
    .dfa = {.short_min = 4, .short_max = 11, .long_min = 12, .ratio = 1.0905077326652577}};

/* One run of intervals in ms. */
static void set(const double *x, int64_t n)
{
  double t = 0;

  for (int64_t i = 0; i < n; i++) {
    t += x[i];
    v[i] = (ps_interval){.end = t, .length = x[i], .counts = true, .joined = i > 0};
  }
}

/* With no more scratch memory than is asked for. */
static ps_hrv_nonlinear measure(const ps_hrv_opts *opts, int64_t n)
{
  double *scratch = malloc(ps_hrv_nonlinear_scratch(opts, n > 0 ? n : 1) * sizeof *scratch);

  assert_non_null(scratch);
  const ps_hrv_nonlinear out = ps_hrv_nonlinear_of(opts, v, n, RATE, scratch);

  free(scratch);
  return out;
}

/* ---- The definitions, term by term ---- */

/* Whether intervals [i, i + k) are one run. */
static bool whole(int64_t i, int64_t k, int64_t n)
{
  for (int64_t j = i; j < i + k; j++) {
    if (j >= n || !v[j].counts || (j > i && !v[j].joined)) {
      return false;
    }
  }
  return true;
}

static bool match(int64_t i, int64_t j, int64_t k, double r)
{
  for (int64_t l = 0; l < k; l++) {
    if (!(fabs(v[i + l].length - v[j + l].length) <= r)) {
      return false;
    }
  }
  return true;
}

static double tolerance_of(double share, int64_t n)
{
  double mean = 0, square = 0, count = 0;

  for (int64_t i = 0; i < n; i++) {
    mean += v[i].counts ? v[i].length : 0;
    count += v[i].counts;
  }
  mean /= count;
  for (int64_t i = 0; i < n; i++) {
    square += v[i].counts ? pow(v[i].length - mean, 2) : 0;
  }
  return share * sqrt(square / (count - 1));
}

/* Richman and Moorman 2000: -log(A / B). */
static double sampen_of(int64_t m, double r, int64_t n)
{
  double a = 0, b = 0;

  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      if (i != j && whole(i, m + 1, n) && whole(j, m + 1, n)) {
        b += match(i, j, m, r);
        a += match(i, j, m + 1, r);
      }
    }
  }
  return -log(a / b);
}

/* Pincus 1991: phi of m, the mean log share of templates that match one. */
static double phi_of(int64_t m, double r, int64_t n)
{
  double sum = 0, templates = 0;

  for (int64_t i = 0; i < n; i++) {
    templates += whole(i, m, n);
  }
  for (int64_t i = 0; i < n; i++) {
    double count = 0;

    for (int64_t j = 0; j < n && whole(i, m, n); j++) {
      count += whole(j, m, n) && match(i, j, m, r);
    }
    sum += count > 0 ? log(count / templates) : 0;
  }
  return sum / templates;
}

/* Replaces the intervals by means of `scale`, from the first of every run on; returns their number.
 */
static int64_t coarse_grain(int64_t scale, int64_t n)
{
  static ps_interval coarse[CAPACITY];
  int64_t count = 0;

  for (int64_t i = 0, end = 0; i < n; i = end) {
    for (end = i + 1; whole(i, end - i + 1, n); end++) {
    }
    for (int64_t at = i; whole(at, scale, n) && at + scale <= end; at += scale) {
      double sum = 0;

      for (int64_t k = 0; k < scale; k++) {
        sum += v[at + k].length;
      }
      coarse[count++] =
          (ps_interval){.length = sum / (double)scale, .counts = true, .joined = at > i};
    }
  }
  memcpy(v, coarse, (size_t)count * sizeof *v);
  return count;
}

/* F(n)^2 of Peng 1995 with boxes of `size` side by side, by normal equations. */
static double fluctuation_of(int64_t size, int64_t n)
{
  double sum = 0, boxes = 0;

  for (int64_t run = 0, end = 0; run < n; run = end) {
    for (end = run + 1; whole(run, end - run + 1, n); end++) {
    }
    for (int64_t at = run; at + size <= end; at += size, boxes++) {
      double s = 0, sk = 0, skk = 0, y = 0, sy = 0, sky = 0, syy = 0;

      for (int64_t k = 0; k < size; k++) {
        y += v[at + k].length - 800;
        s++;
        sk += (double)k;
        skk += (double)(k * k);
        sy += y;
        sky += (double)k * y;
        syy += y * y;
      }
      const double slope = (s * sky - sk * sy) / (s * skk - sk * sk), base = (sy - slope * sk) / s;

      sum += syy - base * sy - slope * sky;
    }
  }
  return sum / (boxes * (double)size);
}

/* The slope of log sqrt(f) over log n, for n = lo, lo + 1, ..., hi. */
static double slope_of(const double *f, int64_t lo, int64_t hi)
{
  double s = 0, x = 0, y = 0, xx = 0, xy = 0;

  for (int64_t k = lo; k <= hi; k++, s++) {
    const double at = log((double)k), value = log(f[k]) / 2;

    x += at;
    y += value;
    xx += at * at;
    xy += at * value;
  }
  return (s * xy - x * y) / (s * xx - x * x);
}

/* ---- Tests ---- */

/* Intervals that depend on the one before, in runs: gaps and intervals that do not count. */
static int64_t make_runs(uint64_t seed, int64_t n, double breaks)
{
  double x = 0;

  for (int64_t i = 0; i < n; i++) {
    const uint64_t at = (uint64_t)i;

    x = 0.6 * x + 30 * weir_random_normal(seed, 1, 0, at);
    v[i] = (ps_interval){.end = 800.0 * (double)(i + 1),
                         .length = floor(800 + x),
                         .counts = weir_random_uniform(seed, 2, 0, at) >= breaks,
                         .joined = i > 0 && weir_random_uniform(seed, 3, 0, at) >= breaks};
  }
  return n;
}

static void entropies_are_what_their_definitions_say(void **state)
{
  static const struct {
    int64_t n, m, scales;
    double r, breaks;
  } rows[] = {{3, 1, 1, 0.5, 0},      {17, 1, 2, 0.5, 0},     {101, 2, 3, 0.2, 0},
              {333, 2, 4, 0.2, 0.02}, {301, 3, 2, 0.4, 0.05}, {257, 1, 5, 0.15, 0.1},
              {600, 4, 2, 0.6, 0.01}, {512, 2, 1, 0, 0.03}};

  (void)state;
  for (size_t c = 0; c < sizeof rows / sizeof rows[0]; c++) {
    ps_hrv_opts opts = usual;
    const int64_t m = rows[c].m, n = make_runs(c, rows[c].n, rows[c].breaks);
    const double r = tolerance_of(rows[c].r, n);

    opts.entropy =
        (ps_hrv_entropy_opts){.m = m, .r = rows[c].r, .scales = rows[c].scales, .min_templates = 2};
    const ps_hrv_nonlinear out = measure(&opts, n);
    double sum = 0;

    assert_near(out.apen, phi_of(m, r, n) - phi_of(m + 1, r, n), 1e-12);
    for (int64_t k = 1; k <= rows[c].scales; k++) {
      (void)make_runs(c, rows[c].n, rows[c].breaks);
      const double expected = sampen_of(m, r, coarse_grain(k, n));
      const double found = out.mse[k - 1];

      assert_true(isfinite(expected) ? weir_near(found, expected, 1e-12) : isnan(found));
      sum += found;
    }
    assert_true(isnan(out.mse[rows[c].scales]));
    assert_true(isnan(sum) ? isnan(out.mse_ci) : weir_near(out.mse_ci, sum, 1e-12));
    assert_true(isnan(out.sampen) ? isnan(out.mse[0]) : weir_near(out.sampen, out.mse[0], 0));
  }
}

/* Templates of independent values match with the probability of one more value,
 * erf(r / (2 sigma)); means of k have sigma / sqrt(k) and the same r (Costa 2002). */
static void white_noise_has_its_entropy_on_every_scale(void **state)
{
  static double x[CAPACITY];

  (void)state;
  for (int64_t i = 0; i < CAPACITY; i++) {
    x[i] = 800 + 30 * weir_random_normal(5, 1, 0, (uint64_t)i);
  }
  set(x, CAPACITY);
  const ps_hrv_nonlinear out = measure(&usual, CAPACITY);

  for (int k = 0; k < 5; k++) {
    const double expected = -log(erf(0.1 * sqrt(k + 1)));

    print_message("white noise, scale %d: %.4f, expected %.4f\n", k + 1, out.mse[k], expected);
    assert_true(fabs(out.mse[k] - expected) < 0.04);
  }
  assert_true(fabs(out.apen - 2.185) < 0.4); /* biased by self-matches, towards 0 */
}

/* Where only equal templates match, those of a period are followed by the same value. */
static void regular_series_have_no_entropy(void **state)
{
  static double x[700];
  ps_hrv_opts opts = usual;

  (void)state;
  for (int64_t i = 0; i < 700; i++) {
    x[i] = 800 + 50 * sin(2 * acos(-1.0) * (double)(i % 7) / 7);
  }
  set(x, 700);
  opts.entropy.r = 1e-6;
  const ps_hrv_nonlinear sine = measure(&opts, 700);

  assert_near(sine.sampen, 0, 1e-12);
  assert_near(sine.apen, 0, 1e-3);
  for (int64_t i = 0; i < 700; i++) {
    x[i] = 801.7;
  }
  set(x, 700);
  const ps_hrv_nonlinear constant = measure(&usual, 700);

  assert_near(constant.sampen, 0, 0);
  assert_near(constant.apen, 0, 1e-12);
  assert_near(constant.mse_ci, 0, 0);
  assert_near(constant.sd1, 0, 0);
  assert_near(constant.sd2, 0, 0);
  assert_true(isnan(constant.sd_ratio) && isnan(constant.alpha1) && isnan(constant.alpha2));
}

static void poincare_is_what_its_definition_says(void **state)
{
  (void)state;
  for (uint64_t seed = 0; seed < 6; seed++) {
    const int64_t n = make_runs(seed, 11 + 97 * (int64_t)seed, seed % 2 ? 0.1 : 0);
    double x1 = 0, x2 = 0, s1 = 0, s2 = 0, pairs = 0;

    for (int pass = 0; pass < 2; pass++) {
      for (int64_t i = 1; i < n; i++) {
        if (whole(i - 1, 2, n)) {
          const double a = (v[i - 1].length - v[i].length) / sqrt(2);
          const double b = (v[i - 1].length + v[i].length) / sqrt(2);

          x1 += pass == 0 ? a : 0;
          x2 += pass == 0 ? b : 0;
          pairs += pass == 0;
          s1 += pass == 1 ? pow(a - x1 / pairs, 2) : 0;
          s2 += pass == 1 ? pow(b - x2 / pairs, 2) : 0;
        }
      }
    }
    const double sd1 = sqrt(s1 / (pairs - 1)), sd2 = sqrt(s2 / (pairs - 1));
    const ps_hrv_nonlinear out = measure(&usual, n);

    assert_near(out.sd1, sd1, 1e-12);
    assert_near(out.sd2, sd2, 1e-12);
    assert_near(out.sd_ratio, sd1 / sd2, 1e-12);
    assert_near(out.ellipse, acos(-1.0) * sd1 * sd2, 1e-12);
  }
}

/* An alternation lies across the line of identity alone. */
static void an_alternation_has_no_sd2(void **state)
{
  static double x[101];

  (void)state;
  for (int64_t i = 0; i < 101; i++) {
    x[i] = i % 2 ? 850 : 800;
  }
  set(x, 101);
  const ps_hrv_nonlinear out = measure(&usual, 101);

  assert_near(out.sd1, 50 / sqrt(2) * sqrt(100.0 / 99), 1e-12);
  assert_true(out.sd2 == 0 && isnan(out.sd_ratio));
}

static void exponents_are_what_their_definitions_say(void **state)
{
  static const double breaks[] = {0, 0.004, 0.002};
  static const int64_t sizes[] = {300, 2999, 5000};
  double f[64];

  (void)state;
  for (uint64_t c = 0; c < 3; c++) {
    const int64_t n = make_runs(c, sizes[c], breaks[c]);
    ps_hrv_opts opts = usual;

    opts.dfa.ratio = 1;
    opts.dfa.long_max = 30;
    for (int64_t k = 4; k <= 30; k++) {
      f[k] = fluctuation_of(k, n);
    }
    const ps_hrv_nonlinear every = measure(&opts, n);

    assert_near(every.alpha1, slope_of(f, 4, 11), 1e-6);
    assert_near(every.alpha2, slope_of(f, 12, 30), 1e-6);
    opts.dfa.ratio = usual.dfa.ratio; /* 4 to 11 are every size as well */
    const ps_hrv_nonlinear some = measure(&opts, n);

    assert_near(some.alpha1, every.alpha1, 1e-9);
    assert_true(fabs(some.alpha2 - every.alpha2) < 0.1);
  }
}

/* F(n)^2 of independent values is sigma^2 (n^2 - 4) / (15 n): the slope of small boxes is above
 * 1/2. That of their sums, a Brownian motion, is 3/2. */
static void noises_have_their_exponents(void **state)
{
  static double x[CAPACITY], y[CAPACITY];
  double f[64], white1 = 0, white2 = 0, brown2 = 0;

  (void)state;
  for (int64_t k = 4; k <= 11; k++) {
    f[k] = (double)(k * k - 4) / (15.0 * (double)k);
  }
  for (uint64_t seed = 0; seed < 4; seed++) {
    for (int64_t i = 0; i < CAPACITY; i++) {
      x[i] = weir_random_normal(seed, 9, 0, (uint64_t)i);
      y[i] = (i > 0 ? y[i - 1] : 0) + x[i];
    }
    set(x, CAPACITY);
    const ps_hrv_nonlinear white = measure(&usual, CAPACITY);

    set(y, CAPACITY);
    const ps_hrv_nonlinear brown = measure(&usual, CAPACITY);

    white1 += white.alpha1 / 4;
    white2 += white.alpha2 / 4;
    brown2 += brown.alpha2 / 4;
  }
  print_message("white noise: alpha 1 %.4f, expected %.4f; alpha 2 %.4f; Brownian: alpha 2 %.4f\n",
                white1, slope_of(f, 4, 11), white2, brown2);
  assert_true(fabs(white1 - slope_of(f, 4, 11)) < 0.01);
  assert_true(fabs(white2 - 0.5) < 0.05);
  assert_true(fabs(brown2 - 1.5) < 0.05);
}

/* Nothing is across a break: runs that are too short for anything have nothing. */
static void nothing_crosses_a_break(void **state)
{
  const int64_t n = make_runs(3, 1200, 0);
  const ps_hrv_nonlinear one = measure(&usual, n);

  (void)state;
  assert_true(isfinite(one.sampen) && isfinite(one.apen) && isfinite(one.alpha1));
  for (int64_t i = 0; i < n; i += 2) {
    v[i].joined = false; /* runs of 2: pairs, and nothing longer */
  }
  const ps_hrv_nonlinear pairs = measure(&usual, n);

  assert_true(isfinite(pairs.sd1) && isfinite(pairs.ellipse));
  assert_true(isnan(pairs.apen) && isnan(pairs.sampen) && isnan(pairs.mse_ci));
  assert_true(isnan(pairs.alpha1) && isnan(pairs.alpha2));
  for (int64_t i = 0; i < n; i++) {
    v[i].joined = i % 24 != 0; /* runs of 24: boxes of 24 at most */
  }
  const ps_hrv_nonlinear short_runs = measure(&usual, n);

  assert_true(isfinite(short_runs.sampen) && isfinite(short_runs.alpha1));
  assert_true(isfinite(short_runs.alpha2));
  for (int64_t i = 0; i < n; i++) {
    v[i].joined = i % 23 != 0;
  }
  assert_true(isnan(measure(&usual, n).alpha2));
  for (int64_t i = 0; i < n; i++) {
    v[i].joined = i < n / 3 || i % 10 != 0; /* boxes of 11 cover a third */
  }
  assert_true(isnan(measure(&usual, n).alpha1) && isnan(measure(&usual, n).alpha2));
}

static void too_little_is_nan(void **state)
{
  (void)state;
  for (int64_t n = 0; n < 5; n++) {
    const ps_hrv_nonlinear out = measure(&usual, make_runs(1, n, 0));

    assert_int_equal(isnan(out.sd1), n < 3);
    assert_int_equal(isnan(out.ellipse), n < 3);
    assert_true(isnan(out.apen) && isnan(out.sampen) && isnan(out.mse[0]) && isnan(out.mse_ci));
    assert_true(isnan(out.alpha1) && isnan(out.alpha2));
  }
  /* 100 templates of 3; four boxes of 11; sizes from 12 to twice as much in a tenth. */
  assert_true(isnan(measure(&usual, make_runs(1, 101, 0)).sampen));
  assert_true(isfinite(measure(&usual, make_runs(1, 102, 0)).sampen));
  assert_true(isnan(measure(&usual, make_runs(1, 102, 0)).mse[1]));
  assert_true(isnan(measure(&usual, make_runs(1, 43, 0)).alpha1));
  assert_true(isfinite(measure(&usual, make_runs(1, 44, 0)).alpha1));
  assert_true(isnan(measure(&usual, make_runs(1, 239, 0)).alpha2));
  assert_true(isfinite(measure(&usual, make_runs(1, 240, 0)).alpha2));
  const int64_t n = make_runs(1, 400, 0);

  v[200].length = NAN;
  const ps_hrv_nonlinear out = measure(&usual, n);

  assert_true(isnan(out.sd1) && isnan(out.sampen) && isnan(out.apen) && isnan(out.alpha1));
  v[200].counts = false; /* it does not enter */
  assert_true(isfinite(measure(&usual, n).sampen));
}

/* No template of 2 is repeated in a series that grows: there is nothing to compare. */
static void without_matches_there_is_no_entropy(void **state)
{
  static double x[300];

  (void)state;
  for (int64_t i = 0; i < 300; i++) {
    x[i] = 700 + (double)i;
  }
  set(x, 300);
  ps_hrv_opts opts = usual;

  opts.entropy.r = 1e-3;
  assert_true(isnan(measure(&opts, 300).sampen));
  assert_true(isnan(measure(&opts, 300).apen));
}

/* NeuroKit2 0.3.0: hrv_nonlinear of these intervals at 1000 Hz (SD1, SD2, SD1SD2, S, ApEn, SampEn),
 * entropy_multiscale (Value), and fractal_dfa with overlap=False. */
static void neurokit2_says_the_same(void **state)
{
  static const double mse[5] = {0.8193138850173611, 1.066177012914956, 0.8054281390623453,
                                0.968250470804866, 0.8954694040605695};
  static double x[600];
  ps_hrv_opts opts = usual;

  (void)state;
  for (int64_t i = 0; i < 600; i++) {
    x[i] = (double)(800 + (i * i * 7919 + i * 104729) % 97 + 40 * ((i / 50) % 3));
  }
  set(x, 600);
  opts.dfa.ratio = 1;
  const ps_hrv_nonlinear out = measure(&opts, 600);

  assert_near(out.sd1, 30.359861278962573, 1e-12);
  assert_near(out.sd2, 52.66120205190041, 1e-12);
  assert_near(out.sd_ratio, 0.5765128803752204, 1e-12);
  assert_near(out.ellipse, 5022.736831227364, 1e-12);
  assert_near(out.apen, 0.6707700549877789, 1e-12);
  assert_near(out.sampen, 0.8193138850173611, 1e-12);
  for (int k = 0; k < 5; k++) {
    assert_near(out.mse[k], mse[k], 1e-12);
  }
  assert_near(out.alpha1, 0.5629645354016206, 1e-9);
  assert_near(out.alpha2, 1.1318526191646596, 1e-9);
}

static void sizes_that_do_not_ascend_are_refused(void **state)
{
  ps_hrv_opts opts = usual;

  (void)state;
  assert_ok(ps_hrv_check("nn", &opts));
  opts.dfa.short_max = 4;
  assert_int_equal(ps_hrv_check("nn", &opts), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "nn.dfa.short_max"));
  opts.dfa.short_max = 11;
  opts.dfa.long_max = 12;
  assert_int_equal(ps_hrv_check("nn", &opts), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "nn.dfa.long_max"));
  assert_int_equal(weir_opts_incomplete(ps_hrv_entropy_options), 0);
  assert_int_equal(weir_opts_incomplete(ps_hrv_dfa_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entropies_are_what_their_definitions_say),
      cmocka_unit_test(white_noise_has_its_entropy_on_every_scale),
      cmocka_unit_test(regular_series_have_no_entropy),
      cmocka_unit_test(poincare_is_what_its_definition_says),
      cmocka_unit_test(an_alternation_has_no_sd2),
      cmocka_unit_test(exponents_are_what_their_definitions_say),
      cmocka_unit_test(noises_have_their_exponents),
      cmocka_unit_test(nothing_crosses_a_break),
      cmocka_unit_test(too_little_is_nan),
      cmocka_unit_test(without_matches_there_is_no_entropy),
      cmocka_unit_test(neurokit2_says_the_same),
      cmocka_unit_test(sizes_that_do_not_ascend_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
