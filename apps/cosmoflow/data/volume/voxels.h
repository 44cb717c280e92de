/* voxels.h - plausibility of voxels as counts of particles or densities. Values that no survey of
 * matter can have (exchanged byte orders, logarithms, fractions of a particle) are not trained on
 * unless they are declared. */
#ifndef CF_VOXELS_H
#define CF_VOXELS_H
#include "data/volume/volume_info.h"

/* Voxels to check. */
typedef struct cf_voxels {
  weir_dtype dtype; /* WEIR_I16, WEIR_F32 */
  const void *data; /* [n] */
  int64_t n;
  int64_t first; /* number of the first in the sample */
  bool whole;    /* all voxels of the sample */
  bool raw; /* used without preprocessing: undeclared voxels may have any plausible magnitude */
} cf_voxels;

/* Checks voxels by info->quantity; CF_QUANTITY_AUTO: counts, or with v->raw numbers of either sign.
 * Fails: WEIR_ERR_DATA, naming the sample at `where`, voxel, value, reason and the option that
 * allows it. */
weir_status cf_voxels_check(const cf_volume_info *info, const char *where,
                            const cf_voxels *v) WEIR_CHECKED;
#endif
