/* weir_cost.h - how long a run of a partitioned graph is predicted to take, how many bytes it moves
 * and how much memory it holds.
 *
 * Nothing is stated here of layers or halos: a rank's graph is made as it will be run
 * (weir_spmd_lower, all passes, one schedule), its groups take what they were measured to
 * (weir_profile.h), else the time of what they read, write and compute, or of what their kernel
 * says (weir_kernel.match), and its moves that of the bytes that the plan has for them. */
#ifndef WEIR_COST_H
#define WEIR_COST_H
#include "pass/partition/weir_partition.h"
#include "pass/partition/weir_profile.h"
#include "pass/weir_pass.h"
#ifdef __cplusplus
extern "C" {
#endif

/* What one rank can do, with all its threads and all ranks of the machine at work. Rates may be
 * infinite. */
typedef struct weir_machine {
  double kernels;        /* speed of kernels over what they predict of themselves on one thread   */
  double flops;          /* flop/s of loops that no kernel claims                                 */
  double bandwidth;      /* bytes/s of memory, read plus written                                  */
  double group_overhead; /* seconds of a group, or of an end of a move, in addition to its work */
  double latency;        /* alpha: seconds of a message of no bytes                               */
  double link_bw;        /* 1 / beta: bytes/s that go from one rank to another                    */
  double reduce_bw;      /* 1 / gamma: bytes/s of another rank that are merged with one's own     */
  double overlap;        /* share of the time a rank computes in which its messages move on, 0..1 */
  int64_t tree; /* bytes up to which sums go along the tree of ranks (comm.tree_max_bytes)        */
  const char *profile;       /* file of measured times, "" or NULL: none                */
  const weir_profile *times; /* measured times, NULL: none                              */
} weir_machine;

/* Of one rank; of a grid the largest of any rank, number by number. */
typedef struct weir_cost {
  double seconds;     /* of a run                                             */
  double compute_s;   /* in which it computes, packs and unpacks              */
  double waited_s;    /* in which it waits for messages: those are not hidden */
  double flops;       /* of its operators                                     */
  int64_t halo_bytes; /* that it receives in boxes                            */
  int64_t sum_bytes;  /* that it gives to merges                              */
  int64_t messages;   /* that it sends in exchanges and merges                */
  int64_t arena;      /* bytes of temporaries, as a plan lays them out        */
  int64_t untimed;    /* groups that machine.times, where there are any, has nothing of */
  int slowest;        /* the rank with the most seconds                       */
} weir_cost;

/* passes: as the plan will have them. Local, needs no ranks. Fails: as weir_spmd_lower and passes.
 */
weir_status weir_cost_of_rank(const weir_partition *p, int rank, const weir_machine *m,
                              const weir_pass_opts *passes, weir_cost *out) WEIR_CHECKED;
/* Of a dimension of the grid with more than five ranks, the two at either end and the one in the
 * middle stand for the others. Fails also: WEIR_ERR_STOPPED after a signal. */
weir_status weir_cost_of_grid(const weir_partition *p, const weir_machine *m,
                              const weir_pass_opts *passes, weir_cost *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
