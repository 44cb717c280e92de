/* weir_spmd.h - what one rank runs of a partitioned graph: its own boxes of all arrays, its own
 * iterations of all nodes, and between them what moves.
 *
 * What several readers of a list of indices need that overlaps moves once, where together it is a
 * box.
 * Indices are shifted so that local element 0 is the first one that the rank holds; what bodies
 * read of an index stays global. Halos lie in arrays of their own, as large as the readers need; a
 * border rule acts where such an array ends with the whole one, and nowhere else. Nodes and arrays
 * of the partitioned graph keep their numbers; moves come after them and are the same ones, in the
 * same order, on every rank, those included that have nothing to send. */
#ifndef WEIR_SPMD_H
#define WEIR_SPMD_H
#include "pass/partition/weir_partition.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_comm_op_kind {
  WEIR_COMM_OP_EXCHANGE,  /* boxes that a rank needs of an array, from those who own them */
  WEIR_COMM_OP_ALLREDUCE, /* partial outputs of a node, by its monoid, within a group of ranks */
  WEIR_COMM_OP_REDUCE_SCATTER /* boxes that a rank needs of a partial output, from all ranks with a
                              partial sum of them, by the monoid: where that moves fewer bytes than
                              a merge of all of it and an exchange */
} weir_comm_op_kind;

/* A box of the array, in its global indices, that goes to a rank of the grid or comes from it. Its
 * elements are in the buffer from element `at` on; a box that goes to several ranks one after the
 * other is there once. */
typedef struct weir_comm_op_message {
  int peer;
  bool receive;
  weir_box box;
  int64_t at;
} weir_comm_op_message;

/* Communication at one point of the local graph: a node starts it, another finishes it. Both are
 * calls (weir_call.h), chained so that all ranks start and finish in one order. What travels lies
 * in a buffer that is an array of the graph, made by the start and read by the finish: its memory
 * is part of the memory plan. */
typedef struct weir_comm_op weir_comm_op;
struct weir_comm_op {
  weir_comm_op_kind kind;
  const char *name;  /* of the node that makes what moves, or of the source */
  int rank;          /* this one */
  int32_t array;     /* of the partitioned graph: exchange; merge: output 0 */
  weir_dtype dtype;  /* of that array */
  weir_box from, to; /* exchange: elements that this rank has before, and after */
  weir_comm_op_message
      *messages; /* exchange: of this rank, pairs of ranks in the same order on both sides; those
                 received in a reduce-scatter ascend with ranks, their boxes are equal or disjoint,
                 and the rank's own box, in both from and to, is one more of them */
  int64_t n_messages;
  int64_t bytes;      /* that this rank sends, or gives to the merge */
  weir_dtype carried; /* of the buffer: that of the array; f64 of a merge of several outputs */
  int64_t elements;   /* of the buffer: of the messages, then what carries_own says; merge: of the
                         outputs, then scratch   (weir_allreduce_scratch) */
  bool carries_own;   /* reduce-scatter, and an exchange whose arrays have too many dimensions for
                         one call: the box that is in both from and to comes after the messages */
  int n;              /* merge: outputs that are merged together */
  weir_monoid monoid; /* merge, reduce-scatter */
  unsigned dims;      /* likewise: of the grid, as weir_partition_partial */
  /* Who runs the graph sets these before. start's run->in begins with the arrays before, its
   * run->out with the buffer; finish's run->in begins with the buffer, then the array before of an
   * exchange that does not carry its own box; finish's run->out with those after. */
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

/* Lowers the graph to that of a rank; fini frees it, p outlives it. Local. Fails:
 * WEIR_ERR_UNSUPPORTED, naming the node or array and the reason: an array that has time; sharding
 * of a constant, of what is written in place, of what a call makes, of random numbers that are
 * counted over all of it, of states along a sequential dimension, of the dimension of a recurrence;
 * iterations that make elements of several ranks (WEIR_ERR_UNSUPPORTED in all of them).
 * WEIR_ERR_MEMORY. */
weir_status weir_spmd_lower(const weir_partition *p, int rank, weir_spmd_graph *out) WEIR_CHECKED;
void weir_spmd_graph_fini(weir_spmd_graph *l);
/* Return the communication that the node of a local graph starts, and finishes; NULL: none. */
const weir_comm_op *weir_spmd_graph_starts(const weir_graph *g, int32_t node);
const weir_comm_op *weir_spmd_graph_finishes(const weir_graph *g, int32_t node);
/* Returns the bytes received in an exchange from rank `from`, -1: from all. */
int64_t weir_comm_op_received(const weir_comm_op *m, int from);
/* Prints the boxes of iterations that need other ranks, messages and reductions, for `describe`. */
void weir_spmd_graph_print(const weir_spmd_graph *l, FILE *out);
/* Computes the key of a timing profile for a group of a local or an ordinary graph: the digest of
 * weir_group_digest, and of a communication its boxes in the array; "" of another call. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_spmd_graph_digest(const weir_graph *g, const weir_group *group,
                                   char hex[65]) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
