/* abp_beats_test.c - a recording against its ECG, pulses of known pressures, one flag after the
 * other, and anything. */
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "eval/beats.h"
#include "step/abp_beats/beat_flags.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_abp_beats, ps_step_detect, ps_step_ppg_beats;

/* One beat's shape: `up` s of rise from low to high, then a straight fall until the next. */
typedef struct pulse {
  double low, high, period;
} pulse;

/* Beats of 120 over 80 mmHg, 75 a minute. */
static void make_steady(pulse *p, int n)
{
  for (int i = 0; i < n; i++) {
    p[i] = (pulse){80, 120, 0.8};
  }
}

/* Draws the beats until the slots are full; at[k] is where beat k begins. */
static void draw(step_signal *s, const pulse *p, int64_t n_pulses, int64_t *at)
{
  const double rate = (double)s->rate_num / (double)s->rate_den, up = 0.1;
  double begin = 0;

  s->unit = "mmHg";
  for (int64_t k = 0; k < n_pulses; k++) {
    const int64_t first = (int64_t)floor(begin * rate + 0.5);
    const int64_t next = (int64_t)floor((begin + p[k].period) * rate + 0.5);
    const double low = k + 1 < n_pulses ? p[k + 1].low : p[k].low;

    at[k] = first;
    for (int64_t t = first; t < next && t < s->n; t++) {
      const double tau = (double)(t - first) / rate;

      s->x[t] = (float)(tau < up ? p[k].low + (p[k].high - p[k].low) * tau / up
                                 : p[k].high - (p[k].high - low) * (tau - up) / (p[k].period - up));
    }
    begin += p[k].period;
  }
}

static void pressures_are_those_drawn(void **state)
{
  static const int64_t rates[] = {50, 125, 500};

  for (int k = 0; k < 3; k++) {
    step_signal in = step_signal_new(30 * rates[k], rates[k], 1);
    pulse p[60];
    int64_t at[60];
    step_result r;

    make_steady(p, 40);
    draw(&in, p, 40, at);
    step_check_chunks(&ps_step_abp_beats, NULL, &in, 1, &r);
    const step_stream *onset = step_get(&r, "onset");
    int64_t beats = 0;

    for (int64_t t = rates[k]; t < in.n - rates[k]; t++) {
      if (!onset->present[t]) {
        continue;
      }
      const double off = fmod((double)t / (double)rates[k] + 0.4, 0.8) - 0.4;

      beats++;
      assert_true(fabs(off) <= 0.04);
      assert_near((double)step_get(&r, "sbp")->x[t], 120.0, 0.02);
      assert_near((double)step_get(&r, "dbp")->x[t], 80.0, 0.02);
      assert_near((double)step_get(&r, "map")->x[t], 100.0, 0.02);
      assert_near((double)step_get(&r, "pp")->x[t], 40.0, 0.02);
      assert_near((double)step_get(&r, "period")->x[t], 0.8, 0.02);
      assert_true(step_get(&r, "flags")->x[t] == 0.0f);
    }
    assert_in_range(beats, 33, 36);
    assert_string_equal(step_get(&r, "map")->unit, "mmHg");
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* Flags of the beat nearest to each drawn one, -1 where there is none within 0.1 s. */
static void flags_of(const step_result *r, const int64_t *at, int64_t n, int *flags)
{
  const step_stream *f = step_get(r, "flags");
  const int64_t near = f->rate_num / 10;

  for (int64_t k = 0; k < n; k++) {
    flags[k] = -1;
    for (int64_t t = at[k] > near ? at[k] - near : 0; t <= at[k] + near && t < f->n; t++) {
      flags[k] = f->present[t] ? (int)f->x[t] : flags[k];
    }
  }
}

static void each_criterion_has_its_bit(void **state)
{
  enum { N = 40, ODD = 20 };
  static const struct {
    pulse odd;
    int flags, also; /* of the odd beat and of the next one */
  } cases[] = {
      {{12, 52, 0.8},
       PS_ABP_DBP | PS_ABP_SBP_CHANGE | PS_ABP_DBP_CHANGE | PS_ABP_ONSET_CHANGE,
       PS_ABP_SBP_CHANGE | PS_ABP_DBP_CHANGE | PS_ABP_ONSET_CHANGE},
      {{80, 310, 0.8}, PS_ABP_SBP | PS_ABP_SBP_CHANGE, PS_ABP_SBP_CHANGE},
      {{80, 98, 0.8}, PS_ABP_PP | PS_ABP_SBP_CHANGE, PS_ABP_SBP_CHANGE},
      {{80, 120, 1.6}, PS_ABP_PERIOD_CHANGE, PS_ABP_PERIOD_CHANGE},
      {{80, 120, 0.29}, PS_ABP_HR | PS_ABP_PERIOD_CHANGE, PS_ABP_PERIOD_CHANGE},
      {{80, 120, 4.0}, PS_ABP_OPEN, 0},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    step_signal in = step_signal_new(125 * 40, 125, 1);
    pulse p[N];
    int64_t at[N];
    int flags[N];
    step_result r;

    make_steady(p, N);
    p[ODD] = cases[c].odd;
    draw(&in, p, N, at);
    step_run(&ps_step_abp_beats, NULL, &in, 1, (step_how){0}, &r);
    flags_of(&r, at, N, flags);
    assert_int_equal(flags[ODD - 2], 0);
    if (flags[ODD] != cases[c].flags || flags[ODD + 1] != cases[c].also) {
      print_message("case %d: flags %x and %x\n", (int)c, flags[ODD], flags[ODD + 1]);
    }
    assert_int_equal(flags[ODD], cases[c].flags);
    assert_int_equal(flags[ODD + 1], cases[c].also);
    assert_int_equal(flags[ODD + 4], 0);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

static void a_lone_good_beat_is_bad_too(void **state)
{
  enum { N = 30 };
  step_signal in = step_signal_new(125 * 24, 125, 1);
  pulse p[N];
  int64_t at[N];
  int flags[N];
  step_result r;

  make_steady(p, N);
  p[20].high = p[21].high = p[22].high = 150; /* 20 jumps up, 21 and 22 are good, 23 jumps down */
  p[15].high = p[16].high = 150;              /* 15 jumps up, 16 is good, 17 jumps down         */
  draw(&in, p, N, at);
  step_run(&ps_step_abp_beats, NULL, &in, 1, (step_how){0}, &r);
  flags_of(&r, at, N, flags);
  assert_int_equal(flags[15], PS_ABP_SBP_CHANGE);
  assert_int_equal(flags[16], PS_ABP_LONE);
  assert_int_equal(flags[17], PS_ABP_SBP_CHANGE);
  assert_int_equal(flags[18], 0);
  assert_int_equal(flags[21], 0);
  assert_int_equal(flags[22], 0);
  step_result_free(&r);
  step_signal_free(&in);
}

static void a_gap_is_flagged_and_not_bridged(void **state)
{
  enum { N = 40 };
  step_signal in = step_signal_new(125 * 30, 125, 1);
  pulse p[N];
  int64_t at[N];
  int flags[N];
  step_result r;

  make_steady(p, N);
  draw(&in, p, N, at);
  memset(in.present + at[20] + 60, 0, (size_t)(at[25] + 50 - at[20] - 60));
  step_check_chunks(&ps_step_abp_beats, NULL, &in, 1, &r);
  flags_of(&r, at, N, flags);
  assert_int_equal(flags[19], 0);
  assert_int_equal(flags[20], PS_ABP_GAP | PS_ABP_OPEN);
  assert_int_equal(flags[22], -1);
  assert_int_equal(flags[27], 0);
  step_result_free(&r);
  step_signal_free(&in);
}

/* Pulses a quarter as high as those of the first 20 s are below their threshold: it sinks after
 * 2.5 s without a pulse, and is learnt anew after a gap of more than 30 s. */
static void small_pulses_are_found_in_time(void **state)
{
  enum { N = 130, HIGH = 25, RATE = 125 };
  static const struct {
    int64_t gap; /* s, from the 20th on       */
    double min, max;
  } cases[] = {{0, 2.5, 6}, {20, 2.5, 6}, {35, 0, 0.9}};

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    step_signal in = step_signal_new(RATE * 100, RATE, 1);
    const int64_t from = (20 + cases[c].gap) * RATE;
    int64_t at[N], first = from;
    pulse p[N];
    step_result r;

    make_steady(p, N);
    for (int i = HIGH; i < N; i++) {
      p[i].high = 90;
    }
    draw(&in, p, N, at);
    memset(in.present + 20 * RATE, 0, (size_t)(from - 20 * RATE));
    step_check_chunks(&ps_step_abp_beats, NULL, &in, 1, &r);
    const step_stream *onset = step_get(&r, "onset");

    assert_true(onset->present[at[HIGH - 2]] || onset->present[at[HIGH - 2] + 1]);
    while (first < onset->n && !onset->present[first]) {
      first++;
    }
    const double after = (double)(first - from) / RATE;

    print_message("gap of %d s: the first small pulse after %.2f s\n", (int)cases[c].gap, after);
    assert_true(after >= cases[c].min && after <= cases[c].max);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* Onsets of 40 s of pulses from 80 to `high` mmHg. */
static int64_t onsets_found(const char *const *sets, double high)
{
  enum { N = 50 };
  step_signal in = step_signal_new(125 * 40, 125, 1);
  int64_t at[N];
  pulse p[N];
  step_result r;

  make_steady(p, N);
  for (int i = 0; i < N; i++) {
    p[i].high = high;
  }
  draw(&in, p, N, at);
  step_run(&ps_step_abp_beats, sets, &in, 1, (step_how){0}, &r);
  const int64_t n = step_count(step_get(&r, "onset"));

  step_result_free(&r);
  step_signal_free(&in);
  return n;
}

static void what_rises_too_little_is_no_pulse(void **state)
{
  assert_true(onsets_found(NULL, 120) > 45);
  assert_int_equal(onsets_found((const char *const[]){"onsets.rise=50", NULL}, 120), 0);
  assert_int_equal(onsets_found(NULL, 81), 0); /* below a third of the floor of 5 mmHg */
  assert_true(onsets_found((const char *const[]){"onsets.floor=2", NULL}, 81) > 45);
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Delays, s, from beats (slots of `rate`) to the onset 0.05 to 0.4 s later: sorted; how many. */
static int64_t delays(const int64_t *beats, int64_t n, double rate, const step_stream *onset,
                      double *delay)
{
  int64_t found = 0;

  for (int64_t i = 0; i < n; i++) {
    const double at = (double)beats[i] / rate;

    for (int64_t u = (int64_t)ceil(125 * at); u < onset->n && (double)u / 125 <= at + 0.4; u++) {
      if (onset->present[u] && (double)u / 125 >= at + 0.05) {
        delay[found++] = (double)u / 125 - at;
        break;
      }
    }
  }
  qsort(delay, (size_t)found, sizeof *delay, by_value);
  return found;
}

/* Slots where something is present, at most 2000. */
static int64_t slots_of(const step_stream *s, int64_t *slots)
{
  int64_t n = 0;

  for (int64_t t = 0; t < s->n; t++) {
    if (s->present[t]) {
      assert_true(n < 2000);
      slots[n++] = t;
    }
  }
  return n;
}

/* The pressure pulse of 03700181 follows its R waves. The beats that gqrs found there stand where
 * the QRS complex begins, ours at its peak, 26 ms later. */
static void onsets_follow_the_r_waves_of_a_recording(void **state)
{
  static double delay[2000];
  static int64_t own[2000];
  step_signal ecg, abp;
  step_result beats, pulses;
  ps_beats gqrs = {0};
  char path[4096];

  step_read("wfdb/mimic/03700181", 0, INT64_MAX, &ecg);
  step_read("wfdb/mimic/03700181", 1, INT64_MAX, &abp);
  assert_int_equal(ecg.rate_num / ecg.rate_den, 500);
  assert_int_equal(abp.rate_num / abp.rate_den, 125);
  weir_check_shared(path, sizeof path, "physio/wfdb/mimic/03700181.gqrsl");
  assert_ok(ps_beats_read(path, &(ps_beats_clock){125, 1, 125, 1}, abp.n, &gqrs));
  assert_int_equal(gqrs.n, 1117);
  abp.unit = "mmHg";
  step_run(&ps_step_detect, NULL, &ecg, 1, (step_how){.window = 60}, &beats);
  step_check_chunks(&ps_step_abp_beats, NULL, &abp, 1, &pulses);
  const step_stream *onset = step_get(&pulses, "onset");
  const int64_t n = slots_of(step_get(&beats, "beat"), own);

  assert_int_equal(step_count(onset), 1222);
  const int64_t after_gqrs = delays(gqrs.times, gqrs.n, 125, onset, delay);

  print_message("gqrs: %d of 1117 beats followed, median %.3f s\n", (int)after_gqrs,
                delay[after_gqrs / 2]);
  assert_true((double)after_gqrs >= 0.99 * 1117);
  assert_true(delay[after_gqrs / 2] >= 0.22 && delay[after_gqrs / 2] <= 0.25);
  const int64_t after_own = delays(own, n, 500, onset, delay);

  print_message("detect: %d of %d beats followed, median %.3f s\n", (int)after_own, (int)n,
                delay[after_own / 2]);
  assert_true((double)after_own >= 0.99 * (double)n);
  assert_true(delay[after_own / 2] >= 0.19 && delay[after_own / 2] <= 0.2);
  ps_beats_fini(&gqrs);
  step_result_free(&beats);
  step_result_free(&pulses);
  step_signal_free(&ecg);
  step_signal_free(&abp);
}

/* Two detectors of different principle on one PPG, brought to the size of a pressure; the mean over
 * 40 ms takes away the steps of a recorder whose pulses are 25 steps high. */
static void they_agree_with_the_peaks_of_a_ppg(void **state)
{
  step_signal in;
  step_result peaks, onsets;
  int64_t n = 0, both = 0;

  step_read("csv/biosppy_ppg.txt", 0, INT64_MAX, &in);
  assert_int_equal(in.n, 20000);
  step_signal smooth = step_signal_new(in.n, 1000, 1);

  for (int64_t t = 0; t < in.n; t++) {
    for (int64_t u = t < 39 ? 0 : t - 39; u <= t; u++) {
      smooth.x[t] += (in.x[u] - 2000) / (t < 39 ? (float)(t + 1) : 40.0f);
    }
  }
  smooth.unit = "mmHg";
  step_check_chunks(&ps_step_ppg_beats, NULL, &in, 1, &peaks);
  step_check_chunks(&ps_step_abp_beats, NULL, &smooth, 1, &onsets);
  const step_stream *a = step_get(&peaks, "peak"), *b = step_get(&onsets, "onset");

  for (int64_t t = 0; t < in.n; t++) {
    if (a->present[t]) {
      int found = 0;

      for (int64_t u = t > 400 ? t - 400 : 0; u < t; u++) {
        found += b->present[u];
      }
      n++;
      both += found == 1;
    }
  }
  print_message("%d peaks, %d onsets, %d of both\n", (int)n, (int)step_count(b), (int)both);
  assert_true(n > 15);
  assert_int_equal(both, n);
  assert_int_equal(step_count(b), n);
  step_result_free(&peaks);
  step_result_free(&onsets);
  step_signal_free(&smooth);
  step_signal_free(&in);
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 1, .n = 8000, .rate = 125, .scale = 100};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 8; seed++) {
    seen += step_check_garbage(&ps_step_abp_beats, NULL, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void what_is_no_pressure_is_refused(void **state)
{
  step_signal in = step_signal_new(10, 125, 1);
  step_frame f;

  in.unit = "mV";
  assert_int_equal(step_build(&ps_step_abp_beats, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "a is in mV"));
  step_frame_fini(&f);
  in.unit = "mmHg";
  static const char *const turned[] = {"limits.hr_low=200", "limits.hr_high=20", NULL};

  assert_int_equal(step_build(&ps_step_abp_beats, turned, &in, 1, &f), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "hr_low and hr_high stand in the wrong order"));
  step_frame_fini(&f);
  in.rate_num = 5;
  assert_int_equal(step_build(&ps_step_abp_beats, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_abp_beats.opts), 0);
  step_signal_free(&in);
}

/* What a user reads: the help of the step, and the table of the science page. */
static void each_bit_is_documented(void **state)
{
#define FLAG(id, value, name, text) \
  {" " #value " " name ",", "| " #value " | `" name "` | " text " |"},
  static const char *const flags[][2] = {PS_ABP_FLAG_LIST(FLAG)};
#undef FLAG
  char *page = NULL;
  int64_t size = 0;

  assert_ok(
      weir_file_read(WEIR_SOURCE_DIR "/docs/science/physio_stream.md", 1 << 20, &page, &size));
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    assert_non_null(strstr(ps_step_abp_beats.help, flags[i][0]));
    assert_non_null(strstr(page, flags[i][1]));
  }
  weir_free(&page);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressures_are_those_drawn),
      cmocka_unit_test(each_criterion_has_its_bit),
      cmocka_unit_test(a_lone_good_beat_is_bad_too),
      cmocka_unit_test(a_gap_is_flagged_and_not_bridged),
      cmocka_unit_test(small_pulses_are_found_in_time),
      cmocka_unit_test(what_rises_too_little_is_no_pulse),
      cmocka_unit_test(onsets_follow_the_r_waves_of_a_recording),
      cmocka_unit_test(they_agree_with_the_peaks_of_a_ppg),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_is_no_pressure_is_refused),
      cmocka_unit_test(each_bit_is_documented),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
