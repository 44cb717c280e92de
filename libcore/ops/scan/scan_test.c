/* scan_test.c - states, state arrays and promises of scans, and refusals. */
#include "ops/scan/weir_scan.h"
#include "support/ops/ops_check.h"

static const weir_sos_spec one = {.n = 1, .section = {{1, 0, 0, 1, -0.5, 0}}};

static void state_arrays_follow_the_data(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 3, -1);
  const weir_value p = GIVEN(g, "p", WEIR_BOOL, -1);
  weir_sos_spec s = one;

  s.dim = 1;
  s.hold = 7;
  const weir_value y = weir_sos(g, &s, x, p);

  assert_shape(g, y, WEIR_F32, 3, -1);
  const weir_access *a = access_of(g, y);

  assert_int_equal(a->dim[1].kind, WEIR_FORWARD);
  assert_int_equal(a->n_states, 4); /* age, last value, two of the section */
  assert_int_equal(a->presence, 2);
  assert_int_equal(a->settle, 8);
  weir_graph_destroy(&g);
}

static weir_status define_bad(weir_scan *s)
{
  weir_scan_state(s, WEIR_F64, 0);
  weir_scan_emit(s, weir_scan_load(s, 0));
  return WEIR_OK;
}

static weir_status define_sum_and_count(weir_scan *s)
{
  weir_body *b = &s->access->body;
  const int sum = weir_scan_state(s, WEIR_F64, 0), count = weir_scan_state(s, WEIR_I64, 0);
  const int32_t x = weir_scan_load(s, 0), one_more = weir_body_int(b, WEIR_I64, 1);

  weir_scan_next(s, sum, weir_body_binary(b, WEIR_CODE_ADD, weir_scan_read(s, sum), x));
  weir_scan_next(s, count, weir_body_binary(b, WEIR_CODE_ADD, weir_scan_read(s, count), one_more));
  weir_scan_emit(s, s->access->state[sum].next);
  return WEIR_OK;
}

static void states_come_and_go_by_dtype(void **state)
{
  weir_graph *g = new_graph();
  const weir_value in[] = {GIVEN(g, "x", WEIR_F64, 3, 8), GIVEN(g, "s", WEIR_F64, 1, 3),
                           GIVEN(g, "n", WEIR_I64, 1, 3)};
  const weir_scan_spec s = {.name = "sum",
                            .define = define_sum_and_count,
                            .dim = 1,
                            .n_data = 1,
                            .take_state = true,
                            .give_state = true};
  const weir_value y = weir_scan_add(g, &s, in, 3);

  assert_shape(g, y, WEIR_F64, 3, 8);
  assert_shape(g, ((weir_value){y.node, 1}), WEIR_F64, 1, 3);
  assert_shape(g, ((weir_value){y.node, 2}), WEIR_I64, 1, 3);
  assert_int_equal(access_of(g, y)->state[1].init, 3);
  assert_int_equal(access_of(g, y)->state[1].final, 3);
  assert_refused(g, weir_scan_add(g, &s, in, 2), "sum: takes 1 inputs and 2 state arrays, not 2");
}

static void what_cannot_be_scanned_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_I16, 8);
  assert_refused(g, weir_sos(g, &one, x, WEIR_NO_VALUE),
                 "sos: filters must be f32 or f64, not i16");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 8);
  weir_sos_spec s = one;
  s.section[0][3] = 2;
  assert_refused(g, weir_sos(g, &s, x, WEIR_NO_VALUE), "sos: section 0 has a0 = 2");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 8);
  s = one;
  s.section[0][4] = -1;
  s.steady = true;
  assert_refused(g, weir_sos(g, &s, x, WEIR_NO_VALUE), "sos: section 0 has no steady state");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 8);
  s = one;
  s.hold = -1;
  assert_refused(g, weir_sos(g, &s, x, x), "sos: hold of -1 slots");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, -1);
  assert_refused(g, weir_cumsum_at(g, x, 0, true, WEIR_WHERE), "cumsum: dimension 0 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F64, 8);
  const weir_scan_spec bad = {.name = "bad", .define = define_bad, .n_data = 1};
  assert_refused(g, weir_scan_add(g, &bad, &x, 1), "bad: state 0 has no next value");
}

static weir_status make_scan(void *context)
{
  const weir_array_desc x = {.dtype = WEIR_F64, .rank = 1, .shape = {8}};
  const weir_scan_spec s = {
      .name = "sum", .define = define_sum_and_count, .n_data = 1, .give_state = true};
  weir_graph *g;

  WEIR_TRY(weir_graph_create(&g));
  const weir_value v = weir_input(g, "x", &x);

  (void)weir_scan_add(g, &s, &v, 1);
  const weir_status status = weir_graph_status(g);

  weir_graph_destroy(&g);
  return status;
}

static void memory_that_is_missing_is_told(void **state)
{
  assert_true(weir_check_faults(make_scan, NULL) > 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(state_arrays_follow_the_data),
      cmocka_unit_test(states_come_and_go_by_dtype),
      cmocka_unit_test(what_cannot_be_scanned_is_refused),
      cmocka_unit_test(memory_that_is_missing_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
