/* spmd_priv.h - the moves of a graph, while its local part is built. */
#ifndef SPMD_PRIV_H
#define SPMD_PRIV_H
#include "pass/partition/partition_priv.h"
#include "pass/partition/weir_spmd.h"

/* One move as it is planned, the same on all ranks but for `move`. */
typedef struct localise_move {
  int32_t array;      /* whose elements move, or output 0 of the node */
  int32_t node;       /* merge: who makes it */
  int32_t after;      /* place of the last node that writes it, -1: a source */
  weir_box *get;      /* [ranks] exchange: what each rank has afterwards */
  weir_named *named;  /* [ranks] of these boxes, what is read; NULL: all of them */
  weir_comm_op *move; /* of this rank */
  bool owned;         /* here, and not yet by the result */
  bool started, finished;
  int32_t local; /* exchange: the array of the local graph */
} localise_move;

typedef struct localising {
  const weir_partition *p;
  int rank, ranks;
  weir_spmd_graph *out;
  weir_graph *g; /* out->g */
  localise_move *moves;
  int32_t n_moves;
  int64_t capacity;
  int32_t *choice;  /* [nodes * WEIR_MAX_OPERANDS] exchange that an operand reads from, -1: none */
  int32_t *merge;   /* [arrays] merge that makes it, -1: none */
  int32_t *now;     /* [arrays] local array that holds what the rank owns of it */
  int32_t *updated; /* [arrays] stored: exchange that brings its new value, -1: none */
  weir_value token;
} localising;

/* spmd_moves.c: fills moves, choice, merge and updated, and makes space for now. */
weir_status localise_find_moves(localising *l) WEIR_CHECKED;
/* spmd_scatter.c: of partial outputs of which each rank reads a box, takes boxes in place of
 * merges, once all moves are found. */
weir_status localise_find_scatters(localising *l) WEIR_CHECKED;
/* Appends a move, and a box of it that goes from here or comes. */
weir_status localise_push(localising *l, int32_t array, weir_comm_op_kind kind,
                          localise_move **out) WEIR_CHECKED;
weir_status localise_add_part(localise_move *x, int64_t *capacity, int peer, bool receive,
                              const weir_box *box) WEIR_CHECKED;
/* What each rank needs of an operand: get [ranks]. */
void localise_needed(const localising *l, int32_t node, int operand, weir_box *get);
/* Frees what is named for each rank; accepts NULL. */
void localise_drop_named(weir_named **named, int ranks);
/* spmd.c: adds the call that starts or finishes a move, unless it is there. */
weir_status localise_start(localising *l, localise_move *x) WEIR_CHECKED;
weir_status localise_finish(localising *l, localise_move *x) WEIR_CHECKED;
#endif
