/* loss.c - means of differences, of scores of a Gaussian, of cross entropies. */
#include "nn/weir_loss.h"

#include <string.h>

#include "nn/weir_activation.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "tensor/weir_tensor.h"

/* Beyond so many standard deviations a Gaussian is 0 in every dtype: exp(-800). */
#define FAR 40.0
/* Above the smallest normal number of f32, so that the quotient of two such is finite. */
#define TINY 1e-30

const weir_opt weir_sigma_opts[] = {
    WEIR_OPT_ENUM(weir_sigma_spec, form, WEIR_SPREAD_SOFTPLUS, "softplus|exp|given",
                  "transform from network output to standard deviation"),
    WEIR_OPT_REAL(weir_sigma_spec, floor, 1e-3, 0, 1e6, "1",
                  "minimum standard deviation, in units of the target; 0: 1e-3"),
    WEIR_OPT_END,
};

const weir_opt weir_categorical_opts[] = {
    WEIR_OPT_REAL(weir_categorical_spec, smoothing, 0, 0, 1, "1",
                  "label smoothing: fraction of each target that is distributed over all classes"),
    WEIR_OPT_END,
};

/* Where nodes go, and the line they are of. */
typedef struct maker {
  weir_graph *g;
  const char *where;
} maker;

static weir_value unary(maker m, weir_code code, weir_value x)
{
  return weir_unary_at(m.g, code, x, m.where);
}

static weir_value binary(maker m, weir_code code, weir_value a, weir_value b)
{
  return weir_binary_at(m.g, code, a, b, m.where);
}

/* code(x, c) and code(c, x). */
static weir_value right(maker m, weir_code code, weir_value x, double c)
{
  return weir_right_at(m.g, code, x, c, m.where);
}

static weir_value left(maker m, weir_code code, double c, weir_value x)
{
  return weir_left_at(m.g, code, c, x, m.where);
}

static weir_value select_of(maker m, weir_value condition, weir_value yes, weir_value no)
{
  return weir_ternary_at(m.g, WEIR_CODE_SELECT, condition, yes, no, m.where);
}

static weir_value fail_at(maker m, const char *what)
{
  return weir_graph_fail(m.g, weir_fail(WEIR_ERR_SHAPE, "%s: %s", m.where, what));
}

/* The same shape, or the same dtype and shape. */
static bool same(const weir_array_desc *a, const weir_array_desc *b, bool dtype)
{
  bool yes = a->rank == b->rank && (!dtype || a->dtype == b->dtype);

  for (int d = 0; d < a->rank && yes; d++) {
    yes = a->shape[d] == b->shape[d];
  }
  return yes;
}

/* Checks prediction and truth: floats of one dtype and shape. False, with the graph's
 * error, where they are not. */
static bool is_pair(maker m, weir_value prediction, weir_value truth)
{
  const weir_array_desc *p = weir_value_desc(m.g, prediction), *t = weir_value_desc(m.g, truth);

  if (p == NULL || t == NULL) {
    return false;
  }
  if (!weir_dtype_is_real(p->dtype) || !same(p, t, true)) {
    (void)fail_at(m, "loss: prediction and target must be floats of one dtype and shape");
    return false;
  }
  return true;
}

static double count_of(const weir_array_desc *d)
{
  double n = 1;

  for (int k = 0; k < d->rank; k++) {
    n *= (double)d->shape[k];
  }
  return n;
}

static weir_value sum(maker m, weir_value x)
{
  return weir_reduce_dim_at(m.g, WEIR_COMBINE_SUM, x, -1, m.where);
}

/* A weight for each element, none left over. */
static bool are_weights(maker m, const weir_array_desc *loss, const weir_array_desc *w)
{
  const weir_array_desc both[] = {*loss, *w};
  weir_array_desc common;

  if (w->dtype != loss->dtype || weir_common_shape("loss", both, 2, &common) != WEIR_OK ||
      !same(&common, loss, false)) {
    (void)fail_at(m, "loss: weights must have the dtype of the loss and broadcast to it");
    return false;
  }
  return true;
}

weir_value weir_loss_weight_at(weir_graph *g, weir_value loss, weir_value weights,
                               const char *where)
{
  const maker m = {g, where};
  const weir_array_desc *d = weir_value_desc(g, loss), *w = weir_value_desc(g, weights);

  if (d == NULL || w == NULL || !are_weights(m, d, w)) {
    return WEIR_NO_VALUE;
  }
  return right(m, WEIR_CODE_MUL, sum(m, weights), count_of(d) / count_of(w));
}

weir_value weir_loss_mean_at(weir_graph *g, weir_value loss, weir_value weights, const char *where)
{
  const maker m = {g, where};
  const weir_array_desc *d = weir_value_desc(g, loss), *w = weir_value_desc(g, weights);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const double n = count_of(d);

  if (!weir_dtype_is_real(d->dtype) || n == 0) {
    return fail_at(m, "loss: the mean needs floats and at least one element");
  }
  if (w == NULL) {
    return right(m, WEIR_CODE_MUL, sum(m, loss), 1 / n);
  }
  const weir_value total = weir_loss_weight_at(g, loss, weights, where);

  if (total.node < 0) {
    return WEIR_NO_VALUE;
  }
  const weir_value one = weir_scalar(g, weir_value_desc(g, loss)->dtype, 1);
  const weir_value share = select_of(m, right(m, WEIR_CODE_GT, total, 0), total, one);

  return binary(m, WEIR_CODE_DIV, sum(m, binary(m, WEIR_CODE_MUL, weights, loss)), share);
}

weir_value weir_loss_present_at(weir_graph *g, weir_value truth, weir_value weights,
                                const char *where)
{
  const maker m = {g, where};
  const weir_array_desc *t = weir_value_desc(g, truth), *w = weir_value_desc(g, weights);

  if (t == NULL || w == NULL || !are_weights(m, t, w)) {
    return w == NULL ? truth : WEIR_NO_VALUE;
  }
  const weir_value zero = weir_scalar(g, t->dtype, 0);

  return select_of(m, right(m, WEIR_CODE_NE, weights, 0), truth, zero);
}

/* truth - prediction, 0 where truth is missing from the first and not from the second. */
static weir_value difference(maker m, weir_value prediction, weir_value truth, weir_value weights)
{
  if (!is_pair(m, prediction, truth)) {
    return WEIR_NO_VALUE;
  }
  return binary(m, WEIR_CODE_SUB, weir_loss_present_at(m.g, truth, weights, m.where), prediction);
}

weir_value weir_loss_mse_at(weir_graph *g, weir_value prediction, weir_value truth,
                            weir_value weights, const char *where)
{
  const maker m = {g, where};
  const weir_value d = difference(m, prediction, truth, weights);

  return weir_loss_mean_at(g, binary(m, WEIR_CODE_MUL, d, d), weights, where);
}

weir_value weir_loss_mae_at(weir_graph *g, weir_value prediction, weir_value truth,
                            weir_value weights, const char *where)
{
  const maker m = {g, where};
  const weir_value d = difference(m, prediction, truth, weights);

  return weir_loss_mean_at(g, unary(m, WEIR_CODE_ABS, d), weights, where);
}

/* log(1 + exp(x)). */
static weir_value softplus(maker m, weir_value x)
{
  return weir_activation_at(m.g, &(weir_activation){.kind = WEIR_ACTIVATION_SOFTPLUS}, x, m.where);
}

weir_value weir_sigma_at(weir_graph *g, const weir_sigma_spec *spec, weir_value raw,
                         const char *where)
{
  const maker m = {g, where};
  const double min_sigma = spec->floor > 0 ? spec->floor : 1e-3;

  switch (spec->form) {
  case WEIR_SPREAD_SOFTPLUS:
    return right(m, WEIR_CODE_ADD, softplus(m, raw), min_sigma);
  case WEIR_SPREAD_EXP:
    return right(m, WEIR_CODE_ADD, unary(m, WEIR_CODE_EXP, left(m, WEIR_CODE_MIN, FAR, raw)),
                 min_sigma);
  case WEIR_SPREAD_GIVEN:
    return left(m, WEIR_CODE_MAX, min_sigma, raw);
  default:
    return fail_at(m, "sigma: form must be softplus, exp or given");
  }
}

/* d erf(z / sqrt 2) + sigma (sqrt(2 / pi) exp(-z^2 / 2) - 1 / sqrt pi): nothing cancels. |z| is
 * clamped by a larger sigma, so that it cannot overflow; both terms of z are constant there. */
weir_value weir_crps_at(weir_graph *g, weir_value mean, weir_value sigma, weir_value truth,
                        const char *where)
{
  const maker m = {g, where};

  if (!is_pair(m, mean, truth) || !is_pair(m, mean, sigma)) {
    return WEIR_NO_VALUE;
  }
  const weir_value d = binary(m, WEIR_CODE_SUB, truth, mean);
  const weir_value near = right(m, WEIR_CODE_MUL, unary(m, WEIR_CODE_ABS, d), 1 / FAR);
  const weir_value min_scale = right(m, WEIR_CODE_MAX, near, TINY);
  const weir_value z = binary(m, WEIR_CODE_DIV, d, binary(m, WEIR_CODE_MAX, sigma, min_scale));
  const weir_value p = unary(m, WEIR_CODE_ERF, right(m, WEIR_CODE_MUL, z, 0.70710678118654752440));
  const weir_value half = right(m, WEIR_CODE_MUL, binary(m, WEIR_CODE_MUL, z, z), -0.5);
  const weir_value bell = right(m, WEIR_CODE_MUL, unary(m, WEIR_CODE_EXP, half),
                                0.79788456080286535588); /* sqrt(2 / pi) */
  const weir_value rest = right(m, WEIR_CODE_SUB, bell, 0.56418958354775628695);

  return binary(m, WEIR_CODE_ADD, binary(m, WEIR_CODE_MUL, d, p),
                binary(m, WEIR_CODE_MUL, sigma, rest));
}

weir_value weir_loss_crps_at(weir_graph *g, const weir_sigma_spec *spec, weir_value mean,
                             weir_value raw, weir_value truth, weir_value weights,
                             const char *where)
{
  const weir_value sigma = weir_sigma_at(g, spec, raw, where);
  const weir_value there = weir_loss_present_at(g, truth, weights, where);

  return weir_loss_mean_at(g, weir_crps_at(g, mean, sigma, there, where), weights, where);
}

/* softplus(x) - x t. */
weir_value weir_loss_bce_logits_at(weir_graph *g, weir_value logits, weir_value truth,
                                   weir_value weights, const char *where)
{
  const maker m = {g, where};

  if (!is_pair(m, logits, truth)) {
    return WEIR_NO_VALUE;
  }
  const weir_value there = weir_loss_present_at(g, truth, weights, where);
  const weir_value l =
      binary(m, WEIR_CODE_SUB, softplus(m, logits), binary(m, WEIR_CODE_MUL, logits, there));

  return weir_loss_mean_at(g, l, weights, where);
}

/* 0, 1, .., n - 1. */
static weir_value numbers(maker m, weir_dtype dtype, int64_t n)
{
  weir_value v = WEIR_NO_VALUE;
  weir_tensor t;
  const weir_status status = weir_tensor_init(&t, dtype, 1, &n);

  if (status != WEIR_OK) {
    return weir_graph_fail(m.g, status);
  }
  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_int(dtype, t.data, i, i);
  }
  v = weir_constant(m.g, &t);
  weir_tensor_fini(&t);
  return v;
}

/* x with a last dimension of extent 1. */
static weir_value column(maker m, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(m.g, x);
  weir_reshape_spec s = {.rank = 1};

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  s.rank += d->rank;
  memcpy(s.shape, d->shape, sizeof s.shape);
  s.shape[d->rank] = 1;
  return weir_reshape_at(m.g, x, &s, m.where);
}

/* log(sum over the last dimension of exp(x)), the dimension kept. */
static weir_value log_sum(maker m, weir_value x, int last)
{
  const weir_reduce_spec s = {
      .combine = WEIR_COMBINE_SOFTMAX, .n_dims = 1, .dim = {last}, .keep = true};
  const weir_value v = weir_reduce_at(m.g, &s, x, WEIR_NO_VALUE, m.where);
  const weir_value all = {v.node, 1};

  return v.node < 0 ? v : binary(m, WEIR_CODE_ADD, v, unary(m, WEIR_CODE_LOG, all));
}

/* Cross entropies [..] of log-probabilities: what a number picks; or what probabilities weigh. */
static weir_value pick(maker m, weir_value log_p, weir_value truth, weir_value weights)
{
  const weir_array_desc d = *weir_value_desc(m.g, log_p);
  const weir_dtype dtype = weir_value_desc(m.g, truth)->dtype;
  const int last = d.rank - 1;
  weir_value taken;

  if (weir_dtype_is_real(dtype)) {
    const weir_value w = weights.node < 0 ? weights : column(m, weights);

    taken = binary(m, WEIR_CODE_MUL, weir_loss_present_at(m.g, truth, w, m.where), log_p);
  } else {
    const weir_value classes = numbers(m, dtype, d.shape[last]);
    const weir_value is = binary(m, WEIR_CODE_EQ, column(m, truth), classes);

    taken = select_of(m, is, log_p, weir_scalar(m.g, d.dtype, 0));
  }
  return unary(m, WEIR_CODE_NEG, weir_reduce_dim_at(m.g, WEIR_COMBINE_SUM, taken, last, m.where));
}

/* The largest class that truth can name; floats are probabilities. */
static int64_t last_class(weir_dtype dtype)
{
  const int bits = 8 * (int)weir_dtype_size(dtype) - (dtype != WEIR_U8);

  return weir_dtype_is_real(dtype) || bits > 62 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}

static bool is_truth(maker m, weir_value logits, weir_value truth)
{
  const weir_array_desc *x = weir_value_desc(m.g, logits), *t = weir_value_desc(m.g, truth);

  if (x == NULL || t == NULL) {
    return false;
  }
  weir_array_desc numbered = *x;

  numbered.rank = x->rank > 0 ? x->rank - 1 : 0;
  const bool numbers_fit =
      weir_dtype_is_whole(t->dtype) && t->dtype != WEIR_BOOL && same(&numbered, t, false);

  if (x->rank < 1 || !weir_dtype_is_real(x->dtype) ||
      (weir_dtype_is_real(t->dtype) ? !same(x, t, true) : !numbers_fit)) {
    (void)fail_at(m, "loss: takes logits as floats [.., classes] and targets as integers [..] or "
                     "as probabilities of the shape and dtype of logits");
    return false;
  }
  if (x->shape[x->rank - 1] - 1 > last_class(t->dtype)) {
    (void)fail_at(m, "loss: the integer dtype of the target cannot represent all classes");
    return false;
  }
  return true;
}

weir_value weir_loss_categorical_at(weir_graph *g, const weir_categorical_spec *spec,
                                    weir_value logits, weir_value truth, weir_value weights,
                                    const char *where)
{
  const maker m = {g, where};

  if (!is_truth(m, logits, truth)) {
    return WEIR_NO_VALUE;
  }
  const int last = weir_value_desc(g, logits)->rank - 1;
  const int64_t classes = weir_value_desc(g, logits)->shape[last];
  const weir_value log_p = binary(m, WEIR_CODE_SUB, logits, log_sum(m, logits, last));

  if (log_p.node < 0) {
    return WEIR_NO_VALUE;
  }
  weir_value l = pick(m, log_p, truth, weights);

  if (spec->smoothing > 0) {
    const weir_value all = weir_reduce_dim_at(g, WEIR_COMBINE_SUM, log_p, last, where);
    const weir_value even = right(m, WEIR_CODE_MUL, all, -spec->smoothing / (double)classes);

    l = binary(m, WEIR_CODE_ADD, right(m, WEIR_CODE_MUL, l, 1 - spec->smoothing), even);
  }
  return weir_loss_mean_at(g, l, weights, where);
}
