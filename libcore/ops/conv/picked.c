/* picked.c - blocks, lists of what was picked, and the stages of picked_priv.h.
 *
 * Weights: a block of windows reads a patch of x, copied so that it lies in the first cache; of
 * every channel of y a list says where in the patch the picked elements are, and taps along the
 * last dimension are neighbours in memory: vectors of x are multiplied and summed in registers.
 * Data: of every window the channels are sorted by the position that they picked; those of one
 * position add their weights up in registers, then to rows of x. */
#include "ops/conv/picked_priv.h"

#include <string.h>

#include "device/weir_parallel.h"

/* CHUNK: channels of x at a time; BLOCK: channels of y of a piece; PATCH: bytes of x that taps of
 * one plane meet; SUMS: bytes of all slabs' sums; PLANES, ROWS: of x, made at a time. */
enum {
  CHUNK = 32,
  BLOCK = 64,
  PATCH = 28 << 10,
  SUMS = 8 << 20,
  PIECES = 16,
  PLANES = 2,
  ROWS = 16,
  MOST_WINDOW = 64,
  MOST_TAPS = 16,
  LINE = 16 /* floats */
};

const picked_kernels *picked_kernels_get(void)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return &weir_picked_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return &weir_picked_avx2;
  }
#endif
  return NULL;
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

static int64_t lines_of(int64_t floats)
{
  return ceil_div(floats, LINE) * LINE;
}

/* Sizes that follow from the shape; floats. */
typedef struct layout {
  int64_t chunk, chunks; /* channels of x at a time */
  int64_t runs, length,
      row;           /* taps but for the last dimension's; floats of those, and as vectors */
  int64_t positions; /* of a window */
  /* Weights. */
  int64_t blocks, slabs;              /* of channels of y; of planes of maxima */
  int64_t windows[2];                 /* of a patch: rows, and in a row */
  int64_t patch[3], patch_size, sums; /* extents; sums of all runs and chunks, of a channel of y */
  /* Data. */
  int64_t columns, made_size; /* of a row of x in the making; of all rows of a block */
} layout;

bool picked_takes(const picked_conv *s)
{
  bool takes = s->n > 0 && s->in > 0 && s->out > 0 && s->out < 1 << 16;
  int64_t positions = 1;

  for (int d = 0; d < 3; d++) {
    takes = takes && s->x[d] > 0 && s->y[d] > 0 && s->taps[d] <= MOST_TAPS &&
            s->window[d] <= MOST_WINDOW && s->lo[d] >= 0 && s->lo[d] < s->taps[d] + s->window[d];
    positions *= takes ? s->window[d] : 1;
  }
  return takes && positions > 1 && positions <= MOST_WINDOW;
}

/* The most windows whose patch fits. */
static void choose_patch(const picked_conv *s, layout *l)
{
  const bool narrow = l->chunk <= LINE / 2; /* all taps at a time, from the second cache */
  const int64_t planes = s->window[0] + (narrow ? s->taps[0] - 1 : 0);
  int64_t best = 0;

  for (int64_t rows = 1; rows < 2 * s->y[1] && rows <= 16; rows *= 2) {
    for (int64_t wide = 1; wide < 2 * s->y[2] && wide <= 32; wide *= 2) {
      const int64_t bytes = planes * (s->window[1] * rows + s->taps[1] - 1) *
                            (s->window[2] * wide + s->taps[2] - 1) * l->chunk * 4;

      if (best == 0 || (bytes <= (narrow ? 2 : 1) * PATCH && rows * wide >= best)) {
        best = rows * wide;
        l->windows[0] = rows;
        l->windows[1] = wide;
      }
    }
  }
}

/* data: a chunk is whole vectors, so that none holds two columns. */
static layout layout_of(const picked_kernels *k, const picked_conv *s, bool data)
{
  layout l = {.chunk = least(data ? lines_of(s->in) : s->in, CHUNK),
              .runs = s->taps[0] * s->taps[1],
              .positions = s->window[0] * s->window[1] * s->window[2],
              .blocks = ceil_div(s->out, BLOCK)};

  l.chunks = ceil_div(s->in, l.chunk);
  l.length = s->taps[2] * l.chunk;
  l.row = ceil_div(l.length, k->lanes) * k->lanes;
  const int64_t bytes = l.chunks * l.runs * l.length * s->out * 4;

  l.slabs = least(greatest(PIECES / l.blocks, 1), s->n * s->y[0]);
  l.slabs = greatest(least(l.slabs, SUMS / bytes), 1);
  choose_patch(s, &l);
  for (int d = 0; d < 3; d++) {
    const int64_t windows = d == 0 ? 1 : l.windows[d - 1];

    l.patch[d] = s->window[d] * windows + s->taps[d] - 1;
  }
  l.patch_size = lines_of(l.patch[0] * l.patch[1] * l.patch[2] * l.chunk + l.row);
  l.sums = l.chunks * l.runs * l.row;
  l.columns = greatest(s->window[2] * s->y[2] + s->taps[2] - 1, s->x[2] + s->lo[2]);
  l.made_size = lines_of(PLANES * ROWS * l.columns * l.chunk + l.row);
  return l;
}

/* ---- weights ---- */

typedef struct weights_lists {
  int32_t *at; /* [BLOCK, windows of a patch] */
  float *by, *patch;
  int64_t count[BLOCK];
} weights_lists;

/* One block of windows: sample, plane, first row and column of windows; how many. */
typedef struct block {
  int64_t n, plane, row, column, rows, columns;
} block;

static void copy(float *to, const float *from, int64_t n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
}

/* n: up to LINE. */
static void copy_line(float *to, const float *from, int64_t n)
{
  if (n == LINE) {
    copy(to, from, LINE);
  } else {
    copy(to, from, n);
  }
}

static void clear(float *to, int64_t n)
{
  memset(to, 0, (size_t)n * sizeof *to);
}

/* Columns [first, first + n) of a row of x, channels [channel, ..) of a chunk; 0 outside. */
static void copy_row(const picked_conv *s, const layout *l, const float *x, int64_t first,
                     int64_t n, int64_t channel, float *to)
{
  const int64_t width = least(l->chunk, s->in - channel), step = s->x_step[3];
  const int64_t from = least(greatest(-first, 0), n);
  const int64_t end = greatest(least(n, s->x[2] - first), from);

  clear(to, from * l->chunk);
  if (step == l->chunk) {
    copy(to + from * l->chunk, x + (first + from) * step, (end - from) * l->chunk);
  } else {
    for (int64_t i = from; i < end; i++) {
      copy(to + i * l->chunk, x + (first + i) * step + channel, width);
      clear(to + i * l->chunk + width, l->chunk - width);
    }
  }
  clear(to + end * l->chunk, (n - end) * l->chunk);
}

static void copy_patch(const picked_sum *p, const layout *l, const block *b, int64_t channel,
                       float *patch)
{
  const picked_conv *s = p->s;
  const int64_t columns = s->window[2] * b->columns + s->taps[2] - 1;
  const int64_t rows = s->window[1] * b->rows + s->taps[1] - 1;

  for (int64_t i = 0; i < l->patch[0]; i++) {
    const int64_t plane = s->window[0] * b->plane - s->lo[0] + i;

    for (int64_t j = 0; j < rows; j++) {
      const int64_t row = s->window[1] * b->row - s->lo[1] + j;
      float *to = patch + (i * l->patch[1] + j) * l->patch[2] * l->chunk;

      if (plane < 0 || plane >= s->x[0] || row < 0 || row >= s->x[1]) {
        clear(to, columns * l->chunk);
        continue;
      }
      copy_row(s, l, p->x + b->n * s->x_step[0] + plane * s->x_step[1] + row * s->x_step[2],
               s->window[2] * b->column - s->lo[2], columns, channel, to);
    }
  }
}

/* Where in the patch every channel of [first, first + n) has what it picked. */
static void list_weights(const picked_sum *p, const layout *l, const block *b, int64_t first,
                         int64_t n, weights_lists *lists)
{
  const picked_conv *s = p->s;
  const int64_t most = l->windows[0] * l->windows[1];
  int32_t offset[MOST_WINDOW];

  for (int64_t g = 0; g < l->positions; g++) {
    const int64_t at[] = {g / s->window[2] / s->window[1], g / s->window[2] % s->window[1],
                          g % s->window[2]};

    offset[g] = (int32_t)(((at[0] * l->patch[1] + at[1]) * l->patch[2] + at[2]) * l->chunk);
  }
  memset(lists->count, 0, sizeof lists->count);
  for (int64_t i = 0; i < b->rows * b->columns; i++) {
    const int64_t row = i / b->columns, column = i % b->columns;
    const int64_t y_at = b->n * s->y_step[0] + b->plane * s->y_step[1] +
                         (b->row + row) * s->y_step[2] + (b->column + column) * s->y_step[3];
    const int64_t place_at = b->n * s->place_step[0] + b->plane * s->place_step[1] +
                             (b->row + row) * s->place_step[2] +
                             (b->column + column) * s->place_step[3];
    const float *y = p->y + y_at + first;
    const uint8_t *place = p->place + place_at + first;
    const int32_t here =
        (int32_t)((s->window[1] * row * l->patch[2] + s->window[2] * column) * l->chunk);

    for (int64_t c = 0; c < n; c++) {
      if (place[c] < l->positions) {
        const int64_t at = c * most + lists->count[c]++;

        lists->at[at] = here + offset[place[c]];
        lists->by[at] = y[c];
      }
    }
  }
}

/* Runs of taps of one chunk, all channels of the lists; sums: of the first channel and chunk. */
static void add_weights(const picked_sum *p, const layout *l, const weights_lists *lists, int64_t n,
                        float *sums)
{
  const int64_t most = l->windows[0] * l->windows[1], vectors = l->row / p->k->lanes;
  int64_t run[MOST_TAPS * MOST_TAPS];

  for (int64_t v = 0; v < vectors; v += p->k->vectors) {
    const int64_t wide = least(p->k->vectors, vectors - v), rows = p->k->rows[wide - 1];

    for (int64_t r = 0; r < l->runs; r++) {
      run[r] = (r / p->s->taps[1] * l->patch[1] + r % p->s->taps[1]) * l->patch[2] * l->chunk +
               v * p->k->lanes;
    }
    for (int64_t r = 0; r < l->runs; r += rows) {
      picked_add_run *add = p->k->add[(wide - 1) * PICKED_ROWS + least(rows, l->runs - r) - 1];

      for (int64_t c = 0; c < n; c++) {
        const picked_add a = {.sums = sums + c * l->sums + r * l->row + v * p->k->lanes,
                              .from = lists->patch,
                              .run = run + r,
                              .at = lists->at + c * most,
                              .by = lists->by + c * most,
                              .count = lists->count[c],
                              .sum_step = l->row};

        add(&a);
      }
    }
  }
}

static void weights_block(const picked_sum *p, const layout *l, const block *b, int64_t first,
                          int64_t n, weights_lists *lists, float *sums)
{
  list_weights(p, l, b, first, n, lists);
  for (int64_t i = 0; i < l->chunks; i++) {
    copy_patch(p, l, b, i * l->chunk, lists->patch);
    add_weights(p, l, lists, n, sums + i * l->runs * l->row);
  }
}

/* Some channels of y, one slab of planes. */
static void weights_piece(const picked_sum *p, const layout *l, int64_t piece)
{
  const picked_conv *s = p->s;
  const int64_t slab = piece / l->blocks, first = piece % l->blocks * BLOCK;
  const int64_t n = least(BLOCK, s->out - first), planes = s->n * s->y[0];
  const int64_t most = l->windows[0] * l->windows[1];
  float *sums = (float *)p->workspace + (slab * s->out + first) * l->sums;
  weights_lists lists = {.patch = p->scratch};

  lists.by = lists.patch + l->patch_size;
  lists.at = (int32_t *)(lists.by + lines_of(BLOCK * most));
  clear(sums, n * l->sums);
  clear(lists.patch, l->patch_size);
  for (int64_t i = slab * planes / l->slabs; i < (slab + 1) * planes / l->slabs; i++) {
    for (int64_t row = 0; row < s->y[1]; row += l->windows[0]) {
      for (int64_t column = 0; column < s->y[2]; column += l->windows[1]) {
        const block b = {.n = i / s->y[0],
                         .plane = i % s->y[0],
                         .row = row,
                         .column = column,
                         .rows = least(l->windows[0], s->y[1] - row),
                         .columns = least(l->windows[1], s->y[2] - column)};

        weights_block(p, l, &b, first, n, &lists, sums);
      }
    }
  }
}

/* Copies n x m numbers, m up to LINE: number (i, c) lies at from[i + c * from_step] and goes to
 * to[i * to_step[0] + c * to_step[1]], or the other way round. Line by line, so that each of them
 * is met once: their distances are multiples of large powers of 2, and few such lines fit into a
 * cache together. */
static void unpack_lines(const float *from, int64_t from_step, float *to, const int64_t to_step[2],
                         int64_t n, int64_t m)
{
  float tile[LINE][LINE];

  for (int64_t first = 0; first < n; first += LINE) {
    const int64_t wide = least(LINE, n - first);

    for (int64_t c = 0; c < m; c++) {
      copy_line(tile[c], from + first + c * from_step, wide);
    }
    for (int64_t i = 0; i < wide; i++) {
      float *line = to + (first + i) * to_step[0];

      for (int64_t c = 0; c < m; c++) {
        line[c * to_step[1]] = tile[c][i];
      }
    }
  }
}

static void pack_lines(const float *from, const int64_t from_step[2], float *to, int64_t to_step,
                       int64_t n, int64_t m)
{
  float tile[LINE][LINE];

  for (int64_t first = 0; first < n; first += LINE) {
    const int64_t wide = least(LINE, n - first);

    for (int64_t i = 0; i < wide; i++) {
      const float *line = from + (first + i) * from_step[0];

      for (int64_t c = 0; c < m; c++) {
        tile[c][i] = line[c * from_step[1]];
      }
    }
    for (int64_t c = 0; c < m; c++) {
      copy_line(to + first + c * to_step, tile[c], wide);
    }
  }
}

/* Slabs in pairs, then pairs of pairs: n channels of y of one chunk and run, from[c * l->sums]. */
static void merge_slabs(const picked_conv *s, const layout *l, float *from, int64_t n)
{
  const int64_t slab = s->out * l->sums;

  for (int64_t step = 1; step < l->slabs; step *= 2) {
    for (int64_t i = 0; i + step < l->slabs; i += 2 * step) {
      for (int64_t c = 0; c < n; c++) {
        float *to = from + i * slab + c * l->sums;

        for (int64_t e = 0; e < l->row; e++) {
          to[e] += to[e + step * slab];
        }
      }
    }
  }
}

/* One chunk and run of all slabs, in the weights' own order. */
static void merge_weights(const picked_sum *p, const layout *l, int64_t piece)
{
  const picked_conv *s = p->s;
  const int64_t run = piece % l->runs, i = piece / l->runs * l->chunk;

  for (int64_t c = 0; c < s->out; c += LINE) {
    const int64_t n = least(LINE, s->out - c);
    float *from = (float *)p->workspace + c * l->sums + piece * l->row;
    float *to = p->made + run / s->taps[1] * s->w_step[0] + run % s->taps[1] * s->w_step[1] +
                i * s->w_step[3] + c * s->w_step[4];

    merge_slabs(s, l, from, n);
    for (int64_t tap = 0; tap < s->taps[2]; tap++) {
      unpack_lines(from + tap * l->chunk, l->sums, to + tap * s->w_step[2], &s->w_step[3],
                   least(l->chunk, s->in - i), n);
    }
  }
}

/* ---- data ---- */

/* Parts of the workspace: packed weights [chunks, runs, channels of y, row]; of every window the
 * channels by position, and where each position begins. */
typedef struct data_parts {
  float *weights, *by; /* by, at: [windows, channels of y] */
  int32_t *at, *begin; /* [windows, positions + 1] */
} data_parts;

static int64_t windows_of(const picked_conv *s)
{
  return s->n * s->y[0] * s->y[1] * s->y[2];
}

static data_parts parts_of(const picked_conv *s, const layout *l, void *workspace)
{
  data_parts d = {.weights = workspace};

  d.by = d.weights + lines_of(l->sums * s->out);
  d.at = (int32_t *)(d.by + lines_of(windows_of(s) * s->out));
  d.begin = d.at + lines_of(windows_of(s) * s->out);
  return d;
}

static void pack_weights(const picked_sum *p, const layout *l, float *packed, int64_t piece)
{
  const picked_conv *s = p->s;
  const int64_t chunk = piece / l->runs, run = piece % l->runs;
  const int64_t width = least(l->chunk, s->in - chunk * l->chunk);
  const float *from = p->w + run / s->taps[1] * s->w_step[0] + run % s->taps[1] * s->w_step[1] +
                      chunk * l->chunk * s->w_step[3];
  float *to = packed + piece * s->out * l->row;

  clear(to, s->out * l->row);
  for (int64_t c = 0; c < s->out; c += LINE) {
    for (int64_t tap = 0; tap < s->taps[2]; tap++) {
      pack_lines(from + tap * s->w_step[2] + c * s->w_step[4], &s->w_step[3],
                 to + c * l->row + tap * l->chunk, l->row, width, least(LINE, s->out - c));
    }
  }
}

/* Channels of the windows of a row by what they picked, each position in ascending order. */
static void sort_row(const picked_sum *p, const layout *l, const data_parts *d, int64_t piece)
{
  const picked_conv *s = p->s;
  const int64_t n = piece / s->y[1] / s->y[0], plane = piece / s->y[1] % s->y[0];
  const int64_t row = piece % s->y[1];
  const float *y = p->y + n * s->y_step[0] + plane * s->y_step[1] + row * s->y_step[2];
  const uint8_t *place =
      p->place + n * s->place_step[0] + plane * s->place_step[1] + row * s->place_step[2];

  for (int64_t w = 0; w < s->y[2]; w++, y += s->y_step[3], place += s->place_step[3]) {
    const int64_t window = piece * s->y[2] + w;
    int32_t *begin = d->begin + window * (l->positions + 1), next[256] = {0};
    int32_t sum = 0;

    for (int64_t c = 0; c < s->out; c++) {
      next[place[c]]++;
    }
    for (int64_t g = 0; g <= l->positions; g++) {
      begin[g] = sum;
      sum += g < l->positions ? next[g] : 0;
      next[g] = begin[g];
    }
    for (int64_t c = 0; c < s->out; c++) {
      if (place[c] < l->positions) {
        const int64_t at = window * s->out + next[place[c]]++;

        d->at[at] = (int32_t)(c * l->row);
        d->by[at] = y[c];
      }
    }
  }
}

/* Window and position of dimension d that element e meets by a tap; false: none does. */
static bool meets(const picked_conv *s, int d, int64_t e, int64_t tap, int64_t *window,
                  int64_t *position)
{
  const int64_t at = e + s->lo[d] - tap;

  *window = at / s->window[d];
  *position = at % s->window[d];
  return at >= 0 && *window < s->y[d];
}

/* One row of x, taps `run`: every window of the row of windows that they lead to. */
static void add_row(const picked_sum *p, const layout *l, const data_parts *d, const int64_t at[3],
                    int64_t run, const float *weights, float *to)
{
  const picked_conv *s = p->s;
  int64_t window[2], position[2];

  if (!meets(s, 0, at[1], run / s->taps[1], &window[0], &position[0]) ||
      !meets(s, 1, at[2], run % s->taps[1], &window[1], &position[1])) {
    return;
  }
  const int64_t first = ((at[0] * s->y[0] + window[0]) * s->y[1] + window[1]) * s->y[2];
  const int64_t from = (position[0] * s->window[1] + position[1]) * s->window[2];

  const int64_t vectors = l->row / p->k->lanes;
  picked_row r = {.to = to,
                  .from = weights,
                  .by = d->by + first * s->out,
                  .at = d->at + first * s->out,
                  .begin = d->begin + first * (l->positions + 1) + from,
                  .windows = s->y[2],
                  .wide = s->window[2],
                  .step = l->chunk,
                  .channels = s->out,
                  .begin_step = l->positions + 1};

  for (int64_t v = 0; v < vectors; v += p->k->vectors) {
    p->k->row[least(p->k->vectors, vectors - v) - 1](&r);
    r.to += p->k->vectors * p->k->lanes;
    r.from += p->k->vectors * p->k->lanes;
  }
}

static void write_row(const picked_sum *p, const layout *l, const int64_t at[3], int64_t channel,
                      const float *from)
{
  const picked_conv *s = p->s;
  const int64_t width = least(l->chunk, s->in - channel);
  float *to = p->made + channel;

  for (int d = 0; d < 3; d++) {
    to += (at[d] - p->first[d]) * s->x_step[d];
  }
  from += s->lo[2] * l->chunk;
  for (int64_t e = 0; e < s->x[2]; e++) {
    copy(to + e * s->x_step[3], from + e * l->chunk, width);
  }
}

/* At most PLANES planes of at most ROWS rows of a sample. */
static void data_block(const picked_sum *p, const layout *l, int64_t n, const int64_t lo[2],
                       const int64_t hi[2])
{
  const picked_conv *s = p->s;
  const data_parts d = parts_of(s, l, p->workspace);
  const int64_t rows = hi[1] - lo[1], count = (hi[0] - lo[0]) * rows;
  const int64_t row = l->columns * l->chunk;
  float *made = p->scratch;

  for (int64_t i = 0; i < l->chunks; i++) {
    clear(made, count * row + l->row);
    for (int64_t run = 0; run < l->runs; run++) {
      const float *weights = d.weights + (i * l->runs + run) * s->out * l->row;

      for (int64_t r = 0; r < count; r++) {
        const int64_t at[] = {n, lo[0] + r / rows, lo[1] + r % rows};

        add_row(p, l, &d, at, run, weights, made + r * row);
      }
    }
    for (int64_t r = 0; r < count; r++) {
      write_row(p, l, (const int64_t[]){n, lo[0] + r / rows, lo[1] + r % rows}, i * l->chunk,
                made + r * row);
    }
  }
}

void picked_rows(const picked_sum *p, const int64_t lo[3], const int64_t hi[3])
{
  const layout l = layout_of(p->k, p->s, p->data);

  for (int64_t n = lo[0]; n < hi[0]; n++) {
    for (int64_t i = lo[1]; i < hi[1]; i += PLANES) {
      for (int64_t j = lo[2]; j < hi[2]; j += ROWS) {
        data_block(p, &l, n, (const int64_t[]){i, j},
                   (const int64_t[]){least(i + PLANES, hi[1]), least(j + ROWS, hi[2])});
      }
    }
  }
}

/* ---- stages ---- */

int64_t picked_workspace(const picked_kernels *k, const picked_conv *s, bool data)
{
  const layout l = layout_of(k, s, data);
  const int64_t lists = lines_of(windows_of(s) * s->out);

  return 4 *
         (data ? lines_of(l.sums * s->out) + 2 * lists + lines_of(windows_of(s) * (l.positions + 1))
               : l.slabs * s->out * l.sums);
}

int64_t picked_scratch(const picked_kernels *k, const picked_conv *s, bool data)
{
  const layout l = layout_of(k, s, data);

  return 4 *
         (data ? l.made_size : l.patch_size + 2 * lines_of(BLOCK * l.windows[0] * l.windows[1]));
}

int64_t picked_pieces(const picked_conv *s, bool data, int stage)
{
  const layout l = layout_of(picked_kernels_get(), s, data);

  if (stage == 0) {
    return data ? l.chunks * l.runs + s->n * s->y[0] * s->y[1] : l.blocks * l.slabs;
  }
  return data ? s->n * ceil_div(s->x[0], PLANES) * ceil_div(s->x[1], ROWS) : l.chunks * l.runs;
}

static void data_piece(const picked_sum *p, int64_t piece)
{
  const picked_conv *s = p->s;
  const int64_t planes = ceil_div(s->x[0], PLANES), rows = ceil_div(s->x[1], ROWS);
  const int64_t n = piece / rows / planes, i = piece / rows % planes, j = piece % rows;

  picked_rows(
      p, (const int64_t[]){n, PLANES * i, ROWS * j},
      (const int64_t[]){n + 1, least(PLANES * (i + 1), s->x[0]), least(ROWS * (j + 1), s->x[1])});
}

void picked_piece(const picked_sum *p, int stage, int64_t piece)
{
  const layout l = layout_of(p->k, p->s, p->data);

  if (!p->data && stage == 0) {
    weights_piece(p, &l, piece);
  } else if (!p->data) {
    merge_weights(p, &l, piece);
  } else if (stage == 1) {
    data_piece(p, piece);
  } else {
    const data_parts d = parts_of(p->s, &l, p->workspace);
    const int64_t packs = l.chunks * l.runs;

    if (piece < packs) {
      pack_weights(p, &l, d.weights, piece);
    } else {
      sort_row(p, &l, &d, piece - packs);
    }
  }
}
