/* features.h - summary statistics of a sample: the power spectrum of its counts, and moments of
 * log(1 + counts), of each channel.
 *
 * Of n counts in cells: log10 of the mean |c(w)|^2 over the waves of a bin (power.h; counts are not
 * divided by their mean, which samples of one set share, unless `scale` says so), then the mean of
 * u = log(1 + n), its standard deviation and the standardised moments of third and higher order.
 * After these, where they are wanted, the summaries of summaries.h. */
#ifndef CF_FEATURES_H
#define CF_FEATURES_H
#include "comm/weir_comm.h"
#include "data/source.h"
#include "eval/summary/summaries.h"

typedef enum cf_feature_scale { CF_FEATURES_OF_COUNTS, CF_FEATURES_OF_DENSITY } cf_feature_scale;

typedef struct cf_feature_opts {
  int scale;       /* cf_feature_scale */
  double reach;    /* waves up to so many times Nyquist's along an axis */
  int64_t bins;    /* at most so many of each channel: neighbours are averaged; 0: all */
  int64_t moments; /* up to this order; 0: none */
  unsigned which;  /* no option: further summaries, bits 1 << cf_summary_kind */
  const cf_summary_opts *summaries; /* no option: how these are made; NULL without them */
} cf_feature_opts;
extern const weir_opt cf_feature_options[];

enum { CF_MAX_MOMENTS = 8 };

/* Kinds of features, in their order in a row. */
typedef enum cf_feature_kind {
  CF_FEATURE_POWER,
  CF_FEATURE_MOMENTS,
  CF_FEATURE_SUMMARIES, /* that of cf_summary_kind k is CF_FEATURE_SUMMARIES + k */
  CF_FEATURE_KINDS = CF_FEATURE_SUMMARIES + CF_SUMMARIES
} cf_feature_kind;

/* Features of samples: [n, n_features]. Kind k has the columns begin[k] to begin[k + 1], by
 * channel.
 */
typedef struct cf_features {
  int64_t begin[CF_FEATURE_KINDS + 1];
  int64_t n_power, n_features; /* columns of the power spectrum; all */
  bool periodic;               /* further summaries: samples are whole boxes */
  double *x;
} cf_features;

/* Called before a sample is read; an error ends the computation. */
typedef weir_status (*cf_feature_visit)(void *context, int64_t i);
/* Samples whose features are computed. */
typedef struct cf_feature_samples {
  cf_source *source;
  const int64_t *sample; /* [n] */
  int64_t n;
  cf_feature_visit visit; /* called with context and i before sample[i] is read; NULL: none */
  void *context;
  weir_comm *comm; /* ranks that share the samples; NULL: one */
} cf_feature_samples;
/* Computes the features of samples, in their order; of several ranks those of rank 0 are complete.
 * Bitwise identical for any number of threads and ranks. Collective. Fails: as cf_source_read;
 * WEIR_ERR_DATA for samples that are neither cubes nor square maps, for voxels of -1 or less where
 * there are moments, and for samples without the summaries that are wanted, as cf_summaries_init,
 * WEIR_ERR_UNSUPPORTED without FFTW, WEIR_ERR_STOPPED, WEIR_ERR_MEMORY. */
weir_status cf_features_make(const cf_feature_opts *opts, const cf_feature_samples *of,
                             cf_features *out) WEIR_CHECKED;
void cf_features_fini(cf_features *f);
#endif
