/* delineate_test.c - waves whose places are known, at any rate, in noise, next to gaps, and of
 * anything. */
#include "base/weir_random.h"
#include "data/ecgsyn.h"
#include "step/delineate/waves.h"
#include "support/physio_stream/waves_check.h"

extern const weir_series_op ps_step_delineate;

/* Peaks are where they are; the borders of Gaussian waves lie where their slope has fallen to the
 * share, of the wave and the filter together, as at 1000 Hz. */
static void waves_are_found_at_any_rate(void **state)
{
  static const int64_t rates[] = {1000, 500, 360, 250, 200};
  static const char *const names[] = {"p_on", "p_off", "qrs_on", "qrs_off", "t_on", "t_off"};
  double at_1000[6];

  for (int i = 0; i < 5; i++) {
    step_signal in[2];
    step_result r;

    simulate(20, rates[i], 0.8, usual, in);
    step_check_chunks(&ps_step_delineate, NULL, in, 2, &r);
    assert_near(mean_of(&r, "p", 22, 0.003), usual[P_BUMP].at, 0.002);
    assert_near(mean_of(&r, "t", 22, 0.003), usual[T_BUMP].at, 0.002);
    for (int k = 0; k < 6; k++) {
      const double mean = mean_of(&r, names[k], 22, 0.005);

      at_1000[k] = i == 0 ? mean : at_1000[k];
      assert_near(mean, at_1000[k], 0.006);
    }
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* The slope u exp(-u^2 / 2) of a Gaussian has fallen to 0.05 of its largest at u = 3.0351 from the
 * peak, to 0.125 at 2.6687, to 0.25 at 2.3393, to 0.4 at 2.0709, to 0.5 at 1.9216 and to 0.9 at
 * 1.3404. Its width is that of the wave and of the filter, four sums of d = 8 (QRS) or 32 samples:
 * sqrt(width^2 + d^2 / 3). */
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
  const double qrs = sqrt(0.01 * 0.01 + 0.008 * 0.008 / 3);

  assert_near(mean_of(&r, "p_on", 16, 1e-4), -0.22 - 1.9216 * p, 0.002);
  assert_near(mean_of(&r, "p_off", 16, 1e-4), -0.22 + 1.3404 * p, 0.002);
  assert_near(mean_of(&r, "qrs_on", 16, 1e-4), -3.0351 * qrs, 0.002);
  assert_near(mean_of(&r, "qrs_off", 16, 1e-4), 2.6687 * qrs, 0.002);
  assert_near(mean_of(&r, "t_on", 16, 1e-4), 0.35 - 2.3393 * t, 0.002);
  assert_near(mean_of(&r, "t_off", 16, 1e-4), 0.35 + 2.0709 * t, 0.002);
  step_result_free(&r);
  free_all(in, 2);
}

/* Slope at t of the waves after four sums of 8 ms, those of the scale of the QRS complex. */
static double slope_at(const bump *bumps, double t)
{
  double sum = 0;

  for (int k = 0; k < BUMPS; k++) {
    const double width = sqrt(bumps[k].width * bumps[k].width + 0.008 * 0.008 / 3);
    const double u = (t - bumps[k].at) / width;

    sum -= bumps[k].height * bumps[k].width / (width * width) * u * exp(-u * u / 2);
  }
  return sum;
}

/* The border of a QRS complex as the waves have it, `way` -1: before R, 1: after it: beyond the
 * outermost slope above `least` of the largest one, where it has fallen to `share`. */
static double true_border(const bump *bumps, int way, double least, double share)
{
  double most = 0, t = way * 0.1;

  for (double at = -0.1; at <= 0.1; at += 1e-5) {
    most = fmax(most, fabs(slope_at(bumps, at)));
  }
  while (fabs(slope_at(bumps, t)) <
         least * most) { /* the flank of the outermost wave that counts */
    t -= way * 1e-5;
  }
  while (fabs(slope_at(bumps, t - way * 1e-5)) > fabs(slope_at(bumps, t))) {
    t -= way * 1e-5;
  }
  const double top = fabs(slope_at(bumps, t));

  while (fabs(slope_at(bumps, t)) > share * top) {
    t += way * 1e-5;
  }
  return t;
}

/* Of Q, R and S waves that overlap, without noise and with white noise 20 dB below the signal. */
static void borders_of_a_complex_are_those_of_its_slopes(void **state)
{
  static const int64_t rates[] = {1000, 500, 250};
  const double on = true_border(usual, -1, 0.06, 0.05), off = true_border(usual, 1, 0.09, 0.125);

  for (int i = 0; i < 6; i++) { /* 75 and 50 beats a minute */
    step_signal in[2];
    step_result r;
    const int64_t least = i < 3 ? 33 : 22;
    double sd = 0;

    simulate(30, rates[i % 3], i < 3 ? 0.8 : 1.2, usual, in);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    assert_near(mean_of(&r, "qrs_on", least, 1e-4), on, 0.0015);
    assert_near(mean_of(&r, "qrs_off", least, 1e-4), off, 0.0015);
    step_result_free(&r);
    add_noise(&in[0], 0.02, 0);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    assert_near(median_of(&r, "qrs_on", least, &sd), on, 0.005); /* slopes of 5 % are lost */
    assert_true(sd < 0.005);
    assert_near(median_of(&r, "qrs_off", least, &sd), off, 0.002);
    assert_true(sd < 0.004);
    assert_near(median_of(&r, "t_on", least, &sd), 0.1761, 0.002); /* without noise */
    assert_true(sd < 0.008);
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* Between the P wave and a wide complex the slope hardly falls: a ripple of noise on the end of the
 * P wave is closer to the complex than 60 ms, but its largest slope is not. */
static void ripples_of_noise_do_not_join_the_p_wave_to_the_complex(void **state)
{
  static const bump wide[BUMPS] = {{0.28, -0.17, 0.028},
                                   {-0.17, -0.042, 0.014},
                                   {1.2, 0, 0.018},
                                   {-0.2, 0.045, 0.016},
                                   {0.3, 0.29, 0.045}};
  static const int64_t rates[] = {1000, 500, 250};

  for (int i = 0; i < 3; i++) {
    step_signal in[2];
    step_result r;
    double sd = 0;

    simulate(30, rates[i], 0.8, wide, in);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    const double clean = mean_of(&r, "qrs_on", 33, 1e-4);

    step_result_free(&r);
    add_noise(&in[0], 0.01, 0);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    assert_near(median_of(&r, "qrs_on", 33, &sd), clean, 0.01);
    assert_true(sd < 0.01);
    assert_true(step_count(step_get(&r, "p")) >= 33);
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* Waves like those that NeuroKit2 simulates, whose complex begins where the P wave ends and ends
 * where the T wave begins: without averaging, 7 to 10 of 70 onsets were those of the P wave in
 * noise of 0.02 mV, with a standard deviation of 20 ms. */
static void borders_are_steady_in_noise(void **state)
{
  static const bump merged[BUMPS] = {{0.2, -0.17, 0.036},
                                     {-0.2, -0.04, 0.0145},
                                     {1.2, 0, 0.0145},
                                     {-0.3, 0.04, 0.0145},
                                     {0.3, 0.24, 0.06}};
  static const char *const names[] = {"p_on", "qrs_on", "qrs_off", "t_on", "t_off"};
  static const char *const each_alone[] = {"beats=1", NULL};
  static const double most[2][5] = {{0.008, 0.006, 0.004, 0.011, 0.01},
                                    {0.016, 0.012, 0.007, 0.021, 0.025}};

  for (int i = 0; i < 4; i++) { /* 500 and 250 Hz, noise of 0.02 and 0.05 mV */
    step_signal in[2];
    step_result r;
    double clean[5], sd = 0;

    simulate(58, i % 2 == 0 ? 500 : 250, 0.8, merged, in);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    for (int k = 0; k < 5; k++) {
      clean[k] = mean_of(&r, names[k], 70, 0.001);
    }
    step_result_free(&r);
    add_noise(&in[0], i < 2 ? 0.02 : 0.05, i);
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    for (int k = 0; k < 5; k++) {
      assert_near(median_of(&r, names[k], i < 2 ? 70 : 68, &sd), clean[k], 0.012);
      assert_true(sd <= most[i / 2][k]);
    }
    if (i == 0) { /* each beat alone varies more */
      step_result alone;
      double sd_alone = 0;

      median_of(&r, "qrs_on", 70, &sd);
      step_run(&ps_step_delineate, each_alone, in, 2, (step_how){0}, &alone);
      median_of(&alone, "qrs_on", 70, &sd_alone);
      assert_true(sd_alone > 1.5 * sd);
      step_result_free(&alone);
    }
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* After the last beat a detector that lowers its thresholds takes noise for R waves: they have no
 * complex. */
static void noise_has_no_complex(void **state)
{
  step_signal in[2];
  step_result r;

  for (int64_t rate = 250; rate <= 500; rate += 250) {
    simulate(90, rate, 0.8, usual, in);
    for (int64_t t = 30 * rate; t < in[0].n; t++) {
      in[0].x[t] = 0;
      in[1].present[t] = 0;
    }
    for (int64_t t = 0; t < in[0].n; t++) {
      in[0].x[t] += (float)(0.015 * weir_random_normal(7, 64, (uint32_t)rate, (uint64_t)t));
    }
    for (int64_t at = 32 * rate; at < in[0].n - rate; at += 4 * rate / 5) {
      int64_t top = at;

      for (int64_t t = at; t < at + rate / 10; t++) {
        top = in[0].x[t] > in[0].x[top] ? t : top;
      }
      in[1].present[top] = 1;
      in[1].x[top] = 0.8F;
    }
    step_run(&ps_step_delineate, NULL, in, 2, (step_how){0}, &r);
    const step_stream *qrs = step_get(&r, "qrs");
    int64_t found[2] = {0};

    for (int64_t t = 0; t < qrs->n; t++) {
      found[t > 30 * rate] += qrs->present[t];
    }
    assert_true(found[0] >= 35 && found[1] == 0);
    step_result_free(&r);
    free_all(in, 2);
  }
}

/* Beats of another shape are measured each alone, and the mean of the usual ones leaves them out.
 */
static void beats_of_another_shape_keep_their_width(void **state)
{
  static const bump wide[BUMPS] = {
      {0, -0.2, 0.02}, {0, -0.1, 0.01}, {1, 0.01, 0.04}, {0, 0.1, 0.01}, {-0.3, 0.35, 0.05}};
  step_signal in[2], usual_in[2], wide_in[2];
  step_result r;
  int n[2] = {0};

  simulate(60, 500, 0.8, usual, usual_in);
  simulate(60, 500, 0.8, wide, wide_in);
  in[0] = step_signal_new(30000, 500, 1);
  in[0].unit = "mV";
  in[1] = usual_in[1];
  for (int64_t t = 0; t < in[0].n; t++) {
    const int64_t beat = (t - 350) / 400;

    in[0].x[t] = beat % 5 == 4 ? wide_in[0].x[t] : usual_in[0].x[t];
  }
  add_noise(&in[0], 0.02, 3);
  step_check_chunks(&ps_step_delineate, NULL, in, 2, &r);
  const step_stream *qrs = step_get(&r, "qrs");

  for (int64_t t = 4000; t < qrs->n; t++) {
    const int other = (t - 350) / 400 % 5 == 4;

    if (qrs->present[t]) {
      n[other]++;
      assert_true(((double)qrs->x[t] > 0.14) == other);
    }
  }
  assert_true(n[0] > 48 && n[1] > 10);
  step_result_free(&r);
  step_signal_free(&in[0]);
  free_all(usual_in, 2);
  free_all(wide_in, 2);
}

/* Marks of `ecg_delineate(method="dwt")` of NeuroKit2 0.3.0, medians in s, for these waves at 500
 * Hz with the same R waves, and ours with its shares of slopes. Its P and T borders are of scale
 * 2^2, ours of 2^4, which reach further. In the noise it loses the T wave (a third of onsets by 50
 * ms and more), so that there is no value. */
static void marks_of_neurokit2_are_met_with_its_shares(void **state)
{
  static const char *const shares[] = {"waves.qrs_on=0.5",
                                       "waves.qrs_off=0.5",
                                       "waves.p_on=0.4",
                                       "waves.p_off=0.4",
                                       "waves.t_on=0.6",
                                       "waves.t_off=0.4",
                                       NULL};
  static const struct {
    const char *name;
    double clean, noisy, within;
  } marks[] = {{"p_on", -0.218, -0.213, 0.018},  {"p", -0.17, -0.172, 0.003},
               {"p_off", -0.124, -0.128, 0.018}, {"qrs_on", -0.048, -0.048, 0.001},
               {"qrs_off", 0.048, 0.048, 0.001}, {"t_on", 0.208, NAN, 0.006},
               {"t", 0.29, 0.29, 0.001},         {"t_off", 0.384, NAN, 0.008}};

  for (int noise = 0; noise < 2; noise++) {
    step_signal in[2];
    step_result r;

    simulate(30, 500, 0.8, usual, in);
    if (noise) {
      add_noise(&in[0], 0.02, 0);
    }
    step_run(&ps_step_delineate, shares, in, 2, (step_how){0}, &r);
    for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++) {
      const double theirs = noise ? marks[k].noisy : marks[k].clean;
      double sd = 0;

      assert_true(isnan(theirs) ||
                  fabs(median_of(&r, marks[k].name, 33, &sd) - theirs) <= marks[k].within);
    }
    step_result_free(&r);
    free_all(in, 2);
  }
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
      cmocka_unit_test(borders_of_a_complex_are_those_of_its_slopes),
      cmocka_unit_test(ripples_of_noise_do_not_join_the_p_wave_to_the_complex),
      cmocka_unit_test(borders_are_steady_in_noise),
      cmocka_unit_test(noise_has_no_complex),
      cmocka_unit_test(beats_of_another_shape_keep_their_width),
      cmocka_unit_test(marks_of_neurokit2_are_met_with_its_shares),
      cmocka_unit_test(qt_follows_the_t_wave),
      cmocka_unit_test(waves_of_the_model_are_found),
      cmocka_unit_test(nothing_is_found_in_gaps),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_it_cannot_measure_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
