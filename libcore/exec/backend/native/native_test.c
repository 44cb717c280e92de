/* native_test.c - random loops: compiled code gives the literal definition's bits, whole or split
 * into boxes. */
#include "device/weir_compile.h"
#include "exec/backend/native/native_priv.h"

#include "support/exec/exec_compare.h"
#include "support/exec/exec_gathers.h"

#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "graph/weir_scalar.h"

enum { BATCH = 6 }; /* loops that one start of the compiler makes */

/* Whole, in pieces and past the caches; the number of ways that failed. */
static int run_case(exec_case *c, void *context)
{
  const weir_access *a = &c->loop.access;
  copy whole = copy_make(c), pieces = copy_make(c), past = copy_make(c);
  weir_state_table cells = {c->cells, c->points}, whole_cells = {whole.cells, c->points};
  weir_state_table past_cells = {past.cells, c->points};
  const weir_loop_run expected = {weir_iterations(a), c->in, c->out, &cells, 0};
  const weir_loop_run actual = {weir_iterations(a), c->in, whole.out, &whole_cells, 0};
  const weir_loop_run beyond = {weir_iterations(a), c->in, past.out, &past_cells,
                                (1u << a->n_out) - 1};

  weir_engine_native.run(context, &actual);
  weir_engine_native.run(context, &beyond);
  /* Cutting the outer of two sequential dimensions would change their common order. */
  run_split(c, &weir_engine_native, context, weir_iterations(a), &pieces,
            sequential_dims(a) > 1 ? 0 : 4);
  literal_loop(a, &expected);
  const int wrong = !same_results(stderr, c, &whole, "whole") +
                    !same_results(stderr, c, &pieces, "pieces") +
                    !same_results(stderr, c, &past, "past the caches");
  copy_free(&past);
  copy_free(&whole);
  copy_free(&pieces);
  return wrong;
}

static void check_batch(case_mode mode, int gathers)
{
  const uint64_t seed = fresh_seed();
  exec_case *cases;
  const weir_loop *loops[BATCH];
  void *contexts[BATCH], *memory;
  char folder[256];
  int wrong = 0;

  weir_check_mkdir(folder, sizeof folder);
  const weir_engine_opts opts = {.compiler = "", .cache_dir = folder, .threads = 1};
  assert_ok(weir_alloc(BATCH, sizeof *cases, &memory));
  cases = memory;
  for (int k = 0; k < BATCH; k++) {
    if (gathers) {
      gather_make(&cases[k], seed + (uint64_t)k, mode);
    } else {
      case_make(&cases[k], seed + (uint64_t)k, mode, 0);
    }
    loops[k] = &cases[k].loop;
    assert_ok(weir_access_check(&loops[k]->access));
  }
  assert_ok(weir_engine_native.prepare(loops, BATCH, &opts, contexts));
  for (int k = 0; k < BATCH; k++) {
    wrong += run_case(&cases[k], contexts[k]);
    weir_engine_native.release(contexts[k]);
    case_free(&cases[k]);
  }
  weir_free(&memory);
  weir_check_rmdir(folder);
  assert_int_equal(wrong, 0);
}

static void maps_have_the_literal_bits(void **state)
{
  check_batch(CASE_MAP, 0);
}

static void reductions_have_the_literal_bits(void **state)
{
  check_batch(CASE_REDUCE, 0);
}

static void scans_have_the_literal_bits(void **state)
{
  check_batch(CASE_SCAN, 0);
}

static void gathers_have_the_literal_bits(void **state)
{
  check_batch(CASE_MAP, 1);
  check_batch(CASE_REDUCE, 1);
  check_batch(CASE_REDUCE, 1);
}

/* out[i] = sum over j of x[j][0], whose second index is j modulo 1, as in an array with a dimension
 * of one element after a reshape: looked up in a table, while the first index is not. */
static void one_element_carries_nothing(void **state)
{
  enum { ROWS = 200, LENGTH = 5 };
  const float x[LENGTH] = {1, 2, 4, 8, 16};
  float y[ROWS];
  weir_loop l;
  weir_access *a = &l.access;
  const weir_loop *loops[] = {&l};
  void *context;
  char folder[256];

  memset(&l, 0, sizeof l);
  a->n_dims = 2;
  a->n_values = 1;
  case_resize(a, 1, 1, 0);
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, ROWS, false};
  a->dim[1] = (weir_dim){WEIR_REDUCED, 0, LENGTH, false};
  a->in[0] = (weir_operand){.dtype = WEIR_F32, .rank = 2, .extent = {LENGTH, 1}};
  a->in[0].index[0].coef[1] = a->in[0].index[1].coef[1] = 1;
  a->in[0].index[1].border = WEIR_BORDER_WRAP;
  a->value[0] = weir_body_load(&a->body, 0, WEIR_F32);
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = WEIR_F32;
  a->out[0] = (weir_operand){.dtype = WEIR_F32, .rank = 1, .extent = {ROWS}};
  a->out[0].index[0].coef[0] = 1;
  assert_ok(weir_access_check(a));
  weir_check_mkdir(folder, sizeof folder);
  const weir_engine_opts opts = {.compiler = "", .cache_dir = folder, .threads = 1};
  assert_ok(weir_engine_native.prepare(loops, 1, &opts, &context));
  const weir_view in = {(void *)(uintptr_t)x, WEIR_F32, 2, {0}, {1, 1}, {LENGTH, 1}};
  const weir_view out = {y, WEIR_F32, 1, {0}, {1}, {ROWS}};
  const weir_loop_run run = {weir_iterations(a), &in, &out, NULL, 0};

  weir_engine_native.run(context, &run);
  for (int i = 0; i < ROWS; i++) {
    assert_true(y[i] == 31);
  }
  weir_engine_native.release(context);
  weir_access_fini(a);
  weir_check_rmdir(folder);
}

/* The order of weir_engine.h, word for word, for the moments of x[n] of which the present count. */
static weir_moments_f32 moments_in_order(const float *x, int64_t step, int64_t n)
{
  static weir_moments_f32 blocks[16];
  int64_t n_blocks = 0;

  for (int64_t from = 0; from < n; from += WEIR_REDUCE_BLOCK) {
    weir_moments_f32 lane[WEIR_LANES] = {{0, 0, 0}};
    for (int64_t r = from; r < n && r < from + WEIR_REDUCE_BLOCK; r++) {
      if (x[r * step] < 0.9F) {
        lane[r % WEIR_LANES] = weir_moments_step_f32(lane[r % WEIR_LANES], x[r * step]);
      }
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int l = 0; l < half; l++) {
        lane[l] = weir_moments_merge_f32(lane[l], lane[l + half]);
      }
    }
    blocks[n_blocks++] = lane[0];
  }
  for (; n_blocks > 1; n_blocks = (n_blocks + 1) / 2) {
    for (int64_t k = 0; k < n_blocks; k += 2) {
      blocks[k / 2] =
          k + 1 < n_blocks ? weir_moments_merge_f32(blocks[k], blocks[k + 1]) : blocks[k];
    }
  }
  return blocks[0];
}

/* Moments over dimension `reduced` of x[extent[0]][extent[1]]. */
static weir_loop moments_loop(const int64_t extent[2], int reduced)
{
  weir_loop l;
  weir_access *a = &l.access;
  weir_body *b = &a->body;

  memset(&l, 0, sizeof l);
  a->n_dims = a->n_values = 2;
  case_resize(a, 1, 3, 0);
  a->in[0] = (weir_operand){.dtype = WEIR_F32, .rank = 2, .extent = {extent[0], extent[1]}};
  for (int d = 0; d < 2; d++) {
    a->dim[d] = (weir_dim){d == reduced ? WEIR_REDUCED : WEIR_PARALLEL, 0, extent[d], false};
    a->in[0].index[d].coef[d] = 1;
  }
  a->value[0] = weir_body_load(b, 0, WEIR_F32);
  a->value[1] = weir_body_binary(b, WEIR_CODE_LT, a->value[0], weir_body_real(b, WEIR_F32, 0.9F));
  a->combine = WEIR_COMBINE_MOMENTS;
  a->accumulator = WEIR_F32;
  for (int k = 0; k < 3; k++) {
    a->out[k] = (weir_operand){.dtype = WEIR_F32, .rank = 1, .extent = {extent[1 - reduced]}};
    a->out[k].index[0].coef[1 - reduced] = 1;
  }
  return l;
}

static void reductions_keep_the_order(void **state)
{
  const int64_t lengths[] = {7, 37, 3 * 4096, 5 * 4096 + 17};
  enum { CASES = 8, OUTPUTS = 21, MAX = 5 * 4096 + 17 };
  weir_loop l[CASES];
  const weir_loop *loops[CASES];
  void *contexts[CASES], *memory;
  float y[3][OUTPUTS];
  char folder[256];

  weir_check_mkdir(folder, sizeof folder);
  const weir_engine_opts opts = {.compiler = "", .cache_dir = folder, .threads = 1};
  assert_ok(weir_alloc(MAX * OUTPUTS, sizeof(float), &memory));
  float *x = memory;
  for (int64_t i = 0; i < MAX * OUTPUTS; i++) {
    x[i] = (float)weir_random_uniform(5, 1, 0, (uint64_t)i);
  }
  for (int k = 0; k < CASES; k++) {
    const int64_t n = lengths[k / 2];
    l[k] = moments_loop(k % 2 == 0 ? (int64_t[2]){n, OUTPUTS} : (int64_t[2]){OUTPUTS, n}, k % 2);
    loops[k] = &l[k];
    assert_ok(weir_access_check(&l[k].access));
  }
  assert_ok(weir_engine_native.prepare(loops, CASES, &opts, contexts));
  for (int k = 0; k < CASES; k++) {
    const int64_t n = lengths[k / 2], *extent = l[k].access.in[0].extent;
    const weir_view in = {x, WEIR_F32, 2, {0}, {extent[1], 1}, {extent[0], extent[1]}};
    weir_view out[3];
    for (int c = 0; c < 3; c++) {
      out[c] = (weir_view){y[c], WEIR_F32, 1, {0}, {1}, {OUTPUTS}};
    }
    const weir_loop_run run = {weir_iterations(&l[k].access), &in, out, NULL, 0};
    weir_engine_native.run(contexts[k], &run);
    for (int o = 0; o < OUTPUTS; o++) {
      const weir_moments_f32 m =
          k % 2 == 0 ? moments_in_order(x + o, OUTPUTS, n) : moments_in_order(x + o * n, 1, n);
      assert_true(y[0][o] == m.n && y[1][o] == m.mean && y[2][o] == m.m2);
    }
    weir_engine_native.release(contexts[k]);
    weir_access_fini(&l[k].access);
  }
  weir_free(&memory);
  weir_check_rmdir(folder);
}

int main(void)
{
  char compiler[4096], identity[256];

  if (weir_compiler_find("", compiler, identity) != WEIR_OK) {
    fprintf(stderr, "skipped: %s\n", weir_last_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_have_the_literal_bits),
      cmocka_unit_test(reductions_have_the_literal_bits),
      cmocka_unit_test(scans_have_the_literal_bits),
      cmocka_unit_test(gathers_have_the_literal_bits),
      cmocka_unit_test(one_element_carries_nothing),
      cmocka_unit_test(reductions_keep_the_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
