/* weir_launch.h - environment of the launcher of this process (mpiexec, srun). */
#ifndef WEIR_LAUNCH_H
#define WEIR_LAUNCH_H
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of ranks that the launcher reports, at least 1. */
int weir_launch_ranks(void);
/* Returns the number of tasks started together without a connection among them, at least 1. */
int weir_launch_tasks(void);
/* Whether this is rank 0 of srun --mpi=pmi2. */
bool weir_launch_leads_pmi2(void);

#ifdef __cplusplus
}
#endif
#endif
