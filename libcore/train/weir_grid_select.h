/* weir_grid_select.h - which grid of ranks a training is predicted to be fastest on.
 *
 * Candidates are all ways to make the number of ranks of samples, depth, height and width, as far
 * as the batch and the extents of the inputs go, each with the ends of its cuts
 * (weir_train_task.gather) at which a step is fastest; each is timed on the graphs of a step, cut
 * and planned as they would be (pass/partition/weir_cost.h), where there is a table by what their
 * groups were measured to take. */
#ifndef WEIR_GRID_SELECT_H
#define WEIR_GRID_SELECT_H
#include "pass/partition/weir_cost.h"
#include "train/weir_train.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Fills what is 0 (hidden: below 0) by measuring it, with all ranks of comm at it at once, and
 * tree from the section comm: a convolution with its gradients, additions, exchanges and sums of
 * pairs and of all. comm NULL, or of one rank: its messages are taken to be those of one machine's
 * memory, 5 us and 5 GB/s. The same numbers on all ranks. Collective; takes about a second. Fails:
 * as plans and requests. */
weir_status weir_machine_measure(weir_comm *comm, const weir_comm_cfg *messages,
                                 const weir_plan_opts *exec, weir_machine *m) WEIR_CHECKED;
void weir_machine_print(const weir_machine *m, FILE *out);

/* One candidate. */
typedef struct weir_place_row {
  weir_grid grid;
  int64_t gather[WEIR_ALONG_DIMS]; /* as in weir_train_task, whose own are not read; 0 along what
                                      has one rank                          */
  int64_t tried;                   /* ends of cuts that were timed for it   */
  weir_cost cost;                  /* of a step: its batches and the update */
  bool refused;                    /* it cannot be cut so                    */
  bool fits;                       /* cost.arena is within exec.memory       */
} weir_place_row;

typedef struct weir_placement {
  weir_place_row *row;
  int64_t n, best; /* number of the fastest that fits; of equals the one with more samples, then
                      depth, then height */
} weir_placement;

/* comm: its ranks share the work of predicting, NULL: this one does all of it; the grid's ranks are
 * not needed. exec: the section and threads. machine->table: where comm has so many ranks (NULL:
 * one), they make steps on every grid of which the file lacks times and that fits, and rank 0
 * writes the file anew; otherwise what it lacks is told by formula. The same on all ranks.
 * Collective over comm. Fails: WEIR_ERR_CONFIG (no grid of so many ranks is possible),
 * WEIR_ERR_MEMORY (none keeps within exec.memory, naming the one that needs least); WEIR_ERR_DATA
 * (the table); as weir_train_run does before its first step. */
weir_status weir_train_select_grid(const weir_train_task *task, const weir_train_cfg *cfg,
                                   const weir_plan_opts *exec, const weir_machine *machine,
                                   weir_comm *comm, int ranks, weir_placement *out) WEIR_CHECKED;
void weir_placement_fini(weir_placement *p);
/* A line for each candidate, the fastest first. */
void weir_placement_print(const weir_placement *p, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
