/* weir_call.h - a C function as an operator: called in order of time, chunk by chunk.
 *
 * Inputs with a time dimension are read slot by slot (and `behind` and `ahead` further slots), all
 * others whole. State lives in a stored array that the call takes as input and changes in place
 * (weir_in_place). Outputs have a fixed shape, written whole at each call, or a time dimension,
 * written for the slots of the call. Results must not depend on how time is cut into calls. */
#ifndef WEIR_CALL_H
#define WEIR_CALL_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* run->box.lo[0], hi[0]: the slots of this call, when an input has time. run->in[k], out[k]: views
 * in the order of the node's inputs and outputs. A failure ends the run with that status. */
typedef weir_status (*weir_call_function)(void *context, const weir_op_run *run);

typedef struct weir_call_spec {
  const char *name; /* static storage, for messages */
  weir_call_function function;
  void *context; /* handed on; outlives every plan of the graph, must not hold results */
  int n_out;
  weir_array_desc out[WEIR_MAX_OUTPUTS];
  int64_t behind[WEIR_MAX_OPERANDS]; /* slots of input k before the call's first that it reads */
  int64_t ahead[WEIR_MAX_OPERANDS];  /* slots after its last; none beyond the stream's end     */
  /* 1 + input (bool) without which a slot is absent: the function promises that slots absent in it
   * may be left out of its calls, once `settle` of them in a row were in. 0: no such promise. */
  int presence;
  int64_t settle;
  double flops; /* per slot (without time: per call), for reports         */
} weir_call_spec;

extern const weir_op_desc weir_op_call;

/* Returns output 0; output k is {v.node, k}. */
weir_value weir_call_at(weir_graph *g, const weir_call_spec *spec, const weir_value *in, int n_in,
                        const char *where);
#define weir_call(g, spec, in, n_in) weir_call_at(g, spec, in, n_in, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
