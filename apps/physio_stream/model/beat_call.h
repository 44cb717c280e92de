/* beat_call.h - the decision as a function of slots in the graph, with all its state in one block.
 */
#ifndef PS_BEAT_CALL_H
#define PS_BEAT_CALL_H
#include "graph/weir_op.h"
#include "model/detect.h"

/* What does not change while a graph runs. */
typedef struct ps_beat_call {
  ps_detect_opts opts;
  double rate;
} ps_beat_call;

/* Returns the bytes of the state; 0 when the options are refused. */
size_t ps_beat_call_bytes(const ps_beat_call *call);
/* Makes `state` (aligned to 64) a decision before slot 0. Fails: as ps_detect_init. */
weir_status ps_beat_call_init(const ps_beat_call *call, void *state, size_t bytes) WEIR_CHECKED;
/* Returns the extent of the result that calls of up to `slots` slots need. */
int64_t ps_beat_call_capacity(const void *state, int64_t slots);
/* Returns ps_detect_latency of the state. */
int64_t ps_beat_call_latency(const void *state);
/* Beats, whether a gap lies before each and how far beyond its sample it is, as arrays to which
 * more is added. */
typedef struct ps_beat_table {
  int64_t *sample, *gap, *fraction; /* [capacity] */
  int64_t n, capacity;
} ps_beat_table;
/* Takes slots [t, t + n) and adds the beats that became final. Slots between calls are absent.
 * Fails: WEIR_ERR_SHAPE when the beats may not fit. */
weir_status ps_beat_call_slots(void *state, const float *filtered, const float *feature,
                               const uint8_t *present, int64_t t, int64_t n,
                               ps_beat_table *out) WEIR_CHECKED;
/* Ends the stream: adds the beats still pending. Fails as ps_beat_call_slots. */
weir_status ps_beat_call_end(void *state, ps_beat_table *out) WEIR_CHECKED;
/* Runs the decision. in: filtered, feature, present, state; out: beats i64, [3, 1 + capacity],
 * written whole at each call: [0, 0] is the number n of beats that became final, [0, 1 .. n] their
 * samples, [1, 1 .. n] whether samples are absent between the beat before and it (1) or not (0),
 * and [2, 1 .. n] how far each lies beyond its sample, in 1 / PS_DETECT_PER_SAMPLE of one. Fails:
 * WEIR_ERR_SHAPE when the beats may not fit. */
weir_status ps_beat_call_run(void *context, const weir_op_run *run) WEIR_CHECKED;
#endif
