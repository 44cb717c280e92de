/* overlap_priv.h - nodes that are computed in pieces, and where they are split. */
#ifndef OVERLAP_PRIV_H
#define OVERLAP_PRIV_H
#include "graph/weir_graph.h"
#include "pass/weir_depend.h"

enum {
  OVERLAP_AXES = 3,                      /* dimensions of the array along which elements travel */
  OVERLAP_PIECES = 1 + 2 * OVERLAP_AXES, /* the interior, then below and above along each axis  */
  OVERLAP_MEMBERS = 24
};

/* A node that is run in pieces. Along axis m its iterations of dimension dim[m] below lo[m] are of
 * the piece below, those from hi[m] on of the piece above; dimension at[m] of its outputs is
 * dim[m].
 */
typedef struct overlap_member {
  int32_t node;
  bool kept[WEIR_MAX_OUTPUTS]; /* read by members alone: each piece has a separate array */
  int dim[OVERLAP_AXES], at[OVERLAP_AXES];
  int64_t lo[OVERLAP_AXES], hi[OVERLAP_AXES];
} overlap_member;

/* What reads the array that an exchange makes, and what follows it. */
typedef struct overlap_split {
  const weir_graph *g;
  const weir_users *users;
  const int32_t *position;      /* [nodes] in topological order */
  int32_t made, own;            /* arrays: what the exchange makes, and what the rank had before */
  weir_box owned;               /* own elements, in indices of `made`... */
  int64_t shift[WEIR_MAX_RANK]; /* ...and what is added to those for `own` */
  int n_axes, axis[OVERLAP_AXES];             /* dimensions of `made` */
  int64_t lo[OVERLAP_AXES], hi[OVERLAP_AXES]; /* of the first member: no more than that is inside */
  int n;
  overlap_member member[OVERLAP_MEMBERS]; /* topological; the first reads `made` */
} overlap_split;

/* overlap_members.c: fills members from the first one's node on: it and what can follow it piece by
 * piece. False: nothing of it can be computed before the rest has come. */
bool overlap_find(overlap_split *s, int32_t node);
/* Iterations of a member in piece `piece`, maybe none. The pieces are disjoint and cover all. */
weir_box overlap_box(const overlap_split *s, const overlap_member *m, int piece);
/* overlap_build.c: adds every member once for every piece that has iterations, and writes to
 * first[piece] the number of the first member there (-1: none); the members stay. */
weir_status overlap_build(weir_graph *g, const overlap_split *s,
                          int32_t first[OVERLAP_PIECES]) WEIR_CHECKED;
#endif
