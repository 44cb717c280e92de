/* reach.c - iterations of a group's members for one tile, composed backwards from the anchor. */
#include "graph/weir_reach.h"

#include <string.h>

static int64_t extent_of(const weir_dim *d, int64_t slots)
{
  return d->hi >= WEIR_UNBOUNDED ? slots : d->hi - d->lo;
}

/* The ranges as a box; what is not bounded stands still. */
static weir_box box_of(const weir_reach *r, int rank)
{
  weir_box b = {.rank = rank};

  for (int k = 0; k < rank; k++) {
    b.lo[k] = r->whole[k] ? 0 : r->lo[k];
    b.hi[k] = r->whole[k] ? 1 : r->hi[k];
  }
  return b;
}

void weir_reach_elements(const weir_operand *o, const weir_access *a, const weir_reach *iterations,
                         weir_reach *elements)
{
  const weir_box box = box_of(iterations, a->n_dims);

  *elements = (weir_reach){.any = iterations->any};
  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];
    /* A division adds one on either side: its phase depends on where the tile is. */
    const int64_t phase = weir_index_divisor(x) > 1;

    elements->whole[d] = o->role == WEIR_ROLE_STATE || x->gather != 0 ||
                         x->border == WEIR_BORDER_WRAP || x->border == WEIR_BORDER_REFLECT;
    for (int k = 0; k < a->n_dims; k++) {
      elements->whole[d] = elements->whole[d] || (x->coef[k] != 0 && iterations->whole[k]);
    }
    weir_index_range(x, &box, &elements->lo[d], &elements->hi[d]);
    elements->lo[d] -= phase;
    elements->hi[d] += 1 + phase;
  }
}

int64_t weir_reach_length(const weir_reach *r, int d, int64_t extent)
{
  const int64_t n = r->hi[d] - r->lo[d];

  return r->whole[d] || n > extent ? extent : n < 0 ? 0 : n;
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
  weir_box whole = {.rank = a->n_dims};

  for (int k = 0; k < a->n_dims; k++) {
    r.lo[k] = whole.lo[k] = a->dim[k].lo;
    r.hi[k] = whole.hi[k] = a->dim[k].lo + extent_of(&a->dim[k], slots);
  }
  for (int k = 0; k < a->n_dims; k++) {
    const weir_step_rate rate = weir_operand_step_rate(out, k);
    weir_interval found = {-WEIR_UNBOUNDED, WEIR_UNBOUNDED};

    if (rate.dim < 0) {
      continue;
    }
    r.whole[k] = rate.up != 1 || rate.down != 1 || elements->whole[rate.dim];
    if (!r.whole[k]) {
      (void)weir_index_solve(&out->index[rate.dim], k, &whole, elements->lo[rate.dim],
                             elements->hi[rate.dim], &found);
      r.lo[k] = found.lo;
      r.hi[k] = found.hi;
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
typedef struct rate {
  double of[WEIR_MAX_DIMS];
  bool any;
} rate;

/* Derives the writer's rate from that of a reader; false when it differs from what another reader
 * asked. */
static bool ask(rate *writer, const weir_access *w, const weir_operand *out, const weir_access *r,
                const weir_operand *in, const rate *reader)
{
  rate asked = {.any = true};

  for (int k = 0; k < w->n_dims; k++) {
    const weir_step_rate made = weir_operand_step_rate(out, k);

    if (made.dim >= 0) {
      asked.of[k] = weir_index_advance(&in->index[made.dim], r->n_dims, reader->of) *
                    (double)made.down / (double)made.up;
    }
    if (writer->any && writer->of[k] != asked.of[k]) {
      return false;
    }
  }
  *writer = asked;
  return true;
}

static bool has_one_rate(const weir_member *members, int32_t n, int along, rate *rates)
{
  memset(rates, 0, (size_t)n * sizeof(*rates));
  rates[n - 1].of[along] = 1;
  rates[n - 1].any = true;
  for (int32_t k = n - 2; k >= 0; k--) {
    for (int o = 0; o < members[k].access->n_out; o++) {
      for (int32_t j = k + 1; j < n; j++) {
        for (int i = 0; i < members[j].access->n_in && rates[j].any; i++) {
          if (members[j].in[i] == members[k].out[o] &&
              !ask(&rates[k], members[k].access, &members[k].access->out[o], members[j].access,
                   &members[j].access->in[i], &rates[j])) {
            return false;
          }
        }
      }
    }
  }
  return true;
}

bool weir_reach_has_one_rate(const weir_member *members, int32_t n, const int64_t *tile)
{
  enum { MAX = 64 };
  const weir_access *anchor = members[n - 1].access;
  rate rates[MAX];

  if (n > MAX) {
    return false;
  }
  for (int d = 0; d < anchor->n_dims; d++) {
    const bool bounded = anchor->dim[d].hi < WEIR_UNBOUNDED;

    if (bounded && (tile[d] <= 0 || tile[d] >= anchor->dim[d].hi - anchor->dim[d].lo)) {
      continue;
    }
    if (!has_one_rate(members, n, d, rates)) {
      return false;
    }
  }
  return true;
}
