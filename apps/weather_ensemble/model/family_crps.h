/* family_crps.h - the CRPS of the families of eval/score/distribution.h as a graph, element by
 * element: what a network of location and scale is trained by. */
#ifndef WX_FAMILY_CRPS_H
#define WX_FAMILY_CRPS_H
#include "eval/score/distribution.h"
#include "ops/weir_builder.h"

/* Returns whether a family has such a graph. */
bool wx_family_has_graph(wx_family family);
/* Returns whether its scale is that of a logistic distribution. */
bool wx_family_is_logistic(wx_family family);
/* Appends the CRPS, in units of truth. All of one shape, f32 or f64; scale >= 0, that of the whole
 * distribution (0: all at one value), location and scale of the log-normal one its mean and
 * standard deviation, whose derivatives are 0 where the mean is not above the bound; lower: the
 * bound, which does not count where the family has none, and may then be WEIR_NO_VALUE. Value and
 * derivatives are finite for every finite input below 1e15: no term is the small difference of
 * large ones, neither with the location far above the bound nor far below it. On failure the value
 * is invalid and the graph keeps the error. */
weir_value wx_family_crps(weir_graph *g, wx_family family, weir_value location, weir_value scale,
                          weir_value lower, weir_value truth);
#endif
