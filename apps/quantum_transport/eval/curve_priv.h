/* curve_priv.h - between curve.c and curve_tbt.c. */
#ifndef QT_CURVE_PRIV_H
#define QT_CURVE_PRIV_H
#include "eval/curve.h"
#include "io/weir_netcdf.h"

/* Reads T(E) of a file in the layout of TBtrans: between its two electrodes, mean over wave
 * vectors. Fails: WEIR_ERR_DATA naming the variable, WEIR_ERR_MEMORY; the caller finishes *out. */
weir_status curve_read_tbt(weir_netcdf *nc, const char *path, qt_curve *out) WEIR_CHECKED;

#endif
