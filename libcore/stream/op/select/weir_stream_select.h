/* weir_stream_select.h - a function of each value: y[t] = f(x[t]) where x is present. */
#ifndef WEIR_STREAM_SELECT_H
#define WEIR_STREAM_SELECT_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* As a step: an expression of weir_formula.h. */
typedef struct weir_stream_select_opts {
  const char *value, *unit;
} weir_stream_select_opts;

/* `value` is made elementwise from s.value by the caller; the result is absent where s is. */
weir_series weir_stream_select(weir_graph *g, weir_series s, weir_value value);

#ifdef __cplusplus
}
#endif
#endif
