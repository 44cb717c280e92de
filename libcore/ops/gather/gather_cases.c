/* gather_cases.c - see ops_cases.h. */
#include "ops/gather/weir_gather.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 1, 3);
  const weir_array_desc index =
      weir_draw_array(&w, weir_draw_one_in(&w, 2) ? WEIR_I32 : WEIR_I64, 0, 2);
  weir_gather_spec s = {.dim = (int)weir_draw_int(&w, 0, x.rank - 1), .fill = 1};

  x.shape[s.dim] = weir_draw_int(&w, 1, 9);
  s.hi = x.shape[s.dim];
  if (weir_draw_one_in(&w, 2)) {
    s.lo = weir_draw_int(&w, -4, 0);
    s.hi += weir_draw_int(&w, 0, 4);
    s.border = (weir_border)weir_draw_int(&w, WEIR_BORDER_ZERO, WEIR_BORDER_REFLECT);
  }
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  weir_case_input(c, &index, (double)s.lo, (double)(s.hi - 1));
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_gather = {.op = &weir_op_gather, .draw = draw};
