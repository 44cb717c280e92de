/* native_run.c - rows of a box in order, and the order in which partial results merge. */
#include "exec/backend/native/native_walk.h"
#include "device/weir_copy.h"
#include "exec/exec_priv.h"

#include <string.h>

static void run_map(native_walk *w)
{
  const int second = native_walk_second(w);
  const int n_outer = second >= 0 ? w->n_outer - 1 : w->n_outer;

  w->row.m = second >= 0 ? w->hi[second] - w->lo[second] : 1;
  do {
    native_walk_locate(w);
    native_walk_row(w, w->n);
  } while (native_walk_next(w, w->outer, n_outer));
}

static void run_scan(native_walk *w)
{
  const weir_state_table *cells = w->run->state;

  do {
    do {
      native_walk_locate(w);
      w->row.cells = cells != NULL ? (char *)(cells->cells + w->row.point) : NULL;
      w->row.points = cells != NULL ? cells->points : 0;
      native_walk_row(w, w->n);
    } while (native_walk_next(w, w->around, w->n_around));
  } while (native_walk_next(w, w->outer, w->n_outer));
}

/* Partial results of n neighbouring outputs: all lanes, and the tree over finished blocks. */
typedef struct partials {
  char *lane[3], *slot[3]; /* [lanes][n] and [levels][n] per component */
  int64_t width[3];        /* bytes of n elements                      */
  int64_t n, blocks;
  int lanes, components, depth;
} partials;

static void layout(partials *p, const native_form *f, int64_t n, char *scratch)
{
  p->n = n;
  p->blocks = 0;
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
static void merge(const native_walk *w, const partials *p, char *const base[3], const int at[3])
{
  char *left[3], *right[3];

  for (int c = 0; c < p->components; c++) {
    left[c] = base[c] + at[0] * p->width[c];
    right[c] = base[c] + at[1] * p->width[c];
  }
  w->kernels->merge(left, right, at[2] * p->n);
}

/* Merges the lanes into lane 0. Lanes that no iteration reaches are neutral and left out. */
static void merge_lanes(const native_walk *w, const partials *p)
{
  int active = p->lanes;

  for (int half = WEIR_LANES / 2; half > 0; half /= 2) {
    if (active > half) {
      merge(w, p, p->lane, (const int[3]){0, half, active - half});
      active = half;
    }
  }
}

static void end_block(const native_walk *w, partials *p)
{
  merge_lanes(w, p);
  for (int c = 0; c < p->components; c++) {
    memcpy(p->slot[c] + p->depth * p->width[c], p->lane[c], (size_t)p->width[c]);
  }
  p->depth++;
  for (int64_t number = p->blocks; (number & 1) != 0; number /= 2) {
    p->depth--;
    merge(w, p, p->slot, (const int[3]){p->depth - 1, p->depth, 1});
  }
  p->blocks++;
  w->kernels->neutral(p->lane, p->lanes * p->n);
}

/* The result of `taken` iterations into the outputs at the row's position. */
static void end_outputs(native_walk *w, partials *p, int64_t taken)
{
  const bool one = p->blocks == 0;

  if (one) {
    merge_lanes(w, p);
  } else if (taken % WEIR_REDUCE_BLOCK != 0) {
    end_block(w, p);
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

static bool reduces_nothing(const native_walk *w)
{
  for (int k = 0; k < w->f->access->n_dims; k++) {
    if (w->f->access->dim[k].kind == WEIR_REDUCED && w->lo[k] >= w->hi[k]) {
      return true;
    }
  }
  return false;
}

static void run_lanes(native_walk *w, char *scratch)
{
  const bool nothing = reduces_nothing(w);
  partials p;

  do {
    int64_t at = 0;
    layout(&p, w->f, 1, scratch);
    w->kernels->neutral(p.lane, WEIR_LANES);
    do {
      native_walk_locate(w);
      for (int64_t left = nothing ? 0 : w->n; left > 0;) {
        const int64_t fit = WEIR_REDUCE_BLOCK - at % WEIR_REDUCE_BLOCK, n = left < fit ? left : fit;
        memcpy(w->row.acc, p.lane, sizeof p.lane);
        w->row.at = at;
        native_walk_row(w, n);
        at += n;
        left -= n;
        if (left > 0) {
          native_walk_locate(w);
          native_walk_advance(w, w->n - left);
        }
        if (at % WEIR_REDUCE_BLOCK == 0) {
          end_block(w, &p);
        }
      }
    } while (!nothing && native_walk_next(w, w->around, w->n_around));
    end_outputs(w, &p, at);
  } while (native_walk_next(w, w->outer, w->n_outer));
}

/* The reduced iterations of a strip at w->i and, where `second` is a dimension, those after it;
 * *at of them came before. */
static void take_rows(native_walk *w, partials *p, int64_t from, int second, int64_t *at)
{
  const int64_t all = second >= 0 ? w->hi[second] - w->lo[second] : 1;

  for (int64_t done = 0; done < all; done += w->row.m) {
    const int64_t fit = WEIR_REDUCE_BLOCK - *at % WEIR_REDUCE_BLOCK;

    if (second >= 0) {
      w->i[second] = w->lo[second] + done;
    }
    native_walk_locate(w);
    native_walk_advance(w, from);
    for (int c = 0; c < p->components; c++) {
      w->row.acc[c] = p->lane[c];
    }
    w->row.at = *at;
    w->row.wide = p->n;
    w->row.m = all - done < fit ? all - done : fit;
    native_walk_row(w, p->n);
    *at += w->row.m;
    if (*at % WEIR_REDUCE_BLOCK == 0) {
      end_block(w, p);
    }
  }
  if (second >= 0) {
    w->i[second] = w->lo[second];
  }
}

/* All reduced iterations of the n outputs that begin `from` outputs along the row. */
static void run_strip(native_walk *w, int64_t from, int64_t n, char *scratch)
{
  const bool nothing = reduces_nothing(w);
  const int second = native_walk_second(w);
  const int n_around = second >= 0 ? w->n_around - 1 : w->n_around;
  int64_t at = 0;
  partials p;

  layout(&p, w->f, n, scratch);
  w->kernels->neutral(p.lane, p.lanes * n);
  if (!nothing) {
    do {
      take_rows(w, &p, from, second, &at);
    } while (native_walk_next(w, w->around, n_around));
  }
  native_walk_locate(w);
  native_walk_advance(w, from);
  end_outputs(w, &p, at);
}

static void run_section(native_walk *w, int64_t from, int64_t to, char *scratch)
{
  for (; from < to; from += w->f->strip) {
    const int64_t left = to - from;
    run_strip(w, from, left < w->f->strip ? left : w->f->strip, scratch);
  }
}

/* True when the kernel `small` serves; sets what it needs. */
static bool takes_small(native_walk *w)
{
  const weir_access *a = w->f->access;
  bool right = w->f->small > 0 && w->unit && !reduces_nothing(w);
  int r = 0;

  for (int k = 0; k < a->n_out && right; k++) {
    right = a->out[k].role != WEIR_ROLE_DATA || w->row.t[k] == 1;
  }
  if (!right) {
    return false;
  }
  do {
    for (int k = 0; k < a->n_in; k++) {
      int64_t at = 0;
      for (int d = 0; d < w->n_around; d++) {
        at += (w->i[w->around[d]] - w->lo[w->around[d]]) * w->step[k][w->around[d]];
      }
      w->offset[r * NATIVE_OPERANDS + k] = at;
    }
    r++;
  } while (native_walk_next(w, w->around, w->n_around));
  w->row.offset = w->offset;
  return r == w->f->small;
}

/* Outputs of the row whose reduced iterations all stay inside. */
static void inside_of_all(native_walk *w, int64_t range[2])
{
  range[0] = 0;
  range[1] = w->n;
  if (w->inside) {
    return;
  }
  do {
    int64_t one[2];
    native_walk_locate(w);
    native_walk_inside(w, w->n, one);
    range[0] = one[0] > range[0] ? one[0] : range[0];
    range[1] = one[1] < range[1] ? one[1] : range[1];
  } while (native_walk_next(w, w->around, w->n_around));
  if (range[1] <= range[0]) {
    range[0] = range[1] = 0;
  }
}

static void run_strips(native_walk *w, char *scratch)
{
  const bool small = takes_small(w);

  do {
    int64_t range[2] = {0, 0};
    if (small) {
      inside_of_all(w, range);
      run_section(w, 0, range[0], scratch);
      if (range[1] > range[0]) {
        native_walk_locate(w);
        w->row.acc[0] = w->row.acc[1] = w->row.acc[2] = scratch;
        native_walk_advance(w, range[0]);
        w->row.n = range[1] - range[0];
        w->kernels->small(&w->row);
      }
    }
    run_section(w, range[1], w->n, scratch);
  } while (native_walk_next(w, w->outer, w->n_outer));
}

/* Rows of the kernel `nest`, as many outputs at a time as the lane buffers allow. */
static void run_nest(native_walk *w, char *scratch)
{
  const native_form *f = w->f;
  const int64_t max = f->components > 0 && f->strip < w->n ? f->strip : w->n;
  partials p;

  layout(&p, f, max, scratch);
  if (f->components > 0) {
    w->kernels->neutral(p.slot, max);
  }
  for (int c = 0; c < f->components; c++) {
    w->row.neutral[c] = p.slot[c];
  }
  w->row.wide = max;
  do {
    native_walk_locate(w);
    for (int64_t done = 0; done < w->n; done += max) {
      const int64_t left = w->n - done;

      memcpy(w->row.acc, p.lane, sizeof p.lane);
      w->row.n = left < max ? left : max;
      w->kernels->nest(&w->row);
      if (left > max) {
        native_walk_advance(w, max);
      }
    }
  } while (native_walk_next(w, w->outer, w->n_outer));
}

void native_run(const native_form *f, const native_kernels *kernels, const weir_loop_run *run)
{
  _Alignas(64) char scratch[NATIVE_SCRATCH + 512];
  int64_t tables[NATIVE_TABLE_CAPACITY], offset[NATIVE_OFFSETS];
  native_walk w = {.n_outer = 0, .scratch = scratch, .offset = offset, .tables = tables};

  if (!exec_has_points(f->access, &run->box)) {
    return;
  }
  native_walk_begin(&w, f, kernels, run);
  if (native_walk_nest(&w)) {
    run_nest(&w, scratch);
    return;
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
  if (run->past != 0) {
    weir_copy_fence();
  }
}
