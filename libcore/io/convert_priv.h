/* convert_priv.h - shared between the sources of conversions only. */
#ifndef WEIR_CONVERT_PRIV_H
#define WEIR_CONVERT_PRIV_H
#include "io/weir_record.h"

/* Chooses the steps per unit of signal i so that all its values fit 16 bits, at three significant
 * digits. Fails: as weir_record_read; WEIR_ERR_CONFIG (option "gain") where a few values far beyond
 * the others would leave no steps to these. */
weir_status weir_convert_gain(weir_record *r, int i, double *gain) WEIR_CHECKED;
#endif
