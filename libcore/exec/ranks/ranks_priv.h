/* ranks_priv.h - the local graph of a plan that is distributed over ranks. */
#ifndef RANKS_PRIV_H
#define RANKS_PRIV_H
#include "comm/weir_request.h"
#include "exec/weir_plan.h"
#include "pass/partition/weir_spmd.h"
#include "pass/weir_pass.h"

/* A summand of a rank: a box, and its elements in the buffer of a reduce-scatter. */
typedef struct exec_summand {
  weir_box box;
  char *data;
  int first; /* number of the first one of that box */
} exec_summand;

/* What one move has at run time. */
typedef struct exec_carrier {
  weir_request *request;
  char *buffer;          /* in the plan's memory, or its own: */
  char *memory;          /* that of a plan that is run while it is made; NULL: none */
  exec_summand *summand; /* [n_summands] reduce-scatter: ascending by rank, this one's own, too */
  int n_summands, own;   /* own: number of this rank's, -1: it has none */
  int64_t count;         /* merge: elements */
  int64_t runs;
  double waited_s;  /* in all runs */
  double started;   /* when, of this run */
  double overlap_s; /* between start and wait, in all runs */
  int64_t ready;    /* runs in which nothing was left to wait for */
} exec_carrier;

typedef struct exec_ranks {
  weir_comm *comm;
  weir_grid grid;
  weir_graph *whole; /* simplified, pool-sparse; numbers are the caller's */
  weir_partition *partition;
  weir_spmd_graph local;
  exec_carrier *carriers;                /* [local.n] */
  bool early;                            /* requests are there while the plan is made */
  weir_comm *group[1 << WEIR_GRID_DIMS]; /* of ranks that differ in these dimensions, as needed */
} exec_ranks;

/* Derives the rank's graph. verifies: for a plan that is run after each pass, which then has its
 * requests and memory for them. Collective; fails on all ranks alike: what weir_spmd_lower fails
 * with; where it verifies, as weir_allreduce_create. */
weir_status exec_ranks_open(const weir_graph *g, const weir_dist *dist, const weir_pass_opts *opts,
                            bool verifies, exec_ranks **out) WEIR_CHECKED;
/* Finds the buffers of moves in the memory of the plan, whose graph is still there; nothing of a
 * plan without ranks. */
void exec_ranks_bind(const weir_plan *p);
/* Creates the requests over these; none of a plan of sizes only. Collective; fails on all ranks
 * alike: WEIR_ERR_UNSUPPORTED (a merge without a reducer); as requests. */
weir_status exec_ranks_connect(const weir_plan *p) WEIR_CHECKED;
/* Accepts NULL and nulls. Collective. */
void exec_ranks_close(exec_ranks **s);
/* What moves, with the bytes that this rank sends or gives to a merge; and why. */
void exec_ranks_print(const weir_plan *p, FILE *out);
#endif
