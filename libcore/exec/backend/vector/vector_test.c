/* vector_test.c - random loops: the vector interpreter gives the literal definition's bits, whole
 * or split into boxes, and the oracle agrees within rounding. */
#include "support/exec/exec_compare.h"
#include "support/exec/exec_gathers.h"

#include <math.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"

/* The case against its definition, whole and in pieces; frees it. */
static int check_made(exec_case *c)
{
  void *context;
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 2};
  const weir_loop *loop = &c->loop;
  const weir_access *a = &loop->access;
  assert_ok(weir_access_check(a));
  copy whole = copy_make(c), pieces = copy_make(c);
  assert_ok(weir_engine_vector.prepare(&loop, 1, &opts, &context));
  weir_state_table cells = {c->cells, c->points}, whole_cells = {whole.cells, c->points};
  const weir_loop_run expected = {weir_iterations(a), c->in, c->out, &cells, 0};
  const weir_loop_run actual = {weir_iterations(a), c->in, whole.out, &whole_cells, 0};
  weir_engine_vector.run(context, &actual);
  /* Cutting the outer of two sequential dimensions would change their common order. */
  run_split(c, &weir_engine_vector, context, weir_iterations(a), &pieces,
            sequential_dims(a) > 1 ? 0 : 4);
  weir_engine_vector.release(context);
  literal_loop(a, &expected);
  const int same =
      same_results(stderr, c, &whole, "whole") && same_results(stderr, c, &pieces, "pieces");
  copy_free(&whole);
  copy_free(&pieces);
  case_free(c);
  return same;
}

static int check_case(uint64_t seed, case_mode mode)
{
  exec_case c;

  case_make(&c, seed, mode, 0);
  return check_made(&c);
}

static void check_cases(case_mode mode, int n)
{
  const uint64_t seed = fresh_seed();
  int failed = 0;

  for (int i = 0; i < n && failed < 5; i++) {
    failed += !check_case(seed + (uint64_t)i, mode);
  }
  assert_int_equal(failed, 0);
}

static void maps_have_the_literal_bits(void **state)
{
  check_cases(CASE_MAP, 120);
}

static void reductions_have_the_literal_bits(void **state)
{
  check_cases(CASE_REDUCE, 80);
}

static void gathers_have_the_literal_bits(void **state)
{
  const uint64_t seed = fresh_seed();
  int failed = 0;

  for (int i = 0; i < 80 && failed < 5; i++) {
    exec_case c;

    gather_make(&c, seed + (uint64_t)i, i % 3 == 0 ? CASE_MAP : CASE_REDUCE);
    failed += !check_made(&c);
  }
  assert_int_equal(failed, 0);
}

static void scans_have_the_literal_bits(void **state)
{
  check_cases(CASE_SCAN, 80);
}

/* A count since the last absent slot (state 0), the last present value (state 1), a running sum
 * that starts anew (state 2); presence in runs of random length. */
static void add_gated_states(weir_access *a, weir_dtype count)
{
  weir_body *b = &a->body;
  const int32_t x = weir_body_load(b, 0, WEIR_F64), present = weir_body_load(b, 1, WEIR_BOOL);
  const int32_t age = weir_body_state(b, 0, count), last = weir_body_state(b, 1, WEIR_F64);
  const int32_t sum = weir_body_state(b, 2, WEIR_F64);
  const int32_t capped = weir_body_binary(b, WEIR_CODE_MIN, age, weir_body_int(b, count, 700));
  const int32_t older = weir_body_binary(b, WEIR_CODE_ADD, capped, weir_body_int(b, count, 1));

  case_resize(a, a->n_in, a->n_out, 3);
  a->state[0] = (weir_state){.dtype = count};
  a->state[1] = a->state[2] = (weir_state){.dtype = WEIR_F64};
  a->state[0].next = weir_body_select(b, present, older, weir_body_int(b, count, 0));
  a->state[1].next = weir_body_select(b, present, x, last);
  a->state[2].next = weir_body_select(b, present, weir_body_binary(b, WEIR_CODE_ADD, sum, x),
                                      weir_body_real(b, WEIR_F64, 0));
  a->value[0] = weir_body_binary(b, WEIR_CODE_ADD, weir_body_cast(b, WEIR_F64, a->state[0].next),
                                 a->state[1].next);
  a->value[1] = weir_body_binary(b, WEIR_CODE_ADD, a->state[2].next, last);
}

static void gated_states_have_the_literal_bits(void **state)
{
  enum { n = 3000 };

  for (int test_case = 0; test_case < 8; test_case++) {
    exec_case c = {.seed = fresh_seed(), .mode = CASE_SCAN, .points = 1};
    const weir_dtype dtypes[] = {WEIR_F64, WEIR_BOOL};
    weir_access *a = &c.loop.access;
    weir_access_init(a);
    a->n_dims = 1;
    a->n_values = 2;
    case_resize(a, 2, 2, 0);
    a->dim[0] = (weir_dim){test_case % 2 ? WEIR_FORWARD : WEIR_BACKWARD, 0, n, 0};
    for (int k = 0; k < 2; k++) {
      a->in[k] = (weir_operand){.dtype = dtypes[k], .rank = 1, .extent = {n}};
      a->in[k].index[0].coef[0] = 1;
      size_t bytes;
      c.in[k] = make_view(&c, &a->in[k], &c.in_memory[k], &bytes);
      fill_view(&c, &a->in[k], c.in_memory[k], bytes, 0, k);
      a->out[k].dtype = WEIR_F64;
    }
    for (int64_t i = 0, run = 0, on = 1; i < n; i++, run--) {
      if (run == 0) {
        run = draw(&c, 1, test_case < 4 ? 2000 : 20);
        on = !on;
      }
      memset(weir_view_at(&c.in[1], &i), (int)on, 1);
    }
    c.cells = calloc(4, sizeof *c.cells);
    add_gated_states(a, test_case % 3 ? WEIR_I32 : WEIR_I64);
    draw_outputs(&c, a);
    assert_ok(weir_access_check(a));
    assert_int_equal(check_made(&c), 1);
  }
}

/* Largest difference of the oracle from the vector interpreter, relative to max(1, |x|). */
static double worst_difference(const exec_case *c, const copy *k)
{
  const weir_access *a = &c->loop.access;
  double worst = 0;

  for (int o = 0; o < a->n_out; o++) {
    const weir_dtype t = a->out[o].dtype;
    const size_t size = weir_dtype_size(t);
    for (size_t at = 0; at + size <= c->out_bytes[o]; at += size) {
      const double x = weir_dtype_load_real(t, c->out_memory[o] + at, 0);
      const double y = weir_dtype_load_real(t, k->memory[o] + at, 0);
      const double e = x == y ? 0 : fabs(x - y) / fmax(1, fabs(x));
      worst = e > worst ? e : worst;
    }
  }
  return worst;
}

static void compare_with_oracle(case_mode mode, int n, double tolerance)
{
  const uint64_t seed = fresh_seed();
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 1};

  for (int i = 0; i < n; i++) {
    exec_case c;
    void *vector, *reference;
    case_make(&c, seed + (uint64_t)i, mode, 1);
    const weir_loop *loop = &c.loop;
    copy k = copy_make(&c);
    weir_state_table cells = {c.cells, c.points}, other = {k.cells, c.points};
    const weir_loop_run a = {weir_iterations(&loop->access), c.in, c.out, &cells, 0};
    const weir_loop_run b = {weir_iterations(&loop->access), c.in, k.out, &other, 0};
    assert_ok(weir_engine_reference.prepare(&loop, 1, &opts, &reference));
    assert_ok(weir_engine_vector.prepare(&loop, 1, &opts, &vector));
    weir_engine_reference.run(reference, &a);
    weir_engine_vector.run(vector, &b);
    weir_engine_reference.release(reference);
    weir_engine_vector.release(vector);
    const double worst = worst_difference(&c, &k);
    if (worst > tolerance) {
      fprintf(stderr, "mode %d, seed %llu: %g\n", (int)mode, (unsigned long long)c.seed, worst);
    }
    assert_true(worst <= tolerance);
    copy_free(&k);
    case_free(&c);
  }
}

static void oracle_agrees_on_maps(void **state)
{
  compare_with_oracle(CASE_MAP, 30, 1e-5);
}

static void oracle_agrees_on_reductions(void **state)
{
  compare_with_oracle(CASE_REDUCE, 20, 3e-4); /* f32 sums of up to 12000 values of size 1 */
}

static void prepare_survives_every_failing_allocation(void **state)
{
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 2};

  for (int mode = CASE_MAP; mode <= CASE_SCAN; mode++) {
    exec_case c;
    weir_status status = WEIR_ERR_MEMORY;
    case_make(&c, fresh_seed(), (case_mode)mode, 0);
    const weir_loop *loops[2] = {&c.loop, &c.loop};
    for (int64_t k = 1; status != WEIR_OK; k++) {
      void *contexts[2] = {NULL, NULL};
      const int64_t before = weir_alloc_bytes();
      weir_alloc_fail_after(k);
      status = weir_engine_vector.prepare(loops, 2, &opts, contexts);
      weir_alloc_fail_after(0);
      assert_true(status == WEIR_OK || status == WEIR_ERR_MEMORY);
      for (int i = 0; i < 2 && status == WEIR_OK; i++) {
        weir_engine_vector.release(contexts[i]);
      }
      assert_int_equal(weir_alloc_bytes(), before);
    }
    case_free(&c);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_have_the_literal_bits),
      cmocka_unit_test(reductions_have_the_literal_bits),
      cmocka_unit_test(scans_have_the_literal_bits),
      cmocka_unit_test(gathers_have_the_literal_bits),
      cmocka_unit_test(gated_states_have_the_literal_bits),
      cmocka_unit_test(oracle_agrees_on_maps),
      cmocka_unit_test(oracle_agrees_on_reductions),
      cmocka_unit_test(prepare_survives_every_failing_allocation),
  };
  if (argc == 3) { /* one case again: mode and seed */
    return !check_case(strtoull(argv[2], NULL, 10), (case_mode)atoi(argv[1]));
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
