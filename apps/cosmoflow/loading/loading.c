/* loading.c - see loading.h. */
#include "loading/loading.h"
#include "data/volume/volume_format.h"

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
