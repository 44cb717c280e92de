/* weir_stream_where.h - drops the samples that do not meet a condition: they become absent. */
#ifndef WEIR_STREAM_WHERE_H
#define WEIR_STREAM_WHERE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* keep: bool, [time]. The clock does not change. */
weir_series weir_stream_where(weir_graph *g, weir_series s, weir_value keep);

#ifdef __cplusplus
}
#endif
#endif
