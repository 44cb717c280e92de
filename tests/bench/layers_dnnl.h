/* layers_dnnl.h - what oneDNN's own convolution primitives take, for the bar of train_step.c. */
#ifndef WEIR_BENCH_LAYERS_DNNL_H
#define WEIR_BENCH_LAYERS_DNNL_H
#include "layers.h"

/* Seconds of the best of `runs` of the forward, backward-data and backward-weights primitives of
 * one convolution, channels last, summed (weights in the layout that oneDNN chooses, as the plan
 * of a network could have them). What a primitive takes for itself is part of it; reorders are
 * not. Exits with 8 where oneDNN refuses. */
double layer_dnnl_seconds(const layer_conv *c, int runs);
/* The library's version. */
const char *layer_dnnl_version(void);

#endif
