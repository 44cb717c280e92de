/* loading.h - what the commands about the loader share. */
#ifndef CF_LOADING_H
#define CF_LOADING_H
#include "data/volume/volume_info.h"
#include "load/weir_load_simulation.h"
#include "options.h"

/* Returns the bytes of a sample as the loader keeps it: voxels and labels, each from a cache line
 * on (weir_load.h). */
int64_t cf_loading_bytes(const cf_volume_info *info);
/* Sets compute_speed where it is 0, of samples of sample_bytes: by the predicted step of
 * train.batch samples on one rank with so many threads. Fails: as cf_described_step. */
weir_status cf_loading_compute(cf_cfg *cfg, int threads, weir_load_simulation *o) WEIR_CHECKED;
#endif
