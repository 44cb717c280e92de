/* weir_stream_sos.h - a recursive filter on a stream, causal, state in double. */
#ifndef WEIR_STREAM_SOS_H
#define WEIR_STREAM_SOS_H
#include "stream/design/weir_design.h"
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The cascade section[n] (n <= 20). The first sample, and the first after more than `hold` absent
 * slots, finds the filter in steady state on its value; in shorter gaps the filter continues with
 * the last sample. Absent slots stay absent. */
weir_series weir_stream_sos(weir_graph *g, weir_series s, const weir_sos *section, int n,
                            int64_t hold);

#ifdef __cplusplus
}
#endif
#endif
