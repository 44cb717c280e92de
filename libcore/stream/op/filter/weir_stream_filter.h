/* weir_stream_filter.h - filters on streams: blocked recursive filters with state in the store;
 * gaps are bridged before them. */
#ifndef WEIR_STREAM_FILTER_H
#define WEIR_STREAM_FILTER_H
#include "stream/design/weir_design.h"
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The cascade section[n] (n <= WEIR_DESIGN_MAX_SECTIONS) with the meaning of weir_stream_sos, by
 * blocks of 16 slots: 3 to 6 times as fast, within 1e-11 of the recurrence before the result is
 * rounded to f32. A present sample that is not finite counts as absent. Presence stays. State:
 * `name` in the store; memory: use->keeper. Failures go to the graph. */
weir_series weir_stream_cascade(const weir_series_use *use, const char *name, weir_series s,
                                const weir_sos *section, int n, int64_t hold);

/* Fills gaps of up to `tolerance` slots by linear interpolation between the samples around them, if
 * they are finite; the result is present there too. A present sample that is not finite is part of
 * a gap. Looks `tolerance` slots ahead. */
weir_series weir_stream_bridge(weir_graph *g, weir_series s, int64_t tolerance);

#ifdef __cplusplus
}
#endif
#endif
