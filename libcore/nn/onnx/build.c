/* build.c - see weir_onnx_graph.h: the table of operators, and the walk over the nodes. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "nn/onnx/onnx_net.h"

#define SLIDING "auto_pad dilations kernel_shape pads strides "
#define RECURRENT "activations direction hidden_size layout "

// clang-format off
static const onnx_op ops[] = {
    {"Abs", onnx_unary, 1, 1, ""},
    {"Add", onnx_binary, 2, 2, ""},
    {"AveragePool", onnx_pool_mean, 1, 1, SLIDING "ceil_mode count_include_pad "},
    {"BatchNormalization", onnx_batch_norm, 5, 5, "epsilon momentum training_mode "},
    {"Concat", onnx_concat, 1, 64, "axis "},
    {"Constant", onnx_constant_node, 0, 0, "value "},
    {"Conv", onnx_conv, 2, 3, SLIDING "group "},
    {"Div", onnx_binary, 2, 2, ""},
    {"Dropout", onnx_same, 1, 3, "seed "},
    {"Elu", onnx_unary, 1, 1, "alpha "},
    {"Erf", onnx_unary, 1, 1, ""},
    {"Exp", onnx_unary, 1, 1, ""},
    {"Expand", onnx_expand, 2, 2, ""},
    {"Flatten", onnx_flatten, 1, 1, "axis "},
    {"GRU", onnx_recurrent, 3, 6, RECURRENT "linear_before_reset "},
    {"Gather", onnx_gather, 2, 2, "axis "},
    {"Gelu", onnx_unary, 1, 1, "approximate "},
    {"Gemm", onnx_gemm, 2, 3, "alpha beta transA transB "},
    {"GlobalAveragePool", onnx_pool_global, 1, 1, ""},
    {"GlobalMaxPool", onnx_pool_global, 1, 1, ""},
    {"Greater", onnx_binary, 2, 2, ""},
    {"Identity", onnx_same, 1, 1, ""},
    {"LSTM", onnx_recurrent, 3, 8, RECURRENT "input_forget "},
    {"LeakyRelu", onnx_unary, 1, 1, "alpha "},
    {"Less", onnx_binary, 2, 2, ""},
    {"Log", onnx_unary, 1, 1, ""},
    {"MatMul", onnx_matmul, 2, 2, ""},
    {"MaxPool", onnx_pool_max, 1, 1, SLIDING "ceil_mode storage_order "},
    {"Mul", onnx_binary, 2, 2, ""},
    {"Neg", onnx_unary, 1, 1, ""},
    {"Pad", onnx_pad, 2, 4, "mode "},
    {"RNN", onnx_recurrent, 3, 6, RECURRENT},
    {"ReduceMax", onnx_reduce, 1, 2, "axes keepdims noop_with_empty_axes "},
    {"ReduceMean", onnx_reduce, 1, 2, "axes keepdims noop_with_empty_axes "},
    {"ReduceSum", onnx_reduce, 1, 2, "axes keepdims noop_with_empty_axes "},
    {"Relu", onnx_unary, 1, 1, ""},
    {"Reshape", onnx_reshape, 2, 2, "allowzero "},
    {"Sigmoid", onnx_unary, 1, 1, ""},
    {"Slice", onnx_slice, 3, 5, ""},
    {"Softmax", onnx_softmax, 1, 1, "axis "},
    {"Softplus", onnx_unary, 1, 1, ""},
    {"Sqrt", onnx_unary, 1, 1, ""},
    {"Squeeze", onnx_squeeze, 2, 2, ""},
    {"Sub", onnx_binary, 2, 2, ""},
    {"Tanh", onnx_unary, 1, 1, ""},
    {"Transpose", onnx_transpose, 1, 1, "perm "},
    {"Unsqueeze", onnx_squeeze, 2, 2, ""},
    {"Where", onnx_where, 3, 3, ""},
};
// clang-format on
enum { OPS = sizeof ops / sizeof ops[0] };

weir_status onnx_add(onnx_net *c, const onnx_item *item)
{
  for (int64_t i = 0; i < c->n_items && item->name.size > 0; i++) {
    if (weir_onnx_same(c->items[i].name, item->name)) {
      return weir_fail(WEIR_ERR_DATA, "%s: \"%.*s\" is defined twice", c->where, item->name.size,
                       item->name.at);
    }
  }
  WEIR_TRY(weir_reserve(&c->items, &c->capacity, c->n_items + 1, sizeof *c->items));
  c->items[c->n_items++] = *item;
  return WEIR_OK;
}

/* Type of an attribute of the operators above; an integer unless listed here. */
static int kind_of(weir_onnx_text name)
{
  static const struct {
    const char *name;
    int kind;
  } kinds[] = {{"alpha", WEIR_ONNX_FLOAT},        {"beta", WEIR_ONNX_FLOAT},
               {"epsilon", WEIR_ONNX_FLOAT},      {"momentum", WEIR_ONNX_FLOAT},
               {"approximate", WEIR_ONNX_STRING}, {"auto_pad", WEIR_ONNX_STRING},
               {"direction", WEIR_ONNX_STRING},   {"activations", WEIR_ONNX_STRINGS},
               {"mode", WEIR_ONNX_STRING},        {"value", WEIR_ONNX_TENSOR},
               {"axes", WEIR_ONNX_LIST},          {"dilations", WEIR_ONNX_LIST},
               {"kernel_shape", WEIR_ONNX_LIST},  {"pads", WEIR_ONNX_LIST},
               {"perm", WEIR_ONNX_LIST},          {"strides", WEIR_ONNX_LIST}};

  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    if (weir_onnx_is(name, kinds[k].name)) {
      return kinds[k].kind;
    }
  }
  return WEIR_ONNX_INT;
}

/* Refuses attributes that the operator does not read, or not as the file states them. */
static weir_status check_attributes(const onnx_net *c, const onnx_op *op)
{
  for (int64_t i = 0; i < c->node->n_attributes; i++) {
    const weir_onnx_attribute *const a = &c->m->attributes[c->node->first_attribute + i];
    const weir_onnx_text name = a->name;
    const char *known = op->attributes;
    bool is_known = false;

    while (*known != '\0') {
      const int size = (int)(strchr(known, ' ') - known);

      is_known = is_known || weir_onnx_same(name, (weir_onnx_text){known, size});
      known += size + 1;
    }
    if (!is_known) {
      return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "attribute %.*s is not supported", name.size,
                         name.at);
    }
    if (a->kind != kind_of(name)) {
      return onnx_refuse(c, WEIR_ERR_DATA,
                         "attribute %.*s has type %d of AttributeProto instead of %d: export the "
                         "network again",
                         name.size, name.at, a->kind, kind_of(name));
    }
  }
  return WEIR_OK;
}

static weir_status build_node(onnx_net *c, const weir_onnx_node *node)
{
  char label[96];
  bool folded = false;
  int k = 0;

  c->node = node;
  if (node->n_out < 1) {
    return onnx_refuse(c, WEIR_ERR_DATA, "it has no output");
  }
  onnx_item made = {.name = c->m->names[node->first_name + node->n_in], .v = WEIR_NO_VALUE};

  WEIR_TRY(onnx_fold(c, &made, &folded));
  if (folded) {
    return onnx_add(c, &made);
  }
  while (k < OPS && !weir_onnx_is(node->op, ops[k].name)) {
    k++;
  }
  if (k == OPS || (node->domain.size > 0 && !weir_onnx_is(node->domain, "ai.onnx"))) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "this operator%s%.*s is not supported: docs/reference/onnx.md has those "
                       "that are",
                       node->domain.size > 0 ? " of domain " : "", node->domain.size,
                       node->domain.at);
  }
  if (node->n_in < ops[k].min_in || node->n_in > ops[k].max_in) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "%lld inputs: %lld to %lld are supported",
                       (long long)node->n_in, (long long)ops[k].min_in, (long long)ops[k].max_in);
  }
  WEIR_TRY(check_attributes(c, &ops[k]));
  const int32_t first = weir_graph_nodes(c->g);

  WEIR_TRY(ops[k].build(c, &made));
  (void)snprintf(label, sizeof label, "%.*s", node->name.size < 80 ? node->name.size : 80,
                 node->name.at);
  weir_label_from(c->g, first, label);
  return onnx_add(c, &made);
}

/* Inputs of the file that are data: neither constant nor a named state. Returns their number, also
 * where it is more than out has room for. */
static int64_t find_data(const weir_onnx *m, const weir_onnx_states *states, weir_onnx_inputs *out)
{
  int64_t n = 0;

  for (int64_t i = 0; i < m->n_inputs; i++) {
    bool other = onnx_is_state(states, m->inputs[i].name, false);

    for (int64_t k = 0; k < m->n_initializers; k++) {
      other = other || weir_onnx_same(m->tensors[k].name, m->inputs[i].name);
    }
    if (!other && n++ < WEIR_ONNX_INPUTS) {
      out->at[n - 1] = &m->inputs[i];
    }
  }
  out->n = n < WEIR_ONNX_INPUTS ? (int)n : WEIR_ONNX_INPUTS;
  return n;
}

/* The outputs of the file that are no states; *out: the last of them. */
static int64_t count_results(const weir_onnx *m, const weir_onnx_states *states,
                             const weir_onnx_value **out)
{
  int64_t n = 0;

  for (int64_t i = 0; i < m->n_outputs; i++) {
    if (!onnx_is_state(states, m->outputs[i].name, true)) {
      *out = &m->outputs[i];
      n++;
    }
  }
  return n;
}

weir_status weir_onnx_find_inputs(const weir_onnx *m, const char *where,
                                  const weir_onnx_states *states, weir_onnx_inputs *out)
{
  const weir_onnx_value *result = NULL;

  if (m->opset < WEIR_ONNX_OPSET_MIN || m->opset > WEIR_ONNX_OPSET_MAX) {
    return weir_fail(
        WEIR_ERR_UNSUPPORTED,
        "%s: version %lld of the operators (opset): %d to %d are supported: export the "
        "network with opset_version=20",
        where, (long long)m->opset, WEIR_ONNX_OPSET_MIN, WEIR_ONNX_OPSET_MAX);
  }
  const int64_t n = find_data(m, states, out), n_results = count_results(m, states, &result);

  if (n < 1 || n > WEIR_ONNX_INPUTS || n_results != 1) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: the network has %lld inputs and %lld outputs%s: 1 to %d inputs and one "
                     "output are supported, and states that are named in pairs",
                     where, (long long)n, (long long)n_results,
                     states != NULL && states->n_named > 0 ? " that are no states" : "",
                     WEIR_ONNX_INPUTS);
  }
  for (int k = 0; k < out->n; k++) {
    const weir_onnx_value *const in = out->at[k];

    if (in->elements != 1 || !in->has_shape || in->n_dims < 2 || in->shape[0] > 1) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: input \"%.*s\" must be of floats and state its shape, [batch, ..], "
                       "with a batch of 1 or of any size, or be named as a state",
                       where, in->name.size, in->name.at);
    }
  }
  return WEIR_OK;
}

static weir_status take_result(onnx_net *c, weir_value *y)
{
  const weir_onnx_value *result = NULL;

  (void)count_results(c->m, c->states, &result);
  for (int64_t i = c->n_items - 1; i >= 0; i--) {
    if (weir_onnx_same(c->items[i].name, result->name) && c->items[i].constant == NULL) {
      if (c->items[i].batch != 0) {
        return weir_fail(WEIR_ERR_UNSUPPORTED,
                         "%s: the batch is dimension %d of output \"%.*s\": it must be the first "
                         "(batch_first=True)",
                         c->where, c->items[i].batch, result->name.size, result->name.at);
      }
      *y = onnx_ordered(c, c->items[i].v, c->items[i].last, false);
      return weir_graph_status(c->g);
    }
  }
  return weir_fail(WEIR_ERR_DATA, "%s: output \"%.*s\" is not computed from the input", c->where,
                   result->name.size, result->name.at);
}

static weir_status walk(onnx_net *c, const weir_onnx_inputs *inputs, const weir_value *x,
                        weir_value *y)
{
  const weir_onnx *const m = c->m;
  const weir_onnx_node end = {.first_name = m->n_names};

  for (int64_t k = 0; k < m->n_initializers; k++) {
    WEIR_TRY(onnx_add(
        c,
        &(onnx_item){.name = m->tensors[k].name, .v = WEIR_NO_VALUE, .constant = &m->tensors[k]}));
  }
  for (int k = 0; k < inputs->n; k++) {
    WEIR_TRY(onnx_add(
        c,
        &(onnx_item){.name = inputs->at[k]->name, .v = x[k], .last = inputs->at[k]->n_dims == 3}));
  }
  WEIR_TRY(onnx_states_begin(c));
  for (int64_t k = 0; k < m->n_nodes; k++) {
    WEIR_TRY(build_node(c, &m->nodes[k]));
  }
  c->node = &end;
  WEIR_TRY(onnx_states_end(c));
  return take_result(c, y);
}

/* Whether x is the input: [batch, length, channels] of [batch, channels, length], else in order.
 * batch: the extent that it must have; negative: any. */
static weir_status check_input(const weir_graph *g, const char *where, const weir_onnx_value *input,
                               int64_t batch, weir_value x)
{
  const weir_array_desc *const d = weir_value_desc(g, x);
  const weir_onnx_text name = input->name;
  const bool last = input->n_dims == 3;

  if (d == NULL || d->dtype != WEIR_F32 || d->rank != input->n_dims ||
      (batch >= 0 && d->shape[0] != batch)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: input \"%.*s\" must be f32 of %d dimensions%s", where,
                     name.size, name.at, input->n_dims,
                     batch == 1  ? ", one window at a time"
                     : batch < 0 ? ""
                                 : ", with the batch of the first input");
  }
  for (int k = 1; k < d->rank; k++) {
    const int64_t want = input->shape[last ? 3 - k : k];

    if (want >= 0 && want != d->shape[k]) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: dimension %d of input \"%.*s\" has %lld, not %lld",
                       where, last ? 3 - k : k, name.size, name.at, (long long)want,
                       (long long)d->shape[k]);
    }
  }
  return WEIR_OK;
}

weir_status weir_onnx_build(weir_graph *g, const weir_onnx *m, const char *where,
                            weir_onnx_states *states, const weir_value *x, weir_value *y)
{
  onnx_net c = {.g = g, .m = m, .where = where, .states = states};
  weir_onnx_inputs inputs;
  int64_t batch = states != NULL ? 1 : -1;

  WEIR_TRY(weir_onnx_find_inputs(m, where, states, &inputs));
  WEIR_TRY(weir_graph_status(g));
  for (int k = 0; k < inputs.n; k++) {
    WEIR_TRY(check_input(g, where, inputs.at[k], batch, x[k]));
    batch = weir_value_desc(g, x[k])->shape[0];
  }
  const weir_status status = walk(&c, &inputs, x, y);

  onnx_fold_fini(&c);
  weir_free(&c.items);
  return status;
}
