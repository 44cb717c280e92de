/* calibrate.c - see calibrate.h. */
#include "train/step/calibrate.h"

#include "train/step/batch.h"
#include "train/step/plan.h"

bool train_calibrates(const train_run *r)
{
  return r->task->size != NULL && r->task->calibrate > 0 && r->n_arrays > 1; /* besides weights */
}

weir_status train_calibrate(train_run *r)
{
  const int64_t all = r->task->n_train;
  const int64_t n = r->cfg->batch < all ? r->cfg->batch : all; /* batches of equal weight */

  if (!train_calibrates(r)) {
    return WEIR_OK;
  }
  r->graph.size = NULL;
  for (int64_t k = 0; k < r->task->calibrate && (k + 1) * n <= all; k++) {
    const train_numbers x = {.draw = k, .momentum = 1 / (double)(k + 1)};
    weir_plan *plan = NULL;

    train_choose(r, k * n, n);
    r->chosen = -1; /* the loader is at another place of the order */
    WEIR_TRY(train_fetch(r, WEIR_TRAIN_SAMPLES, n));
    WEIR_TRY(train_run_plan(r, TRAIN_CALIBRATE, n, &x, &plan));
  }
  return WEIR_OK;
}
