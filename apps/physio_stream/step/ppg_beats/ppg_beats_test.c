/* ppg_beats_test.c - systolic peaks of a recording, of pulses of known times, and of anything. */
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_ppg_beats;

/* Pulses every `period` slots, each a raised cosine of 0.3 s whose top is at its slot. */
static step_signal pulses(int64_t n, int64_t rate, int64_t period)
{
  step_signal s = step_signal_new(n, rate, 1);
  const int64_t half = 15 * rate / 100;

  for (int64_t top = period; top < n; top += period) {
    for (int64_t t = top - half; t <= top + half; t++) {
      if (t >= 0 && t < n) {
        s.x[t] += (float)(0.5 + 0.5 * cos(acos(-1.0) * (double)(t - top) / (double)half));
      }
    }
  }
  return s;
}

static void peaks_stand_where_the_pulses_have_them(void **state)
{
  static const int64_t rates[] = {60, 125, 1000};

  for (int k = 0; k < 3; k++) {
    const int64_t period = 8 * rates[k] / 10;
    step_signal in = pulses(40 * rates[k], rates[k], period);
    step_result r;

    step_check_chunks(&ps_step_ppg_beats, NULL, &in, 1, &r);
    const step_stream *peak = step_get(&r, "peak"), *rr = step_get(&r, "rr");

    for (int64_t t = 0; t < in.n; t++) {
      const bool top = t > 0 && t % period == 0;

      assert_true(t > in.n - rates[k] || peak->present[t] == top);
      assert_true(!peak->present[t] || peak->x[t] == 1.0f);
      assert_int_equal(rr->present[t], peak->present[t] && t > period);
      assert_true(!rr->present[t] || rr->x[t] == 0.8f);
    }
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* A gap that begins or ends 7 slots from a top, half of `peak`, leaves its beat; nearer to it the
 * width of the peak is not to be seen any more. */
static void a_gap_costs_no_beat_beyond_its_edges(void **state)
{
  static const int64_t edges[] = {1, 4, 7, 10, 43, 67};

  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    const int64_t k = edges[i];
    step_signal in = pulses(5000, 125, 100);
    step_result r;

    memset(in.present + 2000 + k, 0, (size_t)(600 - 2 * k)); /* to 2600 - k */
    memset(in.present + 3950, 0, 10);                        /* between two beats */
    step_check_chunks(&ps_step_ppg_beats, NULL, &in, 1, &r);
    const step_stream *peak = step_get(&r, "peak"), *rr = step_get(&r, "rr");

    for (int64_t t = 0; t < in.n; t++) {
      const bool hidden = t > 2000 && t < 2600, edge = (t == 2000 || t == 2600) && k < 7;

      assert_int_equal(peak->present[t], t > 0 && t % 100 == 0 && !hidden && !edge);
      assert_true(!peak->present[t] || peak->x[t] == 1.0f);
    }
    assert_true(rr->present[1900] && rr->present[2800]);
    assert_true(!rr->present[2600] && rr->present[2700] == (k >= 7) && !rr->present[4000]);
    step_result_free(&r);
    step_signal_free(&in);
  }
}

/* No peak stands in the gap, and no interval spans it. */
static void no_interval_spans_a_gap(void **state)
{
  step_signal in = pulses(5000, 125, 100);
  step_result r;
  int64_t last = -1, seen = 0;

  memset(in.present + 2010, 0, 600);
  step_check_chunks(&ps_step_ppg_beats, NULL, &in, 1, &r);
  const step_stream *peak = step_get(&r, "peak"), *rr = step_get(&r, "rr");

  for (int64_t t = 0; t < in.n; t++) {
    if (peak->present[t]) {
      assert_true(t < 2010 || t >= 2610);
      assert_int_equal(rr->present[t], last >= 0 && !(last < 2010 && t > 2010));
      last = t;
      seen++;
    }
  }
  assert_int_equal(seen, 43); /* all but those of 2100 to 2600 */
  step_result_free(&r);
  step_signal_free(&in);
}

static void no_input_upsets_it(void **state)
{
  const step_garbage_opts garbage = {.n_in = 1, .n = 6000, .rate = 125, .scale = 100};
  int64_t seen = 0;

  for (uint64_t seed = 0; seed < 8; seed++) {
    seen += step_check_garbage(&ps_step_ppg_beats, NULL, &garbage, seed);
  }
  assert_true(seen > 0);
}

static void impossible_options_are_refused(void **state)
{
  static const char *const sets[][2] = {{"hi=70", NULL}, {"beat=0.1", NULL}};

  for (int k = 0; k < 2; k++) {
    step_signal in = step_signal_new(10, 125, 1);
    step_frame f;

    assert_int_equal(step_build(&ps_step_ppg_beats, sets[k], &in, 1, &f), WEIR_ERR_CONFIG);
    step_frame_fini(&f);
    step_signal_free(&in);
  }
  assert_int_equal(weir_opts_incomplete(ps_step_ppg_beats.opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(peaks_stand_where_the_pulses_have_them),
      cmocka_unit_test(a_gap_costs_no_beat_beyond_its_edges),
      cmocka_unit_test(no_interval_spans_a_gap),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(impossible_options_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
