/* access_marks.c - elements of an array marked one by one: what is exact where no formula is. */
#include "graph/access/access_count.h"

#include <string.h>

#include "base/weir_alloc.h"

/* Elements in a bitmap; beyond, an upper bound is taken. */
enum { MAX_BITS = 1 << 27 };

bool weir_marks_init(struct weir_marks *m, const weir_box *window)
{
  void *bits;

  *m = (struct weir_marks){.window = *window};
  const int64_t volume = weir_box_volume(window);
  if (volume > MAX_BITS || weir_alloc((volume + 63) / 64, sizeof *m->bits, &bits) != WEIR_OK) {
    return false;
  }
  m->bits = bits;
  return true;
}

void weir_marks_fini(struct weir_marks *m)
{
  weir_free(&m->bits);
}

/* Marks the element of one iteration: array dimensions `elements`, in the order of the window's. */
static void mark(const struct weir_use *u, const int64_t *at, uint32_t elements,
                 struct weir_marks *m)
{
  int64_t position = 0;
  int w = 0;

  for (int d = 0; d < u->x->rank; d++) {
    bool inside;
    if ((elements >> d & 1) == 0) {
      continue;
    }
    const weir_index *x = &u->x->index[d];
    const int64_t i =
        weir_index_border(x, weir_index_raw(x, u->box.rank, at, 0), u->x->extent[d], &inside);
    if (!inside) {
      return;
    }
    position = position * (m->window.hi[w] - m->window.lo[w]) + (i - m->window.lo[w]);
    w++;
  }
  uint64_t *word = &m->bits[position / 64];
  const uint64_t bit = UINT64_C(1) << (position % 64);
  m->count += (*word & bit) == 0;
  *word |= bit;
}

/* True when an iteration survives that is `at` in the dimensions of `mask`, the others anywhere. */
static bool any_survives(const struct weir_use *u, const struct weir_limits *limits, uint32_t mask,
                         const int64_t *at, int64_t *budget)
{
  weir_box box = u->box;

  for (int k = 0; k < box.rank; k++) {
    if ((mask >> k & 1) != 0) {
      box.lo[k] = at[k];
      box.hi[k] = at[k] + 1;
    }
  }
  return weir_limits_count(limits, &box, 0, true, budget) > 0;
}

bool weir_use_mark(const struct weir_use *u, uint32_t elements, const struct weir_limits *limits,
                   struct weir_marks *m)
{
  uint32_t mask = 0;
  int64_t at[WEIR_MAX_DIMS], budget = WEIR_MAX_POINTS;

  for (int d = 0; d < u->x->rank; d++) {
    if ((elements >> d & 1) != 0) {
      mask |= weir_use_dims(u, d);
    }
  }
  bool hidden = false; /* limits see dimensions that the elements do not */
  for (int i = 0; i < limits->n; i++) {
    for (int k = 0; k < u->box.rank; k++) {
      hidden = hidden || ((mask >> k & 1) == 0 && limits->at[i].coef[k] != 0);
    }
  }
  int64_t *const left = m->points_left;
  *left -= weir_box_points(&u->box, mask);
  if (*left < 0) {
    return false;
  }
  memcpy(at, u->box.lo, sizeof at);
  for (int k = 0; k >= 0;) {
    if (weir_limits_hold(limits, at, u->box.rank) ||
        (hidden && any_survives(u, limits, mask, at, &budget))) {
      mark(u, at, elements, m);
    }
    for (k = u->box.rank - 1; k >= 0; k--) {
      if ((mask >> k & 1) == 0) {
        continue;
      }
      if (++at[k] < u->box.hi[k]) {
        break;
      }
      at[k] = u->box.lo[k];
    }
  }
  return budget >= 0;
}
