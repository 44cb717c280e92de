/* spheres.h - volumes with a class of every voxel, made for tests: a body, a lesion in it, noise.
 */
#ifndef SPHERES_H
#define SPHERES_H
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "data/volume/volume.h"

enum { SPHERES_CLASSES = 3 };

/* Returns the class of voxel (d, h, w) of volume k: 2 in a ball off the centre of the ball of class
 * 1. */
static inline uint8_t spheres_class(uint64_t k, int64_t side, const int64_t at[3])
{
  double body = 0, lesion = 0;

  for (uint64_t d = 0; d < 3; d++) {
    const double middle = (double)side * (0.4 + 0.2 * weir_random_uniform(k, 21, 0, d));
    const double inner = middle + (double)side * (0.2 * weir_random_uniform(k, 22, 0, d) - 0.1);

    body += ((double)at[d] - middle) * ((double)at[d] - middle);
    lesion += ((double)at[d] - inner) * ((double)at[d] - inner);
  }
  const double outer = (double)side * (0.28 + 0.1 * weir_random_uniform(k, 23, 0, 0));

  return body > outer * outer ? 0 : lesion > 0.2 * outer * outer ? 1 : 2;
}

/* Volumes first to first + n - 1 of side^3 voxels, f32: twice the class and normal noise. The path
 * goes without its suffix. classes: with them, as segmentation. bad: a class of the last volume, at
 * its last voxel, where it is not below 0. */
static inline void spheres_write(const char *stem, int64_t side, int64_t first, int64_t n,
                                 bool classes, int bad)
{
  const cf_volume_info info = {.lengths = {side, side, side, 1},
                               .dtype = WEIR_F32,
                               .n_classes = classes ? SPHERES_CLASSES : 0};
  const int64_t cells = side * side * side;
  float *const voxels = malloc((size_t)cells * sizeof *voxels);
  uint8_t *const class = malloc((size_t)cells);
  cf_volume_writer *w = NULL;

  assert_non_null(voxels);
  assert_non_null(class);
  assert_ok(cf_volume_create("netcdf", stem, &info, n, 1, &w));
  for (int64_t k = first; k < first + n; k++) {
    for (int64_t i = 0; i < cells; i++) {
      const int64_t at[3] = {i / side / side, i / side % side, i % side};

      class[i] = spheres_class((uint64_t)k, side, at);
      voxels[i] =
          2.0f * (float)class[i] + (float)weir_random_normal((uint64_t)k, 24, 0, (uint64_t)i);
    }
    if (bad >= 0 && k + 1 == first + n) {
      class[cells - 1] = (uint8_t)bad;
    }
    assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){NULL, k, class, NULL}));
  }
  assert_ok(cf_volume_commit(&w));
  free(voxels);
  free(class);
}
#endif
