/* shares.c - shares of the reduction by bandwidth, the linear programme of Diskin et al. for ranks
 * that all compute: minimise xi where (1 + (m - 2) w_i) / b_i <= xi, w_i >= 0, sum w = 1. Its
 * solution has w_i = max(0, (xi b_i - 1) / (m - 2)), with the xi by which they add up to 1. */
#include <math.h>
#include "optim/exchange/dedloc/dedloc_priv.h"

static double fill(const double *bandwidth, int ranks, double xi, double *share)
{
  double sum = 0;

  for (int i = 0; i < ranks; i++) {
    share[i] = fmax(0, (xi * bandwidth[i] - 1) / (ranks - 2));
    sum += share[i];
  }
  return sum;
}

static double slowest(const double *bandwidth, int ranks, const double *share)
{
  double xi = 0;

  for (int i = 0; i < ranks; i++) {
    if (bandwidth[i] > 0) {
      xi = fmax(xi, (1 + (ranks - 2) * share[i]) / bandwidth[i]);
    }
  }
  return xi;
}

double dedloc_shares(const double *bandwidth, int ranks, double *share)
{
  double most = 0, total = 0, low = 0;

  for (int i = 0; i < ranks; i++) {
    most = fmax(most, bandwidth[i]);
    total += bandwidth[i];
  }
  for (int i = 0; i < ranks && ranks <= 2; i++) { /* the time does not depend on shares */
    share[i] = bandwidth[i] / total;
  }
  double high = (ranks - 1) / most; /* the fastest rank alone has all */

  for (int k = 0; k < 200 && ranks > 2; k++) {
    const double middle = low + (high - low) / 2;

    *(fill(bandwidth, ranks, middle, share) < 1 ? &low : &high) = middle;
  }
  if (ranks > 2) {
    const double sum = fill(bandwidth, ranks, high, share);

    for (int i = 0; i < ranks; i++) {
      share[i] /= sum;
    }
  }
  return slowest(bandwidth, ranks, share);
}

void dedloc_split(const double *share, int ranks, int64_t count, int64_t *counts)
{
  int64_t left = count;

  for (int i = 0; i < ranks; i++) {
    counts[i] = (int64_t)(share[i] * (double)count);
    left -= counts[i];
  }
  for (; left > 0; left--) {
    int best = 0;

    for (int i = 1; i < ranks; i++) {
      if (share[i] * (double)(counts[best] + 1) > share[best] * (double)(counts[i] + 1)) {
        best = i;
      }
    }
    counts[best]++;
  }
}
