/* complex_test.c - plans of complex arrays: streams with gaps, the check of passes, states. */
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/scan/weir_scan.h"

static weir_plan *plan_of(weir_graph *g, int tier, int verify)
{
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = tier;
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
  for (int tier = 1; tier <= 2; tier++) {
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
  weir_plan *p = plan_of(g, 2, 1);

  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static weir_status running_sum(weir_scan *s)
{
  weir_body *b = &s->access->body;
  const int total = weir_scan_state(s, WEIR_C128, 0);
  const int32_t x = weir_body_cast(b, WEIR_C128, weir_scan_load(s, 0));
  const int32_t next = weir_body_binary(b, WEIR_CODE_ADD, weir_scan_read(s, total), x);

  weir_scan_next(s, total, next);
  weir_scan_emit(s, weir_body_cast(b, WEIR_C64, next));
  return WEIR_OK;
}

/* A sum that goes on: what one part leaves, the next begins with. */
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
  for (int tier = 1; tier <= 2; tier++) {
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gap_in_a_stream_is_skipped),
      cmocka_unit_test(passes_over_complex_arrays_are_verified),
      cmocka_unit_test(complex_states_go_from_run_to_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
