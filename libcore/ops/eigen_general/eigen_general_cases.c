/* eigen_general_cases.c - see ops_cases.h. */
#include "ops/eigen_general/weir_eigen_general.h"
#include "ops/ops_cases.h"

static void draw(uint64_t seed, weir_op_case *c)
{
  weir_draw w = {.seed = seed};

  weir_draw_matrices(&w, c, 4);
  const weir_eigen_general_spec s = {.values_only = weir_draw_one_in(&w, 3)};

  weir_case_spec(c, &s, sizeof s);
}

const weir_op_cases weir_op_cases_eigen_general = {.op = &weir_op_eigen_general, .draw = draw};
