/* solve_cases.c - see ops_cases.h. */
#include "ops/solve/weir_solve.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};
  const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
  const weir_array_desc outer = weir_draw_array(&w, dtypes[weir_draw_int(&w, 0, 3)], 0, 2);
  const int64_t n = weir_draw_int(&w, 0, 9), k = weir_draw_int(&w, 0, 4);
  weir_array_desc a = outer, b = outer;
  weir_solve_spec s = {.transposed = weir_draw_one_in(&w, 3)};

  for (int d = 0; d < outer.rank; d++) {
    const int64_t extent = outer.shape[d] > 5 ? 5 : outer.shape[d];

    a.shape[d] = weir_draw_one_in(&w, 4) ? 1 : extent;
    b.shape[d] = weir_draw_one_in(&w, 4) ? 1 : extent;
  }
  a.shape[a.rank++] = n;
  a.shape[a.rank++] = n;
  b.shape[b.rank++] = n;
  b.shape[b.rank++] = k;
  s.conjugated = weir_dtype_is_complex(a.dtype) && weir_draw_one_in(&w, 2);
  weir_case_input(c, &a, -2, 2);
  weir_case_input(c, &b, -2, 2);
  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_solve = {.op = &weir_op_solve, .draw = draw};
