/* weir_pool.h - a monoid over windows of 1 to 3 dimensions of [n, s1, .., sd, c], channels last.
 *
 *   out[n, o, c] combines in[n, stride o + t - pad_before, c] over the elements t of the window
 *
 * Elements outside the array are excluded; o = floor((s + pad_before + pad_after - kernel_size) /
 * stride) + 1, with `ceil` rounded up where that window begins before the end of the array.
 * Maximum: outputs are the value and the position of the first maximum in its window, row-major
 * (argmax), which the derivative uses. */
#ifndef WEIR_POOL_H
#define WEIR_POOL_H
#include "ops/weir_combine.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_POOL_DIMS 3

typedef struct weir_pool_spec {
  weir_monoid combine;
  int64_t kernel_size[WEIR_POOL_DIMS];
  int64_t stride[WEIR_POOL_DIMS]; /* 0: kernel_size, adjacent windows */
  int64_t pad_before[WEIR_POOL_DIMS], pad_after[WEIR_POOL_DIMS]; /* less than the kernel size */
  int accumulator;  /* 1 + dtype, 0: see weir_combine_accumulator */
  bool ceil;        /* an incomplete last window counts */
  bool exclude_pad; /* mean: over the elements inside the array only */
} weir_pool_spec;

extern const weir_op_desc weir_op_pool;

/* Returns output 0; output k is {v.node, k}. */
weir_value weir_pool_at(weir_graph *g, const weir_pool_spec *spec, weir_value x, const char *where);
#define weir_pool(g, spec, x) weir_pool_at(g, spec, x, WEIR_WHERE)
/* Add the maximum; the mean: the sum over the number of elements of the window, including padding
 * (which counts as 0), or, with `exclude_pad`, those inside the array; spec->combine is not read.
 */
weir_value weir_pool_max_at(weir_graph *g, const weir_pool_spec *spec, weir_value x,
                            const char *where);
weir_value weir_pool_mean_at(weir_graph *g, const weir_pool_spec *spec, weir_value x,
                             const char *where);
#define weir_pool_max(g, spec, x) weir_pool_max_at(g, spec, x, WEIR_WHERE)
#define weir_pool_mean(g, spec, x) weir_pool_mean_at(g, spec, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
