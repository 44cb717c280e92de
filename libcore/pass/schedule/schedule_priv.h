/* schedule_priv.h - what ordering, sharing and placing have in common. */
#ifndef WEIR_SCHEDULE_PRIV_H
#define WEIR_SCHEDULE_PRIV_H
#include "pass/lower/weir_loop.h"
#include "pass/schedule/weir_schedule.h"

bool schedule_touches(const weir_graph *g, const weir_group *group, int32_t array);

/* Arrays with memory that each group knows, each once: array[first[i]] .. array[first[i + 1] - 1].
 */
typedef struct schedule_uses {
  int32_t *first, *array;
} schedule_uses;
/* fini frees. Fails: WEIR_ERR_MEMORY. */
weir_status schedule_uses_make(const weir_graph *g, schedule_uses *out) WEIR_CHECKED;
void schedule_uses_fini(schedule_uses *u);

/* What the order is made for. bytes, keep: [arrays]; ends: [arrays] true where the array lives to
 * the end of the run. */
typedef struct schedule_problem {
  const weir_graph *g;
  const int64_t *bytes;
  const bool *keep, *ends;
  schedule_uses uses;
} schedule_problem;

/* order: [groups], each after those it waits for; among those ready, by the priority of their
 * nodes, then those of the earliest micro-batch, and of them the one after which least is live.
 * Groups that do again what others did (weir_node.late) run right before the first that reads them,
 * of which that one counts as ready. Then neighbours are exchanged where less is live at the worst
 * time, or on the whole. */
weir_status schedule_order(const schedule_problem *p, int32_t *order) WEIR_CHECKED;

/* A group and its loops, which are made when they are asked for first; free them with
 * weir_loops_free. */
typedef struct schedule_loops {
  const weir_group *group;
  weir_loop *loops;
  int32_t n;
} schedule_loops;

/* True when `made`, which the group writes, may lie where `read` does, which nothing reads later:
 * the group reads and writes both element by element, none of `read` after it has been written
 * over. *yes is untouched on failure. Fails: WEIR_ERR_MEMORY. */
weir_status schedule_may_share(const weir_graph *g, schedule_loops *of, int32_t read, int32_t made,
                               bool *yes) WEIR_CHECKED;
#endif
