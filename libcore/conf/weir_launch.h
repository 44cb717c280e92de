/* weir_launch.h - what the launcher of this process (mpiexec, srun) tells in the environment. */
#ifndef WEIR_LAUNCH_H
#define WEIR_LAUNCH_H
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Ranks that the launcher says there are, at least 1. */
int weir_launch_ranks(void);
/* Tasks that were started with this one and can reach no other, at least 1. */
int weir_launch_tasks(void);
/* Whether this is rank 0 of srun --mpi=pmi2. */
bool weir_launch_leads_pmi2(void);

#ifdef __cplusplus
}
#endif
#endif
