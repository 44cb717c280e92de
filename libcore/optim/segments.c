/* segments.c - numbers per segment of the bank: norms, and factors expanded to the parameters.
 */
#include "optim/optim_priv.h"

#include "base/weir_alloc.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/concat/weir_concat.h"
#include "ops/gather/weir_gather.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/slice/weir_slice.h"

static int64_t bank_count(const weir_graph *g, const weir_rule_args *a)
{
  const weir_array_desc *d = weir_value_desc(g, a->param);

  return d != NULL ? d->shape[0] : 0;
}

/* Whether one segment is the whole bank: its number broadcasts. */
static bool is_whole(const weir_graph *g, const weir_rule_args *a)
{
  return a->n_segments == 1 && a->segments[0].count == bank_count(g, a);
}

/* Sum of squares, [1]; in f64, where those of f32 neither overflow nor vanish. */
static weir_value squares(weir_graph *g, weir_value x)
{
  const weir_reduce_spec sum = {.combine = WEIR_COMBINE_SUM, .keep = true};

  return weir_reduce(g, &sum, weir_square(g, weir_cast(g, WEIR_F64, x)));
}

static weir_value root(weir_graph *g, weir_dtype dtype, weir_value sums)
{
  const weir_value norms = weir_sqrt(g, sums);

  return dtype == WEIR_F64 ? norms : weir_cast(g, dtype, norms);
}

weir_value weir_rule_norms(weir_graph *g, const weir_rule_args *a, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(g, x);
  void *memory = NULL;

  if (d == NULL) {
    return WEIR_NO_VALUE;
  }
  const weir_dtype dtype = d->dtype;

  if (is_whole(g, a)) {
    return root(g, dtype, squares(g, x));
  }
  const weir_status status = weir_alloc(a->n_segments, sizeof(weir_value), &memory);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  weir_value *sum = memory;

  for (int64_t i = 0; i < a->n_segments; i++) {
    const weir_segment s = a->segments[i];

    sum[i] = squares(g, weir_slice(g, x, 0, s.first, s.first + s.count, 1));
  }
  const weir_value all = weir_concat(g, sum, (int)a->n_segments, 0);

  weir_free(&memory);
  return root(g, dtype, all);
}

/* Appends `count` copies of an array [1] to the pieces; none for none. */
static void repeat(weir_graph *g, weir_value x, int64_t count, weir_value *piece, int *n)
{
  if (count > 0) {
    piece[(*n)++] = weir_broadcast(g, x, &((weir_broadcast_spec){.rank = 1, .shape = {count}}));
  }
}

static weir_value one(weir_graph *g, weir_dtype dtype)
{
  return weir_scalar(g, dtype, 1);
}

weir_value weir_rule_expand(weir_graph *g, const weir_rule_args *a, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(g, a->param);
  int64_t end = 0;
  void *memory = NULL;
  int n = 0;

  if (d == NULL || is_whole(g, a)) {
    return x;
  }
  const weir_array_desc bank = *d;
  const weir_status status = weir_alloc(2 * a->n_segments + 1, sizeof(weir_value), &memory);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  weir_value *piece = memory;

  for (int64_t i = 0; i < a->n_segments; i++) {
    const weir_segment s = a->segments[i];

    repeat(g, one(g, bank.dtype), s.first - end, piece, &n); /* of no segment */
    repeat(g, weir_slice(g, x, 0, i, i + 1, 1), s.count, piece, &n);
    end = s.first + s.count;
  }
  repeat(g, one(g, bank.dtype), bank.shape[0] - end, piece, &n);
  const weir_value all = weir_concat(g, piece, n, 0);

  weir_free(&memory);
  return all;
}

/* Share of weight decay of each segment, that of its first parameter: [n_segments] or rank 0. */
static weir_value gather_shares(weir_graph *g, const weir_rule_args *a)
{
  const int64_t count = bank_count(g, a);
  weir_tensor t;
  const weir_status status = weir_tensor_init(&t, WEIR_I64, 1, &a->n_segments);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t i = 0; i < a->n_segments; i++) { /* an empty one at the end has no first */
    const int64_t first = a->segments[i].first;

    ((int64_t *)t.data)[i] = first < count ? first : count - 1;
  }
  const weir_value firsts = weir_constant(g, &t);

  weir_tensor_fini(&t);
  return weir_gather(g, a->decay, firsts, &(weir_gather_spec){.dim = 0});
}

weir_value weir_rule_shares(weir_graph *g, const weir_rule_args *a)
{
  const weir_array_desc *d = weir_value_desc(g, a->decay);

  if (d == NULL || d->rank == 0) {
    return a->decay;
  }
  return d->shape[0] > 0 ? gather_shares(g, a) : weir_scalar(g, d->dtype, 1);
}

weir_value weir_rule_trust(weir_graph *g, const weir_rule_args *a, weir_value param,
                           weir_value step, weir_value ratio, weir_value shares)
{
  const weir_array_desc *d = weir_value_desc(g, a->param);
  const weir_value one = weir_scalar(g, d != NULL ? d->dtype : WEIR_F32, 1);
  const weir_value none = weir_or(g, weir_eq_scalar(g, param, 0), weir_eq_scalar(g, step, 0));
  const weir_value usual = weir_select(g, none, one, ratio);

  return shares.node < 0 ? usual : weir_select(g, weir_eq_scalar(g, shares, 0), one, usual);
}
