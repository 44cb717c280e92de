/* ops_cases.c - the cases of an operator, found by its descriptor. */
#include <string.h>
#include "base/weir_check.h"
#include "ops/ops_cases.h"

void weir_op_draw(const weir_op_desc *op, uint64_t seed, weir_op_case *out)
{
  int i = 0;

  while (weir_op_cases_table[i] != NULL && weir_op_cases_table[i]->op != op) {
    i++;
  }
  if (weir_op_cases_table[i] == NULL) {
    fail_msg("operator %s: no cases; add %s_cases.c to its folder", op->name, op->name);
  }
  memset(out, 0, sizeof *out);
  weir_op_cases_table[i]->draw(seed, out);
}
