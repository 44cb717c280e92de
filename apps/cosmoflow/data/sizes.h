/* sizes.h - mixed sizes: the cubes of a training step have a side that is drawn for it (Hoffer et
 * al., arXiv:1908.08986), cut out of the samples or averaged from them. */
#ifndef CF_SIZES_H
#define CF_SIZES_H
#include <stdio.h>
#include "data/samples.h"
#include "train/weir_train.h"

typedef enum cf_size_kind {
  CF_SIZE_CROP,   /* a part of the volume, the same cells     */
  CF_SIZE_AVERAGE /* the whole volume, means of several cells */
} cf_size_kind;

/* What a step with smaller cubes does with the work that it saves. */
typedef enum cf_size_scale {
  CF_SIZE_SCALE_CROPS, /* more cubes of each sample: D+ */
  CF_SIZE_SCALE_BATCH, /* more samples: B+              */
  CF_SIZE_SCALE_RATE   /* it is faster                  */
} cf_size_scale;

/* Returns whether sizes are mixed. */
static inline bool cf_sizes_mixed(const cf_sizes_opts *o)
{
  return o != NULL && o->sides.count > 0;
}
/* Checks the options for samples of that shape. segments: the network makes classes of voxels.
 * Fails: WEIR_ERR_CONFIG. */
weir_status cf_sizes_check(const cf_data_opts *o, const cf_volume_info *info,
                           bool segments) WEIR_CHECKED;
/* Returns whether the cubes are scaled by the mean of their sample as they are made: data.scale
 * mean and log_density, for which the mean of a sub-cube would be another. */
static inline bool cf_sizes_scaled(const cf_data_opts *o)
{
  return cf_sizes_mixed(&o->sizes) &&
         (o->scale == CF_SCALE_MEAN || o->scale == CF_SCALE_LOG_DENSITY);
}
/* Returns the dtype of the cubes, for samples of a dtype: f32 where they are computed. */
static inline weir_dtype cf_sizes_dtype(const cf_data_opts *o, weir_dtype samples)
{
  const bool averages = cf_sizes_mixed(&o->sizes) && o->sizes.kind == CF_SIZE_AVERAGE;

  return averages || cf_sizes_scaled(o) ? WEIR_F32 : samples;
}
/* Returns size i of `sides` for samples of `whole` voxels a side; its input is NULL. */
weir_train_size cf_sizes_of(const cf_sizes_opts *o, int64_t i, int64_t whole);

/* Writes what the options make of a training as lines; nothing where sizes are not mixed. */
void cf_sizes_write(const cf_sizes_opts *o, FILE *out);
/* Logs a line for each size of a task. */
void cf_sizes_tell(const weir_train_task *task);

/* The view of a sample in an epoch, of which cubes are made. */
typedef struct cf_cubes {
  int64_t seed, epoch, sample;
  int64_t whole, channels; /* voxels a side */
  weir_dtype dtype;        /* WEIR_I16, WEIR_F32 */
  void *voxels;            /* [whole, whole, whole, channels] */
  const double *mean;      /* of the sample; NULL: it is that of the voxels */
} cf_cubes;
/* Finds the corner of sub-cube number `repeat` of a size: where these fill the sample, one after
 * the other, else at random, by seed, epoch and sample. */
void cf_sizes_corner(const cf_cubes *s, const weir_train_size *size, int64_t repeat, int64_t lo[3]);
/* Makes the cubes of a sample, [repeats, side, side, side, channels] of cf_sizes_dtype: sub-cubes,
 * or means over cells, computed in double precision; where cf_sizes_scaled, by data.scale with the
 * mean of all voxels and channels of the sample. */
void cf_sizes_make(const cf_data_opts *o, const cf_cubes *s, const weir_train_size *size,
                   void *out);
/* Allocates the voxels of a sample, which the caller frees; NULL where sizes are not mixed. Fails:
 * WEIR_ERR_MEMORY. */
weir_status cf_sizes_alloc(const cf_data_opts *o, const cf_volume_info *info,
                           void **voxels) WEIR_CHECKED;
/* Reads the sample of `part`, a box of which hi[0] is the side, and makes `repeats` cubes of it:
 * those of sample i of a batch, x [n * repeats, side, .., channels] with the labels y [n * repeats,
 * labels]. cubes: seed, epoch and voxels are set. Fails: as cf_samples_read. */
weir_status cf_sizes_read(const cf_data_opts *o, cf_samples *samples, const cf_wanted *part,
                          const cf_cubes *cubes, int64_t i, int64_t repeats,
                          weir_tensor *const xy[2]) WEIR_CHECKED;
#endif
