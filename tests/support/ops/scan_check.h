/* scan_check.h - a scan with a complex state, for tests of what runs and derives scans. Tests only.
 */
#ifndef WEIR_SCAN_CHECK_H
#define WEIR_SCAN_CHECK_H
#include "ops/scan/weir_scan.h"

/* The running sum of input 0 in c128; returns the sum up to here, which the caller emits. */
static inline int32_t scan_check_sum(weir_scan *s)
{
  weir_body *b = &s->access->body;
  const int total = weir_scan_state(s, WEIR_C128, 0);
  const int32_t x = weir_body_cast(b, WEIR_C128, weir_scan_load(s, 0));
  const int32_t next = weir_body_binary(b, WEIR_CODE_ADD, weir_scan_read(s, total), x);

  weir_scan_next(s, total, next);
  return next;
}

#endif
