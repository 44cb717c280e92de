/* weir_stream_aggregate.h - windowed aggregates of a stream: tumbling, hopping and sliding windows.
 */
#ifndef WEIR_STREAM_AGGREGATE_H
#define WEIR_STREAM_AGGREGATE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* std and var are those of the population (divided by n). A window whose samples differ by no more
 * than the rounding of their sum has std 0. */
typedef enum weir_aggregate {
  WEIR_AGGREGATE_MEAN,
  WEIR_AGGREGATE_SUM,
  WEIR_AGGREGATE_MIN,
  WEIR_AGGREGATE_MAX,
  WEIR_AGGREGATE_COUNT,
  WEIR_AGGREGATE_STD,
  WEIR_AGGREGATE_VAR,
  WEIR_AGGREGATE_FIRST,
  WEIR_AGGREGATE_LAST,
  WEIR_AGGREGATE_RMS,
  WEIR_AGGREGATE_MEDIAN,
} weir_aggregate;
#define WEIR_AGGREGATE_NAMES "mean|sum|min|max|count|std|var|first|last|rms|median"

/* Slot j of the result combines the present samples of slots [(j + 1) hop - window, (j + 1) hop) of
 * the stream: window == hop is a tumbling window, labelled with its start; hop == 1 a sliding one.
 * It is present where the newest hop contains a sample (rows: everywhere, 0 without one). */
typedef struct weir_aggregate_spec {
  weir_aggregate kind;
  int64_t window, hop; /* slots; window is a multiple of hop */
  bool end;            /* labelled with the window's end: slot j + 1, known when it begins */
  bool rows;
} weir_aggregate_spec;

/* Aggregates a f32 stream; the rate is that of s over hop. State of long windows is kept in
 * use->store under names that begin with use->step. */
weir_series weir_stream_aggregate(const weir_series_use *use, weir_series s,
                                  const weir_aggregate_spec *spec);

/* Mean and standard deviation of the window that ends with each slot, or of the aligned one that
 * contains it. */
typedef struct weir_moments_stream {
  weir_value n, mean, var; /* f64, [time]; var: of the population, 0 for a constant window */
} weir_moments_stream;
/* Moments of slots [j hop, (j + 1) hop) of a f32 stream, at the rate of s over hop. */
weir_moments_stream weir_stream_moments(weir_graph *g, weir_series s, int64_t hop);
/* Moments of the `window` slots that end with each slot; all 0 where that slot is absent. */
weir_moments_stream weir_stream_trailing_moments(const weir_series_use *use, weir_series s,
                                                 int64_t window);

#ifdef __cplusplus
}
#endif
#endif
