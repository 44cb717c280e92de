/* encoder.c - a layer of a transformer's encoder: attention and two dense layers, each beside a
 * shortcut. */
#include "nn/nn_priv.h"
#include "nn/weir_block.h"
#include "ops/elementwise/weir_elementwise.h"

/* A layer in the making. */
typedef struct site {
  weir_net *net;
  const weir_nn_encoder_spec *spec;
  const char *where;
} site;

static weir_value normalise(const site *s, const char *name, weir_value x)
{
  const weir_nn_norm_spec norm = {.kind = WEIR_NORM_LAYER, .epsilon = s->spec->epsilon};

  return weir_nn_norm_at(s->net, name, &norm, x, s->where);
}

static weir_value leave_out(const site *s, const char *name, weir_value x)
{
  return weir_nn_dropout_at(s->net, name, &(weir_nn_dropout_spec){.rate = s->spec->dropout}, x,
                            s->where);
}

static weir_value attend(const site *s, weir_value x)
{
  weir_nn_attention_spec attention = s->spec->attention;

  attention.channels = attention.units = 0;
  attention.dropout = s->spec->dropout;
  return leave_out(
      s, "dropout1",
      weir_nn_attention_at(s->net, "attention", &attention, x, WEIR_NO_VALUE, s->where));
}

static weir_value feed_forward(const site *s, int64_t channels, weir_value x)
{
  const weir_nn_dense_spec wide = {
      .units = s->spec->hidden > 0 ? s->spec->hidden : 4 * channels,
      .activation = s->spec->activation,
  };

  x = weir_nn_dense_at(s->net, "linear1", &wide, x, s->where);
  x = weir_nn_dense_at(s->net, "linear2", &(weir_nn_dense_spec){.units = channels},
                       leave_out(s, "dropout", x), s->where);
  return leave_out(s, "dropout2", x);
}

static weir_value add(const site *s, weir_value x, weir_value y)
{
  return weir_binary_at(s->net->graph, WEIR_CODE_ADD, x, y, s->where);
}

static weir_value encode(const site *s, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(s->net->graph, x);

  if (d == NULL || d->rank != 3 || d->time > 0 || s->spec->hidden < 0) {
    return nn_fail(s->net, s->where,
                   "encoder: takes [n, positions, channels] and hidden units from 0 on (rank %d)",
                   d != NULL ? d->rank : -1);
  }
  const int64_t channels = d->shape[2];

  if (s->spec->norm_first) {
    x = add(s, x, attend(s, normalise(s, "norm1", x)));
    return nn_label(s->net, add(s, x, feed_forward(s, channels, normalise(s, "norm2", x))));
  }
  x = normalise(s, "norm1", add(s, x, attend(s, x)));
  return normalise(s, "norm2", add(s, x, feed_forward(s, channels, x)));
}

weir_value weir_nn_encoder_at(weir_net *net, const char *name, const weir_nn_encoder_spec *spec,
                              weir_value x, const char *where)
{
  const site s = {net, spec, where};

  weir_net_push(net, name);
  const weir_value y = encode(&s, x);

  weir_net_pop(net);
  return y;
}
