/* weir_loop.h - loops for the engines: a group as an ordered list of loops over iteration boxes.
 *
 * Members
 * whose value is used only once (same iteration, no border between) are inlined into the body of
 * their consumer; every other member is a separate loop with outputs in tile-local buffers or
 * arrays. Lowering implements the decisions of the passes. */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* `access` is a complete structured access (its body holds the inlined members); operand k reads
 * array in[k], output k writes array out[k]. Libraries and calls keep theirs and are run by
 * op->run(spec).
 */
typedef struct weir_loop {
  weir_access access;
  int32_t in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  int32_t node;      /* member that computes the outputs */
  int32_t n_members; /* members merged into this loop */
  bool aligned;      /* runs the anchor's tile itself, without a border around it */
  bool claimed;      /* computed by a kernel of the group: not merged */
} weir_loop;

/* Returns the loops of a group, in order. Free them with weir_loops_free. Fails: WEIR_ERR_MEMORY.
 */
weir_status weir_lower(const weir_graph *g, const weir_group *group, weir_loop **loops,
                       int32_t *n) WEIR_CHECKED;
void weir_loops_free(weir_loop **loops, int32_t n);

#ifdef __cplusplus
}
#endif
#endif
