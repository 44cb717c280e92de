/* samples.h - samples as input of a network: prefetched in the order of a training (weir_load.h),
 * otherwise cached up to a number of bytes; augmented for training.
 *
 * A box of the universe has no direction: its 48 rotations and reflections are as probable as
 * itself, and so are periodic shifts; in redshift space 16 of them, those that keep the line of
 * sight. A map, of one plane, has the 8 of a square. The symmetry and shift of a training sample in
 * an epoch are functions of seed, epoch and its number. */
#ifndef CF_SAMPLES_H
#define CF_SAMPLES_H
#include "data/source.h"
#include "data/split.h"
#include "load/weir_load.h"

typedef enum cf_scale {
  CF_SCALE_LOG,
  CF_SCALE_MEAN,
  CF_SCALE_RAW,
  CF_SCALE_LOG_DENSITY,
  CF_SCALES
} cf_scale;
#define CF_SCALE_CHOICES "log1p|mean|raw|log_density"
extern const char *const cf_scale_name[];

typedef enum cf_symmetry {
  CF_SYMMETRY_NONE,
  CF_SYMMETRY_MIRROR,
  CF_SYMMETRY_OCTAHEDRAL
} cf_symmetry;
#define CF_SYMMETRY_CHOICES "none|mirror|octahedral"

/* Mixed sizes: data/sizes.h. */
typedef struct cf_sizes_opts {
  weir_int_list sides;
  weir_real_list shares;
  int kind, scale; /* cf_size_kind, cf_size_scale */
  double rate_power;
  int64_t calibrate;
} cf_sizes_opts;
extern const weir_opt cf_sizes_options[];

typedef struct cf_data_opts {
  int scale; /* cf_scale */
  struct {
    int symmetry; /* cf_symmetry */
    bool shift;
  } augment;
  cf_sizes_opts sizes;
  int64_t cache_bytes; /* bytes */
  cf_split_opts split;
} cf_data_opts;
extern const weir_opt cf_data_options[];
/* Checks that the option `key` can move that many samples of that many universes (0: not known):
 * they are known to be as wide as their box, or the only ones of their universes. Fails:
 * WEIR_ERR_CONFIG. */
weir_status cf_shift_check(const char *key, const cf_volume_info *info, int64_t samples,
                           int64_t universes) WEIR_CHECKED;
/* Checks that `augment` suits that many samples of that many universes: as cf_shift_check. */
weir_status cf_data_check(const cf_data_opts *o, const cf_volume_info *info, int64_t samples,
                          int64_t universes) WEIR_CHECKED;

/* Another view of a cube: element [i] of it is element [j] of the sample, j[axis[d]] being i[d] +
 * shift[d], wrapped, counted from the end where flip[d]. */
typedef struct cf_view {
  int axis[3];
  bool flip[3];
  int64_t shift[3];
} cf_view;

/* Returns the view of a training sample; it keeps info->line_of_sight. */
cf_view cf_view_of(const cf_data_opts *o, const cf_volume_info *info, int64_t seed, int64_t epoch,
                   int64_t sample);
/* Returns symmetry g of the 48; 0: the identity. */
cf_view cf_view_symmetry(int g);
/* Returns how many symmetries of a kind (cf_symmetry) samples have that keep info->line_of_sight,
 * and number k of them; 0: the identity. */
int cf_symmetries(int symmetry, const cf_volume_info *info);
cf_view cf_symmetry_view(const cf_volume_info *info, int k);
/* Moves a view by whole voxels along each axis, uniform draws from the box: always the same of a
 * seed, an epoch and a number. */
void cf_view_move(cf_view *v, const cf_volume_info *info, int64_t seed, int64_t epoch,
                  int64_t number);
/* Copies elements [lo, hi) along each axis of the view of a sample [lengths] to out; `bytes` of a
 * voxel, with all its channels. */
void cf_view_take(const cf_view *v, const int64_t lengths[4], const int64_t lo[3],
                  const int64_t hi[3], size_t bytes, const void *in, void *out);

typedef struct cf_samples cf_samples;

/* Truth of a sample: f32 [labels]; u8 [depth, height, width]; none. */
typedef enum cf_truth { CF_TRUTH_LABELS, CF_TRUTH_CLASSES, CF_TRUTH_NONE } cf_truth;
/* Creates samples of a source; both arguments are borrowed. Fails: WEIR_ERR_CONFIG (octahedral
 * symmetries of samples that are neither cubes nor square maps), WEIR_ERR_DATA (no labels, or no
 * classes), WEIR_ERR_MEMORY. */
weir_status cf_samples_create(const cf_data_opts *opts, cf_source *source, cf_truth truth,
                              cf_samples **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_samples_destroy(cf_samples **s);
/* Returns the dtype of voxels: WEIR_I16 for integers, otherwise WEIR_F32. */
weir_dtype cf_samples_dtype(const cf_samples *s);
/* Returns what the source says of its samples; borrowed. */
const cf_volume_info *cf_samples_info(const cf_samples *s);
/* Position of a sample in the order of a training. */
typedef struct cf_visit {
  int64_t epoch, position; /* at which its batch begins */
  int64_t i, number;       /* index in the batch; number of the training sample */
} cf_visit;
/* Part of a sample to read: a box of it, or of a view of it. */
typedef struct cf_wanted {
  int64_t sample;
  const cf_visit *visit; /* NULL: not in the order, or no prefetch */
  const cf_view *view;   /* NULL: as it is */
  int64_t lo[3], hi[3];  /* along depth, height, width of the view */
  const void **whole;    /* NULL, or set to all voxels as they are, borrowed until the next read */
} cf_wanted;
/* Reads voxels [hi - lo, channels] and the truth: float [labels], or uint8_t [hi - lo]. Cached
 * samples are whole, unless all reads are of the same planes without views: call cf_samples_planes
 * before. Fails: as cf_source_read; WEIR_ERR_DATA for voxels outside the domain of `scale`. */
weir_status cf_samples_read(cf_samples *s, const cf_wanted *want, void *voxels,
                            void *truth) WEIR_CHECKED;
/* Restricts all reads from now on to planes [d0, d1) of the depth, without views. Nothing may have
 * been read. data.scale mean needs whole samples. */
void cf_samples_planes(cf_samples *s, int64_t d0, int64_t d1);
/* Prefetch of a training: number k of its order is sample of[k]. All borrowed. */
typedef struct cf_prefetch {
  const weir_load_cfg *load;
  weir_access_stream visits;
  int64_t end;                  /* of the visits */
  int64_t readers;              /* ranks that read the same files */
  const weir_load_peers *peers; /* NULL: none */
  const int64_t *of;
} cf_prefetch;
/* Starts to prefetch, once. Fails: as weir_load_open. */
weir_status cf_samples_prefetch(cf_samples *s, const cf_prefetch *f) WEIR_CHECKED;
/* Announces a batch as weir_load_batch, before its samples are read; no effect without prefetch. */
weir_status cf_samples_batch(cf_samples *s, int64_t epoch, int64_t position) WEIR_CHECKED;
#endif
