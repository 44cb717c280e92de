/* segment.c - see segment.h. */
#include "model/segment.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/pool/weir_pool.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"

enum { RANK = 5, LAST = RANK - 1 };

const weir_opt cf_segment_options[] = {
    WEIR_OPT_INT(cf_segment_opts, channel, 0, 0, 63, "1",
                 "whose matter is classified, from 0; the network sees the others"),
    WEIR_OPT_INT(cf_segment_opts, reach, 1, 0, 32, "1",
                 "cells around a voxel whose counts are averaged"),
    WEIR_OPT_REAL(cf_segment_opts, low, 0.7, 0, 1e6, "1",
                  "density up to which a voxel is of class 0, void; in units of the sample's mean"),
    WEIR_OPT_REAL(cf_segment_opts, high, 1.5, 0, 1e6, "1",
                  "density above which it is of class 2, halo; between: 1, filament"),
    WEIR_OPT_END,
};

weir_status cf_segment_check(const cf_segment_opts *o)
{
  return o->low <= o->high
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "model.segment.low: %g is above model.segment.high, %g",
                         o->low, o->high);
}

static bool is_possible(weir_graph *g, const cf_segment_opts *o, weir_value counts)
{
  const weir_array_desc *const d = weir_value_desc(g, counts);

  if (d == NULL) {
    return false;
  }
  if (d->rank != RANK || d->shape[LAST] < 2 || o->channel >= d->shape[LAST]) {
    (void)weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE,
                     "model.segment.channel: without classes in the files (segmentation) they are "
                     "those of channel %lld, counted from 0, and seen in others; samples have %lld",
                     (long long)o->channel, (long long)(d->rank == RANK ? d->shape[LAST] : 0)));
    return false;
  }
  const weir_status status = cf_segment_check(o);

  if (status != WEIR_OK) {
    (void)weir_graph_fail(g, status);
  }
  return status == WEIR_OK;
}

static weir_value real(weir_graph *g, weir_value x)
{
  return weir_dtype_is_real(weir_value_desc(g, x)->dtype) ? x : weir_cast(g, WEIR_F32, x);
}

weir_value cf_segment_truth(weir_graph *g, const cf_segment_opts *o, weir_value counts)
{
  weir_pool_spec around = {.exclude_pad = true};
  const weir_reduce_spec all = {
      .combine = WEIR_COMBINE_SUM, .n_dims = LAST, .dim = {1, 2, 3, 4}, .keep = true};

  if (!is_possible(g, o, counts)) {
    return WEIR_NO_VALUE;
  }
  const weir_array_desc d = *weir_value_desc(g, counts);
  const double cells = (double)(d.shape[1] * d.shape[2] * d.shape[3]);

  for (int k = 0; k < WEIR_POOL_DIMS; k++) {
    around.kernel_size[k] = 2 * o->reach + 1;
    around.stride[k] = 1;
    around.pad_before[k] = around.pad_after[k] = o->reach;
  }
  const weir_value x = real(g, weir_slice(g, counts, LAST, o->channel, o->channel + 1, 1));
  const weir_value mean = weir_scale(g, weir_reduce(g, &all, x), 1 / cells);
  const weir_value density = weir_pool_mean(g, &around, x);
  const weir_value low = weir_gt(g, density, weir_scale(g, mean, o->low));
  const weir_value high = weir_gt(g, density, weir_scale(g, mean, o->high));
  const weir_value classes = weir_add(g, weir_cast(g, WEIR_I32, low), weir_cast(g, WEIR_I32, high));

  return weir_reshape(
      g, classes,
      &((weir_reshape_spec){.rank = LAST,
                            .shape = {d.shape[0], d.shape[1], d.shape[2], d.shape[3]}}));
}

weir_value cf_segment_seen(weir_graph *g, const cf_segment_opts *o, weir_value counts)
{
  weir_value slice[2];
  int n = 0;

  if (!is_possible(g, o, counts)) {
    return WEIR_NO_VALUE;
  }
  const int64_t channels = weir_value_desc(g, counts)->shape[LAST];

  if (o->channel > 0) {
    slice[n++] = weir_slice(g, counts, LAST, 0, o->channel, 1);
  }
  if (o->channel + 1 < channels) {
    slice[n++] = weir_slice(g, counts, LAST, o->channel + 1, channels, 1);
  }
  return real(g, n == 2 ? weir_concat(g, slice, n, LAST) : slice[0]);
}

/* ---- Scores ---- */

weir_value cf_segment_classes(weir_graph *g, weir_value logits)
{
  if (weir_value_desc(g, logits) == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_value largest = weir_argmax(g, logits, weir_value_desc(g, logits)->rank - 1);

  return weir_cast(g, WEIR_I32, ((weir_value){largest.node, 1}));
}

/* Counts true elements. */
static weir_value count(weir_graph *g, weir_value is)
{
  return weir_sum(g, weir_cast(g, WEIR_F32, is), -1);
}

weir_value cf_segment_accuracy(weir_graph *g, weir_value predicted, weir_value truth)
{
  const weir_array_desc *const d = weir_value_desc(g, truth);
  double n = 1;

  if (d == NULL || weir_value_desc(g, predicted) == NULL) {
    return WEIR_NO_VALUE;
  }
  for (int k = 0; k < d->rank; k++) {
    n *= (double)d->shape[k];
  }
  return weir_scale(g, count(g, weir_eq(g, predicted, truth)), 1 / n);
}

weir_value cf_segment_iou(weir_graph *g, weir_value predicted, weir_value truth, int k)
{
  if (weir_value_desc(g, truth) == NULL || weir_value_desc(g, predicted) == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_value a = weir_eq_scalar(g, predicted, k), b = weir_eq_scalar(g, truth, k);
  const weir_value both = count(g, weir_and(g, a, b)), either = count(g, weir_or(g, a, b));
  const weir_value none = weir_eq_scalar(g, either, 0), one = weir_scalar(g, WEIR_F32, 1);
  const weir_value share = weir_div(g, both, weir_select(g, none, one, either));

  return weir_select(g, none, one, share);
}
