/* query_test.c - names, order, outputs, clocks and units of queries; what they compute is what the
 * operators compute. */
#include "query_priv.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/shift/weir_stream_shift.h"
#include "support/stream/run_check.h"

enum { COUNT = 400 };

static weir_status build_delay(const weir_series_use *use, weir_series_result *out)
{
  const int64_t *by = use->opts;

  if (*by > 50) {
    return weir_fail(WEIR_ERR_CONFIG, "by: %lld slots are too many for '%s'", (long long)*by,
                     use->in_name[0]);
  }
  *out = (weir_series_result){.out = {weir_stream_shift(use->graph, use->in[0], *by)}, .n = 1};
  return WEIR_OK;
}

/* The stream on a clock so many times as fast. */
static weir_status build_hold(const weir_series_use *use, weir_series_result *out)
{
  const weir_series s = weir_series_hold(use->graph, use->in[0], *(const int64_t *)use->opts);

  *out = (weir_series_result){.out = {s}, .n = 1};
  return WEIR_OK;
}

static weir_status build_pair(const weir_series_use *use, weir_series_result *out)
{
  WEIR_TRY(weir_series_same_unit(&use->in[0], use->in_name[0], &use->in[1], use->in_name[1]));
  *out = (weir_series_result){.out = {use->in[0], use->in[1]},
                              .name = {"left", "right"},
                              .former = {NULL, "starboard"},
                              .n = 2};
  return WEIR_OK;
}

/* A result called as the step is, and one next to it. */
static weir_status build_marked(const weir_series_use *use, weir_series_result *out)
{
  *out = (weir_series_result){.out = {use->in[0], use->in[0]}, .name = {NULL, "flags"}, .n = 2};
  return WEIR_OK;
}

/* A failure that only the graph knows of. */
static weir_status build_broken(const weir_series_use *use, weir_series_result *out)
{
  *out = (weir_series_result){.out = {weir_series_hold(use->graph, use->in[0], 0)}, .n = 1};
  return WEIR_OK;
}

static const weir_series_op
    delay = {.name = "delay", .min_in = 1, .max_in = 1, .build = build_delay},
    hold = {.name = "held", .min_in = 1, .max_in = 1, .build = build_hold},
    pair = {.name = "pair", .min_in = 2, .max_in = 2, .build = build_pair},
    broken = {.name = "broken", .min_in = 1, .max_in = 1, .build = build_broken},
    marked = {.name = "marked", .min_in = 1, .max_in = 1, .build = build_marked},
    internal = {.name = "internal"};

#define FROM(...)                        \
  .from = (const char *[]){__VA_ARGS__}, \
  .n_from = (int64_t)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static const int64_t one = 1, five = 5, hundred = 100;
static const weir_query_source two_sources[] = {{"ecg", 50, 1, "mV", NULL},
                                                {"abp", 25, 1, "mmHg", NULL}};

static weir_status make(const weir_query_step *steps, int64_t n, const char *output, weir_query *q)
{
  const weir_query_wish wish = {.stream = output, .location = "q.yaml:9:3"};
  const weir_query_spec spec = {.sources = two_sources,
                                .n_sources = 2,
                                .steps = steps,
                                .n_steps = n,
                                .outputs = &wish,
                                .n_outputs = 1};

  return weir_query_build(&spec, q);
}

static void refused(const weir_query_step *steps, int64_t n, const char *output, const char *reason)
{
  weir_query q;

  assert_int_equal(make(steps, n, output, &q), WEIR_ERR_CONFIG);
  if (strstr(weir_last_message(), reason) == NULL) {
    printf("expected: %s\nsaid: %s\n", reason, weir_last_message());
  }
  assert_non_null(strstr(weir_last_message(), reason));
  assert_null(q.graph);
}

static void names_are_checked(void **state)
{
#define REFUSE(reason, output, ...)                                               \
  do {                                                                            \
    const weir_query_step steps_[] = {__VA_ARGS__};                               \
    refused(steps_, (int64_t)(sizeof steps_ / sizeof steps_[0]), output, reason); \
  } while (0)
  REFUSE("q.yaml:3:5: step 'a': there is no stream 'egc' (nearest: ecg)", "a",
         {"a", FROM("egc"), &delay, &one, "q.yaml:3:5", NULL, NULL});
  REFUSE("step 'a': 'b' is defined later", "a", {"a", FROM("b"), &delay, &one, NULL, NULL, NULL},
         {"b", FROM("ecg"), &delay, &one, NULL, NULL, NULL});
  REFUSE("'a' is defined later", "a", {"a", FROM("a"), &delay, &one, NULL, NULL, NULL});
  REFUSE("x:2:1: step 'a': the name is taken by step 1", "a",
         {"a", FROM("ecg"), &delay, &one, "", NULL, NULL},
         {"a", FROM("ecg"), &delay, &one, "x:2:1", NULL, NULL});
  REFUSE("step 'ecg': the name is taken by stream 1", "ecg",
         {"ecg", FROM("ecg"), &delay, &one, NULL, NULL, NULL});
  REFUSE("step '1a': a name is", "ecg", {"1a", FROM("ecg"), &delay, &one, NULL, NULL, NULL});
  REFUSE("step 'a.b': a name is", "ecg", {"a.b", FROM("ecg"), &delay, &one, NULL, NULL, NULL});
  REFUSE("step '': a name is", "ecg", {"", FROM("ecg"), &delay, &one, NULL, NULL, NULL});
  REFUSE("step 'a': pair takes 2 to 2 streams, from: lists 1", "a",
         {"a", FROM("ecg"), &pair, NULL, NULL, NULL, NULL});
  REFUSE("q.yaml:9:3: outputs: there is no stream 'b' (nearest: a)", "b",
         {"a", FROM("ecg"), &delay, &one, NULL, NULL, NULL});
  REFUSE("x:1:1: step 'a' (delay): by: 100 slots are too many for 'ecg'", "a",
         {"a", FROM("ecg"), &delay, &hundred, "x:1:1", NULL, NULL});
  REFUSE("step 'a' (pair): ecg is in mV but abp is in mmHg", "a",
         {"a", FROM("ecg", "abp"), &pair, NULL, NULL, NULL, NULL});
}

static void failures_of_the_graph_name_their_step(void **state)
{
  const weir_query_step steps[] = {{"a", FROM("ecg"), &broken, NULL, "x:7:1", NULL, NULL}};
  weir_query q;

  assert_int_equal(make(steps, 1, "a", &q), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "x:7:1: step 'a' (broken): "));
}

static void outputs_are_named_after_a_point(void **state)
{
  const weir_query_step steps[] = {{"d", FROM("ecg"), &delay, &one, NULL, NULL, NULL},
                                   {"p", FROM("ecg", "d"), &pair, NULL, NULL, NULL, NULL},
                                   {"m", FROM("p.right"), &hold, &five, NULL, NULL, NULL},
                                   {"l", FROM("p.left"), &delay, &one, NULL, NULL, NULL}};
  weir_query q;

  assert_ok(make(steps, 4, "p", &q));
  assert_int_equal(q.n_outputs, 1);
  assert_int_equal(q.outputs[0].n, 2);
  assert_string_equal(q.columns[0].name, "p.left");
  assert_string_equal(q.columns[1].part, "right");
  assert_string_equal(q.columns[1].unit, "mV");
  assert_true(q.source_used[0] && !q.source_used[1]);
  weir_query_fini(&q);
  assert_ok(make(steps, 4, "m", &q));
  assert_int_equal(q.n_columns, 1);
  assert_string_equal(q.columns[0].part, "m");
  assert_int_equal(q.columns[0].rate_num, 250 * q.columns[0].rate_den);
  weir_query_fini(&q);
  refused(steps, 4, "p.lefd", "there is no stream 'p.lefd' (nearest: p.left)");
  REFUSE("step 'a': 'p' has several streams, but one is needed (there are: p.left, p.right)", "a",
         {"p", FROM("ecg", "ecg"), &pair, NULL, NULL, NULL, NULL},
         {"a", FROM("p"), &delay, &one, NULL, NULL, NULL});
}

static void former_names_are_understood(void **state)
{
  const weir_query_step steps[] = {{"p", FROM("ecg", "ecg"), &pair, NULL, NULL, NULL, NULL},
                                   {"m", FROM("p.starboard"), &delay, &one, NULL, NULL, NULL}};
  weir_query q;

  assert_ok(make(steps, 2, "m", &q));
  weir_query_fini(&q);
  assert_ok(make(steps, 1, "p.starboard", &q));
  assert_int_equal(q.n_columns, 1);
  assert_string_equal(q.columns[0].name, "p.right");
  weir_query_fini(&q);
  refused(steps, 1, "p.zzzzzzzzzz",
          "there is no stream 'p.zzzzzzzzzz' (there are: p.left, p.right)");
}

static void one_result_may_be_called_as_the_step_is(void **state)
{
  static const char longest[] = "a23456789012345678901234567890123456789012345678901234567890abc";
  const weir_query_step steps[] = {{"m", FROM("ecg"), &marked, NULL, NULL, NULL, NULL},
                                   {"d", FROM("m"), &delay, &one, NULL, NULL, NULL},
                                   {"p", FROM("d", "m.flags"), &pair, NULL, NULL, NULL, NULL}};
  const weir_query_step much = {longest, FROM("ecg"), &marked, NULL, NULL, NULL, NULL};
  weir_query q;

  assert_ok(make(steps, 3, "m", &q));
  assert_int_equal(q.n_columns, 1);
  assert_string_equal(q.columns[0].name, "m");
  weir_query_fini(&q);
  assert_ok(make(steps, 3, "m.flags", &q));
  assert_string_equal(q.columns[0].part, "flags");
  weir_query_fini(&q);
  assert_ok(make(steps, 3, "p", &q));
  assert_int_equal(q.n_columns, 2);
  weir_query_fini(&q);
  assert_ok(make(&much, 1, longest, &q));
  weir_query_fini(&q);
}

static void clocks_meet_or_are_refused_by_name(void **state)
{
  static const weir_query_source far[] = {{"a", 9223372036854775783, 4611686018427387847, "", NULL},
                                          {"b", 1, 4611686018427387787, "", NULL}};
  const weir_query_step step = {"p", FROM("a", "b"), &pair, NULL, NULL, NULL, NULL};
  const weir_query_wish wish = {.stream = "p.left"};
  const weir_query_spec spec = {far, &step, &wish, 2, 1, 1};
  weir_query q;
  int64_t num = 0, den = 0;

  assert_true(query_lcm(1, 500, 1, 125, &num, &den) && num == 1 && den == 125);
  assert_true(query_lcm(2, 720, 3, 500, &num, &den) && num == 3 && den == 20);
  assert_true(query_lcm(60, 1, 1, 360, &num, &den) && num == 60 && den == 1);
  assert_false(query_lcm(INT64_MAX, 1, INT64_MAX - 1, 1, &num, &den));
  assert_int_equal(weir_query_build(&spec, &q), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the clocks of 'a' ("));
  assert_non_null(strstr(weir_last_message(), "and 'b' ("));
}

/* The multiple is one of both, and the smallest. */
static void multiples_are_multiples(void **state)
{
  for (int64_t a = 1; a < 40; a++) {
    for (int64_t b = 1; b < 40; b++) {
      int64_t num = 0, den = 0, best = 0;

      assert_true(query_lcm(a, 7, b, 5, &num, &den));
      for (int64_t m = 1; best == 0; m++) { /* m * a / 7 a whole number of b / 5 */
        best = m * a * 5 % (7 * b) == 0 ? m : 0;
      }
      assert_int_equal(num * 7, best * a * den);
    }
  }
}

static void operators_are_found_by_name(void **state)
{
  static const weir_series_op *const first[] = {&delay, &internal, NULL}, *const second[] = {&hold,
                                                                                             NULL};
  static const weir_series_op *const *const tables[] = {first, second};

  assert_ptr_equal(weir_query_find(tables, 2, "held"), &hold);
  assert_ptr_equal(weir_query_find(tables, 2, "delay"), &delay);
  assert_null(weir_query_find(tables, 2, "internal"));
  assert_ptr_equal(weir_query_op(tables, 2, 1), &hold);
  assert_null(weir_query_op(tables, 2, 2));
}

/* Slot k of a source is k; every seventh is absent. */
static weir_status read_ramp(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  (void)context;
  for (int64_t t = lo; t < hi; t++) {
    present[t - lo] = t % 7 != 0;
    x[t - lo] = t % 7 != 0 ? (float)t : 0.0f;
  }
  return WEIR_OK;
}

typedef struct taken {
  float x[COUNT];
  int64_t n;
} taken;

static weir_status take(void *context, const weir_view *v, int64_t lo, int64_t hi, bool last)
{
  taken *t = context;

  (void)last;
  for (int64_t k = lo; k < hi; k++) {
    assert_true(t->n < COUNT && k == t->n);
    t->x[t->n++] = *(const float *)weir_view_at(v, &k);
  }
  return WEIR_OK;
}

static void a_query_computes_what_its_operators_do(void **state)
{
  const weir_query_step steps[] = {{"d", FROM("ecg"), &delay, &one, NULL, NULL, NULL},
                                   {"late", FROM("d"), &delay, &five, NULL, NULL, NULL},
                                   {"same", FROM("d"), &delay, &five, NULL, NULL, NULL},
                                   {"p", FROM("late", "same"), &pair, NULL, NULL, NULL, NULL},
                                   {"q", FROM("ecg", "p.left"), &pair, NULL, NULL, NULL, NULL}};
  const weir_query_wish wishes[] = {{.stream = "p"}, {.stream = "q"}, {.stream = "ecg"}};
  const weir_query_spec spec = {two_sources, steps, wishes, 2, 5, 3};
  static taken got[8];
  weir_stream_sink sinks[8];
  weir_stream_report report;
  weir_query q;

  memset(got, 0, sizeof got);
  assert_ok(weir_query_build(&spec, &q));
  assert_int_equal(q.n_columns, 5); /* p.left, p.right, q.left, q.right, ecg */
  for (int64_t i = 0; i < q.n_columns; i++) {
    sinks[i] = (weir_stream_sink){q.columns[i].name, take, &got[i]};
  }
  const weir_stream_cfg cfg = {.window = 1.3, .skip = true};
  const weir_stream_source source = {.value = "ecg",
                                     .present = "ecg.present",
                                     .rate_num = 50,
                                     .rate_den = 1,
                                     .count = COUNT,
                                     .read = read_ramp};
  const weir_stream_job job = {.graph = q.graph,
                               .store = q.store,
                               .sources = &source,
                               .n_sources = 1,
                               .sinks = sinks,
                               .n_sinks = (int)q.n_columns,
                               .stream = &cfg,
                               .threads = 1};
  run_job(job, WEIR_TIER_VECTOR, &report);
  for (int64_t i = 0; i < q.n_columns; i++) {
    const int64_t by = i < 2 || i == 3 ? 6 : 0;

    assert_int_equal(got[i].n, COUNT);
    for (int64_t t = 0; t < COUNT; t++) {
      const bool present = t >= by && (t - by) % 7 != 0;

      assert_true(present ? got[i].x[t] == (float)(t - by) : isnan(got[i].x[t]));
    }
  }
  weir_query_fini(&q);
}

/* The graph's own failures say so in their own words; here it matters that nothing is lost. */
static void no_allocation_may_fail_unnoticed(void **state)
{
  const weir_query_step steps[] = {{"d", FROM("ecg"), &delay, &one, NULL, NULL, NULL},
                                   {"unused", FROM("abp"), &delay, &one, NULL, NULL, NULL}};
  const int64_t before = weir_alloc_bytes();
  weir_status status = WEIR_ERR_MEMORY;
  int64_t faults = 0;
  weir_query q;

  weir_log_set_level(WEIR_LOG_ERROR);
  for (; status != WEIR_OK; faults++) {
    weir_alloc_fail_after(faults + 1);
    status = make(steps, 2, "d", &q);
    weir_alloc_fail_after(0);
    weir_query_fini(&q);
    assert_int_equal(weir_alloc_bytes(), before);
  }
  weir_log_set_level(WEIR_LOG_INFO);
  assert_true(faults > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_checked),
      cmocka_unit_test(failures_of_the_graph_name_their_step),
      cmocka_unit_test(outputs_are_named_after_a_point),
      cmocka_unit_test(former_names_are_understood),
      cmocka_unit_test(one_result_may_be_called_as_the_step_is),
      cmocka_unit_test(clocks_meet_or_are_refused_by_name),
      cmocka_unit_test(multiples_are_multiples),
      cmocka_unit_test(operators_are_found_by_name),
      cmocka_unit_test(a_query_computes_what_its_operators_do),
      cmocka_unit_test(no_allocation_may_fail_unnoticed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
