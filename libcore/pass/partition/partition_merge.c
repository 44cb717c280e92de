/* partition_merge.c - monoids of several numbers, merged over ranks as within a loop. */
#include <math.h>
#include "pass/partition/weir_partition.h"

/* (n, mean, M2), Chan, Golub and LeVeque 1983. */
static void merge_moments(void *into, const void *from, int64_t count)
{
  double *a = into;
  const double *b = from;

  for (int64_t i = 0; i < count; i++, a += 3, b += 3) {
    const double n = a[0] + b[0], d = b[1] - a[1];

    if (b[0] > 0) {
      a[1] += d * (b[0] / n);
      a[2] += b[2] + d * d * (a[0] * (b[0] / n));
      a[0] = n;
    }
  }
}

/* (maximum, sum of exp(x - maximum)); of nothing: (-inf, 0). */
static void merge_softmax(void *into, const void *from, int64_t count)
{
  double *a = into;
  const double *b = from;

  for (int64_t i = 0; i < count; i++, a += 2, b += 2) {
    const double max = b[0] > a[0] || isnan(b[0]) ? b[0] : a[0];

    a[1] = a[1] * exp(a[0] == max ? 0 : a[0] - max) + b[1] * exp(b[0] == max ? 0 : b[0] - max);
    a[0] = max;
  }
}

const weir_reducer *weir_partition_reducer(weir_monoid monoid, weir_dtype dtype)
{
  static const weir_reducer moments = {"moments", 3 * sizeof(double), false, merge_moments};
  static const weir_reducer softmax = {"softmax", 2 * sizeof(double), false, merge_softmax};

  const bool real = dtype == WEIR_F64 || dtype == WEIR_F32;

  switch (monoid) {
  case WEIR_COMBINE_SUM:
    return weir_reducer_of(WEIR_REDUCE_SUM, dtype);
  case WEIR_COMBINE_PROD:
    return weir_reducer_of(WEIR_REDUCE_PROD, dtype);
  case WEIR_COMBINE_MAX:
    return weir_reducer_of(WEIR_REDUCE_MAX, dtype);
  case WEIR_COMBINE_MIN:
    return weir_reducer_of(WEIR_REDUCE_MIN, dtype);
  case WEIR_COMBINE_MOMENTS:
    return real ? &moments : NULL;
  case WEIR_COMBINE_SOFTMAX:
    return real ? &softmax : NULL;
  default: /* positions, and what comes first, go by the order of all iterations */
    return NULL;
  }
}
