/* inverse_cases.c - see ops_cases.h. */
#include "ops/inverse/weir_inverse.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};

  weir_draw_matrices(&w, c, 5);
}

const weir_op_cases weir_op_cases_inverse = {.op = &weir_op_inverse, .draw = draw};
