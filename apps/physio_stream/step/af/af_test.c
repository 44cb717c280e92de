/* af_test.c - the coefficient of sample entropy as packages compute it, rhythms that are known, and
 * the recorded ones at hand, none of which is fibrillation. */
#include "eval/beats.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_af;

/* Appends a beat that ends an interval of rr s after the last one; returns its slot. */
static int64_t beat(step_signal *s, double *time, double rr)
{
  *time += rr;
  const int64_t at = (int64_t)floor(*time * (double)s->rate_num + 0.5);

  if (at < s->n) {
    s->present[at] = 1;
    s->x[at] = (float)rr;
  }
  return at;
}

static step_signal empty(int64_t seconds, int64_t rate)
{
  step_signal s = step_signal_new(seconds * rate, rate, 1);

  memset(s.present, 0, (size_t)s.n);
  s.unit = "s";
  return s;
}

/* Irregular intervals: a sine of breathing and changes that are independent, shares of 0.8 s. */
static step_signal rhythm(uint64_t seed, int64_t seconds, double breathing, double irregular)
{
  step_signal s = empty(seconds, 360);
  double time = 0.4;

  for (uint64_t k = 0; time < (double)seconds; k++) {
    const double change =
        breathing * sin(1.6 * time) + irregular * weir_random_normal(seed, 41, 0, k);

    beat(&s, &time, fmin(fmax(0.8 * (1 + change), 0.3), 2));
  }
  return s;
}

/* Share of the beats with a value at which af is 1. */
static double share(const step_result *r)
{
  const step_stream *af = step_get(r, "af");
  double sum = 0;

  for (int64_t t = 0; t < af->n; t++) {
    sum += (double)af->x[t];
  }
  return sum / (double)step_count(af);
}

/* Values of entropy_quadratic(rr, delay=1, dimension=1, tolerance=r) - log(mean(rr)) of NeuroKit2
 * 0.3.0, and of SampEn(rr, m=1, r=r) + log(2 r) - log(mean(rr)) of EntropyHub 2.0, r as stated. */
static void it_is_the_entropy_of_packages(void **state)
{
  static const double fibrillation[12] = {0.62, 0.91, 0.48, 0.73, 0.55, 1.04,
                                          0.66, 0.80, 0.51, 0.95, 0.70, 0.58};
  static const double sinus[12] = {0.80, 0.81, 0.83, 0.82, 0.80, 0.79,
                                   0.80, 0.82, 0.83, 0.81, 0.80, 0.79};
  static const double *const series[2] = {fibrillation, sinus};
  static const double expected[2] = {-0.3126081791, -2.5221550037};

  for (int k = 0; k < 2; k++) {
    step_signal in = empty(12, 1000);
    double time = 0;
    step_result r;
    int64_t at = 0;

    for (int i = 0; i < 12; i++) {
      at = beat(&in, &time, series[k][i]);
    }
    step_run(&ps_step_af, (const char *const[]){"beats=12", NULL}, &in, 1, (step_how){0}, &r);
    assert_int_equal(step_count(step_get(&r, "cosen")), 1);
    assert_near((double)step_get(&r, "cosen")->x[at], expected[k], 1e-5);
    assert_int_equal(step_get(&r, "af")->x[at] > 0, k == 0);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

static void irregular_rhythms_are_told_from_sinus(void **state)
{
  for (uint64_t seed = 0; seed < 2; seed++) {
    step_signal in[2] = {rhythm(seed, 300, 0, 0.2), rhythm(seed, 300, 0.06, 0.01)};

    for (int k = 0; k < 2; k++) {
      step_result r;

      step_check_chunks(&ps_step_af, NULL, &in[k], 1, &r);
      assert_true(k == 0 ? share(&r) > 0.98 : share(&r) < 0.02);
      step_result_free(&r);
      step_signal_free(&in[k]);
    }
  }
}

/* Intervals on either side of a gap are no template; with half of them missing there is no value.
 */
static void nothing_is_said_across_gaps(void **state)
{
  step_signal in = empty(120, 250);
  double time = 0.5;
  step_result r;

  for (int k = 0; time < 118; k++) {
    time += k % 3 > 0 ? 0.7 : 0;
    beat(&in, &time, 0.8);
  }
  step_run(&ps_step_af, NULL, &in, 1, (step_how){0}, &r);
  assert_int_equal(step_count_all(&r), 0);
  step_result_free(&r);
  step_signal_free(&in);
}

/* After a long gap a value waits for as many new intervals as it is of. */
static void intervals_before_a_long_gap_are_left_out(void **state)
{
  for (int k = 0; k < 2; k++) {
    const double gap = k == 0 ? 59 : 62;
    step_signal in = empty(180, 250);
    double time = 0.5;
    int64_t end = 0;
    step_result r;

    while (time < 60) {
      end = beat(&in, &time, 0.8);
    }
    for (time += gap - 0.8; time < 178;) {
      beat(&in, &time, 0.8);
    }
    step_run(&ps_step_af, NULL, &in, 1, (step_how){0}, &r);
    const uint8_t *present = step_get(&r, "cosen")->present;
    int64_t first = end + 1;

    while (!present[first]) {
      first++;
    }
    const double since = (double)(first - end) / 250 - gap;
    assert_true(k == 0 ? fabs(since) < 2 : since > 28 * 0.8 && since < 31 * 0.8);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* Beats of reference annotations, and which of them are ectopic. */
static void read_beats(const char *record, step_signal in[2])
{
  ps_beats b = {0};
  char path[4096];

  weir_check_shared(path, sizeof path, "physio/wfdb/mitdb/%s.atr", record);
  assert_ok(ps_beats_read(path, &(ps_beats_clock){360, 1, 360, 1}, 650000, &b));
  in[0] = empty(650000 / 360, 360);
  in[1] = empty(650000 / 360, 360);
  for (int64_t i = 1; i < b.n; i++) {
    if (b.times[i] < in[0].n) {
      in[0].present[b.times[i]] = 1;
      in[0].x[b.times[i]] = (float)(b.times[i] - b.times[i - 1]) / 360.0f;
      in[1].present[b.times[i]] = !b.normal[i];
      in[1].x[b.times[i]] = 1;
    }
  }
  ps_beats_fini(&b);
}

/* None of the records has atrial fibrillation. Ectopic beats are irregular as well: where they are
 * many, the rhythm is judged without them, or wrongly. */
static void ectopic_beats_are_left_out(void **state)
{
  static const struct {
    const char *record;
    double all; /* share of the beats at which af is 1 */
  } rows[] = {{"100", 0}, {"119", 0.1487}, {"208", 0.7264}};

  for (int k = 0; k < 3; k++) {
    step_signal in[2];
    step_result all, without;

    read_beats(rows[k].record, in);
    step_run(&ps_step_af, NULL, in, 1, (step_how){0}, &all);
    step_check_chunks(&ps_step_af, NULL, in, 2, &without);
    printf("record %s: af at %.4f of %d beats, without ectopic ones at %.4f of %d\n",
           rows[k].record, share(&all), (int)step_count(step_get(&all, "af")), share(&without),
           (int)step_count(step_get(&without, "af")));
    assert_near(share(&all), rows[k].all, 1e-4);
    assert_true(share(&without) <= 0);
    step_result_free(&all);
    step_result_free(&without);
    step_signal_free(&in[0]);
    step_signal_free(&in[1]);
  }
}

static void what_is_no_length_of_time_changes_nothing(void **state)
{
  step_signal in = rhythm(3, 100, 0, 0.1);

  assert_true(step_check_odd_times(&ps_step_af, &in) > 0);
  step_signal_free(&in);
}

/* A rhythm into which anything is mixed, and ectopic beats anywhere. */
static void no_input_upsets_it(void **state)
{
  for (uint64_t seed = 0; seed < 4; seed++) {
    step_signal in[2] = {rhythm(seed, 100, 0, 0.2), step_signal_new(36000, 360, 1)};
    step_signal odd = step_signal_new(36000, 360, 1);
    step_result r;

    step_garbage(&odd, seed, 1);
    for (int64_t t = 0; t < 36000; t++) {
      const uint64_t bits = weir_random_bits(seed, 42, 0, (uint64_t)t);

      in[1].present[t] = bits % 5000 == 0;
      if (bits / 5000 % 3000 == 0) {
        in[0].present[t] = odd.present[t];
        in[0].x[t] = odd.x[t];
      }
    }
    step_check_chunks(&ps_step_af, (const char *const[]){"beats=12", NULL}, in, 2, &r);
    assert_true(step_is_sound(&r) && step_count_all(&r) > 0);
    step_result_free(&r);
    step_signal_free(&in[0]);
    step_signal_free(&in[1]);
    step_signal_free(&odd);
  }
}

static void what_is_no_time_is_refused(void **state)
{
  step_signal in = step_signal_new(10, 50, 1);
  step_frame f;

  in.unit = "mV";
  assert_int_equal(step_build(&ps_step_af, NULL, &in, 1, &f), WEIR_ERR_CONFIG);
  step_frame_fini(&f);
  assert_int_equal(weir_opts_incomplete(ps_step_af.opts), 0);
  step_signal_free(&in);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_the_entropy_of_packages),
      cmocka_unit_test(irregular_rhythms_are_told_from_sinus),
      cmocka_unit_test(nothing_is_said_across_gaps),
      cmocka_unit_test(intervals_before_a_long_gap_are_left_out),
      cmocka_unit_test(ectopic_beats_are_left_out),
      cmocka_unit_test(what_is_no_length_of_time_changes_nothing),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_is_no_time_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
