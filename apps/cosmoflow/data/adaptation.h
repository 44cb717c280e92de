/* adaptation.h - samples of another simulation whose parameters are not known, or not used, to
 * which a network is adapted while it is trained. */
#ifndef CF_ADAPTATION_H
#define CF_ADAPTATION_H
#include <stdio.h>
#include "data/samples.h"

/* The section `adapt`. */
typedef struct cf_adapt_opts {
  weir_string_list samples; /* none: no adaptation */
  double weight;
  weir_real_list bandwidths;
} cf_adapt_opts;
extern const weir_opt cf_adapt_options[];

typedef struct cf_adaptation {
  cf_source_opts from;
  cf_source *source; /* NULL: no adaptation */
  cf_samples *samples;
  cf_split split;
} cf_adaptation;

/* Opens the samples of opts by a spec of which `source` is that of the training but for the paths.
 * Universes of the seed of the training are those of `of`, its split, by their numbers: only those
 * that are trained on are seen here. Others are split by the options of the training. Tells how
 * many are seen, unless of->quiet. Without samples nothing is opened. All borrowed. Fails:
 * WEIR_ERR_CONFIG (no bandwidth, no training sample, shifts of cubes that are cut from boxes),
 * WEIR_ERR_DATA where the samples are not like those of the training, as cf_source_open,
 * cf_samples_create, cf_split_create. */
weir_status cf_adaptation_open(const cf_adapt_opts *opts, const cf_data_opts *data,
                               const cf_source_spec *spec, cf_samples *like,
                               const cf_volume_info *info, const cf_split *of,
                               cf_adaptation *out) WEIR_CHECKED;
void cf_adaptation_close(cf_adaptation *t);
/* Writes what a training depends on: samples, weight and bandwidths; nothing without adaptation. */
void cf_adaptation_put(const cf_adapt_opts *opts, const cf_adaptation *t, FILE *out);
/* Reads voxels [hi - lo, channels] of the sample that stands beside training sample `sample` in an
 * epoch: one of the target's training samples, drawn and augmented by seed, epoch and number alone.
 * Fails: as cf_samples_read. */
weir_status cf_adaptation_read(cf_adaptation *t, const cf_data_opts *data, int64_t seed,
                               int64_t epoch, int64_t sample, const int64_t lo[3],
                               const int64_t hi[3], void *voxels) WEIR_CHECKED;
#endif
