/* lu.c - see weir_lu.h. */
#include "ops/weir_lu.h"

#include <string.h>

#include "device/weir_parallel.h"
#include "ops/lu_priv.h"
#include "ops/solve/weir_solve.h"

static const lu_kernels *kernels_get(weir_dtype dtype)
{
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512) {
    return dtype == WEIR_F32   ? &weir_lu_f32_avx512
           : dtype == WEIR_F64 ? &weir_lu_f64_avx512
           : dtype == WEIR_C64 ? &weir_lu_c64_avx512
                               : &weir_lu_c128_avx512;
  }
  if (cpu->avx2 && cpu->fma) {
    return dtype == WEIR_F32   ? &weir_lu_f32_avx2
           : dtype == WEIR_F64 ? &weir_lu_f64_avx2
           : dtype == WEIR_C64 ? &weir_lu_c64_avx2
                               : &weir_lu_c128_avx2;
  }
#endif
  (void)dtype;
  return NULL;
}

bool weir_lu_can(weir_dtype dtype)
{
  return kernels_get(dtype) != NULL;
}

/* Flops per second of one thread, about. */
static double rate_of(weir_dtype dtype)
{
  return (weir_dtype_part(dtype) == WEIR_F32 ? 0.3 : 0.15) * weir_cpu_get()->constants.flop_rate;
}

static int64_t round_up(int64_t n, int64_t unit)
{
  return (n + unit - 1) / unit * unit;
}

/* Lays a system out; returns bytes. */
static int64_t lay_out(const lu_kernels *kernels, weir_dtype dtype, int64_t n, int64_t k,
                       char *memory, lu_system *s)
{
  const int64_t size = (int64_t)weir_dtype_size(weir_dtype_part(dtype));
  const int64_t parts = weir_dtype_is_complex(dtype) ? 2 : 1;
  const int64_t lanes = kernels->lanes, side = round_up(n, lanes);

  *s = (lu_system){
      .n = n, .k = k, .side = side, .step = side + round_up(k, lanes), .panel_step = side + lanes};
  /* Rows that lie a multiple of so many bytes apart meet in few sets of the first cache. */
  const int64_t apart = 1 << 10;

  s->step += s->step * size % apart == 0 ? lanes : 0;
  const int64_t matrix = n * s->step * size, panel = LU_PANEL * s->panel_step * size;

  if (memory != NULL) {
    memory = (char *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    s->re = memory;
    s->im = memory + (parts - 1) * matrix;
    s->panel_re = memory + parts * matrix;
    s->panel_im = memory + parts * matrix + (parts - 1) * panel;
    s->row = (int64_t *)(void *)(memory + parts * (matrix + panel));
  }
  return parts * (matrix + panel) + n * (int64_t)sizeof(int64_t) + 64;
}

static int64_t larger(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Lays systems in lanes out; returns bytes. An odd step keeps a column out of one set of a cache.
 */
static int64_t lay_lanes_out(const lu_kernels *kernels, weir_dtype dtype, int64_t n, int64_t k,
                             char *memory, lu_lanes *s)
{
  const int64_t unit = kernels->lanes * (int64_t)weir_dtype_size(dtype);
  /* Of the columns that are updated at a time: half of L1. */
  const int64_t block_bytes = weir_cpu_get()->constants.l1_bytes / 2;

  *s = (lu_lanes){.n = n,
                  .k = k,
                  .step = (n + k) | 1,
                  .block = larger(block_bytes / (unit * larger(n, 1)), LU_PANEL)};
  const int64_t matrix = n * s->step * unit;

  if (memory != NULL) {
    memory = (char *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    s->data = memory;
    s->reciprocal = memory + matrix;
    s->exact = (unsigned *)(void *)(memory + matrix + n * unit);
  }
  return matrix + n * unit + n * (int64_t)sizeof *s->exact + 64;
}

/* Systems that are solved at a time: as many as there are lanes, where there are more and they stay
 * in a core's second cache. */
static int64_t together(const lu_kernels *k, weir_dtype dtype, int64_t n, int64_t sides,
                        int64_t count)
{
  lu_lanes s;
  const int64_t bytes = lay_lanes_out(k, dtype, n, sides, NULL, &s);

  return count >= 2 * k->lanes && 8 * bytes <= 5 * weir_cpu_get()->constants.l2_bytes ? k->lanes
                                                                                      : 1;
}

int64_t weir_lu_bytes(weir_dtype dtype, int64_t n, int64_t k)
{
  const lu_kernels *kernels = kernels_get(dtype);
  lu_system one;
  lu_lanes all;
  const int64_t bytes = lay_out(kernels, dtype, n, k, NULL, &one);

  return together(kernels, dtype, n, k, INT64_MAX) > 1
             ? larger(bytes, lay_lanes_out(kernels, dtype, n, k, NULL, &all))
             : bytes;
}

static lu_block block_of(const weir_matrix *m, int64_t at)
{
  return (lu_block){m->data, m->columns, m->down, m->across, at};
}

/* As lu_system.identity says: all 0. */
static void load_identity(lu_system *s, weir_dtype dtype)
{
  const int64_t size = (int64_t)weir_dtype_size(weir_dtype_part(dtype));

  s->identity = true;

  for (int64_t i = 0; i < s->n; i++) {
    char *re = (char *)s->re + (i * s->step + s->side) * size;
    char *im = (char *)s->im + (i * s->step + s->side) * size;

    if (weir_dtype_is_complex(dtype)) {
      memset(im, 0, (size_t)((s->step - s->side) * size));
    }
    memset(re, 0, (size_t)((s->step - s->side) * size));
  }
}

static void load_lanes_identity(const lu_lanes *s, weir_dtype dtype, int64_t lanes)
{
  const weir_dtype part = weir_dtype_part(dtype);
  const int64_t parts = weir_dtype_is_complex(dtype) ? 2 : 1, size = (int64_t)weir_dtype_size(part);

  for (int64_t i = 0; i < s->n; i++) {
    char *row = (char *)s->data + (i * s->step + s->n) * lanes * parts * size;

    memset(row, 0, (size_t)(s->n * lanes * parts * size));
    for (int64_t l = 0; l < lanes; l++) {
      weir_dtype_store_real(part, row, i * lanes * parts + l, 1);
    }
  }
}

/* A matrix without gaps, row after row or column after column. */
static bool is_dense(const weir_matrix *m)
{
  return (m->across == 1 && m->down == m->columns) || (m->down == 1 && m->across == m->rows);
}

void weir_lu_solve(const weir_matrix *m, bool conj, const weir_matrix *next, void *memory)
{
  lu_solve(kernels_get(m->dtype), m, conj, next, memory);
}

void lu_solve(const lu_kernels *k, const weir_matrix *m, bool conj, const weir_matrix *next,
              void *memory)
{
  const weir_matrix *a = &m[0], *b = &m[1], *x = &m[2];
  const lu_block in = block_of(a, 0);
  lu_system s;

  if (x->rows == 0 || x->columns == 0) {
    return;
  }
  (void)lay_out(k, a->dtype, x->rows, x->columns, memory, &s);
  const lu_block sides = block_of(b, s.side), out = block_of(x, s.side);

  k->load(&s, &in, conj);
  if (b->data != NULL) {
    k->load(&s, &sides, false);
  } else {
    load_identity(&s, a->dtype);
  }
  const bool finite = k->is_finite(s.re, s.n * s.step) && k->is_finite(s.im, s.n * s.step);

  if (!finite && !weir_matrix_is_finite(a)) {
    weir_matrix_spoil(x);
    return;
  }
  for (int64_t i = 0; i < s.n; i++) {
    s.row[i] = i;
  }
  for (int i = 0; i < 3 && next != NULL; i++) {
    s.ahead[i] = next[i].data;
    s.ahead_bytes[i] = is_dense(&next[i])
                           ? next[i].rows * next[i].columns * (int64_t)weir_dtype_size(a->dtype)
                           : 0;
  }
  if (!k->solve(&s)) {
    weir_matrix_spoil(x);
    return;
  }
  k->store(&s, &out);
  if (!finite) {
    weir_solve_spoil(b, x);
  }
}

/* One matrix of every system: those of the first where there are fewer than lanes. */
static void blocks_of(const lu_kernels *k, const weir_matrix (*m)[3], int64_t count, int which,
                      int64_t at, lu_block *to)
{
  for (int64_t l = 0; l < k->lanes; l++) {
    to[l] = block_of(&m[l < count ? l : 0][which], at);
  }
}

void lu_solve_lanes(const lu_kernels *k, const lu_systems *all, bool conj, void *memory)
{
  const weir_matrix(*m)[3] = (const weir_matrix(*)[3])all->m;
  const weir_matrix *x = &m[0][2];
  lu_block block[LU_LANES];
  lu_lanes s;

  if (x->rows == 0 || x->columns == 0) {
    return;
  }
  (void)lay_lanes_out(k, x->dtype, x->rows, x->columns, memory, &s);
  blocks_of(k, m, all->n, 0, 0, block);
  unsigned finite = k->load_lanes(&s, block, conj);

  if (m[0][1].data != NULL) {
    blocks_of(k, m, all->n, 1, s.n, block);
    finite &= k->load_lanes(&s, block, false);
  } else {
    load_lanes_identity(&s, x->dtype, k->lanes);
  }
  const unsigned found = k->solve_lanes(&s);

  blocks_of(k, m, all->n, 2, s.n, block);
  k->store_lanes(&s, block);
  for (int64_t l = 0; l < all->n; l++) {
    const bool whole = (finite >> l & 1) != 0;

    if ((found >> l & 1) == 0 || (!whole && !weir_matrix_is_finite(&m[l][0]))) {
      weir_matrix_spoil(&m[l][2]);
    } else if (!whole) {
      weir_solve_spoil(&m[l][1], &m[l][2]);
    }
  }
}

/* Points from `at` on: `n` of them, or one where few are left. */
static void take_points(const weir_kernel_run *r, weir_lu_take *take, int64_t at, int64_t to,
                        int64_t n, lu_systems *s)
{
  const int64_t left = to - at < n ? to - at : n;

  s->n = 2 * left > n ? left : left > 0;
  for (int64_t i = 0; i < s->n; i++) {
    take(r, at + i, s->m[i]);
  }
}

void weir_lu_run(const weir_kernel_run *r, bool conj, weir_lu_take *take)
{
  const weir_access *a = &((const weir_node *)r->context)->access;
  const weir_operand *x = &a->out[0];
  const lu_kernels *k = kernels_get(x->dtype);
  const int64_t n = together(k, x->dtype, x->extent[x->rank - 2], x->extent[x->rank - 1],
                             weir_batch_count(a, &r->box));
  lu_systems s[2];
  int64_t at, to;
  int now = 0;

  weir_batch_piece(a, &r->box, r->piece, n, &at, &to);
  for (take_points(r, take, at, to, n, &s[now]); at < to; now = !now) {
    const lu_systems *next = &s[!now];

    at += s[now].n;
    take_points(r, take, at, to, n, &s[!now]);
    if (s[now].n > 1) {
      lu_solve_lanes(k, &s[now], conj, r->scratch);
    } else {
      lu_solve(k, s[now].m[0], conj, next->n > 0 ? next->m[0] : NULL, r->scratch);
    }
  }
}

double weir_lu_match(const weir_graph *g, const weir_group *group, const weir_op_desc *op)
{
  if (!weir_batch_claims(g, group, op)) {
    return -1;
  }
  const weir_operand *x = &weir_graph_node(g, group->nodes[0])->access.out[0];

  return x->extent[x->rank - 2] <= WEIR_LU_ROWS && weir_lu_can(x->dtype)
             ? weir_batch_seconds(g, group, op, rate_of(x->dtype))
             : -1;
}

int64_t weir_lu_scratch(const void *context)
{
  const weir_operand *x = &((const weir_node *)context)->access.out[0];

  return weir_lu_bytes(x->dtype, x->extent[x->rank - 2], x->extent[x->rank - 1]);
}
