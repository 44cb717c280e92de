/* broadcast.c - out[i] = in[the dimensions that in has]. */
#include "ops/broadcast/weir_broadcast.h"

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_broadcast_spec *s = args->spec;
  weir_array_desc both[2];

  WEIR_TRY(weir_need_count("broadcast", args, 1, 1));
  if (s->rank < args->in[0].rank || s->rank > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "broadcast: to rank %d from rank %d", s->rank,
                     args->in[0].rank);
  }
  both[0] = (weir_array_desc){.dtype = args->in[0].dtype, .rank = s->rank, .time = s->time};
  for (int d = 0; d < s->rank; d++) {
    both[0].shape[d] = s->shape[d];
  }
  both[1] = args->in[0];
  WEIR_TRY(weir_common_shape("broadcast", both, 2, out));
  for (int d = 0; d < s->rank; d++) {
    if (out->shape[d] != s->shape[d]) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "broadcast: extent %lld of dimension %d cannot be broadcast to %lld",
                       (long long)out->shape[d], d, (long long)s->shape[d]);
    }
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  weir_map_copy(args, a);
  weir_map_broadcast(&a->in[0], &args->in[0], &args->out[0]);
  return WEIR_OK;
}

const weir_op_desc weir_op_broadcast = {
    .name = "broadcast",
    .cite = "",
    .spec_size = sizeof(weir_broadcast_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_broadcast_at(weir_graph *g, weir_value x, const weir_broadcast_spec *spec,
                             const char *where)
{
  return weir_graph_add(g, &weir_op_broadcast, spec, &x, 1, where);
}
