/* sort.h - puts numbers in ascending order: of one list, or of many cases side by side. */
#ifndef WX_SORT_H
#define WX_SORT_H
#include <stdint.h>

/* Puts values, none of which is NaN, in ascending order. */
void wx_sort(double *x, int64_t n);

/* Cases side by side: number k of case l is x[k * WX_LANES + l]. A vector holds the same number of
 * several cases, so that one instruction sorts them together. */
enum { WX_LANES = 16 };
/* Puts x[n, WX_LANES] in ascending order case by case, by the merge exchange of Batcher (Knuth, The
 * Art of Computer Programming 3, 5.2.2, algorithm M). A case that has a NaN ends in no order; the
 * others do not notice. Equal numbers may change places, which only zeros of either sign show. */
void wx_sort_lanes(double *x, int64_t n);
/* Takes what m fields have at n <= WX_LANES points, field[k * stride + l], into x[m, WX_LANES] in
 * ascending order point by point: count[l] numbers, infinity behind them. What is NaN or beyond
 * +-most is missing. */
void wx_sort_fields(const float *field, int64_t m, int64_t stride, int64_t n, float most, double *x,
                    int64_t *count);
/* Copies the first n numbers of one case. */
void wx_lane_copy(const double *x, int64_t n, int64_t lane, double *out);
#endif
