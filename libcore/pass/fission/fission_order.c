/* fission_order.c - in which order the factors are multiplied: the one that costs least, found for
 * every set of factors from those of its subsets. */
#include <math.h>
#include <string.h>

#include "pass/fission/fission_priv.h"

/* A byte takes about as long to move as a flop takes to make. The order decides bits: the ratio is
 * the same on every machine. */
static const double flops_per_byte = 1;
/* An intermediate array is written and read. An operand is read, packed and read again, and then
 * serves as many iterations as do not depend on it, up to so many. */
static const double moves_of_array = 2, moves_of_operand = 3, max_reuse = 64;

static fission_set all_of(const fission_plan *p)
{
  return ((fission_set)1 << p->n_factors) - 1;
}

static bool is_single(fission_set set)
{
  return (set & (set - 1)) == 0;
}

static double volume(const fission_partial *partial)
{
  double n = 1;

  for (int i = 0; i < partial->n_axes; i++) {
    n *= (double)(partial->axis[i].hi - partial->axis[i].lo);
  }
  return n;
}

static double times_extents(const fission_plan *p, fission_set dims)
{
  double n = 1;

  for (int k = 0; k < p->a->n_dims; k++) {
    n *= (dims >> k & 1) != 0 ? (double)fission_extent(p, k) : 1;
  }
  return n;
}

/* A loop: the dimensions that it keeps, those that it sums over, and what one iteration costs. */
typedef struct loop {
  const fission_partial *partial;
  bool whole; /* all factors: the node itself, not an intermediate array */
  fission_set summed;
  double flops;
} loop;

static loop loop_of(const fission_plan *p, fission_set set, const fission_partial *partial)
{
  return (loop){.partial = partial, .whole = set == all_of(p), .summed = partial->summed};
}

static fission_set kept_dims(const fission_plan *p)
{
  fission_set kept = 0;

  for (int k = 0; k < p->a->n_dims; k++) {
    kept |= p->a->dim[k].kind == WEIR_PARALLEL ? (fission_set)1 << k : 0;
  }
  return kept;
}

/* Iterations of the loop over dimensions that are not in a set. */
static double iterations_apart(const fission_plan *p, const loop *l, fission_set dims)
{
  double n = times_extents(p, l->summed & ~dims);

  for (int i = 0; i < l->partial->n_axes && !l->whole; i++) {
    const fission_axis *x = &l->partial->axis[i];

    n *= (x->dims & dims) == 0 ? (double)(x->hi - x->lo) : 1;
  }
  return l->whole ? n * times_extents(p, kept_dims(p) & ~dims) : n;
}

/* Adds what an iteration takes to have an operand of these dimensions. */
static void add_operand(const fission_plan *p, loop *l, fission_set dims)
{
  const double size = (double)weir_dtype_size(p->a->accumulator);

  l->flops +=
      flops_per_byte * moves_of_operand * size / fmin(iterations_apart(p, l, dims), max_reuse);
}

static double cost_of_loop(const fission_plan *p, const loop *l)
{
  const double size = (double)weir_dtype_size(p->a->accumulator);
  const double bytes = l->whole ? 0 : moves_of_array * size * volume(l->partial);

  return iterations_apart(p, l, 0) * (l->flops + (l->summed != 0 ? fission_sum_flops(p) : 0)) +
         bytes * flops_per_byte;
}

/* Cost of the partial product of all its factors in one loop. */
static double cost_alone(const fission_plan *p, fission_set set, const fission_partial *partial)
{
  loop l = loop_of(p, set, partial);

  l.flops = -fission_product_flops(p);
  for (int i = 0; i < p->n_factors; i++) {
    if ((set >> i & 1) != 0) {
      l.flops += p->factor[i].flops + fission_product_flops(p);
      add_operand(p, &l, p->factor[i].dims);
    }
  }
  return cost_of_loop(p, &l);
}

static fission_set dims_of(const fission_partial *partial)
{
  fission_set dims = 0;

  for (int i = 0; i < partial->n_axes; i++) {
    dims |= partial->axis[i].dims;
  }
  return dims;
}

/* Whether what reads `side` in the loop of `partial` can tell its axes: a form is one on both. */
static bool tells(const fission_plan *p, const fission_partial *partial,
                  const fission_partial *side)
{
  bool may = true;

  for (int i = 0; i < partial->n_axes; i++) {
    const fission_axis *x = &partial->axis[i];

    for (int j = 0; j < side->n_axes && x->is_form; j++) {
      const fission_axis *y = &side->axis[j];

      may = may && ((x->dims & y->dims) == 0 ||
                    memcmp(x->coef, y->coef, (size_t)p->a->n_dims * sizeof x->coef[0]) == 0);
    }
  }
  return may;
}

/* Of the set as `left` and the rest, the sides that are single read in place where asked. */
static void try_split(const fission_plan *p, fission_set set, fission_set left, const bool *inlined,
                      fission_partial *partial)
{
  const fission_set sides[] = {left, set & ~left};
  loop l = loop_of(p, set, partial);
  double cost = 0;

  for (int s = 0; s < 2; s++) {
    const fission_partial *side = &p->partial[sides[s]];

    if (!inlined[s] && (!side->possible || (!l.whole && !tells(p, partial, side)))) {
      return;
    }
    l.summed &= inlined[s] ? ~(fission_set)0 : ~side->summed;
    cost += inlined[s] ? 0 : side->cost;
  }
  l.flops = fission_product_flops(p);
  for (int s = 0; s < 2; s++) {
    const fission_factor *f = &p->factor[__builtin_ctz(sides[s])];

    l.flops += inlined[s] ? f->flops : 0;
    add_operand(p, &l, inlined[s] ? f->dims : dims_of(&p->partial[sides[s]]));
  }
  cost += cost_of_loop(p, &l);
  if (cost < partial->cost) {
    partial->cost = cost;
    partial->left = left;
    partial->inlined[0] = inlined[0];
    partial->inlined[1] = inlined[1];
  }
}

static void try_splits(const fission_plan *p, fission_set set, fission_set left,
                       fission_partial *partial)
{
  const bool one = is_single(left), other = is_single(set & ~left);
  const bool arrays = p->mode != WEIR_FISSION_PRODUCTS;

  for (int way = 0; way < 4; way++) {
    const bool inlined[] = {(way & 1) != 0, (way & 2) != 0};

    if ((!inlined[0] || one) && (!inlined[1] || other) && (inlined[0] || !one || arrays) &&
        (inlined[1] || !other || arrays)) {
      try_split(p, set, left, inlined, partial);
    }
  }
}

/* As written: the sides of the product that the set is, 0: it is none. */
static fission_set written_left(const fission_plan *p, fission_set set)
{
  for (int i = 0; i < p->n_products; i++) {
    if (p->product[i] == set) {
      return p->product_left[i];
    }
  }
  return 0;
}

static void choose(const fission_plan *p, fission_set set)
{
  fission_partial *partial = &p->partial[set];
  const bool free_order = p->mode == WEIR_FISSION_REASSOCIATE;
  const fission_set written = is_single(set) ? 0 : written_left(p, set);
  const bool product = written != 0 || is_single(set) || free_order;

  fission_find_axes(p, set, partial);
  partial->possible = partial->possible && product;
  partial->cost = cost_alone(p, set, partial);
  if (!product || is_single(set)) {
    return;
  }
  if (!free_order) {
    partial->cost = p->mode == WEIR_FISSION_PRODUCTS ? INFINITY : partial->cost;
    try_splits(p, set, written, partial);
    return;
  }
  const fission_set lowest = set & (~set + 1); /* each pair of sides once */

  for (fission_set left = (set - 1) & set; left != 0; left = (left - 1) & set) {
    if ((left & lowest) != 0) {
      try_splits(p, set, left, partial);
    }
  }
}

/* Whether a side of the whole is made before it. */
static bool makes_some(const fission_partial *whole)
{
  return whole->left != 0 && !(whole->inlined[0] && whole->inlined[1]);
}

bool fission_choose(fission_plan *p)
{
  const fission_set all = all_of(p);

  for (fission_set set = 1; set <= all; set++) {
    choose(p, set);
  }
  const fission_partial *whole = &p->partial[all];

  return makes_some(whole) && whole->cost < cost_alone(p, all, whole);
}
