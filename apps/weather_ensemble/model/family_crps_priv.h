/* family_crps_priv.h - shared by the sources of family_crps.h. */
#ifndef WX_FAMILY_CRPS_PRIV_H
#define WX_FAMILY_CRPS_PRIV_H
#include "model/family_crps.h"

/* The CRPS of the log-normal distribution of mean `location` and standard deviation `scale` that
 * begins at `lower`. */
weir_value wx_log_normal_crps_graph(weir_graph *g, weir_value location, weir_value scale,
                                    weir_value lower, weir_value truth);
#endif
