/* voxels.c - see voxels.h. */
#include "data/volume/voxels.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Statistics of the voxels of a sample. */
typedef struct finding {
  int64_t at; /* of the first that cannot be; -1: none */
  const char *why;
  double sum, max, swapped; /* swapped: of the magnitudes with their two bytes exchanged */
} finding;

/* Particles in a cell, or mean densities; beyond it bytes were read in the wrong order. */
static const double largest = 1e12, smallest = 1e-30;

static const char *doubt(double x, bool counts, bool density)
{
  if ((counts || density) && x < 0) {
    return "which is below 0: another byte order or type (files.dtype), or neither counts nor a "
           "density";
  }
  if (counts && x != floor(x)) {
    return "which is no whole number, as counts of particles are: a density "
           "(files.voxels=density), a logarithm or another field";
  }
  if (fabs(x) > (counts || density ? largest : 1 / smallest) || (x != 0 && fabs(x) < smallest)) {
    return "a magnitude that matter does not have: another byte order or type?";
  }
  return NULL;
}

static int exchanged(int16_t x)
{
  return abs((int16_t)(uint16_t)((uint16_t)x << 8 | (uint16_t)x >> 8));
}

/* Whole numbers can be wrong by their sign or their byte order alone. */
static void look_i16(const cf_voxels *v, bool either_sign, finding *f)
{
  enum { BLOCK = 4096 /* sums of it fit an int */ };
  const int16_t *const x = v->data;

  for (int64_t first = 0; first < v->n; first += BLOCK) {
    const int n = (int)(v->n - first < BLOCK ? v->n - first : BLOCK);
    int sum = 0, swapped = 0, max = 0, min = 0;

    for (int i = 0; i < n; i++) {
      const int value = x[first + i], size = abs(value);

      sum += size;
      swapped += exchanged(x[first + i]);
      max = size > max ? size : max;
      min = value < min ? value : min;
    }
    for (int i = 0; i < n && f->at < 0 && min < 0 && !either_sign; i++) {
      f->at = x[first + i] < 0 ? first + i : -1;
      f->why = doubt(-1, true, false);
    }
    f->sum += sum;
    f->swapped += swapped;
    f->max = max > f->max ? max : f->max;
  }
}

static void look_f32(const cf_voxels *v, bool counts, bool density, bool whole, finding *f)
{
  const float *const x = v->data;

  for (int64_t i = 0; i < v->n; i++) {
    const double value = (double)x[i], size = fabs(value);
    const char *const why = doubt(value, counts, density);

    if (why != NULL && f->at < 0) {
      f->at = i;
      f->why = why;
    }
    f->sum += size;
    f->max = size > f->max ? size : f->max;
    f->swapped += whole && size <= INT16_MAX ? exchanged((int16_t)x[i]) : 0;
  }
}

static void look(const cf_volume_info *info, const cf_voxels *v, finding *f)
{
  const bool automatic = info->quantity == CF_QUANTITY_AUTO;
  const bool counts = info->quantity == CF_QUANTITY_COUNTS || (automatic && !v->raw);
  const bool density = info->quantity == CF_QUANTITY_DENSITY;

  if (v->dtype == WEIR_I16) {
    look_i16(v, !counts && !density, f);
  } else {
    look_f32(v, counts, density, weir_dtype_is_whole(info->dtype), f);
  }
}

weir_status cf_voxels_check(const cf_volume_info *info, const char *where, const cf_voxels *v)
{
  finding f = {.at = -1};

  if (info->quantity == CF_QUANTITY_ANY) {
    return WEIR_OK;
  }
  look(info, v, &f);
  /* Small numbers, 256 times too large. */
  if (weir_dtype_is_whole(info->dtype) && f.max > 255 && f.max <= INT16_MAX + 1 &&
      f.swapped * 16 < f.sum + f.max) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the two bytes of its voxels look exchanged (mean magnitude %.4g, "
                     "exchanged %.4g): written in the other byte order? files.voxels=any takes "
                     "them as they are",
                     where, f.sum / (double)v->n, f.swapped / (double)v->n);
  }
  if (f.at >= 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: voxel %lld is %g, %s; files.voxels=any takes it as it is",
                     where, (long long)(f.at + v->first),
                     v->dtype == WEIR_I16 ? (double)((const int16_t *)v->data)[f.at]
                                          : (double)((const float *)v->data)[f.at],
                     f.why);
  }
  return !v->whole || v->raw || f.max > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: all its voxels are 0, a universe without matter; files.voxels=any "
                         "takes them as they are",
                         where);
}
