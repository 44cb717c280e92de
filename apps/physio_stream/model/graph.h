/* graph.h - the detection as a graph: filter, slope, energy and window are ops, the decision is a
 * call whose state lies in the store. */
#ifndef PS_GRAPH_H
#define PS_GRAPH_H
#include "graph/weir_graph.h"
#include "model/detect.h"
#include "stream/weir_series.h"

/* Names of inputs and results. x: f32, mV, 0 where absent; present: bool; filtered and feature as
 * front.h says, bits as ps_front_run of tests/support/physio_stream/front_check.h gives them. */
#define PS_INPUT_X "x"
#define PS_INPUT_PRESENT "x.present"
#define PS_RESULT_FILTERED "filtered"
#define PS_RESULT_FEATURE "feature"
#define PS_RESULT_PRESENT "present"
#define PS_RESULT_BEATS "beats"

/* The result `beats` is as ps_beat_call_run writes it. */
typedef struct ps_graph {
  weir_graph *graph;
  weir_store *store;  /* holds the detector's state */
  weir_tensor *state; /* of the store, pinned */
  ps_front front;
  struct ps_beat_call *call;
} ps_graph;

/* Filtered signal and feature (front.h) of a stream, as ops; presence is the stream's. */
typedef struct ps_graph_front {
  weir_series filtered, feature;
} ps_graph_front;
ps_graph_front ps_graph_add_front(weir_graph *g, const ps_front *front, weir_series x);

/* Creates the graph for one sampling rate; most_slots bounds the slots of one call to the decision.
 * features: filtered, feature and present are results too.
 * Fails: WEIR_ERR_CONFIG (as ps_detect_init), WEIR_ERR_MEMORY; *out is then all NULL. */
weir_status ps_graph_create(const ps_detect_opts *opts, int64_t rate_num, int64_t rate_den,
                            int64_t max_slots, bool features, ps_graph *out) WEIR_CHECKED;
void ps_graph_destroy(ps_graph *g);
/* Returns the longest time, s, from a beat to the decision that it is one, gaps and learning
 * included. */
double ps_graph_latency(const ps_graph *g);
/* Resets the detector to before sample 0. */
weir_status ps_graph_reset(ps_graph *g) WEIR_CHECKED;
#endif
