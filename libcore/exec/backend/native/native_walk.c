/* native_walk.c - where the rows of a box lie, and which section of each stays inside the arrays.
 */
#include "exec/backend/native/native_walk.h"
#include "device/weir_copy.h"
#include "exec/exec_priv.h"

#include <string.h>

/* Bytes of the buffer for outputs that go past the caches: on Zen 4, 2 kB are the best of 0.5 to
 * 16. */
#define NATIVE_PAST 2048

/* Numerators below this stay inside an extent. */
static int64_t limit_of(const weir_index *x, int64_t extent)
{
  int64_t limit;

  return x->div > 1 && __builtin_mul_overflow(extent, x->div, &limit) ? INT64_MAX / 2
         : x->div > 1                                                 ? limit
                                                                      : extent;
}

bool native_walk_is_bordered(const native_walk *w, int k, int d)
{
  return (w->f->in[k].bordered >> d & 1) != 0;
}

/* True when the dimensions of a carry lie in memory as their number says. */
static bool is_dense(const native_walk *w, int k)
{
  const weir_view *v = &w->run->in[k];

  for (int d = 0; d + 1 < WEIR_MAX_RANK && w->f->carries[k] != 0; d++) {
    if ((w->f->carries[k] >> d & 1) != 0 && v->stride[d] != v->stride[d + 1] * v->extent[d + 1]) {
      return false;
    }
  }
  return true;
}

static bool stays_inside(const native_walk *w)
{
  const weir_access *a = w->f->access;

  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; w->f->in[k].bordered >> d != 0; d++) {
      int64_t lo, hi;
      if (!native_walk_is_bordered(w, k, d)) {
        continue;
      }
      weir_index_range(&a->in[k].index[d], &w->run->box, &lo, &hi);
      if (lo < 0 || hi >= w->run->in[k].extent[d]) {
        return false;
      }
    }
  }
  return true;
}

void native_walk_set_steps(const weir_operand *o, const weir_view *v, int n_dims, unsigned apart,
                           unsigned carries, char **start, int64_t *step)
{
  int64_t at = 0;

  memset(step, 0, sizeof(int64_t) * WEIR_MAX_DIMS);
  for (int d = 0; d < o->rank; d++) {
    if ((apart >> d & 1) != 0) {
      continue;
    }
    at -= v->origin[d] * v->stride[d];
    if (o->index[d].div > 1 || (carries >> d & 1) != 0) {
      continue; /* divided_at finds it, or the next dimension has it all */
    }
    at += o->index[d].offset * v->stride[d];
    for (int k = 0; k < n_dims; k++) {
      step[k] += o->index[d].coef[k] * v->stride[d];
    }
  }
  /* Iteration 0 may lie outside the array: an address, not yet a pointer into it. */
  *start = (char *)((uintptr_t)v->data + (uintptr_t)(at * (int64_t)weir_dtype_size(o->dtype)));
}

static bool is_data(const weir_operand *o)
{
  return o->role == WEIR_ROLE_DATA;
}

/* native_walk_set_steps of all dimensions. */
static void set_steps(const native_walk *w, const native_known *p, const weir_operand *o,
                      const weir_view *v, unsigned carries, char **start, int64_t *step)
{
  const int n_dims = w->f->access->n_dims;
  int64_t at = 0;

  if (p->n < 0) {
    native_walk_set_steps(o, v, n_dims, 0, carries, start, step);
    return;
  }
  for (int k = 0; k < n_dims; k++) {
    step[k] = 0;
  }
  for (int d = 0; d < v->rank; d++) {
    at -= v->origin[d] * v->stride[d];
  }
  for (int i = 0; i < p->n; i++) {
    const native_term *t = &p->term[i];

    *(t->k < 0 ? &at : &step[t->k]) += t->coef * v->stride[t->d];
  }
  *start = (char *)((uintptr_t)v->data + (uintptr_t)(at * p->size));
}

/* What the array dimensions with a division add to the address of input k, in elements. */
static int64_t divided_at(native_walk *w, int k)
{
  const weir_operand *o = &w->f->access->in[k];
  int64_t at = 0;

  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];
    int64_t sum = x->offset;

    for (int j = 0; j < w->f->access->n_dims && x->div > 1; j++) {
      sum += x->coef[j] * w->i[j];
    }
    if (d == w->f->fold[k]) { /* the kernel divides */
      w->row.fold[k] = sum;
      w->row.fold_step[k] = w->run->in[k].stride[d];
    } else if (x->div > 1 && (w->f->carries[k] >> d & 1) == 0) {
      at += weir_floor_div(sum, x->div) * w->run->in[k].stride[d];
    }
  }
  return at;
}

static bool divides_along(const native_walk *w, int input, int k)
{
  const weir_operand *o = &w->f->access->in[input];

  for (int d = 0; d < o->rank && w->f->in[input].divides; d++) {
    if (o->index[d].div > 1 && (w->f->carries[input] >> d & 1) == 0 && o->index[d].coef[k] != 0) {
      return true;
    }
  }
  return false;
}

bool native_walk_continues(const native_walk *w, int d)
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;

  for (int k = 0; k < a->n_in; k++) {
    if (is_data(&a->in[k]) &&
        (w->step[k][d] != w->step[k][inner] * w->n || divides_along(w, k, d))) {
      return false;
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    if (is_data(&a->out[k]) && w->step_out[k][d] != w->step_out[k][inner] * w->n) {
      return false;
    }
  }
  return true;
}

static void join_rows(native_walk *w)
{
  const bool lanes = w->f->shape == NATIVE_LANES;
  int *list = lanes ? w->around : w->outer, *n = lanes ? &w->n_around : &w->n_outer;

  if (!w->inside || w->f->positions || w->f->shape == NATIVE_SCAN || w->f->inner < 0) {
    return;
  }
  while (*n > 0 && native_walk_continues(w, list[*n - 1])) {
    --*n;
    w->n *= w->hi[list[*n]] - w->lo[list[*n]];
  }
}

static bool has_unit_steps(const native_walk *w)
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;
  const bool writes = w->f->shape == NATIVE_MAP || w->f->shape == NATIVE_SCAN;

  for (int k = 0; k < a->n_in && inner >= 0; k++) {
    if (w->f->in[k].data && w->step[k][inner] != w->f->in[k].unit) {
      for (int d = 0; d < a->in[k].rank; d++) {
        if (a->in[k].index[d].coef[inner] != 0) {
          return false;
        }
      }
    }
  }
  for (int k = 0; k < a->n_out && inner >= 0 && writes; k++) {
    if (w->f->out[k].data && w->step_out[k][inner] != w->f->out[k].unit) {
      return false;
    }
  }
  return true;
}

static void set_row_steps(native_walk *w)
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;
  const int64_t sign = inner >= 0 && a->dim[inner].kind == WEIR_BACKWARD ? -1 : 1;

  for (int k = 0; k < a->n_in; k++) {
    w->row.s[k] = inner >= 0 && w->f->in[k].data ? sign * w->step[k][inner] : 0;
  }
  for (int k = 0; k < a->n_out; k++) {
    w->row.t[k] = inner >= 0 && w->f->out[k].data ? sign * w->step_out[k][inner] : 0;
  }
  w->row.point_step = inner >= 0 && a->dim[inner].kind == WEIR_PARALLEL ? w->weight[inner] : 0;
}

/* First iteration of a dimension, by direction. */
static void rewind_dim(native_walk *w, int k)
{
  w->i[k] = w->f->access->dim[k].kind == WEIR_BACKWARD ? w->hi[k] - 1 : w->lo[k];
}

void native_walk_begin(native_walk *w, const native_form *f, const native_kernels *kernels,
                       const weir_loop_run *run)
{
  const weir_access *a = f->access;
  uint64_t weight = 1;

  w->f = f;
  w->kernels = kernels;
  w->run = run;
  for (int k = a->n_dims - 1; k >= 0; k--) {
    w->lo[k] = run->box.lo[k];
    w->hi[k] = run->box.hi[k];
    w->weight[k] = 0;
    if (a->dim[k].kind == WEIR_PARALLEL) {
      w->weight[k] = (int64_t)weight;
      weight *= (uint64_t)(a->dim[k].hi - a->dim[k].lo);
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    w->size[k] = f->in[k].size;
    if (f->in[k].data) {
      set_steps(w, &f->in[k], &a->in[k], &run->in[k], f->carries[k], &w->start[k], w->step[k]);
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    w->size_out[k] = f->out[k].size;
    if (f->out[k].data) {
      set_steps(w, &f->out[k], &a->out[k], &run->out[k], 0, &w->start_out[k], w->step_out[k]);
    }
  }
  memcpy(w->outer, f->outer, sizeof w->outer);
  memcpy(w->around, f->around, sizeof w->around);
  w->n_outer = f->n_outer;
  w->n_around = f->n_around;
  w->n = f->inner >= 0 ? w->hi[f->inner] - w->lo[f->inner] : 1;
  w->row.in = (const native_view *)(const void *)run->in;
  w->row.out = (const native_view *)(const void *)run->out;
  w->scattered = false;
  for (int k = 0; k < a->n_in && !w->scattered; k++) {
    w->scattered = w->scattered || !is_dense(w, k);
  }
  w->inside = !w->scattered && stays_inside(w);
  w->unit = has_unit_steps(w);
  join_rows(w);
  set_row_steps(w);
  w->row.m = 1;
  for (int k = 0; k < a->n_dims; k++) {
    rewind_dim(w, k);
  }
}

bool native_walk_next(native_walk *w, const int *list, int n)
{
  for (int j = n - 1; j >= 0; j--) {
    const int k = list[j];
    if (w->f->access->dim[k].kind == WEIR_BACKWARD) {
      if (--w->i[k] >= w->lo[k]) {
        return true;
      }
      w->i[k] = w->hi[k] - 1;
    } else {
      if (++w->i[k] < w->hi[k]) {
        return true;
      }
      w->i[k] = w->lo[k];
    }
  }
  return false;
}

/* `p` further on by so many bytes. It may point outside its array, where the element is not used:
 * pointer arithmetic would not be defined there. */
static char *moved(const char *p, int64_t bytes)
{
  return (char *)((uintptr_t)p + (uintptr_t)bytes);
}

void native_walk_locate(native_walk *w)
{
  const weir_access *a = w->f->access;
  native_row *row = &w->row;
  int64_t point = 0;

  for (int k = 0; k < a->n_dims; k++) {
    row->i[k] = w->i[k];
    if (a->dim[k].kind == WEIR_PARALLEL) {
      point += (w->i[k] - a->dim[k].lo) * w->weight[k];
    }
  }
  row->point = point;
  for (int k = 0; k < a->n_in; k++) {
    if (w->f->in[k].data) {
      int64_t at = w->f->divided[k] && !w->nest ? divided_at(w, k) : 0;
      for (int d = 0; d < a->n_dims; d++) {
        at += w->i[d] * w->step[k][d];
      }
      row->p[k] = moved(w->start[k], at * w->size[k]);
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    if (w->f->out[k].data) {
      int64_t at = 0;
      for (int d = 0; d < a->n_dims; d++) {
        at += w->i[d] * w->step_out[k][d];
      }
      row->q[k] = moved(w->start_out[k], at * w->size_out[k]);
    }
  }
}

void native_walk_advance(native_walk *w, int64_t u)
{
  const native_form *f = w->f;
  const weir_access *a = f->access;
  native_row *row = &w->row;

  for (int k = 0; k < a->n_in; k++) {
    if (row->s[k] != 0) { /* others may have no address */
      row->p[k] = moved(row->p[k], u * row->s[k] * w->size[k]);
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    if (row->t[k] != 0) {
      row->q[k] = moved(row->q[k], u * row->t[k] * w->size_out[k]);
    }
  }
  row->point += u * row->point_step;
  if (f->inner >= 0) {
    row->i[f->inner] += a->dim[f->inner].kind == WEIR_BACKWARD ? -u : u;
  }
  if (f->shape == NATIVE_LANES) {
    row->at += u;
  } else if (f->shape == NATIVE_STRIP) {
    for (int c = 0; c < f->components; c++) {
      row->acc[c] += u * (int64_t)weir_dtype_size(f->component[c]);
    }
  }
}

/* Narrows [*from, *to) to those u with 0 <= c u + low and c u + high < limit. */
static void narrow(int64_t c, int64_t low, int64_t high, int64_t limit, int64_t range[2])
{
  int64_t from = 0, to = 0;

  if (c == 0) {
    if (low < 0 || high >= limit) {
      range[1] = range[0];
    }
    return;
  }
  if (c > 0) {
    from = -weir_floor_div(low, c);
    to = weir_floor_div(limit - 1 - high, c) + 1;
  } else {
    from = -weir_floor_div(limit - 1 - high, -c);
    to = weir_floor_div(low, -c) + 1;
  }
  range[0] = from > range[0] ? from : range[0];
  range[1] = to < range[1] ? to : range[1];
}

void native_walk_inside(const native_walk *w, int64_t n, int64_t range[2])
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;
  const int64_t sign = inner >= 0 && a->dim[inner].kind == WEIR_BACKWARD ? -1 : 1;

  range[0] = 0;
  range[1] = w->scattered ? 0 : n;
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; w->f->in[k].bordered >> d != 0; d++) {
      const weir_index *x = &a->in[k].index[d];
      if (!native_walk_is_bordered(w, k, d)) {
        continue;
      }
      int64_t sum = x->offset;
      for (int j = 0; j < a->n_dims; j++) {
        sum += x->coef[j] * w->row.i[j];
      }
      narrow(inner >= 0 ? sign * x->coef[inner] : 0, sum + (x->gather > 0 ? x->gather_lo : 0),
             sum + (x->gather > 0 ? x->gather_hi - 1 : 0), limit_of(x, w->run->in[k].extent[d]),
             range);
    }
  }
  if (range[1] <= range[0]) {
    range[0] = range[1] = 0;
  }
}

static void call_border(native_walk *w, int64_t n)
{
  if (n > 0) {
    w->row.n = n;
    w->kernels->border(&w->row);
    native_walk_advance(w, n);
  }
}

/* Returns how many iterations every upsampled input stays at its element; at[]: the elements. */
static int64_t find_upsampled(const native_walk *w, exec_upsampled *at)
{
  const weir_access *a = w->f->access;
  int64_t still = INT64_MAX;

  for (int k = 0; k < a->n_in; k++) {
    if (w->f->upsampled[k]) {
      at[k] = exec_upsampled_at(&a->in[k], &w->run->in[k], w->f->inner, w->row.i, a->n_dims);
      const int64_t left = exec_upsampled_left(&at[k]);

      still = left < still ? left : still;
    }
  }
  return still;
}

/* Elements of the first such output between the last line that starts before the row and the row.
 */
static int64_t before_line(const native_walk *w)
{
  const int k = __builtin_ctz(w->run->past);

  return (int64_t)((uintptr_t)w->row.q[k] & 63) / w->size_out[k];
}

/* How many elements of each such output the buffer has room for, whole lines; 0: of too many
 * outputs. */
static int64_t elements_past(const native_walk *w)
{
  int64_t bytes = 0;

  for (int k = 0; k < w->f->access->n_out; k++) {
    bytes += (w->run->past >> k & 1) != 0 ? w->size_out[k] : 0;
  }
  return NATIVE_PAST / bytes / 64 * 64;
}

/* The row piece by piece through a buffer in the first cache, from which the outputs that are not
 * read again go past the caches. */
static void call_past(native_walk *w, void (*kernel)(const native_row *))
{
  _Alignas(64) char buffer[NATIVE_PAST];
  const native_row kept = w->row;
  const int n_out = w->f->access->n_out;
  const int64_t max = elements_past(w);
  int64_t fit = max - before_line(w);

  for (int64_t n = kept.n; n > 0; n -= w->row.n, fit = max) {
    char *target[WEIR_MAX_OUTPUTS], *at = buffer;

    w->row.n = n < fit ? n : fit;
    for (int k = 0; k < n_out; k++) {
      if ((w->run->past >> k & 1) != 0) {
        target[k] = w->row.q[k];
        w->row.q[k] = at;
        at += max * w->size_out[k];
      }
    }
    kernel(&w->row);
    for (int k = 0; k < n_out; k++) {
      if ((w->run->past >> k & 1) != 0) {
        weir_copy_past(target[k], w->row.q[k], w->row.n * w->size_out[k]);
        w->row.q[k] = target[k];
      }
    }
    native_walk_advance(w, w->row.n);
    for (int k = 0; k < w->f->access->n_in; k++) {
      if (w->f->upsampled[k] && kernel != w->kernels->even) { /* expanded: to the next elements */
        w->row.p[k] += w->row.n * w->size[k];
      }
    }
  }
  w->row = kept;
}

static void call(native_walk *w, void (*kernel)(const native_row *))
{
  bool past = w->run->past != 0 && w->f->shape == NATIVE_MAP && w->row.m == 1;

  for (int k = 0; k < w->f->access->n_out && past; k++) {
    past = (w->run->past >> k & 1) == 0 || (w->f->out[k].data && w->row.t[k] == 1);
  }
  if (past && elements_past(w) > 0) {
    call_past(w, kernel);
  } else {
    kernel(&w->row);
  }
}

/* The n iterations piece by piece: as long as all upsampled inputs stay at their elements, or so
 * many that the buffer suffices into which they are expanded. */
static void call_upsampled(native_walk *w, int64_t n)
{
  const weir_access *a = w->f->access;
  const native_row kept = w->row;
  exec_upsampled at[WEIR_MAX_OPERANDS];

  while (n > 0) {
    const int64_t still = find_upsampled(w, at);
    const bool even = w->unit && still >= NATIVE_EVEN;
    const int64_t max = even ? still : NATIVE_UPSAMPLED_ROW, m = n < max ? n : max;
    char *buffer = w->scratch;

    for (int k = 0; k < a->n_in; k++) {
      if (w->f->upsampled[k]) {
        w->row.p[k] = even ? at[k].from : buffer;
        if (!even) {
          exec_expand(buffer, a->in[k].dtype, at[k], m);
        }
        buffer += NATIVE_UPSAMPLED_ROW * 8;
      }
    }
    w->row.n = m;
    call(w, even ? w->kernels->even : w->unit ? w->kernels->unit : w->kernels->strided);
    native_walk_advance(w, m);
    n -= m;
  }
  w->row = kept;
}

static void call_inside(native_walk *w, int64_t n)
{
  if (n > 0 && w->f->has_upsampled) {
    call_upsampled(w, n);
  } else if (n > 0) {
    w->row.n = n;
    call(w, w->unit ? w->kernels->unit : w->kernels->strided);
  }
}

int native_walk_second(native_walk *w)
{
  const native_form *f = w->f;
  const weir_access *a = f->access;
  const int n = f->shape == NATIVE_MAP ? w->n_outer : w->n_around;
  const int second = n > 0 ? (f->shape == NATIVE_MAP ? w->outer : w->around)[n - 1] : -1;

  if (f->second < 0 || second < 0 || !w->inside || (!w->unit && !f->strides)) {
    return -1; /* `border`, which serves for what is strided, runs one row */
  }
  for (int k = 0; k < a->n_in; k++) {
    if (second != f->second && divides_along(w, k, second)) {
      return -1;
    }
    w->row.row_step[k] = f->in[k].data ? w->step[k][second] : 0;
  }
  for (int k = 0; k < a->n_out; k++) {
    w->row.row_step_out[k] = f->out[k].data ? w->step_out[k][second] : 0;
  }
  return second;
}

void native_walk_row(native_walk *w, int64_t n)
{
  int64_t range[2];

  if (w->inside) {
    call_inside(w, n);
    return;
  }
  native_walk_inside(w, n, range);
  call_border(w, range[0]);
  call_inside(w, range[1] - range[0]);
  if (range[1] < n) {
    native_walk_advance(w, range[1] - range[0]);
    call_border(w, n - range[1]);
  }
}
