/* native_run.c - a box as rows: where they lie, which part of each stays inside the arrays, and the
 * order in which partial results of a reduction merge. */
#include "exec/native_priv.h"

#include <string.h>

/* What the rows of one run share. */
typedef struct walk {
  const native_form *f;
  const native_kernels *kernels;
  const weir_loop_run *run;
  weir_dim_kind direction[WEIR_MAX_DIMS];
  int64_t lo[WEIR_MAX_DIMS], hi[WEIR_MAX_DIMS];
  int64_t i[WEIR_MAX_DIMS];      /* the iteration at which the next row starts */
  int64_t weight[WEIR_MAX_DIMS]; /* of a parallel dimension in `point`          */
  char *start[WEIR_MAX_OPERANDS], *start_out[WEIR_MAX_OUTPUTS]; /* iteration 0 of plain operands */
  int64_t step[WEIR_MAX_OPERANDS][WEIR_MAX_DIMS], step_out[WEIR_MAX_OUTPUTS][WEIR_MAX_DIMS];
  int64_t size[WEIR_MAX_OPERANDS], size_out[WEIR_MAX_OUTPUTS];
  int outer[WEIR_MAX_DIMS], n_outer, around[WEIR_MAX_DIMS], n_around;
  int64_t n; /* iterations of a whole row */
  bool inside, unit;
  native_row row;
} walk;

/* First and last value that the iterations of the box give index x, before division. */
static void range_of(const walk *w, const weir_index *x, int64_t *lo, int64_t *hi)
{
  *lo = x->offset + (x->gather > 0 ? x->gather_lo : 0);
  *hi = x->offset + (x->gather > 0 ? x->gather_hi - 1 : 0);
  for (int k = 0; k < w->f->access->n_dims; k++) {
    const int64_t a = x->coef[k] * w->lo[k], b = x->coef[k] * (w->hi[k] - 1);
    *lo += a < b ? a : b;
    *hi += a < b ? b : a;
  }
}

/* Numerators below this stay inside an extent. */
static int64_t limit_of(const weir_index *x, int64_t extent)
{
  int64_t limit;

  return x->div > 1 && __builtin_mul_overflow(extent, x->div, &limit) ? INT64_MAX / 2
         : x->div > 1                                                 ? limit
                                                                      : extent;
}

static bool is_bordered(const weir_operand *o, int d)
{
  return o->role == WEIR_ROLE_DATA && o->index[d].border != WEIR_BORDER_NEVER;
}

static bool stays_inside(const walk *w)
{
  const weir_access *a = w->f->access;

  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      int64_t lo, hi;
      if (!is_bordered(&a->in[k], d)) {
        continue;
      }
      range_of(w, &a->in[k].index[d], &lo, &hi);
      if (lo < 0 || hi >= limit_of(&a->in[k].index[d], w->run->in[k].extent[d])) {
        return false;
      }
    }
  }
  return true;
}

static void set_steps(const weir_operand *o, const weir_view *v, int n_dims, char **start,
                      int64_t *step)
{
  int64_t at = 0;

  memset(step, 0, sizeof(int64_t) * WEIR_MAX_DIMS);
  for (int d = 0; d < o->rank; d++) {
    at += (o->index[d].offset - v->origin[d]) * v->stride[d];
    for (int k = 0; k < n_dims; k++) {
      step[k] += o->index[d].coef[k] * v->stride[d];
    }
  }
  *start = (char *)v->data + at * (int64_t)weir_dtype_size(o->dtype);
}

static bool is_data(const weir_operand *o, bool plain)
{
  return plain && o->role == WEIR_ROLE_DATA;
}

/* Iterations of dimension d continue those of the inner one, so that both make one row. */
static bool continues(const walk *w, int d)
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;

  for (int k = 0; k < a->n_in; k++) {
    if (is_data(&a->in[k], true) && w->step[k][d] != w->step[k][inner] * w->n) {
      return false;
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    if (is_data(&a->out[k], true) && w->step_out[k][d] != w->step_out[k][inner] * w->n) {
      return false;
    }
  }
  return true;
}

static void join_rows(walk *w)
{
  const bool lanes = w->f->shape == NATIVE_LANES;
  int *list = lanes ? w->around : w->outer, *n = lanes ? &w->n_around : &w->n_outer;

  if (!w->inside || w->f->positions || w->f->shape == NATIVE_SCAN || w->f->inner < 0) {
    return;
  }
  while (*n > 0 && continues(w, list[*n - 1])) {
    --*n;
    w->n *= w->hi[list[*n]] - w->lo[list[*n]];
  }
}

static bool has_unit_steps(const walk *w)
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;
  const bool writes = w->f->shape == NATIVE_MAP || w->f->shape == NATIVE_SCAN;

  for (int k = 0; k < a->n_in && inner >= 0; k++) {
    if (is_data(&a->in[k], w->f->plain[k]) && w->step[k][inner] != 1) {
      for (int d = 0; d < a->in[k].rank; d++) {
        if (a->in[k].index[d].coef[inner] != 0) {
          return false;
        }
      }
    }
  }
  for (int k = 0; k < a->n_out && inner >= 0 && writes; k++) {
    if (is_data(&a->out[k], w->f->plain_out[k]) && w->step_out[k][inner] != 1) {
      return false;
    }
  }
  return true;
}

static void set_row_steps(walk *w)
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;
  const int64_t sign = inner >= 0 && a->dim[inner].kind == WEIR_BACKWARD ? -1 : 1;

  for (int k = 0; k < a->n_in; k++) {
    w->row.s[k] = inner >= 0 && is_data(&a->in[k], w->f->plain[k]) ? sign * w->step[k][inner] : 0;
  }
  for (int k = 0; k < a->n_out; k++) {
    w->row.t[k] =
        inner >= 0 && is_data(&a->out[k], w->f->plain_out[k]) ? sign * w->step_out[k][inner] : 0;
  }
  w->row.point_step = inner >= 0 && a->dim[inner].kind == WEIR_PARALLEL ? w->weight[inner] : 0;
}

static void begin(walk *w, const native_form *f, const native_kernels *kernels,
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
    w->size[k] = (int64_t)weir_dtype_size(a->in[k].dtype);
    if (is_data(&a->in[k], f->plain[k])) {
      set_steps(&a->in[k], &run->in[k], a->n_dims, &w->start[k], w->step[k]);
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    w->size_out[k] = (int64_t)weir_dtype_size(a->out[k].dtype);
    if (is_data(&a->out[k], f->plain_out[k])) {
      set_steps(&a->out[k], &run->out[k], a->n_dims, &w->start_out[k], w->step_out[k]);
    }
  }
  memcpy(w->outer, f->outer, sizeof w->outer);
  memcpy(w->around, f->around, sizeof w->around);
  w->n_outer = f->n_outer;
  w->n_around = f->n_around;
  w->n = f->inner >= 0 ? w->hi[f->inner] - w->lo[f->inner] : 1;
  w->row.in = (const native_view *)(const void *)run->in;
  w->row.out = (const native_view *)(const void *)run->out;
  w->inside = stays_inside(w);
  w->unit = has_unit_steps(w);
  join_rows(w);
  set_row_steps(w);
}

/* First iteration of the listed dimensions, by direction. */
static void rewind_dims(walk *w, const int *list, int n)
{
  for (int j = 0; j < n; j++) {
    const bool down = w->f->access->dim[list[j]].kind == WEIR_BACKWARD;
    w->i[list[j]] = down ? w->hi[list[j]] - 1 : w->lo[list[j]];
  }
}

/* Next iteration of the listed dimensions, the last one fastest; false after the last, when all are
 * back at the first. */
static bool next(walk *w, const int *list, int n)
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

/* Puts the row at iteration w->i. */
static void place(walk *w)
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
    if (is_data(&a->in[k], w->f->plain[k])) {
      int64_t at = 0;
      for (int d = 0; d < a->n_dims; d++) {
        at += w->i[d] * w->step[k][d];
      }
      row->p[k] = w->start[k] + at * w->size[k];
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    if (is_data(&a->out[k], w->f->plain_out[k])) {
      int64_t at = 0;
      for (int d = 0; d < a->n_dims; d++) {
        at += w->i[d] * w->step_out[k][d];
      }
      row->q[k] = w->start_out[k] + at * w->size_out[k];
    }
  }
}

/* Moves the row's start u iterations on. */
static void advance(walk *w, int64_t u)
{
  const native_form *f = w->f;
  const weir_access *a = f->access;
  native_row *row = &w->row;

  for (int k = 0; k < a->n_in; k++) {
    row->p[k] += u * row->s[k] * w->size[k];
  }
  for (int k = 0; k < a->n_out; k++) {
    row->q[k] += u * row->t[k] * w->size_out[k];
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

/* The iterations [range[0], range[1]) of the row of n that leave no array. */
static void inside_of(const walk *w, int64_t n, int64_t range[2])
{
  const weir_access *a = w->f->access;
  const int inner = w->f->inner;
  const int64_t sign = inner >= 0 && a->dim[inner].kind == WEIR_BACKWARD ? -1 : 1;

  range[0] = 0;
  range[1] = n;
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const weir_index *x = &a->in[k].index[d];
      if (!is_bordered(&a->in[k], d)) {
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

static void call_border(walk *w, int64_t n)
{
  if (n > 0) {
    w->row.n = n;
    w->kernels->border(&w->row);
    advance(w, n);
  }
}

static void call_inside(walk *w, int64_t n)
{
  if (n > 0) {
    w->row.n = n;
    (w->unit ? w->kernels->unit : w->kernels->strided)(&w->row);
  }
}

/* The next n iterations of the placed row; leaves the row somewhere in them. */
static void run_row(walk *w, int64_t n)
{
  int64_t range[2];

  if (w->inside) {
    call_inside(w, n);
    return;
  }
  inside_of(w, n, range);
  call_border(w, range[0]);
  call_inside(w, range[1] - range[0]);
  if (range[1] < n) {
    advance(w, range[1] - range[0]);
    call_border(w, n - range[1]);
  }
}

static void run_map(walk *w)
{
  do {
    place(w);
    run_row(w, w->n);
  } while (next(w, w->outer, w->n_outer));
}

static void run_scan(walk *w)
{
  const weir_cells *cells = w->run->state;

  do {
    do {
      place(w);
      w->row.cells = cells != NULL ? (char *)(cells->cells + w->row.point) : NULL;
      w->row.points = cells != NULL ? cells->points : 0;
      run_row(w, w->n);
    } while (next(w, w->around, w->n_around));
  } while (next(w, w->outer, w->n_outer));
}

/* Partial results of n neighbouring outputs: all lanes, and the tree over finished slabs. */
typedef struct partials {
  char *lane[3], *slot[3]; /* [lanes][n] and [levels][n] per component */
  int64_t width[3];        /* bytes of n elements                      */
  int64_t n, slabs;
  int lanes, components, depth;
} partials;

static void layout(partials *p, const native_form *f, int64_t n, char *scratch)
{
  p->n = n;
  p->slabs = 0;
  p->depth = 0;
  p->lanes = f->shape == NATIVE_LANES ? WEIR_LANES : f->lanes;
  p->components = f->components;
  for (int c = 0; c < f->components; c++) {
    p->width[c] = n * (int64_t)weir_dtype_size(f->component[c]);
    p->lane[c] = scratch;
    scratch += (p->lanes * p->width[c] + 63) / 64 * 64;
    p->slot[c] = scratch;
    scratch += (f->levels * p->width[c] + 63) / 64 * 64;
  }
}

/* acc[a] <- merge(acc[a], acc[b]) for `count` neighbours in units of n elements. */
static void merge(const walk *w, const partials *p, char *const base[3], const int at[3])
{
  char *left[3], *right[3];

  for (int c = 0; c < p->components; c++) {
    left[c] = base[c] + at[0] * p->width[c];
    right[c] = base[c] + at[1] * p->width[c];
  }
  w->kernels->merge(left, right, at[2] * p->n);
}

/* Merges the lanes into lane 0. Lanes that no iteration reaches are neutral and left out. */
static void merge_lanes(const walk *w, const partials *p)
{
  int active = p->lanes;

  for (int half = WEIR_LANES / 2; half > 0; half /= 2) {
    if (active > half) {
      merge(w, p, p->lane, (const int[3]){0, half, active - half});
      active = half;
    }
  }
}

static void end_slab(const walk *w, partials *p)
{
  merge_lanes(w, p);
  for (int c = 0; c < p->components; c++) {
    memcpy(p->slot[c] + p->depth * p->width[c], p->lane[c], (size_t)p->width[c]);
  }
  p->depth++;
  for (int64_t number = p->slabs; (number & 1) != 0; number /= 2) {
    p->depth--;
    merge(w, p, p->slot, (const int[3]){p->depth - 1, p->depth, 1});
  }
  p->slabs++;
  w->kernels->neutral(p->lane, p->lanes * p->n);
}

/* The result of `taken` iterations into the outputs at the row's place. */
static void end_outputs(walk *w, partials *p, int64_t taken)
{
  const bool one = p->slabs == 0;

  if (one) {
    merge_lanes(w, p);
  } else if (taken % WEIR_SLAB != 0) {
    end_slab(w, p);
  }
  for (; p->depth > 1; p->depth--) {
    merge(w, p, p->slot, (const int[3]){p->depth - 2, p->depth - 1, 1});
  }
  for (int c = 0; c < p->components; c++) {
    w->row.acc[c] = one ? p->lane[c] : p->slot[c];
  }
  w->row.n = p->n;
  w->kernels->finish(&w->row);
}

static bool reduces_nothing(const walk *w)
{
  for (int k = 0; k < w->f->access->n_dims; k++) {
    if (w->f->access->dim[k].kind == WEIR_REDUCED && w->lo[k] >= w->hi[k]) {
      return true;
    }
  }
  return false;
}

static void run_lanes(walk *w, char *scratch)
{
  const bool nothing = reduces_nothing(w);
  partials p;

  do {
    int64_t at = 0;
    layout(&p, w->f, 1, scratch);
    w->kernels->neutral(p.lane, WEIR_LANES);
    do {
      place(w);
      for (int64_t left = nothing ? 0 : w->n; left > 0;) {
        const int64_t room = WEIR_SLAB - at % WEIR_SLAB, n = left < room ? left : room;
        memcpy(w->row.acc, p.lane, sizeof p.lane);
        w->row.at = at;
        run_row(w, n);
        at += n;
        left -= n;
        if (left > 0) {
          place(w);
          advance(w, w->n - left);
        }
        if (at % WEIR_SLAB == 0) {
          end_slab(w, &p);
        }
      }
    } while (!nothing && next(w, w->around, w->n_around));
    end_outputs(w, &p, at);
  } while (next(w, w->outer, w->n_outer));
}

/* All reduced iterations of the n outputs that begin `from` outputs along the row. */
static void run_strip(walk *w, int64_t from, int64_t n, char *scratch)
{
  const bool nothing = reduces_nothing(w);
  int64_t at = 0;
  partials p;

  layout(&p, w->f, n, scratch);
  w->kernels->neutral(p.lane, p.lanes * n);
  if (!nothing) {
    do {
      place(w);
      advance(w, from);
      for (int c = 0; c < p.components; c++) {
        w->row.acc[c] = p.lane[c] + at % WEIR_LANES * p.width[c];
      }
      w->row.at = at;
      run_row(w, n);
      at++;
      if (at % WEIR_SLAB == 0) {
        end_slab(w, &p);
      }
    } while (next(w, w->around, w->n_around));
  }
  place(w);
  advance(w, from);
  end_outputs(w, &p, at);
}

static void run_strips(walk *w, char *scratch)
{
  do {
    for (int64_t from = 0; from < w->n; from += w->f->strip) {
      const int64_t left = w->n - from;
      run_strip(w, from, left < w->f->strip ? left : w->f->strip, scratch);
    }
  } while (next(w, w->outer, w->n_outer));
}

void native_run(const native_form *f, const native_kernels *kernels, const weir_loop_run *run)
{
  _Alignas(64) char scratch[NATIVE_SCRATCH + 512];
  const weir_access *a = f->access;
  walk w = {.n_outer = 0};

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind != WEIR_REDUCED && run->box.lo[k] >= run->box.hi[k]) {
      return;
    }
  }
  begin(&w, f, kernels, run);
  for (int k = 0; k < a->n_dims; k++) {
    rewind_dims(&w, &k, 1);
  }
  switch (f->shape) {
  case NATIVE_MAP:
    run_map(&w);
    break;
  case NATIVE_SCAN:
    run_scan(&w);
    break;
  case NATIVE_LANES:
    run_lanes(&w, scratch);
    break;
  case NATIVE_STRIP:
    run_strips(&w, scratch);
    break;
  }
}
