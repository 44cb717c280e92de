/* winograd.c - Winograd convolutions: weights are transformed once, then blocks of tiles are read,
 * multiplied and written while they are in cache. */
#include "ops/conv/winograd/winograd_priv.h"

#include <math.h>
#include <string.h>

#include "device/weir_parallel.h"

const winograd_kernels *winograd_kernels_get(weir_dtype dtype)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (dtype == WEIR_BF16) {
    return cpu->amx ? &weir_winograd_amx : cpu->avx512bf16 ? &weir_winograd_avx512bf16 : NULL;
  }
  if (cpu->avx512) {
    return &weir_winograd_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &weir_winograd_avx2;
  }
#endif
  return NULL;
}

/* ---- shape ---- */

static int64_t tiles_along(const conv_unit *s, int d, int64_t outputs)
{
  return (outputs + winograd_size(s, d) - 1) / winograd_size(s, d);
}

static int64_t tiles_of(const conv_unit *s, const winograd_box *box)
{
  return (box->hi[0] - box->lo[0]) * tiles_along(s, 0, box->hi[1] - box->lo[1]) *
         tiles_along(s, 1, box->hi[2] - box->lo[2]) * tiles_along(s, 2, s->y[2]);
}

static winograd_box whole(const conv_unit *s)
{
  return (winograd_box){.hi = {s->batch, s->y[0], s->y[1]}};
}

int64_t winograd_tiles(const conv_unit *s)
{
  const winograd_box all = whole(s);

  return tiles_of(s, &all);
}

double winograd_products(const conv_unit *s)
{
  return (double)winograd_tiles(s) * winograd_points(s) * (double)s->read * (double)s->made;
}

int64_t winograd_step(int64_t rows, int64_t words)
{
  const int64_t line = 16; /* words; an odd number of lines */

  return ((rows * words + line - 1) / line | 1) * line;
}

winograd_tile winograd_tile_at(const conv_unit *s, const winograd_box *box, int64_t at)
{
  const int64_t columns = tiles_along(s, 2, s->y[2]);
  const int64_t rows = tiles_along(s, 1, box->hi[2] - box->lo[2]);
  const int64_t planes = tiles_along(s, 0, box->hi[1] - box->lo[1]);

  return (winograd_tile){box->lo[0] + at / planes / columns / rows,
                         {box->lo[1] + at % planes * winograd_size(s, 0),
                          box->lo[2] + at / planes / columns % rows * winograd_size(s, 1),
                          at / planes % columns * winograd_size(s, 2)}};
}

/* Addresses of the elements that a column reads, the first tile of which is t. */
static void column_points(const winograd_sum *f, const winograd_tile *t, const void *none,
                          int tiles, const void **points)
{
  const conv_unit *s = f->s;
  const int64_t size = winograd_read_size(f);
  const char *sample = (const char *)f->x + t->n * s->x_step[0] * size;
  int64_t at[2][4];

  for (int d = 0; d < 2; d++) {
    for (int i = 0; i < 4; i++) {
      const int64_t index = conv_unit_index(s, d + 1, t->o[d + 1] + i);

      at[d][i] = index < 0 ? -1 : index * s->x_step[d + 2];
    }
  }
  for (int p = 0; p < winograd_planes(winograd_deep(s), tiles); p++) {
    const int64_t plane = conv_unit_index(s, 0, t->o[0] + p);

    for (int i = 0; i < 16; i++) {
      const bool there = plane >= 0 && at[0][i / 4] >= 0 && at[1][i % 4] >= 0;

      points[16 * p + i] =
          there ? sample + (plane * s->x_step[1] + at[0][i / 4] + at[1][i % 4]) * size : none;
    }
  }
}

static int column_of(const winograd_sum *f, const winograd_box *box, int64_t at, int64_t to,
                     const void *none, const void **points)
{
  const int64_t planes = tiles_along(f->s, 0, box->hi[1] - box->lo[1]);
  const winograd_tile t = winograd_tile_at(f->s, box, at);
  const int64_t tiles = winograd_min(winograd_min(planes - at % planes, to - at), WINOGRAD_COLUMN);

  column_points(f, &t, none, (int)tiles, points);
  return (int)tiles;
}

void winograd_read(const winograd_sum *f, const winograd_box *box, int64_t from, int64_t to,
                   const void *none, winograd_word *read, int64_t step)
{
  const conv_unit *s = f->s;
  const bool pairs = f->weights && f->k->terms == 2;
  const int64_t channels = winograd_up(s->read, f->k->lanes);
  winograd_column c = {.channels = s->read,
                       .step = step,
                       .tile_step = pairs ? channels : winograd_words(f->k, channels)};

  for (int64_t at = from; at < to; at += c.tiles) {
    const int64_t i = at - from;

    c.tiles = column_of(f, box, at, to, none, c.points);
    c.store = !pairs ? WINOGRAD_ALONG : i % 2 == 0 ? WINOGRAD_FIRST : WINOGRAD_SECOND;
    c.to = read + (pairs ? i / 2 : i) * c.tile_step;
    f->k->read[winograd_deep(s)](&c);
  }
}

void winograd_outputs(const winograd_sum *f, const winograd_box *box, const winograd_tile *t,
                      void **outputs)
{
  const conv_unit *s = f->s;
  const int64_t end[] = {box->hi[1], box->hi[2], s->y[2]};
  const int64_t size = f->weights ? winograd_read_size(f) : winograd_made_size(f);
  char *const sample = (char *)f->y + (t->n - f->first[0]) * s->y_step[0] * size;
  int64_t at[3][2];

  for (int d = 0; d < 3; d++) {
    for (int i = 0; i < 2; i++) {
      const int64_t o = t->o[d] + i;

      at[d][i] = o < end[d] ? (o - (d < 2 ? f->first[d + 1] : 0)) * s->y_step[d + 1] * size : -1;
    }
  }
  for (int i = 0; i < winograd_outputs_of(s); i++) {
    const int64_t a = at[0][i >> 2], b = at[1][i >> 1 & 1], c = at[2][i & 1];

    outputs[i] = a >= 0 && b >= 0 && c >= 0 ? sample + a + b + c : NULL;
  }
}

static inline void prefetch(const void *from, int64_t bytes)
{
  for (int64_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch((const char *)from + i, 0, 2);
  }
}

/* What tile t reads and the tile before it along each of the dimensions 0 and 2 does not. */
static void prefetch_read(const winograd_sum *f, const winograd_tile *t)
{
  const conv_unit *s = f->s;
  const int64_t size = winograd_read_size(f);
  const char *const sample = (const char *)f->x + t->n * s->x_step[0] * size;
  const int planes = winograd_deep(s) ? 2 : 1;
  int64_t column[2];

  for (int i = 0; i < 2; i++) {
    column[i] = conv_unit_index(s, 2, t->o[2] + 2 + i);
  }
  for (int p = 0; p < 4 * planes; p++) {
    const int64_t plane = conv_unit_index(s, 0, t->o[0] + planes - 1 + p / 4);
    const int64_t row = conv_unit_index(s, 1, t->o[1] + p % 4);

    for (int i = 0; i < 2 && plane >= 0 && row >= 0; i++) {
      if (column[i] >= 0) {
        prefetch(sample +
                     (plane * s->x_step[1] + row * s->x_step[2] + column[i] * s->x_step[3]) * size,
                 s->read * size);
      }
    }
  }
}

void winograd_prefetch(const winograd_sum *f, const winograd_box *box, int64_t from, int64_t to,
                       int part, int parts)
{
  const conv_unit *s = f->s;
  const int64_t n = to - from;
  const int64_t bytes = s->made * (f->weights ? winograd_read_size(f) : winograd_made_size(f));

  for (int64_t i = from + n * part / parts; i < from + n * (part + 1) / parts; i++) {
    const winograd_tile t = winograd_tile_at(s, box, i);
    void *outputs[WINOGRAD_OUTPUTS];

    prefetch_read(f, &t);
    winograd_outputs(f, box, &t, outputs);
    for (int p = 0; p < winograd_outputs_of(s); p++) {
      if (outputs[p] != NULL) {
        prefetch(outputs[p], bytes);
      }
    }
  }
}

/* Blocks are large where all weights do not fit beside them, so that these are read for many tiles
 * at a time, else small: half of the cache holds both, since pages that lie where others do evict
 * them before it is full. At least so many blocks are left for threads. */
enum { STREAMED_ROWS = 4, CACHED_ROWS = 3, MIN_BLOCKS = 4 };

int64_t winograd_block(const winograd_kernels *k, const conv_unit *s, bool weights)
{
  const int64_t read = winograd_words(k, winograd_up(s->read, k->lanes));
  const int64_t made = winograd_up(s->made, k->lanes);
  const int64_t point = winograd_points(s) * (int64_t)sizeof(winograd_word);
  const int64_t held = (weights ? s->read : winograd_words(k, s->read)) * made * point;
  const int64_t left = weir_cpu_get()->constants.l2_bytes / 2 - held;
  const int64_t fit = left / ((read + made) * point) / k->rows;
  const int64_t rows = left <= 0 ? STREAMED_ROWS : fit < 1 ? 1 : winograd_min(fit, CACHED_ROWS);
  const int64_t most = (winograd_tiles(s) / MIN_BLOCKS + k->rows - 1) / k->rows;

  return k->rows * (most < 1 ? 1 : winograd_min(rows, most));
}

/* ---- weights, transformed: [points, panels of two vectors, words read, panel] ---- */

/* Channels read, whole words, whose weights a piece transforms; blocks of a piece, at most, and
 * pieces that are to be there before a piece has several. */
enum { PACKED_READ = 8, PIECE_BLOCKS = 8, MIN_PIECES = 64 };

static int64_t panels_of(const winograd_kernels *k, const conv_unit *s)
{
  return (s->made + 2 * k->lanes - 1) / (2 * k->lanes);
}

static int64_t weights_step(const winograd_kernels *k, const conv_unit *s)
{
  return winograd_step(panels_of(k, s) * winograd_words(k, s->read), 2 * k->lanes);
}

/* Taps of n channels read, from r on, and `lanes` channels made, from m on: [n, taps, lanes], zero
 * beyond the last. Where those read are neighbours, a line is read once for all of them. */
static inline __attribute__((always_inline)) void gather(const winograd_sum *f, int64_t r,
                                                         int64_t n, int64_t m, float *taps,
                                                         const int64_t read_step,
                                                         const int64_t made_step)
{
  const conv_unit *s = f->s;
  const int64_t lanes = f->k->lanes, there = winograd_min(lanes, s->made - m);
  const int64_t count = winograd_deep(s) ? 27 : 9;

  for (int64_t t = 0; t < count; t++) {
    const int64_t from = t / 9 * s->w_step[0] + t / 3 % 3 * s->w_step[1] + t % 3 * s->w_step[2] +
                         r * read_step + m * made_step;

    for (int64_t l = 0; l < there; l++) {
      for (int64_t i = 0; i < n; i++) {
        taps[(i * count + t) * lanes + l] =
            winograd_get(f, f->w, from + i * read_step + l * made_step);
      }
    }
    for (int64_t i = 0; i < n && there < lanes; i++) {
      memset(taps + (i * count + t) * lanes + there, 0, (size_t)(lanes - there) * sizeof(float));
    }
  }
}

static void gather_taps(const winograd_sum *f, int64_t r, int64_t n, int64_t m, float *taps)
{
  const int64_t read_step = f->s->w_step[3], made_step = f->s->w_step[4];

  if (made_step == 1) {
    gather(f, r, n, m, taps, read_step, 1);
  } else if (read_step == 1) {
    gather(f, r, n, m, taps, 1, made_step);
  } else {
    gather(f, r, n, m, taps, read_step, made_step);
  }
}

static void pack(const winograd_sum *f, int64_t piece)
{
  const conv_unit *s = f->s;
  const int64_t lanes = f->k->lanes, step = weights_step(f->k, s);
  const int64_t words = winograd_words(f->k, s->read), first = piece * PACKED_READ;
  const int64_t n = winograd_min(PACKED_READ, s->read - first);
  float taps[PACKED_READ * WINOGRAD_TAPS * 16];

  for (int64_t m = 0; m < s->made; m += lanes) {
    winograd_word *const to =
        (winograd_word *)f->workspace + m / (2 * lanes) * words * 2 * lanes + m % (2 * lanes);

    gather_taps(f, first, n, m, taps);
    for (int64_t i = 0; i < n; i++) {
      const int64_t r = first + i;

      f->k->weights[winograd_deep(s)](taps + i * (winograd_deep(s) ? 27 : 9) * lanes,
                                      to + r / f->k->terms * 2 * lanes, step,
                                      r % f->k->terms == 0 ? WINOGRAD_FIRST : WINOGRAD_SECOND);
    }
  }
}

/* ---- blocks of tiles ---- */

/* What a thread holds: elements of tiles, transformed, their products, and zeros. */
typedef struct buffers {
  winograd_word *read, *none;
  float *made;
  int64_t words, channels;      /* read and made, in whole vectors */
  int64_t read_step, made_step; /* between two points */
  int64_t count;                /* words of all */
} buffers;

static buffers buffers_of(const winograd_kernels *k, const conv_unit *s, void *memory)
{
  const int64_t tiles = winograd_block(k, s, false);
  buffers b = {.words = winograd_words(k, winograd_up(s->read, k->lanes)),
               .channels = winograd_up(s->made, k->lanes)};

  b.read_step = winograd_step(tiles, b.words);
  b.made_step = winograd_step(tiles, b.channels);
  b.read = memory;
  const int64_t at = winograd_points(s) * b.read_step, none = at + winograd_points(s) * b.made_step;

  b.count = none + winograd_up(s->read, 16);
  if (memory != NULL) {
    b.made = (float *)(b.read + at);
    b.none = b.read + none;
  }
  return b;
}

/* One output of a tile again, of the products that are there, up to the first NaN. */
static void sum_again(const winograd_sum *f, const winograd_tile *t, const int64_t o[3], void *to)
{
  const conv_unit *s = f->s;

  for (int64_t c = 0; c < s->made; c++) {
    double sum = 0;

    for (int tap = 0; tap < (winograd_deep(s) ? 27 : 9) && !isnan(sum); tap++) {
      const int64_t at[] = {tap / 9, tap / 3 % 3, tap % 3};
      int64_t x = t->n * s->x_step[0], w = c * s->w_step[4];
      bool inside = true;

      for (int d = 0; d < 3; d++) {
        const int64_t index = conv_unit_index(s, d, o[d] + at[d]);

        inside = inside && index >= 0;
        x += index * s->x_step[d + 1];
        w += at[d] * s->w_step[d];
      }
      for (int64_t r = 0; r < s->read && inside; r++) {
        sum += (double)winograd_get(f, f->x, x + r) *
               (double)winograd_get(f, f->w, w + r * s->w_step[3]);
      }
    }
    winograd_set(f, to, c, (float)sum);
  }
}

static void write_tile(const winograd_sum *f, const winograd_box *box, const winograd_tile *t,
                       const float *from, const buffers *b)
{
  void *outputs[WINOGRAD_OUTPUTS];

  winograd_outputs(f, box, t, outputs);
  if (f->k->made[f->half][winograd_deep(f->s)](from, b->made_step, f->s->made, outputs)) {
    return;
  }
  for (int i = 0; i < winograd_outputs_of(f->s); i++) {
    const int64_t o[] = {t->o[0] + (i >> 2), t->o[1] + (i >> 1 & 1), t->o[2] + (i & 1)};

    if (outputs[i] != NULL) {
      sum_again(f, t, o, outputs[i]);
    }
  }
}

/* Tiles [from, to) of the box, at most a block. */
static void run_block(const winograd_sum *f, const winograd_box *box, const buffers *b,
                      int64_t from, int64_t to, int64_t end)
{
  const conv_unit *s = f->s;
  const int64_t words = winograd_words(f->k, s->read), panel = 2 * f->k->lanes;

  winograd_read(f, box, from, to, b->none, b->read, b->read_step);
  for (int p = 0; p < winograd_points(s); p++) {
    f->k->product(&(winograd_product){
        .a = b->read + p * b->read_step,
        .b = (const winograd_word *)f->workspace + p * weights_step(f->k, s),
        .c = b->made + p * b->made_step,
        .rows = to - from,
        .k = words,
        .vectors = b->channels / f->k->lanes,
        .a_row = b->words,
        .a_k = 1,
        .b_k = panel,
        .b_panel = words * panel,
        .c_row = b->channels,
    });
    winograd_prefetch(f, box, to, winograd_min(2 * to - from, end), p, winograd_points(s));
  }
  for (int64_t i = from; i < to; i++) {
    const winograd_tile t = winograd_tile_at(s, box, i);

    write_tile(f, box, &t, b->made + (i - from) * b->channels, b);
  }
}

static void run_tiles(const winograd_sum *f, const winograd_box *box, int64_t from, int64_t to)
{
  const buffers b = buffers_of(f->k, f->s, f->scratch);
  const int64_t each = winograd_block(f->k, f->s, false);

  memset(b.none, 0, (size_t)(f->s->read * winograd_read_size(f)));
  for (int64_t at = from; at < to; at += each) {
    run_block(f, box, &b, at, winograd_min(at + each, to), to);
  }
}

void winograd_rows(const winograd_sum *f, const winograd_box *box)
{
  run_tiles(f, box, 0, tiles_of(f->s, box));
}

/* ---- stages ---- */

/* Tiles of a piece: several blocks, where there are many. */
static int64_t piece_tiles(const winograd_kernels *k, const conv_unit *s)
{
  const int64_t block = winograd_block(k, s, false),
                blocks = winograd_tiles(s) / block / MIN_PIECES;

  return block * (blocks < 1 ? 1 : winograd_min(blocks, PIECE_BLOCKS));
}

int64_t winograd_workspace(const winograd_kernels *k, const conv_unit *s, bool weights)
{
  return weights ? winograd_weights_workspace(k, s)
                 : winograd_points(s) * weights_step(k, s) * (int64_t)sizeof(winograd_word);
}

int64_t winograd_scratch(const winograd_kernels *k, const conv_unit *s, bool weights)
{
  return weights ? winograd_weights_scratch(k, s)
                 : buffers_of(k, s, NULL).count * (int64_t)sizeof(winograd_word);
}

int64_t winograd_pieces(const winograd_kernels *k, const conv_unit *s, bool weights, int stage)
{
  if (weights) {
    return winograd_weights_pieces(k, s, stage);
  }
  const int64_t each = piece_tiles(k, s);

  return stage == 0   ? (s->read + PACKED_READ - 1) / PACKED_READ
         : stage == 1 ? (winograd_tiles(s) + each - 1) / each
                      : 0;
}

void winograd_piece(const winograd_sum *f, int stage, int64_t piece)
{
  const winograd_box all = whole(f->s);
  const int64_t each = piece_tiles(f->k, f->s);

  if (f->weights) {
    winograd_weights_piece(f, stage, piece);
  } else if (stage == 0) {
    pack(f, piece);
  } else {
    run_tiles(f, &all, piece * each, winograd_min((piece + 1) * each, winograd_tiles(f->s)));
  }
}
