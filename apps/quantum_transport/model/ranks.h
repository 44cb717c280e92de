/* ranks.h - what all ranks of a computation have alike. comm NULL or of one rank: nothing is sent.
 * All collective; where memory is missing on one rank they fail on all alike, and a rank that
 * cannot send what others wait for ends the run. */
#ifndef QT_RANKS_H
#define QT_RANKS_H
#include "comm/weir_comm.h"

int qt_ranks_size(const weir_comm *c);
int qt_ranks_rank(const weir_comm *c);
/* Agrees on a status, as weir_comm_agree. */
weir_status qt_ranks_agree(weir_comm *c, weir_status status) WEIR_CHECKED;
/* Computes the minimum over ranks. Fails: as weir_allreduce_create. */
weir_status qt_ranks_min(weir_comm *c, int64_t *value) WEIR_CHECKED;
/* Compute sums and maxima over ranks, element by element: the same bits on all. NaN if any is.
 * Fails: likewise. */
weir_status qt_ranks_sum(weir_comm *c, const char *name, double *values, int64_t n) WEIR_CHECKED;
weir_status qt_ranks_max(weir_comm *c, const char *name, double *values, int64_t n) WEIR_CHECKED;
/* Sends bytes of rank 0 to all. Fails: as weir_allgather_create. */
weir_status qt_ranks_broadcast(weir_comm *c, const char *name, void *data,
                               int64_t bytes) WEIR_CHECKED;
/* Computes the items [first, last) of n of a rank, of `ranks`: as many for each, but one. */
void qt_ranks_share(int64_t n, int rank, int ranks, int64_t *first, int64_t *last);
/* Gathers all items on all ranks; data: n items of `size` bytes, of which each rank has its share.
 * Fails: as weir_allgather_create. */
weir_status qt_ranks_allgather(weir_comm *c, const char *name, size_t size, int64_t n,
                               void *data) WEIR_CHECKED;
/* Gathers the same, where rank r has counts[r] items. */
weir_status qt_ranks_allgather_counts(weir_comm *c, const char *name, size_t size,
                                      const int64_t *counts, void *data) WEIR_CHECKED;

#endif
