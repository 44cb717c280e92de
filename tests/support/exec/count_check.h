/* count_check.h - the counting interpreter: which elements an access really touches. What it marks
 * must equal what the access claims. Tests only. */
#ifndef WEIR_COUNT_CHECK_H
#define WEIR_COUNT_CHECK_H
#include "exec/exec_priv.h"

/* Runs through the iterations of `box`, one by one, and sets marks[e] = 1 for each element e
 * (row-major in the operand's extents, which must be bounded; space for all of them) that input
 * `operand`, or output -1 - operand, touches. in: views of the inputs, read for gathered indices
 * alone (NULL: they count as 0). Returns the number of elements that were not marked before. */
static inline int64_t count_touched(const weir_access *a, int operand, const weir_box *box,
                                    const weir_view *in, uint8_t *marks)
{
  const weir_operand *x = operand >= 0 ? &a->in[operand] : &a->out[-1 - operand];
  const uint32_t all = (1u << a->n_dims) - 1u;
  int64_t iteration[WEIR_MAX_DIMS], index[WEIR_MAX_RANK], found = 0;
  double fill;

  if (weir_box_empty(box)) {
    return 0;
  }
  exec_first(a, box, iteration);
  do {
    if (exec_locate(a, x, x->extent, in, iteration, index, &fill) != EXEC_IN_BOUNDS) {
      continue;
    }
    int64_t at = 0;
    for (int d = 0; d < x->rank; d++) {
      at = at * x->extent[d] + index[d];
    }
    found += marks[at] == 0;
    marks[at] = 1;
  } while (exec_next(a, box, all, iteration));
  return found;
}
#endif
