/* family_crps.h - the CRPS of the families of eval/score/distribution.h as a graph, element by
 * element: what a network of location and scale is trained by. */
#ifndef WX_FAMILY_CRPS_H
#define WX_FAMILY_CRPS_H
#include "eval/score/distribution.h"
#include "ops/weir_builder.h"

/* What a CRPS is computed of. Location and scale are those of the whole distribution (scale 0: all
 * at one value), of the log-normal and the gamma one its mean and standard deviation; extra: the
 * shift of the gamma distribution, or the width from the lower to the upper bound of the censored
 * normal and logistic ones, WEIR_NO_VALUE: no upper bound. A bound or extra that the family has not
 * may be WEIR_NO_VALUE. */
enum { WX_OF_LOCATION, WX_OF_SCALE, WX_OF_LOWER, WX_OF_EXTRA, WX_OF_TRUTH, WX_OF };
/* Returns whether its scale is that of a logistic distribution. */
bool wx_family_is_logistic(wx_family family);
/* Appends the CRPS, in units of truth. All of one shape, f32 or f64; scale >= 0. Derivatives of the
 * log-normal and the gamma distribution are 0 where their mean is not above their beginning. Value
 * and derivatives are finite for every finite input below 1e15: no term is the small difference of
 * large ones, neither with the location far above the bound nor far below it. On failure the value
 * is invalid and the graph keeps the error. */
weir_value wx_family_crps(weir_graph *g, wx_family family, const weir_value of[WX_OF]);
#endif
