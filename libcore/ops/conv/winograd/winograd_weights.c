/* winograd_weights.c - gradients by the weights: chunks of tiles, whose sums are transformed back
 * and merged pairwise, in one order. */
#include "ops/conv/winograd/winograd_priv.h"

#include <math.h>
#include <string.h>

/* Chunks, a power of two: at most so many, of at least so many tiles, and fewer where their sums
 * would take more than so many bytes together. */
enum { MAX_CHUNKS = 16, MIN_CHUNKS = 4, CHUNK_TILES = 128, CHUNKS_BYTES = 6 << 20 };

typedef struct shape {
  int64_t tiles, chunks;
  int64_t block;      /* tiles that are transformed at a time */
  int64_t rows;       /* words of them for a channel          */
  int64_t read, made; /* channels in whole vectors            */
  int64_t sum_step;   /* floats of the sums of one point      */
  int64_t taps;       /* 27 or 9                              */
  int64_t taps_step;  /* floats of the sums of one tap        */
  int64_t read_step, made_step;
} shape;

static shape shape_of(const winograd_kernels *k, const conv_unit *s)
{
  shape h = {.tiles = winograd_tiles(s),
             .block = winograd_block(k, s, true),
             .read = winograd_up(s->read, k->lanes),
             .made = winograd_up(s->made, k->lanes),
             .taps = winograd_deep(s) ? 27 : 9};

  h.taps_step = s->read * h.made;
  const int64_t fit = CHUNKS_BYTES / (h.taps * h.taps_step * (int64_t)sizeof(float));
  const int64_t chunks = winograd_min(h.tiles / CHUNK_TILES, fit < MIN_CHUNKS ? MIN_CHUNKS : fit);

  for (h.chunks = 1; 2 * h.chunks <= winograd_min(chunks, MAX_CHUNKS);) {
    h.chunks *= 2;
  }
  h.rows = winograd_words(k, h.block);
  h.sum_step = winograd_step(s->read, h.made);
  h.read_step = winograd_step(h.rows, h.read);
  h.made_step = winograd_step(h.rows, h.made);
  return h;
}

int64_t winograd_weights_workspace(const winograd_kernels *k, const conv_unit *s)
{
  const shape h = shape_of(k, s);

  return h.chunks * h.taps * h.taps_step * (int64_t)sizeof(float);
}

int64_t winograd_weights_scratch(const winograd_kernels *k, const conv_unit *s)
{
  const shape h = shape_of(k, s);

  return (winograd_points(s) * (h.sum_step + h.read_step + h.made_step) +
          winograd_up(s->read > s->made ? s->read : s->made, 16)) *
         (int64_t)sizeof(float);
}

/* Adds the products of tiles [from, to) to the sums of their points. */
static void add_block(const winograd_sum *f, const shape *h, int64_t from, int64_t to, int64_t end,
                      bool first)
{
  const conv_unit *s = f->s;
  const int n = winograd_points(s);
  const winograd_box all = {.hi = {s->batch, s->y[0], s->y[1]}};
  float *sums = f->scratch;
  winograd_word *read = (winograd_word *)f->scratch + n * h->sum_step,
                *made = read + n * h->read_step, *none = made + n * h->made_step;

  winograd_read(f, &all, from, to, none, read, h->read_step);
  for (int64_t i = from; i < to; i++) {
    const winograd_tile t = winograd_tile_at(s, &all, i);
    void *y[WINOGRAD_OUTPUTS];
    const void *points[WINOGRAD_OUTPUTS];

    winograd_outputs(f, &all, &t, y);
    for (int k = 0; k < winograd_outputs_of(s); k++) {
      points[k] = y[k] == NULL ? none : y[k];
    }
    f->k->spread[winograd_deep(s)](
        points, s->made, made + (i - from) / f->k->terms * h->made, h->made_step,
        (i - from) % f->k->terms == 0 ? WINOGRAD_FIRST : WINOGRAD_SECOND);
  }
  for (int p = 0; p < n; p++) {
    f->k->product(&(winograd_product){.a = read + p * h->read_step,
                                      .b = made + p * h->made_step,
                                      .c = sums + p * h->sum_step,
                                      .rows = s->read,
                                      .k = winograd_words(f->k, to - from),
                                      .vectors = h->made / f->k->lanes,
                                      .a_row = 1,
                                      .a_k = h->read,
                                      .b_k = h->made,
                                      .b_panel = 2 * f->k->lanes,
                                      .c_row = h->made,
                                      .adds = !first});
    winograd_prefetch(f, &all, to, winograd_min(2 * to - from, end), p, n);
  }
}

static void sum_chunk(const winograd_sum *f, int64_t chunk)
{
  const conv_unit *s = f->s;
  const shape h = shape_of(f->k, s);
  float *sums = f->scratch, *to = (float *)f->workspace + chunk * h.taps * h.taps_step;
  float *none = sums + winograd_points(s) * (h.sum_step + h.read_step + h.made_step);
  const int64_t from = h.tiles * chunk / h.chunks, end = h.tiles * (chunk + 1) / h.chunks;

  memset(none, 0, (size_t)(s->read > s->made ? s->read : s->made) * sizeof(float));
  for (int64_t at = from; at < end; at += h.block) {
    add_block(f, &h, at, winograd_min(at + h.block, end), end, at == from);
  }
  for (int64_t i = 0; i < h.taps_step; i += f->k->lanes) {
    f->k->back[winograd_deep(s)](sums + i, h.sum_step, to + i, h.taps_step);
  }
}

/* Sum over all positions of x, channel r, times y, channel c, for one tap. NaN stays NaN, so that
 * the sum ends there: of fields full of them at once. */
static double sum_again(const winograd_sum *f, int64_t tap, int64_t r, int64_t c)
{
  const conv_unit *s = f->s;
  const int64_t t[] = {tap / 9, tap / 3 % 3, tap % 3};
  double sum = 0;

  for (int64_t p = 0; p < s->batch * s->y[0] * s->y[1] * s->y[2] && !isnan(sum); p++) {
    const int64_t n = p / s->y[2] / s->y[1] / s->y[0];
    const int64_t o[] = {p / s->y[2] / s->y[1] % s->y[0], p / s->y[2] % s->y[1], p % s->y[2]};
    int64_t x = n * s->x_step[0] + r, y = n * s->y_step[0] + c;
    bool inside = true;

    for (int d = 0; d < 3; d++) {
      const int64_t index = conv_unit_index(s, d, o[d] + t[d]);

      inside = inside && index >= 0;
      x += index * s->x_step[d + 1];
      y += o[d] * s->y_step[d + 1];
    }
    sum += inside ? (double)winograd_get(f, f->x, x) * (double)winograd_get(f, f->y, y) : 0;
  }
  return sum;
}

/* Adds the sums of chunks pairwise, and puts them where they belong: those of one channel read, for
 * all taps. */
static void merge(const winograd_sum *f, int64_t r)
{
  const conv_unit *s = f->s;
  const shape h = shape_of(f->k, s);
  const int64_t count = h.taps * h.taps_step;

  for (int64_t tap = 0; tap < h.taps; tap++) {
    float *sums = (float *)f->workspace + tap * h.taps_step + r * h.made;
    const int64_t to = tap / 9 * s->w_step[0] + tap / 3 % 3 * s->w_step[1] +
                       tap % 3 * s->w_step[2] + r * s->w_step[3];

    for (int64_t width = 1; width < h.chunks; width *= 2) {
      for (int64_t chunk = 0; chunk + width < h.chunks; chunk += 2 * width) {
        float *a = sums + chunk * count;
        const float *b = a + width * count;

        for (int64_t c = 0; c < s->made; c++) {
          a[c] += b[c];
        }
      }
    }
    for (int64_t c = 0; c < s->made; c++) {
      winograd_set(f, f->w, to + c * s->w_step[4],
                   isfinite(sums[c]) ? sums[c] : (float)sum_again(f, tap, r, c));
    }
  }
}

int64_t winograd_weights_pieces(const winograd_kernels *k, const conv_unit *s, int stage)
{
  const shape h = shape_of(k, s);

  return stage == 0 ? h.chunks : stage == 1 ? s->read : 0;
}

void winograd_weights_piece(const winograd_sum *f, int stage, int64_t piece)
{
  (stage == 0 ? sum_chunk : merge)(f, piece);
}
