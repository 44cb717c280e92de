/* weir_stream_match_shape.h - template matching on a stream by dynamic time warping. */
#ifndef WEIR_STREAM_MATCH_SHAPE_H
#define WEIR_STREAM_MATCH_SHAPE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_SHAPE_MIN 4 /* samples of a template */
#define WEIR_SHAPE_MAX 4096

/* The windows of m slots that end at slot t and are present throughout, z-normalised (population
 * std; a constant window is all 0), against the template, normalised alike:
 *   D(i, j) = (a_i - b_j)^2 + min(D(i-1, j), D(i, j-1), D(i-1, j-1)),   |i - j| <= ceil(band m)
 * (Sakoe and Chiba 1978). The result is present at t where sqrt(D(m, m)) / m <= threshold, and has
 * that distance as its value. What LB_Kim, LB_Keogh (Keogh and Ratanamahatana 2005) or a row of D
 * beyond the threshold exclude is skipped, which does not change results. Causal. Fails
 * (in the graph): WEIR_ERR_CONFIG for a template too short, too long, not finite or constant.
 */
weir_series weir_stream_match_shape(weir_graph *g, weir_series s, const double *shape, int64_t m,
                                    double band, double threshold);

#ifdef __cplusplus
}
#endif
#endif
