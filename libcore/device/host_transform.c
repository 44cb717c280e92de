/* host_transform.c - Fourier transforms by divide and conquer in double precision: what cpu and
 * emulated have for the library of a GPU; and one element as the sum that defines it. */
#include "device/host_library.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

#define PI 3.14159265358979323846

typedef weir_library_transform transform;

static bool is_back(const transform *t)
{
  return t->kind == WEIR_LIBRARY_BACKWARD || t->kind == WEIR_LIBRARY_TO_REAL;
}

/* Extents of x or of y: of a real array's spectrum, half along the last dimension. */
static void extents_of(const transform *t, bool y, int64_t *extent)
{
  memcpy(extent, t->n, (size_t)t->rank * sizeof *extent);
  if (t->kind == (y ? WEIR_LIBRARY_REAL : WEIR_LIBRARY_TO_REAL)) {
    extent[t->rank - 1] = t->n[t->rank - 1] / 2 + 1;
  }
}

static int64_t product_of(const int64_t *n, int count)
{
  int64_t all = 1;

  for (int k = 0; k < count; k++) {
    all *= n[k];
  }
  return all;
}

static weir_c128 times(weir_c128 a, weir_c128 b)
{
  return (weir_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* ---- The whole array. ---- */

/* Memory of a transform: an array, a line before and after, and numbers of a step. */
typedef struct space {
  weir_c128 *data, *line, *made, *few, *root;
} space;

/* root[k] = exp(+-2 pi i k / n). */
static void make_roots(int64_t n, bool back, weir_c128 *root)
{
  for (int64_t k = 0; k < n; k++) {
    const double angle = 2 * PI * (double)k / (double)n;

    root[k] = (weir_c128){cos(angle), back ? sin(angle) : -sin(angle)};
  }
}

static int64_t least_factor(int64_t n)
{
  for (int64_t p = 2; p * p <= n; p++) {
    if (n % p == 0) {
      return p;
    }
  }
  return n;
}

/* y_k = sum over j < n of x_(j step) root_(j k apart): of the transforms of every p-th number (Van
 * Loan 1992, section 1.3). */
static void transform_line(const space *s, int64_t n, const weir_c128 *x, int64_t step,
                           int64_t apart, weir_c128 *y)
{
  if (n == 1) {
    y[0] = x[0];
    return;
  }
  const int64_t p = least_factor(n), m = n / p;

  for (int64_t q = 0; q < p; q++) {
    transform_line(s, m, x + q * step, step * p, apart * p, y + q * m);
  }
  for (int64_t k = 0; k < m; k++) {
    for (int64_t q = 0; q < p; q++) {
      s->few[q] = y[q * m + k];
    }
    for (int64_t r = 0; r < p; r++) {
      weir_c128 sum = {0, 0};

      for (int64_t q = 0; q < p; q++) {
        const weir_c128 z = times(s->few[q], s->root[q * (k + r * m) % n * apart]);

        sum.re += z.re;
        sum.im += z.im;
      }
      y[k + r * m] = sum;
    }
  }
}

/* Along the middle dimension of data[before, n, after]. */
static void transform_dim(const space *s, bool back, int64_t before, int64_t n, int64_t after)
{
  make_roots(n, back, s->root);
  for (int64_t i = 0; i < before * after; i++) {
    weir_c128 *const data = s->data + i / after * n * after + i % after;

    for (int64_t j = 0; j < n; j++) {
      s->line[j] = data[j * after];
    }
    transform_line(s, n, s->line, 1, 1, s->made);
    for (int64_t j = 0; j < n; j++) {
      data[j * after] = s->made[j];
    }
  }
}

/* Half of data's last dimension becomes the whole of a Hermitian one. data[before, n, after], of
 * which the first `half` of n are given as [before, half, after]. */
static void complete(const space *s, int64_t before, int64_t n, int64_t half, int64_t after)
{
  for (int64_t b = before - 1; b >= 0; b--) {
    memmove(s->data + b * n * after, s->data + b * half * after,
            (size_t)(half * after) * sizeof *s->data);
    for (int64_t i = 0; i < n * after; i++) {
      weir_c128 *const row = s->data + b * n * after;
      const int64_t wave = i / after;

      if (wave >= half) {
        row[i] = row[(n - wave) * after + i % after];
        row[i].im = -row[i].im;
      } else if (wave == 0 || 2 * wave == n) {
        row[i].im = 0;
      }
    }
  }
}

static void load(const transform *t, const void *x, int64_t from, int64_t n, space *s)
{
  const bool real = t->kind == WEIR_LIBRARY_REAL;

  for (int64_t i = 0; i < n; i++) {
    s->data[i] = real ? (weir_c128){weir_dtype_load_real(t->part, x, from + i), 0}
                      : weir_dtype_load_complex(weir_dtype_complex(t->part), x, from + i);
  }
}

/* Row `row` of data's rows of `length` numbers, of which y has `kept`. */
static void store(const transform *t, const space *s, int64_t row, int64_t length, int64_t kept,
                  int64_t to, void *y)
{
  for (int64_t i = 0; i < kept; i++) {
    const weir_c128 z = s->data[row * length + i];

    if (t->kind == WEIR_LIBRARY_TO_REAL) {
      weir_dtype_store_real(t->part, y, to + i, z.re);
    } else {
      weir_dtype_store_complex(weir_dtype_complex(t->part), y, to + i, z);
    }
  }
}

/* One of the `outer` arrays. */
static void run_one(const transform *t, int64_t number, space *s, void *const operand[])
{
  const int last = t->rank - 1;
  int64_t in[WEIR_LIBRARY_DIMS], out[WEIR_LIBRARY_DIMS];

  extents_of(t, false, in);
  extents_of(t, true, out);
  const int64_t n_in = product_of(in, t->rank) * t->inner, rows = product_of(t->n, last);
  const int64_t length = t->n[last] * t->inner, kept = out[last] * t->inner;

  load(t, operand[0], number * n_in, n_in, s);
  for (int k = 0; k < last; k++) {
    transform_dim(s, is_back(t), product_of(in, k), in[k],
                  product_of(in + k + 1, last - k) * t->inner);
  }
  if (t->kind == WEIR_LIBRARY_TO_REAL) {
    complete(s, rows, t->n[last], in[last], t->inner);
  }
  transform_dim(s, is_back(t), rows, t->n[last], t->inner);
  for (int64_t row = 0; row < rows; row++) {
    store(t, s, row, length, kept, (number * rows + row) * kept, operand[1]);
  }
}

/* As a library may leave what it overwrites. */
static void spoil(const transform *t, void *x)
{
  const weir_c128 none = {NAN, NAN};
  int64_t in[WEIR_LIBRARY_DIMS];

  extents_of(t, false, in);
  for (int64_t i = 0; i < t->outer * product_of(in, t->rank) * t->inner; i++) {
    weir_dtype_store_complex(weir_dtype_complex(t->part), x, i, none);
  }
}

weir_status host_transform_run(const transform *t, void *const operand[])
{
  const int64_t all = product_of(t->n, t->rank);
  int64_t most = 1;
  void *memory = NULL;

  for (int k = 0; k < t->rank; k++) {
    most = t->n[k] > most ? t->n[k] : most;
  }
  /* Half of two points is both of them, and of one point the point. */
  WEIR_TRY(weir_alloc(all * t->inner + 4 * most, sizeof(weir_c128), &memory));
  space s = {.data = memory};

  s.line = s.data + all * t->inner;
  s.made = s.line + most;
  s.few = s.made + most;
  s.root = s.few + most;
  for (int64_t i = 0; i < t->outer; i++) {
    run_one(t, i, &s, operand);
  }
  if (t->kind == WEIR_LIBRARY_TO_REAL) {
    spoil(t, operand[0]);
  }
  weir_free(&memory);
  return WEIR_OK;
}

/* ---- One element. ---- */

static void digits(int64_t number, const int64_t *extent, int d, int64_t *at)
{
  for (int k = d - 1; k >= 0; k--) {
    at[k] = number % extent[k];
    number /= extent[k];
  }
}

/* The angle of the dimensions before the last, and of the last. */
static void angles(const transform *t, const int64_t *in, const int64_t *out, double *before,
                   double *last)
{
  const double sign = is_back(t) ? 2 * PI : -2 * PI;

  *before = *last = 0;
  for (int k = 0; k < t->rank; k++) {
    double *const angle = k < t->rank - 1 ? before : last;

    *angle += sign * (double)(in[k] * out[k] % t->n[k]) / (double)t->n[k];
  }
}

/* What element x adds at a place of the result. */
static weir_c128 term_of(const transform *t, weir_c128 x, const int64_t *in, const int64_t *out,
                         double *size)
{
  const int64_t wave = in[t->rank - 1];
  const bool alone = wave == 0 || 2 * wave == t->n[t->rank - 1];
  double before, last;

  angles(t, in, out, &before, &last);
  *size = hypot(x.re, x.im);
  if (t->kind != WEIR_LIBRARY_TO_REAL) {
    return times(x, (weir_c128){cos(before + last), sin(before + last)});
  }
  const weir_c128 z = times(x, (weir_c128){cos(before), sin(before)});

  *size *= alone ? 1 : 2;
  return (weir_c128){alone ? z.re * cos(last) : 2 * (z.re * cos(last) - z.im * sin(last)), 0};
}

weir_c128 host_transform_element(const transform *t, const void *const operand[], int64_t e,
                                 double *size)
{
  int64_t in[WEIR_LIBRARY_DIMS], out[WEIR_LIBRARY_DIMS], at[WEIR_LIBRARY_DIMS];
  int64_t to[WEIR_LIBRARY_DIMS];
  const bool real = t->kind == WEIR_LIBRARY_REAL;
  weir_c128 sum = {0, 0};

  extents_of(t, false, in);
  extents_of(t, true, out);
  const int64_t n_in = product_of(in, t->rank), n_out = product_of(out, t->rank);
  const int64_t first = e / t->inner / n_out * n_in * t->inner + e % t->inner;

  *size = 0;
  digits(e / t->inner % n_out, out, t->rank, to);
  for (int64_t i = 0; i < n_in; i++) {
    const int64_t from = first + i * t->inner;
    const weir_c128 x =
        real ? (weir_c128){weir_dtype_load_real(t->part, operand[0], from), 0}
             : weir_dtype_load_complex(weir_dtype_complex(t->part), operand[0], from);
    double one;

    digits(i, in, t->rank, at);
    const weir_c128 z = term_of(t, x, at, to, &one);

    sum.re += z.re;
    sum.im += z.im;
    *size += one;
  }
  return sum;
}
