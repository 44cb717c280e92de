/* artefact_test.c - each bit against its definition over the samples; a signal in which everything
 * happens once; and what may come in. */
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "support/physio_stream/step_check.h"
#include "stream/design/weir_design.h"
#include "stream/weir_flags.h"

extern const weir_series_op ps_step_artefact;

enum { RATE = 100, N = 8000 };

/* Samples of [lo, hi] that are present and differ by less than `limit` from that a slot before, in
 * a stretch all of which is present; -1 where it is not. */
static int64_t still(const step_signal *s, int64_t lo, int64_t hi, float limit)
{
  int64_t n = 0;

  for (int64_t t = lo; t <= hi; t++) {
    if (t < 0 || t >= s->n || !s->present[t]) {
      return -1;
    }
    n += t > 0 && s->present[t - 1] && fabsf(s->x[t] - s->x[t - 1]) < limit;
  }
  return n;
}

/* Whether t lies in n slots in a row that satisfy `ok`. */
static bool in_run(const uint8_t *ok, int64_t count, int64_t t, int64_t n)
{
  int64_t lo = t, hi = t;

  if (!ok[t]) {
    return false;
  }
  while (lo > 0 && ok[lo - 1] && hi - lo < n) {
    lo--;
  }
  while (hi + 1 < count && ok[hi + 1] && hi - lo < n) {
    hi++;
  }
  return hi - lo + 1 >= n;
}

/* Mean of the last n samples since a gap, of the square of `v` or of itself. */
static double mean(const double *v, const uint8_t *present, int64_t t, int64_t n)
{
  double sum = 0;
  int64_t count = 0;

  for (int64_t k = t; k > t - n && k >= 0 && present[k]; k--) {
    sum += v[k];
    count++;
  }
  return sum / (double)count;
}

/* Squares of what a notch takes away, begun anew after each gap. */
static void hum(const step_signal *s, double hz, double *square)
{
  weir_sos h;
  double zi[2], s1 = 0, s2 = 0;

  assert_ok(weir_design_notch(hz, 30, RATE, &h));
  weir_design_steady_state(&h, 1, zi);
  for (int64_t t = 0; t < s->n; t++) {
    const double x = (double)s->x[t];

    square[t] = 0;
    if (!s->present[t]) {
      continue;
    }
    if (t == 0 || !s->present[t - 1]) {
      s1 = zi[0] * x;
      s2 = zi[1] * x;
    }
    const double y = h.b0 * x + s1;

    s1 = h.b1 * x - h.a1 * y + s2;
    s2 = h.b2 * x - h.a2 * y;
    square[t] = (x - y) * (x - y);
  }
}

typedef struct expectation {
  int sure, flags; /* bits that do not depend on rounding, and their values */
} expectation;

static double value_[N], square_[N];
static uint8_t flat_[N], rail_[N], dead_[N], high_[N], low_[N];

static void set(expectation *e, int bit, bool on)
{
  e->sure |= bit;
  e->flags |= on ? bit : 0;
}

/* Sure unless the measure is within rounding of its threshold. */
static void set_measure(expectation *e, int bit, double measure, double limit)
{
  if (fabs(measure - limit) > 1e-4 * limit) {
    set(e, bit, measure > limit);
  }
}

/* What holds of a voltage (or pressure) with thresholds as by default and rails at -3 and 3. */
static void expect(const step_signal *s, bool voltage, expectation *e)
{
  const float limit = voltage ? 0.01f : 0.2f, tall = voltage ? 1.0f : 30.0f;
  const int64_t w = 2 * RATE;

  hum(s, 30, square_);
  for (int64_t t = 0; t < s->n; t++) {
    value_[t] = s->present[t] ? (double)s->x[t] : 0;
    rail_[t] = s->present[t] && (s->x[t] >= 3 || s->x[t] <= -3);
    high_[t] = s->present[t] && s->x[t] > 220;
    low_[t] = s->present[t] && s->x[t] < 10;
    flat_[t] = still(s, t - w + 1, t, limit) > w * 8 / 10;
  }
  for (int64_t t = 0; t < s->n; t++) {
    bool flat = false;

    for (int64_t hi = t; hi < t + w && hi < s->n && s->present[hi] && !flat; hi++) {
      flat = flat_[hi];
    }
    e[t] = (expectation){0, 0};
    set(&e[t], WEIR_FLAG_FLAT, flat);
    set(&e[t], WEIR_FLAG_SATURATED, in_run(rail_, s->n, t, 5));
    dead_[t] = flat || (e[t].flags & WEIR_FLAG_SATURATED) != 0;
  }
  for (int64_t t = 0; t < s->n; t++) {
    const bool inner = t >= 2 && t + 2 < s->n && still(s, t - 2, t + 2, 0) >= 0;
    const float a = inner ? s->x[t] - s->x[t - 2] : 0, b = inner ? s->x[t] - s->x[t + 2] : 0;

    set(&e[t], WEIR_FLAG_SPIKE, (a > tall && b > tall) || (a < -tall && b < -tall));
    set(&e[t], WEIR_FLAG_LEAD_OFF, voltage && in_run(dead_, s->n, t, 4 * RATE));
    set(&e[t], WEIR_FLAG_FLUSH,
        !voltage && (in_run(high_, s->n, t, RATE / 2) || in_run(low_, s->n, t, RATE / 2)));
    if (voltage && s->present[t]) {
      set_measure(&e[t], WEIR_FLAG_WANDER,
                  fabs(mean(value_, s->present, t, RATE) - mean(value_, s->present, t, 10 * RATE)),
                  0.5);
      set_measure(&e[t], WEIR_FLAG_MAINS, sqrt(2 * mean(square_, s->present, t, RATE)), 0.1);
    }
  }
}

/* A signal in which everything happens; gaps. */
static step_signal draw(uint64_t seed, bool voltage)
{
  step_signal s = step_signal_new(N, RATE, 1);
  const double scale = voltage ? 1 : 60, base = voltage ? 0 : 90;

  for (int64_t t = 0; t < N; t++) {
    const int64_t segment = (t / 400 + (int64_t)seed) % 20;
    const double beat = exp(-0.1 * (double)((t % 80 - 40) * (t % 80 - 40)));
    const double noise = 0.01 * weir_random_normal(seed, 61, 0, (uint64_t)t);
    double x = base + scale * (beat + noise);

    x += segment == 1 ? 0.3 * scale * sin(6.283185307179586 * 0.3 * (double)t) : 0;
    x += segment == 3 ? scale * (double)(t % 400) * 0.005 : 0;
    x = segment == 5 || segment == 6 ? base + 0.02 * noise : x;
    x += t % 280 == 140 ? 2 * scale : 0;
    x = segment == 8 && t % 120 < 16 ? 3 : x;
    x = segment == 10 ? (voltage ? -3 : 2) : x;
    x = segment == 12 && t % 400 > 100 && t % 400 < 250 ? 3 * base + 3 : x;
    s.x[t] = (float)x;
    s.present[t] = !(segment == 14 && t % 90 < 12) && segment != 16 && segment != 17;
  }
  s.unit = voltage ? "mV" : "mmHg";
  return s;
}

static void each_bit_is_what_it_is_defined_to_be(void **state)
{
  static const char *const sets[] = {"low=-3",      "high=3",          "missing=2",
                                     "mains_hz=30", "spike_time=0.02", NULL};
  static expectation e[N];

  for (int c = 0; c < 2; c++) {
    step_signal s = draw((uint64_t)c, c == 0);
    step_result r;
    int64_t n[12] = {0}, absent = 2 * RATE + 1, sure = 0;

    step_check_chunks(&ps_step_artefact, sets, &s, 1, &r);
    expect(&s, c == 0, e);
    for (int64_t t = 0; t < N; t++) {
      const step_stream *flags = step_get(&r, "flags");

      absent = s.present[t] ? 0 : absent + 1;
      assert_int_equal(flags->present[t], absent <= 2 * RATE);
      if (!s.present[t]) {
        assert_true(flags->x[t] == (float)(flags->present[t] ? WEIR_FLAG_MISSING : 0));
        continue;
      }
      assert_int_equal((int)flags->x[t] & e[t].sure, e[t].flags);
      assert_int_equal((int)flags->x[t] & ~(e[t].sure | WEIR_FLAG_WANDER | WEIR_FLAG_MAINS), 0);
      sure += (e[t].sure & WEIR_FLAG_MAINS) && (e[t].sure & WEIR_FLAG_WANDER);
      for (int k = 0; k < 12; k++) {
        n[k] += (int)flags->x[t] >> k & 1;
      }
    }
    print_message("flat %d, saturated %d, spike %d, wander %d, mains %d, lead off %d, flush %d\n",
                  (int)n[4], (int)n[3], (int)n[5], (int)n[6], (int)n[7], (int)n[8], (int)n[9]);
    assert_true(n[3] > 0 && n[4] > 0 && n[5] > 0 && n[c == 0 ? 6 : 9] > 0);
    assert_true(c == 1 || (n[7] > 0 && n[8] > 0 && sure > N / 2));
    step_result_free(&r);
    step_signal_free(&s);
  }
}

static void fills_and_flags_of_others_are_joined(void **state)
{
  step_signal in[3];
  step_result r;

  for (int k = 0; k < 3; k++) {
    in[k] = step_signal_new(5000, RATE, 1);
  }
  for (int64_t t = 0; t < 5000; t++) {
    in[0].present[t] = t / 100 % 5 != 2;
    in[1].present[t] = t / 100 % 5 != 2 || t % 100 < 50;
    in[2].present[t] = t % 7 != 0;
    in[0].x[t] = in[1].x[t] = (float)weir_random_normal(1, 62, 0, (uint64_t)t);
    in[2].x[t] = (float)(weir_random_bits(1, 63, 0, (uint64_t)t) % 4096);
  }
  in[2].unit = "flags";
  step_check_chunks(&ps_step_artefact, NULL, in, 3, &r);
  for (int64_t t = 0; t < 5000; t++) {
    const int given = in[2].present[t] ? (int)in[2].x[t] : 0;
    const int own = in[0].present[t] ? 0 : in[1].present[t] ? WEIR_FLAG_FILLED : WEIR_FLAG_MISSING;

    assert_int_equal(step_get(&r, "flags")->present[t], 1);
    assert_int_equal((int)step_get(&r, "flags")->x[t], given | own);
  }
  step_result_free(&r);
  for (int k = 0; k < 3; k++) {
    step_signal_free(&in[k]);
  }
}

static void a_change_is_one_within_4_ms(void **state)
{
  for (int c = 0; c < 2; c++) {
    step_signal s = step_signal_new(5000, 1000, 1);
    step_result r;

    for (int64_t t = 0; t < s.n; t++) {
      s.x[t] = (float)((c == 0 ? 0.002 : 0.003) * (double)t); /* 0.008 and 0.012 mV in 4 ms */
    }
    s.unit = "mV";
    step_run(&ps_step_artefact, (const char *const[]){"wander=1000", NULL}, &s, 1, (step_how){0},
             &r);
    for (int64_t t = 0; t < s.n; t++) {
      assert_int_equal((int)step_get(&r, "flags")->x[t],
                       c == 0 ? WEIR_FLAG_FLAT | WEIR_FLAG_LEAD_OFF : 0);
    }
    step_result_free(&r);
    step_signal_free(&s);
  }
}

static void nothing_present_has_no_flags(void **state)
{
  step_signal s = step_signal_new(2000, RATE, 1);
  step_result r;

  memset(s.present, 0, 2000);
  s.unit = "mV";
  step_check_chunks(&ps_step_artefact, NULL, &s, 1, &r);
  assert_int_equal(step_count(step_get(&r, "flags")), 0);
  step_result_free(&r);
  step_signal_free(&s);
}

static void no_input_upsets_it(void **state)
{
  static const char *const sets[] = {"low=-1",     "high=1",    "flat=0.01", "spike=1",
                                     "wander=0.5", "mains=0.1", NULL};

  for (uint64_t seed = 0; seed < 4; seed++) {
    const step_garbage_opts garbage = {.n_in = seed % 2 ? 3 : 2,
                                       .n = 4000,
                                       .rate = 125,
                                       .scale = 1,
                                       .unit = seed % 2 ? "mV" : "mmHg"};

    assert_true(step_check_garbage(&ps_step_artefact, sets, &garbage, seed) > 0);
  }
}

static void other_clocks_and_units_are_refused(void **state)
{
  step_signal in[3];
  step_frame f;

  for (int c = 0; c < 2; c++) {
    for (int k = 0; k < 3; k++) {
      in[k] = step_signal_new(1, c == 0 && k == 1 ? 2 * RATE : RATE, 1);
    }
    in[2].unit = c == 1 ? "mV" : NULL;
    assert_int_equal(step_build(&ps_step_artefact, NULL, in, 3, &f), WEIR_ERR_CONFIG);
    step_frame_fini(&f);
    for (int k = 0; k < 3; k++) {
      step_signal_free(&in[k]);
    }
  }
  assert_int_equal(weir_opts_incomplete(ps_step_artefact.opts), 0);
}

static void each_bit_is_documented(void **state)
{
#define X(name, bit, text) text,
  static const char *const texts[] = {WEIR_FLAG_LIST(X)};
#undef X
  char *page = NULL;
  int64_t size = 0;

  assert_ok(
      weir_file_read(WEIR_SOURCE_DIR "/docs/science/physio_stream.md", 1 << 20, &page, &size));
  for (int bit = 0; bit < (int)(sizeof texts / sizeof texts[0]); bit++) {
    char row[256];

    (void)snprintf(row, sizeof row, "\n| %d | %s |\n", 1 << bit, texts[bit]);
    assert_non_null(strstr(page, row));
  }
  weir_free(&page);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_bit_is_what_it_is_defined_to_be),
      cmocka_unit_test(fills_and_flags_of_others_are_joined),
      cmocka_unit_test(a_change_is_one_within_4_ms),
      cmocka_unit_test(nothing_present_has_no_flags),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(other_clocks_and_units_are_refused),
      cmocka_unit_test(each_bit_is_documented),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
