/* conv_cases.c - see ops_cases.h. */
#include "ops/conv/weir_conv.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  static const weir_border borders[] = {WEIR_BORDER_NEVER, WEIR_BORDER_ZERO, WEIR_BORDER_WRAP,
                                        WEIR_BORDER_REPLICATE, WEIR_BORDER_REFLECT};
  weir_draw r = {.seed = seed};
  weir_conv_spec s = {.groups = weir_draw_one_in(&r, 3) ? weir_draw_int(&r, 2, 3) : 0};
  const int d = (int)weir_draw_int(&r, 1, WEIR_CONV_DIMS);
  const weir_dtype dtype = weir_draw_dtype(&r, "fh");
  weir_array_desc x = {.dtype = dtype, .rank = d + 2}, w = x;
  /* Some have as many channels as library kernels take. */
  const bool wide = s.groups == 0 && (d == 1 || (d == 2 && weir_draw_one_in(&r, 4)));
  const int64_t widest = !wide ? 3 : d == 1 ? 70 : 24;
  const int64_t in = weir_draw_int(&r, 1, widest);

  x.shape[0] = weir_draw_int(&r, 0, 2);
  for (int k = 0; k < d; k++) {
    w.shape[k] = weir_draw_int(&r, 1, 3);
    s.stride[k] = weir_draw_int(&r, 0, 3);
    s.dilation[k] = weir_draw_int(&r, 0, 2);
    s.border[k] = borders[weir_draw_int(&r, 0, 4)];
    s.pad_before[k] = weir_draw_int(&r, 0, 3);
    s.pad_after[k] = weir_draw_int(&r, 0, 3);
    x.shape[k + 1] = weir_or_one(s.dilation[k]) * (w.shape[k] - 1) + weir_draw_int(&r, 1, 7 - d);
  }
  x.shape[d + 1] = in * weir_or_one(s.groups);
  w.shape[d] = in;
  w.shape[d + 1] = weir_draw_int(&r, 1, widest) * weir_or_one(s.groups);
  weir_case_input(c, &x, -2, 2);
  weir_case_input(c, &w, -2, 2);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_conv = {.op = &weir_op_conv, .draw = draw};
