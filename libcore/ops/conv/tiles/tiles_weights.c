/* tiles_weights.c - gradients by the weights: chunks of blocks, whose sums are merged pairwise, in
 * one order. */
#include "ops/conv/tiles/tiles_priv.h"

#include <math.h>
#include <string.h>

#include "device/weir_parallel.h"

/* Chunks, a power of two: at most so many, and fewer where their sums would take more than so many
 * bytes together. */
enum { MAX_CHUNKS = 16, MIN_CHUNKS = 4, CHUNKS_BYTES = 6 << 20 };

typedef struct shape {
  tiles_block b;
  int64_t planes, rows, blocks; /* blocks along y, and in all                          */
  int64_t chunks;
  int64_t read, made;             /* panels of 32 channels                               */
  int64_t group_read, group_made; /* of them, whose sums are made at a time            */
  int64_t groups, count;          /* groups of a chunk, sums of one                      */
  int64_t pairs;                  /* of x: elements between 16 channels                  */
  int64_t steps;                  /* tiles along the positions of a plane                */
  int64_t lines;                  /* positions of y of a plane, with zeros               */
  int64_t turned;                 /* elements of 16 channels of y                        */
} shape;

/* Panels whose sums take a quarter of L2 at most, as many read as made rather than few of one. */
static void find_groups(const conv_unit *s, shape *h)
{
  const int64_t most = weir_cpu_get()->constants.l2_bytes / 4;

  h->group_read = h->read;
  h->group_made = h->made;
  while (h->group_read * h->group_made > 1 &&
         h->group_read * h->group_made * tiles_taps(s) * TILES_SUMS * (int64_t)sizeof(float) >
             most) {
    int64_t *larger = h->group_read >= h->group_made ? &h->group_read : &h->group_made;

    *larger = (*larger + 1) / 2;
  }
  h->groups = tiles_parts(h->read, h->group_read) * tiles_parts(h->made, h->group_made);
  h->count = h->group_read * h->group_made * tiles_taps(s) * TILES_SUMS;
}

static shape shape_of(const conv_unit *s)
{
  shape h = {.read = tiles_parts(s->read, TILES_WIDE), .made = tiles_parts(s->made, TILES_WIDE)};

  find_groups(s, &h);
  h.b = tiles_block_of(s, (h.group_read + 2 * h.group_made) * TILES_WIDE,
                       weir_cpu_get()->constants.l2_bytes);
  h.planes = tiles_parts(s->y[0], h.b.planes);
  h.rows = tiles_parts(s->y[1], h.b.rows);
  h.blocks = s->batch * h.planes * h.rows;
  const int64_t fit = CHUNKS_BYTES / (h.groups * h.count * (int64_t)sizeof(float));
  const int64_t chunks = tiles_min(h.blocks, fit < MIN_CHUNKS ? MIN_CHUNKS : fit);

  for (h.chunks = 1; 2 * h.chunks <= tiles_min(chunks, MAX_CHUNKS);) {
    h.chunks *= 2;
  }
  /* A sum along positions ends at a whole tile, and may begin a position late. */
  h.steps = tiles_parts(h.b.rows * h.b.width + 1, TILES_WIDE);
  h.lines = h.steps * TILES_WIDE + 1;
  h.turned = h.b.planes * h.steps * TILES_SUMS / 2;
  h.pairs = (h.b.read_planes * h.b.read_rows * h.b.width + 2 * TILES_WIDE) * TILES_SIDE;
  return h;
}

/* What a thread holds. */
typedef struct buffers {
  weir_bf16 *x;     /* [channels / 16, pairs, 16, 2]                   */
  weir_bf16 *y;     /* [2, channels / 16, planes, steps, 16, 32]       */
  weir_bf16 *lines; /* [lines, channels] of a plane of y, with a zero in front */
  weir_bf16 *row;   /* [width, channels] of x                          */
  int64_t count;
} buffers;

static buffers buffers_of(const shape *h, void *memory)
{
  const int64_t y = 2 * h->group_read * h->pairs, lines = y + 2 * 2 * h->group_made * h->turned;
  const int64_t row = lines + h->lines * h->group_made * TILES_WIDE;
  buffers b = {.count = row + h->b.width * h->group_read * TILES_WIDE};

  if (memory != NULL) {
    b.x = memory;
    b.y = b.x + y;
    b.lines = b.x + lines;
    b.row = b.x + row;
  }
  return b;
}

int64_t tiles_weights_workspace(const conv_unit *s)
{
  const shape h = shape_of(s);

  return h.chunks * h.groups * h.count * (int64_t)sizeof(float);
}

int64_t tiles_weights_scratch(const conv_unit *s)
{
  const shape h = shape_of(s);

  return buffers_of(&h, NULL).count * (int64_t)sizeof(weir_bf16);
}

/* ---- one block ---- */

typedef struct job {
  const tiles_sum *f;
  const shape *h;
  buffers b;
  int64_t read, made;     /* first panels of the group, */
  int64_t n_read, n_made; /* how many there are */
  int64_t n, plane, row, planes, rows;
  bool follows; /* the block before along the rows */
} job;

/* Rows that the block before has read are moved. */
static void move_x(const job *j, int64_t kept)
{
  const tiles_block *b = &j->h->b;
  const int64_t row = b->width * TILES_SIDE;

  for (int64_t i = 0; i < 2 * j->n_read * b->read_planes; i++) {
    weir_bf16 *to =
        j->b.x + i / b->read_planes * j->h->pairs + i % b->read_planes * b->read_rows * row;

    memmove(to, to + b->rows * row, (size_t)(kept * row) * sizeof *to);
  }
}

static void read_x(const job *j)
{
  const conv_unit *s = j->f->s;
  const tiles_block *b = &j->h->b;
  const int64_t row = b->width * TILES_SIDE, all = b->read_planes * b->read_rows;
  const int64_t first = j->read * TILES_WIDE, depth = j->n_read * TILES_WIDE;
  const tiles_channels c = {first, tiles_min(depth, s->read - first), depth};
  const int64_t kept = j->follows ? s->taps[1] - 1 : 0;

  move_x(j, kept);
  for (int64_t i = 0; i < all; i++) {
    const int64_t p = i / b->read_rows, q = i % b->read_rows;

    if (q < kept) {
      continue;
    }
    if (p < j->planes + s->taps[0] - 1 && q < j->rows + s->taps[1] - 1) {
      tiles_read(j->f, b, &c, j->n, j->plane + p, j->row + q, j->b.row);
    } else {
      memset(j->b.row, 0, (size_t)(b->width * depth) * sizeof *j->b.row);
    }
    j->f->k->pair(j->b.row, b->width / 2, depth, j->b.x + i * row, j->h->pairs);
  }
  for (int64_t i = 0; i < depth / TILES_SIDE; i++) {
    memset(j->b.x + i * j->h->pairs + all * row, 0,
           (size_t)(j->h->pairs - all * row) * sizeof *j->b.x);
  }
}

/* A plane of y, zero where it has no elements. */
static void read_lines(const job *j, int64_t plane)
{
  const conv_unit *s = j->f->s;
  const int64_t first = j->made * TILES_WIDE, channels = j->n_made * TILES_WIDE;
  const size_t there = (size_t)tiles_min(channels, s->made - first);
  const weir_bf16 *from = (const weir_bf16 *)j->f->y + j->n * s->y_step[0] +
                          (j->plane + plane) * s->y_step[1] + j->row * s->y_step[2] + first;

  memset(j->b.lines, 0, (size_t)(j->h->lines * channels) * sizeof *from);
  for (int64_t q = 0; q < j->rows; q++) {
    weir_bf16 *to = j->b.lines + (1 + q * j->h->b.width) * channels;

    for (int64_t i = 0; i < s->y[2]; i++) {
      memcpy(to + i * channels, from + q * s->y_step[2] + i * s->y_step[3], there * sizeof *to);
    }
  }
}

static void read_y(const job *j)
{
  const int64_t channels = j->n_made * TILES_WIDE, steps = j->h->steps;

  for (int64_t plane = 0; plane < j->planes; plane++) {
    read_lines(j, plane);
    for (int64_t late = 0; late < 2; late++) {
      for (int64_t c = 0; c < channels / TILES_SIDE; c++) {
        weir_bf16 *to = j->b.y + (late * channels / TILES_SIDE + c) * j->h->turned +
                        plane * steps * TILES_SUMS / 2;

        for (int64_t i = 0; i < steps; i++) {
          j->f->k->turn(j->b.lines + (i * TILES_WIDE + 1 - late) * channels + c * TILES_SIDE,
                        channels, to + i * TILES_SUMS / 2);
        }
      }
    }
  }
}

/* Adds the products of a block to the sums of its chunk: [panels read, panels made, taps]. */
static void add_block(const job *j, float *sums, bool first)
{
  const conv_unit *s = j->f->s;
  const shape *h = j->h;
  const int64_t rows = s->taps[0] * s->taps[1];
  tiles_product p = {.taps = s->taps[2],
                     .depth = h->steps,
                     .planes = j->planes,
                     .a_step = h->steps * TILES_SUMS / 2,
                     .b_step = h->b.read_rows * h->b.width * TILES_SIDE,
                     .a_second = h->turned,
                     .b_second = h->pairs,
                     .a_late = 2 * j->n_made * h->turned,
                     .adds = !first};

  read_x(j);
  read_y(j);
  for (int64_t i = 0; i < j->n_read * j->n_made * rows; i++) {
    const int64_t r = i / rows / j->n_made, m = i / rows % j->n_made, row = i % rows;
    const int64_t at = (row / s->taps[1] * h->b.read_rows + row % s->taps[1]) * h->b.width;

    p.a = j->b.y + 2 * m * h->turned;
    p.b = j->b.x + 2 * r * h->pairs + at * TILES_SIDE;
    p.tall = s->made - (j->made + m) * TILES_WIDE > TILES_SIDE;
    p.wide = s->read - (j->read + r) * TILES_WIDE > TILES_SIDE;
    p.sums = sums + i * p.taps * TILES_SUMS;
    j->f->k->weights(&p);
  }
}

/* One group of a chunk. */
static void sum_chunk(const tiles_sum *f, int64_t piece)
{
  const conv_unit *s = f->s;
  const shape h = shape_of(s);
  const int64_t across = tiles_parts(h.made, h.group_made), group = piece % h.groups;
  const int64_t read = group / across * h.group_read, made = group % across * h.group_made;
  const int64_t chunk = piece / h.groups;
  const int64_t from = h.blocks * chunk / h.chunks, end = h.blocks * (chunk + 1) / h.chunks;
  float *sums = (float *)f->workspace + piece * h.count;
  _Alignas(64) char others[TILES_OTHERS];

  f->k->begin(others);
  for (int64_t i = from; i < end; i++) {
    const int64_t p = i / h.rows % h.planes * h.b.planes, q = i % h.rows * h.b.rows;

    add_block(&(job){.f = f,
                     .h = &h,
                     .b = buffers_of(&h, f->scratch),
                     .read = read,
                     .made = made,
                     .n_read = tiles_min(h.group_read, h.read - read),
                     .n_made = tiles_min(h.group_made, h.made - made),
                     .n = i / h.rows / h.planes,
                     .plane = p,
                     .row = q,
                     .planes = tiles_min(h.b.planes, s->y[0] - p),
                     .rows = tiles_min(h.b.rows, s->y[1] - q),
                     .follows = i > from && q > 0},
              sums, i == from);
  }
  f->k->end(others);
}

/* ---- the sums of all chunks ---- */

/* Sum over all positions of x, channel r, times y, channel c, for one tap. NaN stays NaN, so that
 * the sum ends there: of fields full of them at once. */
static double sum_again(const tiles_sum *f, int64_t tap, int64_t r, int64_t c)
{
  const conv_unit *s = f->s;
  double sum = 0;

  for (int64_t p = 0; p < s->batch * s->y[0] * s->y[1] * s->y[2] && !isnan(sum); p++) {
    const int64_t n = p / s->y[2] / s->y[1] / s->y[0];
    const int64_t o[] = {p / s->y[2] / s->y[1] % s->y[0], p / s->y[2] % s->y[1], p % s->y[2]};
    const int64_t x = tiles_place(s, n, o, tap);
    const int64_t y =
        n * s->y_step[0] + o[0] * s->y_step[1] + o[1] * s->y_step[2] + o[2] * s->y_step[3] + c;

    sum += x >= 0 ? (double)weir_f32_from_bf16(f->x[x + r]) *
                        (double)weir_f32_from_bf16(((const weir_bf16 *)f->y)[y])
                  : 0;
  }
  return sum;
}

/* Puts four tiles of sums where they belong: rows are channels made, columns those read. */
static void write_tiles(const tiles_sum *f, int64_t tap, int64_t read, int64_t made,
                        const float *sums)
{
  const conv_unit *s = f->s;
  const int64_t to = tap / s->taps[2] / s->taps[1] * s->w_step[0] +
                     tap / s->taps[2] % s->taps[1] * s->w_step[1] + tap % s->taps[2] * s->w_step[2];

  for (int64_t r = 0; r < tiles_min(TILES_WIDE, s->read - read); r++) {
    for (int64_t c = 0; c < tiles_min(TILES_WIDE, s->made - made); c++) {
      const int64_t tile = c / TILES_SIDE * 2 + r / TILES_SIDE;
      const int64_t at = to + (read + r) * s->w_step[3] + (made + c) * s->w_step[4];
      float sum = sums[(tile * TILES_SIDE + c % TILES_SIDE) * TILES_SIDE + r % TILES_SIDE];

      if (!isfinite(sum)) {
        sum = (float)sum_again(f, tap, read + r, made + c);
      }
      if (f->half) {
        ((weir_bf16 *)f->w)[at] = weir_bf16_from_f32(sum);
      } else {
        ((float *)f->w)[at] = sum;
      }
    }
  }
}

/* Adds the sums of chunks pairwise: of one tap and two panels. */
static void merge(const tiles_sum *f, int64_t piece)
{
  const shape h = shape_of(f->s);
  const int64_t taps = tiles_taps(f->s), tap = piece % taps;
  const int64_t read = piece / taps / h.made, made = piece / taps % h.made;
  const int64_t across = tiles_parts(h.made, h.group_made), m = made / h.group_made;
  const int64_t there = tiles_min(h.group_made, h.made - m * h.group_made);
  const int64_t within = read % h.group_read * there + made % h.group_made;
  float *sums = (float *)f->workspace + (read / h.group_read * across + m) * h.count +
                (within * taps + tap) * TILES_SUMS;

  for (int64_t width = 1; width < h.chunks; width *= 2) {
    for (int64_t chunk = 0; chunk + width < h.chunks; chunk += 2 * width) {
      float *a = sums + chunk * h.groups * h.count;
      const float *b = a + width * h.groups * h.count;

      for (int64_t i = 0; i < TILES_SUMS; i++) {
        a[i] += b[i];
      }
    }
  }
  write_tiles(f, tap, read * TILES_WIDE, made * TILES_WIDE, sums);
}

int64_t tiles_weights_pieces(const conv_unit *s, int stage)
{
  const shape h = shape_of(s);

  return stage == 0 ? h.chunks * h.groups : stage == 1 ? h.read * h.made * tiles_taps(s) : 0;
}

void tiles_weights_piece(const tiles_sum *f, int stage, int64_t piece)
{
  (stage == 0 ? sum_chunk : merge)(f, piece);
}
