/* score_sums_priv.h - shared between the sources of score_sums. */
#ifndef WX_SCORE_SUMS_PRIV_H
#define WX_SCORE_SUMS_PRIV_H
#include "eval/score/score_sums.h"

/* Allocates the squares. Fails: WEIR_ERR_MEMORY. */
weir_status wx_score_sums_patches_create(wx_score_sums *t) WEIR_CHECKED;
void wx_score_sums_patches_fini(wx_score_sums *t);
/* Adds the scores of squares of points to the blocks [regions, weightings, block] of a start. */
void wx_score_sums_patches(const wx_score_sums *t, const wx_start_case *c, const wx_given *g,
                           double *blocks);
#endif
