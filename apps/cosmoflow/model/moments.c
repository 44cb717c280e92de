/* moments.c - see moments.h. */
#include "model/moments.h"
#include <math.h>
#include <string.h>
#include "data/volume/volume_info.h"
#include "nn/weir_activation.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/slice/weir_slice.h"

#define MIN_DIAGONAL 1e-4 /* half ranges */
#define PRIOR (1.0 / 3)   /* variance of a label that is uniform in [-1, 1] */
#define GRID 0x1p24       /* of `constant_of`: below the rounding of f32 where labels are */

int64_t cf_moments_outputs(int64_t labels)
{
  return 2 * labels + labels * (labels - 1) / 2;
}

weir_value cf_moments_mean(weir_graph *g, int64_t labels, weir_value raw)
{
  return weir_slice(g, raw, 1, 0, labels, 1);
}

/* x without a derivative: rounded to multiples of 2^-24, which is flat. */
static weir_value constant_of(weir_graph *g, weir_value x)
{
  return weir_scale(g, weir_round(g, weir_scale(g, x, GRID)), 1 / GRID);
}

static weir_value column(weir_graph *g, weir_value x, int64_t i)
{
  return weir_slice(g, x, 1, i, i + 1, 1);
}

/* Row i of C, [n, i + 1]. */
static weir_value row_of(weir_graph *g, weir_value raw, int64_t labels, int64_t i)
{
  const weir_activation softplus = {.kind = WEIR_ACTIVATION_SOFTPLUS};
  const weir_value x = weir_activate(g, &softplus, column(g, raw, labels + i));
  const weir_value diagonal = weir_add_scalar(g, x, MIN_DIAGONAL);
  const int64_t first = 2 * labels + i * (i - 1) / 2;

  if (i == 0) {
    return diagonal;
  }
  const weir_value row[] = {weir_slice(g, raw, 1, first, first + i, 1), diagonal};

  return weir_concat(g, row, 2, 1);
}

/* Sums over the columns, [n, 1]. */
static weir_value sum_of(weir_graph *g, weir_value x)
{
  return weir_reduce(
      g, &((weir_reduce_spec){.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {1}, .keep = true}),
      x);
}

/* Sigma_ij, [n, 1], of rows i >= j. */
static weir_value covariance_of(weir_graph *g, weir_value row_i, weir_value row_j, int64_t j)
{
  return sum_of(g, weir_mul(g, weir_slice(g, row_i, 1, 0, j + 1, 1), row_j));
}

weir_value cf_moments_loss(weir_graph *g, weir_value raw, weir_value truth)
{
  const weir_array_desc *const d = weir_value_desc(g, truth), *const r = weir_value_desc(g, raw);

  if (d == NULL || r == NULL) {
    return WEIR_NO_VALUE;
  }
  const int64_t labels = d->shape[1];

  if (r->rank != 2 || r->shape[0] != d->shape[0] || r->shape[1] != cf_moments_outputs(labels) ||
      labels > CF_MAX_LABELS) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "moments: %lld labels have %lld outputs",
                                        (long long)labels, (long long)cf_moments_outputs(labels)));
  }
  const double share = 1 / PRIOR / (double)labels;
  const double pair_share = 2 / (PRIOR * PRIOR) / (double)(labels * (labels + 1));
  const weir_value mean = cf_moments_mean(g, labels, raw);
  const weir_value error = weir_sub(g, truth, mean);
  const weir_value given = weir_sub(g, truth, constant_of(g, mean));
  weir_value loss = weir_scale(g, sum_of(g, weir_square(g, error)), share), row[CF_MAX_LABELS];

  for (int64_t i = 0; i < labels; i++) {
    row[i] = row_of(g, raw, labels, i);
    for (int64_t j = 0; j <= i; j++) {
      const weir_value product = weir_mul(g, column(g, given, i), column(g, given, j));
      const weir_value apart = weir_sub(g, product, covariance_of(g, row[i], row[j], j));

      loss = weir_add(g, loss, weir_scale(g, weir_square(g, apart), pair_share));
    }
  }
  return loss;
}

void cf_moments_decode(int64_t labels, const float *raw, double *mean, double *factor)
{
  const float *const diagonal = raw + labels, *below = diagonal + labels;

  memset(factor, 0, (size_t)(labels * labels) * sizeof *factor);
  for (int64_t i = 0; i < labels; i++) {
    const double x = (double)diagonal[i];

    mean[i] = (double)raw[i];
    factor[i * labels + i] = fmax(x, 0) + log1p(exp(-fabs(x))) + MIN_DIAGONAL;
    for (int64_t j = 0; j < i; j++) {
      factor[i * labels + j] = (double)*below++;
    }
  }
}
