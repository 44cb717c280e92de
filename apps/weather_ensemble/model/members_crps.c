/* members_crps.c - see members_crps.h.
 *
 * alpha times the fair CRPS, 1 - alpha times the kernel CRPS, of M members:
 *
 *   1/M sum_j |x_j - y| - (1 - e) / (2 M (M - 1)) sum_{j, k} |x_j - x_k|,   e = (1 - alpha) / M
 *
 * and, since 1/M sum_j |x_j - y| is a mean over pairs too,
 *
 *   1 / (M (M - 1)) sum_{j < k} (|x_j - y| + |x_k - y| - (1 - e) |x_j - x_k|)
 *
 * whose terms are not negative, so that sums in f32 do not cancel (Lang et al., arXiv:2412.15832).
 * Pairs are the members beside themselves shifted round by 1 to M / 2 places. */
#include "model/members_crps.h"
#include "model/members.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/shift/weir_shift.h"

enum { MEMBER = 1 };

/* Checks the shapes; the graph keeps the error. */
static bool fit(weir_graph *g, double alpha, const weir_array_desc *x, const weir_array_desc *y)
{
  bool same = x->rank == y->rank + 1 && x->rank > MEMBER && x->shape[0] == y->shape[0];

  for (int d = MEMBER + 1; d < x->rank && same; d++) {
    same = x->shape[d] == y->shape[d - 1];
  }
  if (!same || x->shape[MEMBER] < 1 || (x->shape[MEMBER] == 1 && alpha > 0)) {
    (void)weir_graph_fail(
        g, weir_fail(WEIR_ERR_SHAPE,
                     same ? "CRPS of members: %lld member(s), and the fair part needs two"
                          : "CRPS of members: they are [n, m, ..] and truth [n, ..] (m = %lld)",
                     (long long)(x->rank > MEMBER ? x->shape[MEMBER] : 0)));
    return false;
  }
  return true;
}

/* Every member's pair with the one `by` places before it. */
static weir_value pairs(weir_graph *g, double weight, weir_value x, weir_value error, int64_t by)
{
  const weir_shift_spec back = {.dim = MEMBER, .by = by, .border = WEIR_BORDER_WRAP};
  const weir_value apart = weir_abs(g, weir_sub(g, x, weir_shift_with(g, x, &back)));
  const weir_value both = weir_add(g, error, weir_shift_with(g, error, &back));

  return weir_sub(g, both, weir_scale(g, apart, weight));
}

weir_value wx_members_crps(weir_graph *g, double alpha, weir_value members, weir_value truth)
{
  const weir_array_desc *const x = weir_value_desc(g, members), *const y =
                                                                    weir_value_desc(g, truth);

  if (x == NULL || y == NULL || !fit(g, alpha, x, y)) {
    return WEIR_NO_VALUE;
  }
  const int64_t m = x->shape[MEMBER];
  const double n = (double)m;
  const weir_value error = weir_abs(g, weir_sub(g, members, wx_members_shared(g, truth)));
  weir_value sum = WEIR_NO_VALUE;

  if (m == 1) {
    return weir_sum(g, error, MEMBER);
  }
  for (int64_t by = 1; by <= m / 2; by++) {
    const weir_value all = pairs(g, 1 - (1 - alpha) / n, members, error, by);
    const weir_value once = 2 * by == m ? weir_scale(g, all, 0.5) : all; /* met from both sides */

    sum = sum.node < 0 ? once : weir_add(g, sum, once);
  }
  return weir_scale(g, weir_sum(g, sum, MEMBER), 1 / (n * (n - 1)));
}
