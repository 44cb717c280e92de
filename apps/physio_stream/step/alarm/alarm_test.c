/* alarm_test.c - alarms against their definition, which looks back from every slot; cases that show
 * each rule; and what may come in. */
#include "model/beat_features.h"
#include "support/physio_stream/step_check.h"

extern const weir_series_op ps_step_alarm;

enum { N = 3000, RATE = 20 };

typedef struct rule {
  const char *kind;
  int code;
  double limit, hysteresis, duration;
  int64_t beats, hold, gap; /* slots */
  bool has_signal, latch;
  double wide; /* of kind ventricular; 0: of classes */
} rule;

static bool is(const rule *r, const char *kind)
{
  return strcmp(r->kind, kind) == 0;
}

/* A slot of [lo, hi] in which the stream is present, the last one, or -1. */
static int64_t last_in(const step_signal *s, int64_t lo, int64_t hi)
{
  for (int64_t t = hi; t >= lo && t >= 0; t--) {
    if (s->present[t]) {
      return t;
    }
  }
  return -1;
}

static bool is_ventricular(const rule *r, float x)
{
  return r->wide > 0 ? (double)x > r->wide : x == 3;
}

static bool lost(const rule *r, const step_signal *in, int64_t t)
{
  return r->has_signal && last_in(&in[1], t - r->gap, t) < 0;
}

static bool lost_between(const rule *r, const step_signal *in, int64_t lo, int64_t hi)
{
  for (int64_t t = lo; t <= hi; t++) {
    if (lost(r, in, t)) {
      return true;
    }
  }
  return false;
}

/* The measure at slot t; NaN: not known. */
static double measure(const rule *r, const step_signal *in, int64_t t)
{
  const bool runs = is(r, "ventricular");
  const bool rhythm = runs || is(r, "bradycardia") || is(r, "tachycardia");

  if (is(r, "asystole")) {
    const int64_t d = (int64_t)(r->duration * RATE);

    return t < d || lost_between(r, in, t - d, t) || last_in(in, t - d + 1, t) >= 0 ? NAN : 1;
  }
  const int64_t last = last_in(in, t - (is(r, "present") ? r->gap : r->hold), t);

  if (last < 0 || lost_between(r, in, last, t)) {
    return NAN;
  }
  int64_t first = last;

  for (int64_t k = 1; rhythm && k < r->beats; k++) {
    const int64_t before = last_in(in, first - r->hold, first - 1);

    if (before < 0 || lost_between(r, in, before, first) ||
        (runs && !(is_ventricular(r, in->x[first]) && is_ventricular(r, in->x[before])))) {
      return NAN;
    }
    first = before;
  }
  return rhythm ? 60.0 * RATE * (double)(r->beats - 1) / (double)(last - first)
                : (double)in->x[last];
}

static bool passed(const rule *r, double value, bool released)
{
  const double by = released ? r->hysteresis : 0;

  return !isnan(value) &&
         (is(r, "high") || is(r, "tachycardia") || is(r, "ventricular") ? value > r->limit - by
          : is(r, "low") || is(r, "bradycardia")                        ? value < r->limit + by
                                                                        : true);
}

/* Whether an alarm of the condition is on at t: some time before, the limit was passed for the
 * duration, and since then the value has not come back. */
static bool lasts(const rule *r, const double *value, int64_t t)
{
  const int64_t d = is(r, "asystole") ? 0 : (int64_t)(r->duration * RATE);

  for (int64_t s = t; s >= 0 && passed(r, value[s], true); s--) {
    int64_t u = s;

    while (u >= 0 && u > s - d && passed(r, value[u], false)) {
      u--;
    }
    if (s >= d && u == s - d && passed(r, value[u], false)) {
      return true;
    }
  }
  return false;
}

static void compare(const rule *r, const char *const *sets, const step_signal *in, int n_in)
{
  static double value[N];
  bool before = false, latched = false;
  step_result got;
  int64_t n_on = 0;

  step_check_chunks(&ps_step_alarm, sets, in, n_in, &got);
  const step_stream *on = step_get(&got, "on"), *onset = step_get(&got, "onset");

  for (int64_t t = 0; t < in->n; t++) {
    value[t] = measure(r, in, t);
    const bool now = lasts(r, value, t);

    latched = r->latch && ((latched && !in[2].present[t]) || (now && !before));
    assert_int_equal(on->present[t], now || latched);
    assert_int_equal(onset->present[t], now && !before);
    if (on->present[t]) {
      assert_true(on->x[t] == (now ? 1.0f : 2.0f));
      assert_true(step_get(&got, "reason")->x[t] == (float)r->code);
    }
    n_on += now;
    before = now;
  }
  print_message("%s: on in %d of %d slots\n", r->kind, (int)n_on, (int)in->n);
  assert_true(n_on > 0 && n_on < in->n);
  step_result_free(&got);
}

/* Values that wander; a signal with gaps; acknowledgements. In the other streams nearly all slots
 * of a gap are absent, too. */
static void draw(uint64_t seed, int every, step_signal *in)
{
  double walk = 0;
  int64_t next = 0;

  for (int k = 0; k < 3; k++) {
    in[k] = step_signal_new(N, RATE, 1);
  }
  for (int64_t t = 0; t < N; t++) {
    const bool gap = (t / 11) % 23 == 4 || (t > 1500 && t < 1900);
    const double pace = every * (1 + 0.7 * sin((double)t * 0.005));
    const uint64_t bits = weir_random_bits(seed, 51, 0, (uint64_t)t);

    walk += 0.3 * weir_random_normal(seed, 52, 0, (uint64_t)t) - 0.01 * walk;
    in[0].x[t] = (float)walk;
    in[0].present[t] = every == 0 ? bits % 50 != 0 : t >= next;
    next = t >= next ? t + 1 + (int64_t)(pace * (0.8 + 0.4 * (double)(bits % 64) / 64)) : next;
    in[0].present[t] &= !gap;
    in[1].present[t] = !gap;
    in[2].present[t] = bits / 64 % 300 == 0;
  }
}

static void free_all(step_signal *in)
{
  for (int k = 0; k < 3; k++) {
    step_signal_free(&in[k]);
  }
}

static void alarms_are_what_they_are_defined_to_be(void **state)
{
  static const struct {
    rule rule;
    int n_in, every;
    const char *sets[8];
  } cases[] = {
      {{"high", 1, 0.5, 0, 0, .hold = 200, .gap = 10}, 1, 0, {"limit=0.5"}},
      {{"high", 1, 0.5, 1, 0.5, .hold = 2, .gap = 10},
       1,
       0,
       {"limit=0.5", "hysteresis=1", "duration=0.5", "hold=0.1"}},
      {{"low", 2, -0.3, 0.4, 2, .hold = 40, .gap = 4, .has_signal = true},
       2,
       9,
       {"kind=low", "limit=-0.3", "hysteresis=0.4", "duration=2", "hold=2", "gap=0.2"}},
      {{"high", 1, 0.7, 0.2, 0.25, .hold = 200, .gap = 10, .has_signal = true, .latch = true},
       3,
       0,
       {"limit=0.7", "hysteresis=0.2", "duration=0.25", "latch=true"}},
      {{"present", 3, .duration = 3, .hold = 200, .gap = 2},
       1,
       0,
       {"kind=present", "duration=3", "gap=0.1"}},
      {{"asystole", 4, .duration = 1.5, .hold = 200, .gap = 12, .has_signal = true},
       2,
       25,
       {"kind=asystole", "duration=1.5", "gap=0.6"}},
      {{"bradycardia", 5, 45, 5, .beats = 5, .hold = 200, .gap = 12, .has_signal = true},
       2,
       25,
       {"kind=bradycardia", "limit=45", "hysteresis=5", "gap=0.6"}},
      {{"tachycardia", 6, 140, .beats = 17, .hold = 30, .gap = 10},
       1,
       14,
       {"kind=tachycardia", "hold=1.5"}},
      {{"ventricular", 7, 100, .beats = 5, .hold = 30, .gap = 10, .wide = 0.2},
       1,
       8,
       {"kind=ventricular", "hold=1.5", "wide=0.2"}},
      {{"ventricular", 7, 100, .beats = 5, .hold = 30, .gap = 10},
       1,
       8,
       {"kind=ventricular", "hold=1.5"}},
  };

  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    for (uint64_t seed = 0; seed < 2; seed++) {
      step_signal in[3];

      draw(seed, cases[c].every, in);
      if (is(&cases[c].rule, "ventricular") && cases[c].rule.wide == 0) {
        in[0].unit = PS_CLASS_UNIT; /* runs of V, others in between */
        for (int64_t t = 0; t < N; t++) {
          in[0].x[t] = in[0].x[t] > 0 ? 3 : t % 5 == 0 ? 4 : 1;
        }
      }
      compare(&cases[c].rule, cases[c].sets, in, cases[c].n_in);
      free_all(in);
    }
  }
}

/* The first slot with an onset, or -1. */
static int64_t first_onset(const char *const *sets, const step_signal *in, int n_in)
{
  step_result r;
  int64_t at = -1;

  step_run(&ps_step_alarm, sets, in, n_in, (step_how){0}, &r);
  for (int64_t t = 0; t < in->n && at < 0; t++) {
    at = step_get(&r, "onset")->present[t] ? t : -1;
  }
  step_result_free(&r);
  return at;
}

static void rhythms_have_the_limits_of_the_challenge(void **state)
{
  static const char *const asystole[] = {"kind=asystole", NULL};
  static const char *const slow[] = {"kind=bradycardia", NULL};
  static const char *const fast[] = {"kind=tachycardia", NULL};
  static const char *const ventricular[] = {"kind=ventricular", NULL};
  step_signal in[3];

  draw(0, 0, in);
  memset(in[0].present, 0, N);
  memset(in[1].present, 1, N);
  /* 60 a minute, then nothing from slot 200 on: 4 s later it is an asystole. */
  for (int64_t t = 0; t <= 200; t += RATE) {
    in[0].present[t] = 1;
  }
  assert_int_equal(first_onset(asystole, in, 2), 200 + 4 * RATE);
  assert_int_equal(first_onset(slow, in, 1), -1);
  /* Unless the signal is lost, too. */
  memset(in[1].present + 201, 0, N - 201);
  assert_int_equal(first_onset(asystole, in, 2), -1);
  /* 37.5 a minute: at the fifth beat. 40 is not below 40. */
  memset(in[0].present, 0, N);
  for (int64_t k = 0; k < 20; k++) {
    in[0].present[10 + 32 * k] = 1;
  }
  assert_int_equal(first_onset(slow, in, 1), 10 + 32 * 4);
  memset(in[0].present, 0, N);
  for (int64_t k = 0; k < 20; k++) {
    in[0].present[10 + 30 * k] = 1;
  }
  assert_int_equal(first_onset(slow, in, 1), -1);
  /* 150 a minute: at the seventeenth beat. */
  memset(in[0].present, 0, N);
  for (int64_t k = 0; k < 40; k++) {
    in[0].present[8 * k] = 1;
  }
  assert_int_equal(first_onset(fast, in, 1), 8 * 16);
  /* Wide beats at that rate, but one in ten: at the fifth in a row. */
  for (int64_t k = 0; k < 40; k++) {
    in[0].x[8 * k] = k % 10 == 3 ? 0.09f : 0.15f;
  }
  assert_int_equal(first_onset(ventricular, in, 1), 8 * 8);
  for (int64_t k = 0; k < 40; k++) {
    in[0].x[8 * k] = k % 5 == 3 ? 0.12f : 0.15f;
  }
  assert_int_equal(first_onset(ventricular, in, 1), -1);
  /* Of classes: from the fifth V in a row, and none of fusion beats. */
  in[0].unit = PS_CLASS_UNIT;
  for (int64_t k = 0; k < 40; k++) {
    in[0].x[8 * k] = k < 3 ? 4 : k == 5 ? 1 : 3;
  }
  assert_int_equal(first_onset(ventricular, in, 1), 8 * 10);
  for (int64_t k = 0; k < 40; k++) {
    in[0].x[8 * k] = 4;
  }
  assert_int_equal(first_onset(ventricular, in, 1), -1);
  free_all(in);
}

static void nothing_present_raises_nothing(void **state)
{
  static const char *const kinds[] = {"kind=high",     "kind=low",         "kind=present",
                                      "kind=asystole", "kind=bradycardia", "kind=tachycardia"};
  step_signal in[3];

  draw(0, 0, in);
  memset(in[0].present, 0, N);
  memset(in[1].present, 0, N);
  for (int k = 0; k < 6; k++) {
    const char *const sets[] = {kinds[k], NULL};

    assert_int_equal(first_onset(sets, in, 2), -1);
  }
  free_all(in);
}

static void no_input_upsets_it(void **state)
{
  static const struct {
    const char *kind, *limit;
    uint64_t every;
  } cases[] = {{"kind=high", "limit=0", 0},          {"kind=low", "limit=0", 0},
               {"kind=present", "limit=0", 0},       {"kind=asystole", "limit=0", 0},
               {"kind=bradycardia", "limit=400", 5}, {"kind=tachycardia", "limit=0", 0}};

  for (uint64_t seed = 0; seed < 6; seed++) {
    const char *const sets[] = {cases[seed].kind,
                                cases[seed].limit,
                                "duration=0.1",
                                "hold=1",
                                seed % 2 ? "latch=true" : "latch=false",
                                NULL};
    const step_garbage_opts garbage = {
        .n_in = 3, .n = 2000, .rate = RATE, .scale = 1, .every = cases[seed].every};

    assert_true(step_check_garbage(&ps_step_alarm, sets, &garbage, seed) > 0);
  }
}

static void what_cannot_be_watched_is_refused(void **state)
{
  static const char *const sets[][2] = {
      {"kind=asystole"}, {"beats=1"}, {NULL}, {"kind=ventricular"}, {"kind=ventricular"}};
  step_signal in[3];
  step_frame f;

  for (int c = 0; c < 5; c++) {
    for (int k = 0; k < 3; k++) {
      in[k] = step_signal_new(1, c == 2 && k == 1 ? 30 : RATE, 1);
    }
    in[0].unit = c == 3 ? "mV" : c == 4 ? "1" : in[0].unit; /* a class of quality is in 1, too */
    assert_int_equal(step_build(&ps_step_alarm, sets[c], in, c == 0 ? 1 : 2, &f), WEIR_ERR_CONFIG);
    assert_true(c < 3 || strstr(weir_last_message(), "give it beat_class.class or delineate.qrs"));
    step_frame_fini(&f);
    free_all(in);
  }
  assert_int_equal(weir_opts_incomplete(ps_step_alarm.opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alarms_are_what_they_are_defined_to_be),
      cmocka_unit_test(rhythms_have_the_limits_of_the_challenge),
      cmocka_unit_test(nothing_present_raises_nothing),
      cmocka_unit_test(no_input_upsets_it),
      cmocka_unit_test(what_cannot_be_watched_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
