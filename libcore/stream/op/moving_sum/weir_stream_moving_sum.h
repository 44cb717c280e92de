/* weir_stream_moving_sum.h - sum of the last values of a stream, begun anew after each gap. */
#ifndef WEIR_STREAM_MOVING_SUM_H
#define WEIR_STREAM_MOVING_SUM_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* y[t] = x[t] + ... + x[t - n + 1] over the slots since the last gap, 1 <= n <= 2^20: sums of 1, 2,
 * 4, ... slots, of which those in the binary form of n are added, shortest and newest first. No
 * running value, so nothing drifts; log2 n additions a slot. */
weir_series weir_stream_moving_sum(weir_graph *g, weir_series s, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
