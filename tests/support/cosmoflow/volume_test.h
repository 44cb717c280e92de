/* volume_test.h - random samples for the tests of files. */
#ifndef CF_VOLUME_TEST_H
#define CF_VOLUME_TEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "data/convert.h"
#include "data/volume/volume_format.h"
#include "io/weir_netcdf.h"
#include "io/weir_npy.h"
#include "io/weir_tfrecord.h"

/* As the options have it when nothing is given. */
static inline cf_volume_opts cf_test_opts(void)
{
  return (cf_volume_opts){.volume = "", .labels = "", .max_bytes = 1 << 28};
}

/* Voxels of sample k: counts of either sign for i16, any finite bits for f32. */
static inline void cf_test_voxels(const cf_volume_info *info, uint64_t k, void *out)
{
  for (int64_t i = 0; i < cf_volume_elements(info); i++) {
    const uint64_t bits = weir_random_bits(k, 9, 0, (uint64_t)i);

    if (info->dtype == WEIR_I16) {
      ((int16_t *)out)[i] = (int16_t)bits;
    } else {
      ((float *)out)[i] = (float)weir_random_normal(k, 9, 0, (uint64_t)i);
    }
  }
}

static inline void cf_test_labels(const cf_volume_info *info, uint64_t k, float *out)
{
  for (int64_t i = 0; i < info->n_labels; i++) {
    out[i] = (float)(2 * weir_random_uniform(k, 10, 0, (uint64_t)i) - 1);
  }
}

/* Samples first to first + n of a file; universe k of sample k. */
static inline void cf_test_write(const char *format, const char *stem, const cf_volume_info *info,
                                 int64_t first, int64_t n, int level)
{
  cf_volume_writer *w = NULL;
  float labels[CF_MAX_LABELS];
  void *voxels = malloc((size_t)cf_volume_elements(info) * 4);

  assert_ok(cf_volume_create(format, stem, info, n, level, &w));
  for (int64_t k = first; k < first + n; k++) {
    cf_test_voxels(info, (uint64_t)k, voxels);
    cf_test_labels(info, (uint64_t)k, labels);
    assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){labels, k, NULL, NULL}));
  }
  assert_ok(cf_volume_commit(&w));
  free(voxels);
}
#endif
