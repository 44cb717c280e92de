/* weir_block.h - blocks of layers: residual block, attention, encoder layer. */
#ifndef WEIR_BLOCK_H
#define WEIR_BLOCK_H
#include "nn/weir_layer.h"
#include "nn/weir_norm.h"
#ifdef __cplusplus
extern "C" {
#endif

/* y = activation(shortcut(x) + norm2(conv2(activation(norm1(conv1(x)))))): He et al., CVPR 2016;
 * or, pre-activated, y = shortcut(x) + conv2(activation(norm2(conv1(activation(norm1(x)))))): He et
 * al., ECCV 2016. The shortcut is x, or a convolution of one tap without bias where the shape
 * changes. */
typedef struct weir_nn_residual_spec {
  weir_nn_conv_spec conv; /* of both; the stride is that of conv1, the activation as above */
  weir_nn_norm_spec norm; /* of both; its own activation is not read                       */
  bool pre_activated;
} weir_nn_residual_spec;

/* x: [n, 1 to 3 dimensions, channels]. Scopes: conv1, norm1, conv2, norm2, shortcut. */
weir_value weir_nn_residual_at(weir_net *net, const char *name, const weir_nn_residual_spec *spec,
                               weir_value x, const char *where);
#define weir_nn_residual(net, name, spec, x) weir_nn_residual_at(net, name, spec, x, WEIR_WHERE)

/* Scaled dot-product attention of several heads: Vaswani et al., NeurIPS 2017. */
typedef struct weir_nn_attention_spec {
  int64_t heads;    /* 0: 1                                                    */
  int64_t channels; /* of queries, keys and values, all heads; 0: those of x   */
  int64_t units;    /* channels of y; 0: those of x                            */
  bool causal;      /* causal: position q of x attends to positions 0 .. q of the context only */
  double dropout;   /* dropout rate of the attention weights in training */
  bool no_bias;
  weir_init weight; /* default: glorot_uniform */
} weir_nn_attention_spec;

/* x: [n, positions, channels]; context, the keys and values: [n, its positions, its channels], or
 * WEIR_NO_VALUE for x itself; y: [n, positions, units]. Scopes, dense layers: query, key, value,
 * out; for x itself the first three are one, qkv, with their columns in that order. */
weir_value weir_nn_attention_at(weir_net *net, const char *name, const weir_nn_attention_spec *spec,
                                weir_value x, weir_value context, const char *where);
#define weir_nn_attention(net, name, spec, x, context) \
  weir_nn_attention_at(net, name, spec, x, context, WEIR_WHERE)

/* A layer of a transformer's encoder: Vaswani et al., NeurIPS 2017, the layer of arXiv:2007.00072.
 *
 *   x = norm1(x + dropout(attention(x)))
 *   y = norm2(x + dropout(linear2(dropout(activation(linear1(x))))))
 *
 * or, with norm_first (Xiong et al., ICML 2020),
 *
 *   x = x + dropout(attention(norm1(x)))
 *   y = x + dropout(linear2(dropout(activation(linear1(norm2(x)))))) */
typedef struct weir_nn_encoder_spec {
  weir_nn_attention_spec attention; /* channels and units are those of x; its rate is `dropout` */
  int64_t hidden;                   /* units of linear1; 0: four times the channels of x        */
  weir_activation activation;       /* after linear1                                            */
  double dropout;                   /* of all, also of the attention weights, in training       */
  double epsilon;                   /* of the normalisations; 0: 1e-5                           */
  bool norm_first;
} weir_nn_encoder_spec;

/* x, y: [n, positions, channels]. Scopes: attention, norm1, linear1, linear2, norm2. */
weir_value weir_nn_encoder_at(weir_net *net, const char *name, const weir_nn_encoder_spec *spec,
                              weir_value x, const char *where);
#define weir_nn_encoder(net, name, spec, x) weir_nn_encoder_at(net, name, spec, x, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
