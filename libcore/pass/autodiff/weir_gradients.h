/* weir_gradients.h - reverse-mode automatic differentiation: the gradient of a scalar as part of
 * the graph. */
#ifndef WEIR_GRADIENTS_H
#define WEIR_GRADIENTS_H
#include "graph/weir_graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* grads[i] = d loss / d wrt[i], of the dtype and shape of wrt[i], as new nodes of the graph; 0
 * where the loss does not depend on it. loss: a scalar float.
 *
 * Every adjoint is a structured operator in gather form: its iterations are the elements of the
 * input and what reads them, its access the node's own access solved for them, so
 * that nothing is scattered and everything else (engines, fusion, traffic) is as for any operator.
 * Of equal maxima the first one receives the derivative, as for argmax; the derivative of min, max,
 * abs at a tie is that of the side of the value.
 *
 * Max-pooling
 * after a bias and a monotone activation of z is moved in front of them, where `wrt`, results and
 * other readers do not need the values between: the same numbers (0 may be -0), and the derivative
 * goes to the largest z. The values between, and the original maximum, stay valid, at the cost of
 * computing them.
 *
 * Fails, in the graph's status and in grads[i].node < 0: WEIR_ERR_SHAPE (a loss of another kind),
 * WEIR_ERR_UNSUPPORTED for a node without a rule (calls; scans along time), naming the node
 * and the line that built it. */
weir_status weir_gradients(weir_graph *g, weir_value loss, const weir_value *wrt, int n,
                           weir_value *grads) WEIR_CHECKED;

/* Prints number, bytes and producers of the arrays saved for the derivative (computed before the
 * last weir_gradients of the graph and read by the nodes it added), for `describe`; nothing where
 * there are none. Fails: WEIR_ERR_MEMORY. */
weir_status weir_saved_print(const weir_graph *g, FILE *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
