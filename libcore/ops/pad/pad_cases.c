/* pad_cases.c - see ops_cases.h. */
#include "ops/pad/weir_pad.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 0, 3);
  weir_pad_spec s = {
      .border = (weir_border)weir_draw_int(&w, WEIR_BORDER_ZERO, WEIR_BORDER_REFLECT), .fill = 1};

  for (int d = 0; d < x.rank; d++) {
    if (weir_draw_one_in(&w, 2) && (x.shape[d] > 0 || s.border < WEIR_BORDER_WRAP)) {
      s.before[d] = weir_draw_int(&w, 0, x.shape[d] + 2);
      s.after[d] = weir_draw_int(&w, 0, x.shape[d] + 2);
    }
  }
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_pad = {.op = &weir_op_pad, .draw = draw};
