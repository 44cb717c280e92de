/* few_channels.c - convolutions with few channels on one side: partial sums over positions, merged
 * in one order. */
#include "ops/conv/few_priv.h"

#include <string.h>

#include "base/weir_integer.h"
#include "device/weir_parallel.h"

const few_kernels *few_kernels_get(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return &weir_few_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &weir_few_avx2;
  }
#endif
  return NULL;
}

static int64_t min_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Quotients of b > 0, downwards and upwards. */
static int64_t below(int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

static int64_t above(int64_t a, int64_t b)
{
  return -below(-a, b);
}

/* Outputs [*from, *to) of dimension d within those given whose tap t lies inside. */
static void reached(const few_conv *s, int d, int64_t t, int64_t *from, int64_t *to)
{
  *from = max_of(*from, above(s->lo[d] - t, s->stride[d]));
  *to = min_of(*to, below(s->in[d] - 1 - t + s->lo[d], s->stride[d]) + 1);
}

/* Where the weights of tap t, row-major over three dimensions, lie. */
static int64_t tap_at(const few_conv *s, int64_t t)
{
  return t / s->kernel_size[2] / s->kernel_size[1] * s->w_step[0] +
         t / s->kernel_size[2] % s->kernel_size[1] * s->w_step[1] +
         t % s->kernel_size[2] * s->w_step[2];
}

/* ---- weights ---- */

/* Outputs that one accumulator adds up before it is added to its partial sum; partial sums, which
 * grow fewer where they take more than so many bytes together; sums of a piece of the merge. */
enum { CHAIN = 256, MAX_PARTIALS = 64, MIN_PARTIALS = 8, PARTIALS_BYTES = 8 << 20, MERGE = 512 };

typedef struct weights_form {
  int64_t elements, channels; /* kernel elements of a row x few; many, padded     */
  int64_t count;              /* elements of a partial sum             */
  int64_t rows;               /* of outputs in a chunk                 */
  int64_t per_plane, chunks, partials;
} weights_form;

static weights_form weights_shape(const few_conv *s)
{
  weights_form f = {.elements = s->kernel_size[2] * s->few,
                    .channels = (s->many + FEW_LANES - 1) / FEW_LANES * FEW_LANES,
                    .rows = max_of(1, min_of(s->out[1], CHAIN / max_of(1, s->out[2])))};

  f.count = s->kernel_size[0] * s->kernel_size[1] * f.elements * f.channels;
  f.per_plane = (s->out[1] + f.rows - 1) / f.rows;
  f.chunks = s->batch * s->out[0] * f.per_plane;
  const int64_t fit = PARTIALS_BYTES / max_of(1, f.count * (int64_t)sizeof(float));

  f.partials = max_of(1, min_of(f.chunks, max_of(MIN_PARTIALS, min_of(MAX_PARTIALS, fit))));
  return f;
}

/* Elements [0, all) shared out evenly among calls of at most `most`. */
static void weights_calls(few_weights_strip *strip, int64_t all, few_weights_run *const *run,
                          int64_t most)
{
  const int64_t calls = (all + most - 1) / most;

  for (int64_t c = 0, at = 0; c < calls; c++) {
    const int64_t n = (all - at + calls - c - 1) / (calls - c);

    run[n - 1](strip);
    at += n;
    strip->first += n;
    strip->sums += n * strip->sum_step;
  }
}

/* All accumulators of one pair of kernel offsets and the channels of a strip. */
static void weights_pair(const few_sum *sum, const weights_form *f, few_weights_strip *strip)
{
  const few_conv *s = sum->s;
  const few_kernels *k = sum->k;
  const int two = strip->channels > k->lanes;

  if (s->stride[2] == 1 && s->kernel_size[2] == k->taps && !two) {
    weights_calls(strip, s->few, k->slide, k->slides);
  } else {
    weights_calls(strip, f->elements, k->weights[two], k->rows[two]);
  }
}

/* Every pair of kernel offsets of the channels from m on. */
static void weights_strip(const few_sum *sum, const weights_form *f, int64_t chunk, int64_t m,
                          float *sums)
{
  const few_conv *s = sum->s;
  const int64_t plane = chunk / f->per_plane, n = plane / s->out[0], o = plane % s->out[0];
  const int64_t row = chunk % f->per_plane * f->rows;
  few_weights_strip strip = {.few_row = s->stride[1] * s->in_step[2],
                             .many_row = s->out_step[2],
                             .few_step = s->stride[2] * s->few,
                             .many_step = s->out_step[3],
                             .few_count = s->in[2] * s->few,
                             .outputs = s->out[2],
                             .sum_step = f->channels,
                             .channels = min_of(2 * sum->k->lanes, s->many - m)};

  for (int64_t t = 0; t < s->kernel_size[0] * s->kernel_size[1]; t++) {
    const int64_t t0 = t / s->kernel_size[1], t1 = t % s->kernel_size[1];
    const int64_t in = s->stride[0] * o + t0 - s->lo[0];
    int64_t from = row, to = min_of(row + f->rows, s->out[1]);

    reached(s, 1, t1, &from, &to);
    if (in < 0 || in >= s->in[0] || from >= to) {
      continue;
    }
    strip.rows = to - from;
    strip.few = sum->a + n * s->in_step[0] + in * s->in_step[1] +
                (s->stride[1] * from + t1 - s->lo[1]) * s->in_step[2];
    strip.many = sum->b + n * s->out_step[0] + o * s->out_step[1] + from * s->out_step[2] + m;
    strip.sums = sums + t * f->elements * f->channels + m;
    strip.first = -s->lo[2] * s->few;
    weights_pair(sum, f, &strip);
  }
}

/* What is read of `many` stays in the first cache for all pairs of kernel offsets. */
static void weights_chunk(const few_sum *sum, const weights_form *f, int64_t chunk, float *sums)
{
  for (int64_t m = 0; m < sum->s->many; m += 2 * sum->k->lanes) {
    weights_strip(sum, f, chunk, m, sums);
  }
}

static void weights_partial(const few_sum *sum, int64_t partial)
{
  const weights_form f = weights_shape(sum->s);
  float *sums = (float *)sum->workspace + partial * f.count;

  memset(sums, 0, (size_t)f.count * sizeof(float));
  for (int64_t c = f.chunks * partial / f.partials; c < f.chunks * (partial + 1) / f.partials;
       c++) {
    weights_chunk(sum, &f, c, sums);
  }
}

/* Adds the partial sums pairwise, and puts them where they belong. */
static void weights_merge(const few_sum *sum, int64_t piece)
{
  const few_conv *s = sum->s;
  const weights_form f = weights_shape(s);
  float *sums = sum->workspace;
  const int64_t from = MERGE * piece, to = min_of(from + MERGE, f.count);

  for (int64_t width = 1; width < f.partials; width *= 2) {
    for (int64_t partial = 0; partial + width < f.partials; partial += 2 * width) {
      float *a = sums + partial * f.count;
      const float *b = a + width * f.count;

      for (int64_t i = from; i < to; i++) {
        a[i] += b[i];
      }
    }
  }
  for (int64_t i = from; i < to; i++) {
    const int64_t m = i % f.channels, e = i / f.channels, tap = e / s->few;

    if (m < s->many) {
      sum->out[tap_at(s, tap) + e % s->few * s->w_step[3] + m * s->w_step[4]] = sums[i];
    }
  }
}

/* ---- narrow and widen: tiles of planes and rows of outputs ---- */

/* Most of them in a tile. */
enum { PLANES = 16, ROWS = 16 };

typedef struct tiling {
  int64_t planes, rows, plane_tiles, row_tiles;
} tiling;

static tiling tiling_of(const few_conv *s, int64_t channels)
{
  const int64_t row = s->kernel_size[0] * s->in[2] * channels * (int64_t)sizeof(float);
  /* What it reads of the field is to stay in L2 while its planes go by, next to what it writes. */
  const int64_t bytes = weir_cpu_get()->constants.l2_bytes / 2;
  const int64_t fit = (bytes / max_of(1, row) - s->kernel_size[1]) / s->stride[1];
  tiling p = {.planes = PLANES, .rows = max_of(1, min_of(ROWS, fit))};

  p.plane_tiles = (s->out[0] + p.planes - 1) / p.planes;
  p.row_tiles = (s->out[1] + p.rows - 1) / p.rows;
  return p;
}

/* Computes the outputs of a tile. */
static void run_tile(const few_sum *sum, int64_t channels, int64_t piece)
{
  const few_conv *s = sum->s;
  const tiling p = tiling_of(s, channels);
  const int64_t n = piece / p.row_tiles / p.plane_tiles;
  const int64_t plane = piece / p.row_tiles % p.plane_tiles * p.planes;
  const int64_t row = piece % p.row_tiles * p.rows;

  few_rows(sum, (const int64_t[]){n, plane, row},
           (const int64_t[]){n + 1, min_of(plane + p.planes, s->out[0]),
                             min_of(row + p.rows, s->out[1])});
}

/* Outputs that are made row by row, plane by plane: samples, planes and rows [lo, hi). */
typedef struct few_box {
  const int64_t *lo, *hi;
} few_box;

enum { FEW_AHEAD = 8 };

/* Rows of the field that the next plane of the box is the first to read: an even share for each row
 * of this plane; returns how many. */
static int64_t rows_ahead(const few_sum *sum, const few_box *box, int64_t n, int64_t o0, int64_t o1,
                          const float **rows)
{
  const few_conv *s = sum->s;
  const int64_t plane = s->stride[0] * (o0 + 1) + s->kernel_size[0] - 1 - s->lo[0];
  const int64_t first = max_of(0, s->stride[1] * box->lo[2] - s->lo[1]);
  const int64_t end =
      min_of(s->in[1], s->stride[1] * (box->hi[2] - 1) + s->kernel_size[1] - s->lo[1]);
  const int64_t all = end - first, turns = box->hi[2] - box->lo[2], turn = o1 - box->lo[2];
  int64_t count = 0;

  if (plane < 0 || plane >= s->in[0] || o0 + 1 >= box->hi[1]) {
    return 0;
  }
  for (int64_t i = all * turn / turns; i < all * (turn + 1) / turns && count < FEW_AHEAD; i++) {
    rows[count++] =
        sum->a + n * s->in_step[0] + plane * s->in_step[1] + (first + i) * s->in_step[2];
  }
  return count;
}

/* Rows of the field that a row of outputs reads, and the numbers of the pairs of kernel offsets
 * that do; returns how many. */
static int64_t rows_read(const few_sum *sum, int64_t n, int64_t o0, int64_t o1, const float **rows,
                         int64_t *pairs)
{
  const few_conv *s = sum->s;
  int64_t count = 0;

  for (int64_t t = 0; t < s->kernel_size[0] * s->kernel_size[1]; t++) {
    const int64_t i0 = s->stride[0] * o0 + t / s->kernel_size[1] - s->lo[0];
    const int64_t i1 = s->stride[1] * o1 + t % s->kernel_size[1] - s->lo[1];

    if (i0 >= 0 && i0 < s->in[0] && i1 >= 0 && i1 < s->in[1]) {
      rows[count] = sum->a + n * s->in_step[0] + i0 * s->in_step[1] + i1 * s->in_step[2];
      pairs[count++] = t;
    }
  }
  return count;
}

static float *row_made(const few_sum *sum, int64_t n, int64_t o0, int64_t o1)
{
  const few_conv *s = sum->s;

  return sum->out + (n - sum->first[0]) * s->out_step[0] + (o0 - sum->first[1]) * s->out_step[1] +
         (o1 - sum->first[2]) * s->out_step[2];
}

/* Channels of the side that has many, in whole vectors. */
static int64_t padded(const few_kernels *k, const few_conv *s)
{
  return (s->many + k->lanes - 1) / k->lanes * k->lanes;
}

/* Weights of a pair of kernel offsets, as the vector code reads them. */
static int64_t pair_count(const few_kernels *k, const few_conv *s)
{
  return s->kernel_size[2] * s->few * padded(k, s);
}

/* [kernel, vectors of channels, few, lanes] */
static void narrow_pack(const few_sum *sum)
{
  const few_conv *s = sum->s;
  const int64_t lanes = sum->k->lanes;
  float *to = sum->workspace;

  for (int64_t t = 0; t < s->kernel_size[0] * s->kernel_size[1] * s->kernel_size[2]; t++) {
    const float *from = sum->b + tap_at(s, t);

    for (int64_t m = 0; m < s->many; m += lanes) {
      for (int64_t f = 0; f < s->few; f++) {
        for (int64_t l = m; l < m + lanes; l++) {
          *to++ = l < s->many ? from[f * s->w_step[3] + l * s->w_step[4]] : 0;
        }
      }
    }
  }
}

/* Rows of kernel elements whose weights take half of the first cache. */
static int64_t near_rows(const few_sum *sum)
{
  const int64_t bytes = pair_count(sum->k, sum->s) * (int64_t)sizeof(float);

  return max_of(1, weir_cpu_get()->constants.l1_bytes / 2 / max_of(1, bytes));
}

static void narrow_row(const few_sum *sum, const few_box *box, int64_t n, int64_t o0, int64_t o1)
{
  const few_conv *s = sum->s;
  const float *rows[FEW_PAIRS], *weights[FEW_PAIRS], *ahead[FEW_AHEAD];
  int64_t pairs[FEW_PAIRS];
  const few_narrow_row row = {.s = s,
                              .rows = rows,
                              .weights = weights,
                              .ahead = ahead,
                              .n_rows = rows_read(sum, n, o0, o1, rows, pairs),
                              .n_ahead = rows_ahead(sum, box, n, o0, o1, ahead),
                              .near = near_rows(sum),
                              .out = row_made(sum, n, o0, o1)};

  for (int64_t i = 0; i < row.n_rows; i++) {
    weights[i] = (const float *)sum->workspace + pairs[i] * pair_count(sum->k, s);
  }
  sum->k->narrow[s->few - 1](&row);
}

/* Channels from m on that one call makes: two vectors, or the last one. */
static int64_t widen_width(const few_kernels *k, const few_conv *s, int64_t m)
{
  return s->many - m > k->lanes ? 2 * k->lanes : k->lanes;
}

/* Weights for the channels from m on, of a width, stand at m x pairs x elements: [pairs of kernel
 * offsets, elements, width]. The bias follows them all. */
static void widen_pack(const few_sum *sum)
{
  const few_conv *s = sum->s;
  float *to = sum->workspace;

  for (int64_t m = 0, width; m < s->many; m += width) {
    width = widen_width(sum->k, s, m);
    for (int64_t t = 0; t < s->kernel_size[0] * s->kernel_size[1] * s->kernel_size[2]; t++) {
      for (int64_t f = 0; f < s->few; f++) {
        const float *from = sum->b + tap_at(s, t) + f * s->w_step[3];

        for (int64_t l = m; l < m + width; l++) {
          *to++ = l < s->many ? from[l * s->w_step[4]] : 0;
        }
      }
    }
  }
  for (int64_t m = 0; m < padded(sum->k, s); m++) {
    *to++ = sum->bias != NULL && m < s->many ? sum->bias[m] : 0;
  }
}

static void widen_row(const few_sum *sum, int64_t n, int64_t o0, int64_t o1)
{
  const few_conv *s = sum->s;
  const int64_t elements = s->kernel_size[2] * s->few,
                kernel_rows = s->kernel_size[0] * s->kernel_size[1];
  const float *start = (const float *)sum->workspace + kernel_rows * pair_count(sum->k, s);
  const float *rows[FEW_PAIRS], *weights[FEW_PAIRS];
  int64_t pairs[FEW_PAIRS];
  const int64_t n_rows = rows_read(sum, n, o0, o1, rows, pairs);

  for (int64_t m = 0, width; m < s->many; m += width) {
    width = widen_width(sum->k, s, m);
    for (int64_t i = 0; i < n_rows; i++) {
      weights[i] = (const float *)sum->workspace + elements * (m * kernel_rows + width * pairs[i]);
    }
    sum->k->widen(&(few_widen_row){.s = s,
                                   .rows = rows,
                                   .weights = weights,
                                   .n_rows = n_rows,
                                   .channels = min_of(width, s->many - m),
                                   .start = start + m,
                                   .out = row_made(sum, n, o0, o1) + m});
  }
}

/* ---- all three ---- */

bool few_takes(few_kind kind, const few_conv *s)
{
  return s->few >= 1 && s->few <= FEW_MAX && s->many >= 1 &&
         (kind == FEW_WEIGHTS || s->kernel_size[0] * s->kernel_size[1] <= FEW_PAIRS);
}

int64_t few_workspace(few_kind kind, const few_kernels *k, const few_conv *s)
{
  const weights_form f = weights_shape(s);
  const int64_t packed = s->kernel_size[0] * s->kernel_size[1] * pair_count(k, s) + padded(k, s);

  return (kind == FEW_WEIGHTS ? f.partials * f.count : packed) * (int64_t)sizeof(float);
}

int64_t few_pieces(few_kind kind, const few_kernels *k, const few_conv *s, int stage)
{
  (void)k;
  if (kind == FEW_WEIGHTS) {
    const weights_form f = weights_shape(s);

    return stage == 0 ? f.partials : (f.count + MERGE - 1) / MERGE;
  }
  const tiling p = tiling_of(s, kind == FEW_NARROW ? s->many : s->few);

  return stage == 0 ? 1 : s->batch * p.plane_tiles * p.row_tiles;
}

void few_piece(const few_sum *f, int stage, int64_t piece)
{
  if (f->kind == FEW_WEIGHTS) {
    (stage == 0 ? weights_partial : weights_merge)(f, piece);
  } else if (stage == 0) {
    (f->kind == FEW_NARROW ? narrow_pack : widen_pack)(f);
  } else {
    run_tile(f, f->kind == FEW_NARROW ? f->s->many : f->s->few, piece);
  }
}

void few_rows(const few_sum *f, const int64_t lo[3], const int64_t hi[3])
{
  const few_box box = {lo, hi};

  for (int64_t n = lo[0]; n < hi[0]; n++) {
    for (int64_t o0 = lo[1]; o0 < hi[1]; o0++) {
      for (int64_t o1 = lo[2]; o1 < hi[2]; o1++) {
        if (f->kind == FEW_NARROW) {
          narrow_row(f, &box, n, o0, o1);
        } else {
          widen_row(f, n, o0, o1);
        }
      }
    }
  }
}

typedef struct stage_run {
  const few_sum *f;
  int stage;
} stage_run;

static void run_piece(void *context, int64_t piece, int thread)
{
  const stage_run *r = context;

  (void)thread;
  few_piece(r->f, r->stage, piece);
}

void few_run(const few_sum *f, int threads)
{
  for (int stage = 0; stage < FEW_STAGES; stage++) {
    stage_run r = {f, stage};

    weir_parallel(few_pieces(f->kind, f->k, f->s, stage), threads, run_piece, &r);
  }
}

bool few_class(const few_conv *s, const int64_t number[3], few_conv *c, int64_t *in_at,
               int64_t *w_at)
{
  *c = *s;
  *in_at = *w_at = 0;
  c->in_step[0] = s->out_step[0];
  c->out_step[0] = s->in_step[0];
  for (int d = 0; d < 3; d++) {
    const int64_t stride = s->stride[d], first = weir_floor_mod(number[d] + s->lo[d], stride);

    if (number[d] >= stride || number[d] >= s->in[d]) {
      return false;
    }
    c->in[d] = s->out[d];
    c->out[d] = (s->in[d] - number[d] + stride - 1) / stride;
    c->kernel_size[d] =
        first < s->kernel_size[d] ? (s->kernel_size[d] - first + stride - 1) / stride : 0;
    c->stride[d] = 1;
    c->lo[d] = c->kernel_size[d] - 1 - below(number[d] + s->lo[d] - first, stride);
    c->in_step[d + 1] = s->out_step[d + 1];
    c->out_step[d + 1] = s->in_step[d + 1] * stride;
    c->w_step[d] = -s->w_step[d] * stride;
    *in_at += number[d] * s->in_step[d + 1];
    *w_at += (first + stride * (c->kernel_size[d] - 1)) * s->w_step[d];
  }
  return true;
}
