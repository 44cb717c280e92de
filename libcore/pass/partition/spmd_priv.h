/* spmd_priv.h - the moves of a graph, while its local graph is built. */
#ifndef SPMD_PRIV_H
#define SPMD_PRIV_H
#include "pass/partition/partition_priv.h"
#include "pass/partition/weir_spmd.h"

enum { SPMD_WHEN_NEEDED = INT32_MAX }; /* after no node, but where its reader stands */

/* One move as it is planned, the same on all ranks but for `move`. */
typedef struct spmd_move {
  int32_t array;      /* whose elements move, or output 0 of the node */
  int32_t node;       /* merge: who makes it */
  int32_t after;      /* position of the last node that writes it, -1: a source */
  weir_box *get;      /* [ranks] exchange: what each rank has afterwards */
  weir_named *named;  /* [ranks] of these boxes, what is read; NULL: all of them */
  weir_comm_op *move; /* of this rank */
  bool owned;         /* here, and not yet by the result */
  bool started, finished;
  weir_value buffer; /* of the local graph, once it has started */
  int32_t local;     /* exchange: the array of the local graph  */
} spmd_move;

typedef struct spmd_lowering {
  const weir_partition *p;
  int rank, ranks;
  weir_spmd_graph *out;
  weir_graph *g; /* out->g */
  spmd_move *moves;
  int32_t n_moves;
  int64_t capacity;
  int32_t *choice;  /* [nodes * WEIR_MAX_OPERANDS] exchange that an operand reads from, -1: none */
  int32_t *merge;   /* [arrays] merge that makes it, -1: none */
  int32_t *now;     /* [arrays] local array that holds what the rank owns of it */
  int32_t *updated; /* [arrays] stored: exchange that brings its new value, -1: none */
  weir_value token;
} spmd_lowering;

/* spmd_moves.c: fills moves, choice, merge and updated, and makes space for now. */
weir_status spmd_find_moves(spmd_lowering *l) WEIR_CHECKED;
/* spmd_scatter.c: of partial outputs of which each rank reads a box, takes boxes in place of
 * merges, once all moves are found. */
weir_status spmd_find_scatters(spmd_lowering *l) WEIR_CHECKED;
/* Appends a move, and a box of it that goes from here or comes. */
weir_status spmd_push(spmd_lowering *l, int32_t array, weir_comm_op_kind kind,
                      spmd_move **out) WEIR_CHECKED;
weir_status spmd_add_message(spmd_move *x, int64_t *capacity, int peer, bool receive,
                             const weir_box *box) WEIR_CHECKED;
/* Has the rank's own box in the buffer, too, once all messages are there. */
void spmd_carry_own(weir_comm_op *m);
/* What each rank needs of an operand: get [ranks]. */
void spmd_needed(const spmd_lowering *l, int32_t node, int operand, weir_box *get);
/* Frees what is named for each rank; accepts NULL. */
void spmd_drop_named(weir_named **named, int ranks);
/* spmd.c: adds the call that starts or finishes a move, unless it is there. */
weir_status spmd_start(spmd_lowering *l, spmd_move *x) WEIR_CHECKED;
weir_status spmd_finish(spmd_lowering *l, spmd_move *x) WEIR_CHECKED;
#endif
