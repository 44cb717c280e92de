/* loading.h - what the commands about the loader share. */
#ifndef CF_LOADING_H
#define CF_LOADING_H
#include "data/volume/volume_info.h"

/* Returns the bytes of a sample as the loader keeps it: voxels and labels, each from a cache line
 * on (weir_load.h). */
int64_t cf_loading_bytes(const cf_volume_info *info);
#endif
