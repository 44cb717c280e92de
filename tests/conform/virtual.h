/* virtual.h - a graph on virtual ranks, node by node in one process, communication being copies,
 * against the same graph whole. */
#ifndef WEIR_CONFORM_VIRTUAL_H
#define WEIR_CONFORM_VIRTUAL_H
#include "comm/weir_grid.h"
#include "pass/partition/weir_partition.h"
#include "problem.h"

enum { VIRTUAL_RANKS = 12, VIRTUAL_CUTS = 8, VIRTUAL_BOUNDS = 13 };

/* bounds[k]: of cut[k]. */
typedef struct virtual_cuts {
  weir_grid grid;
  int n;
  weir_shard cut[VIRTUAL_CUTS];
  int64_t bounds[VIRTUAL_CUTS][VIRTUAL_BOUNDS];
} virtual_cuts;

typedef struct virtual_result {
  int moves, wrong; /* of a rank; ranks of which an output is not that of the whole */
  int parts;        /* nodes that run in parts, ahead of halos: half of the seeds force that */
  int merges;       /* of the moves, those that merge partial results */
} virtual_result;

/* Compares every output on every rank, and the new values of stored arrays, of which those that
 * stay sums (WEIR_SHARD_SUM) are added up and begin on the first ranks; within rounding of its
 * dtype (exact: not even that), having printed the first element that differs. Memory holds
 * anything before it is written. Fails as weir_partition_create and weir_spmd_lower do. */
weir_status virtual_run(const problem *p, const virtual_cuts *c, bool exact,
                        virtual_result *r) WEIR_CHECKED;

#endif
