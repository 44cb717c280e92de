/* score_sums_priv.h - shared between the sources of score_sums. */
#ifndef WX_SCORE_SUMS_PRIV_H
#define WX_SCORE_SUMS_PRIV_H
#include "eval/score/score_sums.h"

/* Allocates memory for squares of `edge` points a side and n quantities, where there is less.
 * Fails: WEIR_ERR_MEMORY. */
weir_status wx_score_sums_patches_reserve(wx_score_sums *t, int64_t edge, int64_t n) WEIR_CHECKED;
void wx_score_sums_patches_fini(wx_score_sums *t);
/* Returns the edge of the squares of one quantity; 0: none are scored. */
int64_t wx_score_sums_patches_edge(const wx_score_sums *t);
/* Adds the scores of squares of points to the blocks [regions, weightings, block] of a start. */
void wx_score_sums_patches(const wx_score_sums *t, const wx_joint_case *c, int64_t edge,
                           double *blocks);
#endif
