/* layout_solve.h - choices whose costs depend on few of them at a time, and the cheapest of all.
 *
 * Variables have states; a factor gives a cost to every combination of the states of its variables;
 * the sum of all factors is to be least. Variables are eliminated one by one, the one first whose
 * neighbours have the fewest combinations: exact, and a shortest path where factors form a chain.
 */
#ifndef WEIR_LAYOUT_SOLVE_H
#define WEIR_LAYOUT_SOLVE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

#define LAYOUT_MAX_VARIABLES 24 /* of one factor, those that elimination makes included */
#define LAYOUT_MAX_STATES 64    /* of one variable */

typedef struct layout_factor {
  int n;
  int32_t var[LAYOUT_MAX_VARIABLES];
  double *cost; /* row-major over the states of var */
  bool done;    /* part of another one by now */
} layout_factor;

typedef struct layout_problem {
  int32_t n;
  const int32_t *size; /* [n]: states of each variable, at least one */
  layout_factor *factors;
  int64_t n_factors, capacity;
} layout_problem;

/* Adds a factor over the variables, all different; *cost: space for its costs, all 0. Fails:
 * WEIR_ERR_MEMORY. */
weir_status layout_factor_add(layout_problem *p, const int32_t *var, int n,
                              double **cost) WEIR_CHECKED;
void layout_problem_fini(layout_problem *p);
/* Sum of all factors. */
double layout_cost_of(const layout_problem *p, const int32_t *choice);
/* The cheapest choice, [n]. No table is larger than `max`: where elimination would need one, what
 * is left is improved variable by variable from the choice given, from all 0 and from drawn ones,
 * and *exact is false. Of equal choices always the same. The problem is used up. Fails:
 * WEIR_ERR_MEMORY. */
weir_status layout_solve(layout_problem *p, int64_t max, int32_t *choice, bool *exact) WEIR_CHECKED;
#endif
