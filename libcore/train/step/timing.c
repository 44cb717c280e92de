/* timing.c - the time per step, compared with the prediction. */
#include "train/step/timing.h"

#include <math.h>
#include <stdlib.h>

#include "base/weir_log.h"
#include "base/weir_sort.h"
#include "train/grid/ranks.h"
#include "train/step/meet.h"

weir_status train_tell_times(train_run *r)
{
  const double predicted = r->task->predicted_s;

  if (r->n_timed == 0 || isfinite(r->step_s)) {
    return WEIR_OK;
  }
  qsort(r->timed_s, (size_t)r->n_timed, sizeof *r->timed_s, weir_compare_f64);
  WEIR_TRY(train_meet_before_call(r));
  int64_t negated_ns = -(int64_t)(r->timed_s[r->n_timed / 2] * 1e9); /* of all ranks: the slowest */

  WEIR_TRY(train_min_all(r, &negated_ns));
  r->step_s = (double)-negated_ns * 1e-9;
  weir_event("step_time", WEIR_INT("steps", r->n_timed), WEIR_REAL("measured_s", r->step_s),
             WEIR_REAL("least_s", r->timed_s[0]),
             WEIR_REAL("predicted_s", predicted > 0 ? predicted : NAN));
  if (predicted > 0) {
    weir_info("train",
              "time per step without sample loading: %.3g s (median of %d, minimum %.3g s), "
              "predicted %.3g s",
              r->step_s, r->n_timed, r->timed_s[0], predicted);
  }
  return WEIR_OK;
}

weir_status train_time_step(train_run *r, int64_t n, int64_t done)
{
  if (done < 2 || n < r->per_step || r->n_timed == TRAIN_TIMED) { /* the first touches memory */
    return WEIR_OK;
  }
  r->timed_s[r->n_timed++] = r->spent_s;
  return r->n_timed == TRAIN_TIMED ? train_tell_times(r) : WEIR_OK;
}
