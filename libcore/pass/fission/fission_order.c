/* fission_order.c - in which order the factors are multiplied: the one that costs least, found for
 * every set of factors from those of its subsets. */
#include <math.h>
#include <string.h>

#include "pass/fission/fission_priv.h"

/* What an element of an intermediate array costs that is written and read once, in flops: a byte
 * takes about as long to move as a flop takes to make. */
static const double flops_per_byte = 1;

static fission_set all_of(const fission_plan *p)
{
  return ((fission_set)1 << p->n_factors) - 1;
}

static bool is_single(fission_set set)
{
  return (set & (set - 1)) == 0;
}

static double volume(const fission_part *part)
{
  double n = 1;

  for (int i = 0; i < part->n_axes; i++) {
    n *= (double)(part->axis[i].hi - part->axis[i].lo);
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

/* Of the iterations that make a part, `summed` being the dimensions left to sum over. */
static double cost_of_loop(const fission_plan *p, fission_set set, const fission_part *part,
                           fission_set summed, double flops)
{
  const bool whole = set == all_of(p);
  const double points =
      whole ? times_extents(p, ((fission_set)1 << p->a->n_dims) - 1 - part->summed) : volume(part);
  const double bytes = whole ? 0 : 2 * points * (double)weir_dtype_size(p->a->accumulator);

  return points * times_extents(p, summed) * (flops + (summed != 0 ? fission_sum_flops(p) : 0)) +
         bytes * flops_per_byte;
}

/* Of making the part of all its factors in one loop. */
static double cost_alone(const fission_plan *p, fission_set set, const fission_part *part)
{
  double flops = 0;

  for (int i = 0; i < p->n_factors; i++) {
    flops += (set >> i & 1) != 0 ? p->factor[i].flops + fission_product_flops(p) : 0;
  }
  return cost_of_loop(p, set, part, part->summed, flops - fission_product_flops(p));
}

/* Whether what reads `side` in the loop of `part` can tell its axes: a form is one on both. */
static bool tells(const fission_plan *p, const fission_part *part, const fission_part *side)
{
  bool may = true;

  for (int i = 0; i < part->n_axes; i++) {
    const fission_axis *x = &part->axis[i];

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
                      fission_part *part)
{
  const fission_set sides[] = {left, set & ~left};
  fission_set summed = part->summed;
  double flops = fission_product_flops(p), cost = 0;

  for (int s = 0; s < 2; s++) {
    const fission_part *side = &p->part[sides[s]];

    if (inlined[s]) {
      flops += p->factor[__builtin_ctz(sides[s])].flops;
    } else if (!side->possible || (set != all_of(p) && !tells(p, part, side))) {
      return;
    } else {
      summed &= ~side->summed;
      cost += side->cost;
    }
  }
  cost += cost_of_loop(p, set, part, summed, flops);
  if (cost < part->cost) {
    part->cost = cost;
    part->left = left;
    part->inlined[0] = inlined[0];
    part->inlined[1] = inlined[1];
  }
}

static void try_splits(const fission_plan *p, fission_set set, fission_set left, fission_part *part)
{
  const bool one = is_single(left), other = is_single(set & ~left);
  const bool arrays = p->mode != WEIR_FISSION_PRODUCTS;

  for (int way = 0; way < 4; way++) {
    const bool inlined[] = {(way & 1) != 0, (way & 2) != 0};

    if ((!inlined[0] || one) && (!inlined[1] || other) && (inlined[0] || !one || arrays) &&
        (inlined[1] || !other || arrays)) {
      try_split(p, set, left, inlined, part);
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
  fission_part *part = &p->part[set];
  const bool free_order = p->mode == WEIR_FISSION_REASSOCIATE;
  const fission_set written = is_single(set) ? 0 : written_left(p, set);
  const bool product = written != 0 || is_single(set) || free_order;

  fission_find_axes(p, set, part);
  part->possible = part->possible && product;
  part->cost = cost_alone(p, set, part);
  if (!product || is_single(set)) {
    return;
  }
  if (!free_order) {
    part->cost = p->mode == WEIR_FISSION_PRODUCTS ? INFINITY : part->cost;
    try_splits(p, set, written, part);
    return;
  }
  const fission_set lowest = set & (~set + 1); /* each pair of sides once */

  for (fission_set left = (set - 1) & set; left != 0; left = (left - 1) & set) {
    if ((left & lowest) != 0) {
      try_splits(p, set, left, part);
    }
  }
}

/* Whether a side of the whole is made before it. */
static bool makes_some(const fission_part *whole)
{
  return whole->left != 0 && !(whole->inlined[0] && whole->inlined[1]);
}

bool fission_choose(fission_plan *p)
{
  const fission_set all = all_of(p);

  for (fission_set set = 1; set <= all; set++) {
    choose(p, set);
  }
  const fission_part *whole = &p->part[all];

  return makes_some(whole) && whole->cost < cost_alone(p, all, whole);
}
