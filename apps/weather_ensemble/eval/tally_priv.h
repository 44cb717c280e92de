/* tally_priv.h - shared between the sources of tally. */
#ifndef WX_TALLY_PRIV_H
#define WX_TALLY_PRIV_H
#include "eval/tally.h"

/* Room for the squares. Fails: WEIR_ERR_MEMORY. */
weir_status wx_tally_patches_create(wx_tally *t) WEIR_CHECKED;
void wx_tally_patches_fini(wx_tally *t);
/* Adds the scores of squares of points to the blocks [regions, weightings, block] of a start. */
void wx_tally_patches(const wx_tally *t, const wx_start_case *c, const wx_given *g, double *blocks);
#endif
