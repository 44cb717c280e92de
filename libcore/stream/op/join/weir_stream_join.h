/* weir_stream_join.h - streams of several rates on one clock. */
#ifndef WEIR_STREAM_JOIN_H
#define WEIR_STREAM_JOIN_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The streams on the clock of the fastest: slot t of it goes with slot t / ratio of a slower one,
 * which holds its value over its period. name: what messages call them. Fails: WEIR_ERR_CONFIG,
 * naming both rates, where one period is no multiple of the other. */
weir_status weir_stream_align(weir_graph *g, const weir_series *in, const char *const *name, int n,
                              weir_series *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
