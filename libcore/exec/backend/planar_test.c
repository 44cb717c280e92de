/* planar_test.c - every operation on complex numbers in every engine against its definition, to the
 * bit; loops that have too many parts; memory that is missing. */
#include "device/weir_compile.h"
#include "exec/backend/native/native_priv.h"
/* It undefines bool. */
#include "support/exec/exec_compare.h"

#include "base/weir_check.h"

#define N 4000

/* A map of one expression over arrays of N complex numbers, with NaN, infinities and -0. */
typedef struct test_case {
  exec_case c;
  weir_dtype dtype;
} test_case;

static void array(test_case *t, weir_operand *x, weir_view *v, char **memory, size_t *bytes,
                  weir_dtype dtype)
{
  *x = (weir_operand){.dtype = dtype, .rank = 1, .extent = {N}};
  x->index[0].coef[0] = 1;
  *bytes = N * weir_dtype_size(dtype);
  *memory = calloc(N, weir_dtype_size(dtype));
  *v = (weir_view){.data = *memory, .dtype = dtype, .rank = 1, .stride = {1}, .extent = {N}};
}

static int32_t expression(weir_body *b, weir_code code, weir_dtype dtype)
{
  const int32_t x = weir_body_load(b, 0, dtype), y = weir_body_load(b, 1, dtype);
  const int32_t re = weir_body_unary(b, WEIR_CODE_REAL, x);

  switch (code) {
  case WEIR_CODE_MAKE:
    return weir_body_binary(b, code, re, weir_body_unary(b, WEIR_CODE_IMAG, y));
  case WEIR_CODE_CAST:
    return weir_body_cast(b, dtype == WEIR_C64 ? WEIR_C128 : WEIR_C64, x);
  case WEIR_CODE_SELECT:
    return weir_body_select(b, weir_body_binary(b, WEIR_CODE_EQ, x, y), x,
                            weir_body_cast(b, dtype, re));
  default:
    return weir_code_args(code) == 1 ? weir_body_unary(b, code, x)
                                     : weir_body_binary(b, code, x, y);
  }
}

static test_case *test_case_of(weir_code code, weir_dtype dtype, uint64_t seed)
{
  test_case *t = calloc(1, sizeof *t);
  weir_access *a = &t->c.loop.access;
  size_t bytes;

  weir_access_init(a);
  t->c.seed = seed;
  a->n_dims = 1;
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, N, false};
  case_resize(a, 2, 1, 0);
  for (int k = 0; k < 2; k++) {
    array(t, &a->in[k], &t->c.in[k], &t->c.in_memory[k], &bytes, dtype);
    fill_view(&t->c, &a->in[k], t->c.in_memory[k], bytes, 0, 0);
  }
  a->n_values = 1;
  a->value[0] = expression(&a->body, code, dtype);
  array(t, &a->out[0], &t->c.out[0], &t->c.out_memory[0], &t->c.out_bytes[0],
        a->body.exprs[a->value[0]].dtype);
  assert_ok(weir_access_check(a));
  return t;
}

static int agrees(const weir_engine *engine, const char *folder, weir_code code, weir_dtype dtype,
                  uint64_t seed)
{
  const weir_engine_opts opts = {.compiler = "", .cache_dir = folder, .threads = 1};
  test_case *t = test_case_of(code, dtype, seed);
  copy other = copy_make(&t->c);
  const weir_loop *loop = &t->c.loop;
  const weir_box box = weir_iterations(&loop->access);
  void *context = NULL;

  assert_ok(engine->prepare(&loop, 1, &opts, &context));
  literal_loop(&loop->access, &(weir_loop_run){box, t->c.in, t->c.out, NULL, 0});
  engine->run(context, &(weir_loop_run){box, t->c.in, other.out, NULL, 0});
  const int same = same_results(stderr, &t->c, &other, weir_code_name(code));
  engine->release(context);
  copy_free(&other);
  case_free(&t->c);
  free(t);
  return same;
}

static void operations_have_the_bits_of_their_definition(void **state)
{
  static const weir_code codes[] = {
      WEIR_CODE_REAL, WEIR_CODE_IMAG,  WEIR_CODE_CONJ, WEIR_CODE_ABS,   WEIR_CODE_ABS2,
      WEIR_CODE_NEG,  WEIR_CODE_EXP,   WEIR_CODE_ADD,  WEIR_CODE_SUB,   WEIR_CODE_MUL,
      WEIR_CODE_DIV,  WEIR_CODE_EQ,    WEIR_CODE_NE,   WEIR_CODE_ISNAN, WEIR_CODE_MAKE,
      WEIR_CODE_CAST, WEIR_CODE_SELECT};
  const weir_engine *const *engines = *state;
  char folder[256];

  weir_check_mkdir(folder, sizeof folder);
  for (int e = 0; engines[e] != NULL; e++) {
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
      assert_true(agrees(engines[e], folder, codes[k], WEIR_C64, fresh_seed()));
      assert_true(agrees(engines[e], folder, codes[k], WEIR_C128, fresh_seed()));
    }
  }
  weir_check_rmdir(folder);
}

/* Nine complex inputs are eighteen of real numbers. */
static void too_many_operands_are_refused(void **state)
{
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 1};
  test_case *t = test_case_of(WEIR_CODE_ADD, WEIR_C64, 1);
  weir_access *a = &t->c.loop.access;
  const weir_loop *loop = &t->c.loop;
  void *context = NULL;

  case_resize(a, 9, 1, 0);
  for (int k = 2; k < 9; k++) {
    a->in[k] = a->in[0];
  }
  assert_int_equal(weir_engine_vector.prepare(&loop, 1, &opts, &context), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "more than 16 inputs"));
  assert_null(context);
  case_free(&t->c);
  free(t);
}

static weir_status prepare_one(void *opaque)
{
  const weir_engine_opts opts = {.compiler = "", .cache_dir = "", .threads = 1};
  const weir_loop *loop = opaque;
  void *context = NULL;
  const weir_status status = weir_engine_vector.prepare(&loop, 1, &opts, &context);

  if (status == WEIR_OK) {
    weir_engine_vector.release(context);
  }
  return status;
}

static void memory_that_is_missing_is_no_leak(void **state)
{
  test_case *t = test_case_of(WEIR_CODE_ABS, WEIR_C64, 2);

  assert_true(weir_check_faults(prepare_one, &t->c.loop) > 5);
  case_free(&t->c);
  free(t);
  t = test_case_of(WEIR_CODE_MUL, WEIR_C128, 2);
  weir_access *a = &t->c.loop.access;

  a->dim[0].kind = WEIR_REDUCED;
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = WEIR_C128;
  a->out[0].rank = 0;
  assert_ok(weir_access_check(a));
  assert_true(weir_check_faults(prepare_one, &t->c.loop) > 5);
  case_free(&t->c);
  free(t);
}

int main(void)
{
  static const weir_engine *engines[4];
  char compiler[4096], identity[256];
  int n = 0;

  for (int k = 0; weir_engine_table[k] != NULL; k++) {
    if (weir_engine_table[k]->tier == WEIR_TIER_VECTOR ||
        (weir_engine_table[k]->tier == WEIR_TIER_NATIVE &&
         weir_compiler_find("", compiler, identity) == WEIR_OK)) {
      engines[n++] = weir_engine_table[k];
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(operations_have_the_bits_of_their_definition, (void *)engines),
      cmocka_unit_test(too_many_operands_are_refused),
      cmocka_unit_test(memory_that_is_missing_is_no_leak),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
