/* lapack_lapacke.c - see weir_lapack.h: by LAPACKE, over OpenBLAS. */
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float weir_c64
#define lapack_complex_double weir_c128
#include "ops/weir_lapack.h"

#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "device/weir_parallel.h"
#include "ops/weir_batch.h"

void weir_lapack_start(void)
{
  openblas_set_num_threads(1);
}

double weir_lapack_match(const weir_graph *g, const weir_group *group, const weir_op_desc *op,
                         double share)
{
  const double rate = weir_cpu_get()->constants.flop_rate * share;
  const double seconds = weir_batch_seconds(g, group, op, rate);

  if (seconds >= 0) {
    weir_lapack_start();
  }
  return seconds;
}

int weir_lapack_solve(weir_dtype dtype, int n, int k, void *a, int *pivot, void *b)
{
  const int c = LAPACK_COL_MAJOR;

  return dtype == WEIR_F32   ? LAPACKE_sgesv_work(c, n, k, a, n, pivot, b, n)
         : dtype == WEIR_F64 ? LAPACKE_dgesv_work(c, n, k, a, n, pivot, b, n)
         : dtype == WEIR_C64 ? LAPACKE_cgesv_work(c, n, k, a, n, pivot, b, n)
                             : LAPACKE_zgesv_work(c, n, k, a, n, pivot, b, n);
}

/* Columns that getri, geev and their kind work on at a time. */
enum { BLOCK = 64 };

int weir_lapack_invert(weir_dtype dtype, int n, void *a, int *pivot, void *work)
{
  const int c = LAPACK_COL_MAJOR, lwork = BLOCK * n;
  const int info = dtype == WEIR_F32   ? LAPACKE_sgetrf_work(c, n, n, a, n, pivot)
                   : dtype == WEIR_F64 ? LAPACKE_dgetrf_work(c, n, n, a, n, pivot)
                   : dtype == WEIR_C64 ? LAPACKE_cgetrf_work(c, n, n, a, n, pivot)
                                       : LAPACKE_zgetrf_work(c, n, n, a, n, pivot);

  return info != 0           ? info
         : dtype == WEIR_F32 ? LAPACKE_sgetri_work(c, n, a, n, pivot, work, lwork)
         : dtype == WEIR_F64 ? LAPACKE_dgetri_work(c, n, a, n, pivot, work, lwork)
         : dtype == WEIR_C64 ? LAPACKE_cgetri_work(c, n, a, n, pivot, work, lwork)
                             : LAPACKE_zgetri_work(c, n, a, n, pivot, work, lwork);
}

/* Elements of each part of the work of syevd and heevd (LAPACK Users' Guide: LWORK, LRWORK,
 * LIWORK).
 */
static int64_t first_work(int64_t n)
{
  return 1 + (6 + BLOCK) * n + 2 * n * n;
}

static int64_t real_work(int64_t n)
{
  return 1 + 5 * n + 2 * n * n;
}

static int64_t integer_work(int64_t n)
{
  return 3 + 5 * n;
}

int weir_lapack_hermitian(weir_dtype dtype, bool vectors, int n, void *a, void *value, void *work)
{
  const int c = LAPACK_COL_MAJOR, whole = (int)first_work(n), real = (int)real_work(n);
  const int integer = (int)integer_work(n);
  const char job = vectors ? 'V' : 'N';
  char *reals = (char *)work + (size_t)whole * weir_dtype_size(dtype);
  int *integers = (int *)(reals + (size_t)real * weir_dtype_size(weir_dtype_part(dtype)));

  return dtype == WEIR_F32
             ? LAPACKE_ssyevd_work(c, job, 'L', n, a, n, value, work, whole, integers, integer)
         : dtype == WEIR_F64
             ? LAPACKE_dsyevd_work(c, job, 'L', n, a, n, value, work, whole, integers, integer)
         : dtype == WEIR_C64 ? LAPACKE_cheevd_work(c, job, 'L', n, a, n, value, work, whole,
                                                   (float *)reals, real, integers, integer)
                             : LAPACKE_zheevd_work(c, job, 'L', n, a, n, value, work, whole,
                                                   (double *)reals, real, integers, integer);
}

/* What geev gives of real matrices: vectors of conjugate pairs as real and imaginary columns. */
// clang-format off
#define UNPACK(real, complex)                                                             \
  static void unpack_##real(int n, const real *re, const real *im, const real *packed,    \
                            complex *value, complex *vector)                              \
  {                                                                                       \
    for (int64_t k = 0; k < n; k++) {                                                     \
      const bool first = im[k] > 0, second = im[k] < 0;                                   \
      const real *x = packed + (k - second) * n, *y = x + n;                              \
      value[k].re = re[k];                                                                \
      value[k].im = im[k];                                                                \
      for (int64_t i = 0; i < n && vector != NULL; i++) {                                 \
        vector[k * n + i].re = x[i];                                                      \
        vector[k * n + i].im = first ? y[i] : second ? -y[i] : 0;                         \
      }                                                                                   \
    }                                                                                     \
  }
UNPACK(float, weir_c64)
UNPACK(double, weir_c128)

#define GENERAL_REAL(t, real, complex)                                                    \
  static int general_##t(int n, real *a, complex *value, complex *vector, void *work)     \
  {                                                                                       \
    const int lwork = (4 + BLOCK) * n;                                                     \
    real *re = work, *im = re + n, *packed = im + n, *rest = packed + (int64_t)n * n;     \
    const int info = LAPACKE_##t##geev_work(LAPACK_COL_MAJOR, 'N',                        \
                                            vector != NULL ? 'V' : 'N', n, a, n, re, im,  \
                                            NULL, 1, packed, n, rest, lwork);              \
    if (info == 0) {                                                                      \
      unpack_##real(n, re, im, packed, value, vector);                                    \
    }                                                                                     \
    return info;                                                                          \
  }
GENERAL_REAL(s, float, weir_c64)
GENERAL_REAL(d, double, weir_c128)
// clang-format on

int weir_lapack_general(weir_dtype dtype, int n, void *a, void *value, void *vector, void *work)
{
  const int c = LAPACK_COL_MAJOR, lwork = (4 + BLOCK) * n;
  const char job = vector != NULL ? 'V' : 'N';
  char *reals = (char *)work + (size_t)lwork * weir_dtype_size(dtype);

  return dtype == WEIR_F32   ? general_s(n, a, value, vector, work)
         : dtype == WEIR_F64 ? general_d(n, a, value, vector, work)
         : dtype == WEIR_C64 ? LAPACKE_cgeev_work(c, 'N', job, n, a, n, value, NULL, 1, vector, n,
                                                  work, lwork, (float *)reals)
                             : LAPACKE_zgeev_work(c, 'N', job, n, a, n, value, NULL, 1, vector, n,
                                                  work, lwork, (double *)reals);
}

int weir_lapack_factor(int n, weir_c128 *a, int *pivot)
{
  return LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, n, n, a, n, pivot);
}

int weir_lapack_general_pair(int n, weir_c128 *a, weir_c128 *b, weir_c128 *alpha, weir_c128 *beta,
                             weir_c128 *vector, void *work)
{
  const int lwork = (2 + BLOCK) * n;

  return LAPACKE_zggev_work(LAPACK_COL_MAJOR, 'N', 'V', n, a, n, b, n, alpha, beta, NULL, 1, vector,
                            n, work, lwork, (double *)((weir_c128 *)work + lwork));
}

int64_t weir_lapack_work(weir_dtype dtype, int64_t n)
{
  return (first_work(n) + real_work(n)) * (int64_t)weir_dtype_size(dtype) +
         integer_work(n) * (int64_t)sizeof(int);
}
