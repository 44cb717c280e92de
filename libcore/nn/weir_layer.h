/* weir_layer.h - layers: compositions of operators with parameters, channels last.
 *
 * Every layer opens the scope `name` for its parameters, and
 * labels its values with the scoped name. In a spec, 0 means default. */
#ifndef WEIR_LAYER_H
#define WEIR_LAYER_H
#include "nn/weir_activation.h"
#include "nn/weir_net.h"
#include "ops/conv/weir_conv.h"
#ifdef __cplusplus
extern "C" {
#endif

/* y[.., o] = activation(sum_i x[.., i] weight[i, o] + bias[o]). */
typedef struct weir_nn_dense_spec {
  int64_t units;          /* channels out */
  bool no_bias, no_decay; /* no_decay: no weight decay of the weight */
  weir_activation activation;
  weir_init weight, bias; /* default: glorot_uniform, zeros */
} weir_nn_dense_spec;

/* x: [.., channels], rank 1 or more; y: [.., units]. Parameters: weight, bias. */
weir_value weir_nn_dense_at(weir_net *net, const char *name, const weir_nn_dense_spec *spec,
                            weir_value x, const char *where);
#define weir_nn_dense(net, name, spec, x) weir_nn_dense_at(net, name, spec, x, WEIR_WHERE)

/* Padding around x. */
typedef enum weir_nn_padding {
  WEIR_NN_SAME,  /* so that o = ceil(s / stride); the odd element after */
  WEIR_NN_VALID, /* nothing                                              */
  WEIR_NN_GIVEN, /* conv.lo, conv.hi                                     */
} weir_nn_padding;
#define WEIR_NN_PADDING_CHOICES "same|valid|given"

/* y = activation(conv(x, weight) + bias). */
typedef struct weir_nn_conv_spec {
  int64_t filters;                     /* channels out                                          */
  int64_t kernel_size[WEIR_CONV_DIMS]; /* one per dimension of x; 0: 1                          */
  weir_nn_padding padding;
  weir_conv_spec conv;    /* stride, dilation, groups, border of what padding adds */
  bool no_bias, no_decay; /* no_decay: no weight decay of the weight */
  weir_activation activation;
  weir_init weight, bias; /* default: glorot_uniform, zeros */
} weir_nn_conv_spec;

/* x: [n, 1 to 3 dimensions, channels]; y: [n, .., filters]. Parameters: weight [kernel size..,
 * channels / groups, filters], bias [filters]. */
weir_value weir_nn_conv_at(weir_net *net, const char *name, const weir_nn_conv_spec *spec,
                           weir_value x, const char *where);
#define weir_nn_conv(net, name, spec, x) weir_nn_conv_at(net, name, spec, x, WEIR_WHERE)

/* Locally connected layer: a convolution with separate weights and bias at every position of y:
 * parameters weight [positions of y.., kernel size.., channels / groups, filters], bias [positions
 * of y.., filters]. */
weir_value weir_nn_local_at(weir_net *net, const char *name, const weir_nn_conv_spec *spec,
                            weir_value x, const char *where);
#define weir_nn_local(net, name, spec, x) weir_nn_local_at(net, name, spec, x, WEIR_WHERE)

/* Dropout: in training, a fraction `rate` of the elements of x becomes 0 and the others are divided
 * by 1 - rate (Srivastava et al., JMLR 2014); else x. The choice is a function of the net's seed
 * and step, the scoped name, the element's number, and the number of earlier layers of the graph
 * that draw. */
typedef struct weir_nn_dropout_spec {
  double rate;   /* [0, 1)                                                          */
  bool channels; /* whole channels of a sample: Tompson et al., CVPR 2015            */
} weir_nn_dropout_spec;
weir_value weir_nn_dropout_at(weir_net *net, const char *name, const weir_nn_dropout_spec *spec,
                              weir_value x, const char *where);
#define weir_nn_dropout(net, name, spec, x) weir_nn_dropout_at(net, name, spec, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
