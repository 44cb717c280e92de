/* interpolate_cases.c - see ops_cases.h. */
#include "ops/interpolate/weir_interpolate.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "fh"), 2, 4);
  weir_interpolate_spec s = {.pad = weir_draw_int(&w, -1, 2), .before = weir_draw_int(&w, -2, 4)};
  weir_array_desc a = {.dtype = x.dtype, .rank = 3};

  s.dim = (int)weir_draw_int(&w, 0, x.rank - 2);
  s.taps = (int)weir_draw_int(&w, s.dim + 1, x.rank - 1);
  const int64_t n = x.shape[s.dim];

  a.shape[0] = n == 0 ? 0 : weir_draw_one_in(&w, 2) ? 2 * n : weir_draw_int(&w, 0, 30);
  a.shape[1] = x.shape[s.taps] = weir_draw_int(&w, 0, 4);
  a.shape[2] = weir_draw_int(&w, 0, 4);
  if (n > 0) {
    s.border = weir_draw_one_in(&w, 2) ? WEIR_BORDER_WRAP : WEIR_BORDER_NEVER;
  }
  weir_case_input(c, &x, -9, 9);
  weir_case_input(c, &a, -1, 1);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_interpolate = {.op = &weir_op_interpolate, .draw = draw};
