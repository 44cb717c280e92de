/* fof.h - haloes by friends of friends (Davis et al., ApJ 292 (1985) 371): particles closer than
 * the linking length are of one group, and so are their friends, in a periodic box. */
#ifndef CF_FOF_H
#define CF_FOF_H
#include <stdint.h>
#include "base/weir_status.h"

typedef struct cf_halo {
  int64_t particles;
  double mass;      /* of its particles, in their unit */
  double centre[3]; /* of mass, in the box */
} cf_halo;

/* Finds the groups of at least `least` of n particles at position [n, 3], in [0, box), with masses
 * [n]; `link` from 2e-6 to 1/2 of the box. *haloes[*n_haloes] is sorted by mass, the largest first,
 * and by centre where masses are equal; free it with weir_free. One thread, the same bits every
 * time; masses are summed in the order of cells, not of the particles. Fails: WEIR_ERR_MEMORY. */
weir_status cf_fof(double box, double link, int64_t n, const double *position, const double *mass,
                   int64_t least, cf_halo **haloes, int64_t *n_haloes) WEIR_CHECKED;
#endif
