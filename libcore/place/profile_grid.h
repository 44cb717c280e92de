/* profile_grid.h - measured times of the groups of a step on a grid, and the file of them. */
#ifndef PROFILE_GRID_H
#define PROFILE_GRID_H
#include "perf/weir_profile.h"
#include "train/weir_train.h"

/* Sets the setting of an empty profile for `ranks` ranks and adds the rows of the file, which rank
 * 0 reads, on all ranks. comm NULL: alone. Collective. Fails: as weir_profile_read. */
weir_status place_read_times(weir_comm *comm, const weir_plan_opts *exec, int ranks,
                             const char *path, weir_profile *t) WEIR_CHECKED;
/* Writes the whole profile, by rank 0. comm NULL: alone. Collective. Fails: as
 * weir_profile_write. */
weir_status place_write_times(weir_comm *comm, const char *path,
                              const weir_profile *t) WEIR_CHECKED;
/* Runs steps on a grid of the ranks of comm (NULL: alone) and adds the time of each group that the
 * profile lacks; the slowest rank counts. Collective. Fails: as weir_train_step_create and plans.
 */
weir_status place_profile_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                               const weir_plan_opts *exec, weir_comm *comm, const weir_grid *grid,
                               weir_profile *t) WEIR_CHECKED;
#endif
