/* group_times.h - what every group of a plan takes in its best run, as a table. */
#ifndef WEIR_BENCH_GROUP_TIMES_H
#define WEIR_BENCH_GROUP_TIMES_H
#include <stdbool.h>
#include "exec/weir_plan.h"

enum { GROUP_TIMES_MOST = 1024 };

/* Begins as zeros. */
typedef struct group_times {
  int runs;
  double total[GROUP_TIMES_MOST], best[GROUP_TIMES_MOST]; /* seconds: of all runs, of the best */
} group_times;

/* After each run of a plan with `explain`; the first run, which touches fresh memory, does not
 * count. */
void group_times_take(group_times *t, const weir_plan *plan);
/* Seconds of the best run, 0: not known. */
double group_times_best(const group_times *t, int32_t group);
/* Is it a matter for kernels? */
bool group_is_dense(const weir_group_report *r);
/* To stderr, in the order of the plan or slowest first; dense groups have a star. */
void group_times_print(const group_times *t, const weir_plan *plan, bool slowest_first);

#endif
