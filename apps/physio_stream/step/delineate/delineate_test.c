/* delineate_test.c - waves whose places are known, in one lead and in twelve, at any rate, next to
 * gaps, and of anything. */
#include "data/ecgsyn.h"
#include "step/delineate/waves.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_delineate;

/* A beat: Gaussian waves, mV, and s from the R wave and of their width. */
typedef struct bump {
  double height, at, width;
} bump;
enum { P_BUMP, Q_BUMP, R_BUMP, S_BUMP, T_BUMP, BUMPS };
static const bump usual[BUMPS] = {{0.15, -0.17, 0.022},
                                  {-0.2, -0.03, 0.008},
                                  {1.2, 0, 0.011},
                                  {-0.25, 0.028, 0.009},
                                  {0.3, 0.29, 0.045}};

/* Beats every rr s from 1 s on; in[0]: the signal, in[1]: the intervals. */
static void simulate(int64_t seconds, int64_t rate, double rr, const bump *bumps, step_signal in[2])
{
  for (int k = 0; k < 2; k++) {
    in[k] = step_signal_new(seconds * rate, rate, 1);
    in[k].unit = k == 0 ? "mV" : "s";
  }
  memset(in[1].present, 0, (size_t)in[1].n);
  for (double t = 1; t < (double)seconds - 1; t += rr) {
    const int64_t r = (int64_t)floor(t * (double)rate + 0.5);

    in[1].present[r] = 1;
    in[1].x[r] = (float)rr;
    for (int64_t i = r - rate / 2; i < r + rate * 3 / 4; i++) {
      for (int k = 0; k < BUMPS && i >= 0 && i < in[0].n; k++) {
        const double u = ((double)(i - r) / (double)rate - bumps[k].at) / bumps[k].width;

        in[0].x[i] += (float)(bumps[k].height * exp(-u * u / 2));
      }
    }
  }
}

static void free_all(step_signal *in, int n)
{
  for (int k = 0; k < n; k++) {
    step_signal_free(&in[k]);
  }
}

/* The mean of a result over at least `least` beats, which all are within `spread` of it. */
static double mean_of(const step_result *r, const char *name, int64_t least, double spread)
{
  const step_stream *s = step_get(r, name);
  double sum = 0;

  for (int64_t t = 0; t < s->n; t++) {
    sum += (double)s->x[t];
  }
  const double mean = sum / (double)step_count(s);

  assert_true(step_count(s) >= least);
  for (int64_t t = 0; t < s->n; t++) {
    assert_true(!s->present[t] || fabs((double)s->x[t] - mean) <= spread);
  }
  return mean;
}

/* Peaks are where they are; the borders of Gaussian waves lie where their slope has fallen to the
 * share, of the wave and the filter together, as at 1000 Hz. */
static void waves_are_found_at_any_rate(void **state)
{
  static const int64_t rates[] = {1000, 500, 360, 250, 200};
  static const char *const names[] = {"p_on", "p_off", "qrs_on", "qrs_off", "t_off"};
  double at_1000[5];

  for (int i = 0; i < 5; i++) {
    step_signal in[2];
    step_result r;

    simulate(20, rates[i], 0.8, usual, in);
    step_check_chunks(&ps_step_delineate, NULL, in, 2, &r);
    assert_near(mean_of(&r, "p", 22, 0.003), usual[P_BUMP].at, 0.002);
    assert_near(mean_of(&r, "t", 22, 0.003), usual[T_BUMP].at, 0.002);
    for (int k = 0; k < 5; k++) {
      const double mean = mean_of(&r, names[k], 22, 0.005);

      at_1000[k] = i == 0 ? mean : at_1000[k];
      assert_near(mean, at_1000[k], 0.006);
    }
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* The slope u exp(-u^2 / 2) of a Gaussian has fallen to 0.5 of its largest at u = 1.9216 from the
 * peak, to 0.4 at 2.0709 and to 0.9 at 1.3404. Its width is that of the wave and of the filter,
 * four sums of d = 32 samples: sqrt(width^2 + d^2 / 3). */
static void borders_are_where_slopes_have_fallen(void **state)
{
  static const bump apart[BUMPS] = {
      {0.2, -0.22, 0.02}, {0, 0, 1}, {1, 0, 0.01}, {0, 0, 1}, {0.3, 0.35, 0.05}};
  step_signal in[2];
  step_result r;

  simulate(20, 1000, 1, apart, in);
  step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
  const double p = sqrt(0.02 * 0.02 + 0.032 * 0.032 / 3);
  const double t = sqrt(0.05 * 0.05 + 0.032 * 0.032 / 3);

  assert_near(mean_of(&r, "p_on", 16, 1e-4), -0.22 - 1.9216 * p, 0.002);
  assert_near(mean_of(&r, "p_off", 16, 1e-4), -0.22 + 1.3404 * p, 0.002);
  assert_near(mean_of(&r, "t_off", 16, 1e-4), 0.35 + 2.0709 * t, 0.002);
  step_result_free(&r);
  free_all(in, 2);
}

/* A T wave that comes later by so much makes QT longer by as much. */
static void qt_follows_the_t_wave(void **state)
{
  double first = 0;

  for (int k = 0; k < 4; k++) {
    bump bumps[BUMPS];
    step_signal in[2];
    step_result r;

    memcpy(bumps, usual, sizeof usual);
    bumps[T_BUMP].at += 0.02 * k;
    bumps[T_BUMP].height *= k == 3 ? -1 : 1; /* inverted */
    simulate(20, 500, 0.9, bumps, in);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    const double qt = mean_of(&r, "qt", 19, 0.003);

    first = k == 0 ? qt : first;
    assert_near(qt - first, 0.02 * k, 0.001);
    assert_near(mean_of(&r, "bazett", 19, 0.003), qt / sqrt(0.9), 1e-6);
    assert_near(mean_of(&r, "fridericia", 19, 0.003), qt / cbrt(0.9), 1e-6);
    assert_near(mean_of(&r, "framingham", 19, 0.003), qt + 0.154 * 0.1, 1e-6);
    assert_near(mean_of(&r, "hodges", 19, 0.003), qt + 0.00175 * (60 / 0.9 - 60), 1e-6);
    assert_near(mean_of(&r, "qrs", 19, 0.003),
                mean_of(&r, "qrs_off", 19, 0.003) - mean_of(&r, "qrs_on", 19, 0.003), 1e-6);
    assert_near(mean_of(&r, "pr", 19, 0.003),
                mean_of(&r, "qrs_on", 19, 0.003) - mean_of(&r, "p_on", 19, 0.003), 1e-6);
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* The model's waves are where its point passes their angles, less how far the baseline pulls. */
static void waves_of_the_model_are_found(void **state)
{
  static const ps_wave waves[] = {PS_WAVE_P, PS_WAVE_T};
  static const char *const names[] = {"p", "t"};
  step_signal in[2] = {step_signal_new(30000, 250, 1), step_signal_new(30000, 250, 1)};
  ps_ecgsyn *gen = NULL;
  ps_ecgsyn_opts o;
  int64_t n = 0, last = -1;
  step_result r;

  weir_opts_default(ps_ecgsyn_options, sizeof o, &o);
  o.rate = 250;
  o.heart_rate = 72;
  o.heart_rate_std = 3;
  assert_ok(ps_ecgsyn_create(&o, 5, &gen));
  ps_mark *marks = calloc((size_t)ps_ecgsyn_capacity(gen, 30000), sizeof *marks);

  assert_non_null(marks);
  ps_ecgsyn_chunk(gen, 30000, in[0].x, marks, &n);
  memset(in[1].present, 0, 30000);
  in[0].unit = "mV";
  in[1].unit = "s";
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = (int64_t)floor(marks[i].sample + 0.5);

    if (marks[i].wave == PS_WAVE_R && at < 30000) {
      in[1].present[at] = last >= 0;
      in[1].x[at] = (float)(at - last) / 250;
      last = at;
    }
  }
  step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
  for (int k = 0; k < 2; k++) {
    const step_stream *s = step_get(&r, names[k]);

    assert_true(step_count(s) >= step_count(step_get(&r, "qrs")) - 2);
    for (int64_t t = 0; t < s->n; t++) {
      double nearest = 1;

      for (int64_t i = 0; i < n && s->present[t]; i++) {
        const double off = (double)t / 250 + (double)s->x[t] - marks[i].sample / 250;

        nearest = marks[i].wave == waves[k] ? fmin(nearest, fabs(off)) : nearest;
      }
      assert_true(!s->present[t] || nearest < 0.006);
    }
  }
  free(marks);
  ps_ecgsyn_destroy(&gen);
  step_result_free(&r);
  free_all(in, 2);
}

static double combined(ps_mark_kind kind, const double *marks, int n, int agree)
{
  double copy[12];

  memcpy(copy, marks, (size_t)n * sizeof *copy);
  return ps_waves_combine(kind, copy, n, agree, 0.012);
}

static void leads_are_combined_as_stated(void **state)
{
  static const double marks[6] = {-0.09, NAN, -0.05, -0.048, -0.044, -0.039};

  assert_near(combined(PS_QRS_ON, marks, 6, 3), -0.05, 1e-12);  /* three follow within 12 ms */
  assert_near(combined(PS_QRS_ON, marks, 6, 4), -0.048, 1e-12); /* none has four: median     */
  assert_near(combined(PS_QRS_ON, marks, 6, 0), -0.09, 1e-12);  /* the first                 */
  assert_near(combined(PS_T_OFF, marks, 6, 3), -0.039, 1e-12);
  assert_near(combined(PS_T, marks, 6, 3), -0.048, 1e-12);
  assert_true(isnan(combined(PS_T, marks + 1, 1, 0)));
}

/* Twelve leads, two of which are wrong: the others decide. In one, waves begin earlier, which no
 * other lead confirms. */
static void twelve_leads_are_judged_together(void **state)
{
  enum { LEADS = 12 };
  step_signal in[LEADS + 1], one[2];
  step_result alone, all;

  simulate(20, 500, 0.8, usual, one);
  step_run(&ps_step_delineate, NULL, one, 2, (step_how){0}, &alone);
  for (int k = 0; k < LEADS; k++) {
    bump bumps[BUMPS];
    step_signal own[2];

    memcpy(bumps, usual, sizeof usual);
    for (int b = 0; b < BUMPS; b++) {
      bumps[b].height *= (k % 2 == 0 ? 1 : -1) * (0.5 + 0.1 * k);
      bumps[b].at -= k == 3 && b != R_BUMP ? 0.03 : 0;
    }
    simulate(20, 500, 0.8, bumps, own);
    in[k] = own[0];
    step_signal_free(&own[1]);
    memset(in[k].present, k == 5 ? 0 : 1, (size_t)in[k].n); /* off */
  }
  in[LEADS] = one[1];
  step_check_chunks(&ps_step_delineate, NULL, in, LEADS + 1, &all);
  for (int k = 0; k < all.n; k++) {
    assert_near(mean_of(&all, all.out[k].name, 22, 0.003),
                mean_of(&alone, alone.out[k].name, 22, 0.003), 0.002);
  }
  step_result_free(&alone);
  step_result_free(&all);
  free_all(in, LEADS + 1);
  step_signal_free(&one[0]);
}

/* Waves in a gap are not there; those of other beats stay as they are. */
static void nothing_is_found_in_gaps(void **state)
{
  step_signal in[2];
  step_result clean, gaps;

  simulate(20, 250, 1, usual, in);
  step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &clean);
  for (int64_t t = 0; t < in[0].n; t++) {
    const int64_t beat = (t + 125) / 250, since = t - beat * 250;

    in[0].present[t] &= !((beat == 5 && since > 60 && since < 70) ||
                          (beat == 9 && since > -50 && since < -40) || beat == 12);
  }
  step_check_chunks(&ps_step_delineate, NULL, in, 2, &gaps);
  for (int64_t beat = 2; beat < 18; beat++) {
    const int64_t t = beat * 250;

    assert_int_equal(step_get(&gaps, "qt")->present[t], beat != 5 && beat != 11 && beat != 12);
    assert_int_equal(step_get(&gaps, "p")->present[t], beat != 9 && beat != 12);
    assert_int_equal(step_get(&gaps, "qrs")->present[t], beat != 12);
    assert_true(step_get(&gaps, "p")->present[t] == 0 ||
                fabsf(step_get(&gaps, "p")->x[t] - step_get(&clean, "p")->x[t]) < 0.002f);
  }
  step_result_free(&clean);
  step_result_free(&gaps);
  free_all(in, 2);
}

static void no_input_upsets_it(void **state)
{
  static const char *const sets[] = {"agree=1", NULL};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    step_signal in[3] = {step_signal_new(4000, 100, 1), step_signal_new(4000, 100, 1),
                         step_signal_new(4000, 100, 1)};
    step_result r;

    for (int k = 0; k < 3; k++) {
      step_garbage(&in[k], seed + 10 * (uint64_t)k, 1);
      in[k].unit = k < 2 ? "mV" : "s";
    }
    for (int64_t t = 0; t < 4000; t++) {
      in[2].present[t] &= weir_random_bits(seed, 51, 0, (uint64_t)t) % 40 == 0;
    }
    step_check_chunks(&ps_step_delineate, sets, in, 3, &r);
    assert_true(step_is_sound(&r));
    seen += step_count_all(&r);
    step_result_free(&r);
    free_all(in, 3);
  }
  assert_true(seen > 0);
}

static void what_it_cannot_measure_is_refused(void **state)
{
  step_signal in[2] = {step_signal_new(10, 50, 1), step_signal_new(10, 50, 1)};
  step_frame f;

  in[0].unit = "mmHg";
  in[1].unit = "s";
  assert_int_equal(step_build(&ps_step_delineate, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "mmHg"));
  step_frame_fini(&f);
  in[0].unit = "mV";
  in[1].unit = "mV";
  assert_int_equal(step_build(&ps_step_delineate, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  in[1].unit = "s";
  in[1].rate_num = 25;
  assert_int_equal(step_build(&ps_step_delineate, NULL, in, 2, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_delineate.opts), 0);
  free_all(in, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waves_are_found_at_any_rate),
      cmocka_unit_test(borders_are_where_slopes_have_fallen),
      cmocka_unit_test(qt_follows_the_t_wave),
      cmocka_unit_test(waves_of_the_model_are_found),
      cmocka_unit_test(leads_are_combined_as_stated),
      cmocka_unit_test(twelve_leads_are_judged_together),
      cmocka_unit_test(nothing_is_found_in_gaps),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_it_cannot_measure_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
