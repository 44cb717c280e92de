/* transpose_cases.c - see ops_cases.h. */
#include "ops/transpose/weir_transpose.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 0, 5);
  weir_transpose_spec s = {.order = {0}};

  for (int k = 0; k < x.rank; k++) {
    const int other = (int)weir_draw_int(&w, 0, k);

    s.order[k] = s.order[other];
    s.order[other] = k;
  }
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_transpose = {.op = &weir_op_transpose, .draw = draw};
