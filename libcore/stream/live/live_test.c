/* live_test.c - slots, lateness, duplicates and the end against a plain model; the same bits as a
 * run of what was kept, however lines and chunks are divided; hostile lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "base/weir_signal.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/scan/weir_scan.h"
#include "ops/shift/weir_shift.h"
#include "stream/live/live_priv.h"
#include "support/stream/run_check.h"

static const weir_live_cfg plain = {.lateness = 0.5, .max_ahead = 3600};

static void take(weir_live *l, const char *text)
{
  live_take(l, text, (int64_t)strlen(text));
}

static weir_status no_more(void *context, double wait, weir_wire_event *event, const char **text,
                           int64_t *size)
{
  *event = WEIR_WIRE_ENDED;
  return WEIR_OK;
}

static weir_live *make(weir_live_cfg cfg, const char *hello)
{
  weir_live *l = NULL;

  assert_ok(weir_live_create(&cfg, (weir_live_lines){no_more, NULL}, &l));
  take(l, hello);
  take(l, "#stream ecg fs=10 unit=mV");
  assert_ok(weir_live_use(l, 0));
  return l;
}

static void read_slots(weir_live *l, int64_t n, float *x, uint8_t *present)
{
  assert_ok(weir_live_read(l, 0, 0, n, x, present));
}

static void samples_are_snapped_and_the_first_one_counts(void **state)
{
  weir_live *l = make(plain, "#weir 1 record=bed7 start=100");
  float x[8];
  uint8_t present[8];

  take(l, "ecg,100,1");
  take(l, "ecg,100.12,2");   /* slot 1, 20 ms off */
  take(l, "ecg,100.0999,9"); /* slot 1 again, and backward */
  take(l, "ecg,100.3,3");
  take(l, "ecg,100.2,4"); /* out of order, within the bound */
  take(l, "ecg,100.4,");  /* known to be absent */
  take(l, "ecg,100.4,7"); /* the first one counts */
  take(l, "ecg,99.8,5");  /* before slot 0 */
  take(l, "ecg,99.96,5"); /* slot 0 again */
  take(l, "resp,100,5");  /* undeclared */
  read_slots(l, 8, x, present);
  const float expected[] = {1, 2, 4, 3, 0, 0, 0, 0};

  assert_memory_equal(x, expected, sizeof x);
  assert_memory_equal(present, ((uint8_t[]){1, 1, 1, 1, 0, 0, 0, 0}), sizeof present);
  const weir_live_counts c = *weir_live_counted(l);

  assert_int_equal(c.samples, 9);
  assert_int_equal(c.kept, 5);
  assert_int_equal(c.absent, 1);
  assert_int_equal(c.snapped, 1);
  assert_int_equal(c.duplicate, 3);
  assert_int_equal(c.late, 1);
  assert_int_equal(c.backward, 3);
  assert_int_equal(c.malformed, 1);
  assert_int_equal(c.lines, 12);
  assert_string_equal(weir_live_name(l), "bed7");
  assert_string_equal(weir_live_get(l, 0)->unit, "mV");
  weir_live_destroy(&l);
}

static void tolerance_jump_and_lateness_drop_and_count(void **state)
{
  weir_live_cfg cfg = plain;

  cfg.tolerance = 0.01;
  cfg.max_ahead = 10;
  weir_live *l = make(cfg, "#weir 1 start=0");

  take(l, "ecg,5000,1");  /* ahead of the start */
  take(l, "ecg,1.005,1"); /* slot 10 */
  take(l, "ecg,1.02,1");  /* 20 ms off */
  take(l, "ecg,0.5,1");   /* just within 0.5 s of 1.0 */
  take(l, "ecg,0.4,1");   /* just late */
  take(l, "ecg,11.1,1");  /* ahead of 1.0 by over 10 s */
  take(l, "ecg,11,1");
  const weir_live_counts c = *weir_live_counted(l);

  assert_int_equal(c.ahead, 2);
  assert_int_equal(c.off_grid, 1);
  assert_int_equal(c.late, 1);
  assert_int_equal(c.kept, 3);
  assert_int_equal(live_watermark(l), 10500000000);
  weir_live_destroy(&l);
}

static void times_are_dates_or_numbers_from_a_start(void **state)
{
  weir_live *l = make(plain, "#weir 1 start=2026-01-31T12:00:00Z");
  int64_t us = 0;

  take(l, "ecg,2026-01-31T12:00:00.1Z,1");
  take(l, "ecg,0.2,2"); /* a number counts from the start */
  assert_int_equal(weir_live_counted(l)->kept, 2);
  assert_int_equal(weir_live_start(l, &us), 2);
  assert_int_equal(us, 1769860800000000);
  weir_live_destroy(&l);
  l = make(plain, "#weir 1");
  take(l, "ecg,1769860800.5,1"); /* slot 0 is the first sample's */
  take(l, "ecg,1769860800.6,1");
  take(l, "ecg,2026-01-31T12:00:01Z,1"); /* no date where the start is a number */
  assert_int_equal(weir_live_counted(l)->kept, 2);
  assert_int_equal(weir_live_counted(l)->malformed, 1);
  assert_int_equal(l->newest, 100000000);
  assert_int_equal(weir_live_start(l, &us), 0);
  weir_live_destroy(&l);
}

static void declarations_have_their_place(void **state)
{
  weir_live *l = make(plain, "#weir 1");

  take(l, "#stream ecg fs=20"); /* again */
  take(l, "ecg,0,1");
  take(l, "#stream abp fs=20"); /* too late */
  take(l, "#weir 1 start=4");
  assert_int_equal(weir_live_counted(l)->malformed, 3);
  assert_int_equal(weir_live_count(l), 1);
  take(l, "#end time=0.35");
  take(l, "ecg,0.1,1"); /* after the end */
  assert_int_equal(weir_live_counted(l)->malformed, 4);
  int64_t final = 0;
  bool ended = false;

  assert_ok(weir_live_wait(l, 0, 1000, &final, &ended));
  assert_true(ended);
  assert_int_equal(final, 350000000);
  weir_live_destroy(&l);
}

/* A hundred years of nothing would be read to their end. */
static void an_end_far_ahead_is_that_of_the_last_sample(void **state)
{
  weir_live *l = make(plain, "#weir 1 start=0");
  int64_t final = 0;
  bool ended = false;

  take(l, "ecg,0.1,1");
  take(l, "#end time=3600.2");
  assert_int_equal(weir_live_counted(l)->malformed, 1);
  assert_ok(weir_live_wait(l, 0, 1000, &final, &ended));
  assert_true(ended);
  assert_int_equal(final, 200000000);
  weir_live_destroy(&l);
}

/* A stream's worth of lines, and what a plain model keeps of them. */
enum { SLOTS = 3000, LINES = 4 * SLOTS, RATE = 125 };
typedef struct script {
  char line[LINES][64];
  int n, next;
  float x[SLOTS];
  uint8_t present[SLOTS];
  int64_t late, duplicate;
  weir_live *live;
  uint64_t seed;
  int64_t waits;
  int stop_at;
} script;

static double uniform(uint64_t seed, uint32_t purpose, int64_t index)
{
  return weir_random_uniform(seed, purpose, 0, (uint64_t)index);
}

/* Sends slots in the order of t + delay, some twice with another value, some never, some so late
 * that they are dropped; the model is the definition: late is what is older than newest - 0.5 s. */
static void write_script(script *s, uint64_t seed)
{
  static int order[2 * SLOTS];
  static double key[2 * SLOTS];
  int n = 0, newest = -1;

  memset(s, 0, sizeof *s);
  s->seed = seed;
  for (int t = 0; t < SLOTS; t++) {
    const double u = uniform(seed, 1, t);
    const double delay = u < 0.02 ? 100 + 100 * uniform(seed, 2, t) : 60 * uniform(seed, 3, t);

    if (u > 0.9 || (t > 1000 && t < 1400)) {
      continue;
    }
    key[n] = t + delay;
    order[n++] = t;
    if (u > 0.85) {
      key[n] = t + 60 * uniform(seed, 4, t);
      order[n++] = t;
    }
  }
  for (int i = 1; i < n; i++) { /* insertion: stable */
    for (int k = i; k > 0 && key[k] < key[k - 1]; k--) {
      const double a = key[k];
      const int b = order[k];

      key[k] = key[k - 1];
      key[k - 1] = a;
      order[k] = order[k - 1];
      order[k - 1] = b;
    }
  }
  snprintf(s->line[s->n++], 64, "#weir 1 start=0");
  snprintf(s->line[s->n++], 64, "#stream ecg fs=%d", RATE);
  for (int i = 0; i < n; i++) {
    const int t = order[i];
    const float v = (float)weir_random_normal(seed, 5, 0, (uint64_t)i);

    if (uniform(seed, 6, i) < 0.01) {
      snprintf(s->line[s->n++], 64, "ecg;%d;broken", t);
    }
    snprintf(s->line[s->n++], 64, "ecg,%.6f,%.9g", (double)t / RATE, (double)v);
    if ((double)t < newest - 0.5 * RATE) {
      s->late++;
    } else if (s->present[t]) {
      s->duplicate++;
    } else {
      s->present[t] = 1;
      s->x[t] = v;
      newest = t > newest ? t : newest;
    }
  }
  snprintf(s->line[s->n++], 64, "#end time=%.6f", (double)SLOTS / RATE);
}

/* The next line, now and then only after a while. */
static weir_status next_line(void *context, double wait, weir_wire_event *event, const char **text,
                             int64_t *size)
{
  script *s = context;
  const bool quiet = uniform(s->seed, 7, s->waits++) < 0.002 && s->waits > 9;

  *event = quiet ? WEIR_WIRE_QUIET : s->next < s->n ? WEIR_WIRE_GOT : WEIR_WIRE_ENDED;
  if (*event == WEIR_WIRE_GOT) {
    *text = s->line[s->next++];
    *size = (int64_t)strlen(*text);
  }
  if (s->next == s->stop_at) {
    weir_stop_request(15);
  }
  return WEIR_OK;
}

static weir_status read_live(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  return weir_live_read(((script *)context)->live, 0, lo, hi, x, present);
}

static weir_status read_kept(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  const script *s = context;

  memcpy(x, s->x + lo, (size_t)(hi - lo) * sizeof *x);
  memcpy(present, s->present + lo, (size_t)(hi - lo));
  return WEIR_OK;
}

typedef struct outcome {
  float y[SLOTS];
  int64_t end;
} outcome;

static weir_status take_y(void *context, const weir_view *view, int64_t lo, int64_t hi, bool last)
{
  outcome *o = context;

  for (int64_t t = lo; t < hi; t++) {
    o->y[t] = *(const float *)weir_view_at(view, &t);
  }
  o->end = last ? hi : o->end;
  return WEIR_OK;
}

/* A recursive filter and a look-ahead of two slots. */
static weir_graph *make_graph(void)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_array_desc b = {.dtype = WEIR_BOOL, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  const weir_sos_spec sos = {
      .n = 1, .section = {{0.2, 0.4, 0.2, 1, -0.5, 0.2}}, .steady = true, .hold = 3};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &x), present = weir_input(g, "p", &b);
  const weir_value f = weir_sos(g, &sos, in, present);

  weir_output(g, "y", weir_add(g, f, weir_shift(g, f, 0, -2)));
  return g;
}

static void run(script *s, bool live, weir_stream_cfg cfg, int threads, outcome *o,
                weir_stream_report *report)
{
  const weir_stream_source source = {
      "x", "p", RATE, 1, live ? WEIR_STREAM_OPEN : SLOTS, live ? read_live : read_kept, NULL, s};
  const weir_stream_live clock = {weir_live_wait, s->live};
  const weir_stream_sink sink = {"y", take_y, o};
  weir_store *store = NULL;

  memset(o, 0, sizeof *o);
  assert_ok(weir_store_create(&store));
  weir_graph *g = make_graph();
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = &sink,
                               .n_sinks = 1,
                               .stream = &cfg,
                               .threads = threads,
                               .live = live ? &clock : NULL};

  run_job(job, WEIR_TIER_REFERENCE, report);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

static void begin(script *s)
{
  s->next = 0;
  assert_ok(weir_live_create(&plain, (weir_live_lines){next_line, s}, &s->live));
  assert_ok(weir_live_begin(s->live));
  assert_int_equal(weir_live_count(s->live), 1);
  assert_ok(weir_live_use(s->live, 0));
}

static void live_gives_the_bits_of_a_run_of_what_was_kept(void **state)
{
  static script s;
  static outcome whole, other;
  weir_stream_report report;

  for (uint64_t seed = 1; seed <= 4; seed++) {
    write_script(&s, seed);
    run(&s, false, (weir_stream_cfg){.window = 100}, 1, &whole, &report);
    assert_true(report.chunk_max_s == 0);
    for (int k = 0; k < 4; k++) {
      /* Chunks shorter than a sample too: live ones may be. */
      const weir_stream_cfg cfg = {.window = k < 2 ? 0 : 3,
                                   .live_window = k == 1 ? 0.004 : 0.25,
                                   .skip = k & 1,
                                   .cut_seed = k == 3 ? 9 : 0};

      begin(&s);
      run(&s, true, cfg, 1 + k % 2, &other, &report);
      assert_int_equal(other.end, SLOTS);
      assert_memory_equal(&other, &whole, sizeof whole);
      const weir_live_counts c = *weir_live_counted(s.live);

      assert_int_equal(c.late, s.late);
      assert_int_equal(c.duplicate, s.duplicate);
      assert_int_equal(c.snapped, 0);
      assert_true(c.late > 10 && c.duplicate > 50 && c.malformed > 5 && c.backward > 100);
      assert_int_equal(c.kept + c.late + c.duplicate, c.samples);
      assert_true(report.chunk_p50_s > 0 && report.chunk_p50_s <= report.chunk_p99_s &&
                  report.chunk_p99_s <= report.chunk_max_s);
      weir_live_destroy(&s.live);
    }
  }
}

static void a_stop_ends_live_input_with_what_is_final(void **state)
{
  static script s;
  static outcome o, whole;
  weir_stream_report report;

  write_script(&s, 5);
  run(&s, false, (weir_stream_cfg){.window = 100}, 1, &whole, &report);
  begin(&s);
  s.stop_at = 1000;
  run(&s, true, (weir_stream_cfg){.live_window = 0.25}, 1, &o, &report);
  weir_stop_request(0);
  assert_true(o.end > 500 && o.end == live_slot_at(&s.live->ring[0], live_watermark(s.live)));
  assert_memory_equal(o.y, whole.y, (size_t)(o.end - 2) * sizeof *o.y);
  weir_live_destroy(&s.live);
}

/* A leap within the allowed holds one sample back and costs no memory. */
static void a_leap_is_a_gap(void **state)
{
  weir_live *l = make(plain, "#weir 1 start=0");
  int64_t final = 0;
  bool ended = false;
  float x = 0;
  uint8_t present = 0;

  take(l, "ecg,0,1");
  take(l, "ecg,3000,2");
  assert_ok(weir_live_wait(l, 0, 1000, &final, &ended));
  assert_true(!ended && final == 2999500000000);
  assert_int_equal(l->ring[0].capacity, 33);
  assert_ok(weir_live_wait(l, final, final + 1000000000, &final, &ended));
  assert_true(ended);
  assert_int_equal(final, 3000100000000);
  assert_ok(weir_live_read(l, 0, 30000, 30001, &x, &present));
  assert_true(present && x == 2);
  weir_live_destroy(&l);
}

/* One clock for all streams that are read; one that is not read does not move it. */
static void streams_of_several_rates_share_the_watermark(void **state)
{
  weir_live *l = make(plain, "#weir 1 start=0");
  float x[4];
  uint8_t present[4];
  int64_t final = 0;
  bool ended = false;

  take(l, "#stream abp fs=2.5");
  take(l, "#stream resp fs=1");
  assert_ok(weir_live_use(l, 1));
  assert_ok(weir_live_use(l, 2));
  weir_live_leave(l, 2);
  take(l, "ecg,0,1");
  take(l, "abp,0,10");
  take(l, "abp,0.8,12");
  take(l, "ecg,0.2,3"); /* later than the ABP's newest by over half a second */
  take(l, "abp,0.4,11");
  take(l, "resp,100,1");
  take(l, "ecg,0.3,4");
  assert_int_equal(live_watermark(l), 300000000);
  assert_int_equal(weir_live_counted(l)->late, 1);
  assert_int_equal(weir_live_counted(l)->unused, 1);
  assert_ok(weir_live_read(l, 1, 0, 4, x, present));
  assert_memory_equal(x, ((float[]){10, 11, 12, 0}), sizeof x);
  assert_memory_equal(present, ((uint8_t[]){1, 1, 1, 0}), sizeof present);
  assert_ok(weir_live_read(l, 0, 0, 4, x, present));
  assert_memory_equal(x, ((float[]){1, 0, 0, 4}), sizeof x);
  assert_ok(weir_live_wait(l, 0, 100000000, &final, &ended));
  assert_true(!ended && final >= 100000000);
  take(l, "#end");
  assert_ok(weir_live_wait(l, 0, 5000000000, &final, &ended));
  assert_true(ended);
  assert_int_equal(final, 1200000000); /* the slot of 0.8 s is 0.4 s long */
  weir_live_destroy(&l);
}

static void too_much_lateness_is_refused(void **state)
{
  weir_live_cfg cfg = plain;
  weir_live *l = NULL;

  cfg.lateness = 3600;
  assert_ok(weir_live_create(&cfg, (weir_live_lines){no_more, NULL}, &l));
  take(l, "#stream x fs=1e6");
  assert_int_equal(weir_live_use(l, 0), WEIR_ERR_CONFIG);
  weir_live_destroy(&l);
}

static weir_status junk(void *context, double wait, weir_wire_event *event, const char **text,
                        int64_t *size)
{
  *event = WEIR_WIRE_GOT;
  *text = "junk";
  *size = 4;
  return WEIR_OK;
}

static void a_limit_of_rejected_lines_is_named_with_the_failure(void **state)
{
  weir_live_cfg cfg = plain;
  weir_live *l = NULL;

  cfg.max_bad_lines = 3;
  assert_ok(weir_live_create(&cfg, (weir_live_lines){junk, NULL}, &l));
  assert_int_equal(weir_live_begin(l), WEIR_ERR_DATA);
  assert_string_equal(weir_last_option(), "max_bad_lines");
  assert_int_equal(weir_live_counted(l)->lines, 3);
  weir_live_destroy(&l);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_are_snapped_and_the_first_one_counts),
      cmocka_unit_test(tolerance_jump_and_lateness_drop_and_count),
      cmocka_unit_test(times_are_dates_or_numbers_from_a_start),
      cmocka_unit_test(declarations_have_their_place),
      cmocka_unit_test(an_end_far_ahead_is_that_of_the_last_sample),
      cmocka_unit_test(live_gives_the_bits_of_a_run_of_what_was_kept),
      cmocka_unit_test(a_stop_ends_live_input_with_what_is_final),
      cmocka_unit_test(a_leap_is_a_gap),
      cmocka_unit_test(streams_of_several_rates_share_the_watermark),
      cmocka_unit_test(too_much_lateness_is_refused),
      cmocka_unit_test(a_limit_of_rejected_lines_is_named_with_the_failure),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
