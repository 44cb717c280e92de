/* family_crps_priv.h - shared by the sources of family_crps.h. */
#ifndef WX_FAMILY_CRPS_PRIV_H
#define WX_FAMILY_CRPS_PRIV_H
#include "model/family_crps.h"

/* The CRPS of the log-normal distribution that begins at the bound. */
weir_value wx_log_normal_crps_graph(weir_graph *g, const weir_value of[WX_OF]);
/* The CRPS of the gamma distribution that begins `extra` below the bound and is censored there. */
weir_value wx_gamma_crps_graph(weir_graph *g, weir_dtype dtype, const weir_value of[WX_OF]);
#endif
