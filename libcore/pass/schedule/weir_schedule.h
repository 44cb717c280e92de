/* weir_schedule.h - execution order of the groups and memory plan: offsets in one arena by
 * liveness, with reuse, and its lower bound. */
#ifndef WEIR_SCHEDULE_H
#define WEIR_SCHEDULE_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Arrays that are temporary and not local to one group get memory; the others have offset -1. */
typedef struct weir_schedule {
  int32_t *order; /* [n_groups] groups in the order they run                           */
  int32_t n_groups, n_arrays;
  int64_t *offset; /* [n_arrays] bytes from the start of the arena, multiples of 64    */
  int64_t arena_bytes;
  int64_t lower_bound;  /* maximum live bytes in this order */
  int64_t shared_bytes; /* of arrays computed in place of an operand that nobody reads later */
} weir_schedule;

/* Schedules the groups. bytes: [arrays of g] size of each array's memory, NULL: of the whole array;
 * keep: [arrays of g] true where it must persist between runs (time windows, results of streams),
 * NULL: none; other results live to the end of the run. Fails: WEIR_ERR_MEMORY, WEIR_ERR_SHAPE
 * (overflow). */
weir_status weir_schedule_make(const weir_graph *g, const int64_t *bytes, const bool *keep,
                               weir_schedule *out) WEIR_CHECKED;
void weir_schedule_fini(weir_schedule *s);

/* Lifetime of the memory of an array, from one step (a group or a loop) to another. */
typedef struct weir_life {
  int32_t array, first, last;
  int64_t bytes, offset;
} weir_life;
/* Returns the lowest offset from `min` on at which `l` overlaps none of the n lifetimes assigned
 * before, except those of other steps. */
int64_t weir_life_offset(const weir_life *assigned, int32_t n, const weir_life *l, int64_t min);
void weir_schedule_print(const weir_schedule *s, const weir_graph *g, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
