/* shift_cases.c - see ops_cases.h. */
#include "ops/shift/weir_shift.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 1, 4);
  weir_shift_spec s = {.dim = (int)weir_draw_int(&w, 0, x.rank - 1)};

  s.by = weir_draw_int(&w, -x.shape[s.dim] - 2, x.shape[s.dim] + 2);
  s.border = (weir_border)weir_draw_int(&w, WEIR_BORDER_ZERO, WEIR_BORDER_REFLECT);
  s.fill = 1;
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_shift = {.op = &weir_op_shift, .draw = draw};
