/* packed_form.c - see packed.h: which sums of products the packed kernels make, and in which tiles.
 */
#include "device/weir_parallel.h"
#include "ops/contract/packed.h"
#include "ops/contract/product.h"

/* Elements of a tile of C, at most. */
enum { TILE_ROWS = 96, TILE_COLUMNS = 128 };
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

bool packed_map_uses(const packed_map *m, int label)
{
  bool some = false;

  for (int d = 0; d < m->rank; d++) {
    some = some || m->coef[d][label] != 0;
  }
  return some;
}

bool packed_uses(const packed_form *f, int operand, int label)
{
  const packed_gather *g = &f->gather[operand];

  return packed_map_uses(&f->map[operand], label) ||
         (g->dim >= 0 && packed_map_uses(&g->map, label));
}

static void add_label(const packed_form *f, packed_labels *l, int label)
{
  l->label[l->n++] = label;
  l->count *= f->extent[label];
}

/* Every dimension of the output is a separate label, and what it lacks is summed over. */
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
      const bool first = packed_uses(f, a, k), second = packed_uses(f, 1 - a, k);

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

/* Tiles of about one size; where one holds a matrix, a piece has several matrices. */
static void set_tiles(packed_form *f)
{
  const int64_t m = f->rows.count, n = f->columns.count, k = f->depth.count;
  const int64_t unit = f->kernels->lanes * f->kernels->vectors;

  /* Of large matrices B is packed less often, while tiles are enough for many threads. */
  const int64_t max =
      packed_min(4 * TILE_ROWS, m * packed_ceil_div(n, TILE_COLUMNS) * f->stack.count / 32);

  f->down = packed_ceil_div(m, max > TILE_ROWS ? max : TILE_ROWS);
  f->tile_rows =
      packed_min(m, packed_ceil_div(packed_ceil_div(m, f->down), PACKED_ROWS) * PACKED_ROWS);
  f->down = packed_ceil_div(m, f->tile_rows);
  f->across = packed_ceil_div(n, TILE_COLUMNS);
  f->tile_columns = packed_min(n, packed_ceil_div(packed_ceil_div(n, f->across), unit) * unit);
  f->across = packed_ceil_div(n, f->tile_columns);
  f->items =
      f->down * f->across > 1 ? 1 : packed_ceil_div(piece_work, m * n * packed_min(k, piece_work));
  f->items = packed_min(f->items, f->stack.count);
  f->chunks = packed_ceil_div(f->stack.count, f->items);
}

/* Notes where indices of the operands are gathered from; false where that is not a separate array.
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
      if (packed_map_uses(&g->map, sides[i % 2]->label[k])) {
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

bool packed_form_turn(packed_form *f, int a)
{
  sort_labels(f, a);
  f->conj_c = f->conj[a];
  set_tiles(f);
  return gathers_apart(f);
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
  f->conj_b = p.conj[0] != p.conj[1];
  f->conj[0] = p.conj[0];
  f->conj[1] = p.conj[1];
  choose_sides(f);
  return packed_form_turn(f, f->a);
}

double packed_work(const packed_form *f)
{
  return (double)f->stack.count * (double)f->rows.count * (double)f->columns.count *
         (double)f->depth.count / use_of_lanes(f);
}

double packed_moves(const packed_form *f)
{
  return (double)f->stack.count * (double)f->down * (double)f->columns.count *
         (double)f->depth.count;
}
