/* native_walk_nest.c - a box readied for the kernel `nest`: its tables, and rows without what they
 * look up. */
#include "exec/backend/native/native_walk.h"

/* Where every number that index d of input k divides in this box leads; false where a fill is
 * loaded, or the buffer is too small. */
static bool make_table(native_walk *w, int k, int d, int number, int64_t *used)
{
  weir_index x = w->f->access->in[k].index[d];
  const weir_view *v = &w->run->in[k];
  const int64_t div = weir_index_divisor(&x);
  int64_t min, max, *to = w->tables + *used;

  x.div = 1;
  weir_index_range(&x, &w->run->box, &min, &max);
  if (max - min >= NATIVE_TABLE_CAPACITY - *used) {
    return false;
  }
  int64_t raw = weir_floor_div(min, div), rest = min - raw * div;

  for (int64_t i = 0; i <= max - min; i++) {
    bool inside = raw >= 0 && raw < v->extent[d];
    const int64_t at = inside ? raw : weir_index_border(&x, raw, v->extent[d], &inside);

    if (!inside && x.border != WEIR_BORDER_ABSENT) {
      return false;
    }
    to[i] = inside ? (at - v->origin[d]) * v->stride[d] : NATIVE_ABSENT;
    rest++;
    raw += rest == div;
    rest = rest == div ? 0 : rest;
  }
  *used += max - min + 1;
  w->row.table[number] = to;
  w->row.min[number] = min;
  return true;
}

/* No input leaves its array along the row, and outputs lie densely there. */
static bool has_plain_rows(const native_walk *w)
{
  const weir_access *a = w->f->access;
  bool plain = w->unit;

  for (int k = 0; k < a->n_in && plain; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      if (native_walk_is_bordered(w, k, d) && a->in[k].index[d].coef[w->f->inner] != 0) {
        int64_t min, max;

        weir_index_range(&a->in[k].index[d], &w->run->box, &min, &max);
        plain = plain && min >= 0 && max < w->run->in[k].extent[d];
      }
    }
  }
  for (int k = 0; k < a->n_out; k++) {
    plain = plain && w->row.t[k] == 1;
  }
  return plain;
}

/* Rows continue along dimensions that make no difference. */
static void join_unasked(native_walk *w)
{
  while (w->n_outer > 0 && (w->f->asked >> w->f->inner & 1) == 0) {
    const int d = w->outer[w->n_outer - 1];

    if ((w->f->asked >> d & 1) != 0 || !native_walk_continues(w, d)) {
      return;
    }
    w->n *= w->hi[d] - w->lo[d];
    w->n_outer--;
  }
}

bool native_walk_nest(native_walk *w)
{
  const native_form *f = w->f;
  const weir_access *a = f->access;
  int64_t used = 0;
  int n = 0;

  if (!f->nest || w->scattered || !has_plain_rows(w)) {
    return false;
  }
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      if (native_is_tabled(f, k, d) && !make_table(w, k, d, n++, &used)) {
        return false;
      }
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    unsigned apart = 0;

    for (int d = 0; d < a->in[k].rank; d++) {
      apart |= (unsigned)native_is_tabled(f, k, d) << d;
    }
    /* The table has the remainder only: the quotient is added as any other index is. */
    native_walk_set_steps(&a->in[k], &w->run->in[k], a->n_dims, apart,
                          f->carries[k] & ~(apart >> 1), &w->start[k], w->step[k]);
  }
  w->nest = true;
  w->n = w->hi[f->inner] - w->lo[f->inner];
  w->n_outer = 0;
  for (int j = 0; j < f->n_outer; j++) {
    if (f->outer[j] != f->line) {
      w->outer[w->n_outer++] = f->outer[j];
    }
  }
  join_unasked(w);
  w->row.m = f->line >= 0 ? w->hi[f->line] - w->lo[f->line] : 1;
  w->row.step = (const int64_t(*)[NATIVE_DIMS])w->step;
  for (int k = 0; k < a->n_out; k++) {
    w->row.row_step_out[k] = f->line >= 0 ? w->step_out[k][f->line] : 0;
  }
  return true;
}
