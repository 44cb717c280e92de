/* weir_stream_resample.h - resampling
 * of a stream to another clock: slots of the result are times of the old clock.
 *
 * Result slot t is the input's time down t / up; s is the slot that holds it. Gaps no longer than
 * the tolerance (weir_gap.h) are bridged first, by the method; a slot is present where s is present
 * after that.
 *   linear     between s and s + 1 where both are present, else the value of s: LifeStream's
 *              Resample (Jayarajan et al., ASPLOS 2021); gaps by a line between their neighbours.
 *              The artefact draws a sample before a long gap towards the one after it, which no
 *              bounded look-ahead can; here it is repeated for its period, and the last one too
 *   hold       the value of s; gaps hold the sample before
 *   polyphase  scipy.signal.resample_poly with its defaults: low-pass at the lower of both half
 *              rates, a Kaiser window of beta 5 on 10 max(up, down) samples to either side; gaps by
 *              a line; what is absent after that counts as 0, as beyond the ends of a record
 * n slots give ceil(n up / down). */
#ifndef WEIR_STREAM_RESAMPLE_H
#define WEIR_STREAM_RESAMPLE_H
#include "stream/weir_series.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_STREAM_RATIO_MAX (1 << 20) /* maximum terms of up / down in lowest terms */

typedef enum weir_stream_method {
  WEIR_STREAM_LINEAR,
  WEIR_STREAM_HOLD,
  WEIR_STREAM_POLYPHASE
} weir_stream_method;

/* s at up / down times its rate. tolerance: slots of s. Fails (in the graph): WEIR_ERR_CONFIG for a
 * ratio that is not positive or beyond WEIR_STREAM_RATIO_MAX. */
weir_series weir_stream_resample(weir_graph *g, weir_series s, weir_stream_method method,
                                 int64_t up, int64_t down, int64_t tolerance);

#ifdef __cplusplus
}
#endif
#endif
