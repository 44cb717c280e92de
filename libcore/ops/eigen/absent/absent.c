/* absent.c - see ops/eigen/eigen_priv.h: where the build has no LAPACK. */
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/eigen/eigen_priv.h"

weir_status eigen_whole(const double *matrix, int64_t n, double *value, double *vector)
{
  double *h = NULL;

  WEIR_TRY(weir_alloc(n * n, sizeof *h, (void **)&h));
  memcpy(h, matrix, (size_t)(n * n) * sizeof *h);
  eigen_turn(h, vector, n);
  for (int64_t k = 0; k < n; k++) {
    value[k] = h[k * (n + 1)];
  }
  weir_free(&h);
  return WEIR_OK;
}
