/* members_crps.h - the CRPS of an ensemble as a graph, element by element: what a network of
 * members is trained by. */
#ifndef WX_MEMBERS_CRPS_H
#define WX_MEMBERS_CRPS_H
#include "ops/weir_builder.h"

/* Appends the CRPS of members [n, m, ..] against truth [n, ..], in units of truth: [n, ..]. f32 or
 * f64, both of one. alpha in [0, 1]: 0 is the CRPS of the empirical distribution (kernel CRPS), 1
 * the fair one (Ferro, QJRMS 140 (2014) 1917), which may be negative, others the almost fair one
 * between them (Lang et al., arXiv:2412.15832: 0.95), as wx_crps_almost_fair. One member needs
 * alpha 0, and its score is the absolute error. The derivative by members that are equal is that of
 * neither moving away. Fails: WEIR_ERR_SHAPE (no members; one with alpha above 0; a truth of
 * another shape); the value is then invalid and the graph keeps the error. */
weir_value wx_members_crps(weir_graph *g, double alpha, weir_value members, weir_value truth);
#endif
