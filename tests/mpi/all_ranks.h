/* all_ranks.h - what a program of tests on several ranks begins with. Tests only. */
#ifndef ALL_RANKS_H
#define ALL_RANKS_H
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_check.h"
#include "comm/weir_request.h"

/* Of each thread: ranks may be threads (hosts.h). */
static _Thread_local weir_comm *comm;
static _Thread_local int rank, ranks;

/* Opens `comm` of all ranks, or ends the program: as many as the first argument says, `most` at
 * most. */
static inline void open_all_ranks(int argc, char **argv, int most, const weir_comm_cfg *cfg)
{
  if (weir_comm_open(&comm) != WEIR_OK) {
    weir_print_trace(stderr);
    exit(1);
  }
  rank = weir_comm_rank(comm);
  ranks = weir_comm_size(comm);
  weir_comm_configure(comm, cfg);
  if (ranks != (argc > 1 ? atoi(argv[1]) : 1) || ranks > most) {
    (void)fprintf(stderr, "%d ranks\n", ranks);
    exit(1);
  }
}
#endif
