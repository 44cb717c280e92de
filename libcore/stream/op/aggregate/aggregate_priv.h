/* aggregate_priv.h - windows that no loop computes afresh: calls with state. */
#ifndef WEIR_AGGREGATE_PRIV_H
#define WEIR_AGGREGATE_PRIV_H
#include "stream/op/aggregate/weir_stream_aggregate.h"

/* One hop's share of a window: f32 samples (mean, var: invalid), or moments. */
typedef struct aggregate_part {
  weir_value present;
  weir_value value; /* f32 samples, or */
  weir_value n, m2; /* f64 with `value` the f64 mean; n invalid: samples */
} aggregate_part;

/* Moments over the last `hops` parts, 0 where the newest part is absent. */
weir_moments_stream aggregate_slide_moments(const weir_series_use *use, const aggregate_part *a,
                                            int64_t hops);
/* f32: least, largest or first over the last `hops` parts. */
weir_value aggregate_slide_pick(const weir_series_use *use, const aggregate_part *a,
                                weir_aggregate kind, int64_t hops);
/* f32: slot t that is a multiple of hop gets the median of [t + hop - window, t + hop). */
weir_value aggregate_median(const weir_series_use *use, weir_series s, int64_t window, int64_t hop);

#endif
