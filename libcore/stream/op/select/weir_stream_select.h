/* weir_stream_select.h - elementwise function of a stream: y[t] = f(x[t]) where x is present. */
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

#ifdef __cplusplus
}
#endif
#endif
