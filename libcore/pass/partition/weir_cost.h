/* weir_cost.h - predicted
 * time, communication volume and memory of a partitioned graph.
 *
 * The
 * model is independent of layers and halos: a rank's graph is built as it will be run
 * (weir_spmd_lower, all passes, one schedule); the time of a group is its measured time
 * (weir_profile.h), else that of its memory traffic and flops, or the prediction of its kernel
 * (weir_kernel.match); the time of communication follows from the bytes in the plan. */
#ifndef WEIR_COST_H
#define WEIR_COST_H
#include "pass/partition/weir_partition.h"
#include "pass/weir_pass.h"
#include "perf/weir_machine.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Cost of one rank; of a grid the maximum over its ranks, per field. */
typedef struct weir_cost {
  double seconds;     /* of a run */
  double compute_s;   /* computing, packing and unpacking */
  double waited_s;    /* exposed communication time */
  double flops;       /* flops of its operators */
  int64_t halo_bytes; /* received in boxes */
  int64_t sum_bytes;  /* reduced */
  int64_t messages;   /* messages sent in exchanges and reductions */
  int64_t arena;      /* bytes of temporaries, as a plan lays them out        */
  int64_t untimed;    /* groups without a measured time, if there is a profile */
  int slowest;        /* the slowest rank */
} weir_cost;

/* Predicts the cost of one rank. passes: as in the plan. Local, needs no ranks. Fails: as
 * weir_spmd_lower and passes. */
weir_status weir_cost_of_rank(const weir_partition *p, int rank, const weir_machine *m,
                              const weir_pass_opts *passes, weir_cost *out) WEIR_CHECKED;
/* Predicts the cost of all ranks. Of a dimension of the grid with more than five ranks, the two at
 * either end and the middle one represent the others. Fails also: WEIR_ERR_STOPPED after a signal.
 */
weir_status weir_cost_of_grid(const weir_partition *p, const weir_machine *m,
                              const weir_pass_opts *passes, weir_cost *out) WEIR_CHECKED;

/* Adds an allreduce of so many bytes over `ranks` ranks, which nothing overlaps, to the cost of a
 * rank. */
void weir_cost_add_allreduce(const weir_machine *m, int ranks, int64_t bytes, weir_cost *sum);

#ifdef __cplusplus
}
#endif
#endif
