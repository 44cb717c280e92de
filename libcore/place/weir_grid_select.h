/* weir_grid_select.h - selection of the process grid with the smallest predicted time per step.
 *
 * Candidates
 * are all factorisations of the number of ranks into samples, depth, height and width that the
 * batch and the extents of the inputs allow, each with the replication thresholds
 * (weir_train_task.replicate_below) at which a step is fastest; the time of each is predicted from
 * the graphs of a step, sharded and planned as in a run (pass/partition/weir_cost.h), with measured
 * times of operator groups where there is a profile. */
#ifndef WEIR_GRID_SELECT_H
#define WEIR_GRID_SELECT_H
#include "pass/partition/weir_cost.h"
#include "train/weir_train.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A candidate grid. */
typedef struct weir_grid_candidate {
  weir_grid grid;
  int64_t replicate_below[WEIR_ALONG_DIMS]; /* as in weir_train_task, whose own are not read; 0
                                      along what has one rank                          */
  int64_t tried;                            /* replication thresholds that were tried for it */
  weir_cost cost;                           /* of a step: its batches and the update */
  bool refused;                             /* it cannot be sharded this way */
  bool fits;                                /* cost.arena is within exec.memory */
} weir_grid_candidate;

typedef struct weir_grid_choice {
  weir_grid_candidate *row;
  int64_t n, best; /* index of the fastest candidate that fits; among equals the one with more
                      samples, then depth, then height */
} weir_grid_choice;

/* Predicts the time of all candidates. comm: its ranks share the prediction, NULL: this rank does
 * all of it; the ranks of the grid are not needed. exec: the section and threads. machine->profile:
 * if comm has this number of ranks (NULL: one), they run steps on every grid that fits and lacks
 * times in the file, and rank 0 rewrites the file; otherwise missing times are predicted by
 * formula. The same on all ranks. Collective over comm. Fails: WEIR_ERR_CONFIG (no grid of this
 * number of ranks is possible), WEIR_ERR_MEMORY (none keeps within exec.memory, naming the one that
 * needs least); WEIR_ERR_DATA (the profile); as weir_train_run before its first step. */
weir_status weir_grid_select(const weir_train_task *task, const weir_train_cfg *cfg,
                             const weir_plan_opts *exec, const weir_machine *machine,
                             weir_comm *comm, int ranks, weir_grid_choice *out) WEIR_CHECKED;
void weir_grid_choice_fini(weir_grid_choice *p);
/* Prints a line for each candidate, the fastest first. */
void weir_grid_choice_print(const weir_grid_choice *p, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
