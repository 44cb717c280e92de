/* weir_stream_aggregate.h - one value per stretch of a stream: tumbling and hopping windows. */
#ifndef WEIR_STREAM_AGGREGATE_H
#define WEIR_STREAM_AGGREGATE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_aggregate {
  WEIR_AGGREGATE_SUM,
  WEIR_AGGREGATE_MEAN,
  WEIR_AGGREGATE_MIN,
  WEIR_AGGREGATE_MAX,
  WEIR_AGGREGATE_COUNT
} weir_aggregate;

/* Slot j of the result combines the present samples of slots [(j + 1) hop - window, (j + 1) hop) of
 * a f32 stream; window is a multiple of hop, and window == hop is a tumbling window, labelled with
 * its start. It is present where the newest hop holds a sample. The rate is that of s over hop. */
weir_series weir_stream_aggregate(weir_graph *g, weir_series s, weir_aggregate kind, int64_t window,
                                  int64_t hop);

#ifdef __cplusplus
}
#endif
#endif
