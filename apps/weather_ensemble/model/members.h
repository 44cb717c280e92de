/* members.h - members of an ensemble through one network: they are folded into the batch, so that
 * all have the same weights and none knows its number. */
#ifndef WX_MEMBERS_GRAPH_H
#define WX_MEMBERS_GRAPH_H
#include "ops/weir_builder.h"

/* Appends v [n, ..] as [n, 1, ..], which broadcasts to members [n, m, ..]. */
weir_value wx_members_shared(weir_graph *g, weir_value v);
/* Appends what each member is corrected from: x [n, .., c], the same for all, and its own channels
 * [n, m, .., k] after it: [n m, .., c + k]. */
weir_value wx_members_fold(weir_graph *g, weir_value x, weir_value members);
/* Appends v [n m, .., k] as [n, m, .., k], n and m those of members. On failure all are invalid and
 * the graph keeps the error. */
weir_value wx_members_unfold(weir_graph *g, weir_value v, weir_value members);
#endif
