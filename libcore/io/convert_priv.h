/* convert_priv.h - shared between the sources of conversions only. */
#ifndef WEIR_CONVERT_PRIV_H
#define WEIR_CONVERT_PRIV_H
#include <stdbool.h>
#include "io/weir_record_convert.h"

/* Refuses a copy of which more samples are clipped than `max_clipped`, a share of those present.
 * Fails: WEIR_ERR_CONFIG. */
weir_status weir_convert_check_clipped(const char *name, const weir_convert_facts *facts,
                                       double max_clipped) WEIR_CHECKED;
/* Replaces the rate *num / *den by the largest that it and c/d are multiples of: gcd(a/b, c/d) =
 * gcd(a d, c b) / (b d). False on overflow. */
bool weir_convert_common_rate(int64_t *num, int64_t *den, int64_t c, int64_t d);
/* Chooses the steps per unit of signal i so that all its values fit 16 bits, at three significant
 * digits. Fails: as weir_record_read; WEIR_ERR_CONFIG (option "gain") where a few values far beyond
 * the others would leave no steps to these. */
weir_status weir_convert_gain(weir_record *r, int i, double *gain) WEIR_CHECKED;
#endif
