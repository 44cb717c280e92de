/* overlap_priv.h - what is computed in parts, and where the cuts lie. */
#ifndef OVERLAP_PRIV_H
#define OVERLAP_PRIV_H
#include "graph/weir_graph.h"
#include "pass/weir_depend.h"

enum {
  OVERLAP_CUTS = 3,                     /* dimensions of the array along which elements travel */
  OVERLAP_PARTS = 1 + 2 * OVERLAP_CUTS, /* the interior, then below and above along each cut   */
  OVERLAP_MEMBERS = 24
};

/* A node that is run in parts. Along cut m its iterations of dimension dim[m] below lo[m] are of
 * the part below, those from hi[m] on of the part above; dimension at[m] of its outputs is dim[m].
 */
typedef struct overlap_member {
  int32_t node;
  bool kept[WEIR_MAX_OUTPUTS]; /* read by members alone: each part has a separate array */
  int dim[OVERLAP_CUTS], at[OVERLAP_CUTS];
  int64_t lo[OVERLAP_CUTS], hi[OVERLAP_CUTS];
} overlap_member;

/* What reads the array that an exchange makes, and what follows it. */
typedef struct overlap_split {
  const weir_graph *g;
  const weir_users *users;
  const int32_t *place;         /* [nodes] in topological order */
  int32_t made, own;            /* arrays: what the exchange makes, and what the rank had before */
  weir_box owned;               /* own elements, in indices of `made`... */
  int64_t shift[WEIR_MAX_RANK]; /* ...and what is added to those for `own` */
  int n_cuts, axis[OVERLAP_CUTS];             /* dimensions of `made` */
  int64_t lo[OVERLAP_CUTS], hi[OVERLAP_CUTS]; /* of the first member: no more than that is inside */
  int n;
  overlap_member member[OVERLAP_MEMBERS]; /* topological; the first reads `made` */
} overlap_split;

/* overlap_cut.c: fills members from the first one's node on: it and what can follow it part by
 * part. False: nothing of it can be computed before the rest has come. */
bool overlap_find(overlap_split *s, int32_t node);
/* Iterations of a member in part `part`, maybe none. The parts are disjoint and all there are. */
weir_box overlap_box(const overlap_split *s, const overlap_member *m, int part);
/* overlap_build.c: adds every member once for every part that has iterations, and tells in
 * first[part] the number of the first member there (-1: none); the members stay. */
weir_status overlap_build(weir_graph *g, const overlap_split *s,
                          int32_t first[OVERLAP_PARTS]) WEIR_CHECKED;
#endif
