/* folds.h - training rows of regressions, and their cross-validation folds: all rows of a universe
 * are in one. */
#ifndef CF_FOLDS_H
#define CF_FOLDS_H
#include <stdint.h>
#include "base/weir_status.h"

/* Training rows, borrowed; only the rows listed are used. */
typedef struct cf_ridge_rows {
  int64_t n;
  const int64_t *row;   /* [n] */
  const int64_t *group; /* [of every row] universe: all rows of one are in one fold */
  int64_t n_features, stride;
  const double *x; /* row i has n_features at x + i * stride */
  int64_t n_targets;
  const double *y; /* [rows, n_targets] */
} cf_ridge_rows;

/* Deals the universes of rows to folds, by an order that the seed shuffles: fold[rows->n] is that
 * of each row, *used the number of folds, no more than universes, *groups that of universes. Fails:
 * WEIR_ERR_DATA (fewer than two universes; `what` is fitted), WEIR_ERR_MEMORY. */
weir_status cf_folds_make(const cf_ridge_rows *rows, int64_t folds, uint64_t seed, const char *what,
                          int64_t *fold, int64_t *used, int64_t *groups) WEIR_CHECKED;
#endif
