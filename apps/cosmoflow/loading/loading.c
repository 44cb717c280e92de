/* loading.c - see loading.h. */
#include "loading/loading.h"
#include "base/weir_log.h"
#include "data/volume/volume_format.h"
#include "described.h"

enum { LINE = 64 };

static int64_t to_line(int64_t bytes)
{
  return (bytes + LINE - 1) / LINE * LINE;
}

int64_t cf_loading_bytes(const cf_volume_info *info)
{
  const int64_t voxel = weir_dtype_is_real(info->dtype) ? 4 : 2;

  return to_line(cf_volume_elements(info) * voxel) +
         (info->n_classes > 0 ? to_line(cf_volume_cells(info)) : to_line(4 * info->n_labels));
}

weir_status cf_loading_compute(cf_cfg *cfg, int threads, weir_load_simulation *o)
{
  double seconds = 0;

  if (o->compute_speed > 0) {
    return WEIR_OK;
  }
  WEIR_TRY(cf_described_step(cfg, threads, NULL, &seconds));
  o->compute_speed = (double)(cfg->train.batch * o->sample_bytes) / 1e6 / seconds;
  weir_info("loading", "predicted computation: %.4g s for %lld samples, %.4g MB/s", seconds,
            (long long)cfg->train.batch, o->compute_speed);
  return WEIR_OK;
}
