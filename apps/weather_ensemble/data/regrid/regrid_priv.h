/* regrid_priv.h - the ways to weights. */
#ifndef WX_REGRID_PRIV_H
#define WX_REGRID_PRIV_H
#include "data/regrid/rows.h"
#include "data/regrid/weights.h"

/* Adds the targets to weights that are started. Bilinear: linear along the two rows around a target
 * and between them; between the outermost row and the pole between that row and its mean. */
weir_status wx_regrid_bilinear(const wx_rows *from, const wx_grid *to,
                               wx_weights *out) WEIR_CHECKED;
/* The source cell that is nearest on the sphere; of several the one that comes first from north and
 * west. A target farther from it than half the diagonal of its cell has none: it is outside. */
weir_status wx_regrid_nearest(const wx_rows *from, const wx_grid *to, wx_weights *out) WEIR_CHECKED;
/* First-order conservative (Jones 1999, equation 6): the share of a target's box that a source's
 * covers. Fails: WEIR_ERR_UNSUPPORTED for rotated sources and for single rows or columns. */
weir_status wx_regrid_conservative(const wx_rows *from, const wx_grid *to,
                                   wx_weights *out) WEIR_CHECKED;
/* The weights of a file of ESMF (row, col, S) or SCRIP (remap_matrix). */
weir_status wx_regrid_file(const char *path, const wx_rows *from, const wx_grid *to,
                           wx_weights *out) WEIR_CHECKED;
#endif
