/* calls.c - see calls.h. */
#include "api/calls.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "eval/score/crps.h"

/* NaN has no place in an order. */
static bool has_nan(const double *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    if (isnan(x[i])) {
      return true;
    }
  }
  return false;
}

static double crps(const double *sorted, int64_t m, double truth, double share)
{
  const wx_crps_decomposition p = wx_crps_sorted(sorted, m, truth);

  if (share == 0) {
    return wx_crps_empirical(&p);
  }
  return share == 1 ? wx_crps_fair(&p) : wx_crps_almost_fair(&p, share);
}

weir_status wx_call_crps(const wx_call_cases *c, double share, double *out)
{
  double *x = NULL;

  if (c->cases < 0 || c->m < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "crps: %lld cases of %lld members: an ensemble has a member",
                     (long long)c->cases, (long long)c->m);
  }
  if (!(share >= 0 && share <= 1)) {
    return weir_fail(WEIR_ERR_CONFIG, "crps: the share of the fair score, %g, is outside [0, 1]",
                     share);
  }
  WEIR_TRY(weir_alloc(c->m, sizeof *x, (void **)&x));
  for (int64_t i = 0; i < c->cases; i++) {
    const double *members = c->members + i * c->m;

    if (isnan(c->truth[i]) || has_nan(members, c->m)) {
      out[i] = NAN;
      continue;
    }
    memcpy(x, members, (size_t)c->m * sizeof *x);
    wx_sort(x, c->m);
    out[i] = crps(x, c->m, c->truth[i], share);
  }
  weir_free(&x);
  return WEIR_OK;
}

void wx_call_crps_normal(const double *mean, const double *sd, const double *truth, int64_t n,
                         double *out)
{
  for (int64_t i = 0; i < n; i++) {
    out[i] = wx_crps_normal(mean[i], sd[i], truth[i]);
  }
}
