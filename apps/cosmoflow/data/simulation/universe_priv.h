/* universe_priv.h - members of a generator. */
#ifndef CF_UNIVERSE_PRIV_H
#define CF_UNIVERSE_PRIV_H
#include "data/simulation/field.h"
#include "data/simulation/lpt.h"
#include "data/simulation/particles.h"
#include "data/simulation/pm.h"
#include "data/simulation/universe.h"

struct cf_generator {
  const cf_universe_opts *opts;
  uint64_t seed;
  int64_t particles; /* along a side */
  cf_mesh *lattice;  /* of the particles */
  cf_mesh *cells;    /* of the output; NULL: the same */
  weir_comm *comm;   /* that share each universe; NULL: one rank */
  cf_universe_facts facts;
};

/* Returns the particles along a side, by the options. */
int64_t cf_universe_particles(const cf_universe_opts *o);
#endif
