/* voxels.h - whether voxels can be what they are taken for: counts of particles, a density. What no
 * survey of matter can hold (byte orders that are exchanged, logarithms, fractions of a particle)
 * is not trained on unless it is stated. */
#ifndef CF_VOXELS_H
#define CF_VOXELS_H
#include "data/volume.h"

/* What is looked at of a sample. */
typedef struct cf_voxels {
  weir_dtype dtype; /* WEIR_I16, WEIR_F32 */
  const void *data; /* [n] */
  int64_t n;
  int64_t first; /* number of the first in the sample */
  bool whole;    /* all voxels of the sample */
  bool raw;      /* they are used as they are: where nothing says what they are, any plausible
                    magnitude will do */
} cf_voxels;

/* By info->quantity; CF_QUANTITY_AUTO: counts, or with v->raw numbers of either sign. Fails:
 * WEIR_ERR_DATA, naming the sample at `where`, voxel, value, reason and what states otherwise. */
weir_status cf_voxels_check(const cf_volume_info *info, const char *where,
                            const cf_voxels *v) WEIR_CHECKED;
#endif
