/* launch.c - what the launcher of this process tells in the environment:
 *
 *   mpiexec of Open MPI                 OMPI_COMM_WORLD_SIZE
 *   mpiexec of MPICH, srun --mpi=pmi2   PMI_SIZE
 *   srun --mpi=pmix                     PMIX_RANK; the number of tasks is Slurm's, of the step
 *   srun --mpi=none                     SLURM_STEP_NUM_TASKS: tasks that know of no other
 *
 * A batch script of Slurm has SLURM_NTASKS as well, but is no rank. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/weir_launch.h"
#include "conf/weir_opt.h"

static int number_of(const char *variable)
{
  const char *text = weir_env(variable);
  const long n = text == NULL ? 1 : strtol(text, NULL, 10);

  return n > 1 && n <= INT_MAX ? (int)n : 1;
}

int weir_launch_ranks(void)
{
  const bool by_slurm = weir_env("PMI_RANK") != NULL || weir_env("PMIX_RANK") != NULL;
  const char *const tasks =
      weir_env("SLURM_STEP_NUM_TASKS") != NULL ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  const int ompi = number_of("OMPI_COMM_WORLD_SIZE"), pmi = number_of("PMI_SIZE");

  return ompi > 1 ? ompi : pmi > 1 ? pmi : by_slurm ? number_of(tasks) : 1;
}

/* Of a program that srun started itself: what stands in a shell that srun started, or in a job that
 * was submitted from a step, has the variables of that step as well. */
int weir_launch_tasks(void)
{
  static const char *const ranks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK"};
  const char *const task = weir_env("SLURM_TASK_PID");

  for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
    if (weir_env(ranks[i]) != NULL) {
      return 1;
    }
  }
  return task != NULL && strtol(task, NULL, 10) == getpid() ? number_of("SLURM_STEP_NUM_TASKS") : 1;
}

bool weir_launch_leads_pmi2(void)
{
  const char *const rank = weir_env("PMI_RANK");

  return rank != NULL && strcmp(rank, "0") == 0 && weir_env("SLURM_STEP_ID") != NULL &&
         weir_env("OMPI_COMM_WORLD_SIZE") == NULL && weir_env("PMIX_RANK") == NULL;
}
