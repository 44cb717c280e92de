/* sqi_test.c - measures of quality against plain sums over each window, clean signals against noisy
 * ones, and what may come in. */
#include "data/synth.h"
#include "step/sqi/quality.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_sqi, ps_step_detect;

#define TWO_PI 6.283185307179586476925286766559

/* Power of the band by its definition. */
static double plain_band(const double *y, int64_t n, double rate, double lo, double hi)
{
  double sum = 0;

  for (int64_t k = 0; (double)k * rate <= (hi + 1e-9) * (double)n; k++) {
    double re = 0, im = 0;

    if ((double)k * rate < (lo - 1e-9) * (double)n) {
      continue;
    }
    for (int64_t i = 0; i < n; i++) {
      re += y[i] * cos(TWO_PI * (double)(k * i % n) / (double)n);
      im += y[i] * sin(TWO_PI * (double)(k * i % n) / (double)n);
    }
    sum += re * re + im * im;
  }
  return sum;
}

static ps_quality plain(const step_signal *in, int64_t lo, int64_t n, int64_t match)
{
  const double rate = (double)in->rate_num / (double)in->rate_den;
  double *y = calloc((size_t)n, sizeof *y), sum = 0, m2 = 0, m4 = 0;
  uint8_t *used = calloc((size_t)n, 1);
  int64_t count = 0, a = 0, b = 0, both = 0;
  ps_quality q = {0};

  assert_non_null(y);
  assert_non_null(used);
  for (int64_t i = 0; i < n; i++) {
    if (lo + i >= 0 && in->present[lo + i]) {
      sum += (double)in->x[lo + i];
      count++;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    y[i] = lo + i >= 0 && in->present[lo + i] ? (double)in->x[lo + i] - sum / (double)count : 0;
    m2 += y[i] * y[i] / (double)count;
    m4 += y[i] * y[i] * y[i] * y[i] / (double)count;
  }
  q.k = m4 / (m2 * m2);
  q.p = plain_band(y, n, rate, 5, 15) / plain_band(y, n, rate, 5, 40);
  q.bas = 1 - plain_band(y, n, rate, 0, 1) / plain_band(y, n, rate, 0, 40);
  for (int64_t i = 0; i < n; i++) {
    a += lo + i >= 0 && in[1].present[lo + i];
    b += lo + i >= 0 && in[2].present[lo + i];
    for (int64_t j = 0; lo + i >= 0 && in[1].present[lo + i] && j < n; j++) {
      if (lo + j >= 0 && in[2].present[lo + j] && !used[j] && llabs(i - j) <= match) {
        used[j] = 1;
        both++;
        break;
      }
    }
  }
  q.q = a + b > 0 ? 2 * (double)both / (double)(a + b) : 0;
  free(y);
  free(used);
  return q;
}

/* A random signal with gaps, and two sets of beats. */
static void draw(uint64_t seed, int64_t n, int64_t rate_num, int64_t rate_den, step_signal *in)
{
  for (int k = 0; k < 3; k++) {
    in[k] = step_signal_new(n, rate_num, rate_den);
  }
  for (int64_t t = 0; t < n; t++) {
    const double wave = sin((double)t * 0.05) + 0.3 * sin((double)t * 0.9);

    in[0].x[t] = (float)(wave + weir_random_normal(seed, 1, 0, (uint64_t)t));
    in[0].present[t] = (t / 37) % 9 != 3 && (t < n / 2 || t > n / 2 + 700);
    for (uint32_t k = 1; k < 3; k++) {
      in[k].present[t] = weir_random_bits(seed, 1 + k, 0, (uint64_t)t) % 60 == 0;
      in[k].x[t] = 1;
    }
  }
}

static void free_all(step_signal *in)
{
  for (int k = 0; k < 3; k++) {
    step_signal_free(&in[k]);
  }
}

static void windows_have_the_measures_of_their_samples(void **state)
{
  static const struct {
    int64_t num, den, window, hop;
    const char *sets[5];
  } cases[] = {
      {100, 1, 400, 400, {"window=4", "hop=4", NULL}},
      {100, 1, 300, 50, {"window=3", "hop=0.5", "match=0.1", NULL}},
      {250, 3, 500, 250, {"window=6", "hop=3", NULL}},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const int64_t match =
        c == 1 ? 10 : (int64_t)(0.15 * (double)cases[c].num / (double)cases[c].den);
    step_signal in[3];
    step_result r;
    int seen = 0;

    draw(c, 3210, cases[c].num, cases[c].den, in);
    step_check_chunks(&ps_step_sqi, cases[c].sets, in, 3, &r);
    for (int64_t k = 0; k < step_get(&r, "class")->n; k++) {
      const int64_t border = (k + 1) * cases[c].hop, hi = border < in[0].n ? border : in[0].n;
      int64_t there = 0;

      for (int64_t t = hi - cases[c].window; t < hi; t++) {
        there += t >= 0 && in[0].present[t];
      }
      assert_int_equal(step_get(&r, "class")->present[k], there * 10 >= cases[c].window * 8);
      if (step_get(&r, "class")->present[k] && (c != 1 || k % 7 == 0)) {
        const ps_quality q = plain(in, hi - cases[c].window, cases[c].window, match);

        seen++;
        assert_true(weir_near((double)step_get(&r, "qsqi")->x[k], q.q, 1e-6));
        assert_true(weir_near((double)step_get(&r, "psqi")->x[k], q.p, 1e-6));
        assert_true(weir_near((double)step_get(&r, "ksqi")->x[k], q.k, 1e-6));
        assert_true(weir_near((double)step_get(&r, "bassqi")->x[k], q.bas, 1e-6));
      }
    }
    assert_true(seen > 2);
    step_result_free(&r);
    free_all(in);
  }
}

static void long_windows_do_not_lose_digits(void **state)
{
  enum { N = 40000 };
  uint8_t *bits = malloc(N);
  float *x = malloc(N * sizeof *x);
  double *scratch = malloc((size_t)ps_quality_scratch(N, 4000) * sizeof *scratch);

  assert_true(bits != NULL && x != NULL && scratch != NULL);
  for (int64_t i = 0; i < N; i++) {
    bits[i] = PS_QUALITY_PRESENT;
    x[i] = (float)(100 + 8 * cos(TWO_PI * 3 * (double)i / N) +
                   4 * cos(TWO_PI * 100 * (double)i / N) + 2 * cos(TWO_PI * 300 * (double)i / N));
  }
  /* 0.3, 10 and 30 Hz with powers 64 : 16 : 4 */
  const ps_quality q = ps_quality_of(x, bits, N, 4000, 10, scratch);

  assert_true(weir_near(q.p, 16.0 / 20, 1e-6));
  assert_true(weir_near(q.bas, 20.0 / 84, 1e-6));
  free(bits);
  free(x);
  free(scratch);
}

/* k of N values, all present. */
static double kurtosis_of(const float *x, int64_t n)
{
  uint8_t *bits = malloc((size_t)n);
  double *scratch = malloc((size_t)ps_quality_scratch(n, 250) * sizeof *scratch);

  assert_true(bits != NULL && scratch != NULL);
  memset(bits, PS_QUALITY_PRESENT, (size_t)n);
  const double k = ps_quality_of(x, bits, n, 250, 10, scratch).k;

  free(bits);
  free(scratch);
  return k;
}

/* The fourth moment over the square of the second: 1 of two values, 3/2 of a sine, 9/5 of a uniform
 * distribution, 3 of a normal one, 6 of Laplace's; their variance and mean do not matter. */
static void kurtosis_of_known_distributions(void **state)
{
  enum { N = 40000 };
  float *x = malloc(5 * N * sizeof *x);

  (void)state;
  assert_non_null(x);
  for (int64_t i = 0; i < N; i++) {
    const double u = ((double)i + 0.5) / N, sign = i % 2 ? 1 : -1;

    x[i] = (float)(2 + sign);
    x[N + i] = (float)(7 * sin(TWO_PI * 100 * u));
    x[2 * N + i] = (float)(5 + u);
    x[3 * N + i] = (float)(0.3 * weir_random_normal(3, 1, 0, (uint64_t)i) - 1);
    x[4 * N + i] = (float)(sign * log(u));
  }
  assert_true(weir_near(kurtosis_of(x, N), 1, 1e-6));
  assert_true(weir_near(kurtosis_of(x + N, N), 1.5, 1e-6));
  assert_true(weir_near(kurtosis_of(x + 2 * N, N), 1.8, 1e-6));
  assert_true(fabs(kurtosis_of(x + 3 * N, N) - 3) < 4 * sqrt(24.0 / N));
  assert_true(weir_near(kurtosis_of(x + 4 * N, N), 6, 0.02));
  free(x);
}

static void classes_follow_the_rule(void **state)
{
  static const struct {
    ps_quality q;
    ps_quality_class wanted;
  } cases[] = {
      {{.q = 0.95, .p = 0.6, .k = 6, .bas = 0.96}, PS_QUALITY_EXCELLENT},
      {{.q = 0.95, .p = 0.6, .k = 6, .bas = 0.92}, PS_QUALITY_EXCELLENT},
      {{.q = 0.8, .p = 0.6, .k = 6, .bas = 0.92}, PS_QUALITY_BARELY_ACCEPTABLE},
      {{.q = 0.95, .p = 0.6, .k = 4, .bas = 0.96}, PS_QUALITY_BARELY_ACCEPTABLE},
      {{.q = 0.8, .p = 0.45, .k = 4, .bas = 0.92}, PS_QUALITY_UNACCEPTABLE},
      {{.q = 0.8, .p = 0.6, .k = 4, .bas = 0.5}, PS_QUALITY_UNACCEPTABLE},
      {{.q = 0.95, .p = 0.6, .k = 4, .bas = 0.5}, PS_QUALITY_BARELY_ACCEPTABLE},
      {{.q = 0.5, .p = 0.9, .k = 4, .bas = 0.96}, PS_QUALITY_UNACCEPTABLE},
      {{.q = 0.95, .p = 0.75, .k = 6, .bas = 0.92, .rate = 100}, PS_QUALITY_EXCELLENT},
      {{.q = 0.95, .p = 0.75, .k = 6, .bas = 0.92, .rate = 140}, PS_QUALITY_BARELY_ACCEPTABLE},
      {{.q = 0, .p = 0, .k = 0, .bas = 0}, PS_QUALITY_UNACCEPTABLE},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(ps_quality_classify(&cases[i].q), cases[i].wanted);
  }
}

/* Windows of each class on a signal with noise (of that deviation, mV) and a swing, free `x`. */
static void judge(step_signal x, double noise, double swing, int64_t *n)
{
  static const char *const second[] = {"method=elgendi", NULL};
  step_signal in[3] = {x};
  step_result beats[2], r;

  for (int64_t t = 0; t < x.n; t++) {
    x.x[t] += (float)(noise * weir_random_normal(7, 5, 0, (uint64_t)t) +
                      swing * sin(TWO_PI * 0.2 * (double)(t * x.rate_den) / (double)x.rate_num));
  }
  in[0].unit = "mV";
  for (int k = 0; k < 2; k++) {
    step_run(&ps_step_detect, k ? second : NULL, in, 1, (step_how){0}, &beats[k]);
    const step_stream *beat = step_get(&beats[k], "beat");

    in[1 + k] = (step_signal){beat->x, beat->present, x.n, x.rate_num, x.rate_den, NULL};
  }
  step_run(&ps_step_sqi, NULL, in, 3, (step_how){0}, &r);
  const step_stream *class = step_get(&r, "class");

  memset(n, 0, 3 * sizeof *n);
  for (int64_t k = 0; k < class->n; k++) {
    assert_int_equal(class->present[k], 1);
    n[(int)class->x[k]]++;
  }
  print_message("noise %g, swing %g: q %.3f p %.3f k %.2f bas %.3f ...; %d excellent, %d barely "
                "acceptable, %d unacceptable\n",
                noise, swing, (double)step_get(&r, "qsqi")->x[1],
                (double)step_get(&r, "psqi")->x[1], (double)step_get(&r, "ksqi")->x[1],
                (double)step_get(&r, "bassqi")->x[1], (int)n[0], (int)n[1], (int)n[2]);
  step_result_free(&r);
  for (int k = 0; k < 2; k++) {
    step_result_free(&beats[k]);
  }
  step_signal_free(&x);
}

/* A minute of a model whose waves are smooth: little above 15 Hz, so that a clean one is not
 * excellent by the rule. */
static step_signal model(void)
{
  step_signal s = step_signal_new(15000, 250, 1);
  ps_synth_opts how;
  ps_synth *synth = NULL;

  weir_opts_default(ps_synth_options, sizeof how, &how);
  how.model.rate = 250;
  how.duration = 60;
  how.gaps = (ps_gap_opts){.missing = 0, .mean = 1};
  assert_ok(ps_synth_create(&how, 1, &synth));
  ps_synth_chunk(synth, s.n, s.x, s.present, NULL, NULL);
  ps_synth_destroy(&synth);
  return s;
}

static void noise_and_wander_make_a_model_unacceptable(void **state)
{
  int64_t clean[3], noisy[3], swinging[3];

  judge(model(), 0, 0, clean);
  judge(model(), 1, 0, noisy);
  judge(model(), 0.5, 3, swinging);
  assert_true(clean[PS_QUALITY_UNACCEPTABLE] < 6);
  assert_int_equal(noisy[PS_QUALITY_EXCELLENT], 0);
  assert_int_equal(swinging[PS_QUALITY_UNACCEPTABLE], 6);
}

static void a_clean_recording_is_excellent_until_it_is_spoilt(void **state)
{
  static const char where[] = "wfdb/mitdb/100";
  int64_t clean[3], noisy[3], swinging[3];
  step_signal s;

  step_read(where, 0, 43200, &s);
  judge(s, 0, 0, clean);
  step_read(where, 0, 43200, &s);
  judge(s, 0.5, 0, noisy);
  step_read(where, 0, 43200, &s);
  judge(s, 0.5, 2, swinging);
  assert_true(clean[PS_QUALITY_EXCELLENT] >= 10);
  assert_int_equal(clean[PS_QUALITY_UNACCEPTABLE], 0);
  assert_int_equal(noisy[PS_QUALITY_EXCELLENT], 0);
  assert_int_equal(swinging[PS_QUALITY_UNACCEPTABLE], 12);
}

static void flat_lines_are_unacceptable_and_absent_ones_have_no_class(void **state)
{
  for (int k = 0; k < 2; k++) {
    step_signal in[3];
    step_result r;

    for (int j = 0; j < 3; j++) {
      in[j] = step_signal_new(2500, 100, 1);
      memset(in[j].present, j == 0 && k == 0, 2500);
    }
    for (int64_t t = 0; t < 2500; t++) {
      in[0].x[t] = 0.1f;
    }
    step_check_chunks(&ps_step_sqi, NULL, in, 3, &r);
    assert_int_equal(step_get(&r, "class")->n, 3);
    assert_int_equal(step_count(step_get(&r, "class")), k == 0 ? 3 : 0);
    for (int64_t i = 0; i < 3 && k == 0; i++) {
      assert_true(step_get(&r, "class")->x[i] == PS_QUALITY_UNACCEPTABLE);
      assert_true(step_get(&r, "bassqi")->x[i] == 0);
    }
    step_result_free(&r);
    free_all(in);
  }
}

static void no_input_upsets_it(void **state)
{
  static const char *const sets[] = {"window=3", "hop=0.5", "present=0.1", NULL};

  for (uint64_t seed = 0; seed < 6; seed++) {
    step_signal in[3];
    step_result r;

    for (uint64_t k = 0; k < 3; k++) {
      in[k] = step_signal_new(4000, 100, 1);
      step_garbage(&in[k], seed + 10 * k, 1.0);
    }
    step_check_chunks(&ps_step_sqi, sets, in, 3, &r);
    assert_true(step_is_sound(&r));
    assert_true(step_count(step_get(&r, "class")) > 0);
    step_result_free(&r);
    free_all(in);
  }
}

static void what_cannot_be_rated_is_refused(void **state)
{
  static const char *const sets[][3] = {{"hop=20", NULL}, {"window=10.005", NULL}, {NULL}};
  step_signal in[3];
  step_frame f;

  for (int c = 0; c < 5; c++) {
    for (int k = 0; k < 3; k++) {
      in[k] = step_signal_new(1, c == 2 ? 50 : c == 3 && k == 2 ? 200 : 100, 1);
    }
    in[0].unit = c == 4 ? "mmHg" : "mV";
    assert_int_equal(step_build(&ps_step_sqi, sets[c < 2 ? c : 2], in, 3, &f), WEIR_ERR_CONFIG);
    step_frame_fini(&f);
    free_all(in);
  }
  assert_int_equal(weir_opts_incomplete(ps_step_sqi.opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_have_the_measures_of_their_samples),
      cmocka_unit_test(long_windows_do_not_lose_digits),
      cmocka_unit_test(kurtosis_of_known_distributions),
      cmocka_unit_test(classes_follow_the_rule),
      cmocka_unit_test(noise_and_wander_make_a_model_unacceptable),
      cmocka_unit_test(a_clean_recording_is_excellent_until_it_is_spoilt),
      cmocka_unit_test(flat_lines_are_unacceptable_and_absent_ones_have_no_class),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_cannot_be_rated_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
