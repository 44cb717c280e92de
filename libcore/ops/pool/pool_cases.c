/* pool_cases.c - see ops_cases.h. */
#include "ops/pool/weir_pool.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw r = {.seed = seed};
  weir_pool_spec s = {.accumulator = 0};
  weir_dtype dtype = WEIR_F32;

  do {
    s.combine = weir_draw_monoid(&r, &dtype, &s.accumulator);
  } while (weir_combine_has_presence(s.combine));
  const int d = (int)weir_draw_int(&r, 1, WEIR_POOL_DIMS);
  weir_array_desc x = {.dtype = dtype, .rank = d + 2};

  x.shape[0] = weir_draw_int(&r, 0, 2);
  x.shape[d + 1] = weir_draw_int(&r, 1, d == 1 ? 70 : 5);
  s.ceil = weir_draw_one_in(&r, 3);
  for (int k = 0; k < d; k++) {
    s.kernel_size[k] = weir_draw_int(&r, 1, 3);
    s.stride[k] = weir_draw_int(&r, 0, 4);
    s.pad_before[k] = weir_draw_int(&r, 0, s.kernel_size[k] - 1);
    s.pad_after[k] = weir_draw_int(&r, 0, s.kernel_size[k] - 1);
    x.shape[k + 1] = weir_draw_int(&r, s.kernel_size[k], s.kernel_size[k] + 6);
  }
  weir_draw_combined(&r, c, s.combine, &x);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_pool = {.op = &weir_op_pool, .draw = draw};
