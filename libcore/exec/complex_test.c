/* complex_test.c - plans of complex arrays: streams with gaps, the check of passes, states,
 * quotients, and what exceeds the operands of engines. */
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "graph/weir_complex_scalar.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/scan_check.h"

static weir_plan *plan_of(weir_graph *g, weir_tier tier, int verify)
{
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  cfg.verify = verify;
  assert_ok(weir_graph_status(g));
  assert_ok(weir_plan_create(
      g, NULL,
      &(weir_plan_opts){
          .exec = &cfg, .threads = 1, .bounds = (weir_chunk_bound[]){{"z", 8}}, .n_bounds = 1},
      &p));
  return p;
}

/* Slots that are skipped leave the windows with whole numbers. */
static void a_gap_in_a_stream_is_skipped(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_C128, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1};
  weir_c128 in[8];
  weir_graph *g = NULL;
  weir_view v;
  int64_t lo, hi;

  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", weir_scale(g, weir_conj(g, weir_input(g, "z", &d)), 2));
  for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_VECTOR; tier++) {
    weir_plan *p = plan_of(g, tier, 0);

    for (int64_t from = 0; from < 100; from += 50) {
      for (int i = 0; i < 8; i++) {
        in[i] = (weir_c128){(double)from + i, 0.5 * i};
      }
      assert_ok(weir_plan_feed(p, &(weir_feed){"z", in, from, from + 8}, 1, from > 0));
      assert_ok(weir_plan_result(p, "y", &v, &lo, &hi));
      assert_true(lo == from && hi == from + 8);
      for (int64_t i = lo; i < hi; i++) {
        const weir_c128 y = *(const weir_c128 *)weir_view_at(&v, &i);

        assert_true(y.re == 2 * (double)i && y.im == -(double)(i - from));
      }
    }
    weir_plan_destroy(&p);
  }
  weir_graph_destroy(&g);
}

static void passes_over_complex_arrays_are_verified(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_C128, .rank = 2, .shape = {37, 5}};
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value z = weir_input(g, "z", &d), w = weir_input(g, "w", &d);

  weir_output(g, "y", weir_mul(g, weir_conj(g, z), weir_add_scalar(g, w, 0.5)));
  weir_output(g, "size", weir_abs(g, weir_sub(g, z, w)));
  weir_plan *p = plan_of(g, WEIR_TIER_VECTOR, 1);

  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static weir_status running_sum(weir_scan *s)
{
  weir_scan_emit(s, weir_body_cast(&s->access->body, WEIR_C64, scan_check_sum(s)));
  return WEIR_OK;
}

/* A sum that continues: each piece begins with the partial sum of the one before. */
static void complex_states_go_from_run_to_run(void **state)
{
  enum { ROWS = 3, N = 40 };
  const weir_array_desc d = {.dtype = WEIR_C64, .rank = 2, .shape = {ROWS, N}};
  const weir_array_desc before = {.dtype = WEIR_C128, .rank = 2, .shape = {1, ROWS}};
  const weir_scan_spec s = {.name = "sum",
                            .define = running_sum,
                            .dim = 1,
                            .n_data = 1,
                            .take_state = true,
                            .give_state = true};
  weir_tensor z, from, y, left;
  weir_graph *g = NULL;

  assert_ok(weir_tensor_init(&z, WEIR_C64, 2, d.shape));
  assert_ok(weir_tensor_init(&y, WEIR_C64, 2, d.shape));
  assert_ok(weir_tensor_init(&from, WEIR_C128, 2, before.shape));
  assert_ok(weir_tensor_init(&left, WEIR_C128, 2, before.shape));
  for (int i = 0; i < ROWS * N; i++) {
    ((weir_c64 *)z.data)[i] = (weir_c64){(float)(i % 7), (float)(i % 5) - 2};
  }
  assert_ok(weir_graph_create(&g));
  const weir_value in[] = {weir_input(g, "z", &d), weir_input(g, "from", &before)};
  const weir_value v = weir_scan_at(g, &s, in, 2, WEIR_WHERE);

  weir_output(g, "y", v);
  weir_output(g, "left", (weir_value){v.node, 1});
  for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_VECTOR; tier++) {
    weir_plan *p = plan_of(g, tier, 0);
    weir_c128 sum[ROWS];

    for (int r = 0; r < ROWS; r++) {
      sum[r] = ((weir_c128 *)from.data)[r] = (weir_c128){r, -10 * r};
    }
    for (int again = 0; again < 2; again++) {
      const weir_binding all[] = {{"z", &z}, {"from", &from}, {"y", &y}, {"left", &left}};

      assert_ok(weir_plan_run(p, all, 4));
      for (int i = 0; i < ROWS * N; i++) {
        const weir_c64 x = ((weir_c64 *)z.data)[i], got = ((weir_c64 *)y.data)[i];
        weir_c128 *total = &sum[i / N];

        *total = (weir_c128){total->re + (double)x.re, total->im + (double)x.im};
        assert_true((double)got.re == total->re && (double)got.im == total->im);
      }
      assert_memory_equal(left.data, sum, sizeof sum);
      assert_ok(weir_tensor_copy(&left, &from));
    }
    weir_plan_destroy(&p);
  }
  weir_tensor_fini(&z);
  weir_tensor_fini(&y);
  weir_tensor_fini(&from);
  weir_tensor_fini(&left);
  weir_graph_destroy(&g);
}

/* The sum of all its inputs. */
static weir_status sum_of_inputs(weir_scan *s)
{
  weir_body *b = &s->access->body;
  int32_t sum = scan_check_sum(s);

  for (int k = 1; k < s->access->n_in; k++) {
    sum =
        weir_body_binary(b, WEIR_CODE_ADD, sum, weir_body_cast(b, WEIR_C128, weir_scan_load(s, k)));
  }
  weir_scan_emit(s, sum);
  return WEIR_OK;
}

static weir_status many_states(weir_scan *s)
{
  weir_body *b = &s->access->body;

  for (int k = 0; k < WEIR_MAX_STATES / 2; k++) {
    const int state = weir_scan_state(s, WEIR_C128, 0);

    weir_scan_next(s, state, weir_scan_read(s, state));
  }
  weir_scan_emit(s, weir_body_cast(b, WEIR_C128, scan_check_sum(s)));
  return WEIR_OK;
}

/* Engines compute with the parts: 8 complex inputs have 16, and one more exceeds the maximum. */
static void too_many_operands_are_refused(void **state)
{
  enum { MAX = WEIR_MAX_OPERANDS / 2 };
  const weir_array_desc d = {.dtype = WEIR_C64, .rank = 1, .shape = {4}};
  const weir_scan_spec states = {.name = "states", .define = many_states, .n_data = 1};
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

  for (int n = MAX; n <= MAX + 1; n++) {
    const weir_scan_spec sums = {.name = "sums", .define = sum_of_inputs, .n_data = n};
    weir_value in[MAX + 1];
    weir_graph *g = NULL;

    assert_ok(weir_graph_create(&g));
    for (int k = 0; k < n; k++) {
      in[k] = weir_input(g, names[k], &d);
    }
    const weir_value y = weir_scan_at(g, &sums, in, n, WEIR_WHERE);

    assert_int_equal(weir_graph_status(g), n == MAX ? WEIR_OK : WEIR_ERR_SHAPE);
    assert_true(n == MAX || strstr(weir_last_message(), "18 inputs, 2 outputs and 2 states, "
                                                        "complex ones counted twice") != NULL);
    if (n == MAX) {
      weir_output(g, "y", y);
      for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_VECTOR; tier++) {
        weir_plan *p = plan_of(g, tier, 0);

        weir_plan_destroy(&p);
      }
      (void)weir_scan_at(g, &states, in, 1, WEIR_WHERE);
      assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
      assert_non_null(strstr(weir_last_message(), "50 states"));
    }
    weir_clear_failure();
    weir_graph_destroy(&g);
  }
}

static bool same_or_nan(double x, double y)
{
  return x == y || (isnan(x) && isnan(y));
}

/* By the formula of graph/weir_complex_scalar.h: 0 where one part is infinite, else NaN. */
static void quotients_by_infinite_divisors(void **state)
{
  static const double part[] = {INFINITY, -INFINITY, NAN, 0, 1.5, -2};
  enum { PARTS = sizeof part / sizeof part[0], N = PARTS * PARTS };
  const weir_c128 x = {3, -0.5};
  weir_tensor above, below, y;
  weir_graph *g = NULL;

  assert_ok(weir_tensor_init(&above, WEIR_C128, 1, (int64_t[]){N}));
  assert_ok(weir_tensor_init(&below, WEIR_C128, 1, (int64_t[]){N}));
  assert_ok(weir_tensor_init(&y, WEIR_C128, 1, (int64_t[]){N}));
  for (int i = 0; i < N; i++) {
    ((weir_c128 *)above.data)[i] = x;
    ((weir_c128 *)below.data)[i] = (weir_c128){part[i / PARTS], part[i % PARTS]};
  }
  const weir_array_desc d = {.dtype = WEIR_C128, .rank = 1, .shape = {N}};

  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", weir_div(g, weir_input(g, "x", &d), weir_input(g, "by", &d)));
  for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_VECTOR; tier++) {
    const weir_binding all[] = {{"x", &above}, {"by", &below}, {"y", &y}};
    weir_plan *p = plan_of(g, tier, 0);

    assert_ok(weir_plan_run(p, all, 3));
    for (int i = 0; i < N; i++) {
      const weir_c128 got = ((weir_c128 *)y.data)[i], by = ((weir_c128 *)below.data)[i];
      const weir_c128 wanted = weir_div_c128(x, by);

      assert_true(same_or_nan(got.re, wanted.re) && same_or_nan(got.im, wanted.im));
      assert_true(!(isinf(by.re) && isfinite(by.im)) || (got.re == 0 && got.im == 0));
    }
    weir_plan_destroy(&p);
  }
  weir_tensor_fini(&above);
  weir_tensor_fini(&below);
  weir_tensor_fini(&y);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gap_in_a_stream_is_skipped),
      cmocka_unit_test(passes_over_complex_arrays_are_verified),
      cmocka_unit_test(complex_states_go_from_run_to_run),
      cmocka_unit_test(too_many_operands_are_refused),
      cmocka_unit_test(quotients_by_infinite_divisors),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
