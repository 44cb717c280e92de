/* weir_stream_derivative.h - a weighted sum of the last values, such as a slope: causal FIR. */
#ifndef WEIR_STREAM_DERIVATIVE_H
#define WEIR_STREAM_DERIVATIVE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_DERIVATIVE_TAPS 64

/* As a step: slope of the least-squares line through the last `points` values. */
typedef struct weir_stream_derivative_opts {
  int64_t points;
} weir_stream_derivative_opts;

/* y[t] = sum_k tap[k] x[t - k], newest first, n <= 64, added in that order; values before the last
 * gap count as 0. Group delay of an antisymmetric filter: (n - 1) / 2 slots. */
weir_series weir_stream_derivative(weir_graph *g, weir_series s, const double *tap, int n);

#ifdef __cplusplus
}
#endif
#endif
