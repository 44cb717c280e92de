/* vector_load.c - operands that are not plain strips of memory: borders, divisions, gathers. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

/* Numerator of an index map at the start of the row's dimension (index 0). */
static int64_t row_origin(const vm_frame *f, const weir_index *x)
{
  int64_t sum = x->offset;

  for (int k = 0; k < f->p->access.n_dims; k++) {
    sum += k == f->vec ? 0 : x->coef[k] * f->iteration[k];
  }
  return sum;
}

static void offsets(vm_frame *f, const weir_operand *x, const weir_view *view, int64_t i, int64_t n,
                    uint8_t *alive, int level);

/* Elements of an index operand, as i64. */
static const int64_t *gathered(vm_frame *f, int operand, int64_t i, int64_t n, uint8_t *alive)
{
  int64_t *values = (void *)(f->block + f->p->gathered_at);
  const int64_t *off = (const void *)(f->block + f->p->offsets_at[1]);
  const uint8_t *mark = (const uint8_t *)f->block + f->p->mark_at[1];
  const weir_operand *x = &f->p->access.in[operand];
  const weir_view *view = &f->run->in[operand];

  offsets(f, x, view, i, n, alive, 1);
  for (int64_t j = 0; j < n; j++) {
    if (mark[j] == 0) {
      values[j] = weir_dtype_load_int(view->dtype, (const char *)view->data + off[j], 0);
    } else {
      const weir_index *out = &x->index[mark[j] - 1];
      values[j] = out->border == WEIR_BORDER_VALUE ? (int64_t)out->fill : 0;
    }
  }
  return values;
}

/* Adds dimension d to the offsets. */
static void add_dimension(vm_frame *f, const weir_operand *x, const weir_view *view, int d,
                          const int64_t *extra, int64_t i, int64_t n, uint8_t *alive, int level)
{
  const weir_index *map = &x->index[d];
  const int64_t step = vm_coef(f, map) * f->direction, extent = view->extent[d];
  const int64_t first = row_origin(f, map) + vm_coef(f, map) * i;
  const int64_t bytes = view->stride[d] * (int64_t)weir_dtype_size(view->dtype);
  int64_t *off = (void *)(f->block + f->p->offsets_at[level]);
  uint8_t *mark = (uint8_t *)f->block + f->p->mark_at[level];

  for (int64_t j = 0; j < n; j++) {
    int64_t raw = first + j * step + (extra != NULL ? extra[j] : 0);
    bool inside = true;

    raw = map->div > 1 ? weir_floor_div(raw, map->div) : raw;
    if (raw < 0 || raw >= extent) {
      raw = weir_index_border(map, raw, extent, &inside);
    }
    if (!inside) {
      mark[j] = mark[j] == 0 ? (uint8_t)(d + 1) : mark[j];
      if (alive != NULL && map->border == WEIR_BORDER_ABSENT) {
        alive[j] = 0;
      }
    }
    off[j] += (raw - view->origin[d]) * bytes;
  }
}

static void offsets(vm_frame *f, const weir_operand *x, const weir_view *view, int64_t i, int64_t n,
                    uint8_t *alive, int level)
{
  memset(f->block + f->p->offsets_at[level], 0, (size_t)n * sizeof(int64_t));
  memset(f->block + f->p->mark_at[level], 0, (size_t)n);
  for (int d = 0; d < x->rank; d++) {
    const int gather = x->index[d].gather;
    const int64_t *extra = gather > 0 ? gathered(f, gather - 1, i, n, alive) : NULL;

    add_dimension(f, x, view, d, extra, i, n, alive, level);
  }
}

void vm_offsets(vm_frame *f, const weir_operand *x, const weir_view *view, int64_t i, int64_t n,
                uint8_t *alive)
{
  offsets(f, x, view, i, n, alive, 0);
}

/* Expands upsampled inputs that stay inside the array; false: another input. */
static bool load_upsampled(const vm_frame *f, const weir_operand *x, const weir_view *view,
                           void *dst, int64_t i, int64_t n)
{
  int64_t iteration[WEIR_MAX_DIMS];
  const bool row = f->direction > 0 && f->vec < f->p->access.n_dims;
  const int dim = row ? exec_upsampled_dim(x, f->vec) : -1;

  if (dim < 0) {
    return false;
  }
  memcpy(iteration, f->iteration, sizeof iteration);
  iteration[f->vec] = i;
  for (int d = 0; d < x->rank; d++) {
    const weir_index *map = &x->index[d];
    const int64_t div = weir_index_divisor(map);
    const int64_t first = row_origin(f, map) + map->coef[f->vec] * i;
    const int64_t last = first + map->coef[f->vec] * (n - 1);

    if (first < 0 || weir_floor_div(last, div) >= view->extent[d]) {
      return false;
    }
  }
  exec_expand(dst, x->dtype, exec_upsampled_at(x, view, f->vec, iteration, f->p->access.n_dims), n);
  return true;
}

void vm_load_any(vm_frame *f, int k, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const weir_operand *x = &p->access.in[k];
  const weir_view *view = &f->run->in[k];
  const size_t size = weir_dtype_size(x->dtype);
  const vm_reg *reg = &p->regs[p->load_reg[k]];
  const int64_t *off = (const void *)(f->block + p->offsets_at[0]);
  const uint8_t *mark = (const uint8_t *)f->block + p->mark_at[0];
  char *dst = f->block + reg->offset;
  uint64_t fill[WEIR_MAX_RANK + 1] = {0};

  f->ptr[p->load_reg[k]] = dst;
  if (load_upsampled(f, x, view, dst, i, n)) {
    return;
  }
  vm_offsets(f, x, view, i, n, NULL);
  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].border == WEIR_BORDER_VALUE) {
      p->kernels->cast[x->dtype][WEIR_F64](&fill[d + 1], &x->index[d].fill, NULL, NULL, 1);
    }
  }
  for (int64_t j = 0; j < n; j++) {
    const void *from =
        mark[j] != 0 ? (const char *)&fill[mark[j]] : (const char *)view->data + off[j];
    memcpy(dst + (size_t)j * size, from, size);
  }
}

void vm_load_remainder(vm_frame *f, int64_t which, int64_t *dst, int64_t i, int64_t n)
{
  const weir_index *x = &f->p->access.in[which / 16].index[which % 16];
  const int64_t *extra = x->gather > 0 ? gathered(f, x->gather - 1, i, n, NULL) : NULL;
  const int64_t first = row_origin(f, x) + vm_coef(f, x) * i;
  const int64_t step = vm_coef(f, x) * f->direction;

  for (int64_t j = 0; j < n; j++) {
    const int64_t sum = first + j * step + (extra != NULL ? extra[j] : 0);
    dst[j] = x->div > 1 ? weir_floor_mod(sum, x->div) : 0;
  }
}

void vm_store_any(vm_frame *f, int k, const void *source, int64_t i, int64_t n)
{
  const weir_operand *x = &f->p->access.out[k];
  const weir_view *view = &f->run->out[k];
  const size_t size = weir_dtype_size(x->dtype);
  const int64_t *off = (const void *)(f->block + f->p->offsets_at[0]);

  vm_offsets(f, x, view, i, n, NULL);
  for (int64_t j = 0; j < n; j++) {
    memcpy((char *)view->data + off[j], (const char *)source + (size_t)j * size, size);
  }
}
