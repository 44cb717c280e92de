/* packed.c - see packed.h: a run of a piece. */
#include "ops/contract/packed.h"

#include <string.h>

/* Elements of the sums that are packed at a time, at most: a block of B takes 384 KiB in c128. */
enum { DEPTH = 192 };
/* Register blocks along a tile that read A where it is: for more of them it is packed. */
enum { PACK_BEYOND = 2 };

/* The k that are packed at a time: as many for each block, about. */
static int64_t block_of(const packed_form *f)
{
  return packed_ceil_div(f->depth.count, packed_ceil_div(f->depth.count, DEPTH));
}

int64_t packed_pieces(const packed_form *f)
{
  return f->down * f->across * f->chunks;
}

/* What a thread holds: where rows, columns and k of a tile lie in A, B and C; packed panels. */
typedef struct workspace {
  int64_t *a_row, *c_row, *b_column, *c_column, *a_depth, *b_depth, *b_next, *gathered;
  char *block, *a, *b; /* 64-byte aligned */
} workspace;

static int64_t bump_alloc(char *memory, int64_t *at, int64_t bytes, void *to)
{
  char *here = memory == NULL ? NULL : memory + *at;

  memcpy(to, &here, sizeof here);
  *at += (bytes + 63) / 64 * 64;
  return *at;
}

/* Returns bytes. */
static int64_t workspace_of(const packed_form *f, char *memory, workspace *r)
{
  const int64_t size = f->size, each = sizeof(int64_t);
  const int64_t unit = f->kernels->lanes * f->kernels->vectors;
  const int64_t depth = block_of(f), wide = packed_ceil_div(f->tile_columns, unit) * unit;
  int64_t at = 0;

  (void)bump_alloc(memory, &at, f->tile_rows * each, &r->a_row);
  (void)bump_alloc(memory, &at, f->tile_rows * each, &r->c_row);
  (void)bump_alloc(memory, &at, f->tile_columns * each, &r->b_column);
  (void)bump_alloc(memory, &at, f->tile_columns * each, &r->c_column);
  (void)bump_alloc(memory, &at, depth * each, &r->a_depth);
  (void)bump_alloc(memory, &at, depth * each, &r->b_depth);
  (void)bump_alloc(memory, &at, depth * each, &r->b_next);
  (void)bump_alloc(memory, &at, depth * each, &r->gathered);
  (void)bump_alloc(memory, &at, PACKED_ROWS * unit * size, &r->block);
  (void)bump_alloc(memory, &at, PACKED_ROWS * depth * size, &r->a);
  return bump_alloc(memory, &at, depth * wide * size, &r->b);
}

int64_t packed_scratch(const packed_form *f)
{
  workspace r;

  return workspace_of(f, NULL, &r) + 64;
}

/* One tile of C: its begin and extents. */
typedef struct tile {
  const packed_form *f;
  packed_array a, b, c;
  packed_source from_a, from_b;
  workspace r;
  int64_t row, rows, column, columns;
  bool a_joined, b_joined, c_joined; /* a: along k; b, c: columns */
  bool dense[3];  /* A, B and C of the tile are next to those of the next matrix */
  int64_t next;   /* rows of the block of B that comes after this one, where b_next are */
  int64_t depth;  /* of the k that a_depth and b_depth are about, the first; -1: none */
  int64_t matrix; /* and the matrix, where indices are gathered */
} tile;

/* Elements of the matrices of an item. */
typedef struct item {
  int64_t number;
  const char *a, *b;
  char *c;
} item;

/* The `z`-th of the rows of A that panel p + 1 packs, and of those of the next block of B that are
 * its share; NULL: none. */
static const char *row_ahead(const tile *t, const item *now, int64_t p, int64_t z)
{
  const int64_t panels = packed_ceil_div(t->rows, PACKED_ROWS), size = t->f->size;
  const int64_t row = t->rows * (p + 1) / panels;
  const int64_t rows = p + 1 < panels && t->a_joined ? t->rows * (p + 2) / panels - row : 0;
  const int64_t k = t->next * p / panels, ks = t->b_joined ? t->next * (p + 1) / panels - k : 0;

  return z < rows        ? now->a + (t->r.a_row[row + z] + t->r.a_depth[0]) * size
         : z < rows + ks ? now->b + (t->r.b_next[k + z - rows] + t->r.b_column[0]) * size
                         : NULL;
}

/* What register block j of panel p brings nearer: where the tile is a matrix without gaps, a slice
 * of the next one; else of what this one needs next. */
static void look_ahead(const tile *t, const item *now, const item *next, int64_t p, int64_t j,
                       packed_panels *to)
{
  const int64_t size = t->f->size, slot = 128 * to->depth;
  const int64_t bytes[] = {t->dense[0] ? t->rows * to->depth * size : 0,
                           t->dense[1] ? to->depth * t->columns * size : 0,
                           t->dense[2] ? t->rows * t->columns * size : 0};
  const char *const from[] = {next->a, next->b, next->c};
  const char *one = row_ahead(t, now, p, 2 * j), *two = row_ahead(t, now, p, 2 * j + 1);
  int64_t q = p * packed_ceil_div(t->columns, t->f->kernels->lanes * t->f->kernels->vectors) + j;

  to->step = size;
  for (int i = 0; i < 3 && q >= 0; i++) {
    if (q < packed_ceil_div(bytes[i], slot)) {
      one = from[i] + q * slot;
      two = one + 64;
      to->step = 128;
    }
    q -= packed_ceil_div(bytes[i], slot);
  }
  to->ahead[0] = one != NULL ? one : to->a;
  to->ahead[1] = two != NULL ? two : to->a;
}

/* All rows of the tile by the k of one block, whose columns are packed. */
static void sum_rows(const tile *t, const item *now, const item *next, int64_t depth, bool add)
{
  const packed_kernels *k = t->f->kernels;
  const int64_t unit = k->lanes * k->vectors, panels = packed_ceil_div(t->rows, PACKED_ROWS);
  const bool pack = t->columns > PACK_BEYOND * unit;

  for (int64_t p = 0; p < panels; p++) {
    const int64_t i = t->rows * p / panels, n = t->rows * (p + 1) / panels - i;
    const packed_from a = {now->a, t->r.a_row + i, t->r.a_depth, n, depth, t->a_joined};

    if (pack) {
      k->pack_a(t->r.a, &a);
    }
    for (int64_t j = 0; j < t->columns; j += unit) {
      const int64_t left = packed_min(t->columns - j, unit),
                    width = left > k->lanes ? unit : k->lanes;
      const packed_to c = {now->c, t->r.c_row + i, t->r.c_column + j, n,
                           left,   t->c_joined,    t->f->conj_c,      add};
      packed_panels panel = {.a = pack ? t->r.a : now->a,
                             .b = t->r.b + j * depth * t->f->size,
                             .row = pack ? NULL : a.row,
                             .column = pack ? NULL : a.column,
                             .depth = depth};

      look_ahead(t, now, next, p, j / unit, &panel);
      k->sum(t->r.block, &panel, n, width);
      k->store(&c, t->r.block, width);
    }
  }
}

static item item_of(const tile *t, int64_t number)
{
  const packed_form *f = t->f;
  int64_t a, b, c;

  (void)packed_locate(f, &f->stack, &t->a, number, 1, &a);
  (void)packed_locate(f, &f->stack, &t->b, number, 1, &b);
  (void)packed_locate(f, &f->stack, &t->c, number, 1, &c);
  return (item){number, t->a.data + a * f->size, t->b.data + b * f->size, t->c.data + c * f->size};
}

/* Adds to where the k [from, from + n) lie in a side what it gathers there, of one matrix; true
 * when one follows the other. */
static bool add_gathered(const tile *t, const packed_source *s, int64_t matrix, int64_t from,
                         int64_t n, int64_t *to)
{
  bool joined = true;
  int64_t at;

  (void)packed_locate(t->f, &t->f->stack, &s->index, matrix, 1, &at);
  (void)packed_locate(t->f, &t->f->depth, &s->index, from, n, t->r.gathered);
  for (int64_t j = 0; j < n; j++) {
    to[j] += weir_dtype_load_int(s->dtype, s->index.data, at + t->r.gathered[j]) * s->stride;
    joined = joined && to[j] == to[0] + j;
  }
  return joined;
}

static void locate_depth(tile *t, int64_t matrix, int64_t from, int64_t n)
{
  const bool gathers = t->from_a.stride != 0 || t->from_b.stride != 0;

  if (t->depth == from && (!gathers || t->matrix == matrix)) {
    return;
  }
  t->a_joined = packed_locate(t->f, &t->f->depth, &t->a, from, n, t->r.a_depth);
  (void)packed_locate(t->f, &t->f->depth, &t->b, from, n, t->r.b_depth);
  t->depth = from;
  t->matrix = matrix;
  if (t->from_a.stride != 0) {
    t->a_joined = add_gathered(t, &t->from_a, matrix, from, n, t->r.a_depth);
  }
  if (t->from_b.stride != 0) {
    (void)add_gathered(t, &t->from_b, matrix, from, n, t->r.b_depth);
  }
}

/* Whether elements of m rows and n columns fill the memory between the first and the last. */
static bool fills(const int64_t *row, int64_t m, const int64_t *column, int64_t n)
{
  return row[m - 1] - row[0] + column[n - 1] - column[0] == m * n - 1;
}

/* The tile of one matrix; `next` comes after it, or is the same. */
static void sum_item(tile *t, const item *now, const item *next)
{
  const packed_form *f = t->f;
  const packed_kernels *k = f->kernels;
  const int64_t unit = k->lanes * k->vectors;

  const int64_t block = block_of(f);

  for (int64_t d = 0; d < f->depth.count; d += block) {
    const int64_t depth = packed_min(f->depth.count - d, block);

    locate_depth(t, now->number, d, depth);
    t->next = packed_min(f->depth.count - d - depth, block);
    if (t->next > 0) {
      (void)packed_locate(f, &f->depth, &t->b, d + depth, t->next, t->r.b_next);
    }
    for (int64_t j = 0; j < t->columns; j += unit) {
      const int64_t left = packed_min(t->columns - j, unit),
                    width = left > k->lanes ? unit : k->lanes;
      const packed_from b = {now->b, t->r.b_depth, t->r.b_column + j, depth, left, t->b_joined};

      k->pack_b(t->r.b + j * depth * f->size, &b, width, f->conj_b);
    }
    sum_rows(t, now, next, depth, d > 0);
  }
}

void packed_run(const packed_form *f, const weir_view *views, int64_t piece, void *scratch)
{
  const int64_t chunk = piece / (f->down * f->across), in = piece % (f->down * f->across);
  const int64_t row = in / f->across * f->tile_rows, column = in % f->across * f->tile_columns;
  tile t = {.f = f,
            .a = packed_array_of(f, &f->map[f->a], &views[f->a]),
            .b = packed_array_of(f, &f->map[1 - f->a], &views[1 - f->a]),
            .c = packed_array_of(f, &f->map[2], &views[2]),
            .from_a = packed_source_of(f, f->a, views),
            .from_b = packed_source_of(f, 1 - f->a, views),
            .row = row,
            .rows = packed_min(f->rows.count - row, f->tile_rows),
            .column = column,
            .columns = packed_min(f->columns.count - column, f->tile_columns),
            .depth = -1};

  (void)workspace_of(f, (char *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63), &t.r);
  (void)packed_locate(f, &f->rows, &t.a, t.row, t.rows, t.r.a_row);
  (void)packed_locate(f, &f->rows, &t.c, t.row, t.rows, t.r.c_row);
  t.b_joined = packed_locate(f, &f->columns, &t.b, t.column, t.columns, t.r.b_column);
  t.c_joined = packed_locate(f, &f->columns, &t.c, t.column, t.columns, t.r.c_column);
  const int64_t first = chunk * f->items, end = packed_min(first + f->items, f->stack.count);
  item now = item_of(&t, first);

  if (end - first > 1 && f->depth.count <= DEPTH) {
    locate_depth(&t, first, 0, f->depth.count);
    t.dense[0] = fills(t.r.a_row, t.rows, t.r.a_depth, f->depth.count);
    t.dense[1] = fills(t.r.b_depth, f->depth.count, t.r.b_column, t.columns);
    t.dense[2] = fills(t.r.c_row, t.rows, t.r.c_column, t.columns);
  }
  for (int64_t i = first; i < end; i++) {
    const item next = i + 1 < end ? item_of(&t, i + 1) : now;

    sum_item(&t, &now, &next);
    now = next;
  }
}
