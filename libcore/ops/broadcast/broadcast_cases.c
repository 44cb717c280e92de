/* broadcast_cases.c - see ops_cases.h. */
#include "ops/broadcast/weir_broadcast.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc whole = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 0, 4);
  const int skip = (int)weir_draw_int(&w, 0, whole.rank);
  weir_broadcast_spec s = {.rank = whole.rank};
  weir_array_desc x = {.dtype = whole.dtype, .rank = whole.rank - skip};

  for (int d = 0; d < whole.rank; d++) {
    s.shape[d] = whole.shape[d];
  }
  for (int d = 0; d < x.rank; d++) {
    x.shape[d] = weir_draw_one_in(&w, 3) ? 1 : whole.shape[skip + d];
  }
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_broadcast = {.op = &weir_op_broadcast, .draw = draw};
