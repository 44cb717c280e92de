/* tiles.c - convolutions by tiles: weights are packed once, then blocks of x are copied into a
 * cache and multiplied. */
#include "ops/conv/tiles/tiles_priv.h"

#include <math.h>
#include <string.h>

#include "device/weir_parallel.h"

const tiles_code *tiles_code_get(void)
{
#if defined(__x86_64__)
  return weir_cpu_get()->amx ? &weir_tiles_amx : NULL;
#else
  return NULL;
#endif
}

/* ---- blocks ---- */

/* Planes of a block at most, and rows that it has rather than more planes. */
enum { PLANES = 4, ROWS = 3 };

static tiles_block block_with(const conv_unit *s, int64_t planes, int64_t channels, int64_t bytes)
{
  tiles_block b = {.planes = planes,
                   .read_planes = planes + s->taps[0] - 1,
                   .width = tiles_up(s->y[2] + s->taps[2] - 1, 2)};
  const int64_t row = b.read_planes * b.width * channels * (int64_t)sizeof(weir_bf16);
  const int64_t fit = tiles_min(bytes / row - s->taps[1] + 1, s->y[1]);

  b.rows = fit < 1 ? 1 : tiles_parts(s->y[1], tiles_parts(s->y[1], fit));
  b.read_rows = b.rows + s->taps[1] - 1;
  return b;
}

tiles_block tiles_block_of(const conv_unit *s, int64_t channels, int64_t bytes)
{
  int64_t planes = tiles_min(PLANES, s->y[0]);
  tiles_block b = block_with(s, planes, channels, bytes);

  while (planes > 1 && b.rows < tiles_min(ROWS, s->y[1])) {
    planes = (planes + 1) / 2;
    b = block_with(s, planes, channels, bytes);
  }
  return b;
}

static int64_t depth_of(const conv_unit *s)
{
  return tiles_up(s->read, TILES_WIDE);
}

tiles_block tiles_block_get(const conv_unit *s)
{
  return tiles_block_of(s, depth_of(s), weir_cpu_get()->constants.l2_bytes * 9 / 16);
}

static int64_t block_count(const conv_unit *s, const tiles_block *b)
{
  return (b->read_planes * b->read_rows * b->width + TILES_WIDE) * depth_of(s);
}

/* Bytes of blocks, at most. */
static const int64_t max_bytes = 32 << 20;

bool tiles_fit(const conv_unit *s)
{
  return tiles_taps(s) <= TILES_TAPS && s->taps[2] <= TILES_WIDE && s->batch > 0 && s->y[0] > 0 &&
         s->y[1] > 0 && s->y[2] > 0 && s->read > 0 && s->made > 0 &&
         tiles_scratch(s, false) <= max_bytes && tiles_scratch(s, true) <= max_bytes;
}

/* ---- what is read ---- */

/* One position, filled up with zeros. */
static inline void read_position(const tiles_channels *c, const weir_bf16 *from, weir_bf16 *to)
{
  const int64_t there = from != NULL ? c->count : 0;

  if (there > 0 && there % TILES_SIDE == 0) {
    for (int64_t i = 0; i < there; i += TILES_SIDE) {
      memcpy(to + i, from + i, TILES_SIDE * sizeof *to);
    }
  } else if (there > 0) {
    memcpy(to, from, (size_t)there * sizeof *to);
  }
  if (there < c->depth) {
    memset(to + there, 0, (size_t)(c->depth - there) * sizeof *to);
  }
}

void tiles_read(const tiles_sum *f, const tiles_block *b, const tiles_channels *c, int64_t n,
                int64_t plane, int64_t row, weir_bf16 *to)
{
  const conv_unit *s = f->s;
  const int64_t p = conv_unit_index(s, 0, plane), q = conv_unit_index(s, 1, row);
  const int64_t needed = s->y[2] + s->taps[2] - 1, lo = s->lo[2] > 0 ? s->lo[2] : 0;

  if (p < 0 || q < 0) {
    memset(to, 0, (size_t)(b->width * c->depth) * sizeof *to);
    return;
  }
  const weir_bf16 *from = f->x + n * s->x_step[0] + p * s->x_step[1] + q * s->x_step[2] + c->first;

  for (int64_t i = 0; i < b->width; i++) {
    const int64_t at = i < needed ? conv_unit_index(s, 2, i) : -1;
    const int64_t whole = tiles_min(needed - i, s->x[2] - at);

    if (i == lo && at == i - s->lo[2] && whole > 0 && s->x_step[3] == c->depth &&
        c->count == c->depth) {
      memcpy(to + i * c->depth, from + at * c->depth, (size_t)(whole * c->depth) * sizeof *to);
      i += whole - 1;
    } else {
      read_position(c, at >= 0 ? from + at * s->x_step[3] : NULL, to + i * c->depth);
    }
  }
}

int64_t tiles_place(const conv_unit *s, int64_t n, const int64_t o[3], int64_t tap)
{
  const int64_t t[] = {tap / s->taps[2] / s->taps[1], tap / s->taps[2] % s->taps[1],
                       tap % s->taps[2]};
  int64_t x = n * s->x_step[0];

  for (int d = 0; d < 3; d++) {
    const int64_t index = conv_unit_index(s, d, o[d] + t[d]);

    if (index < 0) {
      return -1;
    }
    x += index * s->x_step[d + 1];
  }
  return x;
}

/* ---- weights, packed: [panels of 32 made, taps, 32s read, two tiles of 16 words read by 16] ----
 */

static int64_t panels_of(const conv_unit *s)
{
  return tiles_parts(s->made, TILES_WIDE);
}

static int64_t panel_count(const conv_unit *s)
{
  return tiles_taps(s) * depth_of(s) * TILES_WIDE;
}

/* The two tiles of 32 channels read from r on and made from m on. */
static void pack_tiles(const conv_unit *s, const weir_bf16 *w, int64_t r, int64_t m, weir_bf16 *to)
{
  const int64_t read = s->w_step[3], made = s->w_step[4];

  memset(to, 0, TILES_SUMS * sizeof *to);
  for (int64_t i = 0; i < tiles_min(TILES_WIDE, s->read - r); i++) {
    weir_bf16 *row = to + i / 2 * TILES_WIDE + i % 2;
    const weir_bf16 *from = w + (r + i) * read + m * made;

    for (int64_t c = 0; c < tiles_min(TILES_WIDE, s->made - m); c++) {
      row[c / TILES_SIDE * TILES_SUMS / 2 + c % TILES_SIDE * 2] = from[c * made];
    }
  }
}

/* One tap. */
static void pack(const tiles_sum *f, int64_t tap)
{
  const conv_unit *s = f->s;
  const weir_bf16 *w = (const weir_bf16 *)f->w + tap / s->taps[2] / s->taps[1] * s->w_step[0] +
                       tap / s->taps[2] % s->taps[1] * s->w_step[1] +
                       tap % s->taps[2] * s->w_step[2];
  const int64_t depth = depth_of(s);

  for (int64_t panel = 0; panel < panels_of(s); panel++) {
    weir_bf16 *to = (weir_bf16 *)f->workspace + panel * panel_count(s) + tap * depth * TILES_WIDE;

    for (int64_t r = 0; r < depth; r += TILES_WIDE) {
      pack_tiles(s, w, r, panel * TILES_WIDE, to + r * TILES_WIDE);
    }
  }
}

/* ---- outputs ---- */

/* A block that is being made: its sample and first plane and row, and how many are wanted; whether
 * it follows the block before along the rows. */
typedef struct job {
  const tiles_sum *f;
  const tiles_block *b;
  int64_t n, plane, row, planes, rows;
  bool follows;
} job;

/* Channels [from, to) of an output again, of the products that are there, up to the first NaN. */
static void sum_again(const tiles_sum *f, int64_t n, const int64_t o[3], int64_t from, int64_t to,
                      void *out)
{
  const conv_unit *s = f->s;
  const weir_bf16 *w = f->w;

  for (int64_t c = from; c < to; c++) {
    double sum = 0;

    for (int64_t tap = 0; tap < tiles_taps(s) && !isnan(sum); tap++) {
      const int64_t x = tiles_place(s, n, o, tap);
      const int64_t at = tap / s->taps[2] / s->taps[1] * s->w_step[0] +
                         tap / s->taps[2] % s->taps[1] * s->w_step[1] +
                         tap % s->taps[2] * s->w_step[2] + c * s->w_step[4];

      for (int64_t r = 0; r < s->read && x >= 0; r++) {
        sum += (double)weir_f32_from_bf16(f->x[x + r]) *
               (double)weir_f32_from_bf16(w[at + r * s->w_step[3]]);
      }
    }
    if (f->half) {
      ((weir_bf16 *)out)[c - from] = weir_bf16_from_f32((float)sum);
    } else {
      ((float *)out)[c - from] = (float)sum;
    }
  }
}

/* Sums of 32 positions of a plane from `at` on. */
static void write_sums(const job *j, int64_t plane, int64_t panel, int64_t at, const float *sums)
{
  const tiles_sum *f = j->f;
  const conv_unit *s = f->s;
  const int64_t size = f->half ? 2 : 4, from = panel * TILES_WIDE;
  const int64_t to = tiles_min(from + TILES_WIDE, s->made);
  int64_t row = at / j->b->width, column = at % j->b->width;
  void *out[TILES_WIDE];

  for (int i = 0; i < TILES_WIDE; i++, column++) {
    if (column == j->b->width) {
      column = 0;
      row++;
    }
    const int64_t place = (j->n - f->first[0]) * s->y_step[0] +
                          (j->plane + plane - f->first[1]) * s->y_step[1] +
                          (j->row + row - f->first[2]) * s->y_step[2] + column * s->y_step[3];

    out[i] = row < j->rows && column < s->y[2] ? (char *)f->y + (place + from) * size : NULL;
  }
  const uint32_t wrong = f->k->store(sums, to - from, out, f->half);

  for (int i = 0; wrong != 0 && i < TILES_WIDE; i++) {
    const int64_t o[] = {j->plane + plane, j->row + (at + i) / j->b->width, (at + i) % j->b->width};

    if ((wrong >> i & 1) != 0) {
      sum_again(f, j->n, o, from, to, out[i]);
    }
  }
}

static void make_panel(const job *j, const int64_t *taps, int64_t panel, weir_bf16 *x, float *sums)
{
  const conv_unit *s = j->f->s;
  const tiles_block *b = j->b;
  const int64_t depth = depth_of(s);
  tiles_product p = {.a_line = depth * (int64_t)sizeof(weir_bf16),
                     .a_at = taps,
                     .b = (const weir_bf16 *)j->f->workspace + panel * panel_count(s),
                     .taps = tiles_taps(s),
                     .depth = depth / TILES_WIDE,
                     .wide = s->made - panel * TILES_WIDE > TILES_SIDE,
                     .sums = sums};
  const int64_t end = (j->rows - 1) * b->width + s->y[2];

  for (int64_t plane = 0; plane < j->planes; plane++) {
    for (int64_t at = 0; at < end; at += TILES_WIDE) {
      p.a = x + (plane * b->read_rows * b->width + at) * depth;
      p.tall = end - at > TILES_SIDE;
      j->f->k->outputs(&p);
      write_sums(j, plane, panel, at, sums);
    }
  }
}

/* What the block reads; rows that the block before has read are moved. */
static void read_block(const job *j, weir_bf16 *x)
{
  const conv_unit *s = j->f->s;
  const tiles_block *b = j->b;
  const tiles_channels all = {0, s->read, depth_of(s)};
  const int64_t row = b->width * all.depth, kept = j->follows ? s->taps[1] - 1 : 0;

  for (int64_t p = 0; p < j->planes + s->taps[0] - 1; p++) {
    weir_bf16 *to = x + p * b->read_rows * row;

    memmove(to, to + b->rows * row, (size_t)(kept * row) * sizeof *to);
    for (int64_t q = kept; q < j->rows + s->taps[1] - 1; q++) {
      tiles_read(j->f, b, &all, j->n, j->plane + p, j->row + q, to + q * row);
    }
  }
}

static void make_block(const job *j)
{
  const conv_unit *s = j->f->s;
  const tiles_block *b = j->b;
  weir_bf16 *x = (weir_bf16 *)((float *)j->f->scratch + TILES_SUMS);
  int64_t taps[TILES_TAPS];

  for (int64_t tap = 0; tap < tiles_taps(s); tap++) {
    taps[tap] =
        ((tap / s->taps[2] / s->taps[1] * b->read_rows + tap / s->taps[2] % s->taps[1]) * b->width +
         tap % s->taps[2]) *
        depth_of(s);
  }
  read_block(j, x);
  for (int64_t panel = 0; panel < panels_of(s); panel++) {
    make_panel(j, taps, panel, x, j->f->scratch);
  }
}

void tiles_rows(const tiles_sum *f, const int64_t lo[3], const int64_t hi[3])
{
  const tiles_block b = tiles_block_get(f->s);
  _Alignas(64) char others[TILES_OTHERS];

  f->k->begin(others);
  for (int64_t n = lo[0]; n < hi[0]; n++) {
    for (int64_t p = lo[1]; p < hi[1]; p += b.planes) {
      for (int64_t q = lo[2]; q < hi[2]; q += b.rows) {
        make_block(&(job){.f = f,
                          .b = &b,
                          .n = n,
                          .plane = p,
                          .row = q,
                          .planes = tiles_min(b.planes, hi[1] - p),
                          .rows = tiles_min(b.rows, hi[2] - q),
                          .follows = q > lo[2]});
      }
    }
  }
  f->k->end(others);
}

/* ---- stages ---- */

int64_t tiles_workspace(const conv_unit *s, bool weights)
{
  return weights ? tiles_weights_workspace(s)
                 : panels_of(s) * panel_count(s) * (int64_t)sizeof(weir_bf16);
}

int64_t tiles_scratch(const conv_unit *s, bool weights)
{
  const tiles_block b = tiles_block_get(s);

  return weights ? tiles_weights_scratch(s)
                 : TILES_SUMS * (int64_t)sizeof(float) +
                       block_count(s, &b) * (int64_t)sizeof(weir_bf16);
}

/* Rows of a piece: several blocks, which share rows of x, where there are many. */
enum { MIN_PIECES = 16, PIECE_BLOCKS = 4 };

static int64_t piece_rows(const conv_unit *s, const tiles_block *b)
{
  const int64_t along = tiles_parts(s->y[1], b->rows);
  const int64_t several = s->batch * tiles_parts(s->y[0], b->planes) * along / MIN_PIECES;

  return b->rows * (several < 1 ? 1 : tiles_min(several, PIECE_BLOCKS));
}

int64_t tiles_pieces(const conv_unit *s, bool weights, int stage)
{
  const tiles_block b = tiles_block_get(s);

  return weights      ? tiles_weights_pieces(s, stage)
         : stage == 0 ? tiles_taps(s)
         : stage == 1
             ? s->batch * tiles_parts(s->y[0], b.planes) * tiles_parts(s->y[1], piece_rows(s, &b))
             : 0;
}

void tiles_piece(const tiles_sum *f, int stage, int64_t piece)
{
  const conv_unit *s = f->s;
  const tiles_block b = tiles_block_get(s);
  const int64_t each = piece_rows(s, &b), rows = tiles_parts(s->y[1], each);
  const int64_t planes = tiles_parts(s->y[0], b.planes);

  if (f->weights) {
    tiles_weights_piece(f, stage, piece);
  } else if (stage == 0) {
    pack(f, piece);
  } else {
    const int64_t lo[] = {piece / rows / planes, piece / rows % planes * b.planes,
                          piece % rows * each};
    const int64_t hi[] = {lo[0] + 1, tiles_min(lo[1] + b.planes, s->y[0]),
                          tiles_min(lo[2] + each, s->y[1])};

    tiles_rows(f, lo, hi);
  }
}
