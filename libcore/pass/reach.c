/* reach.c - iterations of a group's members for one tile, composed backwards from the anchor. */
#include "pass/weir_reach.h"

#include <string.h>

static int64_t divisor(const weir_index *x)
{
  return x->div > 1 ? x->div : 1;
}

static int64_t extent_of(const weir_dim *d, int64_t slots)
{
  return d->hi >= WEIR_UNBOUNDED ? slots : d->hi - d->lo;
}

void weir_reach_elements(const weir_operand *o, const weir_access *a, const weir_reach *iterations,
                         weir_reach *elements)
{
  *elements = (weir_reach){.any = iterations->any};
  for (int d = o->role == WEIR_ROLE_STATE ? 1 : 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];
    int64_t lo = x->offset, hi = x->offset;
    bool whole =
        x->gather != 0 || x->border == WEIR_BORDER_WRAP || x->border == WEIR_BORDER_REFLECT;

    for (int k = 0; k < a->n_dims; k++) {
      const int64_t c = x->coef[k];

      if (c != 0 && iterations->whole[k]) {
        whole = true;
      } else if (c != 0) {
        lo += c > 0 ? c * iterations->lo[k] : c * (iterations->hi[k] - 1);
        hi += c > 0 ? c * (iterations->hi[k] - 1) : c * iterations->lo[k];
      }
    }
    /* A division adds one on either side: its phase depends on where the tile is. */
    elements->whole[d] = whole;
    elements->lo[d] = weir_floor_div(lo, divisor(x)) - (divisor(x) > 1);
    elements->hi[d] = weir_floor_div(hi, divisor(x)) + 1 + (divisor(x) > 1);
  }
  for (int d = 0; d < o->rank && o->role == WEIR_ROLE_STATE; d++) {
    elements->whole[d] = true;
  }
}

int64_t weir_reach_length(const weir_reach *r, int d, int64_t extent)
{
  const int64_t n = r->hi[d] - r->lo[d];

  return r->whole[d] || n > extent ? extent : n < 0 ? 0 : n;
}

bool weir_reach_is_identity(const weir_operand *o, const weir_access *a)
{
  if (o->rank != a->n_dims || o->role != WEIR_ROLE_DATA) {
    return false;
  }
  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];

    if (x->offset != 0 || x->div > 1 || x->gather != 0 || a->dim[d].lo != 0 ||
        a->dim[d].hi != o->extent[d]) {
      return false;
    }
    for (int k = 0; k < a->n_dims; k++) {
      if (x->coef[k] != (k == d)) {
        return false;
      }
    }
  }
  return true;
}

/* Extent of the one reduced dimension k of the index and what it is multiplied with elsewhere: the
 * index is stride * i + k, k < stride. */
static bool is_side_by_side(const weir_index *x, const weir_access *a, unsigned *used)
{
  int64_t stride = 0, taps = 1;

  for (int k = 0; k < a->n_dims; k++) {
    if (x->coef[k] == 0) {
      continue;
    }
    if (x->coef[k] < 0 || (*used >> k & 1) != 0) {
      return false;
    }
    *used |= 1u << k;
    if (a->dim[k].kind == WEIR_REDUCED && taps == 1 && x->coef[k] == 1) {
      taps = a->dim[k].hi - a->dim[k].lo;
    } else if (a->dim[k].kind != WEIR_REDUCED && stride == 0) {
      stride = x->coef[k];
    } else {
      return false;
    }
  }
  return x->div <= 1 && x->gather == 0 && (stride == 0 || taps <= stride);
}

bool weir_reach_reads_once(const weir_operand *o, const weir_access *a)
{
  unsigned used = 0;

  for (int d = 0; d < o->rank; d++) {
    if (!is_side_by_side(&o->index[d], a, &used)) {
      return false;
    }
  }
  return used == (1u << a->n_dims) - 1;
}

static void widen(weir_reach *to, const weir_reach *more, int rank)
{
  for (int d = 0; d < rank; d++) {
    to->lo[d] = !to->any || more->lo[d] < to->lo[d] ? more->lo[d] : to->lo[d];
    to->hi[d] = !to->any || more->hi[d] > to->hi[d] ? more->hi[d] : to->hi[d];
    to->whole[d] = to->whole[d] || more->whole[d];
  }
  to->any = true;
}

/* Iterations of `a` that write those elements of its output. */
static weir_reach writers_of(const weir_access *a, const weir_operand *out,
                             const weir_reach *elements, int64_t slots)
{
  weir_reach r = {.any = true};

  for (int k = 0; k < a->n_dims; k++) {
    r.lo[k] = a->dim[k].lo;
    r.hi[k] = a->dim[k].lo + extent_of(&a->dim[k], slots);
    for (int d = 0; d < out->rank; d++) {
      if (out->index[d].coef[k] == 1) {
        r.lo[k] = elements->lo[d] - out->index[d].offset;
        r.hi[k] = elements->hi[d] - out->index[d].offset;
        r.whole[k] = elements->whole[d];
      } else if (out->index[d].coef[k] != 0) {
        r.whole[k] = true;
      }
    }
  }
  return r;
}

void weir_reach_compose(const weir_member *members, int32_t n, const int64_t *tile, int64_t slots,
                        weir_reach *reach)
{
  const weir_access *anchor = members[n - 1].access;

  memset(reach, 0, (size_t)n * sizeof(*reach));
  reach[n - 1].any = true;
  for (int d = 0; d < anchor->n_dims; d++) {
    const int64_t extent = extent_of(&anchor->dim[d], slots);
    const bool tiled = tile[d] > 0 && tile[d] < extent;

    reach[n - 1].lo[d] = tiled ? 0 : anchor->dim[d].lo;
    reach[n - 1].hi[d] = reach[n - 1].lo[d] + (tiled ? tile[d] : extent);
  }
  for (int32_t k = n - 2; k >= 0; k--) {
    const weir_member *maker = &members[k];

    for (int o = 0; o < maker->access->n_out; o++) {
      for (int32_t j = k + 1; j < n; j++) {
        for (int i = 0; i < members[j].access->n_in && reach[j].any; i++) {
          weir_reach elements;

          if (members[j].in[i] == maker->out[o]) {
            weir_reach_elements(&members[j].access->in[i], members[j].access, &reach[j], &elements);
            const weir_reach more =
                writers_of(maker->access, &maker->access->out[o], &elements, slots);

            widen(&reach[k], &more, maker->access->n_dims);
          }
        }
      }
    }
  }
}

/* Iterations of each dimension per step of the anchor's dimension `along`. */
typedef struct pace {
  double of[WEIR_MAX_DIMS];
  bool any;
} pace;

static double pace_of_index(const weir_index *x, const weir_access *a, const pace *p)
{
  double sum = 0;

  for (int k = 0; k < a->n_dims; k++) {
    sum += x->coef[k] != 0 ? (double)x->coef[k] * p->of[k] : 0;
  }
  return sum / (double)divisor(x);
}

/* What a reader's pace asks of the writer; false when it differs from what another reader asked. */
static bool ask(pace *writer, const weir_access *w, const weir_operand *out, const weir_access *r,
                const weir_operand *in, const pace *reader)
{
  pace asked = {.any = true};

  for (int k = 0; k < w->n_dims; k++) {
    for (int d = 0; d < out->rank; d++) {
      if (out->index[d].coef[k] != 0) {
        asked.of[k] = pace_of_index(&in->index[d], r, reader) / (double)out->index[d].coef[k];
      }
    }
    if (writer->any && writer->of[k] != asked.of[k]) {
      return false;
    }
  }
  *writer = asked;
  return true;
}

static bool keeps_pace(const weir_member *members, int32_t n, int along, pace *paces)
{
  memset(paces, 0, (size_t)n * sizeof(*paces));
  paces[n - 1].of[along] = 1;
  paces[n - 1].any = true;
  for (int32_t k = n - 2; k >= 0; k--) {
    for (int o = 0; o < members[k].access->n_out; o++) {
      for (int32_t j = k + 1; j < n; j++) {
        for (int i = 0; i < members[j].access->n_in && paces[j].any; i++) {
          if (members[j].in[i] == members[k].out[o] &&
              !ask(&paces[k], members[k].access, &members[k].access->out[o], members[j].access,
                   &members[j].access->in[i], &paces[j])) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

bool weir_reach_keeps_pace(const weir_member *members, int32_t n, const int64_t *tile)
{
  enum { MOST = 64 };
  const weir_access *anchor = members[n - 1].access;
  pace paces[MOST];

  if (n > MOST) {
    return false;
  }
  for (int d = 0; d < anchor->n_dims; d++) {
    const bool bounded = anchor->dim[d].hi < WEIR_UNBOUNDED;

    if (bounded && (tile[d] <= 0 || tile[d] >= anchor->dim[d].hi - anchor->dim[d].lo)) {
      continue;
    }
    if (!keeps_pace(members, n, d, paces)) {
      return false;
    }
  }
  return true;
}
