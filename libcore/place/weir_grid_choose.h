/* weir_grid_choose.h - the grid of a training by the section `grid:`, where it is to be predicted.
 */
#ifndef WEIR_GRID_CHOOSE_H
#define WEIR_GRID_CHOOSE_H
#include <stdio.h>

#include "comm/weir_comm.h"
#include "place/weir_grid_options.h"
#ifdef __cplusplus
extern "C" {
#endif

/* With cfg->by auto: measures the machine, selects the grid of the ranks of comm with the shortest
 * predicted step, and sets *grid, the numbers of *cfg, and replication thresholds and time of the
 * task; reports it in the log, in the event `grid_choice` and, with all candidates, on `out` of
 * rank 0. By numbers: does nothing. exec: without dist. Collective. Fails: as weir_machine_measure,
 * weir_grid_select. */
weir_status weir_grid_choose(weir_grid_cfg *cfg, weir_comm *comm, const weir_comm_cfg *messages,
                             const weir_plan_opts *exec, const weir_train_cfg *train,
                             weir_train_task *task, weir_grid *grid, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
