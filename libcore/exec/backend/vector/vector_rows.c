/* vector_rows.c - rows and strips: where operands lie along the dimension that is vectorised. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

static const weir_operand *side_operand(const vm_frame *f, int side, const weir_view **view)
{
  const weir_access *a = &f->p->access;
  const int k = side < WEIR_MAX_OPERANDS ? side : side - WEIR_MAX_OPERANDS;
  const bool input = side < WEIR_MAX_OPERANDS;

  if (k >= (input ? a->n_in : a->n_out)) {
    return NULL;
  }
  const weir_operand *x = input ? &a->in[k] : &a->out[k];
  *view = input ? &f->run->in[k] : &f->run->out[k];
  return x->role == WEIR_ROLE_DATA ? x : NULL;
}

/* True when no iteration of the box leaves the array in this dimension. */
static bool stays_inside(const vm_frame *f, const weir_index *x, int64_t extent)
{
  int64_t lo, hi;

  if (x->border == WEIR_BORDER_NEVER) {
    return true;
  }
  weir_index_range(x, &f->run->box, &lo, &hi);
  return lo >= 0 && hi < extent;
}

static void setup_side(vm_frame *f, int side, const weir_operand *x, const weir_view *view)
{
  const int64_t size = (int64_t)weir_dtype_size(x->dtype);

  WEIR_ASSERT(view->dtype == x->dtype);
  f->gathers[side] = false;
  f->interior[side] = true;
  f->divided[side] = 0;
  f->base[side] = (int64_t)(intptr_t)view->data;
  for (int d = 0; d < x->rank; d++) {
    const weir_index *map = &x->index[d];

    f->gathers[side] = f->gathers[side] || map->gather != 0;
    f->interior[side] = f->interior[side] && stays_inside(f, map, view->extent[d]);
    f->base[side] -= view->origin[d] * view->stride[d] * size;
    if (map->div > 1) {
      f->divided[side] |= 1u << d;
      continue;
    }
    f->base[side] += map->offset * view->stride[d] * size;
    for (int k = 0; k < f->p->access.n_dims; k++) {
      f->stride[side][k] += map->coef[k] * view->stride[d] * size;
    }
  }
  f->interior[side] = f->interior[side] && !f->gathers[side];
  f->all_interior = f->all_interior && f->interior[side];
}

void vm_frame_setup(vm_frame *f)
{
  const vm_program *p = f->p;

  f->all_interior = true;
  f->nothing = weir_box_empty(&f->run->box);
  f->direction = 1;
  f->ptr = (void **)(void *)f->block;
  for (int32_t r = 0; r < p->n_regs; r++) {
    f->ptr[r] = f->block + p->regs[r].offset;
  }
  memset(f->stride, 0, sizeof f->stride);
  for (int side = 0; side < VM_SIDES; side++) {
    const weir_view *view;
    const weir_operand *x = side_operand(f, side, &view);

    if (x != NULL) {
      setup_side(f, side, x, view);
    }
  }
}

/* True when a division changes the address along dimension k. */
static bool divides_along(const vm_frame *f, int side, const weir_operand *x, int k)
{
  for (int d = 0; d < x->rank && f->divided[side] != 0; d++) {
    if ((f->divided[side] >> d & 1) != 0 && x->index[d].coef[k] != 0) {
      return true;
    }
  }
  return false;
}

double vm_row_cost(const vm_frame *f, int k)
{
  const int64_t n = f->run->box.hi[k] - f->run->box.lo[k];
  double cost = 40.0 / (double)(n > 0 ? n : 1); /* one row's set-up */

  for (int side = 0; side < VM_SIDES; side++) {
    const weir_view *view;
    const weir_operand *x = side_operand(f, side, &view);

    if (x != NULL) {
      const int64_t step = f->stride[side][k];
      const bool plain = step == 0 || step == (int64_t)weir_dtype_size(x->dtype);
      cost += divides_along(f, side, x, k) ? 1.5
              : plain                      ? 0.1
              : step < 64 && step > -64    ? 0.5
                                           : 1.5;
    }
  }
  return cost;
}

int vm_choose_vec(const vm_frame *f, uint32_t mask)
{
  const int n_dims = f->p->access.n_dims;
  double best = 0;
  int vec = n_dims;

  for (int k = 0; k < n_dims; k++) {
    if ((mask >> k & 1u) != 0) {
      const double cost = vm_row_cost(f, k);
      if (vec == n_dims || cost <= best) {
        best = cost;
        vec = k;
      }
    }
  }
  return vec;
}

/* Cuts [*lo, *hi) down to the indices i where 0 <= first + coef i < extent. */
static void inside_range(int64_t first, int64_t coef, int64_t extent, int64_t *lo, int64_t *hi)
{
  int64_t from = *lo, to = *hi;

  if (coef == 0) {
    to = first >= 0 && first < extent ? to : from;
  } else if (coef > 0) {
    from = -weir_floor_div(first, coef);
    to = weir_floor_div(extent - 1 - first, coef) + 1;
  } else {
    from = -weir_floor_div(extent - 1 - first, -coef);
    to = weir_floor_div(first, -coef) + 1;
  }
  *lo = from > *lo ? from : *lo;
  *hi = to < *hi ? to : *hi;
}

/* Of an index, at element 0 of the row's dimension. */
static int64_t numerator(const vm_frame *f, const weir_index *map)
{
  int64_t sum = map->offset;

  for (int k = 0; k < f->p->access.n_dims; k++) {
    sum += k == f->vec ? 0 : map->coef[k] * f->iteration[k];
  }
  return sum;
}

static void row_side(vm_frame *f, int side, const weir_operand *x, const weir_view *view)
{
  const int n_dims = f->p->access.n_dims;
  vm_row *row = &f->row[side];

  row->at = f->base[side];
  row->step = f->vec < n_dims ? f->stride[side][f->vec] : 0;
  row->linear = !f->gathers[side] && (f->vec == n_dims || !divides_along(f, side, x, f->vec));
  row->lo = f->row_lo;
  row->hi = row->linear ? f->row_hi : f->row_lo;
  for (int k = 0; k < n_dims; k++) {
    row->at += k == f->vec ? 0 : f->stride[side][k] * f->iteration[k];
  }
  for (int d = 0; d < x->rank && row->linear && f->divided[side] != 0; d++) {
    if ((f->divided[side] >> d & 1) != 0) {
      row->at += weir_floor_div(numerator(f, &x->index[d]), x->index[d].div) * view->stride[d] *
                 (int64_t)weir_dtype_size(x->dtype);
    }
  }
  if (f->interior[side] || !row->linear) {
    return;
  }
  for (int d = 0; d < x->rank; d++) {
    const weir_index *map = &x->index[d];
    const int64_t first = numerator(f, map);

    if (map->border == WEIR_BORDER_NEVER) {
      continue;
    }
    inside_range(map->div > 1 ? weir_floor_div(first, map->div) : first, vm_coef(f, map),
                 view->extent[d], &row->lo, &row->hi);
  }
}

void vm_row_position(const vm_frame *f, int64_t *first, int64_t *step)
{
  const weir_access *a = &f->p->access;
  int64_t iteration[WEIR_MAX_DIMS];

  memcpy(iteration, f->iteration, sizeof iteration);
  if (f->vec < a->n_dims) {
    iteration[f->vec] = 0;
  }
  *first = exec_position(a, WEIR_PARALLEL, iteration);
  *step = 0;
  if (f->vec < a->n_dims) {
    iteration[f->vec] = 1;
    *step = (int64_t)((uint64_t)exec_position(a, WEIR_PARALLEL, iteration) - (uint64_t)*first);
  }
}

void vm_row_begin(vm_frame *f, int64_t lo, int64_t hi)
{
  const vm_program *p = f->p;
  const int64_t n = hi - lo < p->strip ? hi - lo : p->strip;

  f->row_lo = lo;
  f->row_hi = hi;
  for (int side = 0; side < VM_SIDES; side++) {
    const weir_view *view;
    const weir_operand *x = side_operand(f, side, &view);

    if (x == NULL) {
      continue;
    }
    row_side(f, side, x, view);
    const vm_row *row = &f->row[side];
    if (side < WEIR_MAX_OPERANDS && p->used[side] && row->step == 0 && row->lo < row->hi &&
        !f->nothing) {
      const int32_t reg = p->load_reg[side];
      f->ptr[reg] = f->block + p->regs[reg].offset;
      p->kernels->fill[vm_log2_size(x->dtype)](f->ptr[reg], (const void *)(intptr_t)row->at, n);
    }
  }
  for (int32_t r = 0; r < p->n_regs; r++) {
    if (p->regs[r].kind == VM_RAMP && p->regs[r].which != f->vec) {
      p->kernels->fill[3](f->ptr[r], &f->iteration[p->regs[r].which], n);
    }
  }
}

int64_t vm_strip_end(const vm_frame *f, int64_t i)
{
  int64_t end = f->row_hi - i < f->p->strip ? f->row_hi : i + f->p->strip;

  if (f->all_interior) {
    return end;
  }
  for (int side = 0; side < f->p->access.n_in; side++) {
    if (f->row[side].linear && !f->interior[side]) {
      const vm_row *row = &f->row[side];
      end = row->lo > i && row->lo < end ? row->lo : end;
      end = row->hi > i && row->hi < end ? row->hi : end;
    }
  }
  return end;
}

/* The linear form holds for all n elements. */
static bool is_plain(const vm_frame *f, int side, int64_t i, int64_t n)
{
  const vm_row *row = &f->row[side];
  const int64_t last = i + f->direction * (n - 1);

  return i >= row->lo && i < row->hi && last >= row->lo && last < row->hi;
}

static void load_operand(vm_frame *f, int k, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const vm_row *row = &f->row[k];
  const int32_t reg = p->load_reg[k];
  const int64_t at = row->at + i * row->step, step = row->step * f->direction;
  const int64_t size = (int64_t)weir_dtype_size(p->access.in[k].dtype);

  if (!is_plain(f, k, i, n)) {
    vm_load_any(f, k, i, n);
  } else if (step == size) {
    f->ptr[reg] = (void *)(intptr_t)at;
  } else if (step == 0) { /* filled once a row, unless a border strip lies in between */
    f->ptr[reg] = f->block + p->regs[reg].offset;
    if (row->lo > f->row_lo || row->hi < f->row_hi) {
      p->kernels->fill[vm_log2_size(p->access.in[k].dtype)](f->ptr[reg], (void *)(intptr_t)at, n);
    }
  } else {
    f->ptr[reg] = f->block + p->regs[reg].offset;
    p->kernels->gather[vm_log2_size(p->access.in[k].dtype)](f->ptr[reg], (char *)(intptr_t)at, step,
                                                            n);
  }
}

/* Which of the n iterations happen; false: none. */
static bool find_alive(vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  uint8_t *alive = (uint8_t *)f->block + p->alive_at;

  f->alive = NULL;
  for (int k = 0; k < p->access.n_in && !f->all_interior; k++) {
    if (!p->drops[k] || is_plain(f, k, i, n)) {
      continue;
    }
    if (f->alive == NULL) {
      memset(alive, 1, (size_t)n);
      f->alive = alive;
    }
    vm_offsets(f, &p->access.in[k], &f->run->in[k], i, n, alive);
  }
  return f->alive == NULL || memchr(alive, 1, (size_t)n) != NULL;
}

bool vm_strip_load(vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;

  if (!find_alive(f, i, n)) {
    return false;
  }
  for (int k = 0; k < p->access.n_in; k++) {
    if (p->used[k]) {
      load_operand(f, k, i, n);
    }
  }
  for (int32_t r = 0; r < p->n_regs && p->has_leaves; r++) {
    const vm_reg *reg = &p->regs[r];

    if (reg->kind == VM_RAMP && reg->which == f->vec) {
      p->kernels->ramp(f->ptr[r], i, f->direction, n);
    } else if (reg->kind == VM_REMAINDER) {
      vm_load_remainder(f, reg->which, f->ptr[r], i, n);
    } else if (reg->kind == VM_POSITION) {
      int64_t first, step;
      vm_row_position(f, &first, &step);
      p->kernels->ramp(f->ptr[r], (int64_t)((uint64_t)first + (uint64_t)step * (uint64_t)i),
                       step * f->direction, n);
    }
  }
  return true;
}

void vm_strip_run(vm_frame *f, int32_t first, int32_t count, int64_t n)
{
  const vm_program *p = f->p;
  void *const *ptr = f->ptr;

  for (const vm_instr *x = p->instrs + first, *end = x + count; x < end; x++) {
    if (x->kernel != NULL) {
      x->kernel(ptr[x->dst], x->a < 0 ? NULL : ptr[x->a], x->b < 0 ? NULL : ptr[x->b],
                x->c < 0 ? NULL : ptr[x->c], n);
    } else if (x->chain != NULL) {
      p->kernels->chain[p->regs[x->dst].dtype](x->chain, ptr[x->dst], ptr, n);
    } else {
      p->kernels->random(ptr[x->dst], ptr[x->a], ptr[x->b], ptr[x->c], (uint32_t)x->which,
                         x->period, n);
    }
  }
}

void *vm_direct(const vm_frame *f, int k, int64_t i, int64_t n)
{
  const int side = WEIR_MAX_OPERANDS + f->p->output[k];
  const vm_row *row = &f->row[side];
  const int64_t size = (int64_t)weir_dtype_size(f->p->access.out[f->p->output[k]].dtype);

  return row->step == size && f->direction == 1 && f->alive == NULL && is_plain(f, side, i, n)
             ? (void *)(intptr_t)(row->at + i * row->step)
             : NULL;
}

void vm_strip_store(vm_frame *f, int k, const void *source, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const int out = p->output[k], side = WEIR_MAX_OPERANDS + out;
  const size_t size = weir_dtype_size(p->access.out[out].dtype);
  const vm_row *row = &f->row[side];
  const int64_t at = row->at + i * row->step, step = row->step * f->direction;

  if (f->alive != NULL) {
    char *temp = f->block + p->temp_at;
    memcpy(temp, source, (size_t)n * size);
    for (int64_t j = 0; j < n; j++) {
      if (f->alive[j] == 0) {
        memset(temp + (size_t)j * size, 0, size);
      }
    }
    source = temp;
  }
  if (!is_plain(f, side, i, n)) {
    vm_store_any(f, out, source, i, n);
  } else if (step == (int64_t)size) {
    if (source != (void *)(intptr_t)at) {
      memcpy((void *)(intptr_t)at, source, (size_t)n * size);
    }
  } else {
    p->kernels->scatter[vm_log2_size(p->access.out[out].dtype)]((char *)(intptr_t)at, step, source,
                                                                n);
  }
}
