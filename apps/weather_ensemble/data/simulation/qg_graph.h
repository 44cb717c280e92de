/* qg_graph.h - the equations of the model (qg.h) as a graph over a batch of states. */
#ifndef WX_QG_GRAPH_H
#define WX_QG_GRAPH_H
#include "data/simulation/qg_priv.h"
#include "graph/weir_graph.h"

/* Appends n steps of the stored array "state" [batch, 1, layers, rows, columns], which takes the
 * new states. */
void qg_graph_steps(weir_graph *g, const wx_qg *m, const weir_store *store, int64_t n);
/* Appends the result "rate" of the stored array "state": its time derivative, viscosity included.
 */
void qg_graph_rate(weir_graph *g, const wx_qg *m, const weir_store *store);
#endif
