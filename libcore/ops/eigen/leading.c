/* leading.c - see weir_eigen.h. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "ops/eigen/eigen_priv.h"

enum { SPARE = 12 /* vectors beyond those asked for */, STEPS = 2000, SWEEPS = 60, LANES = 8 };

typedef struct subspace {
  const double *matrix;
  int64_t n, m;           /* m: vectors */
  double *v, *gv, *spare; /* [m, n] */
  double *h, *q;          /* [m, m] */
} subspace;

static double dot(const double *a, const double *b, int64_t n)
{
  double lane[LANES] = {0}, sum = 0;
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    for (int k = 0; k < LANES; k++) {
      lane[k] += a[i + k] * b[i + k];
    }
  }
  for (; i < n; i++) {
    sum += a[i] * b[i];
  }
  for (int k = 0; k < LANES; k++) {
    sum += lane[k];
  }
  return sum;
}

static void multiply_row(void *context, int64_t row, int thread)
{
  const subspace *const s = context;

  (void)thread;
  for (int64_t k = 0; k < s->m; k++) {
    s->gv[k * s->n + row] = dot(s->matrix + row * s->n, s->v + k * s->n, s->n);
  }
}

/* Gram and Schmidt, twice; a vector that the others span is replaced. */
static void orthonormalise(double *v, int64_t m, int64_t n)
{
  for (int64_t k = 0; k < m; k++) {
    double *const a = v + k * n;

    for (uint32_t times = 0, tries = 0; times < 2;) {
      const double before = sqrt(dot(a, a, n));

      for (int64_t j = 0; j < k; j++) {
        const double along = dot(a, v + j * n, n);

        for (int64_t i = 0; i < n; i++) {
          a[i] -= along * v[j * n + i];
        }
      }
      const double norm = sqrt(dot(a, a, n));

      if (!(norm > 1e-10 * before) && tries < 100) {
        for (int64_t i = 0; i < n; i++) {
          a[i] = weir_random_normal(1, ++tries, (uint32_t)k, (uint64_t)i);
        }
        times = 0;
        continue;
      }
      for (int64_t i = 0; i < n; i++) {
        a[i] /= norm;
      }
      times++;
    }
  }
}

/* Turns rows p and q of the vectors, and both of the matrix. */
static void rotate(double *h, double *q, int64_t m, int64_t a, int64_t b)
{
  const double theta = (h[b * m + b] - h[a * m + a]) / (2 * h[a * m + b]);
  const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + hypot(theta, 1));
  const double c = 1 / hypot(t, 1), s = t * c;

  for (int64_t i = 0; i < m; i++) {
    const double x = h[a * m + i], y = h[b * m + i];

    h[a * m + i] = c * x - s * y;
    h[b * m + i] = s * x + c * y;
  }
  for (int64_t i = 0; i < m; i++) {
    const double x = h[i * m + a], y = h[i * m + b], u = q[a * m + i], v = q[b * m + i];

    h[i * m + a] = c * x - s * y;
    h[i * m + b] = s * x + c * y;
    q[a * m + i] = c * u - s * v;
    q[b * m + i] = s * u + c * v;
  }
}

void eigen_turn(double *h, double *q, int64_t m)
{
  double all = 0;

  memset(q, 0, (size_t)(m * m) * sizeof *q);
  for (int64_t i = 0; i < m; i++) {
    q[i * m + i] = 1;
    all += dot(h + i * m, h + i * m, m);
  }
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double off = 0;

    for (int64_t a = 0; a < m; a++) {
      for (int64_t b = a + 1; b < m; b++) {
        off += h[a * m + b] * h[a * m + b];
        if (fabs(h[a * m + b]) > 1e-300) {
          rotate(h, q, m, a, b);
        }
      }
    }
    if (off <= 1e-30 * all) {
      break;
    }
  }
}

/* Largest first: of m values, `step` numbers apart. */
static void sort(const double *value, int64_t step, int64_t m, int64_t *order)
{
  for (int64_t i = 0; i < m; i++) {
    int64_t j = i;

    for (; j > 0 && value[order[j - 1] * step] < value[i * step]; j--) {
      order[j] = order[j - 1];
    }
    order[j] = i;
  }
}

/* Rayleigh-Ritz step: rotates the subspace to Ritz vectors; returns the largest residual of the
 * first k, NaN where the matrix is not finite. */
static double rayleigh_ritz(subspace *s, int64_t k, int64_t *order, double *value)
{
  const int64_t n = s->n, m = s->m;
  double worst = 0;

  weir_parallel(n, 0, multiply_row, s);
  for (int64_t a = 0; a < m; a++) {
    for (int64_t b = 0; b <= a; b++) {
      s->h[a * m + b] = dot(s->gv + a * n, s->v + b * n, n);
      s->h[b * m + a] = s->h[a * m + b];
    }
  }
  if (!isfinite(dot(s->h, s->h, m * m))) {
    return NAN;
  }
  eigen_turn(s->h, s->q, m);
  sort(s->h, m + 1, m, order);
  for (int which = 0; which < 2; which++) { /* v, then what the matrix makes of it */
    double *const from = which == 0 ? s->v : s->gv;

    memset(s->spare, 0, (size_t)(m * n) * sizeof *s->spare);
    for (int64_t a = 0; a < m; a++) {
      for (int64_t b = 0; b < m; b++) {
        const double q = s->q[order[a] * m + b];

        for (int64_t i = 0; i < n; i++) {
          s->spare[a * n + i] += q * from[b * n + i];
        }
      }
    }
    memcpy(from, s->spare, (size_t)(m * n) * sizeof *from);
  }
  for (int64_t a = 0; a < k; a++) {
    double square = 0;

    value[a] = fmax(0, s->h[order[a] * (m + 1)]);
    for (int64_t i = 0; i < n; i++) {
      square += pow(s->gv[a * n + i] - value[a] * s->v[a * n + i], 2);
    }
    worst = fmax(worst, sqrt(square));
  }
  return worst;
}

static weir_status not_finite(int64_t n)
{
  return weir_fail(WEIR_ERR_NUMERIC,
                   "eigenvalues: the matrix of %lld x %lld has non-finite elements", (long long)n,
                   (long long)n);
}

static weir_status iterate(subspace *s, int64_t k, int64_t *order, double *value, double *vector)
{
  const size_t bytes = (size_t)(s->m * s->n) * sizeof *s->v;

  for (int64_t i = 0; i < s->m * s->n; i++) {
    s->v[i] = weir_random_normal(0, 0, 0, (uint64_t)i);
  }
  orthonormalise(s->v, s->m, s->n);
  for (int step = 0; step < STEPS; step++) {
    const double worst = rayleigh_ritz(s, k, order, value);

    if (!isfinite(worst)) {
      return not_finite(s->n);
    }
    memcpy(vector, s->v, (size_t)(k * s->n) * sizeof *vector);
    if (worst <= 1e-10 * value[0]) {
      break;
    }
    memcpy(s->v, s->gv, bytes);
    orthonormalise(s->v, s->m, s->n);
  }
  return WEIR_OK;
}

/* All of them, largest first. */
static weir_status take_all(const double *matrix, int64_t n, double *value, double *vector)
{
  int64_t *order = NULL;
  double *unsorted = NULL;
  weir_status status = WEIR_OK;

  if (!isfinite(dot(matrix, matrix, n * n))) {
    return not_finite(n);
  }
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *order, (void **)&order), done);
  WEIR_TRY_GOTO(weir_alloc(n + n * n, sizeof *unsorted, (void **)&unsorted), done);
  WEIR_TRY_GOTO(eigen_whole(matrix, n, unsorted, unsorted + n), done);
  sort(unsorted, 1, n, order);
  for (int64_t k = 0; k < n; k++) {
    value[k] = fmax(0, unsorted[order[k]]);
    memcpy(vector + k * n, unsorted + n + order[k] * n, (size_t)n * sizeof *vector);
  }
done:
  weir_free(&order);
  weir_free(&unsorted);
  return status;
}

weir_status weir_eigen_leading(const double *matrix, int64_t n, int64_t k, double *value,
                               double *vector)
{
  if (k == n && n > 0) {
    return take_all(matrix, n, value, vector);
  }
  subspace s = {.matrix = matrix, .n = n, .m = k + SPARE < n ? k + SPARE : n};
  int64_t *order = NULL;
  double *workspace = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(s.m, sizeof *order, (void **)&order), done);
  WEIR_TRY_GOTO(weir_alloc(3 * s.m * n + 2 * s.m * s.m, sizeof *workspace, (void **)&workspace),
                done);
  s.v = workspace;
  s.gv = s.v + s.m * n;
  s.spare = s.gv + s.m * n;
  s.h = s.spare + s.m * n;
  s.q = s.h + s.m * s.m;
  WEIR_TRY_GOTO(iterate(&s, k, order, value, vector), done);
done:
  weir_free(&order);
  weir_free(&workspace);
  return status;
}
