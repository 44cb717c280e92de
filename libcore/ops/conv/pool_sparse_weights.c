/* pool_sparse_weights.c - gradients by weights of pool_sparse_priv.h.
 *
 * A block of windows reads a patch of x, copied so that it lies in the first cache; of every
 * channel of y a list says where in the patch the selected elements are, and kernel elements along
 * the last dimension are neighbours in memory: vectors of x are multiplied and summed in registers.
 */
#include <math.h>

#include "ops/conv/pool_sparse_layout.h"

typedef struct weights_lists {
  int32_t *at; /* [BLOCK, windows of a patch] */
  float *by, *patch;
  int64_t count[BLOCK];
} weights_lists;

/* One block of windows: sample, plane, first row and column of windows; how many. */
typedef struct block {
  int64_t n, plane, row, column, rows, columns;
} block;

/* Columns [first, first + n) of a row of x, channels [channel, ..) of a chunk; 0 outside. */
static void copy_row(const pool_sparse_conv *s, const pool_sparse_layout *l, const float *x,
                     int64_t first, int64_t n, int64_t channel, float *to)
{
  const int64_t width = min_of(l->chunk, s->in - channel), step = s->x_step[3];
  const int64_t from = min_of(max_of(-first, 0), n);
  const int64_t end = max_of(min_of(n, s->x[2] - first), from);

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

/* kept: the patch holds the block that lies a window ahead of this one. */
static void copy_patch(const pool_sparse_sum *p, const pool_sparse_layout *l, const block *b,
                       int64_t channel, bool kept, float *patch)
{
  const pool_sparse_conv *s = p->s;
  const int64_t columns = s->window[2] * b->columns + s->kernel_size[2] - 1;
  const int64_t rows = s->window[1] * b->rows + s->kernel_size[1] - 1;
  const int64_t size = l->patch[1] * l->patch[2] * l->chunk;
  const int64_t known = kept ? s->kernel_size[0] - 1 : 0;

  memmove(patch, patch + s->window[0] * size, (size_t)(known * size) * sizeof *patch);
  for (int64_t i = known; i < l->patch[0]; i++) {
    const int64_t plane = s->window[0] * b->plane - s->lo[0] + i;

    for (int64_t j = 0; j < rows; j++) {
      const int64_t row = s->window[1] * b->row - s->lo[1] + j;
      float *to = patch + i * size + j * l->patch[2] * l->chunk;

      if (plane < 0 || plane >= s->x[0] || row < 0 || row >= s->x[1]) {
        clear(to, columns * l->chunk);
        continue;
      }
      copy_row(s, l, p->x + b->n * s->x_step[0] + plane * s->x_step[1] + row * s->x_step[2],
               s->window[2] * b->column - s->lo[2], columns, channel, to);
    }
  }
}

/* Where in the patch every channel of [first, first + n) has its argmax; returns whether some
 * gradient is infinite or NaN. */
static bool list_weights(const pool_sparse_sum *p, const pool_sparse_layout *l, const block *b,
                         int64_t first, int64_t n, weights_lists *lists)
{
  const pool_sparse_conv *s = p->s;
  const int64_t max = l->windows[0] * l->windows[1], count = b->rows * b->columns;
  int32_t offset[MAX_WINDOW], here[MAX_WINDOWS];
  int64_t y_at[MAX_WINDOWS], argmax_at[MAX_WINDOWS];

  for (int64_t g = 0; g < l->positions; g++) {
    const int64_t at[] = {g / s->window[2] / s->window[1], g / s->window[2] % s->window[1],
                          g % s->window[2]};

    offset[g] = (int32_t)(((at[0] * l->patch[1] + at[1]) * l->patch[2] + at[2]) * l->chunk);
  }
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = i / b->columns, column = i % b->columns;

    y_at[i] = (b->row + row) * s->y_step[2] + (b->column + column) * s->y_step[3];
    argmax_at[i] = (b->row + row) * s->argmax_step[2] + (b->column + column) * s->argmax_step[3];
    here[i] = (int32_t)((s->window[1] * row * l->patch[2] + s->window[2] * column) * l->chunk);
  }
  const float *y = p->y + b->n * s->y_step[0] + b->plane * s->y_step[1] + first;
  const uint8_t *argmax =
      p->argmax + b->n * s->argmax_step[0] + b->plane * s->argmax_step[1] + first;
  bool odd = false;

  for (int64_t c = 0; c < n; c++) {
    int32_t *at = lists->at + c * max;
    float *by = lists->by + c * max;
    int64_t k = 0;

    for (int64_t i = 0; i < count; i++) {
      const uint8_t g = argmax[argmax_at[i] + c];

      if (g < l->positions) {
        const float v = y[y_at[i] + c];

        at[k] = here[i] + offset[g];
        by[k++] = v;
        odd |= !isfinite(v);
      }
    }
    lists->count[c] = k;
  }
  return odd;
}

/* True when x has what the patch has at `at` and tap t; else there are zeros. */
static bool is_inside(const pool_sparse_conv *s, const pool_sparse_layout *l, const block *b,
                      int64_t at, int64_t t)
{
  const int64_t first[] = {b->plane, b->row, b->column};
  bool inside = true;

  at /= l->chunk;
  for (int d = 2; d >= 0; d--) {
    const int64_t e = s->window[d] * first[d] - s->lo[d] + at % l->patch[d] + t % s->kernel_size[d];

    inside = inside && e >= 0 && e < s->x[d];
    at /= l->patch[d];
    t /= s->kernel_size[d];
  }
  return inside;
}

/* Takes gradients that are infinite or NaN off the list of a channel, and multiplies them
 * with what x has alone. sums: of the channel. */
static void add_odd(const pool_sparse_conv *s, const pool_sparse_layout *l, const block *b,
                    int64_t channel, weights_lists *lists, float *sums)
{
  int32_t *at = lists->at + channel * l->windows[0] * l->windows[1];
  float *by = lists->by + channel * l->windows[0] * l->windows[1];
  int64_t left = 0;

  for (int64_t k = 0; k < lists->count[channel]; k++) {
    if (isfinite(by[k])) {
      at[left] = at[k];
      by[left++] = by[k];
      continue;
    }
    for (int64_t t = 0; t < l->runs * s->kernel_size[2]; t++) {
      const int64_t run = t / s->kernel_size[2], tap = t % s->kernel_size[2];
      const float *from =
          lists->patch + at[k] +
          ((run / s->kernel_size[1] * l->patch[1] + run % s->kernel_size[1]) * l->patch[2] + tap) *
              l->chunk;

      if (!is_inside(s, l, b, at[k], t)) {
        continue;
      }
      for (int64_t i = 0; i < l->chunk; i++) {
        sums[run * l->row + tap * l->chunk + i] += by[k] * from[i];
      }
    }
  }
  lists->count[channel] = left;
}

/* Sums of a range of planes and chunk from channel `first` of y on: [channels of y, runs, row]. */
static float *partial_sums(const pool_sparse_sum *p, const pool_sparse_layout *l, int64_t partial,
                           int64_t chunk, int64_t first)
{
  return (float *)p->workspace + ((partial * l->chunks + chunk) * p->s->out + first) * l->sums;
}

/* Kernel rows of one chunk, all channels of the lists; sums: of the first channel. */
static void add_weights(const pool_sparse_sum *p, const pool_sparse_layout *l,
                        const weights_lists *lists, int64_t n, float *sums)
{
  const int64_t max = l->windows[0] * l->windows[1], vectors = l->row / p->k->lanes;
  int64_t run[MAX_KERNEL * MAX_KERNEL];

  for (int64_t v = 0; v < vectors; v += p->k->vectors) {
    const int64_t wide = min_of(p->k->vectors, vectors - v), rows = p->k->rows[wide - 1];

    for (int64_t r = 0; r < l->runs; r++) {
      run[r] = (r / p->s->kernel_size[1] * l->patch[1] + r % p->s->kernel_size[1]) * l->patch[2] *
                   l->chunk +
               v * p->k->lanes;
    }
    for (int64_t r = 0; r < l->runs; r += rows) {
      pool_sparse_add_run *add =
          p->k->add[(wide - 1) * POOL_SPARSE_ROWS + min_of(rows, l->runs - r) - 1];

      for (int64_t c = 0; c < n; c++) {
        const pool_sparse_add a = {.sums = sums + c * l->sums + r * l->row + v * p->k->lanes,
                                   .from = lists->patch,
                                   .run = run + r,
                                   .at = lists->at + c * max,
                                   .by = lists->by + c * max,
                                   .count = lists->count[c],
                                   .sum_step = l->row};

        add(&a);
      }
    }
  }
}

/* Sums of a chunk and n channels of y, [n, runs, row], into the weights' own order. */
static void write_weights(const pool_sparse_sum *p, const pool_sparse_layout *l, const float *sums,
                          int64_t chunk, int64_t first, int64_t n)
{
  const pool_sparse_conv *s = p->s;
  const int64_t channel = chunk * l->chunk, width = min_of(l->chunk, s->in - channel);

  for (int64_t t = 0; t < l->runs * s->kernel_size[2]; t++) {
    pool_sparse_move(p->k, sums + t / s->kernel_size[2] * l->row + t % s->kernel_size[2] * l->chunk,
                     (const int64_t[]){l->sums, 1},
                     p->made + weight_at(s, t) + channel * s->w_step[3] + first * s->w_step[4],
                     (const int64_t[]){s->w_step[4], s->w_step[3]}, n, width);
  }
}

/* Some channels of y, a chunk of x, one range of planes. The sums of a single range go no further
 * than the cache. */
static void sum_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int64_t piece)
{
  const pool_sparse_conv *s = p->s;
  const int64_t chunk = piece / l->blocks % l->chunks, partial = piece / l->blocks / l->chunks;
  const int64_t first = piece % l->blocks * BLOCK, n = min_of(BLOCK, s->out - first);
  const int64_t planes = s->n * s->y[0], max = l->windows[0] * l->windows[1];
  weights_lists lists = {.patch = p->scratch};

  lists.by = lists.patch + l->patch_size;
  lists.at = (int32_t *)(lists.by + lines_of(BLOCK * max));
  float *sums = l->partials > 1 ? partial_sums(p, l, partial, chunk, first)
                                : (float *)(lists.at + lines_of(BLOCK * max));

  clear(sums, n * l->sums);
  clear(lists.patch, l->patch_size);
  const int64_t from = partial * planes / l->partials, to = (partial + 1) * planes / l->partials;

  for (int64_t row = 0; row < s->y[1]; row += l->windows[0]) {
    for (int64_t column = 0; column < s->y[2]; column += l->windows[1]) {
      for (int64_t i = from; i < to; i++) {
        const block b = {.n = i / s->y[0],
                         .plane = i % s->y[0],
                         .row = row,
                         .column = column,
                         .rows = min_of(l->windows[0], s->y[1] - row),
                         .columns = min_of(l->windows[1], s->y[2] - column)};

        const bool odd = list_weights(p, l, &b, first, n, &lists);

        copy_patch(p, l, &b, chunk * l->chunk, i > from && b.plane > 0, lists.patch);
        for (int64_t c = 0; odd && c < n; c++) {
          add_odd(s, l, &b, c, &lists, sums + c * l->sums);
        }
        add_weights(p, l, &lists, n, sums);
      }
    }
  }
  if (l->partials == 1) {
    write_weights(p, l, sums, chunk, first, n);
  }
}

/* Slabs in pairs, then pairs of pairs. */
static void merge_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int64_t piece)
{
  const int64_t chunk = piece % l->chunks, first = piece / l->chunks * WRITTEN;
  const int64_t n = min_of(WRITTEN, p->s->out - first);

  for (int64_t step = 1; step < l->partials; step *= 2) {
    for (int64_t i = 0; i + step < l->partials; i += 2 * step) {
      float *to = partial_sums(p, l, i, chunk, first);
      const float *from = partial_sums(p, l, i + step, chunk, first);

      for (int64_t e = 0; e < n * l->sums; e++) {
        to[e] += from[e];
      }
    }
  }
  write_weights(p, l, partial_sums(p, l, 0, chunk, first), chunk, first, n);
}

int64_t pool_sparse_weights_pieces(const pool_sparse_conv *s, const pool_sparse_layout *l,
                                   int stage)
{
  return stage == 0 ? l->blocks * l->chunks * l->partials
                    : (l->partials > 1 ? l->chunks * ceil_div(s->out, WRITTEN) : 0);
}

int64_t pool_sparse_weights_workspace(const pool_sparse_conv *s, const pool_sparse_layout *l)
{
  return l->partials > 1 ? l->partials * l->chunks * s->out * l->sums : 0;
}

int64_t pool_sparse_weights_scratch(const pool_sparse_layout *l)
{
  return l->patch_size + 2 * lines_of(BLOCK * l->windows[0] * l->windows[1]) +
         (l->partials > 1 ? 0 : BLOCK * l->sums);
}

void pool_sparse_weights_piece(const pool_sparse_sum *p, const pool_sparse_layout *l, int stage,
                               int64_t piece)
{
  (stage == 0 ? sum_piece : merge_piece)(p, l, piece);
}
