/* pointwise.c - operators of ONNX element by element. */
#include "nn/onnx/onnx_net.h"
#include "nn/weir_activation.h"
#include "ops/elementwise/weir_elementwise.h"

static const struct {
  const char *name;
  weir_code code;
} codes[] = {{"Abs", WEIR_CODE_ABS}, {"Erf", WEIR_CODE_ERF},    {"Exp", WEIR_CODE_EXP},
             {"Log", WEIR_CODE_LOG}, {"Neg", WEIR_CODE_NEG},    {"Sqrt", WEIR_CODE_SQRT},
             {"Add", WEIR_CODE_ADD}, {"Div", WEIR_CODE_DIV},    {"Mul", WEIR_CODE_MUL},
             {"Sub", WEIR_CODE_SUB}, {"Greater", WEIR_CODE_GT}, {"Less", WEIR_CODE_LT}};
static const struct {
  const char *name;
  weir_activation_kind kind;
} activations[] = {{"Gelu", WEIR_ACTIVATION_GELU},       {"Relu", WEIR_ACTIVATION_RELU},
                   {"Sigmoid", WEIR_ACTIVATION_SIGMOID}, {"Softplus", WEIR_ACTIVATION_SOFTPLUS},
                   {"Tanh", WEIR_ACTIVATION_TANH},       {"Elu", WEIR_ACTIVATION_ELU}};

static weir_code code_of(const onnx_net *c)
{
  size_t k = 0;

  while (!weir_onnx_is(c->node->op, codes[k].name)) {
    k++;
  }
  return codes[k].code;
}

static bool is_code(const onnx_net *c)
{
  bool is = false;

  for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++) {
    is = is || weir_onnx_is(c->node->op, codes[k].name);
  }
  return is;
}

/* alpha x below 0, whatever alpha. */
static weir_value leaky(onnx_net *c, weir_value x)
{
  return weir_select(c->g, weir_lt_scalar(c->g, x, 0),
                     weir_scale(c->g, x, onnx_real(c, "alpha", 0.01)), x);
}

weir_status onnx_unary(onnx_net *c, onnx_item *out)
{
  const onnx_item *in = NULL;
  weir_value x = WEIR_NO_VALUE;

  WEIR_TRY(onnx_any(c, 0, &in));
  x = in->v;
  out->last = in->last;
  out->batch = in->batch;
  if (!onnx_text_is(c, "approximate", "none", "none")) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "approximate: only none is supported");
  }
  if (is_code(c)) {
    out->v = weir_unary_at(c->g, code_of(c), x, WEIR_WHERE);
    return onnx_status(c);
  }
  if (weir_onnx_is(c->node->op, "LeakyRelu")) {
    out->v = leaky(c, x);
    return onnx_status(c);
  }
  for (size_t k = 0; k < sizeof activations / sizeof activations[0]; k++) {
    if (weir_onnx_is(c->node->op, activations[k].name)) {
      const weir_activation a = {activations[k].kind, onnx_real(c, "alpha", 1)};

      if (activations[k].kind == WEIR_ACTIVATION_ELU && !(a.slope > 0)) {
        return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "alpha %g is not positive", a.slope);
      }
      out->v = weir_activate(c->g, &a, x);
    }
  }
  return onnx_status(c);
}

/* A constant beside data of `rank` dimensions, which broadcasts to them: its own are the last ones
 * of the file. */
static weir_status beside(const onnx_net *c, const weir_onnx_tensor *t, int rank, bool last,
                          weir_value *out)
{
  weir_onnx_tensor whole = *t;
  static const int swap[] = {0, 2, 1};

  if (t->n_dims > rank || (t->n_dims == rank && rank > 0 && t->shape[0] != 1)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "a constant of %d dimensions next to data of %d, the first the batch",
                       t->n_dims, rank);
  }
  if (last) {
    whole.n_dims = 3;
    for (int d = 0; d < 3; d++) {
      whole.shape[d] = d < 3 - t->n_dims ? 1 : t->shape[d - (3 - t->n_dims)];
    }
  }
  return onnx_constant(c, &whole, last ? swap : NULL, out);
}

/* Inputs 0 .. n - 1 in one order of dimensions, constants broadcasting to the data. */
static weir_status align(onnx_net *c, int n, weir_value *v, onnx_item *out)
{
  bool *const last = &out->last;
  const onnx_item *in = NULL;
  int rank = -1;

  *last = false;
  for (int k = 0; k < n; k++) {
    WEIR_TRY(onnx_in(c, k, &in));
    if (in->constant == NULL) {
      const int own = onnx_desc(c, in->v)->rank;

      if (rank >= 0 && (own != rank || in->batch != out->batch)) {
        return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                           "data of %d and %d dimensions, of which %d and %d are the batch", rank,
                           own, out->batch, in->batch);
      }
      rank = own;
      out->batch = in->batch;
      *last = *last || in->last;
    }
  }
  if (rank < 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "all inputs are constant: export the network with "
                       "constants folded");
  }
  for (int k = 0; k < n; k++) {
    WEIR_TRY(onnx_in(c, k, &in));
    if (in->constant == NULL) {
      v[k] = onnx_ordered(c, in->v, in->last, *last);
    } else if (in->constant->n_dims > rank - 1 - out->batch && out->batch > 0) {
      return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                         "a constant of %d dimensions next to data whose batch is dimension %d",
                         in->constant->n_dims, out->batch);
    } else {
      WEIR_TRY(beside(c, in->constant, rank, *last, &v[k]));
    }
  }
  return WEIR_OK;
}

weir_status onnx_binary(onnx_net *c, onnx_item *out)
{
  weir_value v[2] = {WEIR_NO_VALUE, WEIR_NO_VALUE};

  WEIR_TRY(align(c, 2, v, out));
  out->v = weir_binary_at(c->g, code_of(c), v[0], v[1], WEIR_WHERE);
  return onnx_status(c);
}

weir_status onnx_where(onnx_net *c, onnx_item *out)
{
  weir_value v[3] = {WEIR_NO_VALUE, WEIR_NO_VALUE, WEIR_NO_VALUE};

  WEIR_TRY(align(c, 3, v, out));
  out->v = weir_select(c->g, v[0], v[1], v[2]);
  return onnx_status(c);
}

/* Identity; Dropout, which changes nothing in inference. */
weir_status onnx_same(onnx_net *c, onnx_item *out)
{
  const onnx_item *in = NULL;
  int64_t training = 0;
  int n = 0;

  WEIR_TRY(onnx_numbers(c, 2, "training_mode", 1, &training, &n));
  if (training != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "training_mode: export the network for inference");
  }
  WEIR_TRY(onnx_in(c, 0, &in));
  const weir_onnx_text name = out->name;

  *out = *in;
  out->name = name;
  return WEIR_OK;
}

weir_status onnx_constant_node(onnx_net *c, onnx_item *out)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, "value");

  if (a == NULL || a->kind != WEIR_ONNX_TENSOR) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "only constants given as tensors are supported");
  }
  out->constant = &c->m->tensors[a->tensor];
  return WEIR_OK;
}
