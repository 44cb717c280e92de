/* network_priv.h - the parts of the step `network`: its options, a network with its plan, and the
 * calls that run it window by window. */
#ifndef PS_NETWORK_PRIV_H
#define PS_NETWORK_PRIV_H
#include "exec/weir_plan.h"
#include "nn/onnx/weir_onnx_graph.h"
#include "stream/weir_gap.h"

enum { PS_NETWORK_NAME = 16 };
enum { PS_SCORES_AS_IS, PS_SCORES_SIGMOID, PS_SCORES_SOFTMAX }; /* ps_network_opts.scores  */
enum { PS_OF_WINDOW, PS_OF_SAMPLES };                           /* ps_network_opts.results */
enum { PS_STATE_RESET, PS_STATE_CARRY };                        /* ps_network_opts.state   */

typedef struct ps_network_opts {
  const char *file, *unit;
  double fs, window, hop, reset_after;
  int results, scores, label, state;
  weir_string_list outputs, state_in, state_out;
} ps_network_opts;

/* A network of its own graph, which a window at a time is given to: `size` samples of each signal,
 * one every `hop`; `numbers` come out. Its inputs share out the signals, in order. */
typedef struct ps_network {
  weir_graph *graph;
  weir_plan *plan;
  int n_inputs;
  int signals[WEIR_ONNX_INPUTS];      /* of each input */
  char input[WEIR_ONNX_INPUTS][16];   /* names in the graph */
  weir_tensor x[WEIR_ONNX_INPUTS];    /* [1, size, signals], or [1, size] */
  weir_tensor y;                      /* [1, numbers, length] */
  int64_t size, hop, numbers, length; /* length: 1, or size where samples have results */
  weir_onnx_states states;            /* n: 0 where nothing is carried */
  weir_tensor first[WEIR_ONNX_STATES], last[WEIR_ONNX_STATES]; /* of a window's run */
  int64_t max_missing; /* windows without result over which a state is carried */
  char name[WEIR_SERIES_MAX][PS_NETWORK_NAME]; /* of numbers without a given name */
} ps_network;

/* Inputs of the call: rows [signals, time], their presence, and what is carried, which only
 * networks with states have. */
enum { PS_NETWORK_VALUES, PS_NETWORK_PRESENT, PS_NETWORK_STATE, PS_NETWORK_INPUTS };

/* Returns the bytes that a network with states keeps from call to call; all 0 at first. */
int64_t ps_network_state_bytes(const ps_network *n);
/* Functions of calls (context: a ps_network): results of each window, at the rate of windows, and
 * of each sample. */
weir_status ps_network_call_windows(void *context, const weir_op_run *run) WEIR_CHECKED;
weir_status ps_network_call_samples(void *context, const weir_op_run *run) WEIR_CHECKED;

/* Builds the step for a network of beats (use->opts: ps_network_opts). Fails: as ps_beat_apply;
 * WEIR_ERR_CONFIG for options that the file states itself. */
weir_status ps_network_give_beats(const weir_series_use *use, weir_series_result *out) WEIR_CHECKED;
#endif
