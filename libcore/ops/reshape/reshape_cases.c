/* reshape_cases.c - see ops_cases.h. */
#include "ops/reshape/weir_reshape.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_array_desc x = weir_draw_array(&w, weir_draw_dtype(&w, "nbhc"), 0, 4);
  weir_reshape_spec s = {.rank = 0};
  int64_t left = 1;

  for (int d = 0; d < x.rank; d++) {
    left *= x.shape[d];
  }
  const bool empty = left == 0;

  for (int64_t f = 2; s.rank < 5 && left > 1 && f < 40; f++) {
    while (left % f == 0 && s.rank < 5 && !weir_draw_one_in(&w, 3)) {
      s.shape[s.rank++] = f;
      left /= f;
    }
  }
  if (empty || left > 1 || weir_draw_one_in(&w, 2)) {
    s.shape[s.rank++] = empty ? 0 : weir_draw_one_in(&w, 2) ? -1 : left;
  }
  weir_case_input(c, &x, 0, x.dtype == WEIR_BOOL ? 1 : 9);
  c->exact = true;
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_reshape = {.op = &weir_op_reshape, .draw = draw};
