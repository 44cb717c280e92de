/* access_inverse.c - iterations whose index falls into given elements: hulls, by solving for one
 * dimension at a time. */
#include "graph/graph_priv.h"

/* Numbers of [lo + q * period, hi + q * period) for some q; period 0: q = 0 alone. lo < hi. */
struct teeth {
  weir_wide lo, hi, period;
};

/* True when an integer of [first, last] is one of them. */
static bool meets(const struct teeth *t, weir_wide first, weir_wide last)
{
  if (t->period == 0) {
    return first < t->hi && last >= t->lo;
  }
  /* first < hi + q * period and last >= lo + q * period: the distance last - lo, modulo the period,
   * is less than both lengths together. */
  const weir_wide width = last - first + t->hi - t->lo, at = last - t->lo;

  return width >= t->period || at - weir_wide_floor_div(at, t->period) * t->period < width;
}

/* Values i of [out->lo, out->hi) for which c * i + rest may be one of them, for a rest of
 * [rest_lo, rest_hi]: shrinks the interval to their hull; false when there is none. c is not 0. */
static bool solve(const struct teeth *t, weir_wide c, weir_wide rest_lo, weir_wide rest_hi,
                  weir_interval *out)
{
  if (t->period == 0) {
    const weir_wide min = t->lo - rest_hi, max = t->hi - 1 - rest_lo; /* of c * i */
    const weir_wide first = c > 0 ? weir_wide_ceil_div(min, c) : weir_wide_ceil_div(-max, -c);
    const weir_wide last = c > 0 ? weir_wide_floor_div(max, c) : weir_wide_floor_div(-min, -c);
    out->lo = first > out->lo ? (int64_t)(first < out->hi ? first : out->hi) : out->lo;
    out->hi = last < out->hi ? (int64_t)(last >= out->lo ? last + 1 : out->lo) : out->hi;
    return out->lo < out->hi;
  }
  const weir_wide width = rest_hi - rest_lo + t->hi - t->lo, n = (weir_wide)out->hi - out->lo;
  if (width >= t->period) {
    return true;
  }
  const weir_wide shift = rest_hi - t->lo; /* as in meets() */
  const weir_wide ahead = weir_first_hit(c, c * out->lo + shift, t->period, width, n);
  if (ahead == n) {
    return false;
  }
  const weir_wide behind =
      weir_first_hit(-c, c * ((weir_wide)out->hi - 1) + shift, t->period, width, n);
  out->lo += (int64_t)ahead;
  out->hi -= (int64_t)behind;
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

/* What happened to a box: where it has shrunk and some sum has several terms, it may shrink again.
 */
struct progress {
  bool shrunk, several;
};

/* Shrinks the box to the hull of what reaches one of the n sets of teeth; false when nothing does.
 */
static bool tighten(const int64_t *coef, const struct teeth *t, int n, weir_box *box,
                    struct progress *p)
{
  weir_wide lo, hi;
  bool met = false;
  int terms = 0;

  if (weir_box_empty(box)) {
    return false;
  }
  weir_form_span(coef, box, &lo, &hi);
  for (int i = 0; i < n; i++) {
    met = met || meets(&t[i], lo, hi);
  }
  for (int k = 0; met && k < box->rank; k++) {
    const weir_interval whole = {box->lo[k], box->hi[k]};
    const weir_wide c = coef[k], first = c * whole.lo, last = c * ((weir_wide)whole.hi - 1);
    weir_interval hull = {0, 0};
    if (c == 0) {
      continue;
    }
    lo -= c > 0 ? first : last;
    hi -= c > 0 ? last : first;
    met = false;
    for (int i = 0; i < n; i++) {
      weir_interval found = whole;
      if (solve(&t[i], c, lo, hi, &found)) {
        join(&hull, &met, found);
      }
    }
    terms++;
    p->shrunk = p->shrunk || (met && (hull.lo > whole.lo || hull.hi < whole.hi));
    box->lo[k] = met ? hull.lo : whole.lo;
    box->hi[k] = met ? hull.hi : whole.hi;
    lo += c * (c > 0 ? box->lo[k] : (weir_wide)box->hi[k] - 1);
    hi += c * (c > 0 ? (weir_wide)box->hi[k] - 1 : box->lo[k]);
  }
  p->several = p->several || terms > 1;
  return met;
}

bool weir_form_tighten(const int64_t *coef, weir_wide lo, weir_wide hi, weir_box *box)
{
  struct progress p = {false};

  return tighten(coef, &(struct teeth){lo, hi, 0}, 1, box, &p);
}

bool weir_index_solve(const weir_index *x, int k, const weir_box *box, int64_t lo, int64_t hi,
                      weir_interval *iterations)
{
  const weir_wide div = weir_index_divisor(x);
  weir_box others = *box;
  weir_wide rest_lo, rest_hi;

  WEIR_ASSERT(x->coef[k] != 0 && x->gather == 0);
  others.lo[k] = 0;
  others.hi[k] = 1;
  weir_form_span(x->coef, &others, &rest_lo, &rest_hi);
  return solve(&(struct teeth){lo * div - x->offset, hi * div - x->offset, 0}, x->coef[k], rest_lo,
               rest_hi, iterations);
}

/* The same for raw indices. */
static bool index_tighten(const weir_index *x, const struct teeth *t, int n, weir_box *box,
                          struct progress *p)
{
  const weir_wide div = weir_index_divisor(x);
  const weir_wide min = x->offset + (weir_wide)(x->gather > 0 ? x->gather_lo : 0);
  const weir_wide max = x->offset + (weir_wide)(x->gather > 0 ? x->gather_hi - 1 : 0);
  struct teeth sums[2];
  weir_wide lo, hi;
  int kept = 0;

  if (weir_box_empty(box)) {
    return false;
  }
  weir_index_span(x, box, &lo, &hi);
  for (int i = 0; i < n; i++) {
    struct teeth clipped = t[i];
    if (!meets(&clipped, lo, hi)) {
      continue;
    }
    if (clipped.period == 0) { /* to what occurs: the product with div does not overflow */
      clipped.lo = clipped.lo < lo ? lo : clipped.lo;
      clipped.hi = clipped.hi > hi + 1 ? hi + 1 : clipped.hi;
    }
    sums[kept++] =
        (struct teeth){clipped.lo * div - max, clipped.hi * div - min, clipped.period * div};
  }
  return kept > 0 && tighten(x->coef, sums, kept, box, p);
}

/* Raw indices whose element after the border rule lies in [lo, hi) of an array of `extent`. */
static int preimage(weir_border border, int64_t lo, int64_t hi, int64_t extent, struct teeth t[2])
{
  static const weir_wide far = (weir_wide)1 << 100;

  lo = lo < 0 ? 0 : lo;
  hi = hi > extent ? extent : hi;
  if (lo >= hi) {
    return 0;
  }
  t[0] = (struct teeth){lo, hi, 0};
  if (border == WEIR_BORDER_REPLICATE || (border == WEIR_BORDER_REFLECT && extent == 1)) {
    t[0].lo = lo == 0 ? -far : t[0].lo;
    t[0].hi = hi == extent ? far : t[0].hi;
  } else if (border == WEIR_BORDER_WRAP) {
    t[0].period = extent;
  } else if (border == WEIR_BORDER_REFLECT) {
    const weir_wide period = 2 * ((weir_wide)extent - 1);
    t[0].period = period;
    t[1] = (struct teeth){1 - (weir_wide)hi, 1 - (weir_wide)lo, period};
    return 2;
  }
  return 1;
}

void weir_operand_invert(const weir_operand *x, const weir_box *elements, weir_box *box)
{
  const weir_box whole = *box;
  struct teeth t[2];
  struct progress p = {true, true};
  bool some = !weir_box_empty(box) && !weir_box_empty(elements);

  WEIR_ASSERT(elements->rank == x->rank);
  for (int round = 0; some && p.shrunk && p.several && round < 4; round++) {
    p = (struct progress){false};
    for (int d = weir_operand_first(x); some && d < x->rank; d++) {
      const weir_index *i = &x->index[d];
      const int n = preimage(i->border, elements->lo[d], elements->hi[d], x->extent[d], t);
      some = n > 0 && index_tighten(i, t, n, box, &p);
    }
  }
  for (int k = 0; !some && k < box->rank; k++) {
    box->hi[k] = box->lo[k] = whole.lo[k];
  }
}

void weir_whole_dims(const weir_access *a, weir_box *box)
{
  for (int k = 0; k < box->rank && a->maker == WEIR_MADE_BY_LIBRARY && !weir_box_empty(box); k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      box->lo[k] = a->dim[k].lo;
      box->hi[k] = a->dim[k].hi;
    }
  }
}

weir_box weir_iterations_of(const weir_access *a, int output, const weir_box *elements)
{
  WEIR_ASSERT(output >= 0 && output < a->n_out);
  const weir_box whole = weir_iterations(a);
  const weir_box seen = weir_output_box(a, &a->out[output], &whole);
  weir_box box = seen;
  weir_operand_invert(&a->out[output], elements, &box);
  for (int k = 0; k < box.rank; k++) { /* what counted as one point stays empty */
    box.hi[k] = seen.hi[k] != whole.hi[k] ? whole.hi[k] : box.hi[k];
  }
  weir_whole_dims(a, &box);
  return box;
}

weir_box weir_affected(const weir_access *a, int operand, const weir_box *elements)
{
  WEIR_ASSERT(operand >= 0 && operand < a->n_in);
  weir_box box = weir_iterations(a);
  weir_operand_invert(&a->in[operand], elements, &box);
  weir_whole_dims(a, &box);
  return box;
}
