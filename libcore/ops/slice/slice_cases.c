/* slice_cases.c - see ops_cases.h. */
#include "ops/slice/weir_slice.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 1, 4);
  weir_slice_spec s = {.dim = (int)weir_draw_int(&w, 0, x.rank - 1), .stop = WEIR_SLICE_END};
  const int64_t n = x.shape[s.dim];

  s.start = weir_draw_int(&w, -n - 1, n + 1);
  s.step = weir_draw_int(&w, -3, 3);
  if (weir_draw_one_in(&w, 2)) {
    s.stop = weir_draw_int(&w, -n - 1, n + 1);
  }
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_slice = {.op = &weir_op_slice, .draw = draw};
