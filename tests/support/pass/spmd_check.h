/* spmd_check.h - what tests ask of a local graph. Tests only. */
#ifndef WEIR_SPMD_CHECK_H
#define WEIR_SPMD_CHECK_H
#include "pass/partition/weir_spmd.h"

/* The exchange that brings what an operand of a node of a local graph reads, NULL: none. */
static inline const weir_comm_op *local_brings(const weir_graph *g, int32_t node, int operand)
{
  const int32_t from = weir_array_value(g, weir_graph_node(g, node)->in[operand]).node;
  const weir_comm_op *m = from >= 0 ? weir_spmd_graph_finishes(g, from) : NULL;

  return m != NULL && m->kind == WEIR_COMM_OP_EXCHANGE ? m : NULL;
}
#endif
