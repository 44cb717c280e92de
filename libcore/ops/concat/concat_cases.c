/* concat_cases.c - see ops_cases.h. */
#include "ops/concat/weir_concat.h"
#include "ops/ops_cases.h"

/* One input that is the whole, since a case is one node. */
static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 1, 4);
  weir_concat_spec s = {.dim = (int)weir_draw_int(&w, 0, x.rank - 1)};

  s.extent = x.shape[s.dim];
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_concat = {.op = &weir_op_concat, .draw = draw};
