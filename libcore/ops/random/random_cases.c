/* random_cases.c - see ops_cases.h. */
#include "ops/random/weir_random_op.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc y = weir_draw_array(&w, weir_draw_dtype(&w, "f"), 0, 4);
  const weir_array_desc scalar = {.dtype = WEIR_I64};
  weir_random_spec s = {
      .kind = (weir_random_kind)weir_draw_int(&w, 0, 1), .dtype = y.dtype, .rank = y.rank};

  for (int d = 0; d < y.rank; d++) {
    s.shape[d] = y.shape[d];
  }
  weir_case_input(c, &scalar, 0, 1000);
  weir_case_input(c, &scalar, 0, 1000);
  c->exact = s.kind == WEIR_RANDOM_UNIFORM;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_random = {.op = &weir_op_random, .draw = draw};
