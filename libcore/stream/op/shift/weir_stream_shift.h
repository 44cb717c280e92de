/* weir_stream_shift.h - time shift of a stream: y[t] = x[t - by], absent before its start. */
#ifndef WEIR_STREAM_SHIFT_H
#define WEIR_STREAM_SHIFT_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* As a step: `by` seconds, an integer number of slots. */
typedef struct weir_stream_shift_opts {
  double by;
} weir_stream_shift_opts;

/* by > 0 delays by that many slots; by < 0 looks ahead, so that results are `by` slots late. */
weir_series weir_stream_shift(weir_graph *g, weir_series s, int64_t by);

#ifdef __cplusplus
}
#endif
#endif
