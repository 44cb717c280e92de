/* reduce_cases.c - see ops_cases.h. */
#include "ops/reduce/weir_reduce.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  weir_reduce_spec s = {.keep = false};
  weir_dtype dtype = WEIR_F32;

  s.combine = weir_draw_monoid(&w, &dtype, &s.accumulator);
  weir_array_desc x = weir_draw_array(&w, dtype, 0, 4);

  if (x.rank == 1 && weir_draw_one_in(&w, 4)) {
    x.shape[0] = weir_draw_int(&w, 4000, 9000); /* more than one reduction block */
  }
  s.keep = weir_draw_one_in(&w, 2);
  for (int d = 0; d < x.rank; d++) {
    if (weir_draw_one_in(&w, 2)) {
      s.dim[s.n_dims++] = d;
    }
  }
  weir_draw_combined(&w, c, s.combine, &x);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_reduce = {.op = &weir_op_reduce, .draw = draw};
