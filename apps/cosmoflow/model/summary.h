/* summary.h - cost of a network, layer by layer, from its graph alone: nothing is computed, so that
 * any size can be described. */
#ifndef CF_SUMMARY_H
#define CF_SUMMARY_H
#include "model/network.h"

enum { CF_LAYERS = 64, CF_LAYER_NAME = 48 };

/* Shape of a sample and number of outputs. */
typedef struct cf_shape {
  int64_t side, channels;
  bool map;        /* of 1 x side x side voxels, else side^3 */
  int64_t outputs; /* parameters, or classes of a voxel */
} cf_shape;

/* A labelled layer with the operations up to the next one. */
typedef struct cf_layer {
  char name[CF_LAYER_NAME];
  int rank;
  int64_t shape[WEIR_MAX_RANK]; /* of its output for one sample, with the 1 of the batch */
  int64_t params;
  double flops;    /* of its products (convolution, dense layer), a multiply-add being 2 */
  bool first;      /* reads the samples, which have no gradient */
  int64_t outputs; /* arrays stored by a program that runs function by function: of convolution
                      (with bias), normalisation, activation, pooling, concatenation */
  int64_t bytes;   /* of those arrays */
} cf_layer;

typedef struct cf_summary {
  cf_shape shape;
  cf_layer layer[CF_LAYERS];
  int n;
  int64_t params;
  double forward;  /* flops of products, borders counted in full */
  double training; /* with the gradients w.r.t. data and weights, all of them dense */
  int64_t bytes;   /* activations of one sample, including it; their gradients need as much again */
} cf_summary;

/* Summarises a network. Fails: WEIR_ERR_SHAPE (samples that the network does not support; more
 * layers than CF_LAYERS), WEIR_ERR_MEMORY. */
weir_status cf_summary_make(const cf_model_opts *o, const cf_shape *shape,
                            cf_summary *out) WEIR_CHECKED;
/* Prints a line a layer and the totals, each preceded by `#`. */
void cf_summary_print(const cf_summary *s, FILE *out);

#endif
