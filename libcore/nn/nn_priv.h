/* nn_priv.h - shared by the sources of the module. */
#ifndef NN_PRIV_H
#define NN_PRIV_H
#include "nn/weir_layer.h"

/* A buffer (non-trainable state): a separate stored array. */
typedef struct nn_buffer {
  const char *name;
  int rank;
  int64_t shape[WEIR_MAX_RANK];
  double initial;
} nn_buffer;

struct weir_params {
  weir_dtype dtype;
  weir_param_row *row;
  int64_t n_rows, row_capacity;
  nn_buffer *buffer;
  int64_t n_buffers, buffer_capacity;
  int64_t elements;
  weir_store *store; /* NULL: not sealed */
};

/* params.c: appends a row or a buffer whose name is new. Fails: WEIR_ERR_CONFIG (the name is
 * taken), WEIR_ERR_SHAPE, WEIR_ERR_MEMORY. */
weir_status nn_params_declare(weir_params *p, const char *name,
                              const weir_param_spec *spec) WEIR_CHECKED;
weir_status nn_params_declare_buffer(weir_params *p, const char *name, int rank,
                                     const int64_t *shape, double initial) WEIR_CHECKED;
/* The buffer of that name, or NULL. */
const nn_buffer *nn_params_buffer(const weir_params *p, const char *name);
/* "[3, 4]". */
const char *nn_shape_text(int rank, const int64_t *shape, char *out, size_t size);

/* Records a failure of the layer at `where` in the net's graph; returns an invalid value. */
weir_value nn_fail(weir_net *net, const char *where, const char *format, ...) WEIR_PRINTF(3, 4);
/* Labels v with the net's scope; returns v. */
weir_value nn_label(weir_net *net, weir_value v);
/* The layer's own kind where `init` says default. */
weir_init nn_init_or(weir_init init, weir_init_kind kind);
/* A parameter of one dimension, without weight decay. */
weir_value nn_vector(weir_net *net, const char *name, int64_t n, weir_init init, const char *where);

/* conv.c: what layers of convolutions share. The input, counts and groups, false: refused in the
 * name of `layer`; bias, per position where there are `n_spatial` spatial dimensions of it,
 * activation, label. */
bool nn_conv_check(weir_net *net, const char *layer, const weir_nn_conv_spec *s, weir_value x,
                   const char *where);
/* The weights of a convolution of an array like d, [kernel size.., channels in / groups, filters],
 * and the operator's spec with its padding. */
weir_param_spec nn_conv_weight(const weir_nn_conv_spec *s, const weir_array_desc *d,
                               weir_conv_spec *conv);
weir_value nn_conv_finish(weir_net *net, const weir_nn_conv_spec *s, weir_value y, int n_spatial,
                          const char *where);
#endif
