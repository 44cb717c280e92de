/* ranks.h - the ranks that mpiexec or srun started this program on: the grid that they are, who
 * writes, what they agree on. Started alone, it is one rank. */
#ifndef CF_RANKS_H
#define CF_RANKS_H
#include "conf/weir_cli.h"
#include "options.h"

typedef struct cf_ranks {
  weir_dist spread; /* comm and grid */
  bool leads;       /* writes files and tells of the run */
} cf_ranks;

/* Ranks as the section grid has them (by auto: all along samples, until cf_ranks_place); those that
 * do not lead let through warnings only. Collective.
 * Fails on all ranks alike: WEIR_ERR_CONFIG as weir_train_grid, as weir_comm_open. */
weir_status cf_ranks_open(const weir_cli *cli, const cf_cfg *cfg, cf_ranks *out) WEIR_CHECKED;
/* With grid.by auto: the grid that is predicted to be fastest, into r, the section and, with the
 * ends of its cuts and its time, the task; told in the log, in the event `grid_choice` and, all
 * candidates, on stderr. Collective. Fails: as weir_machine_measure, weir_train_select_grid. */
weir_status cf_ranks_place(cf_ranks *r, cf_cfg *cfg, int threads, const weir_train_cfg *train,
                           weir_train_task *task) WEIR_CHECKED;
/* Prints what each grid of so many ranks is predicted to take, as this process alone is measured.
 * Fails: likewise. */
weir_status cf_placement_print(const cf_cfg *cfg, int threads, const weir_train_task *task,
                               int ranks, FILE *out) WEIR_CHECKED;
/* Accepts what was not opened. Collective. */
void cf_ranks_close(cf_ranks *r);
/* As weir_comm_agree: before it stands what may fail on one rank alone. */
weir_status cf_agree(const cf_ranks *r, weir_status status) WEIR_CHECKED;
/* Prints what each rank of the grid would have of a step. Fails: as weir_train_describe_grid. */
weir_status cf_grid_print(const cf_cfg *cfg, const weir_grid *grid, const weir_train_task *task,
                          FILE *out) WEIR_CHECKED;
#endif
