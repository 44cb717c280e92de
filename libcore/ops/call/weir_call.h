/* weir_call.h - a C function as an operator: called in order of time, chunk by chunk.
 *
 * Inputs with a time dimension are
 * read slot by slot, at the rate given in the spec (and `behind` and `ahead` further slots), all
 * others completely. State lives in a stored array that the call takes as input and changes in
 * place (weir_in_place). Outputs have a fixed shape, written completely at each call, or a time
 * dimension, written for the slots of the call. Results must not depend on how time is divided into
 * calls. */
#ifndef WEIR_CALL_H
#define WEIR_CALL_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* run->box.lo[0], hi[0]: the slots of this call, when an input has time. run->spec: the node's
 * weir_call_spec. run->in[k], out[k]: views in the order of the node's inputs and outputs. A
 * failure ends the run with that status. */
typedef weir_status (*weir_call_function)(void *context, const weir_op_run *run);

typedef struct weir_call_spec {
  const char *name; /* static storage, for messages */
  weir_call_function function;
  void *context; /* passed to the function; outlives every plan of the graph, must not store results
                  */
  int n_out;
  weir_array_desc out[WEIR_MAX_OUTPUTS];
  /* Slot t of the call reads of input k the slots floor(up t / down) - behind .. floor(up t / down)
   * + ahead, none outside the stream; up and down 0: 1. behind + ahead >= 0. */
  int64_t behind[WEIR_MAX_OPERANDS], ahead[WEIR_MAX_OPERANDS];
  int64_t up[WEIR_MAX_OPERANDS], down[WEIR_MAX_OPERANDS];
  /* 1 + presence input (bool): the function guarantees that slots absent in it may be omitted from
   * its calls after `settle` consecutive ones were passed. 0: no such guarantee. */
  int presence;
  int64_t settle;
  double flops;          /* per slot (without time: per call), for reports         */
  int64_t context_bytes; /* memory of the context that counts as memory of the plan */
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
