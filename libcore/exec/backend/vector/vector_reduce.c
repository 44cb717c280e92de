/* vector_reduce.c - reductions in the order of weir_engine.h: 16 lanes, blocks, a balanced tree.
 *
 * Two ways to the same bits. Along: rows run through the innermost reduced dimension and fill the
 * lanes of one output. Across: rows run through outputs, and each lane is an array over them. */
#include "exec/backend/vector/vector_priv.h"

#include <string.h>

typedef struct reduction {
  vm_frame *f;
  vm_monoid monoid;
  int n_fields;
  size_t size[VM_FIELDS]; /* bytes of a field's element */
  int64_t points;         /* outputs reduced at a time */
  int64_t at;             /* row-major position of the next iteration */
  int top, level[64];     /* block results waiting for their partner */
} reduction;

/* Addresses of lane `lane` of each field, from output `point` on. */
static void lanes(const reduction *r, int lane, int64_t point, void **acc)
{
  const vm_program *p = r->f->p;
  char *base = r->f->block + p->acc_at;

  for (int k = 0; k < r->n_fields; k++) {
    acc[k] = base + (size_t)k * VM_LANES * sizeof(int64_t) * (size_t)p->wide +
             (size_t)(lane * r->points + point) * r->size[k];
  }
}

static void waiting(const reduction *r, int entry, void **acc)
{
  const vm_program *p = r->f->p;
  char *base = r->f->block + p->stack_at;

  for (int k = 0; k < r->n_fields; k++) {
    acc[k] = base + (size_t)(entry * VM_FIELDS + k) * sizeof(int64_t) * (size_t)p->wide;
  }
}

static void reset_lanes(const reduction *r)
{
  void *acc[VM_FIELDS];

  lanes(r, 0, 0, acc);
  r->monoid.neutral(acc, VM_LANES * r->points);
}

static void start(reduction *r, int64_t points)
{
  r->points = points;
  r->at = 0;
  r->top = 0;
  reset_lanes(r);
}

static void merge_top(reduction *r)
{
  void *a[VM_FIELDS], *b[VM_FIELDS];

  waiting(r, r->top - 2, a);
  waiting(r, r->top - 1, b);
  r->monoid.merge(a, b, r->points);
  r->top--;
}

/* Lanes to one result, which waits for the next block's. */
static void finish_block(reduction *r)
{
  void *a[VM_FIELDS], *b[VM_FIELDS];

  for (int half = VM_LANES / 2; half > 0; half /= 2) {
    lanes(r, 0, 0, a);
    lanes(r, half, 0, b);
    r->monoid.merge(a, b, half * r->points);
  }
  lanes(r, 0, 0, a);
  waiting(r, r->top, b);
  for (int k = 0; k < r->n_fields; k++) {
    memcpy(b[k], a[k], r->size[k] * (size_t)r->points);
  }
  r->level[r->top++] = 0;
  while (r->top > 1 && r->level[r->top - 1] == r->level[r->top - 2]) {
    merge_top(r);
    r->level[r->top - 1]++;
  }
  reset_lanes(r);
}

static void finish(reduction *r)
{
  if (r->at % WEIR_REDUCE_BLOCK != 0 || r->top == 0) {
    finish_block(r);
  }
  while (r->top > 1) {
    merge_top(r);
  }
}

/* Stores the results of `points` outputs from i on. */
static void store(reduction *r, int64_t i)
{
  vm_frame *f = r->f;
  const vm_program *p = f->p;
  const weir_access *a = &p->access;
  char *temp = f->block + p->temp_at;
  void *field[VM_FIELDS];

  waiting(r, 0, field);
  f->alive = NULL;
  for (int k = 0; k < p->n_data; k++) {
    const weir_dtype to = a->out[p->output[k]].dtype;
    const bool position =
        k == 1 && a->combine != WEIR_COMBINE_MOMENTS && a->combine != WEIR_COMBINE_SOFTMAX;
    const weir_dtype from = position ? WEIR_I64 : a->accumulator;
    const void *source = field[k];

    if (position && a->combine != WEIR_COMBINE_ARGMAX) { /* whether there was one */
      for (int64_t j = 0; j < r->points; j++) {
        temp[j] = ((const int64_t *)field[k])[j] >= 0;
      }
      source = temp;
    } else if (from != to) {
      p->kernels->cast[to][from](temp, source, NULL, NULL, r->points);
      source = temp;
    }
    vm_strip_store(f, k, source, i, r->points);
  }
}

/* Values and presence of n iterations from i on; the strip of values is returned. */
static const void *evaluate(const reduction *r, int64_t i, int64_t n, const uint8_t **keep)
{
  vm_frame *f = r->f;
  const vm_program *p = f->p;

  if (!vm_strip_load(f, i, n)) {
    *keep = f->alive;
    return f->block + p->temp_at;
  }
  vm_strip_run(f, 0, p->n_instrs, n);
  *keep = f->alive;
  if (p->access.n_values > 1) {
    const uint8_t *present = f->ptr[p->value[1]];
    *keep = present;
    for (int64_t j = 0; f->alive != NULL && j < n; j++) {
      f->alive[j] &= present[j];
      *keep = f->alive;
    }
  }
  return f->ptr[p->value[0]];
}

/* n iterations in a row into the lanes of one output. */
static void take_along(reduction *r, const char *x, const uint8_t *keep, int64_t n)
{
  const size_t size = r->size[0];

  while (n > 0) {
    const int lane = (int)(r->at % VM_LANES);
    const int64_t left = WEIR_REDUCE_BLOCK - r->at % WEIR_REDUCE_BLOCK, here = n < left ? n : left;
    const int64_t blocks = lane == 0 ? here / VM_LANES : 0;
    int64_t m = VM_LANES - lane < here ? VM_LANES - lane : here;
    void *acc[VM_FIELDS];

    lanes(r, lane, 0, acc);
    m = blocks > 0 ? VM_LANES : m;
    const vm_taken t = {x, keep, r->at, 1, m, blocks > 0 ? blocks : 1};
    r->monoid.take(acc, &t);
    const int64_t taken = t.n * t.blocks;
    x += (size_t)taken * size;
    keep = keep != NULL ? keep + taken : NULL;
    n -= taken;
    r->at += taken;
    if (r->at % WEIR_REDUCE_BLOCK == 0) {
      finish_block(r);
    }
  }
}

static void reduce_along(reduction *r, int vec)
{
  vm_frame *f = r->f;
  const weir_access *a = &f->p->access;
  const weir_box *box = &f->run->box;
  const bool rows = vec < a->n_dims;
  const int64_t lo = rows ? box->lo[vec] : 0, hi = rows ? box->hi[vec] : 1;
  const uint32_t outer = exec_mask(a, WEIR_REDUCED) & (rows ? ~(1u << vec) : ~0u);
  f->vec = vec;
  do {
    start(r, 1);
    do {
      vm_row_begin(f, lo, hi);
      for (int64_t i = lo, end; i < hi && !f->nothing; i = end) {
        const uint8_t *keep;
        end = vm_strip_end(f, i);
        const char *x = evaluate(r, i, end - i, &keep);
        take_along(r, x, keep, end - i);
      }
    } while (!f->nothing && exec_next(a, box, outer, f->iteration));
    finish(r);
    store(r, lo);
  } while (exec_next(a, box, exec_mask(a, WEIR_PARALLEL), f->iteration));
}

/* All reduced iterations of the outputs [i, i + n) along the row's dimension. */
static void reduce_across_strip(reduction *r, int64_t i, int64_t n)
{
  vm_frame *f = r->f;
  const weir_access *a = &f->p->access;
  const weir_box *box = &f->run->box;
  start(r, n);
  do {
    vm_row_begin(f, i, i + n);
    for (int64_t j = i, end; j < i + n && !f->nothing; j = end) {
      const uint8_t *keep;
      void *acc[VM_FIELDS];
      end = vm_strip_end(f, j);
      const void *x = evaluate(r, j, end - j, &keep);
      lanes(r, (int)(r->at % VM_LANES), j - i, acc);
      const vm_taken t = {x, keep, r->at, 0, end - j, 1};
      r->monoid.take(acc, &t);
    }
    r->at += !f->nothing;
    if (!f->nothing && r->at % WEIR_REDUCE_BLOCK == 0) {
      finish_block(r);
    }
  } while (!f->nothing && exec_next(a, box, exec_mask(a, WEIR_REDUCED), f->iteration));
  finish(r);
  store(r, i);
}

static void reduce_across(reduction *r, int vec)
{
  vm_frame *f = r->f;
  const weir_access *a = &f->p->access;
  const weir_box *box = &f->run->box;
  const uint32_t outer = exec_mask(a, WEIR_PARALLEL) & ~(1u << vec);

  f->vec = vec;
  do {
    for (int64_t i = box->lo[vec], n; i < box->hi[vec]; i += n) {
      n = box->hi[vec] - i < f->p->wide ? box->hi[vec] - i : f->p->wide;
      reduce_across_strip(r, i, n);
    }
  } while (exec_next(a, box, outer, f->iteration));
}

static void describe(reduction *r)
{
  const weir_access *a = &r->f->p->access;
  const size_t size = weir_dtype_size(a->accumulator);
  const bool positions = a->combine == WEIR_COMBINE_ARGMAX || a->combine >= WEIR_COMBINE_FIRST;

  r->monoid = r->f->p->kernels->monoid[a->combine][a->accumulator];
  r->n_fields = a->combine == WEIR_COMBINE_MOMENTS                ? 3
                : positions || a->combine == WEIR_COMBINE_SOFTMAX ? 2
                                                                  : 1;
  r->size[0] = r->size[2] = size;
  r->size[1] = positions ? sizeof(int64_t) : size;
}

void vm_reduce(vm_frame *f)
{
  const weir_access *a = &f->p->access;
  reduction r = {.f = f};
  const int across = vm_choose_vec(f, exec_mask(a, WEIR_PARALLEL));
  int along = a->n_dims;
  double total = 1;

  describe(&r);
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      along = k; /* the innermost: iterations in a row are elements in a row */
      total *= (double)(f->run->box.hi[k] - f->run->box.lo[k]);
    }
  }
  exec_first(a, &f->run->box, f->iteration);
  const double per_output = 200.0 / (total > 1 ? total : 1); /* ns: lanes to a result */
  if (across < a->n_dims &&
      (along == a->n_dims || vm_row_cost(f, across) + 0.3 < vm_row_cost(f, along) + per_output)) {
    reduce_across(&r, across);
  } else {
    reduce_along(&r, along);
  }
}
