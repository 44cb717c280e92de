/* onnx_net.h - a network being built from an ONNX file: named values, and access to the attributes
 * and inputs of the current node. Sources: onnx_net.c, values and attributes; pointwise.c,
 * sliding.c (convolution, pooling, normalisation), product.c, shape.c, recurrent.c: operators;
 * fold.c: those of constants; state.c: states; build.c: the table. */
#ifndef NN_ONNX_NET_H
#define NN_ONNX_NET_H
#include "nn/onnx/weir_onnx_graph.h"

/* A named value. Its shape in the file is [batch, channels, length] where the graph has it as
 * [batch, length, channels], which convolution and pooling take. The batch, which is dimension 0 in
 * the graph, may be another one in the file, as in and after recurrent layers: [steps, batch,
 * features]; the others have the order of the file. */
typedef struct onnx_item {
  weir_onnx_text name;
  weir_value v;                     /* node < 0: a constant that the graph does not have */
  bool last;                        /* rank 3, channels last in the graph */
  int batch;                        /* dimension of the file that is the batch; 0 where `last` */
  const weir_onnx_tensor *constant; /* NULL: depends on the input */
} onnx_item;

typedef struct onnx_net {
  weir_graph *g;
  const weir_onnx *m;
  const char *where; /* the file */
  onnx_item *items;
  int64_t n_items, capacity;
  void **folded; /* constants made of others */
  int64_t n_folded, folded_capacity;
  int64_t steps;            /* of all recurrent layers so far */
  weir_onnx_states *states; /* NULL: every window begins anew */
  const weir_onnx_node *node;
} onnx_net;

typedef weir_status onnx_builder(onnx_net *c, onnx_item *out);

/* An operator. */
typedef struct onnx_op {
  const char *name;
  onnx_builder *build;    /* *out: set v and last */
  int64_t min_in, max_in; /* inputs */
  const char *attributes; /* those it reads, each followed by a blank; others are refused */
} onnx_op;

/* ---- Failures ---- */

/* Returns WEIR_ERR_UNSUPPORTED (or WEIR_ERR_DATA, WEIR_ERR_SHAPE) that names file, node and
 * operator. */
weir_status onnx_refuse(const onnx_net *c, weir_status status, const char *format, ...)
    WEIR_PRINTF(3, 4);
/* Returns the graph's failure, if there is one, in the name of the node. */
weir_status onnx_status(const onnx_net *c) WEIR_CHECKED;

/* ---- Inputs ---- */

/* Whether input k is given. */
bool onnx_has(const onnx_net *c, int64_t k);
/* Finds input k. Fails: WEIR_ERR_DATA where nothing defines its name, or it is not given. */
weir_status onnx_in(const onnx_net *c, int64_t k, const onnx_item **out) WEIR_CHECKED;
/* Finds input k, which depends on the network's input; its batch may be any dimension. */
weir_status onnx_any(const onnx_net *c, int64_t k, const onnx_item **out) WEIR_CHECKED;
/* Finds input k, which depends on the network's input and has the batch first, with channels last
 * or not (rank 3; others always have the order of the file). */
weir_status onnx_data(const onnx_net *c, int64_t k, bool last, weir_value *out) WEIR_CHECKED;
/* Finds input k, a constant of floats. */
weir_status onnx_weights(const onnx_net *c, int64_t k, const weir_onnx_tensor **out) WEIR_CHECKED;
/* Appends a constant of `shape` with the elements of t, whose dimension d is dimension order[d] of
 * the result; order NULL: as it is. */
weir_status onnx_constant(const onnx_net *c, const weir_onnx_tensor *t, const int *order,
                          weir_value *out) WEIR_CHECKED;
/* v, whose channels are last or not, in the order that is asked for. */
weir_value onnx_ordered(const onnx_net *c, weir_value v, bool is_last, bool last);
const weir_array_desc *onnx_desc(const onnx_net *c, weir_value v);
/* Returns the dimension of the graph that dimension `axis` of the file is. */
int onnx_placed(const onnx_item *in, int axis);
/* Adds a value; without a name it is not used. Fails: WEIR_ERR_DATA where the name is defined. */
weir_status onnx_add(onnx_net *c, const onnx_item *item) WEIR_CHECKED;

/* ---- Attributes ---- */

int64_t onnx_int(const onnx_net *c, const char *name, int64_t usual);
double onnx_real(const onnx_net *c, const char *name, double usual);
bool onnx_text_is(const onnx_net *c, const char *name, const char *usual, const char *text);
/* Takes exactly n integers; all are `usual` where there is no attribute. */
weir_status onnx_list(const onnx_net *c, const char *name, int n, int64_t usual,
                      int64_t *out) WEIR_CHECKED;
/* Takes the integers of constant input k or, where it is not given, of the attribute; *n of at most
 * `max`, 0: neither is given. */
weir_status onnx_numbers(const onnx_net *c, int64_t k, const char *name, int max, int64_t *out,
                         int *n) WEIR_CHECKED;
/* Maps an axis of an array of that rank, negative from the end, to 0 .. rank - 1. Fails:
 * WEIR_ERR_UNSUPPORTED for the batch. */
weir_status onnx_axis(const onnx_net *c, int64_t axis, int rank, int batch, int *out) WEIR_CHECKED;

/* ---- States ---- */

/* Returns whether an output of the file is one of the named states. */
bool onnx_is_state(const weir_onnx_states *s, weir_onnx_text name, bool output);
/* Adds a state that is carried, of d, with initial values t (NULL: zeros): *v, an input of the
 * graph, *k, its number. Fails: WEIR_ERR_UNSUPPORTED for too many. */
weir_status onnx_state_begin(const onnx_net *c, const weir_array_desc *d, const weir_onnx_tensor *t,
                             weir_value *v, int *k) WEIR_CHECKED;
/* Makes v what state k leaves. Fails: WEIR_ERR_SHAPE where it is not of its shape. */
weir_status onnx_state_end(const onnx_net *c, int k, weir_value v) WEIR_CHECKED;
/* Adds the inputs of the file that are states, before its nodes; and takes the outputs after them.
 */
weir_status onnx_states_begin(onnx_net *c) WEIR_CHECKED;
weir_status onnx_states_end(const onnx_net *c) WEIR_CHECKED;

/* ---- Operators ---- */

/* Computes a node whose inputs are short constants of integers, if it is such a one. */
weir_status onnx_fold(onnx_net *c, onnx_item *out, bool *folded) WEIR_CHECKED;
void onnx_fold_fini(onnx_net *c);

weir_status onnx_unary(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_binary(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_where(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_same(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_constant_node(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_conv(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_pool_max(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_pool_mean(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_pool_global(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_batch_norm(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_gemm(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_matmul(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_concat(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_flatten(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_reshape(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_squeeze(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_transpose(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_pad(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_reduce(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_softmax(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_gather(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_slice(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_expand(onnx_net *c, onnx_item *out) WEIR_CHECKED;
weir_status onnx_recurrent(onnx_net *c, onnx_item *out) WEIR_CHECKED;
#endif
