/* conv_chunks.c - division into chunks, and borders written out. */
#include "ops/conv/conv_chunks.h"

#include <string.h>

static int64_t ceil_div(int64_t a, int64_t b)
{
  return -weir_floor_div(-a, b);
}

static int64_t rows_of(const conv_form *f)
{
  return f->kind == CONV_DATA ? f->x_extent[0] : f->y_extent[0];
}

/* Rows of what is read that no window reaches: part of an array, as where only the iterations next
 * to other ranks are computed. Chunks of one sample leave them out. */
static bool leaves_rows(const conv_form *f)
{
  const int64_t reach = f->dilation[0] * (f->kernel_size[0] - 1);

  return f->kind == CONV_DATA ? f->lo[0] > reach || f->hi[0] > reach
                              : f->lo[0] < 0 || f->hi[0] <= -f->stride[0];
}

conv_chunking conv_chunking_make(const conv_form *f, int64_t wanted)
{
  const int64_t rows = rows_of(f);
  conv_chunking c = {.samples = 1, .rows = rows};

  if (wanted <= f->n) {
    c.samples = leaves_rows(f) ? 1 : ceil_div(f->n, wanted > 1 ? wanted : 1);
  } else {
    const int64_t pieces = ceil_div(wanted, f->n);

    c.rows = ceil_div(rows, pieces < rows ? pieces : rows);
    /* Windows of what follows hold whole chunks, or chunks whole windows. */
    for (int64_t even = 1; f->kind != CONV_WEIGHTS && c.rows < rows && even <= c.rows; even *= 2) {
      c.rows = 2 * even > c.rows ? even : c.rows;
    }
  }
  c.n_samples = ceil_div(f->n, c.samples);
  c.n_rows = ceil_div(rows, c.rows);
  c.count = c.n_samples * c.n_rows;
  return c;
}

static int64_t min_of(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Rows of x that the chunk's rows of y need. */
static void rows_of_x(const conv_form *f, conv_chunk *s)
{
  const int64_t from = f->stride[0] * s->y_first - f->lo[0];
  const int64_t last =
      from + f->stride[0] * (s->y_rows - 1) + f->dilation[0] * (f->kernel_size[0] - 1);
  const int64_t end = min_of(last + 1, f->x_extent[0]);

  s->x_first = max_of(from, 0);
  s->x_rows = end - s->x_first;
  s->lo = s->x_first - from;
  s->hi = last + 1 - end;
}

/* Rows of y that reach the chunk's rows of x, from one at or below its first element on. */
static void rows_of_y(const conv_form *f, conv_chunk *s)
{
  const int64_t from = s->x_first + f->lo[0], reach = f->dilation[0] * (f->kernel_size[0] - 1);
  const int64_t first =
      min_of(ceil_div(from - reach, f->stride[0]), weir_floor_div(from, f->stride[0]));
  const int64_t end = weir_floor_div(from + s->x_rows - 1, f->stride[0]) + 1;

  s->y_first = max_of(first, 0);
  s->y_rows = min_of(end, f->y_extent[0]) - s->y_first;
  s->lo = from - f->stride[0] * s->y_first;
  s->hi = f->stride[0] * (s->y_rows - 1) + reach + 1 - s->lo - s->x_rows;
}

bool conv_chunking_chunk(const conv_form *f, const conv_chunking *chunking, int64_t i,
                         conv_chunk *s)
{
  const int64_t row = i % chunking->n_rows * chunking->rows,
                rows = min_of(chunking->rows, rows_of(f) - row);

  *s = (conv_chunk){.first = i / chunking->n_rows * chunking->samples};
  s->n = min_of(chunking->samples, f->n - s->first);
  if (s->n > 1) { /* samples lie one after the other: all rows of both */
    s->x_rows = f->x_extent[0];
    s->y_rows = f->y_extent[0];
    s->lo = f->lo[0];
    s->hi = f->hi[0];
  } else if (f->kind == CONV_DATA) {
    s->x_first = row;
    s->x_rows = rows;
    rows_of_y(f, s);
  } else {
    s->y_first = row;
    s->y_rows = rows;
    rows_of_x(f, s);
  }
  return s->x_rows > 0 && s->y_rows > 0;
}

bool conv_pad_form(const conv_form *f, conv_form *inner)
{
  bool any = false;

  *inner = *f;
  for (int k = 0; k < f->d; k++) {
    if (f->border[k] != WEIR_BORDER_ABSENT) {
      any = true;
      inner->x_extent[k] = f->x_extent[k] + f->lo[k] + f->hi[k];
      inner->lo[k] = inner->hi[k] = 0;
      inner->border[k] = WEIR_BORDER_ABSENT;
      inner->mirrored[k] = false;
    }
  }
  return any;
}

int64_t conv_row_size(const conv_form *f)
{
  return f->x_extent[1] * f->x_extent[2] * f->groups * f->in;
}

/* Where inner's element p of dimension k comes from. */
static int64_t source(const conv_form *f, const conv_form *inner, int k, int64_t p)
{
  const weir_index x = {.border = f->border[k]};
  bool inside;

  return weir_index_border(&x, p - f->lo[k] + inner->lo[k], f->x_extent[k], &inside);
}

void conv_pad_row(const conv_form *f, const conv_form *inner, const void *x, int64_t n, int64_t row,
                  void *padded)
{
  /* In bytes. */
  const int64_t size = (int64_t)weir_dtype_size(f->x_dtype);
  const int64_t channels = f->groups * f->in * size, line = f->x_extent[2] * channels;
  const char *from =
      (const char *)x + (n * f->x_extent[0] + source(f, inner, 0, row)) * f->x_extent[1] * line;
  char *to = (char *)padded + (n * inner->x_extent[0] + row) * conv_row_size(inner) * size;
  const int64_t lo = f->lo[2] - inner->lo[2]; /* of the last dimension: what is there comes whole */
  const int64_t whole = min_of(inner->x_extent[2] - lo, f->x_extent[2]);

  for (int64_t p = 0; p < inner->x_extent[1]; p++) {
    const char *here = from + source(f, inner, 1, p) * line;

    for (int64_t q = 0; q < inner->x_extent[2]; q++) {
      if (q == lo && whole > 0) {
        memcpy(to, here, (size_t)(whole * channels));
        to += whole * channels;
        q += whole - 1;
        continue;
      }
      memcpy(to, here + source(f, inner, 2, q) * channels, (size_t)channels);
      to += channels;
    }
  }
}

/* Whether inner's element p of dimension k is added to one of f's x: *e. */
static bool adds_to(const conv_form *f, const conv_form *inner, int k, int64_t p, int64_t *e)
{
  const int64_t n = f->x_extent[k], raw = p - f->lo[k] + inner->lo[k];

  *e = source(f, inner, k, p);
  return f->border[k] != WEIR_BORDER_REFLECT ||
         (weir_floor_mod(raw, 2 * (n - 1)) >= n) == f->mirrored[k];
}

static void add(const float *from, int64_t n, float *to)
{
  for (int64_t i = 0; i < n; i++) {
    to[i] += from[i];
  }
}

/* Along the last dimension: what lies between the ends comes whole. */
static void fold_line(const conv_form *f, const conv_form *inner, const float *padded, float *sums)
{
  const int64_t channels = f->groups * f->in, lo = f->lo[2] - inner->lo[2];
  int64_t e, count;

  for (int64_t p = 0; p < inner->x_extent[2]; p += count) {
    const bool adds = adds_to(f, inner, 2, p, &e);

    count = adds && p == lo ? min_of(inner->x_extent[2] - p, f->x_extent[2]) : 1;
    if (adds) {
      add(padded + p * channels, count * channels, sums + e * channels);
    }
  }
}

void conv_fold_row(const conv_form *f, const conv_form *inner, const float *padded, int64_t n,
                   int64_t row, float *sums)
{
  const int64_t line = inner->x_extent[2] * f->groups * f->in, to = conv_row_size(f);
  int64_t e;

  memset(sums, 0, (size_t)to * sizeof *sums);
  for (int64_t p = 0; p < inner->x_extent[0]; p++) {
    const float *from = padded + (n * inner->x_extent[0] + p) * inner->x_extent[1] * line;

    if (!adds_to(f, inner, 0, p, &e) || e != row) {
      continue;
    }
    for (int64_t q = 0; q < inner->x_extent[1]; q++, from += line) {
      if (adds_to(f, inner, 1, q, &e)) {
        fold_line(f, inner, from, sums + e * (to / f->x_extent[1]));
      }
    }
  }
}
