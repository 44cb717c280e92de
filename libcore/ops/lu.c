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

double weir_lu_rate(weir_dtype dtype)
{
  return weir_dtype_part(dtype) == WEIR_F32 ? 3e10 : 1.5e10;
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

int64_t weir_lu_bytes(weir_dtype dtype, int64_t n, int64_t k)
{
  lu_system s;

  return lay_out(kernels_get(dtype), dtype, n, k, NULL, &s);
}

static lu_part part_of(const weir_matrix *m, int64_t at)
{
  return (lu_part){m->data, m->columns, m->down, m->across, at};
}

static void load_identity(const lu_system *s, weir_dtype dtype)
{
  const weir_dtype part = weir_dtype_part(dtype);
  const int64_t size = (int64_t)weir_dtype_size(part);

  for (int64_t i = 0; i < s->n; i++) {
    char *re = (char *)s->re + (i * s->step + s->side) * size;
    char *im = (char *)s->im + (i * s->step + s->side) * size;

    if (weir_dtype_is_complex(dtype)) {
      memset(im, 0, (size_t)((s->step - s->side) * size));
    }
    memset(re, 0, (size_t)((s->step - s->side) * size));
    weir_dtype_store_real(part, re, i, 1);
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
  const lu_part in = part_of(a, 0);
  lu_system s;

  if (x->rows == 0 || x->columns == 0) {
    return;
  }
  (void)lay_out(k, a->dtype, x->rows, x->columns, memory, &s);
  const lu_part sides = part_of(b, s.side), out = part_of(x, s.side);

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
