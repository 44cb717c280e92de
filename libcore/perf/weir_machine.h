/* weir_machine.h - constants of a machine for cost models, and the time of messages by them. */
#ifndef WEIR_MACHINE_H
#define WEIR_MACHINE_H
#include <stdio.h>
#include "perf/weir_profile.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Machine constants of one rank, with all its threads and all ranks of the machine active. Rates
 * may be infinite. */
typedef struct weir_machine {
  double kernels;        /* kernel speed relative to the prediction of the kernels for one thread */
  double flops;          /* flop/s of loops without a kernel */
  double bandwidth;      /* bytes/s of memory, read plus write */
  double group_overhead; /* seconds of a group, or of an end of a move, in addition to its work */
  double latency;        /* alpha: latency of a message in seconds */
  double link_bw;        /* 1 / beta: bytes/s from one rank to another */
  double reduce_bw;      /* 1 / gamma: bytes/s reduced */
  double overlap;        /* fraction of compute time in which messages progress, 0..1 */
  int64_t tree;          /* maximum bytes of a tree reduction (comm.tree_max_bytes) */
  const char *profile;   /* file of measured times, "" or NULL: none                */
  const weir_profile *times; /* measured times, NULL: none                              */
} weir_machine;

/* Prints the constants, in one line. */
void weir_machine_print(const weir_machine *m, FILE *out);

/* Returns SR(m) = alpha + beta m: seconds of a message of m bytes that each of two ranks sends the
 * other. */
double weir_message_seconds(const weir_machine *m, double bytes);
/* Returns AR(p, m): seconds until all of p ranks have the reduction of what each has in m bytes, as
 * `comm` runs it (weir_allreduce_way_of). Along the tree, up and down: 2 ceil(log2 p) (alpha + m
 * beta) + ceil(log2 p) m gamma; else each rank reduces its share: s alpha + 2 (p - 1)/p m beta +
 * (p - 1)/p m gamma with s = 2 log2 p for a power of two, else 2 (p - 1). */
double weir_allreduce_seconds(const weir_machine *m, int ranks, int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
