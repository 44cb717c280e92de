/* weir_comm.h - the processes of one run: how many there are, and the little that they say to each
 * other. A program that was started alone is one rank and starts no library. */
#ifndef WEIR_COMM_H
#define WEIR_COMM_H
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_comm weir_comm;

/* All ranks that mpiexec or srun started with this one; once in a process. Collective.
 * Fails: WEIR_ERR_UNSUPPORTED where there are several and this build has no MPI, WEIR_ERR_EXTERNAL
 * where MPI does not start, WEIR_ERR_MEMORY. */
weir_status weir_comm_open(weir_comm **out) WEIR_CHECKED;
/* Ends what open started; accepts NULL and nulls. Collective. */
void weir_comm_close(weir_comm **c);

/* Number of this process, from 0, and of all. Local. */
int weir_comm_rank(const weir_comm *c);
int weir_comm_size(const weir_comm *c);

/* Every rank gets the worst (largest) status of all; a rank whose own is better says which rank
 * failed. Collective. Fails: with that status, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_agree(weir_comm *c, weir_status status) WEIR_CHECKED;
/* Returns once all ranks have called it. Collective. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_comm_barrier(weir_comm *c) WEIR_CHECKED;
/* On rank 0, *all is what the ranks gave, n bytes each, one behind the other in their order, and
 * *total its bytes; the caller frees it (weir_free). NULL and 0 on the others. Collective. Fails on
 * all ranks alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status weir_comm_gather(weir_comm *c, const void *bytes, int64_t n, void **all,
                             int64_t *total) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
