/* vf_test.c - shares that are known, simulated fibrillation, and recordings without it. */
#include "data/ecgsyn.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_vf;

#define TWO_PI 6.283185307179586476925286766559

static void value_range(const step_stream *s, double *lo, double *hi)
{
  *lo = INFINITY;
  *hi = -INFINITY;
  for (int64_t t = 0; t < s->n; t++) {
    if (s->present[t]) {
      *lo = fmin(*lo, (double)s->x[t]);
      *hi = fmax(*hi, (double)s->x[t]);
    }
  }
}

/* Share of the seconds with a result in which vf is 1. */
static double share(const step_result *r)
{
  const step_stream *vf = step_get(r, "vf");
  double sum = 0;

  for (int64_t t = 0; t < vf->n; t++) {
    sum += (double)vf->x[t];
  }
  return sum / (double)step_count(vf);
}

/* |sin| is above 0.2 for 1 - 2 asin(0.2) / pi = 87.18 % of a window, in its tapered ends for less:
 * the mean over all phases. The first result is of 4 s. */
static void a_sine_crosses_as_computed(void **state)
{
  step_signal in = step_signal_new(20 * 250, 250, 1);
  double sum = 0, lo = 0, hi = 0;
  step_result r;

  in.unit = "mV";
  for (int64_t t = 0; t < in.n; t++) {
    in.x[t] = (float)(0.4 * sin(TWO_PI * 5.17 * (double)t / 250));
  }
  for (int64_t i = 0; i < 750; i++) {
    const int64_t end = i < 749 - i ? i : 749 - i;
    const double w = end < 63 ? 0.5 * (1 - cos(TWO_PI / 2 * (double)end / 63)) : 1;

    for (int k = 0; k < 100; k++) {
      sum += w * fabs(sin(TWO_PI * (k + 0.5) / 100)) > 0.2;
    }
  }
  step_check_chunks(&ps_step_vf, NULL, &in, 1, &r);
  value_range(step_get(&r, "tcsc"), &lo, &hi);
  printf("a sine: %.2f to %.2f %%, %.2f of all phases\n", lo, hi, sum / 750);
  assert_near(lo, sum / 750, 0.015);
  assert_near(hi, sum / 750, 0.015);
  assert_int_equal(step_count(step_get(&r, "vf")), 17);
  assert_int_equal(step_get(&r, "vf")->present[2], 0);
  assert_int_equal(step_get(&r, "vf")->x[3] > 0, 1);
  assert_near(share(&r), 1, 0);
  step_result_free(&r);
  step_signal_free(&in);
}

/* Fibrillation: 3 to 6 Hz, frequency and amplitude wandering; then weak, as good as asystole. */
static void fibrillation_is_told_from_beats(void **state)
{
  static const double rates[] = {45, 60, 90, 130};
  int64_t n = 0;

  for (uint64_t seed = 0; seed < 4; seed++) {
    step_signal in = step_signal_new(120 * 250, 250, 1);
    double phase = 0;
    step_result r;

    in.unit = "mV";
    for (int64_t t = 0; t < in.n; t++) {
      const double time = (double)t / 250, shift = 10.0 * (double)seed;

      phase += TWO_PI * (4.5 + 1.2 * sin(0.9 * time + shift) + 0.3 * sin(3.1 * time)) / 250;
      in.x[t] = (float)((time < 90 ? 0.4 : 0.02) * (1 + 0.5 * sin(1.7 * time + shift)) *
                            (sin(phase) + 0.3 * sin(1.7 * phase)) +
                        0.02 * weir_random_normal(seed, 61, 0, (uint64_t)t));
    }
    step_run(&ps_step_vf, NULL, &in, 1, (step_how){0}, &r);
    for (int64_t t = 8; t < step_get(&r, "vf")->n; t++) {
      if (t < 89 || t > 98) {
        assert_int_equal(step_get(&r, "vf")->x[t] > 0, t < 89);
      }
    }
    step_result_free(&r);
    step_signal_free(&in);
  }
  for (int k = 0; k < 4; k++) {
    step_signal in = step_signal_new(120 * 250, 250, 1);
    ps_ecgsyn *gen = NULL;
    ps_ecgsyn_opts o;
    step_result r;

    weir_opts_default(ps_ecgsyn_options, sizeof o, &o);
    o.rate = 250;
    o.heart_rate = rates[k];
    assert_ok(ps_ecgsyn_create(&o, 3, &gen));
    ps_mark *marks = calloc((size_t)ps_ecgsyn_capacity(gen, in.n), sizeof *marks);

    ps_ecgsyn_chunk(gen, in.n, in.x, marks, &n);
    in.unit = "mV";
    step_run(&ps_step_vf, NULL, &in, 1, (step_how){0}, &r);
    assert_near(share(&r), 0, 0);
    free(marks);
    ps_ecgsyn_destroy(&gen);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

enum { FS = 250, EPISODES = 10, LASTS = 60 }; /* s between onsets */

/* Sinus rhythm of 75 a minute with noise of 0.05 mV and a wandering baseline. EPISODES times it is
 * fibrillation for `lasts` s: from begin[k] s on, at another place in the second each time. */
static step_signal with_episodes(uint64_t seed, double lasts, double begin[EPISODES])
{
  step_signal in = step_signal_new(EPISODES * LASTS * FS, FS, 1);
  ps_ecgsyn *gen = NULL;
  ps_ecgsyn_opts o;
  double phase = 0;
  int64_t n = 0;

  weir_opts_default(ps_ecgsyn_options, sizeof o, &o);
  o.rate = FS;
  o.heart_rate = 75;
  assert_ok(ps_ecgsyn_create(&o, seed, &gen));
  ps_mark *marks = calloc((size_t)ps_ecgsyn_capacity(gen, in.n), sizeof *marks);

  ps_ecgsyn_chunk(gen, in.n, in.x, marks, &n);
  in.unit = "mV";
  for (int64_t t = 0; t < in.n; t++) {
    const double time = (double)t / FS, shift = 10.0 * (double)seed;
    const int64_t k = t / (LASTS * FS);

    begin[k] = LASTS * (double)k + 30 + 0.1 * (double)k;
    phase += TWO_PI * (4.5 + 1.2 * sin(0.9 * time + shift) + 0.3 * sin(3.1 * time)) / FS;
    if (time >= begin[k] && time < begin[k] + lasts) {
      in.x[t] = (float)(0.4 * (1 + 0.5 * sin(1.7 * time + shift)) *
                        (sin(phase) + 0.3 * sin(1.7 * phase)));
    }
    in.x[t] += (float)(0.2 * sin(TWO_PI * 0.25 * time) +
                       0.05 * weir_random_normal(seed, 62, 0, (uint64_t)t));
  }
  free(marks);
  ps_ecgsyn_destroy(&gen);
  return in;
}

/* What is raised of 4 times EPISODES episodes: how many, the longest time from the onset until it
 * is known and from the end until it is over, s, and seconds that are raised without one. */
typedef struct raised {
  int64_t episodes, without;
  double delay, over;
} raised;

static raised watch(const char *const *sets, double lasts)
{
  double begin[EPISODES];
  raised out = {0};

  for (uint64_t seed = 1; seed < 5; seed++) {
    step_signal in = with_episodes(seed, lasts, begin);
    step_result r;

    step_run(&ps_step_vf, sets, &in, 1, (step_how){0}, &r);
    const step_stream *vf = step_get(&r, "vf");

    for (int64_t k = 0; k < EPISODES; k++) {
      double first = 0, last = 0;

      for (int64_t t = k * LASTS; t < (k + 1) * LASTS; t++) {
        const double known = (double)t + 1; /* a result is that of the second that begins at t */

        if (vf->present[t] && vf->x[t] > 0) {
          first = first > 0 ? first : known;
          last = known;
          out.without += known < begin[k] || known > begin[k] + lasts + 9;
        }
      }
      out.episodes += first > 0;
      out.delay = fmax(out.delay, first > 0 ? first - begin[k] : 0);
      out.over = fmax(out.over, last > 0 ? last - begin[k] - lasts : 0);
    }
    step_result_free(&r);
    step_signal_free(&in);
  }
  printf("%s, %g s: %d raised, known after %.1f s, over %.1f s after the end, %d s without\n",
         sets != NULL ? sets[0] : "default", lasts, (int)out.episodes, out.delay, out.over,
         (int)out.without);
  return out;
}

/* The default raises what lasts 4 s, and nothing in sinus rhythm; the windows of the paper, of 8 s,
 * raise half of it, later. */
static void episodes_are_raised_in_time(void **state)
{
  static const char *const paper[] = {"windows=6", NULL};

  for (int k = 0; k < 2; k++) {
    const raised got = watch(NULL, k == 0 ? 4 : 12);

    assert_int_equal(got.episodes, 4 * EPISODES);
    assert_true(got.delay < 4.3 && got.over < 2.5);
    assert_int_equal(got.without, 0);
  }
  const raised late = watch(paper, 4);

  assert_true(late.episodes < 3 * EPISODES && late.delay > 5 && late.without == 0);
}

/* Ten minutes each; none has fibrillation. */
static void recordings_have_none(void **state)
{
  static const struct {
    const char *record;
    double most; /* share of seconds */
  } rows[] = {{"wfdb/mitdb/100", 0},
              {"wfdb/mitdb/119", 0},
              {"wfdb/mitdb/208", 0},
              {"wfdb/challenge2015/a103l", 0}};

  for (int k = 0; k < 4; k++) {
    step_signal in;
    step_result r;

    step_read(rows[k].record, 0, 216000, &in);
    in.unit = "mV";
    step_run(&ps_step_vf, NULL, &in, 1, (step_how){0}, &r);
    printf("%s: vf in %.4f of %d seconds\n", rows[k].record, share(&r),
           (int)step_count(step_get(&r, "vf")));
    assert_true(share(&r) <= rows[k].most);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* A gap ends the windows: the next result is of 4 s after it. */
static void a_gap_begins_anew(void **state)
{
  step_signal in = step_signal_new(40 * 100, 100, 1);
  step_result r;

  in.unit = "mV";
  for (int64_t t = 0; t < in.n; t++) {
    in.x[t] = sinf(0.3f * (float)t);
    in.present[t] = t / 10 != 150;
  }
  step_check_chunks(&ps_step_vf, NULL, &in, 1, &r);
  for (int64_t t = 0; t < 40; t++) {
    assert_int_equal(step_get(&r, "vf")->present[t], (t >= 3 && t < 15) || t >= 19);
  }
  step_result_free(&r);
  step_signal_free(&in);
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 1, .n = 9000, .rate = 100, .scale = 1, .unit = "mV"};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 6; seed++) {
    seen += step_check_garbage(&ps_step_vf, NULL, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void what_it_cannot_judge_is_refused(void **state)
{
  step_signal in = step_signal_new(1000, 250, 1);
  step_frame f;

  in.unit = "mmHg";
  assert_int_equal(step_build(&ps_step_vf, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  in.unit = "mV";
  in.rate_num = 50;
  assert_int_equal(step_build(&ps_step_vf, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "vf"));
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_vf.opts), 0);
  step_signal_free(&in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sine_crosses_as_computed),
      cmocka_unit_test(fibrillation_is_told_from_beats),
      cmocka_unit_test(episodes_are_raised_in_time),
      cmocka_unit_test(recordings_have_none),
      cmocka_unit_test(a_gap_begins_anew),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_it_cannot_judge_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
