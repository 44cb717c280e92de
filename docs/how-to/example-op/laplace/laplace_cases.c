/* laplace_cases.c - random valid cases for the conformance suite; see ops_cases.h. */
#include "ops/laplace/weir_laplace.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "f"), 1, 3);
  const weir_laplace_spec s = {
      .dim = (int)weir_draw_int(&w, 0, x.rank - 1),
      .border = (weir_border)weir_draw_int(&w, WEIR_BORDER_ZERO, WEIR_BORDER_REFLECT),
      .fill = 1};

  weir_case_input(c, &x, -9, 9);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_laplace = {.op = &weir_op_laplace, .draw = draw};
