/* access_range.c - regions by corner rules: needed and written, and their inverses. */
#include "graph/graph_priv.h"

weir_wide weir_wide_floor_div(weir_wide a, weir_wide b)
{
  return a / b - (a % b < 0);
}

static weir_wide ceil_div(weir_wide a, weir_wide b)
{
  return -weir_wide_floor_div(-a, b);
}

void weir_index_span(const weir_index *x, const weir_box *box, weir_wide *lo, weir_wide *hi)
{
  *lo = *hi = x->offset;
  if (x->gather > 0) {
    *lo += x->gather_lo;
    *hi += (weir_wide)x->gather_hi - 1;
  }
  for (int k = 0; k < box->rank; k++) {
    const weir_wide c = x->coef[k];
    const weir_wide first = c * box->lo[k], last = c * ((weir_wide)box->hi[k] - 1);
    *lo += c >= 0 ? first : last;
    *hi += c >= 0 ? last : first;
  }
}

/* Mirroring is continuous, so the image of an interval is one interval: between the images of its
 * ends and of the edges that it passes. */
static weir_interval reflected(weir_wide first, weir_wide last, int64_t extent)
{
  const weir_wide period = 2 * ((weir_wide)extent - 1), edge = extent - 1;

  if (extent == 1 || last - first >= period) {
    return (weir_interval){0, extent};
  }
  const weir_wide a = first - weir_wide_floor_div(first, period) * period;
  const weir_wide b = a + (last - first); /* below 2 * period */
  const weir_wide a_image = a <= edge ? a : period - a;
  const weir_wide b_folded = b >= period ? b - period : b;
  const weir_wide b_image = b_folded <= edge ? b_folded : period - b_folded;
  weir_wide lo = a_image < b_image ? a_image : b_image;
  weir_wide hi = a_image < b_image ? b_image : a_image;
  if (b >= period) {
    lo = 0;
  }
  if ((a <= edge && b >= edge) || b >= edge + period) {
    hi = edge;
  }
  return (weir_interval){(int64_t)lo, (int64_t)hi + 1};
}

int weir_border_image(weir_border border, weir_wide first, weir_wide last, int64_t extent,
                      weir_interval part[2])
{
  const weir_wide end = (weir_wide)extent - 1;

  if (extent <= 0 || first > last) {
    return 0;
  }
  if (border == WEIR_BORDER_WRAP) {
    if (last - first >= end) {
      part[0] = (weir_interval){0, extent};
      return 1;
    }
    const weir_wide lo = first - weir_wide_floor_div(first, extent) * extent;
    const weir_wide hi = lo + (last - first);
    if (hi <= end) {
      part[0] = (weir_interval){(int64_t)lo, (int64_t)hi + 1};
      return 1;
    }
    part[0] = (weir_interval){0, (int64_t)(hi - end)};
    part[1] = (weir_interval){(int64_t)lo, extent};
    return 2;
  }
  if (border == WEIR_BORDER_REFLECT) {
    part[0] = reflected(first, last, extent);
    return 1;
  }
  if (border != WEIR_BORDER_REPLICATE && (last < 0 || first > end)) {
    return 0;
  }
  first = first < 0 ? 0 : first > end ? end : first;
  last = last < 0 ? 0 : last > end ? end : last;
  part[0] = (weir_interval){(int64_t)first, (int64_t)last + 1};
  return 1;
}

static weir_region region_of(const weir_operand *x, const weir_box *box)
{
  weir_region r = {.rank = x->rank, .exact = true};
  weir_wide lo, hi;

  if (weir_box_empty(box)) {
    return r;
  }
  for (int d = 0; d < x->rank; d++) {
    if (d < weir_operand_first(x)) {
      r.n[d] = x->extent[d] > 0;
      r.part[d][0] = (weir_interval){0, x->extent[d]};
      continue;
    }
    const weir_index *i = &x->index[d];
    weir_index_span(i, box, &lo, &hi);
    lo = weir_wide_floor_div(lo, weir_index_div(i));
    hi = weir_wide_floor_div(hi, weir_index_div(i));
    r.n[d] = weir_border_image(i->border, lo, hi, x->extent[d], r.part[d]);
    r.exact = r.exact && i->gather == 0;
  }
  return r;
}

weir_box weir_output_box(const weir_access *a, const weir_operand *output, const weir_box *box)
{
  weir_box b = *box;

  for (int k = 0; k < b.rank; k++) {
    bool feeds = a->dim[k].kind == WEIR_REDUCED ||
                 (output->role == WEIR_ROLE_STATE && a->dim[k].kind != WEIR_PARALLEL);
    for (int d = weir_operand_first(output); d < output->rank; d++) {
      feeds = feeds && output->index[d].coef[k] == 0; /* library operators write along it */
    }
    if (feeds && b.hi[k] <= b.lo[k]) {
      b.hi[k] = b.lo[k] + 1;
    }
  }
  return b;
}

weir_region weir_needed(const weir_access *a, int operand, const weir_box *box)
{
  WEIR_ASSERT(operand >= 0 && operand < a->n_in);
  return region_of(&a->in[operand], box);
}

weir_region weir_written(const weir_access *a, int output, const weir_box *box)
{
  WEIR_ASSERT(output >= 0 && output < a->n_out);
  const weir_box seen = weir_output_box(a, &a->out[output], box);
  return region_of(&a->out[output], &seen);
}

/* Raw indices [lo + q * period, hi + q * period) for every q; period 0: q = 0 alone. */
struct comb {
  weir_wide lo, hi, period;
};

/* Values of dimension k for which the raw index, the other dimensions anywhere in the box, may lie
 * in [lo, hi): [*first, *last], cut to the box. */
static bool solve(const weir_index *x, const weir_box *box, int k, weir_wide lo, weir_wide hi,
                  weir_interval *out)
{
  const weir_wide c = x->coef[k], div = weir_index_div(x);
  const weir_wide c_first = c * box->lo[k], c_last = c * ((weir_wide)box->hi[k] - 1);
  weir_wide rest_lo, rest_hi;

  weir_index_span(x, box, &rest_lo, &rest_hi);
  rest_lo -= c >= 0 ? c_first : c_last;
  rest_hi -= c >= 0 ? c_last : c_first;
  const weir_wide least = lo * div - rest_hi, most = hi * div - 1 - rest_lo; /* of c * i */
  weir_wide first = c > 0 ? ceil_div(least, c) : ceil_div(-most, -c);
  weir_wide last = c > 0 ? weir_wide_floor_div(most, c) : weir_wide_floor_div(-least, -c);
  first = first < box->lo[k] ? box->lo[k] : first;
  last = last >= box->hi[k] ? (weir_wide)box->hi[k] - 1 : last;
  if (first > last) {
    return false;
  }
  *out = (weir_interval){(int64_t)first, (int64_t)last + 1};
  return true;
}

static void join(weir_interval *sum, bool *some, weir_interval more)
{
  if (!*some) {
    *sum = more;
    *some = true;
    return;
  }
  sum->lo = more.lo < sum->lo ? more.lo : sum->lo;
  sum->hi = more.hi > sum->hi ? more.hi : sum->hi;
}

/* The solutions move monotonically with q: the first q and the last that have any span the hull.
 * Steps wider than the teeth may leave many q without one; after `tries` the tooth counts as hit.
 */
static void solve_comb(const weir_index *x, const weir_box *box, int k, const struct comb *c,
                       weir_interval *sum, bool *some)
{
  enum { tries = 4096 };
  weir_wide lo, hi, q0 = 0, q1 = 0;
  weir_interval found;

  weir_index_span(x, box, &lo, &hi);
  lo = weir_wide_floor_div(lo, weir_index_div(x));
  hi = weir_wide_floor_div(hi, weir_index_div(x));
  if (c->period > 0) {
    q0 = ceil_div(lo - c->hi + 1, c->period);
    q1 = weir_wide_floor_div(hi - c->lo, c->period);
  }
  for (int side = 0; side < 2; side++) {
    weir_wide q = side == 0 ? q0 : q1;
    for (int t = 0; q >= q0 && q <= q1; t++, q += side == 0 ? 1 : -1) {
      if (t == tries) {
        join(sum, some, (weir_interval){box->lo[k], box->hi[k]});
        break;
      }
      /* Cut to what occurs, so that the product with div cannot overflow. */
      const weir_wide first = c->lo + q * c->period, end = c->hi + q * c->period;
      if (solve(x, box, k, first < lo ? lo : first, end > hi + 1 ? hi + 1 : end, &found)) {
        join(sum, some, found);
        break;
      }
    }
  }
}

static bool meets(const weir_index *x, const weir_box *box, const struct comb *c, int n)
{
  weir_wide lo, hi;

  weir_index_span(x, box, &lo, &hi);
  lo = weir_wide_floor_div(lo, weir_index_div(x));
  hi = weir_wide_floor_div(hi, weir_index_div(x));
  for (int i = 0; i < n; i++) {
    const bool hit = c[i].period > 0 ? ceil_div(lo - c[i].hi + 1, c[i].period) <=
                                           weir_wide_floor_div(hi - c[i].lo, c[i].period)
                                     : lo < c[i].hi && hi >= c[i].lo;
    if (hit) {
      return true;
    }
  }
  return false;
}

/* Shrinks the box to the hull of what reaches one of the combs; false when nothing does. */
static bool tighten(const weir_index *x, const struct comb *c, int n, weir_box *box)
{
  if (weir_box_empty(box) || !meets(x, box, c, n)) {
    return false;
  }
  for (int k = 0; k < box->rank; k++) {
    weir_interval hull = {0, 0};
    bool some = false;
    if (x->coef[k] == 0) {
      continue;
    }
    for (int i = 0; i < n; i++) {
      solve_comb(x, box, k, &c[i], &hull, &some);
    }
    if (!some) {
      return false;
    }
    box->lo[k] = hull.lo;
    box->hi[k] = hull.hi;
  }
  return true;
}

bool weir_index_tighten(const weir_index *x, weir_wide lo, weir_wide hi, weir_box *box)
{
  return tighten(x, &(struct comb){lo, hi, 0}, 1, box);
}

/* Raw indices whose element after the border rule lies in [lo, hi) of an array of `extent`. */
static int preimage(weir_border border, int64_t lo, int64_t hi, int64_t extent, struct comb c[2])
{
  static const weir_wide far = (weir_wide)1 << 100;

  lo = lo < 0 ? 0 : lo;
  hi = hi > extent ? extent : hi;
  if (lo >= hi) {
    return 0;
  }
  c[0] = (struct comb){lo, hi, 0};
  if (border == WEIR_BORDER_REPLICATE || (border == WEIR_BORDER_REFLECT && extent == 1)) {
    c[0].lo = lo == 0 ? -far : c[0].lo;
    c[0].hi = hi == extent ? far : c[0].hi;
  } else if (border == WEIR_BORDER_WRAP) {
    c[0].period = extent;
  } else if (border == WEIR_BORDER_REFLECT) {
    const weir_wide period = 2 * ((weir_wide)extent - 1);
    c[0].period = period;
    c[1] = (struct comb){1 - (weir_wide)hi, 1 - (weir_wide)lo, period};
    return 2;
  }
  return 1;
}

/* Hull of the iterations of `whole` whose index of `x` falls into `elements`. */
static weir_box inverse(const weir_box *whole, const weir_operand *x, const weir_box *elements)
{
  weir_box box = *whole, before;
  struct comb c[2];
  bool some = !weir_box_empty(&box) && !weir_box_empty(elements);

  WEIR_ASSERT(elements->rank == x->rank);
  for (int round = 0; some && round < 4; round++) {
    before = box;
    for (int d = weir_operand_first(x); some && d < x->rank; d++) {
      const int n = preimage(x->index[d].border, elements->lo[d], elements->hi[d], x->extent[d], c);
      some = n > 0 && tighten(&x->index[d], c, n, &box);
    }
    bool same = true;
    for (int k = 0; k < box.rank; k++) {
      same = same && box.lo[k] == before.lo[k] && box.hi[k] == before.hi[k];
    }
    if (same) {
      break;
    }
  }
  for (int k = 0; !some && k < box.rank; k++) {
    box.hi[k] = box.lo[k] = whole->lo[k];
  }
  return box;
}

weir_box weir_iterations_of(const weir_access *a, int output, const weir_box *elements)
{
  WEIR_ASSERT(output >= 0 && output < a->n_out);
  const weir_box whole = weir_iterations(a);
  const weir_box seen = weir_output_box(a, &a->out[output], &whole);
  weir_box box = inverse(&seen, &a->out[output], elements);
  for (int k = 0; k < box.rank; k++) { /* what counted as one point stays empty */
    box.hi[k] = seen.hi[k] != whole.hi[k] ? whole.hi[k] : box.hi[k];
  }
  return box;
}

weir_box weir_affected(const weir_access *a, int operand, const weir_box *elements)
{
  WEIR_ASSERT(operand >= 0 && operand < a->n_in);
  const weir_box whole = weir_iterations(a);
  return inverse(&whole, &a->in[operand], elements);
}

void weir_halo(const weir_access *a, int operand, const weir_box *iterations, const weir_box *owned,
               int64_t *below, int64_t *above)
{
  const weir_region need = weir_needed(a, operand, iterations);
  const weir_box hull = weir_region_hull(&need);
  const weir_operand *x = &a->in[operand];

  for (int d = 0; d < x->rank; d++) {
    weir_wide lo = hull.lo[d], hi = hull.hi[d];
    below[d] = above[d] = 0;
    if (weir_region_empty(&need)) {
      continue;
    }
    if (d >= weir_operand_first(x) && x->index[d].border == WEIR_BORDER_WRAP) {
      weir_index_span(&x->index[d], iterations, &lo, &hi);
      lo = weir_wide_floor_div(lo, weir_index_div(&x->index[d]));
      hi = weir_wide_floor_div(hi, weir_index_div(&x->index[d])) + 1;
    }
    const weir_wide extent = x->extent[d];
    const weir_wide under = owned->lo[d] - lo, over = hi - owned->hi[d];
    below[d] = (int64_t)(under < 0 ? 0 : under > extent ? extent : under);
    above[d] = (int64_t)(over < 0 ? 0 : over > extent ? extent : over);
  }
}
