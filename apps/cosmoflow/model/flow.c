/* flow.c - see flow.h. */
#include "model/flow.h"
#include "data/volume/volume_info.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "tensor/weir_tensor.h"

#define SCOPE "flow" /* of the parameters, and the layer in tables */

const weir_opt cf_flow_options[] = {
    WEIR_OPT_INT(cf_flow_opts, transforms, 5, 1, CF_FLOW_MAX_TRANSFORMS, "1",
                 "autoregressive transforms; every second one has the parameters in reverse order"),
    WEIR_OPT_INT(cf_flow_opts, hidden, 32, 1, CF_FLOW_MAX_HIDDEN, "1",
                 "hidden units of the layer that computes the shifts and factors of a transform"),
    WEIR_OPT_INT(cf_flow_opts, features, 16, 1, CF_FLOW_MAX_FEATURES, "1",
                 "numbers that the network computes of a sample, on which the flow is conditioned"),
    WEIR_OPT_END,
};

/* ---- Weights ---- */

static const char *const param[CF_FLOW_PARTS] = {
    [CF_FLOW_LABEL] = "label", [CF_FLOW_FEATURE] = "feature",   [CF_FLOW_BIAS] = "bias",
    [CF_FLOW_OUT] = "out",     [CF_FLOW_OUT_BIAS] = "out_bias",
};

const char *cf_flow_param(cf_flow_part part)
{
  static const char *const scoped[CF_FLOW_PARTS] = {[CF_FLOW_LABEL] = "flow/label",
                                                    [CF_FLOW_FEATURE] = "flow/feature",
                                                    [CF_FLOW_BIAS] = "flow/bias",
                                                    [CF_FLOW_OUT] = "flow/out",
                                                    [CF_FLOW_OUT_BIAS] = "flow/out_bias"};

  return scoped[part];
}

/* The last layer starts from 0: the flow is a standard normal distribution then, and its first
 * layer from Glorot's rule of one transform. */
static weir_param_spec spec_of(const cf_flow_shape *s, cf_flow_part part)
{
  const int64_t each = cf_flow_part_count(s, part);
  const bool first = part == CF_FLOW_LABEL || part == CF_FLOW_FEATURE;

  return (weir_param_spec){.rank = 2,
                           .shape = {s->transforms, each},
                           .init = {.kind = first ? WEIR_INIT_GLOROT_UNIFORM : WEIR_INIT_ZEROS,
                                    .fan_in = s->labels + s->features,
                                    .fan_out = s->hidden},
                           .decay = first || part == CF_FLOW_OUT};
}

cf_flow_values cf_flow_declare(weir_net *net, const cf_flow_opts *o, int64_t labels)
{
  cf_flow_values f = {.shape = {labels, o->features, o->transforms, o->hidden}};

  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    f.part[p] = WEIR_NO_VALUE;
  }
  if (labels < 2) {
    (void)weir_graph_fail(net->graph,
                          weir_fail(WEIR_ERR_CONFIG,
                                    "model.head: a flow of one parameter is one Gaussian: take "
                                    "model.head={mixture: {components: 4}}"));
    return f;
  }
  weir_net_push(net, SCOPE);
  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    const weir_param_spec spec = spec_of(&f.shape, (cf_flow_part)p);

    f.part[p] = weir_param(net, param[p], &spec);
  }
  weir_net_pop(net);
  return f;
}

/* ---- On the graph ---- */

/* A part of transform t as [rows, columns]. */
static weir_value part_of(weir_graph *g, const cf_flow_values *f, cf_flow_part part, int64_t t,
                          int64_t rows)
{
  const weir_reshape_spec shape = {.rank = 2,
                                   .shape = {rows, cf_flow_part_count(&f->shape, part) / rows}};

  return weir_reshape(g, weir_slice(g, f->part[part], 0, t, t + 1, 1), &shape);
}

/* Ones where the label of a row is seen by the hidden unit of a column ([labels, hidden]), or the
 * hidden unit of a row by the label of a column ([hidden, 2 labels]). */
static weir_value mask_of(weir_graph *g, const cf_flow_shape *s, int64_t t, bool out,
                          weir_dtype dtype)
{
  const int64_t shape[] = {out ? s->hidden : s->labels, out ? 2 * s->labels : s->hidden};
  weir_tensor mask;
  const weir_status status = weir_tensor_init(&mask, dtype, 2, shape);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t i = 0; i < shape[0] * shape[1]; i++) {
    const int64_t row = i / shape[1], column = i % shape[1];
    const bool seen = out ? row % s->labels <= cf_flow_degree(s, t, column % s->labels)
                          : cf_flow_degree(s, t, row) < column % s->labels;

    weir_dtype_store_real(dtype, mask.data, i, seen ? 1 : 0);
  }
  const weir_value v = weir_constant(g, &mask);

  weir_tensor_fini(&mask);
  return v;
}

/* What of a transform does not depend on u: masked weights, and bias and features before tanh. */
typedef struct transform {
  weir_value label, out, out_bias, start; /* [labels, hidden], [hidden, 2 labels], [1, 2 labels],
                                             [n, hidden] */
} transform;

static transform begin(weir_graph *g, const cf_flow_values *f, int64_t t, weir_value raw,
                       weir_dtype dtype)
{
  const cf_flow_shape *const s = &f->shape;
  const weir_value x =
      weir_contract(g, "nf,fh->nh", raw, part_of(g, f, CF_FLOW_FEATURE, t, s->features));

  return (transform){
      .label =
          weir_mul(g, part_of(g, f, CF_FLOW_LABEL, t, s->labels), mask_of(g, s, t, false, dtype)),
      .out = weir_mul(g, part_of(g, f, CF_FLOW_OUT, t, s->hidden), mask_of(g, s, t, true, dtype)),
      .out_bias = part_of(g, f, CF_FLOW_OUT_BIAS, t, 1),
      .start = weir_add(g, x, part_of(g, f, CF_FLOW_BIAS, t, 1)),
  };
}

/* Shifts and logarithms of factors of u, [n, labels] each. */
static void condition(weir_graph *g, const transform *w, int64_t labels, weir_value u,
                      weir_value *shift, weir_value *log_factor)
{
  const weir_value seen = weir_contract(g, "nl,lh->nh", u, w->label);
  const weir_value h = weir_tanh(g, weir_add(g, w->start, seen));
  const weir_value out = weir_add(g, weir_contract(g, "nh,ho->no", h, w->out), w->out_bias);
  const weir_value s = weir_slice(g, out, 1, labels, 2 * labels, 1);
  const weir_value size = weir_scale(g, weir_abs(g, s), 1 / CF_FLOW_LN_MAX_FACTOR);

  *shift = weir_slice(g, out, 1, 0, labels, 1);
  *log_factor = weir_div(g, s, weir_add_scalar(g, size, 1));
}

static weir_value sum_labels(weir_graph *g, weir_value x)
{
  return weir_reduce(
      g, &((weir_reduce_spec){.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {1}, .keep = true}),
      x);
}

/* Checks [n, features] and, with any, [n, labels]. Returns n, 0 with the graph's error. */
static int64_t check(weir_graph *g, const cf_flow_values *f, weir_value raw, weir_value truth,
                     bool any)
{
  const weir_array_desc *const r = weir_value_desc(g, raw), *const d = weir_value_desc(g, truth);
  const cf_flow_shape *const s = &f->shape;

  if (r == NULL || (any && d == NULL)) {
    return 0;
  }
  if (r->rank != 2 || r->shape[1] != s->features ||
      (any && (d->rank != 2 || d->shape[1] != s->labels || d->shape[0] != r->shape[0]))) {
    (void)weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE,
                                       "flow: takes %lld features and %lld labels of each sample",
                                       (long long)s->features, (long long)s->labels));
    return 0;
  }
  return r->shape[0];
}

weir_value cf_flow_graph_log_density(weir_graph *g, const cf_flow_values *f, weir_value raw,
                                     weir_value truth)
{
  const int64_t labels = f->shape.labels;
  weir_value u = truth, sum = WEIR_NO_VALUE, shift, log_factor;

  if (check(g, f, raw, truth, true) == 0) {
    return WEIR_NO_VALUE;
  }
  const weir_dtype dtype = weir_value_desc(g, raw)->dtype;

  for (int64_t t = 0; t < f->shape.transforms; t++) {
    const transform w = begin(g, f, t, raw, dtype);

    condition(g, &w, labels, u, &shift, &log_factor);
    u = weir_add(g, weir_mul(g, u, weir_exp(g, log_factor)), shift);
    sum = t == 0 ? log_factor : weir_add(g, sum, log_factor);
  }
  const weir_value each = weir_sub(g, sum, weir_scale(g, weir_square(g, u), 0.5));

  return weir_label(g, weir_sub_scalar(g, sum_labels(g, each), 0.5 * (double)labels * CF_LN_2PI),
                    SCOPE);
}

weir_value cf_flow_graph_centre(weir_graph *g, const cf_flow_values *f, weir_value raw)
{
  const int64_t labels = f->shape.labels, n = check(g, f, raw, raw, false);

  if (n == 0) {
    return WEIR_NO_VALUE;
  }
  const weir_dtype dtype = weir_value_desc(g, raw)->dtype;
  const weir_value zero = weir_scale(g, weir_slice(g, raw, 1, 0, 1, 1), 0); /* [n, 1] */
  weir_value z[CF_MAX_LABELS], u[CF_MAX_LABELS], shift, log_factor;

  for (int64_t i = 0; i < labels; i++) {
    z[i] = zero;
  }
  for (int64_t t = f->shape.transforms - 1; t >= 0; t--) {
    const transform w = begin(g, f, t, raw, dtype);

    for (int64_t i = 0; i < labels; i++) {
      u[i] = zero;
    }
    for (int64_t degree = 0; degree < labels; degree++) {
      const int64_t i = cf_flow_degree(&f->shape, t, degree);

      condition(g, &w, labels, weir_concat(g, u, (int)labels, 1), &shift, &log_factor);
      const weir_value apart = weir_sub(g, z[i], weir_slice(g, shift, 1, i, i + 1, 1));

      u[i] =
          weir_mul(g, apart, weir_exp(g, weir_neg(g, weir_slice(g, log_factor, 1, i, i + 1, 1))));
    }
    for (int64_t i = 0; i < labels; i++) {
      z[i] = u[i];
    }
  }
  return weir_concat(g, z, (int)labels, 1);
}
