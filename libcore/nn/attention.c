/* attention.c - softmax(q k / sqrt(d)) v, head by head: two stacks of matrix products. */
#include <math.h>

#include "nn/nn_priv.h"
#include "nn/weir_block.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

/* An attention in the making: heads of `each` channels. */
typedef struct site {
  weir_net *net;
  weir_graph *g;
  const weir_nn_attention_spec *spec;
  const char *where;
  int64_t n, n_positions, seen; /* of x, and of the context */
  int64_t heads, each, units;
} site;

/* A product with parts of `each` channels per head, [n, positions, parts, heads, each], of x; the
 * parameters are those of a dense layer of all of these. */
static weir_value project(const site *s, const char *name, int64_t parts, weir_value x)
{
  const int64_t in = weir_value_desc(s->g, x)->shape[2], units = parts * s->heads * s->each;
  const weir_reshape_spec cut = {.rank = 4, .shape = {in, parts, s->heads, s->each}};
  const weir_reshape_spec row = {.rank = 3, .shape = {parts, s->heads, s->each}};
  weir_param_spec weight = {.rank = 2,
                            .shape = {in, units},
                            .init = nn_init_or(s->spec->weight, WEIR_INIT_GLOROT_UNIFORM),
                            .decay = true};

  weight.init.fan_out = weight.init.fan_out > 0 ? weight.init.fan_out : s->heads * s->each;
  weir_net_push(s->net, name);
  const weir_value w = weir_param_at(s->net, "weight", &weight, s->where);
  weir_value y = weir_contract2_at(s->g, "abx,xphd->abphd", x,
                                   weir_reshape_at(s->g, w, &cut, s->where), s->where);

  if (!s->spec->no_bias) {
    const weir_init zeros = {.kind = WEIR_INIT_ZEROS};
    const weir_value bias = nn_vector(s->net, "bias", units, zeros, s->where);

    y = weir_binary_at(s->g, WEIR_CODE_ADD, y, weir_reshape_at(s->g, bias, &row, s->where),
                       s->where);
  }
  nn_label(s->net, y);
  weir_net_pop(s->net);
  return y;
}

/* Part `number` of a projection, [n, heads, positions, each]. */
static weir_value part_of(const site *s, weir_value projected, int64_t number)
{
  const weir_slice_spec part = {.dim = 2, .start = number, .stop = number + 1};
  const weir_array_desc *d = weir_value_desc(s->g, projected);
  const weir_transpose_spec order = {.order = {0, 2, 1, 3}};
  const weir_reshape_spec flat = {.rank = 4,
                                  .shape = {s->n, d != NULL ? d->shape[1] : 1, s->heads, s->each}};
  const weir_value v = weir_slice_at(s->g, projected, &part, s->where);

  return weir_transpose_at(s->g, weir_reshape_at(s->g, v, &flat, s->where), &order, s->where);
}

/* All heads of [n, heads, n_positions, each], to the channels of y. */
static weir_value join(const site *s, weir_value x)
{
  const weir_transpose_spec order = {.order = {0, 2, 1, 3}};
  const weir_reshape_spec whole = {.rank = 3, .shape = {s->n, s->n_positions, s->heads * s->each}};
  const weir_nn_dense_spec dense = {
      .units = s->units, .no_bias = s->spec->no_bias, .weight = s->spec->weight};

  x = weir_reshape_at(s->g, weir_transpose_at(s->g, x, &order, s->where), &whole, s->where);
  return weir_nn_dense_at(s->net, "out", &dense, x, s->where);
}

/* 0 where position q may attend to position k <= q, else so low that exp gives 0: [n_positions,
 * seen]. */
static weir_value past(const site *s, weir_dtype dtype)
{
  const int64_t shape[] = {s->n_positions, s->seen};
  weir_value v = WEIR_NO_VALUE;
  weir_tensor t;
  const weir_status status = weir_tensor_init(&t, dtype, 2, shape);

  if (status != WEIR_OK) {
    return weir_graph_fail(s->g, status);
  }
  for (int64_t q = 0; q < s->n_positions; q++) {
    for (int64_t k = 0; k < s->seen; k++) {
      weir_dtype_store_real(dtype, t.data, q * s->seen + k, k <= q ? 0 : -1e30);
    }
  }
  v = weir_constant(s->g, &t);
  weir_tensor_fini(&t);
  return v;
}

/* Over the last of four dimensions. A shift of the scores changes nothing but overflow: a whole
 * number near the maximum has no derivative, so that none asks where the maximum is. */
static weir_value softmax(const site *s, weir_value x)
{
  const weir_reduce_spec max = {.combine = WEIR_COMBINE_MAX, .n_dims = 1, .dim = {3}, .keep = true};
  const weir_reduce_spec sum = {.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {3}, .keep = true};
  const weir_value shift = weir_unary_at(
      s->g, WEIR_CODE_FLOOR, weir_reduce_at(s->g, &max, x, WEIR_NO_VALUE, s->where), s->where);
  const weir_value part = weir_unary_at(
      s->g, WEIR_CODE_EXP, weir_binary_at(s->g, WEIR_CODE_SUB, x, shift, s->where), s->where);

  return weir_binary_at(s->g, WEIR_CODE_DIV, part,
                        weir_reduce_at(s->g, &sum, part, WEIR_NO_VALUE, s->where), s->where);
}

/* Queries, keys and values. Those of one array are one product: x is read once, and has one
 * gradient. Its weights begin as those of three products would. */
static void project_all(const site *s, weir_value x, weir_value context, weir_value out[3])
{
  static const char *const name[] = {"query", "key", "value"};
  const bool itself = context.node < 0;
  const weir_value together = itself ? project(s, "qkv", 3, x) : WEIR_NO_VALUE;

  for (int i = 0; i < 3; i++) {
    out[i] = itself ? part_of(s, together, i)
                    : part_of(s, project(s, name[i], 1, i == 0 ? x : context), 0);
  }
}

static weir_value attend(const site *s, weir_value x, weir_value context)
{
  const weir_dtype dtype = weir_value_desc(s->g, x)->dtype;
  const weir_nn_dropout_spec left_out = {.rate = s->spec->dropout};
  weir_value qkv[3];

  project_all(s, x, context, qkv);
  /* There are fewer elements of queries than of scores. */
  qkv[0] = weir_right_at(s->g, WEIR_CODE_MUL, qkv[0], 1 / sqrt((double)s->each), s->where);
  weir_value score = weir_contract2_at(s->g, "bhqd,bhkd->bhqk", qkv[0], qkv[1], s->where);

  if (s->spec->causal) {
    score = weir_binary_at(s->g, WEIR_CODE_ADD, score, past(s, dtype), s->where);
  }
  const weir_value weight =
      weir_nn_dropout_at(s->net, "dropout", &left_out, softmax(s, score), s->where);
  const weir_value y = weir_contract2_at(s->g, "bhqk,bhkd->bhqd", weight, qkv[2], s->where);

  return nn_label(s->net, join(s, y));
}

static weir_value attention(weir_net *net, const weir_nn_attention_spec *spec, weir_value x,
                            weir_value context, const char *where)
{
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  const weir_array_desc *c = context.node >= 0 ? weir_value_desc(net->graph, context) : d;
  const int64_t heads = spec->heads == 0 ? 1 : spec->heads;

  if (d == NULL || c == NULL || d->rank != 3 || c->rank != 3 || d->time > 0 || c->time > 0 ||
      d->shape[0] != c->shape[0] || c->shape[1] < 1) {
    return nn_fail(net, where,
                   "attention: takes [n, positions, channels] and a context with the same n that "
                   "is not empty (ranks %d and %d)",
                   d != NULL ? d->rank : -1, c != NULL ? c->rank : -1);
  }
  const int64_t channels = spec->channels == 0 ? d->shape[2] : spec->channels;

  if (heads < 1 || channels < 1 || channels % heads != 0 || spec->units < 0) {
    return nn_fail(net, where, "attention: %lld heads do not divide %lld channels",
                   (long long)heads, (long long)channels);
  }
  const site s = {.net = net,
                  .g = net->graph,
                  .spec = spec,
                  .where = where,
                  .n = d->shape[0],
                  .n_positions = d->shape[1],
                  .seen = c->shape[1],
                  .heads = heads,
                  .each = channels / heads,
                  .units = spec->units == 0 ? d->shape[2] : spec->units};

  return attend(&s, x, context);
}

weir_value weir_nn_attention_at(weir_net *net, const char *name, const weir_nn_attention_spec *spec,
                                weir_value x, weir_value context, const char *where)
{
  weir_net_push(net, name);
  const weir_value y = attention(net, spec, x, context, where);

  weir_net_pop(net);
  return y;
}
