/* weir_stream_where.h - filter by a condition: samples that do not meet it become absent. */
#ifndef WEIR_STREAM_WHERE_H
#define WEIR_STREAM_WHERE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* As a step: the first input, where an expression of weir_formula.h over all inputs is true. */
typedef struct weir_stream_where_opts {
  const char *keep;
} weir_stream_where_opts;

/* keep: bool, [time]. The clock does not change. */
weir_series weir_stream_where(weir_graph *g, weir_series s, weir_value keep);

#ifdef __cplusplus
}
#endif
#endif
