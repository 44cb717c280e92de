/* weights.h - a sparse matrix that takes fields of one grid to another: its rows are cells of the
 * target, each a fixed list of source cells and weights. */
#ifndef WX_WEIGHTS_H
#define WX_WEIGHTS_H
#include <stdint.h>
#include "base/weir_status.h"

typedef struct wx_weights {
  int64_t n_from, n_to;   /* cells of the source and of the target */
  int64_t *begin;         /* [n_to + 1] entries of target t: [begin[t], begin[t + 1]) */
  int64_t *from;          /* [entries] source cells */
  double *weight;         /* [entries]; those of a target that lies in the source add up to 1 */
  int64_t n, capacity[2]; /* entries, and what from and weight hold */
  int64_t row;            /* targets that are complete */
} wx_weights;

/* Starts a matrix without entries. */
weir_status wx_weights_start(int64_t n_from, int64_t n_to, wx_weights *out) WEIR_CHECKED;
/* Adds an entry to the next target. */
weir_status wx_weights_add(wx_weights *w, int64_t from, double weight) WEIR_CHECKED;
/* Completes the next target. */
void wx_weights_end_row(wx_weights *w);
void wx_weights_fini(wx_weights *w);
/* Returns how many targets have no source. */
int64_t wx_weights_empty(const wx_weights *w);
/* Computes to[n_to] = sum of weight * from[], from[n_from], in double and in the order of the
 * entries. A target is NaN where the weights of its sources with a value differ from 1 by more than
 * `missing`; where they differ by less, but more than rounding, the sum is divided by theirs:
 * the mean of what is there. */
void wx_weights_apply(const wx_weights *w, double missing, const float *from, float *to);
#endif
