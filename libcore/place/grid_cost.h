/* grid_cost.h - the predicted cost of a training step on a grid. */
#ifndef GRID_COST_H
#define GRID_COST_H
#include "place/weir_grid_select.h"
#include "train/weir_train_step.h"

/* Context of a prediction; all borrowed. */
typedef struct place_model {
  const weir_train_step *step;
  const weir_machine *machine;
  weir_pass_opts passes;
  int64_t memory; /* bytes of temporaries that a rank may have, 0: any */
} place_model;

/* Predicts row->cost, a step on row->grid with row->replicate_below, and with it `refused` and
 * `fits`. rank: whose step it is, -1: that of the slowest of all. Local. Fails: WEIR_ERR_STOPPED
 * after a signal; as weir_cost_of_grid, except where the network cannot be sharded so: `refused`.
 */
weir_status place_predict(const place_model *m, int rank, weir_grid_candidate *row) WEIR_CHECKED;
/* Returns a rank in the middle of the grid, alone: its step is no longer than that of the slowest.
 */
int place_middle(const weir_grid *g);
/* Returns whether row a is better than row b of the same grid. */
bool place_is_better(const weir_grid_candidate *a, const weir_grid_candidate *b);
#endif
