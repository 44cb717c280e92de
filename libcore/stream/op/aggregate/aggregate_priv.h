/* aggregate_priv.h - windows that no loop computes afresh: calls with state. */
#ifndef WEIR_AGGREGATE_PRIV_H
#define WEIR_AGGREGATE_PRIV_H
#include "stream/op/aggregate/weir_stream_aggregate.h"

/* One hop's partial of a window: f32 samples (mean, var: invalid), or moments. */
typedef struct aggregate_partial {
  weir_value present;
  weir_value value; /* f32 samples, or */
  weir_value n, m2; /* f64 with `value` the f64 mean; n invalid: samples */
} aggregate_partial;

/* Moments over the last `hops` partials, 0 where the newest partial is absent. */
weir_moments_stream aggregate_slide_moments(const weir_series_use *use, const aggregate_partial *a,
                                            int64_t hops);
/* f32: smallest, largest or first over the last `hops` partials. */
weir_value aggregate_slide_select(const weir_series_use *use, const aggregate_partial *a,
                                  weir_aggregate kind, int64_t hops);
/* f32: slot t that is a multiple of hop gets the median of [t + hop - window, t + hop). */
weir_value aggregate_median(const weir_series_use *use, weir_series s, int64_t window, int64_t hop);

#endif
