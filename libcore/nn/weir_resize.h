/* weir_resize.h - upsampling and downsampling: interpolation, and transposed convolution. */
#ifndef WEIR_RESIZE_H
#define WEIR_RESIZE_H
#include "nn/weir_layer.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_nn_resize_method { WEIR_NN_NEAREST, WEIR_NN_LINEAR } weir_nn_resize_method;
#define WEIR_NN_RESIZE_CHOICES "nearest|linear"

/* Cells are aligned by their centres (half-pixel): ops/resample/weir_resize_op.h, for layers. */
typedef struct weir_nn_resize_spec {
  weir_nn_resize_method method;
  int64_t factor[WEIR_CONV_DIMS];     /* scale factor; 0: 1 */
  int64_t size[WEIR_CONV_DIMS];       /* output size, overrides factor; 0: factor */
  weir_border border[WEIR_CONV_DIMS]; /* linear: edges replicated, or wrap */
} weir_nn_resize_spec;

/* x: [n, 1 to 3 dimensions, channels]. No parameters. */
weir_value weir_nn_resize_at(weir_graph *g, const weir_nn_resize_spec *spec, weir_value x,
                             const char *where);
#define weir_nn_resize(g, spec, x) weir_nn_resize_at(g, spec, x, WEIR_WHERE)

/* y = activation(conv(resize(x), weight) + bias): weir_nn_conv of weir_nn_resize, with the same
 * parameters. Where x is enlarged, products with weights are made at the positions of x and
 * interpolated afterwards if that saves work: the same sums in another order, so that results
 * differ by rounding, and a NaN or an infinity in x reaches the neighbours of the elements that it
 * would. */
weir_value weir_nn_resize_conv_at(weir_net *net, const char *name,
                                  const weir_nn_resize_spec *resize, const weir_nn_conv_spec *spec,
                                  weir_value x, const char *where);
#define weir_nn_resize_conv(net, name, resize, spec, x) \
  weir_nn_resize_conv_at(net, name, resize, spec, x, WEIR_WHERE)

/* y[n, stride i + dilation t - pad_before, c] += x[n, i, ..] weight[t, .., c]: the adjoint of a
 * convolution of this stride, as a layer. Positions of y: stride s (same), stride (s - 1) +
 * dilation (kernel size - 1) + 1 (valid), that less pad_before + pad_after (given). conv.border: 0,
 * zero, or wrap (same only). Parameters: weight [kernel size.., channels / groups, filters], bias
 * [filters]. */
weir_value weir_nn_conv_transposed_at(weir_net *net, const char *name,
                                      const weir_nn_conv_spec *spec, weir_value x,
                                      const char *where);
#define weir_nn_conv_transposed(net, name, spec, x) \
  weir_nn_conv_transposed_at(net, name, spec, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
