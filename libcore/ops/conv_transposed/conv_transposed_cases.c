/* conv_transposed_cases.c - see ops_cases.h. */
#include "ops/conv_transposed/weir_conv_transposed.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw r = {.seed = seed};
  weir_conv_transposed_spec s = {.groups = weir_draw_one_in(&r, 3) ? weir_draw_int(&r, 2, 3) : 0};
  const int d = (int)weir_draw_int(&r, 1, WEIR_CONV_DIMS);
  weir_array_desc x = {.dtype = weir_draw_dtype(&r, "fh"), .rank = d + 2}, w = x;

  x.shape[0] = weir_draw_int(&r, 0, 2);
  for (int k = 0; k < d; k++) {
    w.shape[k] = weir_draw_int(&r, 1, 4);
    x.shape[k + 1] = weir_draw_int(&r, 1, 7 - d);
    s.stride[k] = weir_draw_int(&r, 0, 3);
    s.dilation[k] = weir_draw_int(&r, 0, 2);
    s.output_padding[k] = weir_draw_int(&r, 0, weir_or_one(s.stride[k]) - 1);
    const int64_t reach = weir_or_one(s.dilation[k]) * (w.shape[k] - 1);
    const int64_t over = reach + 1 + s.output_padding[k] - weir_or_one(s.stride[k]);

    if (over >= 0 && weir_draw_one_in(&r, 3)) { /* as long as round the whole */
      s.border[k] = WEIR_BORDER_WRAP;
      s.pad_before[k] = weir_draw_int(&r, 0, over);
      s.pad_after[k] = over - s.pad_before[k];
    } else {
      s.border[k] = weir_draw_one_in(&r, 2) ? WEIR_BORDER_ZERO : WEIR_BORDER_NEVER;
      s.pad_before[k] = weir_draw_int(&r, 0, reach / 2);
      s.pad_after[k] = weir_draw_int(&r, 0, reach / 2);
    }
  }
  x.shape[d + 1] = w.shape[d + 1] = weir_draw_int(&r, 1, 3) * weir_or_one(s.groups);
  w.shape[d] = weir_draw_int(&r, 1, 3);
  weir_case_input(c, &x, -2, 2);
  weir_case_input(c, &w, -2, 2);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_conv_transposed = {.op = &weir_op_conv_transposed, .draw = draw};
