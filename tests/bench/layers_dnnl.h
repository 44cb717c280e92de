/* layers_dnnl.h - what oneDNN's own convolution primitives take, for the bar of train_step.c. */
#ifndef WEIR_BENCH_LAYERS_DNNL_H
#define WEIR_BENCH_LAYERS_DNNL_H
#include <stdbool.h>
#include <stdint.h>

enum { LAYER_DIMS = 3 };

/* A convolution of stride 1 with a bias, f32; unused dimensions: 1 element, 1 tap, no padding. */
typedef struct layer_conv {
  int64_t batch, in[LAYER_DIMS], out[LAYER_DIMS], ci, co, taps[LAYER_DIMS];
  int64_t lo[LAYER_DIMS], hi[LAYER_DIMS]; /* padding with 0 */
  bool first;                             /* its input is the sample: nothing is derived by it */
} layer_conv;

/* Seconds of the best of `runs` of the forward, backward-data and backward-weights primitives of
 * one convolution, channels last, summed (weights in the layout that oneDNN chooses, as the plan
 * of a network could have them). What a primitive takes for itself is part of it; reorders are
 * not. Exits with 8 where oneDNN refuses. */
double layer_dnnl_seconds(const layer_conv *c, int runs);

#endif
