/* weir_stream_moving_sum.h - moving sum of a stream, restarted after each gap. */
#ifndef WEIR_STREAM_MOVING_SUM_H
#define WEIR_STREAM_MOVING_SUM_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* y[t] = x[t] + ... + x[t - n + 1] over the slots since the last gap, 1 <= n <= 2^20: sums of 1, 2,
 * 4, ... slots, of which those in the binary form of n are added, shortest and newest first. There
 * is no running value, so that rounding errors do not accumulate; log2 n additions per slot. */
weir_series weir_stream_moving_sum(weir_graph *g, weir_series s, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
