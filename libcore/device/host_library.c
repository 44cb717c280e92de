/* host_library.c - matrix products and convolutions by plain loops: what cpu and emulated have for
 * the libraries of a GPU. */
#include "device/host_library.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"

typedef weir_library_convolution conv;

static int64_t product_of(const int64_t *n, int count)
{
  int64_t all = 1;

  for (int k = 0; k < count; k++) {
    all *= n[k];
  }
  return all;
}

/* ---- Products. ---- */

/* The matrix, rows together, real parts and then imaginary parts. */
static void load_matrix(weir_dtype dtype, const weir_library_matrix *m, const void *data, int64_t s,
                        int64_t rows, int64_t columns, double *to)
{
  const double sign = m->conjugated ? -1 : 1;

  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const weir_c128 z =
          weir_dtype_load_complex(dtype, data, i * m->down + j * m->across + s * m->apart);

      to[i * columns + j] = z.re;
      to[(rows + i) * columns + j] = sign * z.im;
    }
  }
}

/* row += a b */
static void add_scaled(double a, const double *b, int64_t n, double *row)
{
  for (int64_t j = 0; j < n; j++) {
    row[j] += a * b[j];
  }
}

static void multiply(const weir_library_product *p, const double *a, const double *b, double *row,
                     int64_t i)
{
  const bool complex = weir_dtype_is_complex(p->dtype);

  memset(row, 0, (size_t)(2 * p->n) * sizeof *row);
  for (int64_t k = 0; k < p->k; k++) {
    const double re = a[i * p->k + k], im = a[(p->m + i) * p->k + k];
    const double *b_re = b + k * p->n, *b_im = b + (p->k + k) * p->n;

    add_scaled(re, b_re, p->n, row);
    if (complex) {
      add_scaled(-im, b_im, p->n, row);
      add_scaled(re, b_im, p->n, row + p->n);
      add_scaled(im, b_re, p->n, row + p->n);
    }
  }
}

static void store(weir_dtype dtype, void *data, int64_t at, double re, double im)
{
  if (weir_dtype_is_complex(dtype)) {
    weir_dtype_store_complex(dtype, data, at, (weir_c128){re, im});
  } else {
    weir_dtype_store_real(dtype, data, at, re);
  }
}

static weir_status run_product(const weir_library_product *p, void *const operand[])
{
  const int64_t a_size = 2 * p->m * p->k, b_size = 2 * p->k * p->n;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(a_size + b_size + 2 * p->n, sizeof(double), &memory));
  double *a = memory, *b = a + a_size, *row = b + b_size;

  for (int64_t s = 0; s < p->stack; s++) {
    load_matrix(p->dtype, &p->a, operand[0], s, p->m, p->k, a);
    load_matrix(p->dtype, &p->b, operand[1], s, p->k, p->n, b);
    for (int64_t i = 0; i < p->m; i++) {
      multiply(p, a, b, row, i);
      for (int64_t j = 0; j < p->n; j++) {
        store(p->dtype, operand[2], i * p->c.down + j + s * p->c.apart, row[j], row[p->n + j]);
      }
    }
  }
  weir_free(&memory);
  return WEIR_OK;
}

static weir_c128 load(weir_dtype dtype, const weir_library_matrix *m, const void *data, int64_t s,
                      int64_t i, int64_t j)
{
  weir_c128 z = weir_dtype_load_complex(dtype, data, i * m->down + j * m->across + s * m->apart);

  z.im = m->conjugated ? -z.im : z.im;
  return z;
}

/* Row, column and number of element e of c. */
static void find_element(const weir_library_product *p, int64_t e, int64_t *i, int64_t *j,
                         int64_t *s)
{
  const bool stacked = p->stack > 1, inner = stacked && p->c.apart < p->c.down;

  *s = !stacked ? 0 : inner ? e % p->c.down / p->c.apart : e / p->c.apart;
  e -= *s * (stacked ? p->c.apart : 0);
  *i = e / p->c.down;
  *j = e % p->c.down;
}

static weir_c128 product_element(const weir_library_product *p, const void *const operand[],
                                 int64_t e, double *size)
{
  weir_c128 sum = {0, 0};
  int64_t i, j, s;

  *size = 0;
  find_element(p, e, &i, &j, &s);
  for (int64_t k = 0; k < p->k; k++) {
    const weir_c128 a = load(p->dtype, &p->a, operand[0], s, i, k);
    const weir_c128 b = load(p->dtype, &p->b, operand[1], s, k, j);

    sum.re += a.re * b.re - a.im * b.im;
    sum.im += a.re * b.im + a.im * b.re;
    *size += hypot(a.re, a.im) * hypot(b.re, b.im);
  }
  return sum;
}

/* ---- Convolutions. ---- */

/* Positions of a box of d dimensions, in row-major order. */
static void digits(int64_t number, const int64_t *extent, int d, int64_t *at)
{
  for (int k = d - 1; k >= 0; k--) {
    at[k] = number % extent[k];
    number /= extent[k];
  }
}

/* The pixel of x that pixel p of y reads with a tap; -1: none. */
static int64_t pixel_of(const conv *c, const int64_t *p, const int64_t *tap)
{
  int64_t at = 0;

  for (int k = 0; k < c->d; k++) {
    const int64_t e = c->stride[k] * p[k] + c->dilation[k] * tap[k] - c->lo[k];

    if (e < 0 || e >= c->x_extent[k]) {
      return -1;
    }
    at = at * c->x_extent[k] + e;
  }
  return at;
}

typedef struct arrays {
  double *x, *w, *y; /* as the spec has them, but w: [groups, taps, in, out] */
  int64_t pixels_x, pixels_y, taps;
} arrays;

/* One pixel of y, one tap, one group: rows of channels. */
static void add_channels(const conv *c, const arrays *a, int64_t from, int64_t to, int64_t t,
                         int64_t g)
{
  double *x = a->x + (from * c->groups + g) * c->in, *y = a->y + (to * c->groups + g) * c->out;
  double *w = a->w + (g * a->taps + t) * c->in * c->out;

  for (int64_t i = 0; i < c->in; i++, w += c->out) {
    if (c->made == 2) {
      add_scaled(x[i], w, c->out, y);
    } else if (c->made == 1) {
      add_scaled(x[i], y, c->out, w);
    } else {
      double sum = 0;

      for (int64_t k = 0; k < c->out; k++) {
        sum += w[k] * y[k];
      }
      x[i] += sum;
    }
  }
}

static void convolve(const conv *c, const arrays *a)
{
  for (int64_t to = 0; to < c->n * a->pixels_y; to++) {
    int64_t p[WEIR_LIBRARY_DIMS], tap[WEIR_LIBRARY_DIMS];

    digits(to % a->pixels_y, c->y_extent, c->d, p);
    for (int64_t t = 0; t < a->taps; t++) {
      digits(t, c->taps, c->d, tap);
      const int64_t pixel = pixel_of(c, p, tap);

      for (int64_t g = 0; g < c->groups && pixel >= 0; g++) {
        add_channels(c, a, to / a->pixels_y * a->pixels_x + pixel, to, t, g);
      }
    }
  }
}

/* Element of the spec's w for element e of arrays.w. */
static int64_t weight_of(const conv *c, int64_t taps, int64_t e)
{
  const int64_t o = e % c->out, i = e / c->out % c->in, t = e / (c->out * c->in) % taps;
  const int64_t g = e / (c->out * c->in * taps);

  return ((g * c->out + o) * taps + t) * c->in + i;
}

static weir_status run_convolution(const weir_library_spec *spec, void *const operand[])
{
  const conv *c = &spec->convolution;
  int64_t n[WEIR_LIBRARY_OPERANDS];
  void *memory = NULL;

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    n[k] = weir_library_elements(spec, k);
  }
  WEIR_TRY(weir_alloc(n[0] + n[1] + n[2], sizeof(double), &memory));
  const arrays a = {.x = memory,
                    .w = (double *)memory + n[0],
                    .y = (double *)memory + n[0] + n[1],
                    .pixels_x = product_of(c->x_extent, c->d),
                    .pixels_y = product_of(c->y_extent, c->d),
                    .taps = product_of(c->taps, c->d)};
  double *const all[] = {a.x, a.w, a.y};

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    for (int64_t e = 0; e < n[k] && k != c->made; e++) {
      all[k][e] = weir_dtype_load_real(weir_library_dtype(spec, k), operand[k],
                                       k == 1 ? weight_of(c, a.taps, e) : e);
    }
  }
  convolve(c, &a);
  for (int64_t e = 0; e < n[c->made]; e++) {
    weir_dtype_store_real(weir_library_dtype(spec, c->made), operand[c->made],
                          c->made == 1 ? weight_of(c, a.taps, e) : e, all[c->made][e]);
  }
  weir_free(&memory);
  return WEIR_OK;
}

/* A sum of products and of their magnitudes. */
typedef struct summed {
  const conv *c;
  const void *const *operand;
  int64_t taps, pixels_x, pixels_y;
  double sum, size;
} summed;

static double real_at(const summed *s, int k, int64_t at)
{
  const weir_dtype dtype = k == 0 ? s->c->x : k == 1 ? s->c->w : s->c->y;

  return weir_dtype_load_real(dtype, s->operand[k], at);
}

/* Adds the product of the two that are given, at these places, if x has its one. */
static void add_product(summed *s, int64_t b, const int64_t *p, const int64_t *tap, int64_t g,
                        int64_t i, int64_t o)
{
  const conv *c = s->c;
  const int64_t pixel = pixel_of(c, p, tap);
  int64_t y = 0, t = 0;

  if (pixel < 0) {
    return;
  }
  for (int k = 0; k < c->d; k++) {
    y = y * c->y_extent[k] + p[k];
    t = t * c->taps[k] + tap[k];
  }
  const int64_t at[] = {((b * s->pixels_x + pixel) * c->groups + g) * c->in + i,
                        ((g * c->out + o) * s->taps + t) * c->in + i,
                        ((b * s->pixels_y + y) * c->groups + g) * c->out + o};
  double term = 1;

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    term *= k == c->made ? 1 : real_at(s, k, at[k]);
  }
  s->sum += term;
  s->size += fabs(term);
}

/* The pixel of y that reads pixel x with a tap. */
static bool reader_of(const conv *c, const int64_t *x, const int64_t *tap, int64_t *p)
{
  bool is = true;

  for (int k = 0; k < c->d; k++) {
    const int64_t at = x[k] + c->lo[k] - c->dilation[k] * tap[k];

    p[k] = at / c->stride[k];
    is = is && at >= 0 && at % c->stride[k] == 0 && p[k] < c->y_extent[k];
  }
  return is;
}

static void sum_y(summed *s, int64_t e)
{
  const conv *c = s->c;
  const int64_t channels = c->groups * c->out, channel = e % channels, pixel = e / channels;
  int64_t p[WEIR_LIBRARY_DIMS], tap[WEIR_LIBRARY_DIMS];

  digits(pixel % s->pixels_y, c->y_extent, c->d, p);
  for (int64_t t = 0; t < s->taps; t++) {
    digits(t, c->taps, c->d, tap);
    for (int64_t i = 0; i < c->in; i++) {
      add_product(s, pixel / s->pixels_y, p, tap, channel / c->out, i, channel % c->out);
    }
  }
}

static void sum_x(summed *s, int64_t e)
{
  const conv *c = s->c;
  const int64_t channels = c->groups * c->in, channel = e % channels, pixel = e / channels;
  int64_t x[WEIR_LIBRARY_DIMS], p[WEIR_LIBRARY_DIMS], tap[WEIR_LIBRARY_DIMS];

  digits(pixel % s->pixels_x, c->x_extent, c->d, x);
  for (int64_t t = 0; t < s->taps; t++) {
    digits(t, c->taps, c->d, tap);
    for (int64_t o = 0; reader_of(c, x, tap, p) && o < c->out; o++) {
      add_product(s, pixel / s->pixels_x, p, tap, channel / c->in, channel % c->in, o);
    }
  }
}

static void sum_w(summed *s, int64_t e)
{
  const conv *c = s->c;
  const int64_t i = e % c->in, t = e / c->in % s->taps, channel = e / (c->in * s->taps);
  int64_t p[WEIR_LIBRARY_DIMS], tap[WEIR_LIBRARY_DIMS];

  digits(t, c->taps, c->d, tap);
  for (int64_t y = 0; y < c->n * s->pixels_y; y++) {
    digits(y % s->pixels_y, c->y_extent, c->d, p);
    add_product(s, y / s->pixels_y, p, tap, channel / c->out, i, channel % c->out);
  }
}

static weir_c128 convolution_element(const conv *c, const void *const operand[], int64_t e,
                                     double *size)
{
  summed s = {.c = c,
              .operand = operand,
              .taps = product_of(c->taps, c->d),
              .pixels_x = product_of(c->x_extent, c->d),
              .pixels_y = product_of(c->y_extent, c->d)};

  if (c->made == 2) {
    sum_y(&s, e);
  } else if (c->made == 1) {
    sum_w(&s, e);
  } else {
    sum_x(&s, e);
  }
  *size = s.size;
  return (weir_c128){s.sum, 0};
}

weir_status host_library_run(const weir_library_spec *spec,
                             void *const operand[WEIR_LIBRARY_OPERANDS])
{
  WEIR_TRY(spec->kind == WEIR_LIBRARY_PRODUCT     ? run_product(&spec->product, operand)
           : spec->kind == WEIR_LIBRARY_TRANSFORM ? host_transform_run(&spec->transform, operand)
                                                  : run_convolution(spec, operand));
  return WEIR_OK;
}

weir_c128 host_library_element(const weir_library_spec *spec,
                               const void *const operand[WEIR_LIBRARY_OPERANDS], int64_t e,
                               double *size)
{
  return spec->kind == WEIR_LIBRARY_PRODUCT ? product_element(&spec->product, operand, e, size)
         : spec->kind == WEIR_LIBRARY_TRANSFORM
             ? host_transform_element(&spec->transform, operand, e, size)
             : convolution_element(&spec->convolution, operand, e, size);
}
