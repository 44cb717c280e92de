/* dense_general.c - see weir_dense.h: eigenvalues of matrices without symmetry. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/weir_complex_scalar.h"
#include "ops/weir_dense.h"

static weir_c128 scaled(weir_c128 z, double by)
{
  return (weir_c128){z.re * by, z.im * by};
}

static weir_c128 root(weir_c128 z)
{
  const double size = weir_abs_c128(z);
  const double half = sqrt((size + fabs(z.re)) / 2);

  if (half == 0) {
    return (weir_c128){0, 0};
  }
  return z.re >= 0 ? (weir_c128){half, z.im / (2 * half)}
                   : (weir_c128){fabs(z.im) / (2 * half), z.im >= 0 ? half : -half};
}

/* Rows of a (from `first` on) and columns of a and v times 1 - 2 u u^H, u in work[from .. n). */
static void reflect(weir_c128 *a, weir_c128 *v, int64_t n, int64_t from, const weir_c128 *u)
{
  for (int64_t j = 0; j < n; j++) {
    weir_c128 sum = {0, 0};

    for (int64_t i = from; i < n; i++) {
      sum = weir_add_c128(sum, weir_mul_c128(weir_conj_c128(u[i]), a[i * n + j]));
    }
    for (int64_t i = from; i < n; i++) {
      a[i * n + j] = weir_sub_c128(a[i * n + j], weir_mul_c128(scaled(u[i], 2), sum));
    }
  }
  for (int side = 0; side < 2; side++) {
    weir_c128 *m = side == 0 ? a : v;

    for (int64_t i = 0; i < n; i++) {
      weir_c128 sum = {0, 0};

      for (int64_t j = from; j < n; j++) {
        sum = weir_add_c128(sum, weir_mul_c128(m[i * n + j], u[j]));
      }
      for (int64_t j = from; j < n; j++) {
        m[i * n + j] =
            weir_sub_c128(m[i * n + j], weir_mul_c128(scaled(sum, 2), weir_conj_c128(u[j])));
      }
    }
  }
}

/* a becomes v^H a v with zeros below its first subdiagonal. */
static void reduce(weir_c128 *a, weir_c128 *v, int64_t n, weir_c128 *u)
{
  for (int64_t k = 0; k + 2 < n; k++) {
    double length = 0;

    for (int64_t i = k + 1; i < n; i++) {
      u[i] = a[i * n + k];
      length = hypot(length, weir_abs_c128(u[i]));
    }
    if (length == 0) {
      continue;
    }
    const double first = weir_abs_c128(u[k + 1]);
    const weir_c128 phase = first > 0 ? scaled(u[k + 1], 1 / first) : (weir_c128){1, 0};
    double norm = 0;

    u[k + 1] = weir_add_c128(u[k + 1], scaled(phase, length));
    for (int64_t i = k + 1; i < n; i++) {
      norm = hypot(norm, weir_abs_c128(u[i]));
    }
    for (int64_t i = k + 1; i < n; i++) {
      u[i] = scaled(u[i], 1 / norm);
    }
    reflect(a, v, n, k + 1, u);
    for (int64_t i = k + 2; i < n; i++) {
      a[i * n + k] = (weir_c128){0, 0};
    }
  }
}

/* c (real) and s with [c, s; -conj(s), c] (x, y)^T = (r, 0)^T. */
static void find_rotation(weir_c128 x, weir_c128 y, double *c, weir_c128 *s)
{
  const double size = weir_abs_c128(x), length = hypot(size, weir_abs_c128(y));

  if (length == 0) {
    *c = 1;
    *s = (weir_c128){0, 0};
  } else if (size == 0) {
    *c = 0;
    *s = scaled(weir_conj_c128(y), 1 / length);
  } else {
    *c = size / length;
    *s = scaled(weir_mul_c128(scaled(x, 1 / size), weir_conj_c128(y)), 1 / length);
  }
}

/* Rows k, k + 1 from column `from` on. */
static void turn_rows(weir_c128 *a, int64_t n, int64_t k, int64_t from, double c, weir_c128 s)
{
  for (int64_t j = from; j < n; j++) {
    const weir_c128 x = a[k * n + j], y = a[(k + 1) * n + j];

    a[k * n + j] = weir_add_c128(scaled(x, c), weir_mul_c128(s, y));
    a[(k + 1) * n + j] = weir_sub_c128(scaled(y, c), weir_mul_c128(weir_conj_c128(s), x));
  }
}

/* Columns k, k + 1 of the first `rows` rows times the conjugate transpose. */
static void turn_columns(weir_c128 *a, int64_t n, int64_t k, int64_t rows, double c, weir_c128 s)
{
  for (int64_t i = 0; i < rows; i++) {
    const weir_c128 x = a[i * n + k], y = a[i * n + k + 1];

    a[i * n + k] = weir_add_c128(scaled(x, c), weir_mul_c128(weir_conj_c128(s), y));
    a[i * n + k + 1] = weir_sub_c128(scaled(y, c), weir_mul_c128(s, x));
  }
}

/* The eigenvalue of the last two rows and columns up to `last` that is nearer to their corner. */
static weir_c128 shift_of(const weir_c128 *a, int64_t n, int64_t last)
{
  const weir_c128 *up = &a[(last - 1) * n + last - 1], *down = &a[last * n + last - 1];
  const weir_c128 half = scaled(weir_sub_c128(up[0], down[1]), 0.5);
  const weir_c128 product = weir_mul_c128(up[1], down[0]);
  const weir_c128 r = root(weir_add_c128(weir_mul_c128(half, half), product));
  const weir_c128 plus = weir_add_c128(half, r), minus = weir_sub_c128(half, r);
  const weir_c128 far = weir_abs_c128(plus) > weir_abs_c128(minus) ? plus : minus;

  return weir_abs_c128(far) == 0 ? down[1] : weir_sub_c128(down[1], weir_div_c128(product, far));
}

/* One step with a shift on rows first .. last, the rotation chased down; a stays triangular above.
 */
static void step(weir_c128 *a, weir_c128 *v, int64_t n, int64_t first, int64_t last,
                 weir_c128 shift)
{
  weir_c128 x = weir_sub_c128(a[first * n + first], shift), y = a[(first + 1) * n + first];

  for (int64_t k = first; k < last; k++) {
    double c;
    weir_c128 s;

    find_rotation(x, y, &c, &s);
    turn_rows(a, n, k, k > first ? k - 1 : first, c, s);
    turn_columns(a, n, k, (k + 3 < last + 1 ? k + 3 : last + 1), c, s);
    turn_columns(v, n, k, n, c, s);
    if (k + 1 < last) {
      x = a[(k + 1) * n + k];
      y = a[(k + 2) * n + k];
    }
    if (k > first) {
      a[(k + 1) * n + k - 1] = (weir_c128){0, 0};
    }
  }
}

static bool triangulate(weir_c128 *a, weir_c128 *v, int64_t n)
{
  const double norm = weir_dense_norm(a, n, n);
  int64_t last = n - 1;

  for (int64_t steps = 0; steps < 60 * n && last > 0; steps++) {
    int64_t first = last;

    while (first > 0) {
      const double about =
          weir_abs_c128(a[first * n + first]) + weir_abs_c128(a[(first - 1) * n + first - 1]);

      if (weir_abs_c128(a[first * n + first - 1]) <= DBL_EPSILON / 2 * (about > 0 ? about : norm)) {
        a[first * n + first - 1] = (weir_c128){0, 0};
        break;
      }
      first--;
    }
    if (first == last) {
      last--;
      continue;
    }
    /* Now and then another shift, for matrices that steps only permute. */
    const weir_c128 odd = {weir_abs_c128(a[last * n + last - 1]), 0};

    step(a, v, n, first, last,
         steps % 11 == 10 ? weir_add_c128(a[last * n + last], odd) : shift_of(a, n, last));
  }
  return last <= 0;
}

/* Solves (t - t_kk) x = 0 with x_k = 1 upwards, then v x, of length 1, its largest element real. */
static void find_vector(const weir_c128 *t, const weir_c128 *v, int64_t n, int64_t k, double small,
                        weir_c128 *x, weir_c128 *out)
{
  double length = 0;
  int64_t largest = 0;

  for (int64_t i = k; i >= 0; i--) {
    weir_c128 sum = {i == k ? 1 : 0, 0};

    for (int64_t j = i + 1; j <= k; j++) {
      sum = weir_sub_c128(sum, weir_mul_c128(t[i * n + j], x[j]));
    }
    weir_c128 apart = weir_sub_c128(t[i * n + i], t[k * n + k]);

    if (weir_abs_c128(apart) < small) {
      apart = (weir_c128){small, 0};
    }
    x[i] = i == k ? sum : weir_div_c128(sum, apart);
  }
  for (int64_t i = 0; i < n; i++) {
    weir_c128 sum = {0, 0};

    for (int64_t j = 0; j <= k; j++) {
      sum = weir_add_c128(sum, weir_mul_c128(v[i * n + j], x[j]));
    }
    out[i * n + k] = sum;
    length = hypot(length, weir_abs_c128(sum));
    largest = weir_abs_c128(sum) > weir_abs_c128(out[largest * n + k]) ? i : largest;
  }
  const weir_c128 z = out[largest * n + k];
  const weir_c128 phase = scaled(weir_conj_c128(z), 1 / (weir_abs_c128(z) * length));

  for (int64_t i = 0; i < n; i++) {
    out[i * n + k] = weir_mul_c128(out[i * n + k], phase);
  }
  out[largest * n + k].im = 0;
}

bool weir_dense_general(weir_c128 *a, int64_t n, weir_c128 *value, weir_c128 *v, weir_c128 *work)
{
  memset(work, 0, (size_t)(n * n) * sizeof *work);
  for (int64_t i = 0; i < n; i++) {
    work[i * n + i].re = 1;
  }
  reduce(a, work, n, value);
  if (!triangulate(a, work, n)) {
    return false;
  }
  const double norm = weir_dense_norm(a, n, n);
  const double small = norm > 0 ? DBL_EPSILON / 2 * norm : DBL_MIN;

  for (int64_t k = 0; k < n; k++) {
    find_vector(a, work, n, k, small, value, v);
  }
  for (int64_t k = 0; k < n; k++) {
    value[k] = a[k * n + k];
  }
  return true;
}

int64_t weir_dense_pair_work(int64_t n)
{
  return 2 * n * n * (int64_t)sizeof(weir_c128) + n * (int64_t)sizeof(int64_t);
}

/* a - s b. */
static void shift_pair(const weir_c128 *a, const weir_c128 *b, int64_t n, weir_c128 s,
                       weir_c128 *to)
{
  for (int64_t i = 0; i < n * n; i++) {
    to[i] = weir_sub_c128(a[i], weir_mul_c128(s, b[i]));
  }
}

bool weir_dense_pair(weir_c128 *a, weir_c128 *b, int64_t n, weir_c128 *alpha, weir_c128 *beta,
                     weir_c128 *v, void *work)
{
  static const weir_c128 shifts[] = {{0.31, 0.43}, {-0.62, 0.17}, {0.23, -0.71}, {1.3, 0.9}};
  const double size =
      weir_dense_norm(b, n, n) > 0 ? weir_dense_norm(a, n, n) / weir_dense_norm(b, n, n) : 1;
  weir_c128 *factors = work, *rest = factors + n * n, best = {0, 0};
  int64_t *row = (int64_t *)(rest + n * n);
  double ratio = 0;

  for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
    const weir_c128 s = scaled(shifts[i], size > 0 ? size : 1);

    shift_pair(a, b, n, s, factors);
    if (weir_dense_factor(factors, n, row) && weir_dense_pivot_ratio(factors, n) > ratio) {
      ratio = weir_dense_pivot_ratio(factors, n);
      best = s;
    }
  }
  if (ratio == 0) {
    return false;
  }
  shift_pair(a, b, n, best, factors);
  (void)weir_dense_factor(factors, n, row);
  weir_dense_substitute(factors, n, row, b, n);
  if (!weir_dense_general(b, n, beta, a, rest)) {
    return false;
  }
  for (int64_t k = 0; k < n; k++) {
    alpha[k] = weir_add_c128((weir_c128){1, 0}, weir_mul_c128(best, beta[k]));
    for (int64_t i = 0; i < n; i++) {
      v[k * n + i] = a[i * n + k];
    }
  }
  return true;
}
