/* sliding.c - see sliding.h. */
#include "ops/contract/sliding.h"

#include <string.h>

#include "device/weir_parallel.h"

/* Outputs of a piece along x; bytes of its window and sums; sums over k that are located at a time.
 */
enum { TILE = 64, PIECE_BYTES = 1 << 16, DEPTH = 64 };

static const sliding_kernels *kernels_get(weir_dtype dtype)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return dtype == WEIR_C64 ? &weir_sliding_c64_avx512 : &weir_sliding_c128_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return dtype == WEIR_C64 ? &weir_sliding_c64_avx2 : &weir_sliding_c128_avx2;
  }
#endif
  (void)dtype;
  return NULL;
}

/* ---- Form ---- */

/* The positions x + slope y of B; 0: there are none, for x and y are not read so. */
static int64_t slope_of(const packed_form *f, int x, int y)
{
  const packed_map *b = &f->map[1 - f->a];
  int64_t slope = 0;

  for (int d = 0; d < b->rank; d++) {
    const int64_t across = b->coef[d][x], along = b->coef[d][y];

    if (across == 0 && along == 0) {
      continue;
    }
    if (slope != 0 || across == 0 || along == 0 || along % across != 0) {
      return 0;
    }
    slope = along / across;
  }
  for (int i = 0; i < 2; i++) {
    const packed_gather *g = &f->gather[i];

    slope = g->dim >= 0 && (packed_map_uses(&g->map, x) || packed_map_uses(&g->map, y)) ? 0 : slope;
  }
  return slope;
}

static int64_t size_of(int64_t a)
{
  return a < 0 ? -a : a;
}

/* Pairs of x and y that read a position, on the average. */
static double reuse_of(const packed_form *f, int x, int y, int64_t slope)
{
  const double outputs = (double)f->extent[x], taps = (double)f->extent[y];

  return outputs * taps / (outputs + (double)size_of(slope) * (taps - 1));
}

static void add_label(const packed_form *f, packed_labels *l, int label)
{
  l->label[l->n++] = label;
  l->count *= f->extent[label];
}

static packed_labels without(const packed_form *f, const packed_labels *l, int label)
{
  packed_labels rest = {.count = 1};

  for (int i = 0; i < l->n; i++) {
    if (l->label[i] != label) {
      add_label(f, &rest, l->label[i]);
    }
  }
  return rest;
}

/* What is summed over beside y: by labels that B has and by those that it does not have. */
static void set_depth(sliding_form *s)
{
  const packed_form *f = &s->product;
  const packed_labels all = without(f, &f->depth, s->summed);

  s->depth = s->merging = (packed_labels){.count = 1};
  for (int has = 1; has >= 0; has--) {
    for (int i = 0; i < all.n; i++) {
      if (packed_uses(f, 1 - f->a, all.label[i]) == (has == 1)) {
        add_label(f, &s->merging, all.label[i]);
      }
    }
    s->depth = has == 1 ? s->merging : s->depth;
  }
  s->merged = s->merging.count / s->depth.count;
}

/* Tiles of about one size; as many strips as fit a piece. */
static void set_tiles(sliding_form *s)
{
  const int64_t unit = s->kernels->outputs, lanes = s->kernels->lanes;
  const int64_t n = s->n_outputs, strips = packed_ceil_div(s->columns.count, lanes);

  s->tiles = packed_ceil_div(n, TILE);
  s->tile = packed_ceil_div(packed_ceil_div(n, s->tiles), unit) * unit;
  s->tiles = packed_ceil_div(n, s->tile);
  s->positions = s->tile + size_of(s->slope) * (s->n_taps - 1);
  const int64_t fit = PIECE_BYTES / ((s->tile + s->positions) * lanes * s->product.size);

  s->chunks = packed_ceil_div(strips, fit > 1 ? fit : 1);
  s->strips = packed_ceil_div(strips, s->chunks);
  s->chunks = packed_ceil_div(strips, s->strips);
}

/* With the sides as they are: the two labels with the most reuse. */
static bool find_labels(sliding_form *s)
{
  const packed_form *f = &s->product;
  double max = 0;

  for (int i = 0; i < f->columns.n; i++) {
    for (int j = 0; j < f->depth.n; j++) {
      const int x = f->columns.label[i], y = f->depth.label[j];
      const int64_t slope = slope_of(f, x, y);

      if (slope != 0 && reuse_of(f, x, y, slope) > max) {
        max = reuse_of(f, x, y, slope);
        s->kept = x;
        s->summed = y;
        s->slope = slope;
      }
    }
  }
  return max >= 2;
}

bool sliding_form_of(const weir_access *a, sliding_form *s)
{
  *s = (sliding_form){.slope = 0};
  packed_form *f = &s->product;
  bool found = false;

  if (!packed_form_of(a, f)) {
    return false;
  }
  for (int i = 0; i < 2 && !found; i++) {
    found = packed_form_turn(f, i) && f->rows.count == 1 && find_labels(s);
  }
  if (!found) {
    return false;
  }
  s->kernels = kernels_get(a->out[0].dtype);
  s->n_outputs = f->extent[s->kept];
  s->n_taps = f->extent[s->summed];
  s->columns = without(f, &f->columns, s->kept);
  set_depth(s);
  set_tiles(s);
  return true;
}

/* All that is made: whole strips and tiles. */
static double made(const sliding_form *s)
{
  return (double)s->product.stack.count * (double)s->depth.count * (double)s->tiles *
         (double)(packed_ceil_div(s->columns.count, s->kernels->lanes) * s->kernels->lanes);
}

double sliding_work(const sliding_form *s)
{
  return made(s) * (double)s->tile * (double)s->n_taps;
}

double sliding_moves(const sliding_form *s)
{
  return made(s) * (double)(s->positions + s->tile);
}

/* ---- Run ---- */

int64_t sliding_pieces(const sliding_form *s)
{
  return s->product.stack.count * s->chunks * s->tiles;
}

/* What a thread holds: where columns, k and taps lie; planar numbers. 64-byte aligned. */
typedef struct workspace {
  int64_t *b_column, *c_column, *a_depth, *b_depth, *a_tap;
  char *taps, *window, *sums;
} workspace;

static void bump_alloc(char *memory, int64_t *at, int64_t bytes, void *to)
{
  char *here = memory == NULL ? NULL : memory + *at;

  memcpy(to, &here, sizeof here);
  *at += (bytes + 63) / 64 * 64;
}

/* Returns bytes. */
static int64_t workspace_of(const sliding_form *s, char *memory, workspace *r)
{
  const int64_t each = sizeof(int64_t), size = s->product.size;
  const int64_t columns = s->strips * s->kernels->lanes;
  int64_t at = 0;

  bump_alloc(memory, &at, columns * each, &r->b_column);
  bump_alloc(memory, &at, columns * each, &r->c_column);
  bump_alloc(memory, &at, DEPTH * each, &r->a_depth);
  bump_alloc(memory, &at, DEPTH * each, &r->b_depth);
  bump_alloc(memory, &at, s->n_taps * each, &r->a_tap);
  bump_alloc(memory, &at, s->n_taps * size, &r->taps);
  bump_alloc(memory, &at, columns * s->positions * size, &r->window);
  bump_alloc(memory, &at, columns * s->tile * size, &r->sums);
  return at;
}

int64_t sliding_scratch(const sliding_form *s)
{
  workspace r;

  return workspace_of(s, NULL, &r) + 64;
}

/* Where the indices [from, from + n) of these labels lie in a side of the matrix. */
static void locate_side(const sliding_form *s, const packed_labels *labels, int operand,
                        const weir_view *views, int64_t matrix, int64_t from, int64_t n,
                        int64_t *to)
{
  const packed_form *f = &s->product;
  const packed_array x = packed_array_of(f, &f->map[operand], &views[operand]);
  const packed_source g = packed_source_of(f, operand, views);
  int64_t first, stack, depth;

  (void)packed_locate(f, &f->stack, &x, matrix, 1, &first);
  (void)packed_locate(f, labels, &x, from, n, to);
  for (int64_t j = 0; j < n; j++) {
    to[j] += first;
    if (g.stride != 0) {
      (void)packed_locate(f, &f->stack, &g.index, matrix, 1, &stack);
      (void)packed_locate(f, labels, &g.index, from + j, 1, &depth);
      to[j] += weir_dtype_load_int(g.dtype, g.index.data, stack + depth) * g.stride;
    }
  }
}

/* A piece: its begin and extents. */
typedef struct sliding_piece {
  const sliding_form *s;
  packed_array a, b, c;
  workspace r;
  int64_t matrix, column, output, outputs;
  sliding_strips from, to;
} sliding_piece;

/* Positions that the piece reads, from the first on. */
static int64_t first_position(const sliding_piece *p)
{
  return p->output + (p->s->slope < 0 ? p->s->slope * (p->s->n_taps - 1) : 0);
}

/* Taps of this k: sums over q. */
static void sum_taps(const sliding_piece *p, const weir_view *views, int64_t k)
{
  const sliding_form *s = p->s;

  for (int64_t q = 0; q < s->merged; q += DEPTH) {
    const int64_t n = packed_min(s->merged - q, DEPTH);

    locate_side(s, &s->merging, s->product.a, views, p->matrix, k * s->merged + q, n, p->r.a_depth);
    for (int64_t j = 0; j < n; j++) {
      s->kernels->merge(p->r.taps, p->a.data + p->r.a_depth[j] * s->product.size, p->r.a_tap,
                        s->n_taps, q + j == 0);
    }
  }
}

/* next: B of the k that comes after this one. */
static void sum_strips(const sliding_piece *p, const char *b, const char *next)
{
  const sliding_form *s = p->s;
  const int64_t size = s->product.size, lanes = s->kernels->lanes;
  const int64_t first = p->output - first_position(p);

  s->kernels->pack(p->r.window, b + first_position(p) * p->from.step * size, &p->from);
  for (int64_t i = 0; i < packed_ceil_div(p->from.columns, lanes); i++) {
    const sliding_sums sums = {
        .window = p->r.window + (i * s->positions + first) * lanes * size,
        .taps = p->r.taps,
        .sums = p->r.sums + i * s->tile * lanes * size,
        .blocks = packed_ceil_div(p->outputs, s->kernels->outputs),
        .n_taps = s->n_taps,
        .slope = s->slope,
        .ahead = next + (first_position(p) * p->from.step + p->from.column[i * lanes]) * size,
        .n_ahead = p->from.positions,
        .step_bytes = p->from.step * size,
    };

    s->kernels->sum(&sums);
  }
}

static void sum_piece(const sliding_piece *p, const weir_view *views)
{
  const sliding_form *s = p->s;
  const packed_form *f = &s->product;

  for (int64_t d = 0; d < s->depth.count; d += DEPTH) {
    const int64_t n = packed_min(s->depth.count - d, DEPTH);

    locate_side(s, &s->depth, 1 - f->a, views, p->matrix, d, n, p->r.b_depth);
    for (int64_t j = 0; j < n; j++) {
      const char *b = p->b.data + p->r.b_depth[j] * f->size;
      const char *next = j + 1 < n ? p->b.data + p->r.b_depth[j + 1] * f->size : b;

      sum_taps(p, views, d + j);
      sum_strips(p, b, next);
    }
  }
}

static sliding_piece piece_of(const sliding_form *s, const weir_view *views, int64_t piece,
                              void *scratch)
{
  const packed_form *f = &s->product;
  const int64_t lanes = s->kernels->lanes;
  sliding_piece p = {.s = s,
                     .a = packed_array_of(f, &f->map[f->a], &views[f->a]),
                     .b = packed_array_of(f, &f->map[1 - f->a], &views[1 - f->a]),
                     .c = packed_array_of(f, &f->map[2], &views[2]),
                     .matrix = piece / s->tiles / s->chunks,
                     .column = piece / s->tiles % s->chunks * s->strips * lanes,
                     .output = piece % s->tiles * s->tile};

  (void)workspace_of(s, (char *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63), &p.r);
  const int64_t n = packed_min(s->columns.count - p.column, s->strips * lanes);

  p.outputs = packed_min(s->n_outputs - p.output, s->tile);
  p.from = (sliding_strips){
      .column = p.r.b_column,
      .columns = n,
      .step = p.b.step[s->kept],
      .positions = p.outputs + size_of(s->slope) * (s->n_taps - 1),
      .pitch = 2 * s->positions * lanes,
      .joined = packed_locate(f, &s->columns, &p.b, p.column, n, p.r.b_column),
      .conj = f->conj_b,
  };
  p.to = (sliding_strips){
      .column = p.r.c_column,
      .columns = n,
      .step = p.c.step[s->kept],
      .positions = p.outputs,
      .pitch = 2 * s->tile * lanes,
      .joined = packed_locate(f, &s->columns, &p.c, p.column, n, p.r.c_column),
      .conj = f->conj_c,
  };
  return p;
}

void sliding_run(const sliding_form *s, const weir_view *views, int64_t piece, void *scratch)
{
  const packed_form *f = &s->product;
  const sliding_piece p = piece_of(s, views, piece, scratch);
  const int64_t numbers = s->strips * s->kernels->lanes * f->size;
  const packed_labels taps = {.n = 1, .label = {s->summed}, .count = s->n_taps};
  int64_t matrix;

  memset(p.r.window, 0, (size_t)(numbers * s->positions)); /* beyond what is read, too */
  memset(p.r.sums, 0, (size_t)(numbers * s->tile));
  (void)packed_locate(f, &taps, &p.a, 0, s->n_taps, p.r.a_tap);
  (void)packed_locate(f, &f->stack, &p.c, p.matrix, 1, &matrix);
  sum_piece(&p, views);
  s->kernels->store(p.c.data + (matrix + p.output * p.to.step) * f->size, p.r.sums, &p.to);
}
