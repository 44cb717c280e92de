/* elementwise_cases.c - see ops_cases.h. */
#include "ops/elementwise/elementwise_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"

/* Codes whose result differs in the last bits between the double oracle and the dtype itself. */
static bool rounds_twice(weir_code code, weir_dtype dtype)
{
  if (weir_dtype_is_complex(dtype) && (code == WEIR_CODE_MUL || code == WEIR_CODE_DIV ||
                                       code == WEIR_CODE_ABS || code == WEIR_CODE_ABS2)) {
    return true;
  }
  return code == WEIR_CODE_EXP || code == WEIR_CODE_LOG || code == WEIR_CODE_TANH ||
         code == WEIR_CODE_ERF || code == WEIR_CODE_SIN || code == WEIR_CODE_COS ||
         code == WEIR_CODE_FMA;
}

static weir_array_desc repeat_some(weir_draw *w, const weir_array_desc *whole, weir_dtype dtype)
{
  weir_array_desc d = {.dtype = dtype};
  const int skip = weir_draw_one_in(w, 4) ? (int)weir_draw_int(w, 0, whole->rank) : 0;

  d.rank = whole->rank - skip;
  for (int k = 0; k < d.rank; k++) {
    d.shape[k] = weir_draw_one_in(w, 6) ? 1 : whole->shape[skip + k];
  }
  return d;
}

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  weir_elementwise_spec s = {.code = WEIR_CODE_LOAD};

  while (elementwise_classes(s.code) == NULL) {
    s.code = (weir_code)weir_draw_int(&w, 0, WEIR_CODE_COUNT - 1);
  }
  const weir_dtype dtype = weir_draw_dtype(&w, elementwise_classes(s.code));
  const int n = weir_code_args(s.code);
  const weir_array_desc whole = weir_draw_array(&w, dtype, 0, 4);
  const double lo = s.code == WEIR_CODE_LOG || s.code == WEIR_CODE_SQRT ? 0.01
                    : dtype == WEIR_U8 || dtype == WEIR_BOOL            ? 0
                                                                        : -9;

  s.dtype = weir_draw_dtype(&w, weir_dtype_is_complex(dtype) ? "c" : "nbhc");
  if (n == 2 && dtype != WEIR_BOOL && weir_draw_one_in(&w, 4)) {
    s.scalar = (int)weir_draw_int(&w, 1, 2);
    s.value = (double)weir_draw_int(&w, 1, 5);
  }
  for (int i = 0; i < n - (s.scalar != 0); i++) {
    const bool condition = s.code == WEIR_CODE_SELECT && i == 0;
    const weir_array_desc d = repeat_some(&w, &whole, condition ? WEIR_BOOL : dtype);

    weir_case_input(c, &d, condition ? 0 : lo, condition || dtype == WEIR_BOOL ? 1 : 9);
  }
  c->exact = !rounds_twice(s.code, dtype);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_elementwise = {.op = &weir_op_elementwise, .draw = draw};
