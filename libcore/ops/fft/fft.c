/* fft.c - Fourier transforms: their access, and sums over exponentials as the reference. */
#include "ops/fft/weir_fft.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_complex_scalar.h"
#include "ops/weir_batch.h"

#define PI 3.14159265358979323846

static weir_status check(const weir_fft_spec *s, const weir_array_desc *x)
{
  const bool complex = s->kind != WEIR_FFT_REAL;
  bool good = s->n_dims >= 1 && s->n_dims <= WEIR_FFT_DIMS;

  WEIR_TRY(weir_batch_need_dtype("fft", x->dtype));
  if (s->kind < WEIR_FFT_FORWARD || s->kind > WEIR_FFT_TO_REAL ||
      complex != weir_dtype_is_complex(x->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "fft: transform %d is undefined for %s", s->kind,
                     weir_dtype_name(x->dtype));
  }
  for (int k = 0; k < s->n_dims && good; k++) {
    good = s->dim[k] < x->rank && s->dim[k] > (k > 0 ? s->dim[k - 1] : -1);
  }
  if (!good) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "fft: %d dimensions of %d: 1 to %d ascending dimensions can be transformed",
                     s->n_dims, x->rank, WEIR_FFT_DIMS);
  }
  for (int k = 0; k < s->n_dims; k++) {
    WEIR_TRY(weir_need_bounded("fft", x, s->dim[k], "cut it into windows first"));
  }
  return WEIR_OK;
}

static bool from_spectrum(const weir_fft_spec *s)
{
  return s->kind == WEIR_FFT_BACKWARD || s->kind == WEIR_FFT_TO_REAL;
}

/* Along transformed dimension k the spectrum has the waves of a real array: no negative ones. */
static bool is_half(const weir_fft_spec *s, int k)
{
  return s->kind >= WEIR_FFT_REAL && k == s->n_dims - 1;
}

/* Extents of a truncated spectrum's result; out has those of a whole one. */
static weir_status truncate(const weir_fft_spec *s, const weir_array_desc *x, weir_array_desc *out)
{
  for (int k = 0; k < s->n_dims; k++) {
    const int64_t in = x->shape[s->dim[k]], want = s->extent[k];
    int64_t *made = &out->shape[s->dim[k]];
    const int64_t waves = from_spectrum(s) ? (is_half(s, k) ? want / 2 + 1 : want) : *made;

    if (want < 0 || (want > 0 && (from_spectrum(s) ? in : want) > waves)) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "fft: an extent of %lld along dimension %d, of %lld: a spectrum has at most "
                       "the waves of its points",
                       (long long)want, s->dim[k], (long long)in);
    }
    *made = want > 0 ? want : *made;
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_fft_spec *s = args->spec;
  const weir_dtype part = weir_dtype_part(args->in[0].dtype);

  WEIR_TRY(weir_need_count("fft", args, 1, 1));
  WEIR_TRY(check(s, &args->in[0]));
  *out = args->in[0];
  int64_t *last = &out->shape[s->dim[s->n_dims - 1]];

  if (s->kind == WEIR_FFT_REAL) {
    out->dtype = weir_dtype_complex(part);
    *last = *last > 0 ? *last / 2 + 1 : 0;
  } else if (s->kind == WEIR_FFT_TO_REAL) {
    out->dtype = part;
    *last = *last > 0 ? 2 * (*last - 1) + (s->odd != 0) : 0;
    if (*last == 0 && s->extent[s->n_dims - 1] == 0 &&
        args->in[0].shape[s->dim[s->n_dims - 1]] > 0) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "fft: one element with an even number of points gives 0 points: set odd");
    }
  }
  return truncate(s, &args->in[0], out);
}

/* Which transformed dimension d is, or -1. */
static int transform_of(const weir_fft_spec *s, int d)
{
  for (int k = 0; k < s->n_dims; k++) {
    if (s->dim[k] == d) {
      return k;
    }
  }
  return -1;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_fft_spec *s = args->spec;
  const weir_array_desc *x = &args->in[0], *y = &args->out[0];
  double points = 1;

  a->maker = WEIR_MADE_BY_LIBRARY;
  weir_map_operand(&a->in[0], x);
  weir_map_operand(&a->out[0], y);
  for (int d = 0; d < x->rank; d++) {
    const bool whole = transform_of(s, d) >= 0;
    const int dim = weir_map_dim(a, whole ? WEIR_REDUCED : WEIR_PARALLEL, x->shape[d]);

    a->dim[dim].time = x->time == d + 1;
    a->in[0].index[d].coef[dim] = 1;
    points *= !whole ? 1 : (double)(x->shape[d] > y->shape[d] ? x->shape[d] : y->shape[d]);
    a->out[0].index[d].coef[whole ? weir_map_dim(a, WEIR_REDUCED, y->shape[d]) : dim] = 1;
  }
  /* Van Loan 1992: 5 n log2 n, half of that where one side is real. */
  a->point_flops = (s->kind > WEIR_FFT_BACKWARD ? 2.5 : 5) * points * log2(points > 2 ? points : 2);
  return WEIR_OK;
}

weir_fft_block weir_fft_block_of(const weir_fft_spec *s, const weir_access *a)
{
  weir_fft_block b = {.rank = s->n_dims, .n_points = 1, .n_in = 1, .n_out = 1};

  for (int k = 0; k < s->n_dims; k++) {
    b.in[k] = a->in[0].extent[s->dim[k]];
    b.out[k] = a->out[0].extent[s->dim[k]];
    b.n[k] = from_spectrum(s) ? b.out[k] : b.in[k];
    b.n_points *= b.n[k];
    b.n_in *= b.in[k];
    b.n_out *= b.out[k];
  }
  return b;
}

int64_t weir_fft_wave(const weir_fft_spec *s, int dim, int64_t waves, int64_t n, int64_t at)
{
  return is_half(s, dim) || at < (waves + 1) / 2 ? at : n - waves + at;
}

bool weir_fft_truncated(const weir_fft_spec *s, const weir_fft_block *b)
{
  bool yes = false;

  for (int k = 0; k < b->rank; k++) {
    const int64_t waves = from_spectrum(s) ? b->in[k] : b->out[k];

    yes = yes || waves < (is_half(s, k) ? b->n[k] / 2 + 1 : b->n[k]);
  }
  return yes;
}

weir_matrix weir_fft_rows(const weir_fft_spec *s, const weir_operand *o, int n_dims,
                          const weir_view *v, const int64_t *iteration, int64_t outer)
{
  int64_t at[WEIR_MAX_RANK] = {0};
  const int last = s->dim[s->n_dims - 1], before = s->n_dims > 1 ? s->dim[s->n_dims - 2] : last;

  for (int d = 0; d < o->rank; d++) {
    at[d] = transform_of(s, d) < 0 ? weir_index_raw(&o->index[d], n_dims, iteration, 0) : 0;
  }
  if (s->n_dims > 2) {
    at[s->dim[0]] = outer;
  }
  return (weir_matrix){.data = weir_view_at(v, at),
                       .dtype = v->dtype,
                       .rows = s->n_dims > 1 ? o->extent[before] : 1,
                       .columns = o->extent[last],
                       .down = v->stride[before],
                       .across = v->stride[last]};
}

/* Copies the block that operand o has at the iteration into memory, or (store) back, of elements of
 * `dtype`: the array's own, or c128. */
static void load_block(const weir_fft_spec *s, const weir_operand *o, int n_dims,
                       const weir_view *v, const int64_t *iteration, weir_dtype dtype, void *memory)
{
  const int64_t outer = s->n_dims > 2 ? o->extent[s->dim[0]] : 1;
  char *to = memory;

  for (int64_t i = 0; i < outer; i++) {
    const weir_matrix m = weir_fft_rows(s, o, n_dims, v, iteration, i);

    weir_matrix_load(&m, dtype, to);
    to += m.rows * m.columns * (int64_t)weir_dtype_size(dtype);
  }
}

static void store_block(const weir_fft_spec *s, const weir_operand *o, int n_dims,
                        const weir_view *v, const int64_t *iteration, weir_dtype dtype,
                        const void *memory)
{
  const int64_t outer = s->n_dims > 2 ? o->extent[s->dim[0]] : 1;
  const char *from = memory;

  for (int64_t i = 0; i < outer; i++) {
    const weir_matrix m = weir_fft_rows(s, o, n_dims, v, iteration, i);

    weir_matrix_store(&m, dtype, from);
    from += m.rows * m.columns * (int64_t)weir_dtype_size(dtype);
  }
}

/* Both blocks, and exp(-2 pi i k / n) of the longest dimension. */
static int64_t scratch(const void *spec, const weir_access *a)
{
  (void)spec;
  int64_t points = 1, max = 1;

  for (int d = 0; d < a->in[0].rank; d++) {
    const int64_t in = a->in[0].extent[d], out = a->out[0].extent[d], n = in > out ? in : out;
    const int k = weir_index_follows(&a->in[0].index[d], a->n_dims);

    if (k >= 0 && a->dim[k].kind == WEIR_REDUCED) {
      points *= n;
      max = n > max ? n : max;
    }
  }
  return (2 * points + max) * (int64_t)sizeof(weir_c128);
}

/* One dimension of a block [outer, in, inner] -> [outer, out, inner], of n points. */
typedef struct axis {
  const weir_fft_spec *spec;
  int dim;
  int64_t outer, in, out, inner, n;
  bool back;
} axis;

/* y_k = sum_j x_j exp(-+2 pi i j k / n), j or k the waves of the spectrum; twiddle:
 * exp(-2 pi i j / n). */
static void transform(const axis *t, const weir_c128 *twiddle, const weir_c128 *x, weir_c128 *y)
{
  for (int64_t k = 0; k < t->outer * t->out * t->inner; k++) {
    const weir_c128 *from = x + k / t->inner / t->out * t->in * t->inner + k % t->inner;
    const int64_t at = k / t->inner % t->out;
    const int64_t made = t->back ? at : weir_fft_wave(t->spec, t->dim, t->out, t->n, at);
    weir_c128 sum = {0, 0};

    for (int64_t j = 0; j < t->in; j++) {
      const int64_t wave = t->back ? weir_fft_wave(t->spec, t->dim, t->in, t->n, j) : j;
      const weir_c128 w = twiddle[wave * made % t->n];
      const weir_c128 z = {w.re, t->back ? -w.im : w.im};

      sum = weir_add_c128(sum, weir_mul_c128(from[j * t->inner], z));
    }
    y[k] = sum;
  }
}

/* The same of the half of a Hermitian row, backwards: the other half adds the conjugates. */
static void transform_half(const axis *t, const weir_c128 *twiddle, const weir_c128 *x,
                           weir_c128 *y)
{
  for (int64_t k = 0; k < t->outer * t->out; k++) {
    const weir_c128 *from = x + k / t->out * t->in;

    y[k] = (weir_c128){from[0].re, 0};
    for (int64_t j = 1; j < t->in; j++) {
      const weir_c128 w = twiddle[j * (k % t->out) % t->n];
      const double part = from[j].re * w.re + from[j].im * w.im;

      y[k].re += 2 * j == t->n ? from[j].re * w.re : 2 * part;
    }
  }
}

static void make_twiddles(int64_t n, weir_c128 *twiddle)
{
  for (int64_t k = 0; k < n; k++) {
    const double angle = 2 * PI * (double)k / (double)n;

    twiddle[k] = (weir_c128){cos(angle), -sin(angle)};
  }
}

/* The block in `x` by sums over exponentials; returns where the result is, x or y. A real side's
 * dimension is the last of a way to it, and the first from it. */
static weir_c128 *transform_block(const weir_fft_spec *s, const weir_fft_block *b, weir_c128 *x,
                                  weir_c128 *y, weir_c128 *twiddle)
{
  int64_t now[WEIR_FFT_DIMS];

  memcpy(now, b->in, sizeof now);
  for (int step = 0; step < b->rank; step++) {
    const int k = s->kind == WEIR_FFT_TO_REAL ? step : b->rank - 1 - step;
    axis t = {.spec = s,
              .dim = k,
              .outer = 1,
              .in = now[k],
              .out = b->out[k],
              .inner = 1,
              .n = b->n[k],
              .back = from_spectrum(s)};

    for (int d = 0; d < b->rank; d++) {
      t.outer *= d < k ? now[d] : 1;
      t.inner *= d > k ? now[d] : 1;
    }
    make_twiddles(t.n, twiddle);
    if (s->kind == WEIR_FFT_TO_REAL && k == b->rank - 1) {
      transform_half(&t, twiddle, x, y);
    } else {
      transform(&t, twiddle, x, y);
    }
    now[k] = t.out;
    weir_c128 *const made = y;

    y = x;
    x = made;
  }
  for (int64_t i = 0; i < b->n_out && s->scale != 0; i++) {
    x[i] = (weir_c128){s->scale * x[i].re, s->scale * x[i].im};
  }
  return x;
}

/* Makes the result of one point in memory of `scratch`. */
static weir_c128 *make(const weir_op_run *r, const weir_fft_block *b, const int64_t *at,
                       void *memory)
{
  const int64_t points = b->n_points > b->n_in ? b->n_points : b->n_in;
  weir_c128 *x = memory, *y = x + points;

  load_block(r->spec, &r->access->in[0], r->access->n_dims, &r->in[0], at, WEIR_C128, x);
  return transform_block(r->spec, b, x, y, y + points);
}

static weir_status run(const weir_op_run *r)
{
  const weir_access *a = r->access;
  const weir_fft_block b = weir_fft_block_of(r->spec, a);
  const int64_t points = weir_batch_count(a, &r->box);
  int64_t at[WEIR_MAX_DIMS];

  for (int64_t p = 0; p < points; p++) {
    weir_batch_point(a, &r->box, p, at);
    store_block(r->spec, &a->out[0], a->n_dims, &r->out[0], at, WEIR_C128,
                make(r, &b, at, r->scratch));
  }
  return WEIR_OK;
}

static double length_of(const weir_c128 *x, int64_t n)
{
  double length = 0;

  for (int64_t i = 0; i < n; i++) {
    length = hypot(length, hypot(x[i].re, x[i].im));
  }
  return length;
}

/* ||y - expected|| / size, lengths as sqrt of sums of squares. Numbers that are not finite spoil
 * their transform. */
static double error_of(const weir_c128 *y, const weir_c128 *expected, int64_t n, double size)
{
  double apart = 0;

  for (int64_t i = 0; i < n; i++) {
    apart = hypot(apart, hypot(y[i].re - expected[i].re, y[i].im - expected[i].im));
  }
  return !isfinite(length_of(expected, n)) ? 0
         : apart == 0                      ? 0
         : isnan(apart)                    ? INFINITY
                                           : apart / size;
}

/* Over the length that a transform of all points has (Parseval), of half an array at most twice
 * that, in units of eps log2 n (Higham 2002, theorem 24.2): what is left of it, as where the real
 * parts of a way back cancel, has the error of the whole. */
static double error(const weir_op_run *r)
{
  const weir_access *a = r->access;
  const weir_fft_spec *s = r->spec;
  const weir_fft_block b = weir_fft_block_of(s, a);
  const double unit = weir_batch_eps(a->in[0].dtype) * (1 + log2((double)b.n_points)) *
                      sqrt((double)b.n_points) * (s->scale != 0 ? fabs(s->scale) : 1) *
                      (s->kind == WEIR_FFT_TO_REAL ? 2 : 1);
  const int64_t points = weir_batch_count(a, &r->box);
  int64_t at[WEIR_MAX_DIMS];
  double worst = 0;
  void *memory = NULL;
  weir_c128 *y;

  if (weir_alloc(scratch(r->spec, a) + b.n_out * (int64_t)sizeof *y, 1, &memory) != WEIR_OK) {
    return INFINITY;
  }
  y = (weir_c128 *)((char *)memory + scratch(r->spec, a));
  for (int64_t p = 0; p < points; p++) {
    weir_batch_point(a, &r->box, p, at);
    load_block(s, &a->out[0], a->n_dims, &r->out[0], at, WEIR_C128, y);
    load_block(s, &a->in[0], a->n_dims, &r->in[0], at, WEIR_C128, memory);
    const double size = unit * length_of(memory, b.n_in);

    worst = fmax(worst, error_of(y, make(r, &b, at, memory), b.n_out, size));
  }
  weir_free(&memory);
  return worst;
}

const weir_op_desc weir_op_fft = {
    .name = "fft",
    .cite = "Van Loan 1992",
    .spec_size = sizeof(weir_fft_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
    .run = run,
    .scratch = scratch,
    .error = error,
};

weir_value weir_fft_at(weir_graph *g, weir_value x, const weir_fft_spec *spec, const char *where)
{
  return weir_graph_add(g, &weir_op_fft, spec, &x, 1, where);
}
