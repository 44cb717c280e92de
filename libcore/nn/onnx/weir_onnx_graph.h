/* weir_onnx_graph.h - the graph of a network that an ONNX file describes, of Weir's operators, so
 * that memory, dependence and chunks follow from their accesses.
 *
 * One input or a few, and one output, f32; dimension 0 of all is the batch, which no operator of
 * the network may touch: its elements are computed independently of one another. Operators of
 * versions 13 to 22 of the default domain, as far as docs/reference/onnx.md says: networks of
 * convolutions over one dimension, recurrent and dense layers. */
#ifndef WEIR_ONNX_GRAPH_H
#define WEIR_ONNX_GRAPH_H
#include "graph/weir_graph.h"
#include "io/onnx/weir_onnx.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { WEIR_ONNX_OPSET_MIN = 13, WEIR_ONNX_OPSET_MAX = 22 };
/* Most steps of a recurrent layer, whose graph has each of them, and of all layers and directions
 * of a file. */
enum { WEIR_ONNX_STEPS = 128, WEIR_ONNX_STEPS_ALL = 512 };
enum { WEIR_ONNX_STATES = 16 }; /* most states of a file */
enum { WEIR_ONNX_INPUTS = 8 };  /* most inputs that are no states */

/* A state: what a window leaves for the next one, f32 of `shape`, the batch of 1 first. */
typedef struct weir_onnx_state {
  char first[12], last[12]; /* names of an input and an output of the graph */
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  int64_t at, count; /* its elements in weir_onnx_states.initial */
} weir_onnx_state;

/* The states of a network. The caller sets the first members, building it the others. */
typedef struct weir_onnx_states {
  /* Recurrent layers begin with what the window before left, and the named states go on; false:
   * every window begins with the initial states. */
  bool carry;
  /* [n_named] inputs and outputs of the file that are states, in pairs. Their initial value is 0.
   * Their batch is the dimension without extent, else dimension 1 where that is 1, else 0. */
  const char *const *in, *const *out;
  int64_t n_named;
  weir_onnx_state state[WEIR_ONNX_STATES];
  int n;
  float *initial; /* [numbers], owned */
  int64_t numbers;
} weir_onnx_states;
/* Frees what weir_onnx_build allocated, also after a failure. */
void weir_onnx_states_fini(weir_onnx_states *s);

/* The inputs of a network that are neither constants nor states, in the order of the file;
 * borrowed from it. */
typedef struct weir_onnx_inputs {
  const weir_onnx_value *at[WEIR_ONNX_INPUTS];
  int n;
} weir_onnx_inputs;

/* Finds the inputs that are neither constants nor named states (states NULL: it has none). Fails:
 * WEIR_ERR_UNSUPPORTED for none or more than WEIR_ONNX_INPUTS, another number of outputs than one,
 * elements that are not f32, and versions not supported; WEIR_ERR_CONFIG for a named state that the
 * file does not have. */
weir_status weir_onnx_find_inputs(const weir_onnx *m, const char *where,
                                  const weir_onnx_states *states,
                                  weir_onnx_inputs *out) WEIR_CHECKED;
/* Appends the network to the graph: y of x, [inputs] in the order of weir_onnx_find_inputs. x: f32,
 * of one batch; of an input [batch, channels, length], [batch, length, channels]; other inputs, and
 * y, in the order of the file. Weights become constants of the graph. where: the file's name, for
 * messages. states: NULL, or those that the network has, with an input and an output of the graph
 * each if they are carried; then the batch is 1. Fails: as weir_onnx_find_inputs;
 * WEIR_ERR_UNSUPPORTED, naming the node and the operator or attribute that is not supported, or the
 * layer whose state cannot be carried; WEIR_ERR_DATA for names that nothing defines; WEIR_ERR_SHAPE
 * for shapes that do not agree. */
weir_status weir_onnx_build(weir_graph *g, const weir_onnx *m, const char *where,
                            weir_onnx_states *states, const weir_value *x,
                            weir_value *y) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
