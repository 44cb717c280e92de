/* pool_sparse_data.c - gradients by data of pool_sparse_priv.h.
 *
 * Of every window the channels are sorted by argmax; those of one position
 * add their weights up in registers, then to rows of x. Weights are packed for that, all of them
 * ahead; where x is small and has many channels, those of a chunk and a run as they are met, so
 * that they are read from memory once. */
#include "ops/conv/pool_sparse_layout.h"

/* The workspace: packed weights [chunks, runs, channels of y, row], unless they are packed
 * as they are met; of every window the channels by position, and where each position begins. */
typedef struct data_workspace {
  float *weights, *by; /* by, at: [windows, channels of y] */
  int32_t *at, *begin; /* [windows, positions + 1] */
} data_workspace;

static int64_t windows_of(const pool_sparse_conv *s)
{
  return s->n * s->y[0] * s->y[1] * s->y[2];
}

static int64_t packed_size(const pool_sparse_conv *s, const pool_sparse_layout *l)
{
  return l->whole ? 0 : lines_of(l->chunks * l->sums * s->out);
}

static data_workspace workspace_of(const pool_sparse_conv *s, const pool_sparse_layout *l,
                                   void *workspace)
{
  data_workspace d = {.weights = workspace};

  d.by = d.weights + packed_size(s, l);
  d.at = (int32_t *)(d.by + lines_of(windows_of(s) * s->out));
  d.begin = d.at + lines_of(windows_of(s) * s->out);
  return d;
}

/* Packs the kernel row of a run for the channels of a chunk, [channels of y, row]. */
static void pack_weights(const pool_sparse_sum *p, const pool_sparse_layout *l, int64_t chunk,
                         int64_t run, float *to)
{
  const pool_sparse_conv *s = p->s;
  const int64_t channel = chunk * l->chunk, width = min_of(l->chunk, s->in - channel);

  if (s->kernel_size[2] * width < l->row) {
    clear(to, s->out * l->row);
  }
  for (int64_t tap = 0; tap < s->kernel_size[2]; tap++) {
    pool_sparse_move(p->k,
                     p->w + weight_at(s, run * s->kernel_size[2] + tap) + channel * s->w_step[3],
                     (const int64_t[]){s->w_step[3], s->w_step[4]}, to + tap * l->chunk,
                     (const int64_t[]){1, l->row}, width, s->out);
  }
}

/* Channels of the windows of a row by argmax, each position in ascending order. */
static void sort_row(const pool_sparse_sum *p, const pool_sparse_layout *l, const data_workspace *d,
                     int64_t piece)
{
  const pool_sparse_conv *s = p->s;
  const int64_t n = piece / s->y[1] / s->y[0], plane = piece / s->y[1] % s->y[0];
  const int64_t row = piece % s->y[1];
  const float *y = p->y + n * s->y_step[0] + plane * s->y_step[1] + row * s->y_step[2];
  const uint8_t *argmax =
      p->argmax + n * s->argmax_step[0] + plane * s->argmax_step[1] + row * s->argmax_step[2];

  for (int64_t w = 0; w < s->y[2]; w++, y += s->y_step[3], argmax += s->argmax_step[3]) {
    const int64_t window = piece * s->y[2] + w;
    int32_t *begin = d->begin + window * (l->positions + 1), next[256] = {0};
    int32_t sum = 0;

    for (int64_t c = 0; c < s->out; c++) {
      next[argmax[c]]++;
    }
    for (int64_t g = 0; g <= l->positions; g++) {
      begin[g] = sum;
      sum += g < l->positions ? next[g] : 0;
      next[g] = begin[g];
    }
    for (int64_t c = 0; c < s->out; c++) {
      if (argmax[c] < l->positions) {
        const int64_t at = window * s->out + next[argmax[c]]++;

        d->at[at] = (int32_t)(c * l->row);
        d->by[at] = y[c];
      }
    }
  }
}

/* Window and position of dimension d that element e meets by a tap; false: none does. */
static bool meets(const pool_sparse_conv *s, int d, int64_t e, int64_t tap, int64_t *window,
                  int64_t *position)
{
  const int64_t at = e + s->lo[d] - tap;

  *window = at / s->window[d];
  *position = at % s->window[d];
  return at >= 0 && *window < s->y[d];
}

/* One row of x, kernel row `run`: every window of the row of windows that they lead to. */
static void add_row(const pool_sparse_sum *p, const pool_sparse_layout *l, const data_workspace *d,
                    const int64_t at[3], int64_t run, const float *weights, float *to)
{
  const pool_sparse_conv *s = p->s;
  int64_t window[2], position[2];

  if (!meets(s, 0, at[1], run / s->kernel_size[1], &window[0], &position[0]) ||
      !meets(s, 1, at[2], run % s->kernel_size[1], &window[1], &position[1])) {
    return;
  }
  const int64_t first = ((at[0] * s->y[0] + window[0]) * s->y[1] + window[1]) * s->y[2];
  const int64_t from = (position[0] * s->window[1] + position[1]) * s->window[2];

  const int64_t vectors = l->row / p->k->lanes;
  pool_sparse_row r = {.to = to,
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
    p->k->row[min_of(p->k->vectors, vectors - v) - 1](&r);
    r.to += p->k->vectors * p->k->lanes;
    r.from += p->k->vectors * p->k->lanes;
  }
}

static void write_row(const pool_sparse_sum *p, const pool_sparse_layout *l, const int64_t at[3],
                      int64_t channel, const float *from)
{
  const pool_sparse_conv *s = p->s;
  const int64_t width = min_of(l->chunk, s->in - channel);
  float *to = p->made + channel;

  for (int d = 0; d < 3; d++) {
    to += (at[d] - p->first[d]) * s->x_step[d];
  }
  from += s->lo[2] * l->chunk;
  for (int64_t e = 0; e < s->x[2]; e++) {
    copy(to + e * s->x_step[3], from + e * l->chunk, width);
  }
}

/* Rows of x [lo, hi): samples, planes and rows. */
typedef struct data_rows {
  int64_t lo[3], hi[3];
} data_rows;

static void row_at(const data_rows *rows, int64_t number, int64_t at[3])
{
  for (int d = 2; d >= 0; d--) {
    const int64_t extent = rows->hi[d] - rows->lo[d];

    at[d] = rows->lo[d] + number % extent;
    number /= extent;
  }
}

/* A chunk of rows. */
static void data_block(const pool_sparse_sum *p, const pool_sparse_layout *l, const data_rows *rows,
                       int64_t chunk)
{
  const pool_sparse_conv *s = p->s;
  const data_workspace d = workspace_of(s, l, p->workspace);
  const int64_t row = l->columns * l->chunk;
  float *made = p->scratch;
  int64_t count = 1, at[3];

  for (int k = 0; k < 3; k++) {
    count *= rows->hi[k] - rows->lo[k];
  }
  clear(made, count * row + l->row);
  for (int64_t run = 0; run < l->runs; run++) {
    float *weights =
        l->whole ? made + l->made_size : d.weights + (chunk * l->runs + run) * s->out * l->row;

    if (l->whole) {
      pack_weights(p, l, chunk, run, weights);
    }
    for (int64_t r = 0; r < count; r++) {
      row_at(rows, r, at);
      add_row(p, l, &d, at, run, weights, made + r * row);
    }
  }
  for (int64_t r = 0; r < count; r++) {
    row_at(rows, r, at);
    write_row(p, l, at, chunk * l->chunk, made + r * row);
  }
}

void pool_sparse_data_rows(const pool_sparse_sum *p, const pool_sparse_layout *l,
                           const int64_t lo[3], const int64_t hi[3])
{
  for (int64_t n = lo[0]; n < hi[0]; n++) {
    for (int64_t i = lo[1]; i < hi[1]; i += PLANES) {
      for (int64_t j = lo[2]; j < hi[2]; j += ROWS) {
        const data_rows rows = {{n, i, j},
                                {n + 1, min_of(i + PLANES, hi[1]), min_of(j + ROWS, hi[2])}};

        for (int64_t chunk = 0; chunk < l->chunks; chunk++) {
          data_block(p, l, &rows, chunk);
        }
      }
    }
  }
}

static void rows_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int64_t piece)
{
  const pool_sparse_conv *s = p->s;
  const int64_t planes = ceil_div(s->x[0], PLANES), rows = ceil_div(s->x[1], ROWS);
  const int64_t n = piece / rows / planes, i = piece / rows % planes, j = piece % rows;

  if (l->whole) {
    data_block(p, l, &(data_rows){.hi = {s->n, s->x[0], s->x[1]}}, piece);
    return;
  }
  pool_sparse_data_rows(
      p, l, (const int64_t[]){n, PLANES * i, ROWS * j},
      (const int64_t[]){n + 1, min_of(PLANES * (i + 1), s->x[0]), min_of(ROWS * (j + 1), s->x[1])});
}

/* Pieces of the first stage that pack weights, ahead of those that sort. */
static int64_t packs_of(const pool_sparse_layout *l)
{
  return l->whole ? 0 : l->chunks * l->runs;
}

int64_t pool_sparse_data_pieces(const pool_sparse_conv *s, const pool_sparse_layout *l, int stage)
{
  return stage == 0 ? packs_of(l) + s->n * s->y[0] * s->y[1]
         : l->whole ? l->chunks
                    : pool_sparse_row_pieces(s);
}

int64_t pool_sparse_data_workspace(const pool_sparse_conv *s, const pool_sparse_layout *l)
{
  const int64_t windows = windows_of(s);

  return packed_size(s, l) + 2 * lines_of(windows * s->out) +
         lines_of(windows * (l->positions + 1));
}

int64_t pool_sparse_data_scratch(const pool_sparse_conv *s, const pool_sparse_layout *l)
{
  return l->made_size + (l->whole ? s->out * l->row : 0);
}

void pool_sparse_data_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int stage,
                            int64_t piece)
{
  const data_workspace d = workspace_of(p->s, l, p->workspace);
  const int64_t packs = packs_of(l);

  if (stage == 1) {
    rows_piece(p, l, piece);
  } else if (piece < packs) {
    pack_weights(p, l, piece / l->runs, piece % l->runs, d.weights + piece * p->s->out * l->row);
  } else {
    sort_row(p, l, &d, piece - packs);
  }
}
