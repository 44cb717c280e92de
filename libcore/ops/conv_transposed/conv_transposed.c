/* conv_transposed.c - out[n, i, c] = sum over kernel elements and channels of x[n, (i + lo -
 * dilation t) / stride, ..] w[t, ..], where that is a whole number: each element asks who reaches
 * it. */
#include "ops/conv_transposed/weir_conv_transposed.h"

#include <string.h>

static const int64_t max = INT64_C(1) << 31;

static weir_status check_dim(const weir_conv_transposed_spec *s, int64_t n, int64_t kernel_size,
                             int k, int64_t *extent)
{
  const int64_t stride = weir_or_one(s->stride[k]), dilation = weir_or_one(s->dilation[k]);
  const weir_border b = s->border[k];

  if (stride < 1 || stride > max || dilation < 1 || dilation > max || s->pad_before[k] < 0 ||
      s->pad_before[k] > max || s->pad_after[k] < 0 || s->pad_after[k] > max ||
      s->output_padding[k] < 0 || s->output_padding[k] >= stride || n < 1 || n > max ||
      kernel_size < 1 || kernel_size > max) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "conv_transposed: dimension %d: stride %lld, dilation %lld, cropping %lld and %lld, output "
        "padding %lld (must be less than the stride), extent %lld, kernel size %lld",
        k, (long long)stride, (long long)dilation, (long long)s->pad_before[k],
        (long long)s->pad_after[k], (long long)s->output_padding[k], (long long)n,
        (long long)kernel_size);
  }
  *extent = stride * (n - 1) + dilation * (kernel_size - 1) + 1 + s->output_padding[k] -
            s->pad_before[k] - s->pad_after[k];
  if (b != WEIR_BORDER_NEVER && b != WEIR_BORDER_ZERO && b != WEIR_BORDER_WRAP) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "conv_transposed: dimension %d: the border must be zero (crop) or wrap, not rule %d", k,
        (int)b);
  }
  if (*extent < 1 || (b == WEIR_BORDER_WRAP && *extent != stride * n)) {
    return weir_fail(WEIR_ERR_SHAPE, "conv_transposed: dimension %d: extent %lld becomes %lld%s", k,
                     (long long)n, (long long)*extent,
                     *extent < 1 ? "; the output is empty: crop less"
                                 : "; with wrap it is the stride times the extent");
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_conv_transposed_spec *s = args->spec;
  const int64_t groups = weir_or_one(s->groups);

  WEIR_TRY(weir_conv_check("conv_transposed", args, "channels out, channels in"));
  const weir_array_desc *x = &args->in[0], *w = &args->in[1];
  const int d = x->rank - 2;
  const int64_t ci = x->shape[d + 1];

  if (groups < 1 || ci % groups != 0 || w->shape[d + 1] != ci) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "conv_transposed: %lld channels in, %lld groups, but w has %lld channels",
                     (long long)ci, (long long)groups, (long long)w->shape[d + 1]);
  }
  *out = *x;
  out->dtype = weir_dtype_compute_type(x->dtype);
  out->shape[d + 1] = w->shape[d] * groups;
  for (int k = 0; k < d; k++) {
    WEIR_TRY(check_dim(s, x->shape[k + 1], w->shape[k], k, &out->shape[k + 1]));
  }
  return WEIR_OK;
}

/* Index of x along dimension k: (i + lo - dilation t) / stride. */
static void map_dim(const weir_conv_transposed_spec *s, const weir_array_desc *x, int k, int tap,
                    const weir_access *a, weir_index *i)
{
  const weir_box whole = weir_iterations(a);
  int64_t min = 0, last = 0;

  i->coef[k + 1] = 1;
  i->coef[tap] = -weir_or_one(s->dilation[k]);
  i->offset = s->pad_before[k];
  i->div = weir_or_one(s->stride[k]);
  if (!weir_box_empty(&whole)) {
    weir_index_range(i, &whole, &min, &last);
  }
  i->border = s->border[k] == WEIR_BORDER_WRAP     ? WEIR_BORDER_WRAP
              : min >= 0 && last < x->shape[k + 1] ? WEIR_BORDER_NEVER
                                                   : WEIR_BORDER_ABSENT;
}

/* Whether the numerator of an index divides by its divisor. */
static int32_t put_whole(weir_body *b, const weir_index *i, int at, int tap)
{
  const int32_t step = weir_body_int(b, WEIR_I64, i->coef[tap]);
  const int32_t by = weir_body_binary(b, WEIR_CODE_MUL, weir_body_index(b, tap), step);
  const int32_t sum = weir_body_binary(b, WEIR_CODE_ADD, weir_body_index(b, at), by);
  const int32_t n = weir_body_binary(b, WEIR_CODE_ADD, sum, weir_body_int(b, WEIR_I64, i->offset));
  const int32_t div = weir_body_int(b, WEIR_I64, i->div);
  const int32_t back =
      weir_body_binary(b, WEIR_CODE_MUL, weir_body_binary(b, WEIR_CODE_DIV, n, div), div);

  return weir_body_binary(b, WEIR_CODE_EQ, back, n);
}

/* The product of the two operands; 0 where a tap lies between two elements of x. */
static void put_value(weir_access *a, int d, int tap, weir_dtype dtype)
{
  weir_body *b = &a->body;
  const int32_t product =
      weir_body_binary(b, WEIR_CODE_MUL, weir_map_load(a, 0, dtype), weir_map_load(a, 1, dtype));
  int32_t whole = -1;

  for (int k = 0; k < d; k++) {
    if (a->in[0].index[k + 1].div > 1) {
      const int32_t w = put_whole(b, &a->in[0].index[k + 1], k + 1, tap + k);

      whole = whole < 0 ? w : weir_body_binary(b, WEIR_CODE_AND, whole, w);
    }
  }
  a->n_values = 1;
  a->value[0] = whole < 0 ? product
                          : weir_body_select(b, whole, product,
                                             weir_body_real(b, weir_dtype_compute_type(dtype), 0));
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = weir_dtype_compute_type(dtype);
}

/* Iterations: n, i1 .. id, group, channel of the group; kernel elements t1 .. td, channel in of the
 * group. */
static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_conv_transposed_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0], *w = &args->in[1], *y = &args->out[0];
  const int d = x->rank - 2;
  const int64_t groups = weir_or_one(s->groups), in_group = x->shape[d + 1] / groups;

  for (int k = 0; k <= d; k++) {
    (void)weir_map_dim(a, WEIR_PARALLEL, y->shape[k]);
  }
  const int group = weir_map_dim(a, WEIR_PARALLEL, groups);
  const int channel = weir_map_dim(a, WEIR_PARALLEL, w->shape[d]);
  const int tap = a->n_dims;

  for (int k = 0; k < d; k++) {
    (void)weir_map_dim(a, WEIR_REDUCED, w->shape[k]);
  }
  const int from = weir_map_dim(a, WEIR_REDUCED, in_group);
  weir_operand *in = &a->in[0], *weight = &a->in[1], *made = &a->out[0];

  weir_map_operand(in, x);
  weir_map_operand(weight, w);
  weir_map_operand(made, y);
  in->index[0].coef[0] = made->index[0].coef[0] = 1;
  for (int k = 0; k < d; k++) {
    map_dim(s, x, k, tap + k, a, &in->index[k + 1]);
    weight->index[k].coef[tap + k] = 1;
    made->index[k + 1].coef[k + 1] = 1;
  }
  in->index[d + 1].coef[group] = weight->index[d + 1].coef[group] = in_group;
  in->index[d + 1].coef[from] = weight->index[d + 1].coef[from] = 1;
  weight->index[d].coef[channel] = 1;
  made->index[d + 1].coef[group] = w->shape[d];
  made->index[d + 1].coef[channel] = 1;
  put_value(a, d, tap, x->dtype);
  return WEIR_OK;
}

/* The convolution whose x is this one's output. */
static weir_conv_spec conv_of(const weir_conv_transposed_spec *s)
{
  weir_conv_spec c = {.groups = s->groups};

  memcpy(c.stride, s->stride, sizeof c.stride);
  memcpy(c.dilation, s->dilation, sizeof c.dilation);
  memcpy(c.pad_before, s->pad_before, sizeof c.pad_before);
  memcpy(c.pad_after, s->pad_after, sizeof c.pad_after);
  memcpy(c.border, s->border, sizeof c.border);
  return c;
}

static const weir_op_desc op_weights = {.name = "conv_weights", .cite = ""};

/* That convolution multiplies (its data, w) into its output, here x: the sum over its output
 * instead gives what w gets. */
static weir_value by_weights(weir_graph *g, const weir_conv_spec *s, const weir_array_desc *w,
                             weir_value dout, weir_value x, const char *where)
{
  const weir_array_desc in[] = {*weir_value_desc(g, dout), *w};
  const weir_value from[] = {dout, x};
  weir_op_args args = {.spec = s, .n_in = 2, .n_out = 1, .in = in};
  weir_value v = WEIR_NO_VALUE;
  weir_array_desc out;
  weir_access a;

  weir_access_init(&a);
  weir_status status = weir_op_conv.infer(&args, &out);

  args.out = &out;
  status = status == WEIR_OK ? weir_access_resize(&a, 2, 1, 0) : status;
  status = status == WEIR_OK ? weir_op_conv.access(&args, &a) : status;
  if (status != WEIR_OK) {
    weir_access_fini(&a);
    return weir_graph_fail(g, status);
  }
  const weir_operand made = a.out[0];

  a.out[0] = a.in[1];
  a.in[1] = made;
  for (int k = 0; k < a.n_dims; k++) {
    bool kept = false;

    for (int j = 0; j < a.out[0].rank; j++) {
      kept = kept || a.out[0].index[j].coef[k] != 0;
    }
    a.dim[k].kind = kept ? WEIR_PARALLEL : WEIR_REDUCED;
  }
  v = weir_graph_add_access(g, &op_weights, &a, from, 2, where);
  weir_access_fini(&a);
  if (v.node >= 0) {
    weir_derivation *const t = &weir_graph_node_mut(g, v.node)->derivation;

    *t = weir_node_derivation(weir_graph_node(g, v.node));
    t->of = &weir_op_conv;
    t->made = 1;
    t->in[1] = 2;
  }
  return v;
}

static void derive(weir_graph *g, int32_t node, const weir_value *dout, weir_value *din)
{
  const weir_node *n = weir_graph_node(g, node);
  const weir_conv_spec s = conv_of(n->spec);
  const weir_array_desc w = weir_graph_get_array(g, n->in[1])->desc;
  const weir_value x = weir_array_value(g, n->in[0]), weights = weir_array_value(g, n->in[1]);
  const char *where = n->where;

  din[0] = weir_conv_at(g, &s, dout[0], weights, where);
  din[1] = by_weights(g, &s, &w, dout[0], x, where);
}

const weir_op_desc weir_op_conv_transposed = {
    .name = "conv_transposed",
    .cite = "Zeiler et al., Deconvolutional networks, CVPR 2010",
    .spec_size = sizeof(weir_conv_transposed_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
    .derive = derive,
};

/* The output is that convolution's data (0), x its output (2) and w its weights; channels of x are
 * its channels out. */
static void tell_conv(weir_node *node)
{
  const int d = node->access.in[0].rank - 2, channel = d + 2, from = 2 * d + 3;
  weir_derivation *const t = &node->derivation;

  *t = weir_node_derivation(node);
  t->of = &weir_op_conv;
  t->made = 0;
  t->in[0] = 2;
  for (int k = 0; k <= d; k++) {
    t->dim[k] = (weir_derived_dim){0, (int8_t)k};
  }
  t->dim[channel].dim = (int8_t)from;
  t->dim[from].dim = (int8_t)channel;
}

weir_value weir_conv_transposed_at(weir_graph *g, const weir_conv_transposed_spec *spec,
                                   weir_value x, weir_value w, const char *where)
{
  const weir_value in[] = {x, w};
  const weir_value v = weir_graph_add(g, &weir_op_conv_transposed, spec, in, 2, where);

  if (v.node >= 0) {
    tell_conv(weir_graph_node_mut(g, v.node));
  }
  return v;
}
