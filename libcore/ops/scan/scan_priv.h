/* scan_priv.h - ready-made recurrences. */
#ifndef WEIR_SCAN_PRIV_H
#define WEIR_SCAN_PRIV_H
#include "ops/scan/weir_scan.h"

weir_status weir_scan_define_cumsum(weir_scan *s) WEIR_CHECKED;
weir_status weir_scan_define_sos(weir_scan *s) WEIR_CHECKED;
/* Parameters of a cascade. */
void weir_scan_pack_sos(const weir_sos_spec *sos, double *parameter);
#endif
