/* pool_sparse_layout.c - sizes that follow from the shape. */
#include "ops/conv/pool_sparse_layout.h"

/* CHUNK: channels of x at a time; PATCH: bytes of x that kernel elements of one plane meet; SUMS:
 * bytes of all partial sums; SMALL: bytes of x below which it stays in cache; MIN_CHUNKS: pieces
 * enough. */
enum { CHUNK = 32, PATCH = 28 << 10, SUMS = 8 << 20, PIECES = 16, SMALL = 1 << 20, MIN_CHUNKS = 4 };

bool pool_sparse_large(const pool_sparse_conv *s)
{
  return 4 * s->n * s->x[0] * s->x[1] * s->x[2] * s->in >= SMALL;
}

/* The most windows whose patch fits. */
static void choose_patch(const pool_sparse_conv *s, pool_sparse_layout *l)
{
  const bool narrow =
      l->chunk <= LINE / 2; /* all kernel elements at a time, from the second cache */
  const int64_t planes = s->window[0] + (narrow ? s->kernel_size[0] - 1 : 0);
  int64_t best = 0;

  for (int64_t rows = 1; rows < 2 * s->y[1] && rows <= MAX_ROWS; rows *= 2) {
    for (int64_t wide = 1; wide < 2 * s->y[2] && wide <= MAX_WIDE; wide *= 2) {
      const int64_t bytes = planes * (s->window[1] * rows + s->kernel_size[1] - 1) *
                            (s->window[2] * wide + s->kernel_size[2] - 1) * l->chunk * 4;

      if (best == 0 || (bytes <= (narrow ? 2 : 1) * PATCH && rows * wide >= best)) {
        best = rows * wide;
        l->windows[0] = rows;
        l->windows[1] = wide;
      }
    }
  }
}

/* data: a chunk is whole vectors, so that none holds two columns. */
pool_sparse_layout pool_sparse_layout_of(const pool_sparse_kernels *k, const pool_sparse_conv *s,
                                         bool data)
{
  pool_sparse_layout l = {.chunk = min_of(data ? lines_of(s->in) : s->in, CHUNK),
                          .runs = s->kernel_size[0] * s->kernel_size[1],
                          .positions = s->window[0] * s->window[1] * s->window[2],
                          .blocks = ceil_div(s->out, BLOCK)};

  l.chunks = ceil_div(s->in, l.chunk);
  l.length = s->kernel_size[2] * l.chunk;
  l.row = ceil_div(l.length, k->lanes) * k->lanes;
  l.sums = l.runs * l.row;
  l.partials = min_of(PIECES / (l.blocks * l.chunks), s->n * s->y[0]);
  l.partials = max_of(min_of(l.partials, SUMS / (l.chunks * l.runs * l.length * s->out * 4)), 1);
  choose_patch(s, &l);
  for (int d = 0; d < 3; d++) {
    const int64_t windows = d == 0 ? 1 : l.windows[d - 1];

    l.patch[d] = s->window[d] * windows + s->kernel_size[d] - 1;
  }
  l.patch_size = lines_of(l.patch[0] * l.patch[1] * l.patch[2] * l.chunk + l.row);
  l.columns = max_of(s->window[2] * s->y[2] + s->kernel_size[2] - 1, s->x[2] + s->lo[2]);
  l.whole =
      l.chunks >= MIN_CHUNKS && !pool_sparse_large(s) && pool_sparse_row_pieces(s) <= l.chunks;
  const int64_t rows = l.whole ? s->n * s->x[0] * s->x[1] : PLANES * ROWS;

  l.made_size = lines_of(rows * l.columns * l.chunk + l.row);
  return l;
}

void pool_sparse_move(const pool_sparse_kernels *k, const float *from, const int64_t from_step[2],
                      float *to, const int64_t to_step[2], int64_t n, int64_t m)
{
  const bool tiles = from_step[1] == 1 && to_step[0] == 1;

  for (int64_t i = 0; i < n; i += k->lanes) {
    for (int64_t j = 0; j < m; j += k->lanes) {
      const float *a = from + i * from_step[0] + j * from_step[1];
      float *b = to + i * to_step[0] + j * to_step[1];

      if (tiles && i + k->lanes <= n && j + k->lanes <= m) {
        k->tile(a, from_step[0], b, to_step[1]);
        continue;
      }
      for (int64_t e = 0; e < min_of(k->lanes, n - i); e++) {
        for (int64_t f = 0; f < min_of(k->lanes, m - j); f++) {
          b[e * to_step[0] + f * to_step[1]] = a[e * from_step[0] + f * from_step[1]];
        }
      }
    }
  }
}
