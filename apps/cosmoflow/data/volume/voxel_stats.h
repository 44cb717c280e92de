/* voxel_stats.h - statistics of the voxels of a sample: counts or densities, in the right byte
 * order. */
#ifndef CF_VOXEL_STATS_H
#define CF_VOXEL_STATS_H
#include "data/volume/volume_info.h"

enum { CF_VOXEL_BINS = 18 }; /* 0, 1, 2-3, 4-7 ... 2^16 and more, of |value| rounded down */

typedef struct cf_voxel_stats {
  int64_t n, negative, whole; /* voxels; below 0; integers */
  double sum, min, max;
  double swapped; /* sum of |values| with their two bytes exchanged, of WEIR_I16 */
  int64_t bin[CF_VOXEL_BINS];
} cf_voxel_stats;

/* Adds n voxels of WEIR_I16 or WEIR_F32 to statistics that start as zeros. */
void cf_voxel_stats_add(cf_voxel_stats *c, weir_dtype dtype, const void *voxels, int64_t n);
/* Returns a remark on unusual voxels; "" for none. Static. */
const char *cf_voxel_stats_remark(const cf_voxel_stats *c, weir_dtype dtype);
/* Writes the label of a bin: "0", "1", "2-3", ... */
void cf_voxel_stats_bin(int bin, char *text, size_t size);
#endif
