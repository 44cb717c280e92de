/* visitors.h - positions of particles that ranks send to those whose cells they lie in. */
#ifndef CF_VISITORS_H
#define CF_VISITORS_H
#include <stdbool.h>
#include "data/simulation/positions.h"

/* A position along three axes, in sides of a cell of the mesh, or an answer to it. */
typedef struct cf_triple {
  float at[3];
} cf_triple;

typedef struct cf_visitors {
  const cf_particles *p;
  const cf_mesh *m;
  float shift;
  bool spread;
  int32_t *owner;       /* [side of m]: rank of a plane */
  int64_t *sent, *come; /* [ranks] visitors to other ranks, and from them */
  int64_t *next;        /* [ranks] of the sent ones, by cf_visitors_each */
  cf_triple *out, *in;  /* in the order of the ranks, then of the lattice */
  cf_buffer *buffers;   /* [2, ranks] */
} cf_visitors;

/* Sends the position + shift of every particle that lies in a plane of m of another rank to that
 * rank; with `spread`, of every one that lies in such a plane or below it. m is shared by the ranks
 * of the particles. Collective; a failure ends the run. */
void cf_visitors_send(const cf_particles *p, const cf_mesh *m, float shift, bool spread,
                      cf_visitors *out);
/* Returns the visitors from rank r, [come[r]], in the order of their lattice. */
cf_triple *cf_visitors_from(const cf_visitors *v, int r);
/* Sends `in` back, which are answers now, to where `out` was. Collective; likewise. */
void cf_visitors_answer(cf_visitors *v);
/* Calls use for every visitor that this rank has sent, in the order of the lattice: its place in
 * fields of the particles, and in `out`. */
void cf_visitors_each(cf_visitors *v, void *context,
                      void (*use)(void *context, int64_t site, cf_triple *visitor));
void cf_visitors_fini(cf_visitors *v);
#endif
