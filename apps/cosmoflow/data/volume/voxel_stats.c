/* voxel_stats.c - sums and a histogram of voxels. */
#include "data/volume/voxel_stats.h"
#include <math.h>
#include <stdio.h>

static int bin_of(double value)
{
  const double size = fabs(value);

  if (size < 1) {
    return 0;
  }
  const int exponent = ilogb(size) + 1;

  return exponent < CF_VOXEL_BINS ? exponent : CF_VOXEL_BINS - 1;
}

void cf_voxel_stats_add(cf_voxel_stats *c, weir_dtype dtype, const void *voxels, int64_t n)
{
  const int16_t *const counts = voxels;

  for (int64_t i = 0; i < n; i++) {
    const double value = weir_dtype_load_real(dtype, voxels, i);

    c->min = c->n == 0 || value < c->min ? value : c->min;
    c->max = c->n == 0 || value > c->max ? value : c->max;
    c->n++;
    c->negative += value < 0;
    c->whole += value == floor(value);
    c->sum += value;
    c->bin[bin_of(value)]++;
    if (dtype == WEIR_I16) {
      const uint16_t bits = (uint16_t)counts[i];

      c->swapped += fabs((double)(int16_t)(uint16_t)(bits << 8 | bits >> 8));
    }
  }
}

const char *cf_voxel_stats_remark(const cf_voxel_stats *c, weir_dtype dtype)
{
  if (dtype == WEIR_I16 && c->max > 255 && c->swapped * 16 < fabs(c->sum) + c->max) {
    return "the bytes look exchanged: written on a machine of the other byte order?";
  }
  if (c->negative > 0) {
    return dtype == WEIR_I16
               ? "counts below 0: if the file does not state its type, another type or byte order "
                 "(files.dtype)?"
               : "voxels below 0: neither counts nor a density, but perhaps a logarithm or an "
                 "overdensity (files.voxels=any)";
  }
  if (dtype == WEIR_F32 && c->whole == c->n) {
    return "whole numbers stored as floats: counts, which convert.dtype=i16 halves";
  }
  if (dtype == WEIR_F32 && c->max < 20 && c->whole < c->n / 2) {
    return "fractions: a density or a logarithm, no counts; the network takes log(1 + count) "
           "itself";
  }
  if (c->max == c->min) {
    return "all voxels are the same";
  }
  return "";
}

void cf_voxel_stats_bin(int bin, char *text, size_t size)
{
  if (bin < 2) {
    (void)snprintf(text, size, "%d", bin);
  } else if (bin == CF_VOXEL_BINS - 1) {
    (void)snprintf(text, size, "%d-", 1 << (bin - 1));
  } else {
    (void)snprintf(text, size, "%d-%d", 1 << (bin - 1), (1 << bin) - 1);
  }
}
