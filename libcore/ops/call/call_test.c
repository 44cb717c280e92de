/* call_test.c - declared access of a C function, and refusals. */
#include "exec/weir_plan.h"
#include "ops/call/weir_call.h"
#include "support/ops/ops_check.h"

static weir_status nothing(void *context, const weir_op_run *run)
{
  return WEIR_OK;
}

static weir_call_spec spec_of(weir_array_desc out)
{
  return (weir_call_spec){.name = "detect", .function = nothing, .n_out = 1, .out = {out}};
}

static const weir_array_desc events = {.dtype = WEIR_I64, .rank = 2, .shape = {64, 3}};

static void time_is_sequential_and_the_rest_is_whole(void **state)
{
  weir_graph *g = new_graph();
  const weir_value in[] = {GIVEN(g, "x", WEIR_F32, 2, -1), GIVEN(g, "s", WEIR_F64, 64, 64)};
  weir_call_spec s = spec_of(events);

  s.behind[0] = 10;
  s.ahead[0] = 4;
  const weir_value y = weir_call(g, &s, in, 2);

  assert_shape(g, y, WEIR_I64, 64, 3);
  const weir_access *a = access_of(g, y);

  assert_int_equal(a->maker, WEIR_MADE_BY_CALL);
  assert_int_equal(a->dim[0].kind, WEIR_FORWARD);
  assert_true(a->dim[0].time);
  weir_box chunk = weir_iterations(a);

  chunk.lo[0] = 100;
  chunk.hi[0] = 200;
  const weir_region x = weir_needed(a, 0, &chunk);

  assert_int_equal(x.interval[1][0].lo, 90);
  assert_int_equal(x.interval[1][0].hi, 204);
  assert_int_equal(weir_distinct(a, 1, &chunk), 64 * 64);
  const weir_region out = weir_written(a, 0, &chunk);

  assert_int_equal(weir_region_volume(&out), 64 * 3);
  weir_graph_destroy(&g);
}

static void inputs_have_rates_of_their_own(void **state)
{
  weir_graph *g = new_graph();
  const weir_value in[] = {GIVEN(g, "slow", WEIR_F32, -1), GIVEN(g, "fast", WEIR_F32, -1),
                           GIVEN(g, "before", WEIR_F32, -1)};
  weir_call_spec s = spec_of(
      (weir_array_desc){.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1});

  s.down[0] = 4;
  s.behind[0] = s.ahead[0] = 1;
  s.up[1] = 3;
  s.ahead[1] = 2;
  s.behind[2] = 2;
  s.ahead[2] = -1;
  const weir_access *a = access_of(g, weir_call(g, &s, in, 3));
  const int64_t needed[3][2] = {{1, 7}, {33, 63}, {9, 20}};
  weir_box box = weir_iterations(a);

  box.lo[0] = 11;
  box.hi[0] = 21;
  for (int i = 0; i < 3; i++) {
    const weir_region r = weir_needed(a, i, &box);

    assert_int_equal(r.interval[0][0].lo, needed[i][0]);
    assert_int_equal(r.interval[0][0].hi, needed[i][1]);
  }
  weir_graph_destroy(&g);
}

static void what_cannot_be_called_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 2, -1);
  weir_call_spec s = spec_of(events);

  s.function = NULL;
  assert_refused(g, weir_call(g, &s, &x, 1), "a name and a function are required");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  s = spec_of((weir_array_desc){.rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1});
  assert_refused(g, weir_call(g, &s, &x, 1), "detect: output 0 has time, but no input has");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  s = spec_of(events);
  s.behind[0] = -1;
  assert_refused(g, weir_call(g, &s, &x, 1), "detect: input 0: reads -1 slots behind");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, -1);
  s = spec_of(events);
  s.down[0] = -2;
  assert_refused(g, weir_call(g, &s, &x, 1), "detect: input 0: 0 slots for every -2 of the call");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  s = spec_of(events);
  s.n_out = 0;
  assert_refused(g, weir_call(g, &s, &x, 1), "detect: 0 outputs");
}

/* What a context holds, such as a plan of its own, counts as memory of the plan that calls it. */
static void memory_of_contexts_counts(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {8}};
  int64_t bytes[2] = {0, 0};

  for (int k = 0; k < 2; k++) {
    weir_graph *g = new_graph();
    weir_call_spec s = spec_of(d);
    weir_plan *p = NULL;

    s.context_bytes = k == 0 ? 0 : INT64_C(3) << 30;
    weir_value x = GIVEN(g, "x", WEIR_F32, 8);

    x = weir_call(g, &s, &x, 1);
    weir_output(g, "y", x);
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.threads = 1}, &p));
    bytes[k] = weir_plan_memory_bytes(p);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
  assert_int_equal(bytes[1] - bytes[0], INT64_C(3) << 30);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_is_sequential_and_the_rest_is_whole),
      cmocka_unit_test(inputs_have_rates_of_their_own),
      cmocka_unit_test(what_cannot_be_called_is_refused),
      cmocka_unit_test(memory_of_contexts_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
