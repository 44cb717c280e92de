/* scores_check.h - a score of all initialisation times, as tests compare it. Tests only. */
#ifndef WX_SCORES_CHECK_H
#define WX_SCORES_CHECK_H
#include <math.h>
#include "eval/score/scores.h"

/* Returns the score (wx_score) of all initialisation times, NaN where nothing was counted. */
static inline double wx_score_get(const wx_score_sums *t, int64_t region, int weighting, int score)
{
  const wx_score_desc *const d = &wx_scores[score];
  double up = 0, down = 0;
  const double *const a = wx_score_sums_series(t, region, weighting, d->up);
  const double *const b = wx_score_sums_series(t, region, weighting, d->down);

  for (int64_t i = 0; i < t->n_init_times; i++) {
    up += b[i] > 0 ? a[i] : 0;
    down += b[i] > 0 ? b[i] : 0;
  }
  return !(down > 0) ? NAN : d->root ? sqrt(up / down) : up / down;
}
#endif
