/* weir_stream_normalize.h - z-scores: (x - mean) / std of the window of a sample. */
#ifndef WEIR_STREAM_NORMALIZE_H
#define WEIR_STREAM_NORMALIZE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Mean and population std are those of the present samples of slots [j window, (j + 1) window) that
 * hold the sample, or, causal, of the `window` slots that end with it. Where std is 0 the result is
 * 0. Presence is unchanged, the unit is "1". */
weir_series weir_stream_normalize(const weir_series_use *use, weir_series s, int64_t window,
                                  bool causal);

#ifdef __cplusplus
}
#endif
#endif
