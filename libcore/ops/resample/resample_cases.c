/* resample_cases.c - see ops_cases.h. */
#include "ops/resample/weir_resample.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  weir_resample_spec s = {.method = (weir_resample_method)weir_draw_int(&w, 0, 4), .fill = 1};
  const bool linear = s.method == WEIR_RESAMPLE_LINEAR || s.method == WEIR_RESAMPLE_RESIZE_LINEAR;
  const bool floats = linear || s.method == WEIR_RESAMPLE_FIR;
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, floats ? "f" : "nbhc"), 1, 3);

  s.dim = (int)weir_draw_int(&w, 0, x.rank - 1);
  s.up = weir_draw_int(&w, 0, 5);
  s.down = weir_draw_int(&w, 0, 5);
  s.delay = weir_draw_int(&w, -7, 20);
  s.length = x.shape[s.dim] == 0 ? 0 : weir_draw_int(&w, 0, 40);
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = !floats;
  if (linear) { /* the access does not ask that both are one array */
    weir_case_input(c, &x, 0, 9);
  }
  if (s.method == WEIR_RESAMPLE_RESIZE_LINEAR && x.shape[s.dim] > 0) {
    s.border = weir_draw_one_in(&w, 2) ? WEIR_BORDER_WRAP : WEIR_BORDER_NEVER;
  }
  if (s.method == WEIR_RESAMPLE_FIR) {
    weir_array_desc taps = {.dtype = x.dtype, .rank = 2};

    taps.shape[0] = weir_draw_int(&w, 0, 20);
    taps.shape[1] = weir_or_one(s.up);
    taps.rank -= taps.shape[1] == 1 && weir_draw_one_in(&w, 2);
    if (x.shape[s.dim] > 0) {
      s.border = (weir_border)weir_draw_int(&w, WEIR_BORDER_NEVER, WEIR_BORDER_REFLECT);
    }
    weir_case_input(c, &taps, -2, 2);
  }
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_resample = {.op = &weir_op_resample, .draw = draw};
