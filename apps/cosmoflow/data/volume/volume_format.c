/* volume_format.c - stored voxels, of any format, as those of a set. */
#include "data/volume/volume_format.h"
#include <math.h>
#include <string.h>

int64_t cf_volume_convert(weir_dtype from, const void *raw, int64_t n, weir_dtype to, void *out)
{
  if (from == WEIR_I16 && to == WEIR_I16) {
    memcpy(out, raw, (size_t)n * sizeof(int16_t));
    return -1;
  }
  for (int64_t i = 0; i < n; i++) {
    const double value = weir_dtype_load_real(from, raw, i);

    if (to == WEIR_F32) {
      ((float *)out)[i] = (float)value;
      if (!isfinite(((float *)out)[i]) || (value != 0 && ((float *)out)[i] == 0)) {
        return i;
      }
    } else if (value >= INT16_MIN && value <= INT16_MAX && value == (double)(int16_t)value) {
      ((int16_t *)out)[i] = (int16_t)value;
    } else {
      return i;
    }
  }
  return -1;
}

weir_status cf_volume_refuse(const char *where, int64_t voxel, double value, weir_dtype dtype)
{
  return weir_fail(WEIR_ERR_DATA, "%s: voxel %lld is %g, which %s", where, (long long)voxel, value,
                   dtype == WEIR_I16 ? "is no count of 16 bits"
                   : isfinite(value) ? "f32 does not hold: another byte order or type?"
                                     : "is no finite number");
}
