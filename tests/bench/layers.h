/* layers.h - the convolutions of a network: what primitives of a library are measured on. */
#ifndef WEIR_BENCH_LAYERS_H
#define WEIR_BENCH_LAYERS_H
#include "graph/weir_graph.h"

enum { LAYER_DIMS = 3 };

/* A convolution of stride 1 with a bias, f32; unused dimensions: 1 element, 1 tap, no padding. */
typedef struct layer_conv {
  int64_t batch, in[LAYER_DIMS], out[LAYER_DIMS], ci, co, kernel_size[LAYER_DIMS];
  int64_t lo[LAYER_DIMS], hi[LAYER_DIMS]; /* padding with 0 */
  bool first;                             /* its input is the sample: nothing is derived by it */
} layer_conv;

/* Those among the first `nodes` nodes, up to `most`; returns how many. */
int layers_of(const weir_graph *g, int32_t nodes, layer_conv *layer, int most);

#endif
