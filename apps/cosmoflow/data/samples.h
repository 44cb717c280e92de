/* samples.h - samples as a network is given them: read ahead of a training that says in which order
 * they come (weir_load.h), else kept in memory as far as there is room; and, for training, seen
 * from other sides.
 *
 * A box of the universe has no direction: its 48 turns and mirror images are as good as itself, and
 * so is a periodic box that is moved, what leaves it coming in on the other side. Which of them a
 * training sample is in an epoch is a function of seed, epoch and its number. */
#ifndef CF_SAMPLES_H
#define CF_SAMPLES_H
#include "data/source.h"
#include "data/split.h"
#include "load/weir_load.h"

typedef enum cf_scale { CF_SCALE_LOG, CF_SCALE_MEAN, CF_SCALE_RAW } cf_scale;
#define CF_SCALE_CHOICES "log1p|mean|raw"
extern const char *const cf_scale_name[];

typedef enum cf_symmetry {
  CF_SYMMETRY_NONE,
  CF_SYMMETRY_MIRROR,
  CF_SYMMETRY_OCTAHEDRAL
} cf_symmetry;

typedef struct cf_data_opts {
  int scale; /* cf_scale */
  struct {
    int symmetry; /* cf_symmetry */
    bool shift;
  } augment;
  int64_t cache_bytes; /* bytes */
  cf_split_opts split;
} cf_data_opts;
extern const weir_opt cf_data_options[];
/* That so many samples of so many universes can be seen as `augment` says. Fails: WEIR_ERR_CONFIG.
 */
weir_status cf_data_check(const cf_data_opts *o, int64_t samples, int64_t universes) WEIR_CHECKED;

/* Another view of a cube: element [i] of it is element [j] of the sample, j[axis[d]] being i[d] +
 * shift[d], wrapped, counted from the end where flip[d]. */
typedef struct cf_view {
  int axis[3];
  bool flip[3];
  int64_t shift[3];
} cf_view;

/* That of a training sample. */
cf_view cf_view_of(const cf_data_opts *o, const int64_t lengths[4], int64_t seed, int64_t epoch,
                   int64_t sample);
/* Number g of the 48 symmetries; 0: none. */
cf_view cf_view_symmetry(int g);
/* out: elements [lo, hi) along each axis of the sample [lengths], seen so, of voxels of `bytes`
 * bytes each; a voxel is all its channels. */
void cf_view_take(const cf_view *v, const int64_t lengths[4], const int64_t lo[3],
                  const int64_t hi[3], size_t bytes, const void *in, void *out);

typedef struct cf_samples cf_samples;

/* What a sample is read with: f32 [labels]; u8 [depth, height, width]; nothing. */
typedef enum cf_truth { CF_TRUTH_LABELS, CF_TRUTH_CLASSES, CF_TRUTH_NONE } cf_truth;
/* Both are borrowed. Fails: WEIR_ERR_CONFIG (turns of what is no cube), WEIR_ERR_DATA (no labels,
 * or no classes), WEIR_ERR_MEMORY. */
weir_status cf_samples_create(const cf_data_opts *opts, cf_source *source, cf_truth truth,
                              cf_samples **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_samples_destroy(cf_samples **s);
/* What a sample is read as: WEIR_I16 for integers, else WEIR_F32. */
weir_dtype cf_samples_dtype(const cf_samples *s);
/* Where a sample stands in the order of a training. */
typedef struct cf_visit {
  int64_t epoch, position; /* at which its batch begins */
  int64_t i, number;       /* which one of the batch's; of the training's samples */
} cf_visit;
/* What is read of a sample: a box of it, as it is or seen otherwise. */
typedef struct cf_wanted {
  int64_t sample;
  const cf_visit *visit; /* NULL: nowhere, or nothing is foreseen */
  const cf_view *view;   /* NULL: as it is */
  int64_t lo[3], hi[3];  /* along depth, height, width of what is seen */
} cf_wanted;
/* Voxels [hi - lo, channels] and the truth: float [labels], or uint8_t [hi - lo]. Samples that stay
 * in memory are whole, unless all that is ever asked for are the same planes of samples as they
 * are: call cf_samples_planes before. Fails: as cf_source_read; WEIR_ERR_DATA for voxels that
 * `scale` has no number for. */
weir_status cf_samples_read(cf_samples *s, const cf_wanted *want, void *voxels,
                            void *truth) WEIR_CHECKED;
/* Only planes [d0, d1) of the depth are read from now on, and no views are taken. Nothing may have
 * been read. data.scale mean needs whole samples. */
void cf_samples_planes(cf_samples *s, int64_t d0, int64_t d1);
/* The training whose samples are read ahead from now on: number k of its order is sample of[k]. All
 * borrowed. Once. */
typedef struct cf_prefetch {
  const weir_load_cfg *load;
  weir_access_stream visits;
  int64_t end;                  /* of the visits */
  int64_t readers;              /* ranks that read the same files */
  const weir_load_peers *peers; /* NULL: none */
  const int64_t *of;
} cf_prefetch;
/* Fails: as weir_load_open. */
weir_status cf_samples_prefetch(cf_samples *s, const cf_prefetch *f) WEIR_CHECKED;
/* As weir_load_batch, before the samples of a batch are read; nothing where nothing is foreseen. */
weir_status cf_samples_batch(cf_samples *s, int64_t epoch, int64_t position) WEIR_CHECKED;
#endif
