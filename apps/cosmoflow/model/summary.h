/* summary.h - what a network costs, layer by layer, from its graph alone: nothing is computed, so
 * that any size may be asked for. */
#ifndef CF_SUMMARY_H
#define CF_SUMMARY_H
#include "model/network.h"

enum { CF_LAYERS = 64, CF_LAYER_NAME = 48 };

/* A sample. */
typedef struct cf_shape {
  int64_t side, channels;
  int64_t outputs; /* parameters, or classes of a voxel */
} cf_shape;

/* A labelled layer with what follows it up to the next one. */
typedef struct cf_layer {
  char name[CF_LAYER_NAME];
  int rank;
  int64_t shape[WEIR_MAX_RANK]; /* of what it makes of one sample, with the 1 of the batch */
  int64_t params;
  double flops;    /* of its products (convolution, dense layer), a multiply-add being 2 */
  bool first;      /* reads the samples, which have no gradient */
  int64_t outputs; /* arrays that a program which goes function by function keeps: of convolution
                      (with bias), normalisation, activation, pooling, joining */
  int64_t bytes;   /* of those arrays */
} cf_layer;

typedef struct cf_summary {
  cf_shape shape;
  cf_layer layer[CF_LAYERS];
  int n;
  int64_t params;
  double forward;  /* flops of products, border taps counted in full     */
  double training; /* with the gradients by data and weights, all of them dense */
  int64_t bytes;   /* kept of one sample, itself with it; their gradients are as much again */
} cf_summary;

/* Fails: WEIR_ERR_SHAPE (samples that the network does not take; more layers than CF_LAYERS),
 * WEIR_ERR_MEMORY. */
weir_status cf_summary_make(const cf_model_opts *o, const cf_shape *shape,
                            cf_summary *out) WEIR_CHECKED;
/* A line a layer and the sums, each begun by `#`. */
void cf_summary_print(const cf_summary *s, FILE *out);

#endif
