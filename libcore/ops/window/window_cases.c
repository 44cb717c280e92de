/* window_cases.c - see ops_cases.h. */
#include "ops/window/weir_window.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  weir_window_spec s = {.fill = 1};
  weir_dtype dtype = WEIR_F32;

  s.combine = weir_draw_monoid(&w, &dtype, &s.accumulator);
  const weir_array_desc x = weir_draw_array(&w, dtype, 1, 3);

  s.dim = (int)weir_draw_int(&w, 0, x.rank - 1);
  s.size = weir_draw_int(&w, 1, 40);
  s.stride = weir_draw_int(&w, 0, 4);
  s.dilation = weir_draw_int(&w, -2, 2);
  s.offset = weir_draw_int(&w, -s.size - 3, 3);
  s.border = (weir_border)weir_draw_int(&w, WEIR_BORDER_NEVER, WEIR_BORDER_REFLECT);
  if (x.shape[s.dim] == 0) {
    s.border = WEIR_BORDER_ABSENT;
  }
  weir_draw_combined(&w, c, s.combine, &x);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_window = {.op = &weir_op_window, .draw = draw};
