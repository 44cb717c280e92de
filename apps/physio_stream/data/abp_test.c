/* abp_test.c - pressures, truth against the signal, defects where they are said to be, any
 * chunking. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/abp.h"

enum { RATE = 125 };

typedef struct record {
  int64_t n, n_beats, n_onsets, n_defects;
  float *x;
  uint8_t *present;
  ps_abp_beat beats[4000];
  ps_abp_onset onsets[4000];
  ps_defect defects[4000];
} record;

static ps_abp_opts usual(void)
{
  ps_abp_opts o;

  weir_opts_default(ps_abp_options, sizeof o, &o);
  return o;
}

static record *make(const ps_abp_opts *opts, const ps_gap_opts *ecg_gaps, double heart_rate,
                    double seconds, uint64_t seed, int64_t max_chunk)
{
  record *r = calloc(1, sizeof *r);
  ps_ecgsyn_opts how;
  ps_ecgsyn *ecg = NULL;
  ps_abp *g = NULL;

  weir_opts_default(ps_ecgsyn_options, sizeof how, &how);
  how.heart_rate = heart_rate;
  r->n = (int64_t)(seconds * opts->rate);
  r->x = calloc((size_t)r->n, sizeof *r->x);
  r->present = calloc((size_t)r->n, 1);
  assert_ok(ps_ecgsyn_create(&how, seed, &ecg));
  assert_ok(ps_abp_create(opts, ecg, ecg_gaps, how.rate, seed, &g));
  for (int64_t at = 0, call = 0; at < r->n; call++) {
    const int64_t wish =
        max_chunk > 0 ? (int64_t)(weir_random_bits(1, 2, 0, (uint64_t)call) % (uint64_t)max_chunk)
                      : r->n;
    const int64_t take = wish < r->n - at ? wish : r->n - at;
    const ps_abp_beat *beats;
    const ps_abp_onset *onsets;
    const ps_defect *defects;

    assert_ok(ps_abp_chunk(g, take, r->x + at, r->present + at));
    const int64_t nb = ps_abp_beats(g, &beats), no = ps_abp_onsets(g, &onsets);
    const int64_t nd = ps_abp_defects(g, &defects);

    for (int64_t i = 0; i < nb; i++) {
      r->beats[r->n_beats++] = beats[i];
    }
    for (int64_t i = 0; i < no; i++) {
      r->onsets[r->n_onsets++] = onsets[i];
    }
    for (int64_t i = 0; i < nd; i++) {
      r->defects[r->n_defects++] = defects[i];
    }
    at += take;
  }
  ps_abp_destroy(&g);
  ps_ecgsyn_destroy(&ecg);
  return r;
}

static void drop(record *r)
{
  free(r->x);
  free(r->present);
  free(r);
}

static void pressures_are_those_of_a_healthy_adult(void **state)
{
  const ps_abp_opts o = usual();
  record *r = make(&o, NULL, 60, 120, 1, 0);
  double sbp = 0, dbp = 0, map = 0, mean = 0;

  assert_true(r->n_beats > 110 && r->n_beats < 130);
  for (int64_t i = 0; i < r->n_beats; i++) {
    sbp += r->beats[i].sbp / (double)r->n_beats;
    dbp += r->beats[i].dbp / (double)r->n_beats;
    map += r->beats[i].map / (double)r->n_beats;
    assert_true(r->beats[i].peak > r->beats[i].onset + 0.05 &&
                r->beats[i].peak < r->beats[i].onset + 0.35);
    assert_true(r->beats[i].foot > r->beats[i].onset + 0.01 &&
                r->beats[i].foot < r->beats[i].onset + 0.06);
    assert_near(r->beats[i].onset - r->beats[i].r, 0.12, 1e-12);
  }
  assert_true(fabs(sbp - 120) < 3 && fabs(dbp - 80) < 3);
  for (int64_t i = 0; i < r->n; i++) {
    assert_true(r->present[i] == 1 && r->x[i] > 70 && r->x[i] < 130);
    mean += (double)r->x[i] / (double)r->n;
  }
  /* Mean flow times resistance, and the reflected wave. */
  assert_true(fabs(map - mean) < 0.5 && fabs(mean - 98) < 1.5);
  drop(r);
}

/* The Windkessel by itself: mean pressure is flow times resistance. */
static void mean_pressure_is_flow_times_resistance(void **state)
{
  ps_abp_opts o = usual();
  double mean = 0;

  o.wave = 0;
  o.resistance = 0.95;
  o.compliance = 1.6;
  record *r = make(&o, NULL, 85, 240, 2, 0);

  for (int64_t i = 10 * RATE; i < r->n; i++) {
    mean += (double)r->x[i] / (double)(r->n - 10 * RATE);
  }
  assert_near(mean, 70 * 0.95 * 85 / 60, 0.7);
  drop(r);
}

static int64_t slot_of(double sample)
{
  return (int64_t)ceil(sample);
}

/* Pressure falls up to an onset and rises soon after. */
static void onsets_stand_where_the_signal_turns(void **state)
{
  ps_abp_opts o = usual();

  for (int k = 0; k < 2; k++) {
    o.drift = k * 3000;
    record *r = make(&o, NULL, 70, 200, 3, 0);

    assert_true(r->n_onsets > 200);
    for (int64_t i = 0; i < r->n_onsets; i++) {
      const int64_t at = slot_of(r->onsets[i].sample);

      assert_near(r->onsets[i].sample * (1 + k * 3000e-6) / RATE, r->onsets[i].time, 1e-9);
      if (at > 4 && at + 12 < r->n) {
        assert_true(r->x[at - 4] > r->x[at - 1] && r->x[at + 12] > r->x[at] + 3);
      }
      assert_true(i == 0 || r->onsets[i].sample > r->onsets[i - 1].sample + 0.4 * RATE);
    }
    drop(r);
  }
}

static void any_chunking_gives_the_same_bits(void **state)
{
  ps_abp_opts o = usual();

  o.noise = 1;
  o.gaps = (ps_gap_opts){.missing = 0.2, .mean = 3};
  o.zero_every = 40;
  o.step_every = 30;
  o.drift = -200;
  record *a = make(&o, NULL, 60, 300, 4, 0), *b = make(&o, NULL, 60, 300, 4, 300);
  record *c = make(&o, NULL, 60, 300, 5, 0);

  assert_memory_equal(a->x, b->x, (size_t)a->n * sizeof *a->x);
  assert_memory_equal(a->present, b->present, (size_t)a->n);
  assert_true(a->n_beats == b->n_beats && a->n_onsets == b->n_onsets &&
              a->n_defects == b->n_defects);
  assert_memory_equal(a->beats, b->beats, (size_t)a->n_beats * sizeof *a->beats);
  assert_memory_equal(a->onsets, b->onsets, (size_t)a->n_onsets * sizeof *a->onsets);
  assert_true(memcmp(a->x, c->x, (size_t)a->n * sizeof *a->x) != 0);
  drop(a);
  drop(b);
  drop(c);
}

static void gaps_are_as_long_and_where_they_are_said_to_be(void **state)
{
  static const double missing[] = {0.01, 0.1, 0.5, 0.9};

  for (int k = 0; k < 4; k++) {
    ps_abp_opts o = usual();
    int64_t absent = 0, recorded = 0;

    o.gaps = (ps_gap_opts){.missing = missing[k], .mean = 2};
    record *r = make(&o, NULL, 60, 3000, 6, 0);

    for (int64_t i = 0; i < r->n; i++) {
      absent += !r->present[i];
    }
    for (int64_t i = 0; i < r->n_defects; i++) {
      assert_string_equal(r->defects[i].kind, "gap");
      recorded += (r->defects[i].hi < r->n ? r->defects[i].hi : r->n) - r->defects[i].lo;
      assert_true(!r->present[r->defects[i].lo] && r->present[r->defects[i].lo - 1]);
    }
    assert_int_equal(absent, recorded);
    /* Four standard deviations of an alternating exponential process. */
    const double share = (double)absent / (double)r->n, m = missing[k];

    assert_true(fabs(share - m) < 4 * m * (1 - m) * sqrt(2 * 2 / (m * 3000)) + 0.002);
    drop(r);
  }
}

static void common_gaps_are_those_of_the_ecg(void **state)
{
  const ps_gap_opts ecg_gaps = {.missing = 0.3, .mean = 4};
  ps_abp_opts o = usual();
  ps_gaps gaps;
  uint8_t *ecg = calloc(500 * 256, 1);

  o.common_gaps = true;
  record *r = make(&o, &ecg_gaps, 60, 500, 7, 0);

  ps_gaps_init(&ecg_gaps, 7, 0, 256, &gaps);
  ps_gaps_fill(&gaps, 0, 500 * 256, ecg);
  for (int64_t i = 0; i < r->n; i++) {
    assert_int_equal(r->present[i], ecg[i * 256 / RATE]);
  }
  assert_true(r->n_defects > 10);
  free(ecg);
  drop(r);
}

static void a_zeroed_line_shows_zero_then_the_flush(void **state)
{
  ps_abp_opts o = usual();
  int zeros = 0;

  o.zero_every = 60;
  record *r = make(&o, NULL, 60, 2000, 8, 0);

  for (int64_t i = 0; i < r->n_defects; i++) {
    const ps_defect *d = &r->defects[i];
    const bool zero = strcmp(d->kind, "line_zero") == 0;
    const double seconds = (double)(d->hi - d->lo) / RATE;

    assert_true(zero || strcmp(d->kind, "flush") == 0);
    assert_true(zero ? seconds >= 5 && seconds <= 20.01 : fabs(seconds - 1) < 0.01);
    zeros += zero;
    for (int64_t t = d->lo; t < d->hi && t < r->n; t++) {
      assert_true(r->x[t] == (zero ? 0.0f : 300.0f));
    }
    assert_true(r->x[d->lo - 1] > 70 || !zero);
  }
  assert_true(zeros > 12 && zeros < 50);
  drop(r);
}

/* On jumps the recording leaves time out, and back it shows it again. */
static void jumps_of_the_clock_move_the_onsets(void **state)
{
  ps_abp_opts o = usual();
  double offset = 0;
  int64_t next = 0;

  o.step_every = 50;
  o.step = 0.7;
  record *r = make(&o, NULL, 60, 1000, 9, 0);

  assert_true(r->n_defects > 8);
  for (int64_t i = 0; i < r->n_onsets; i++) {
    while (next < r->n_defects && (double)r->defects[next].lo <= r->onsets[i].sample) {
      assert_string_equal(r->defects[next].kind, "clock_step");
      assert_near(r->defects[next].value, offset > 0 ? -0.7 : 0.7, 1e-12);
      offset += r->defects[next++].value;
    }
    assert_near(r->onsets[i].time, r->onsets[i].sample / RATE + offset, 1e-9);
  }
  drop(r);
}

static void impossible_rates_are_refused(void **state)
{
  ps_ecgsyn_opts how;
  ps_abp_opts o = usual();
  ps_ecgsyn *ecg = NULL;
  ps_abp *g = NULL;

  weir_opts_default(ps_ecgsyn_options, sizeof how, &how);
  assert_ok(ps_ecgsyn_create(&how, 1, &ecg));
  o.rate = 62.5;
  assert_int_equal(ps_abp_create(&o, ecg, NULL, 256, 1, &g), WEIR_ERR_CONFIG);
  assert_null(g);
  ps_ecgsyn_destroy(&ecg);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressures_are_those_of_a_healthy_adult),
      cmocka_unit_test(mean_pressure_is_flow_times_resistance),
      cmocka_unit_test(onsets_stand_where_the_signal_turns),
      cmocka_unit_test(any_chunking_gives_the_same_bits),
      cmocka_unit_test(gaps_are_as_long_and_where_they_are_said_to_be),
      cmocka_unit_test(common_gaps_are_those_of_the_ecg),
      cmocka_unit_test(a_zeroed_line_shows_zero_then_the_flush),
      cmocka_unit_test(jumps_of_the_clock_move_the_onsets),
      cmocka_unit_test(impossible_rates_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
