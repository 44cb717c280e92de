/* mixture.c - see mixture.h. */
#include "model/mixture.h"
#include <math.h>
#include <string.h>
#include "base/weir_random.h"
#include "data/posterior.h"
#include "data/volume/volume_info.h"
#include "nn/weir_activation.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "tensor/weir_tensor.h"

/* At least this much of A_dd: a standard deviation of 1000 half ranges says nothing. */
#define MIN_DIAGONAL 1e-3

const weir_opt cf_mixture_options[] = {
    WEIR_OPT_INT(cf_mixture_opts, components, 1, 1, CF_MAX_COMPONENTS, "1",
                 "Gaussian components, each with a full covariance; 1: one Gaussian"),
    WEIR_OPT_END,
};

/* Elements below the diagonal. */
static int64_t below(int64_t labels)
{
  return labels * (labels - 1) / 2;
}

int64_t cf_mixture_outputs(int64_t components, int64_t labels)
{
  return components * (1 + 2 * labels + below(labels));
}

double cf_mixture_centre(int64_t components, int64_t k, int64_t label)
{
  return components == 1 ? 0
                         : 0.2 * (weir_random_uniform(0, 0, (uint32_t)label, (uint64_t)k) - 0.5);
}

/* ---- On the graph ---- */

/* Outputs [first, first + components * columns) as [n, components, columns]. */
static weir_value part(weir_graph *g, weir_value raw, int64_t first, int64_t components,
                       int64_t columns)
{
  const weir_array_desc *const d = weir_value_desc(g, raw);

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const int64_t n = d->shape[0];
  const weir_reshape_spec shape = {.rank = 3, .shape = {n, components, columns}};

  return weir_reshape(g, weir_slice(g, raw, 1, first, first + components * columns, 1), &shape);
}

static weir_value means(weir_graph *g, int64_t components, int64_t labels, weir_value raw)
{
  const weir_array_desc *const d = weir_value_desc(g, raw);
  const int64_t shape[] = {components, labels};
  weir_tensor t;

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_status status = weir_tensor_init(&t, d->dtype, 2, shape);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t i = 0; i < components * labels; i++) {
    weir_dtype_store_real(t.dtype, t.data, i,
                          cf_mixture_centre(components, i / labels, i % labels));
  }
  const weir_value centres = weir_constant(g, &t);

  weir_tensor_fini(&t);
  return weir_add(g, part(g, raw, components, components, labels), centres);
}

static weir_value diagonals(weir_graph *g, int64_t components, int64_t labels, weir_value raw)
{
  const weir_value x = part(g, raw, components * (1 + labels), components, labels);
  const weir_activation softplus = {.kind = WEIR_ACTIVATION_SOFTPLUS};

  return weir_add_scalar(g, weir_activate(g, &softplus, x), MIN_DIAGONAL);
}

static weir_value sum_over(weir_graph *g, weir_value x, int dim)
{
  return weir_reduce(
      g,
      &((weir_reduce_spec){.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {dim}, .keep = true}),
      x);
}

/* ln of the sum of exp over the components, [n, 1, 1]. */
static weir_value log_sum(weir_graph *g, weir_value x)
{
  const weir_reduce_spec s = {
      .combine = WEIR_COMBINE_SOFTMAX, .n_dims = 1, .dim = {1}, .keep = true};
  const weir_value max = weir_reduce(g, &s, x);
  const weir_value sum = {max.node, 1};

  return max.node < 0 ? max : weir_add(g, max, weir_log(g, sum));
}

/* |A (y - m)|^2, [n, components, 1]; apart: y - m, diagonal: A_dd, [n, components, labels]; lower:
 * [n, components, below]. */
static weir_value distance(weir_graph *g, int64_t labels, weir_value apart, weir_value diagonal,
                           weir_value lower)
{
  const weir_value along = weir_mul(g, diagonal, apart);
  weir_value sum = WEIR_NO_VALUE;

  for (int64_t i = 0, first = 0; i < labels; first += i++) {
    weir_value z = weir_slice(g, along, 2, i, i + 1, 1);

    if (i > 0) {
      const weir_value row = weir_slice(g, lower, 2, first, first + i, 1);

      z = weir_add(g, z, sum_over(g, weir_mul(g, row, weir_slice(g, apart, 2, 0, i, 1)), 2));
    }
    sum = i == 0 ? weir_square(g, z) : weir_add(g, sum, weir_square(g, z));
  }
  return sum;
}

weir_value cf_mixture_log_density(weir_graph *g, int64_t components, weir_value raw,
                                  weir_value truth)
{
  const weir_array_desc *const d = weir_value_desc(g, truth), *const r = weir_value_desc(g, raw);

  if (d == NULL || r == NULL) {
    return WEIR_NO_VALUE;
  }
  const int64_t k = components, n = d->shape[0], labels = d->shape[1];

  if (r->rank != 2 || r->shape[0] != n || r->shape[1] != cf_mixture_outputs(k, labels)) {
    return weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE, "mixture: %lld components of %lld labels have %lld outputs",
                     (long long)k, (long long)labels, (long long)cf_mixture_outputs(k, labels)));
  }
  const weir_reshape_spec shape = {.rank = 3, .shape = {n, 1, labels}};
  const weir_value apart = weir_sub(g, weir_reshape(g, truth, &shape), means(g, k, labels, raw));
  const weir_value diagonal = diagonals(g, k, labels, raw);
  const weir_value lower =
      labels > 1 ? part(g, raw, k * (1 + 2 * labels), k, below(labels)) : WEIR_NO_VALUE;
  const weir_value half = weir_scale(g, distance(g, labels, apart, diagonal, lower), -0.5);
  const weir_value volume = sum_over(g, weir_log(g, diagonal), 2);
  const weir_value logits = part(g, raw, 0, k, 1);
  const weir_value joint = weir_add(g, weir_add(g, logits, volume), half);

  return weir_sub_scalar(g, weir_sub(g, log_sum(g, joint), log_sum(g, logits)),
                         0.5 * (double)labels * CF_LN_2PI);
}

weir_value cf_mixture_mean(weir_graph *g, int64_t components, int64_t labels, weir_value raw)
{
  const weir_value logits = part(g, raw, 0, components, 1);
  const weir_value weight = weir_exp(g, weir_sub(g, logits, log_sum(g, logits)));
  const weir_value m = weir_mul(g, means(g, components, labels, raw), weight);

  return weir_sum(g, m, 1);
}

/* ---- As numbers ---- */

static double softplus_of(double x)
{
  return fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* Computes the inverse C of a lower triangular A; both [n, n], row-major. */
static void invert(int64_t n, const double *a, double *c)
{
  memset(c, 0, (size_t)(n * n) * sizeof *c);
  for (int64_t j = 0; j < n; j++) {
    c[j * n + j] = 1 / a[j * n + j];
    for (int64_t i = j + 1; i < n; i++) {
      double sum = 0;

      for (int64_t l = j; l < i; l++) {
        sum += a[i * n + l] * c[l * n + j];
      }
      c[i * n + j] = -sum / a[i * n + i];
    }
  }
}

void cf_mixture_decode(int64_t components, int64_t labels, const float *raw, double *weight,
                       double *mean, double *factor)
{
  const float *const m = raw + components, *const diagonal = m + components * labels;
  const float *const lower = diagonal + components * labels;
  double max = -INFINITY, sum = 0;

  for (int64_t k = 0; k < components; k++) {
    max = fmax(max, (double)raw[k]);
  }
  for (int64_t k = 0; k < components; k++) {
    weight[k] = exp((double)raw[k] - max);
    sum += weight[k];
  }
  for (int64_t k = 0; k < components; k++) {
    double a[CF_MAX_LABELS * CF_MAX_LABELS] = {0};
    const float *at = lower + k * below(labels);

    weight[k] /= sum;
    for (int64_t i = 0; i < labels; i++) {
      mean[k * labels + i] = (double)m[k * labels + i] + cf_mixture_centre(components, k, i);
      for (int64_t j = 0; j < i; j++) {
        a[i * labels + j] = (double)*at++;
      }
      a[i * labels + i] = softplus_of((double)diagonal[k * labels + i]) + MIN_DIAGONAL;
    }
    invert(labels, a, factor + k * labels * labels);
  }
}
