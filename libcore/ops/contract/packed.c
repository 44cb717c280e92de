/* packed.c - see packed.h. */
#include "ops/contract/packed.h"

#include <string.h>

#include "device/weir_parallel.h"
#include "ops/contract/product.h"

/* Elements of a tile of C and of the sums that are packed at a time, at most: a block of B takes
 * 384 KiB in c128. */
enum { TILE_ROWS = 96, TILE_COLUMNS = 128, DEPTH = 192 };
/* Complex multiplications of a piece, at least: about 50 microseconds. */
static const int64_t piece_work = 1 << 18;

static const packed_kernels *kernels_get(weir_dtype dtype)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return dtype == WEIR_C64 ? &weir_packed_c64_avx512 : &weir_packed_c128_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return dtype == WEIR_C64 ? &weir_packed_c64_avx2 : &weir_packed_c128_avx2;
  }
#endif
  (void)dtype;
  return NULL;
}

/* ---- Form ---- */

/* No border or division, and at most `gathers` gathered indices: where an element lies is a linear
 * function of the iteration and these. */
static bool is_linear(const weir_access *a, const weir_operand *o, int gathers)
{
  const weir_box whole = weir_iterations(a);
  bool linear = true;

  for (int d = 0; d < o->rank && linear; d++) {
    const weir_index *x = &o->index[d];
    int64_t from = 0, to = 0;

    gathers -= x->gather > 0;
    linear = weir_index_divisor(x) == 1 && gathers >= 0;
    if (linear) {
      weir_index_range(x, &whole, &from, &to);
    }
    linear = linear && from >= 0 && to < o->extent[d];
  }
  return linear;
}

/* What is needed of an access, which plans drop before they run. */
static packed_map map_of(const weir_access *a, const weir_operand *o)
{
  packed_map m = {.rank = o->rank};

  for (int d = 0; d < o->rank; d++) {
    m.first[d] = o->index[d].offset;
    for (int k = 0; k < a->n_dims; k++) {
      m.coef[d][k] = o->index[d].coef[k];
      m.first[d] += m.coef[d][k] * a->dim[k].lo;
    }
  }
  return m;
}

static bool map_uses(const packed_map *m, int label)
{
  bool some = false;

  for (int d = 0; d < m->rank; d++) {
    some = some || m->coef[d][label] != 0;
  }
  return some;
}

static bool uses(const packed_form *f, int operand, int label)
{
  const packed_gather *g = &f->gather[operand];

  return map_uses(&f->map[operand], label) || (g->dim >= 0 && map_uses(&g->map, label));
}

static void add_label(const packed_form *f, packed_labels *l, int label)
{
  l->label[l->n++] = label;
  l->count *= f->extent[label];
}

/* Every dimension of the output is a label of its own, and what it lacks is summed over. */
static bool is_whole(const weir_access *a)
{
  const weir_operand *c = &a->out[0];
  int kept = 0;

  for (int d = 0; d < c->rank; d++) {
    bool own = false;

    for (int k = 0; k < a->n_dims; k++) {
      own = own || (c->index[d].coef[k] == 1 && a->dim[k].kind == WEIR_PARALLEL);
      kept += c->index[d].coef[k] != 0;
    }
    if (!own) {
      return false;
    }
  }
  for (int k = 0; k < a->n_dims; k++) {
    const bool reduced = a->dim[k].kind == WEIR_REDUCED;

    kept += reduced;
    if (a->dim[k].time || a->dim[k].hi <= a->dim[k].lo) {
      return false;
    }
  }
  return kept == a->n_dims;
}

/* Labels of the output, dimension by dimension, then those that are summed over. */
static void sort_labels(packed_form *f, int a)
{
  bool kept[WEIR_MAX_DIMS] = {false};

  f->a = a;
  f->stack = f->rows = f->columns = f->depth = (packed_labels){.count = 1};
  for (int d = 0; d < f->map[2].rank; d++) {
    for (int k = 0; k < f->n_labels; k++) {
      const bool first = uses(f, a, k), second = uses(f, 1 - a, k);

      if (f->map[2].coef[d][k] != 0) {
        add_label(f, first && second ? &f->stack : second ? &f->columns : &f->rows, k);
        kept[k] = true;
      }
    }
  }
  for (int k = 0; k < f->n_labels; k++) {
    if (!kept[k]) {
      add_label(f, &f->depth, k);
    }
  }
}

/* Share of the lanes that hold numbers of C. */
static double use_of_lanes(const packed_form *f)
{
  const int64_t lanes = f->kernels->lanes, n = f->columns.count;

  return (double)n / (double)((n + lanes - 1) / lanes * lanes);
}

/* The last dimension of C is one of the columns: what is stored lies together. */
static bool is_joined(const packed_form *f)
{
  const packed_map *c = &f->map[2];

  return f->columns.n > 0 && c->coef[c->rank - 1][f->columns.label[f->columns.n - 1]] != 0;
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t parts(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* Tiles of about one size; where one holds a matrix, a piece has several matrices. */
static void cut(packed_form *f)
{
  const int64_t m = f->rows.count, n = f->columns.count, k = f->depth.count;
  const int64_t unit = f->kernels->lanes * f->kernels->vectors;

  /* Of large matrices B is packed less often, while tiles are enough for many threads. */
  const int64_t most = least(4 * TILE_ROWS, m * parts(n, TILE_COLUMNS) / 32);

  f->down = parts(m, most > TILE_ROWS ? most : TILE_ROWS);
  f->tile_rows = least(m, parts(parts(m, f->down), PACKED_ROWS) * PACKED_ROWS);
  f->down = parts(m, f->tile_rows);
  f->across = parts(n, TILE_COLUMNS);
  f->tile_columns = least(n, parts(parts(n, f->across), unit) * unit);
  f->across = parts(n, f->tile_columns);
  f->items = f->down * f->across > 1 ? 1 : parts(piece_work, m * n * least(k, piece_work));
  f->items = least(f->items, f->stack.count);
  f->chunks = parts(f->stack.count, f->items);
}

/* Notes where indices of the operands are gathered from; false where that is no array of its own.
 */
static bool find_gathers(const weir_access *a, packed_form *f)
{
  int views = 3;

  for (int i = 0; i < 2; i++) {
    const weir_operand *o = &a->in[f->operand[i]];

    f->gather[i] = (packed_gather){.dim = -1};
    f->index[i] = -1;
    for (int d = 0; d < o->rank; d++) {
      const int from = o->index[d].gather - 1;

      if (from < 0) {
        continue;
      }
      if (!is_linear(a, &a->in[from], 0)) {
        return false;
      }
      f->index[i] = from;
      f->gather[i] = (packed_gather){.dim = d, .view = views++, .map = map_of(a, &a->in[from])};
    }
  }
  return true;
}

/* Rows and columns lie where they do in every matrix, whatever is gathered. */
static bool gathers_apart(const packed_form *f)
{
  const packed_labels *const sides[] = {&f->rows, &f->columns};

  for (int i = 0; i < 4; i++) {
    const packed_gather *g = &f->gather[i / 2];

    for (int k = 0; k < sides[i % 2]->n && g->dim >= 0; k++) {
      if (map_uses(&g->map, sides[i % 2]->label[k])) {
        return false;
      }
    }
  }
  return true;
}

static void choose_sides(packed_form *f)
{
  sort_labels(f, 1);
  const bool second_joined = is_joined(f);
  const double second = use_of_lanes(f);

  sort_labels(f, 0);
  if (second_joined ? 2 * second > use_of_lanes(f) : second > 2 * use_of_lanes(f)) {
    sort_labels(f, 1);
  }
}

bool packed_form_of(const weir_access *a, packed_form *f)
{
  contract_product p;

  if (!contract_product_of(a, &p) || !weir_dtype_is_complex(a->out[0].dtype) || !is_whole(a) ||
      !is_linear(a, &a->in[p.operand[0]], 1) || !is_linear(a, &a->in[p.operand[1]], 1) ||
      !is_linear(a, &a->out[0], 0)) {
    return false;
  }
  *f = (packed_form){.operand = {p.operand[0], p.operand[1]},
                     .n_labels = a->n_dims,
                     .map = {map_of(a, &a->in[p.operand[0]]), map_of(a, &a->in[p.operand[1]]),
                             map_of(a, &a->out[0])},
                     .size = (int64_t)weir_dtype_size(a->out[0].dtype),
                     .kernels = kernels_get(a->out[0].dtype)};
  if (f->kernels == NULL || !find_gathers(a, f)) {
    return false;
  }
  for (int k = 0; k < a->n_dims; k++) {
    f->extent[k] = a->dim[k].hi - a->dim[k].lo;
  }
  choose_sides(f);
  f->conj_b = p.conj[0] != p.conj[1];
  f->conj_c = p.conj[f->a];
  cut(f);
  return gathers_apart(f);
}

double packed_work(const packed_form *f)
{
  return (double)f->stack.count * (double)f->rows.count * (double)f->columns.count *
         (double)f->depth.count / use_of_lanes(f);
}

/* ---- Run ---- */

/* The k that are packed at a time: as many for each block, about. */
static int64_t block_of(const packed_form *f)
{
  return parts(f->depth.count, parts(f->depth.count, DEPTH));
}

int64_t packed_pieces(const packed_form *f)
{
  return f->down * f->across * f->chunks;
}

/* What a thread holds: where rows, columns and k of a tile lie in A, B and C; packed panels. */
typedef struct room {
  int64_t *a_row, *c_row, *b_column, *c_column, *a_depth, *b_depth, *b_next, *gathered;
  char *block, *a, *b; /* 64-byte aligned */
} room;

static int64_t place(char *memory, int64_t *at, int64_t bytes, void *to)
{
  char *here = memory == NULL ? NULL : memory + *at;

  memcpy(to, &here, sizeof here);
  *at += (bytes + 63) / 64 * 64;
  return *at;
}

/* Returns bytes. */
static int64_t room_of(const packed_form *f, char *memory, room *r)
{
  const int64_t size = f->size, each = sizeof(int64_t);
  const int64_t unit = f->kernels->lanes * f->kernels->vectors;
  const int64_t depth = block_of(f), wide = parts(f->tile_columns, unit) * unit;
  int64_t at = 0;

  (void)place(memory, &at, f->tile_rows * each, &r->a_row);
  (void)place(memory, &at, f->tile_rows * each, &r->c_row);
  (void)place(memory, &at, f->tile_columns * each, &r->b_column);
  (void)place(memory, &at, f->tile_columns * each, &r->c_column);
  (void)place(memory, &at, depth * each, &r->a_depth);
  (void)place(memory, &at, depth * each, &r->b_depth);
  (void)place(memory, &at, depth * each, &r->b_next);
  (void)place(memory, &at, depth * each, &r->gathered);
  (void)place(memory, &at, PACKED_ROWS * unit * size, &r->block);
  (void)place(memory, &at, PACKED_ROWS * depth * size, &r->a);
  return place(memory, &at, depth * wide * size, &r->b);
}

int64_t packed_scratch(const packed_form *f)
{
  room r;

  return room_of(f, NULL, &r) + 64;
}

/* An array as the product sees it: its first element, and elements from one to the next of every
 * label. */
typedef struct array {
  char *data;
  int64_t step[WEIR_MAX_DIMS];
} array;

static array array_of(const packed_form *f, const packed_map *m, const weir_view *v)
{
  array x = {.data = v->data};

  for (int d = 0; d < m->rank; d++) {
    for (int k = 0; k < f->n_labels; k++) {
      x.step[k] += m->coef[d][k] * v->stride[d];
    }
    x.data += (m->first[d] - v->origin[d]) * v->stride[d] * (int64_t)weir_dtype_size(v->dtype);
  }
  return x;
}

/* Where the indices [from, from + n) of these labels lie in x; true when one behind the other. */
static bool locate(const packed_form *f, const packed_labels *l, const array *x, int64_t from,
                   int64_t n, int64_t *to)
{
  int64_t digit[WEIR_MAX_DIMS] = {0}, at = 0, rest = from;
  bool joined = true;

  for (int i = l->n - 1; i >= 0; i--) {
    digit[i] = rest % f->extent[l->label[i]];
    rest /= f->extent[l->label[i]];
    at += digit[i] * x->step[l->label[i]];
  }
  for (int64_t j = 0; j < n; j++) {
    to[j] = at;
    joined = joined && at == to[0] + j;
    for (int i = l->n - 1; i >= 0; i--) {
      at += x->step[l->label[i]];
      if (++digit[i] < f->extent[l->label[i]]) {
        break;
      }
      at -= digit[i] * x->step[l->label[i]];
      digit[i] = 0;
    }
  }
  return joined;
}

/* What the indices of one side are gathered from; `stride`: elements of the side for each that an
 * index is greater, 0: it gathers nothing. */
typedef struct source {
  array index;
  weir_dtype dtype;
  int64_t stride;
} source;

static source source_of(const packed_form *f, int operand, const weir_view *views)
{
  const packed_gather *g = &f->gather[operand];

  if (g->dim < 0) {
    return (source){.stride = 0};
  }
  return (source){array_of(f, &g->map, &views[g->view]), views[g->view].dtype,
                  views[operand].stride[g->dim]};
}

/* One tile of C: its begin and extents. */
typedef struct tile {
  const packed_form *f;
  array a, b, c;
  source from_a, from_b;
  room r;
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
  const int64_t panels = parts(t->rows, PACKED_ROWS), size = t->f->size;
  const int64_t row = t->rows * (p + 1) / panels;
  const int64_t rows = p + 1 < panels && t->a_joined ? t->rows * (p + 2) / panels - row : 0;
  const int64_t k = t->next * p / panels, ks = t->b_joined ? t->next * (p + 1) / panels - k : 0;

  return z < rows        ? now->a + (t->r.a_row[row + z] + t->r.a_depth[0]) * size
         : z < rows + ks ? now->b + (t->r.b_next[k + z - rows] + t->r.b_column[0]) * size
                         : NULL;
}

/* What register block j of panel p brings nearer: where the tile is a matrix without gaps, a part
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
  int64_t q = p * parts(t->columns, t->f->kernels->lanes * t->f->kernels->vectors) + j;

  to->step = size;
  for (int i = 0; i < 3 && q >= 0; i++) {
    if (q < parts(bytes[i], slot)) {
      one = from[i] + q * slot;
      two = one + 64;
      to->step = 128;
    }
    q -= parts(bytes[i], slot);
  }
  to->ahead[0] = one != NULL ? one : to->a;
  to->ahead[1] = two != NULL ? two : to->a;
}

/* All rows of the tile by the k of one block, whose columns are packed. */
static void sum_rows(const tile *t, const item *now, const item *next, int64_t depth, bool add)
{
  const packed_kernels *k = t->f->kernels;
  const int64_t unit = k->lanes * k->vectors, panels = parts(t->rows, PACKED_ROWS);

  for (int64_t p = 0; p < panels; p++) {
    const int64_t i = t->rows * p / panels, n = t->rows * (p + 1) / panels - i;
    const packed_from a = {now->a, t->r.a_row + i, t->r.a_depth, n, depth, t->a_joined};

    k->pack_a(t->r.a, &a);
    for (int64_t j = 0; j < t->columns; j += unit) {
      const int64_t left = least(t->columns - j, unit), width = left > k->lanes ? unit : k->lanes;
      const packed_to c = {now->c, t->r.c_row + i, t->r.c_column + j, n,
                           left,   t->c_joined,    t->f->conj_c,      add};
      packed_panels panel = {.a = t->r.a, .b = t->r.b + j * depth * t->f->size, .depth = depth};

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

  (void)locate(f, &f->stack, &t->a, number, 1, &a);
  (void)locate(f, &f->stack, &t->b, number, 1, &b);
  (void)locate(f, &f->stack, &t->c, number, 1, &c);
  return (item){number, t->a.data + a * f->size, t->b.data + b * f->size, t->c.data + c * f->size};
}

/* Adds to where the k [from, from + n) lie in a side what it gathers there, of one matrix; true
 * when one lies behind the other. */
static bool add_gathered(const tile *t, const source *s, int64_t matrix, int64_t from, int64_t n,
                         int64_t *to)
{
  bool joined = true;
  int64_t at;

  (void)locate(t->f, &t->f->stack, &s->index, matrix, 1, &at);
  (void)locate(t->f, &t->f->depth, &s->index, from, n, t->r.gathered);
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
  t->a_joined = locate(t->f, &t->f->depth, &t->a, from, n, t->r.a_depth);
  (void)locate(t->f, &t->f->depth, &t->b, from, n, t->r.b_depth);
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
    const int64_t depth = least(f->depth.count - d, block);

    locate_depth(t, now->number, d, depth);
    t->next = least(f->depth.count - d - depth, block);
    if (t->next > 0) {
      (void)locate(f, &f->depth, &t->b, d + depth, t->next, t->r.b_next);
    }
    for (int64_t j = 0; j < t->columns; j += unit) {
      const int64_t left = least(t->columns - j, unit), width = left > k->lanes ? unit : k->lanes;
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
            .a = array_of(f, &f->map[f->a], &views[f->a]),
            .b = array_of(f, &f->map[1 - f->a], &views[1 - f->a]),
            .c = array_of(f, &f->map[2], &views[2]),
            .from_a = source_of(f, f->a, views),
            .from_b = source_of(f, 1 - f->a, views),
            .row = row,
            .rows = least(f->rows.count - row, f->tile_rows),
            .column = column,
            .columns = least(f->columns.count - column, f->tile_columns),
            .depth = -1};

  (void)room_of(f, (char *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63), &t.r);
  (void)locate(f, &f->rows, &t.a, t.row, t.rows, t.r.a_row);
  (void)locate(f, &f->rows, &t.c, t.row, t.rows, t.r.c_row);
  t.b_joined = locate(f, &f->columns, &t.b, t.column, t.columns, t.r.b_column);
  t.c_joined = locate(f, &f->columns, &t.c, t.column, t.columns, t.r.c_column);
  const int64_t first = chunk * f->items, end = least(first + f->items, f->stack.count);
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
