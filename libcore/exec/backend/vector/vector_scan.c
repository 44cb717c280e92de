/* vector_scan.c - scans: states go from one sequential iteration to the next; across many points at
 * a time, or along the samples of one. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

/* States of n points from i on, between cells and their strips. */
static void load_states(vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const weir_state_table *cells = f->run->state;
  int64_t first, step;

  vm_row_position(f, &first, &step);
  for (int s = 0; s < p->access.n_states; s++) {
    const size_t size = weir_dtype_size(p->access.state[s].dtype);
    char *dst = f->ptr[p->state_reg[s]];
    for (int64_t j = 0; j < n; j++) {
      memcpy(dst + (size_t)j * size, &cells->cells[s * cells->points + first + (i + j) * step],
             size);
    }
  }
}

static void store_states(const vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const weir_state_table *cells = f->run->state;
  int64_t first, step;

  vm_row_position(f, &first, &step);
  for (int s = 0; s < p->access.n_states; s++) {
    const size_t size = weir_dtype_size(p->access.state[s].dtype);
    const char *src = f->ptr[p->state_reg[s]];
    for (int64_t j = 0; j < n; j++) {
      memcpy(&cells->cells[s * cells->points + first + (i + j) * step], src + (size_t)j * size,
             size);
    }
  }
}

/* Next values to the strips of the states; dropped points keep theirs. */
static void advance(vm_frame *f, int64_t n)
{
  const vm_program *p = f->p;
  const void *next[WEIR_MAX_STATES];

  for (int s = 0; s < p->access.n_states; s++) {
    next[s] = f->ptr[p->next[s]];
    if (p->regs[p->next[s]].kind == VM_STATE) { /* would be overwritten before it is read */
      char *shadow = f->block + p->shadow_at + sizeof(int64_t) * (size_t)(s * p->strip);
      memcpy(shadow, next[s], (size_t)n * weir_dtype_size(p->access.state[s].dtype));
      next[s] = shadow;
    }
  }
  for (int s = 0; s < p->access.n_states; s++) {
    const size_t size = weir_dtype_size(p->access.state[s].dtype);
    char *dst = f->ptr[p->state_reg[s]];
    if (f->alive == NULL) {
      memcpy(dst, next[s], (size_t)n * size);
      continue;
    }
    for (int64_t j = 0; j < n; j++) {
      if (f->alive[j] != 0) {
        memcpy(dst + (size_t)j * size, (const char *)next[s] + (size_t)j * size, size);
      }
    }
  }
}

/* Points [i, i + n) along the row's dimension, all sequential iterations. */
static void scan_across_strip(vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const weir_access *a = &p->access;

  load_states(f, i, n);
  do {
    vm_row_begin(f, i, i + n);
    const bool any = vm_strip_load(f, i, n);
    if (any) {
      vm_strip_run(f, 0, p->n_instrs, n);
    }
    for (int k = 0; k < p->n_data; k++) {
      const vm_reg *reg = &p->regs[p->value[k]];
      vm_strip_store(f, k, any ? f->ptr[p->value[k]] : f->block + reg->offset, i, n);
    }
    if (any) {
      advance(f, n);
    }
  } while (exec_next(a, &f->run->box, exec_mask(a, WEIR_FORWARD), f->iteration));
  store_states(f, i, n);
}

static void scan_across(vm_frame *f)
{
  const weir_access *a = &f->p->access;
  const weir_box *box = &f->run->box;
  uint32_t outer = exec_mask(a, WEIR_PARALLEL);

  f->vec = vm_choose_vec(f, outer);
  const bool rows = f->vec < a->n_dims;
  const int64_t lo = rows ? box->lo[f->vec] : 0, hi = rows ? box->hi[f->vec] : 1;
  outer &= rows ? ~(1u << f->vec) : ~0u;
  do {
    for (int64_t i = lo, n; i < hi; i += n) {
      n = hi - i < f->p->strip ? hi - i : f->p->strip;
      scan_across_strip(f, i, n);
    }
  } while (exec_next(a, box, outer, f->iteration));
}

/* ---- Along: one point after the other, phases over strips of samples. ---- */

/* Samples i, i + direction, ... of one row. */
static void scan_strip(vm_frame *f, int64_t i, int64_t n)
{
  const vm_program *p = f->p;
  const bool any = vm_strip_load(f, i, n);

  for (int32_t k = 0; k < p->n_phases && any; k++) {
    const vm_phase *phase = &p->phases[k];
    if (phase->recurrent) {
      vm_recur(f, phase, n);
    } else {
      vm_strip_run(f, phase->first, phase->n, n);
    }
  }
  for (int k = 0; k < p->n_data; k++) {
    const vm_reg *reg = &p->regs[p->value[k]];
    vm_strip_store(f, k, any ? f->ptr[p->value[k]] : f->block + reg->offset, i, n);
  }
}

static void scan_row(vm_frame *f)
{
  const weir_box *box = &f->run->box;
  const int64_t lo = box->lo[f->vec], hi = box->hi[f->vec];

  vm_row_begin(f, lo, hi);
  if (f->direction == 1) {
    for (int64_t i = lo, end; i < hi; i = end) {
      end = vm_strip_end(f, i);
      scan_strip(f, i, end - i);
    }
    return;
  }
  for (int64_t i = hi - 1, n; i >= lo; i -= n) {
    n = i - lo + 1 < f->p->strip ? i - lo + 1 : f->p->strip;
    scan_strip(f, i, n);
  }
}

static void move_cells(const vm_frame *f, int64_t point, bool load)
{
  const weir_state_table *cells = f->run->state;

  for (int s = 0; s < f->p->access.n_states; s++) {
    uint64_t *outside = &cells->cells[s * cells->points + point];
    const size_t size = weir_dtype_size(f->p->access.state[s].dtype);
    memcpy(load ? vm_cell(f, s) : outside, load ? outside : vm_cell(f, s), size);
  }
}

static void scan_along(vm_frame *f)
{
  const weir_access *a = &f->p->access;
  const weir_box *box = &f->run->box;
  uint32_t outer = exec_mask(a, WEIR_FORWARD);

  for (int k = 0; k < a->n_dims; k++) {
    f->vec = (outer >> k & 1u) != 0 ? k : f->vec; /* the innermost sequential dimension */
  }
  outer &= ~(1u << f->vec);
  f->direction = a->dim[f->vec].kind == WEIR_BACKWARD ? -1 : 1;
  do {
    const int64_t point = exec_position(a, WEIR_PARALLEL, f->iteration);
    move_cells(f, point, true);
    do {
      scan_row(f);
    } while (exec_next(a, box, outer, f->iteration));
    move_cells(f, point, false);
  } while (exec_next(a, box, exec_mask(a, WEIR_PARALLEL), f->iteration));
}

void vm_scan(vm_frame *f)
{
  const weir_access *a = &f->p->access;
  const int across = vm_choose_vec(f, exec_mask(a, WEIR_PARALLEL));
  const int64_t points = across < a->n_dims ? f->run->box.hi[across] - f->run->box.lo[across] : 1;

  exec_first(a, &f->run->box, f->iteration);
  if (a->n_states == 0 || points >= 32) {
    scan_across(f);
  } else {
    scan_along(f);
  }
}
