/* filter_test.c - every kind against plain loops in double, with gaps; flags; what is refused. */
#include "support/stream/filter_check.h"
#include "stream/op/sos/weir_stream_sos.h"
#include "stream/weir_flags.h"

static filter_case f;
static double x[SERIES_COUNT];
static uint8_t present[SERIES_COUNT];
static filter_design d;

/* Draws a stream with gaps, bridges it, and designs the filter. */
static void draw(filter_opts o, uint64_t seed, double missing)
{
  f.o = o;
  f.which = 0;
  series_draw(&f.c, seed, missing);
  filter_bridge_(&f.c, (int64_t)o.tolerance, x, present);
  assert_ok(filter_design_make(&o, 1, &d));
}

/* The slot after the run that begins at t. */
static int64_t run_end(int64_t t)
{
  while (t < SERIES_COUNT && present[t]) {
    t++;
  }
  return t;
}

static void recursive_filters_are_their_recurrence(void **state)
{
  for (uint64_t seed = 0; seed < 24; seed++) {
    filter_opts o = filter_defaults();

    o.kind = (int)(seed % 5);
    o.order = 1 + (int64_t)(seed % 6);
    o.f0 = 0.11;
    o.harmonics = 3;
    o.q = 5;
    draw(o, seed, 0.1 * (double)(seed % 4));
    filter_run(&f, seed % 2 ? 1 + (int64_t)seed * 3 : 0);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      double z[2 * WEIR_DESIGN_MAX_SECTIONS];

      assert_int_equal(f.c.y_present[t], present[t]);
      if (!present[t]) {
        assert_true(f.c.y[t] == 0.0f);
      } else if (t == 0 || !present[t - 1]) {
        filter_steady_(&d, z, x[t]);
        filter_recur_(&d, z, x + t, run_end(t) - t);
      }
      assert_near((double)f.c.y[t], present[t] ? x[t] : 0, 1e-7);
    }
  }
}

static void fir_filters_are_their_sum(void **state)
{
  for (uint64_t seed = 0; seed < 24; seed++) {
    filter_opts o = filter_defaults();
    int64_t start = 0;

    o.kind = FILTER_FIR_LOWPASS + (int)(seed % 4);
    o.taps = 3 + 2 * (int64_t)(seed * seed % 120);
    o.method = (int)(seed / 4 % 3);
    draw(o, seed, 0.1 * (double)(seed % 4));
    filter_run(&f, seed % 2 ? 1 + (int64_t)seed * 3 : 0);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      double y = 0;

      start = t == 0 || !present[t - 1] ? t : start;
      for (int64_t j = 0; j < o.taps && present[t]; j++) {
        y += d.h[j] * x[t - j > start ? t - j : start];
      }
      assert_int_equal(f.c.y_present[t], present[t]);
      assert_near((double)f.c.y[t], y, 2e-6);
    }
  }
}

static void restamped_results_stand_where_their_samples_do(void **state)
{
  filter_opts o = filter_defaults();
  static series_case late;

  o.kind = FILTER_FIR_BANDPASS;
  o.taps = 31;
  draw(o, 5, 0.2);
  filter_run(&f, 40);
  late = f.c;
  f.o.compensate_delay = true;
  filter_run(&f, 40);
  for (int64_t t = 0; t < SERIES_COUNT; t++) {
    const bool both = t + 15 < SERIES_COUNT && present[t] && present[t + 15];

    assert_int_equal(f.c.y_present[t], both);
    assert_true(f.c.y[t] == (both ? late.y[t + 15] : 0.0f));
  }
}

/* Forward and backward over one run, its ends turned around themselves. */
static void both_ways(double *v, int64_t n)
{
  double z[2 * WEIR_DESIGN_MAX_SECTIONS];
  static double w[3 * SERIES_COUNT], swap;
  int b = 0, a = 0;

  for (int k = 0; k < d.sections; k++) {
    b += d.sos[k].b2 == 0;
    a += d.sos[k].a2 == 0;
  }
  const int64_t full = 3 * (2 * d.sections + 1 - (b < a ? b : a));
  const int64_t edge = full < n - 1 ? full : n - 1, m = n + 2 * edge;

  for (int64_t i = 0; i < edge; i++) {
    w[i] = 2 * v[0] - v[edge - i];
    w[edge + n + i] = 2 * v[n - 1] - v[n - 2 - i];
  }
  memcpy(w + edge, v, (size_t)n * sizeof *v);
  for (int pass = 0; pass < 2; pass++) {
    filter_steady_(&d, z, w[0]);
    filter_recur_(&d, z, w, m);
    for (int64_t i = 0; i < m / 2; i++) {
      swap = w[i];
      w[i] = w[m - 1 - i];
      w[m - 1 - i] = swap;
    }
  }
  memcpy(v, w + edge, (size_t)n * sizeof *v);
}

/* Equal to 1e-10 but for the last rounding. */
static void rounded_to_f32(double y, double exact)
{
  assert_true(fabs(y - exact) <= 0x1p-24 * (1 + 1e-6) * fabs(exact) + 1e-10);
}

static void zero_phase_is_both_ways_over_each_run(void **state)
{
  for (uint64_t seed = 0; seed < 24; seed++) {
    filter_opts o = filter_defaults();

    o.kind = (int)(seed % 5);
    o.order = 1 + (int64_t)(seed % 4);
    o.zero_phase = true;
    o.look_ahead = seed % 3 == 0 ? 1500 : 8000;
    o.lo = 0.12;
    o.q = 2;
    o.f0 = 0.2;
    draw(o, seed, 0.1 * (double)(seed % 4));
    filter_run(&f, seed % 2 ? 1 + (int64_t)seed * 3 : 0);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      if (present[t] && (t == 0 || !present[t - 1])) {
        both_ways(x + t, run_end(t) - t);
      }
      assert_int_equal(f.c.y_present[t], present[t]);
      rounded_to_f32((double)f.c.y[t], present[t] ? x[t] : 0);
    }
  }
}

static void flags_tell_bridged_and_settling_samples(void **state)
{
  for (int kind = FILTER_LOWPASS; kind <= FILTER_FIR_BANDSTOP; kind += 3) {
    filter_opts o = filter_defaults();
    int64_t age = 0, seen = 0;

    o.kind = kind;
    o.taps = 21;
    o.settling = kind == FILTER_BANDSTOP ? 9 : 0;
    draw(o, 3, 0.3);
    f.which = 1;
    filter_run(&f, 33);
    const int64_t settling = kind == FILTER_BANDSTOP ? 9 : d.settling;

    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      age = present[t] ? age + 1 : 0;
      const int want = !present[t] ? 0
                                   : (f.c.present[t] ? 0 : WEIR_FLAG_INTERPOLATED) +
                                         (age <= settling ? WEIR_FLAG_SETTLING : 0);

      assert_int_equal((int)f.c.y[t], want);
      assert_int_equal(f.c.y_present[t], present[t]);
      seen |= want;
    }
    assert_int_equal(seen, WEIR_FLAG_INTERPOLATED | WEIR_FLAG_SETTLING);
  }
}

/* A sample that is not finite is a gap, for any chunking. */
static void samples_that_are_not_finite_are_gaps(void **state)
{
  for (uint64_t seed = 0; seed < 9; seed++) {
    filter_opts o = filter_defaults();

    o.kind = (int)seed;
    o.taps = 9;
    o.f0 = 0.2;
    o.tolerance = (double)(seed % 2);
    f.o = o;
    f.which = 0;
    series_draw(&f.c, seed, 0.1);
    f.c.x[100] = f.c.x[301] = NAN;
    f.c.x[302] = INFINITY;
    f.c.present[100] = f.c.present[301] = f.c.present[302] = 1;
    filter_bridge_(&f.c, (int64_t)o.tolerance, x, present);
    filter_run(&f, 1 + (int64_t)seed * 10);
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      assert_int_equal(f.c.y_present[t], present[t]);
      assert_true(isfinite(f.c.y[t]));
    }
  }
}

typedef struct cascade_case {
  filter_case f;
  int sections;
  int64_t hold;
} cascade_case;

static weir_series build_cascade(weir_graph *g, weir_series s, const void *context)
{
  const cascade_case *h = context;
  series_case *c = (series_case *)(uintptr_t)&h->f.c;
  const weir_series_use use = {.graph = g, .store = c->store, .keeper = &c->keeper};

  return weir_stream_cascade(&use, "state", s, d.sos, h->sections, h->hold);
}

static weir_series build_sos(weir_graph *g, weir_series s, const void *context)
{
  const cascade_case *h = context;

  return weir_stream_sos(g, s, d.sos, h->sections, h->hold);
}

static void a_cascade_equals_its_scan_in_any_chunks(void **state)
{
  static cascade_case h;
  static series_case scan;

  for (uint64_t seed = 0; seed < 30; seed++) {
    filter_opts o = filter_defaults();

    o.order = 1 + (int64_t)(seed % 16);
    o.lo = 0.02;
    assert_ok(filter_design_make(&o, 1, &d));
    h.sections = d.sections;
    h.hold = (int64_t)(seed % 4);
    series_draw(&h.f.c, seed, 0.15 * (double)(seed % 3));
    series_run(&h.f.c, build_sos, &h, WEIR_TIER_VECTOR, (weir_stream_cfg){.window = SERIES_COUNT});
    scan = h.f.c;
    series_run(&h.f.c, build_cascade, &h, WEIR_TIER_VECTOR,
               (weir_stream_cfg){.window = 1 + (double)(seed % 7) * 20, .skip = seed % 2 == 0});
    for (int64_t t = 0; t < SERIES_COUNT; t++) {
      assert_near((double)h.f.c.y[t], (double)scan.y[t], 1.2e-7);
    }
  }
}

static void refuse(filter_opts o, int64_t rate, const char *why)
{
  const series_step step = {.op = &weir_series_op_filter, .opts = &o};

  assert_non_null(strstr(series_refusal(&step, rate), why));
}

static void impossible_uses_are_refused_with_the_reason(void **state)
{
  filter_opts o = filter_defaults();

  o.lo = 5;
  o.hi = 200;
  refuse(o, 360, "is not inside");
  o.hi = 20;
  o.compensate_delay = true;
  refuse(o, 360, "compensate_delay");
  o.kind = FILTER_FIR_BANDPASS;
  o.compensate_delay = false;
  o.zero_phase = true;
  refuse(o, 360, "zero_phase");
  o.zero_phase = false;
  o.taps = 150;
  refuse(o, 360, "odd number");
  o.kind = FILTER_HIGHPASS;
  o.lo = 0.05;
  o.zero_phase = true;
  o.look_ahead = 10;
  refuse(o, 360, "look_ahead");
  o.kind = FILTER_NOTCH;
  o.f0 = 50;
  refuse(o, 100, "notch");
  o = filter_defaults();
  o.order = 1;
  o.lo = 1e-6;
  o.hi = 1e-5;
  for (int both = 0; both <= 1; both++) {
    o.zero_phase = both;
    refuse(o, 1000000, "does not settle");
  }
}

/* Three time constants are 110 days, more than 2^31 samples. */
static void a_filter_that_settles_for_months_can_be_used(void **state)
{
  filter_opts o = filter_defaults();

  o.kind = FILTER_NOTCH;
  o.f0 = 0.001;
  o.q = 1e4;
  assert_ok(filter_design_make(&o, 250, &d));
  assert_int_equal(d.settling, INT32_MAX);
  o.settling = 3600;
  assert_ok(filter_design_make(&o, 250, &d));
  assert_int_equal(d.settling, 3600 * 250);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(recursive_filters_are_their_recurrence),
      cmocka_unit_test(fir_filters_are_their_sum),
      cmocka_unit_test(restamped_results_stand_where_their_samples_do),
      cmocka_unit_test(zero_phase_is_both_ways_over_each_run),
      cmocka_unit_test(flags_tell_bridged_and_settling_samples),
      cmocka_unit_test(samples_that_are_not_finite_are_gaps),
      cmocka_unit_test(a_cascade_equals_its_scan_in_any_chunks),
      cmocka_unit_test(impossible_uses_are_refused_with_the_reason),
      cmocka_unit_test(a_filter_that_settles_for_months_can_be_used),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
