/* ranks.h - the ranks of a run: their grid, the rank that writes, agreement on errors. */
#ifndef CF_RANKS_H
#define CF_RANKS_H
#include "options.h"

typedef struct cf_ranks {
  weir_dist dist; /* comm and grid */
  bool leads;     /* writes files and tells of the run */
} cf_ranks;

/* Places the ranks of `comm`, which is borrowed, on the grid of the section grid (auto: all along
 * samples, until cf_ranks_select_grid). Local; fails on all ranks alike: WEIR_ERR_CONFIG as
 * weir_grid_from_cfg. */
weir_status cf_ranks_open(weir_comm *comm, const cf_cfg *cfg, cf_ranks *out) WEIR_CHECKED;
/* With grid.by auto: selects the grid with the shortest predicted step for r and the section, and
 * its replication thresholds and time for the task; reports it in the log, in the event
 * `grid_choice` and, with all candidates, on stderr. Collective. Fails: as weir_machine_measure,
 * weir_grid_select. */
weir_status cf_ranks_select_grid(cf_ranks *r, cf_cfg *cfg, int threads, const weir_train_cfg *train,
                                 weir_train_task *task) WEIR_CHECKED;
/* Prints the predicted time per step of each grid of `ranks` ranks, with rates measured by this
 * process. Fails: likewise. */
weir_status cf_grid_choice_print(const cf_cfg *cfg, int threads, const weir_train_task *task,
                                 int ranks, FILE *out) WEIR_CHECKED;
/* Prints the predicted time per step and memory of the grids of describe.grids: rates that
 * grid.machine leaves open are measured by this process, messages those of scaling.network. Fails:
 * as weir_machine_measure, weir_grid_list_predict. */
weir_status cf_grid_list_print(const cf_cfg *cfg, int threads, const weir_train_task *task,
                               int64_t parameters, FILE *out) WEIR_CHECKED;
/* Agrees on a status as weir_comm_agree, after steps that may fail on one rank alone. */
weir_status cf_agree(const cf_ranks *r, weir_status status) WEIR_CHECKED;
/* Prints the share of each rank of the grid in a step. Fails: as weir_train_describe_grid. */
weir_status cf_grid_print(const cf_cfg *cfg, const weir_grid *grid, const weir_train_task *task,
                          FILE *out) WEIR_CHECKED;
#endif
