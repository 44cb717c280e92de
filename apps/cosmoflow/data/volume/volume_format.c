/* volume_format.c - stored voxels, of any format, as those of a set. */
#include "data/volume/volume_format.h"
#include <math.h>
#include <string.h>

weir_dtype cf_volume_raw(int raw)
{
  static const weir_dtype stated[] = {WEIR_I16, WEIR_I16, WEIR_F32, WEIR_F64};

  return stated[raw];
}

/* Returns the side of a cube of n / channels voxels; 0: none. */
static int64_t side_of(int64_t n, int64_t channels)
{
  const int64_t side = (int64_t)llround(cbrt((double)n / (double)channels));

  return side > 0 && side * side * side * channels == n ? side : 0;
}

bool cf_volume_cube(int64_t n, int64_t channels, int64_t lengths[4])
{
  const int64_t last = channels > 0 ? channels : CF_CUBE_CHANNELS;

  for (int64_t c = channels > 0 ? channels : 1; c <= last; c++) {
    const int64_t side = side_of(n, c);

    if (side > 0) {
      lengths[0] = lengths[1] = lengths[2] = side;
      lengths[3] = c;
      return true;
    }
  }
  return false;
}

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
