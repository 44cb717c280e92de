/* weir_spmd.h - SPMD
 * lowering: the local graph of one rank, with its boxes of all arrays, its iterations of all nodes,
 * and the communication between them.
 *
 * What several readers of a list of indices need that overlaps moves once, where together it is a
 * box.
 * Indices are shifted so that local element 0 is the first one that the rank holds; what bodies
 * read of an index stays global. Halos lie in arrays of their own, as large as the readers need; a
 * border rule acts where such an array ends with the whole one, and nowhere else. Nodes and arrays
 * of the partitioned graph keep their numbers; moves follow them and are the same ones, in the
 * same order, on every rank, those included that have nothing to send. */
#ifndef WEIR_SPMD_H
#define WEIR_SPMD_H
#include "pass/partition/weir_partition.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_move_kind {
  WEIR_MOVE_EXCHANGE, /* exchange of boxes that a rank needs of an array with their owners */
  WEIR_MOVE_MERGE /* reduction of partial outputs of a node, by its monoid, within a group of ranks
                   */
} weir_move_kind;

/* A box of the array, in its global indices, sent to or received from a rank of the grid. */
typedef struct weir_move_part {
  int peer;
  bool receive;
  weir_box box;
} weir_comm_op_part;

/* A communication operation of the local graph: one node starts it, another finishes it. Both are
 * calls (weir_call.h), chained so that all ranks start and finish in one order. */
typedef struct weir_move weir_move;
struct weir_move {
  weir_move_kind kind;
  const char *name;  /* of the node that produces the data, or of the source */
  int32_t array;     /* of the partitioned graph: exchange; merge: output 0 */
  weir_dtype dtype;  /* of that array */
  weir_box from, to; /* exchange: elements that this rank has before, and after */
  weir_comm_op_part
      *parts; /* exchange: of this rank, pairs of ranks in the same order on both sides; what comes
                 of a reduce-scatter ascends with ranks, boxes are the same or have nothing in
                 common, and what this rank has itself, of from and to, is one more of them */
  int64_t n_parts;
  int64_t bytes;      /* sent or reduced by this rank */
  int n;              /* merge: outputs that are merged together */
  weir_monoid monoid; /* merge, reduce-scatter */
  unsigned dims;      /* likewise: of the grid, as weir_partition_partial */
  /* Who runs the graph sets these before. start's run->in begins with the arrays before, and so
   * does that of an exchange's finish; finish's run->out with those after. */
  weir_status (*start)(weir_comm_op *m, const weir_op_run *run);
  weir_status (*finish)(weir_comm_op *m, const weir_op_run *run);
  void *context;
};

typedef struct weir_spmd_graph {
  const weir_partition *p;
  int rank;
  weir_graph *g;
  weir_comm_op **moves; /* [n] in the order in which they start */
  int32_t n;
} weir_spmd_graph;

/* Lowers the partition to the local graph of a rank; fini frees it; p outlives it. Local. Fails:
 * WEIR_ERR_UNSUPPORTED, naming the node or array and the reason: an array with time; a sharded
 * constant, in-place array, output of a call, array of random numbers that are numbered over all of
 * it, states along the dimension of their recurrence, or dimension of a recurrence; iterations that
 * compute elements of several ranks. WEIR_ERR_MEMORY. */
weir_status weir_spmd_lower(const weir_partition *p, int rank, weir_spmd_graph *out) WEIR_CHECKED;
void weir_spmd_graph_fini(weir_spmd_graph *l);
/* Returns the communication that the node of a local graph finishes, NULL: none. */
const weir_move *weir_spmd_graph_finishes(const weir_graph *g, int32_t node);
/* Returns the bytes received in an exchange from rank `from`, -1: from all. */
int64_t weir_move_received(const weir_move *m, int from);
/* Prints the boxes of the iterations of nodes that need other ranks, and the data received and
 * reduced, for `describe`. */
void weir_spmd_graph_print(const weir_spmd_graph *l, FILE *out);
/* Computes the SHA-256 of the properties that determine the time of a group of a local or ordinary
 * graph: weir_group_digest, and for an end of a communication its boxes in the array; "" for
 * another call. Fails: WEIR_ERR_MEMORY. */
weir_status weir_spmd_graph_digest(const weir_graph *g, const weir_group *group,
                                   char hex[65]) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
