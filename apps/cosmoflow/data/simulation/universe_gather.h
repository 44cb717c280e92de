/* universe_gather.h - the counts of a universe, from the ranks that simulated it, to its file. */
#ifndef CF_UNIVERSE_GATHER_H
#define CF_UNIVERSE_GATHER_H
#include "data/simulation/universe.h"
#include "io/weir_netcdf.h"

typedef struct cf_gather {
  const cf_universe_opts *opts;
  const cf_universe_facts *f;
  weir_comm *comm; /* NULL: one rank */
  weir_netcdf *nc; /* of the first rank, and its variable [sample, x, y, z, channel] */
  int full;
} cf_gather;

/* Writes a universe whose first sample in the file is `sample`: own are the counts of this rank
 * (cf_generator_make). The first rank receives those of the others one after the other, in memory
 * for one of them. Collective. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY, on the first rank alone,
 * WEIR_ERR_EXTERNAL. */
weir_status cf_universe_gather(const cf_gather *g, int64_t sample, const void *own) WEIR_CHECKED;
#endif
