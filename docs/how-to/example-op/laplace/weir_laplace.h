/* weir_laplace.h - second difference along one dimension: out[i] = in[i - 1] - 2 in[i] + in[i + 1].
 * The border rule defines values beyond the ends. Floats. */
#ifndef WEIR_LAPLACE_H
#define WEIR_LAPLACE_H
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_laplace_spec {
  int dim;
  weir_border border; /* 0: replicate; zero, value, wrap, reflect */
  double fill;        /* value read beyond the ends with border `value` */
} weir_laplace_spec;

extern const weir_op_desc weir_op_laplace;

/* Shape, dtype and time of x. On failure the value is invalid and the graph keeps the error. */
weir_value weir_laplace_at(weir_graph *g, weir_value x, const weir_laplace_spec *spec,
                           const char *where);
#define weir_laplace(g, x, spec) weir_laplace_at(g, x, spec, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
