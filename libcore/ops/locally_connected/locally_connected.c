/* locally_connected.c - the access of a convolution, but that the weight follows the position of
 * the output too.
 */
#include "ops/locally_connected/weir_locally_connected.h"

#include <string.h>

/* The weight of one position: that of a convolution. */
static weir_array_desc of_one_position(const weir_array_desc *w, int dims)
{
  weir_array_desc one = {.dtype = w->dtype, .rank = w->rank - dims, .time = w->time};

  memcpy(one.shape, w->shape + dims, (size_t)one.rank * sizeof *one.shape);
  return one;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  WEIR_TRY(weir_need_count("local", args, 2, 2));
  const weir_array_desc *x = &args->in[0], *w = &args->in[1];
  const int dims = x->rank - 2;

  if (dims < 1 || dims > WEIR_CONV_DIMS || w->rank != x->rank + dims) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "local: ranks %d and %d: x must be [n, 1 to %d dimensions, channels], w "
                     "[positions, kernel sizes, channels in, channels out]",
                     x->rank, w->rank, WEIR_CONV_DIMS);
  }
  const weir_array_desc in[] = {*x, of_one_position(w, dims)};
  const weir_op_args shared = {.spec = args->spec, .n_in = 2, .in = in};
  const weir_status status = weir_op_conv.infer(&shared, out);

  if (status != WEIR_OK) {
    return weir_fail(status, "local, at each position: %s", weir_last_message());
  }
  for (int k = 0; k < dims; k++) {
    if (w->shape[k] != out->shape[k + 1]) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "local: dimension %d: weights for %lld positions, the output has %lld", k,
                       (long long)w->shape[k], (long long)out->shape[k + 1]);
    }
  }
  return WEIR_OK;
}

/* Iterations: n, o1 .. od, group, channel of the group; kernel elements t1 .. td, channel in of the
 * group. */
static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_array_desc *w = &args->in[1];
  const int dims = args->in[0].rank - 2;
  const weir_array_desc in[] = {args->in[0], of_one_position(w, dims)};
  const weir_op_args shared = {
      .spec = args->spec, .n_in = 2, .n_out = 1, .in = in, .out = args->out};

  WEIR_TRY(weir_op_conv.access(&shared, a));
  const weir_operand one = a->in[1];

  weir_map_operand(&a->in[1], w);
  for (int k = 0; k < dims; k++) {
    a->in[1].index[k].coef[k + 1] = 1;
  }
  memcpy(a->in[1].index + dims, one.index, (size_t)one.rank * sizeof *one.index);
  return WEIR_OK;
}

const weir_op_desc weir_op_locally_connected = {
    .name = "local",
    .cite = "",
    .spec_size = sizeof(weir_conv_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_locally_connected_at(weir_graph *g, const weir_conv_spec *spec, weir_value x,
                                     weir_value w, const char *where)
{
  const weir_value in[] = {x, w};

  return weir_graph_add(g, &weir_op_locally_connected, spec, in, 2, where);
}
