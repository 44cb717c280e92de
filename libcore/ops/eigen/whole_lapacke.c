/* whole_lapacke.c - see eigen_priv.h: by LAPACK's dsyevd. */
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/eigen/eigen_priv.h"
#include "ops/weir_lapack.h"

weir_status eigen_whole(const double *matrix, int64_t n, double *value, double *vector)
{
  int64_t bytes = 0;
  void *work = NULL;

  if (!weir_mul_ok(2 * n, n + 64, &bytes) || bytes > INT32_MAX) { /* its numbers are of 32 bits */
    return weir_fail(WEIR_ERR_NUMERIC,
                     "eigenvalues: a matrix of %lld x %lld is more than LAPACK takes", (long long)n,
                     (long long)n);
  }
  WEIR_TRY(weir_alloc(weir_lapack_work(WEIR_F64, n), 1, &work));
  weir_lapack_start();
  memcpy(vector, matrix, (size_t)(n * n) * sizeof *vector);
  const int info = weir_lapack_hermitian(WEIR_F64, true, (int)n, vector, value, work);

  weir_free(&work);
  return info == 0 ? WEIR_OK
                   : weir_fail(WEIR_ERR_NUMERIC,
                               "eigenvalues: LAPACK's dsyevd ends with %d for a matrix of %lld x "
                               "%lld",
                               info, (long long)n, (long long)n);
}
