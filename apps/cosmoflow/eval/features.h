/* features.h - summary statistics of a sample: the power spectrum of its counts, and moments of
 * log(1 + counts), of each channel.
 *
 * Of n counts in cells: log10 of the mean |c(w)|^2 over the waves of a bin (power.h; counts are not
 * divided by their mean, which samples of one set share), then the mean of u = log(1 + n), its
 * standard deviation and the standardised moments of third and higher order. */
#ifndef CF_FEATURES_H
#define CF_FEATURES_H
#include "data/source.h"

typedef struct cf_feature_opts {
  double reach;    /* waves up to so many times Nyquist's along an axis */
  int64_t bins;    /* at most so many of each channel: neighbours are averaged; 0: all */
  int64_t moments; /* up to this order; 0: none */
} cf_feature_opts;
extern const weir_opt cf_feature_options[];

enum { CF_MAX_MOMENTS = 8 };

/* Features of samples: [n, n_features], those of the power spectrum before all moments. */
typedef struct cf_features {
  int64_t n_power, n_features;
  double *x;
} cf_features;

/* Called before a sample is read; an error ends the computation. */
typedef weir_status (*cf_feature_visit)(void *context, int64_t i);
/* Computes the features of sample[n], in that order; calls visit(context, i) before sample[i] is
 * read, unless NULL. Bitwise identical for any number of threads. Fails: as cf_source_read;
 * WEIR_ERR_DATA for samples that are no cubes and for voxels of -1 or less where there are moments,
 * WEIR_ERR_UNSUPPORTED without FFTW, WEIR_ERR_STOPPED, WEIR_ERR_MEMORY. */
weir_status cf_features_make(const cf_feature_opts *opts, cf_source *s, const int64_t *sample,
                             int64_t n, cf_feature_visit visit, void *context,
                             cf_features *out) WEIR_CHECKED;
void cf_features_fini(cf_features *f);
#endif
