/* native_test.c - compiled loops against the oracle on random loops. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_engine.h"
#include "graph/weir_scalar.h"

#define LOOPS 12

/* Numbers of one test, in order. */
typedef struct dice {
  uint64_t seed, at;
} dice;

static int64_t roll(dice *d, int64_t n)
{
  return (int64_t)(weir_random_bits(d->seed, 77, 0, d->at++) % (uint64_t)n);
}

/* One random loop with memory for its operands. */
typedef struct trial {
  bool plain; /* no divisions, gathers and positions */
  weir_loop loop;
  weir_view in[WEIR_MAX_OPERANDS], out[2][WEIR_MAX_OUTPUTS];
  char *memory[WEIR_MAX_OPERANDS], *result[2][WEIR_MAX_OUTPUTS];
  uint64_t cells[2][WEIR_MAX_STATES * 64];
  weir_cells state[2];
  int64_t length[WEIR_MAX_OUTPUTS];
} trial;

static weir_dtype any_dtype(dice *d)
{
  return (weir_dtype)roll(d, WEIR_DTYPE_COUNT);
}

static void fill(dice *d, weir_dtype dtype, char *data, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const double u = (double)roll(d, 4001) / 1000 - 2;
    if (weir_dtype_is_float(dtype)) {
      weir_dtype_store_real(dtype, data, i, u);
    } else {
      weir_dtype_store_int(dtype, data, i, roll(d, 256) - 128);
    }
  }
}

/* Input k: rank 0..3, every border, divisions, gathers by operand 0 where it is whole-valued. */
static void make_input(dice *d, trial *t, int k)
{
  weir_access *a = &t->loop.access;
  weir_operand *o = &a->in[k];

  *o = (weir_operand){.dtype = k == 0 ? WEIR_I16 : any_dtype(d), .rank = (int)roll(d, 3)};
  for (int r = 0; r < o->rank; r++) {
    weir_index *x = &o->index[r];
    o->extent[r] = 1 + roll(d, 17);
    x->offset = roll(d, 9) - 4;
    x->div = !t->plain && roll(d, 3) == 0 ? 1 + roll(d, 3) : roll(d, 2);
    x->fill = (double)(roll(d, 13) - 6);
    x->border = (weir_border)(1 + roll(d, 6));
    for (int j = 0; j < a->n_dims; j++) {
      x->coef[j] = roll(d, 3) == 0 ? roll(d, 5) - 2 : 0;
    }
    if (r == o->rank - 1 && a->n_dims > 0) {
      x->coef[roll(d, a->n_dims)] = 1;
    }
    if (k > 0 && !t->plain && roll(d, 4) == 0) {
      x->gather = 1;
      x->gather_lo = -128;
      x->gather_hi = 128;
    }
  }
}

/* Shifts the window's origin: the same elements at the same places. */
static void shift_origin(dice *d, weir_view *v)
{
  for (int r = 0; r < v->rank; r++) {
    v->origin[r] = v->extent[r] > 0 ? roll(d, v->extent[r]) : 0;
    v->data = (char *)v->data + v->origin[r] * v->stride[r] * (int64_t)weir_dtype_size(v->dtype);
  }
}

/* Views of memory: row-major, now and then with wider steps. */
static weir_view make_view(dice *d, const weir_operand *o, char *data, int64_t *length)
{
  weir_view v = {.data = data, .dtype = o->dtype, .rank = o->rank};
  int64_t stride = roll(d, 3) == 0 ? 2 : 1;

  for (int r = o->rank - 1; r >= 0; r--) {
    v.stride[r] = stride;
    v.extent[r] = o->extent[r];
    stride *= o->extent[r] > 0 ? o->extent[r] : 1;
  }
  *length = stride;
  return v;
}

static int32_t cast_to(weir_body *b, weir_dtype dtype, int32_t x)
{
  return b->exprs[x].dtype == dtype ? x : weir_body_cast(b, dtype, x);
}

/* Every code that takes the dtype of `x`, by chance. Transcendental ones are not asked for the last
 * bit: the oracle uses libm. */
static int32_t grow(dice *d, weir_body *b, int32_t x, int32_t y)
{
  const weir_dtype dtype = b->exprs[x].dtype;
  static const weir_code plain[] = {WEIR_CODE_ADD, WEIR_CODE_SUB, WEIR_CODE_MUL, WEIR_CODE_MIN,
                                    WEIR_CODE_MAX, WEIR_CODE_DIV, WEIR_CODE_FMA};
  static const weir_code one[] = {WEIR_CODE_NEG,   WEIR_CODE_ABS,  WEIR_CODE_FLOOR, WEIR_CODE_CEIL,
                                  WEIR_CODE_ROUND, WEIR_CODE_SQRT, WEIR_CODE_TANH,  WEIR_CODE_ERF,
                                  WEIR_CODE_SIN,   WEIR_CODE_COS};
  static const weir_code compare[] = {WEIR_CODE_EQ, WEIR_CODE_NE, WEIR_CODE_LT,
                                      WEIR_CODE_LE, WEIR_CODE_GT, WEIR_CODE_GE};
  static const weir_code logic[] = {WEIR_CODE_AND, WEIR_CODE_OR, WEIR_CODE_XOR};

  y = cast_to(b, dtype, y);
  if (dtype == WEIR_BOOL) {
    return roll(d, 4) == 0 ? weir_body_unary(b, WEIR_CODE_NOT, x)
                           : weir_body_binary(b, logic[roll(d, 3)], x, y);
  }
  if (roll(d, 4) == 0) {
    const int32_t c = weir_body_binary(b, compare[roll(d, 6)], x, y);
    return roll(d, 2) == 0 ? weir_body_select(b, c, y, x) : c;
  }
  if (roll(d, 8) == 0) {
    return weir_body_unary(b, WEIR_CODE_ISNAN, x);
  }
  if (roll(d, 3) == 0) {
    const weir_code code = one[roll(d, weir_dtype_is_float(dtype) ? 10 : 5)];
    return weir_body_unary(b, code, x);
  }
  if (dtype == WEIR_I64 && roll(d, 3) == 0) {
    return weir_body_binary(b, WEIR_CODE_SHR, x, y);
  }
  const weir_code code = plain[roll(d, weir_dtype_is_float(dtype) ? 7 : 6)];
  if (code == WEIR_CODE_FMA) {
    return weir_body_push(b, (weir_expr){code, dtype, x, y, x, 0, 0});
  }
  return weir_body_binary(b, code, x, y);
}

static void make_body(dice *d, trial *t)
{
  weir_access *a = &t->loop.access;
  weir_body *b = &a->body;

  for (int k = 0; k < a->n_in; k++) {
    weir_body_load(b, k, a->in[k].dtype);
    if (a->in[k].rank > 0 && !t->plain) {
      weir_body_push(b, (weir_expr){WEIR_CODE_REMAINDER, WEIR_I64, -1, -1, -1, k * 16, 0});
    }
  }
  for (int k = 0; k < a->n_dims && !t->plain; k++) {
    weir_body_index(b, k);
  }
  for (int s = 0; s < a->n_states; s++) {
    weir_body_state(b, s, a->state[s].dtype);
  }
  if (!t->plain) {
    const int32_t seed = weir_body_int(b, WEIR_I64, 99), step = weir_body_int(b, WEIR_I64, 3);
    weir_body_push(b, (weir_expr){WEIR_CODE_RANDOM, WEIR_I64, seed, step, -1, 5, 0});
  }
  weir_body_real(b, WEIR_F32, 0.75);
  weir_body_int(b, WEIR_I8, -5);
  for (int i = 0; i < 6; i++) {
    grow(d, b, (int32_t)roll(d, b->n), (int32_t)roll(d, b->n));
    weir_body_cast(b, any_dtype(d), (int32_t)roll(d, b->n));
  }
}

/* Output of `dtype` over the parallel (and, in a scan, sequential) dimensions. */
static void make_output(trial *t, int k, weir_dtype dtype)
{
  weir_access *a = &t->loop.access;
  weir_operand *o = &a->out[k];

  *o = (weir_operand){.dtype = dtype};
  for (int j = 0; j < a->n_dims; j++) {
    if (a->dim[j].kind != WEIR_REDUCED) {
      o->index[o->rank].coef[j] = 1;
      o->index[o->rank].offset = -a->dim[j].lo;
      o->extent[o->rank++] = a->dim[j].hi - a->dim[j].lo;
    }
  }
}

static void make_dims(dice *d, trial *t, bool scan, bool reduce)
{
  weir_access *a = &t->loop.access;
  const bool long_one = roll(d, 6) == 0;

  a->n_dims = (int)roll(d, 4);
  a->n_dims = (scan || reduce) && a->n_dims == 0 ? 1 : a->n_dims;
  for (int j = 0; j < a->n_dims; j++) {
    const int64_t lo = roll(d, 3) - 1;
    a->dim[j] = (weir_dim){WEIR_PARALLEL, lo, lo + 1 + roll(d, 13), false};
  }
  if (a->n_dims > 0 && (scan || reduce)) {
    const int j = (int)roll(d, a->n_dims);
    a->dim[j].kind = reduce ? WEIR_REDUCED : roll(d, 2) == 0 ? WEIR_FORWARD : WEIR_BACKWARD;
    if (long_one) {
      a->dim[j].hi = a->dim[j].lo + (reduce ? 9001 : 300);
      for (int i = 0; i < a->n_dims; i++) {
        a->dim[i].hi = i != j && a->dim[i].hi > a->dim[i].lo + 3 ? a->dim[i].lo + 3 : a->dim[i].hi;
      }
    }
    if (reduce && a->n_dims > 1 && roll(d, 3) == 0 && !long_one) {
      a->dim[(j + 1) % a->n_dims].kind = WEIR_REDUCED;
    }
  }
}

static int32_t of_dtype(dice *d, weir_body *b, weir_dtype dtype)
{
  return cast_to(b, dtype, (int32_t)roll(d, b->n));
}

static void make_reduction(dice *d, trial *t)
{
  static const int outputs[] = {0, 1, 1, 1, 1, 2, 3, 2, 2, 2};
  weir_access *a = &t->loop.access;
  weir_body *b = &a->body;

  a->combine = (weir_monoid)(1 + roll(d, WEIR_COMBINE_LAST));
  const bool real = a->combine == WEIR_COMBINE_MOMENTS || a->combine == WEIR_COMBINE_SOFTMAX;
  a->accumulator = real ? (weir_dtype)roll(d, 2) : any_dtype(d);
  if (a->accumulator == WEIR_BOOL && a->combine <= WEIR_COMBINE_PROD) {
    a->accumulator = WEIR_I32;
  }
  a->n_out = outputs[a->combine];
  a->n_values = a->combine >= WEIR_COMBINE_FIRST || a->combine == WEIR_COMBINE_MOMENTS ? 2 : 1;
  a->value[0] = of_dtype(d, b, a->accumulator);
  if (weir_dtype_is_float(a->accumulator)) { /* tame: the oracle adds in long double */
    const int32_t low = weir_body_real(b, a->accumulator, -2);
    const int32_t high = weir_body_real(b, a->accumulator, 2);
    a->value[0] = weir_body_binary(b, WEIR_CODE_MAX, a->value[0], low);
    a->value[0] = weir_body_binary(b, WEIR_CODE_MIN, a->value[0], high);
  }
  a->value[1] = of_dtype(d, b, WEIR_BOOL);
  for (int k = 0; k < a->n_out; k++) {
    make_output(t, k, a->accumulator);
  }
  if (a->combine == WEIR_COMBINE_ARGMAX) {
    make_output(t, 1, WEIR_I64);
  } else if (a->combine >= WEIR_COMBINE_FIRST) {
    make_output(t, 1, WEIR_BOOL);
  }
}

static void make_trial(uint64_t seed, trial *t)
{
  dice d = {seed, 0};
  weir_access *a = &t->loop.access;

  memset(t, 0, sizeof *t);
  t->plain = roll(&d, 2) == 0;
  const int kind = (int)roll(&d, 3);
  make_dims(&d, t, kind == 1, kind == 2);
  a->n_in = 1 + (int)roll(&d, 3);
  for (int k = 0; k < a->n_in; k++) {
    make_input(&d, t, k);
  }
  a->n_states = kind == 1 ? 1 + (int)roll(&d, 3) : 0;
  for (int s = 0; s < a->n_states; s++) {
    a->state[s].dtype = any_dtype(&d);
  }
  make_body(&d, t);
  for (int s = 0; s < a->n_states; s++) {
    a->state[s].next = of_dtype(&d, &a->body, a->state[s].dtype);
  }
  if (kind == 2) {
    make_reduction(&d, t);
  } else {
    a->n_out = a->n_values = 1 + (int)roll(&d, 2);
    for (int k = 0; k < a->n_out; k++) {
      a->value[k] = (int32_t)roll(&d, a->body.n);
      make_output(t, k, a->body.exprs[a->value[k]].dtype);
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    int64_t length;
    void *memory;
    t->in[k] = make_view(&d, &a->in[k], NULL, &length);
    assert_ok(weir_alloc(length, weir_dtype_size(a->in[k].dtype), &memory));
    t->memory[k] = memory;
    t->in[k].data = memory;
    shift_origin(&d, &t->in[k]);
    fill(&d, a->in[k].dtype, t->memory[k], length);
  }
  const dice kept = d;
  for (int which = 0; which < 2; which++) {
    d = kept;
    for (int k = 0; k < a->n_out; k++) {
      void *memory;
      t->out[which][k] = make_view(&d, &a->out[k], NULL, &t->length[k]);
      assert_ok(weir_alloc(t->length[k], weir_dtype_size(a->out[k].dtype), &memory));
      t->result[which][k] = memory;
      t->out[which][k].data = memory;
      shift_origin(&d, &t->out[which][k]);
    }
    for (size_t i = 0; i < sizeof t->cells[0] / 8; i++) {
      const double real = 0.5;
      const float single = 0.5F;
      const weir_dtype dtype = a->state[i / 64 % WEIR_MAX_STATES].dtype;
      t->cells[which][i] = 1;
      memcpy(&t->cells[which][i], dtype == WEIR_F64 ? (const void *)&real : (const void *)&single,
             dtype == WEIR_F64   ? 8
             : dtype == WEIR_F32 ? 4
                                 : 0);
    }
  }
  int64_t points = 1;
  for (int j = 0; j < a->n_dims; j++) {
    points *= a->dim[j].kind == WEIR_PARALLEL ? a->dim[j].hi - a->dim[j].lo : 1;
  }
  t->state[0] = (weir_cells){t->cells[0], points};
  t->state[1] = (weir_cells){t->cells[1], points};
}

static void free_trial(trial *t)
{
  for (int k = 0; k < t->loop.access.n_in; k++) {
    weir_free(&t->memory[k]);
  }
  for (int k = 0; k < t->loop.access.n_out; k++) {
    weir_free(&t->result[0][k]);
    weir_free(&t->result[1][k]);
  }
  weir_access_fini(&t->loop.access);
}

/* Runs the loop box by box, cut once in a dimension that is not reduced. */
static void run_in_two(const trial *t, void *context)
{
  const weir_access *a = &t->loop.access;
  weir_loop_run run = {weir_iterations(a), t->in, t->out[1], (weir_cells *)&t->state[1]};
  const weir_box whole = run.box;
  int cut = -1;

  for (int k = 0; k < a->n_dims; k++) {
    cut = a->dim[k].kind != WEIR_REDUCED && (cut < 0 || a->dim[k].kind != WEIR_PARALLEL) ? k : cut;
  }
  if (cut < 0) {
    weir_engine_native.run(context, &run);
    return;
  }
  const bool down = a->dim[cut].kind == WEIR_BACKWARD;
  const int64_t middle = whole.lo[cut] + (whole.hi[cut] - whole.lo[cut]) / 3;
  run.box.lo[cut] = down ? middle : whole.lo[cut];
  run.box.hi[cut] = down ? whole.hi[cut] : middle;
  weir_engine_native.run(context, &run);
  run.box.lo[cut] = down ? whole.lo[cut] : middle;
  run.box.hi[cut] = down ? middle : whole.hi[cut];
  weir_engine_native.run(context, &run);
}

static void random_loops_equal_the_oracle(void **state)
{
  static trial trials[LOOPS];
  const weir_loop *loops[LOOPS];
  void *contexts[LOOPS];
  char folder[256];
  int n = 0;

  weir_check_mkdir(folder, sizeof folder);
  for (uint64_t seed = 0; n < LOOPS; seed++) {
    make_trial(seed, &trials[n]);
    const int64_t points = trials[n].state[0].points;
    if (weir_access_check(&trials[n].loop.access) != WEIR_OK ||
        (trials[n].loop.access.n_states > 0 && points * trials[n].loop.access.n_states > 64)) {
      weir_clear_failure();
      free_trial(&trials[n]);
      continue;
    }
    loops[n] = &trials[n].loop;
    n++;
  }
  const weir_engine_opts opts = {"", folder, 1};
  assert_ok(weir_engine_native.prepare(loops, n, &opts, contexts));
  for (int k = 0; k < n; k++) {
    trial *t = &trials[k];
    const weir_engine_opts plain = {"", "", 1};
    void *oracle;
    assert_ok(weir_engine_reference.prepare(&loops[k], 1, &plain, &oracle));
    const weir_loop_run a = {weir_iterations(&loops[k]->access), t->in, t->out[0], &t->state[0]};
    weir_engine_reference.run(oracle, &a);
    run_in_two(t, contexts[k]);
    weir_engine_reference.release(oracle);
    for (int o = 0; o < loops[k]->access.n_out; o++) {
      char what[80];
      const weir_tolerance loose = {1e-4, 1e-4};
      snprintf(what, sizeof what, "loop %d output %d combine %d", k, o,
               (int)loops[k]->access.combine);
      assert_int_equal(weir_compare(what, loops[k]->access.out[o].dtype, t->result[1][o],
                                    t->result[0][o], t->length[o], loose),
                       0);
    }
  }
  for (int k = 0; k < n; k++) {
    weir_engine_native.release(contexts[k]);
    free_trial(&trials[k]);
  }
  weir_check_rmdir(folder);
}

/* The order of weir_engine.h, word for word, for the moments of x[n] of which the present count. */
static weir_moments_f32 moments_in_order(const float *x, int64_t step, int64_t n)
{
  static weir_moments_f32 slabs[16];
  int64_t n_slabs = 0;

  for (int64_t from = 0; from < n; from += WEIR_SLAB) {
    weir_moments_f32 lane[WEIR_LANES] = {{0, 0, 0}};
    for (int64_t r = from; r < n && r < from + WEIR_SLAB; r++) {
      if (x[r * step] < 0.9F) {
        lane[r % WEIR_LANES] = weir_moments_step_f32(lane[r % WEIR_LANES], x[r * step]);
      }
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int l = 0; l < half; l++) {
        lane[l] = weir_moments_merge_f32(lane[l], lane[l + half]);
      }
    }
    slabs[n_slabs++] = lane[0];
  }
  for (; n_slabs > 1; n_slabs = (n_slabs + 1) / 2) {
    for (int64_t k = 0; k < n_slabs; k += 2) {
      slabs[k / 2] = k + 1 < n_slabs ? weir_moments_merge_f32(slabs[k], slabs[k + 1]) : slabs[k];
    }
  }
  return slabs[0];
}

/* Moments over dimension `reduced` of x[extent[0]][extent[1]]. */
static weir_loop moments_loop(const int64_t extent[2], int reduced)
{
  weir_loop l;
  weir_access *a = &l.access;
  weir_body *b = &a->body;

  memset(&l, 0, sizeof l);
  a->n_dims = a->n_values = 2;
  a->n_in = 1;
  a->n_out = 3;
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
  enum { CASES = 8, OUTPUTS = 21, MOST = 5 * 4096 + 17 };
  weir_loop l[CASES];
  const weir_loop *loops[CASES];
  void *contexts[CASES], *memory;
  float y[3][OUTPUTS];
  char folder[256];

  weir_check_mkdir(folder, sizeof folder);
  const weir_engine_opts opts = {"", folder, 1};
  assert_ok(weir_alloc(MOST * OUTPUTS, sizeof(float), &memory));
  float *x = memory;
  for (int64_t i = 0; i < MOST * OUTPUTS; i++) {
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
    const weir_loop_run run = {weir_iterations(&l[k].access), &in, out, NULL};
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_loops_equal_the_oracle),
      cmocka_unit_test(reductions_keep_the_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
