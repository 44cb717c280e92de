/* access_count.c - distinct elements: products of independent components, closed forms,
 * enumeration. */
#include "graph/access/access_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"

/* Boxes that a closed form may try before points are marked instead. */
enum { MAX_TRIES = 1 << 12 };

static uint32_t dims_of(const int64_t *coef, const weir_box *box)
{
  uint32_t mask = 0;

  for (int k = 0; k < box->rank; k++) {
    mask |= coef[k] != 0 && box->hi[k] - box->lo[k] > 1 ? 1u << k : 0;
  }
  return mask;
}

uint32_t weir_use_dims(const struct weir_use *u, int d)
{
  uint32_t mask = dims_of(u->x->index[d].coef, &u->box);
  const int gather = u->x->index[d].gather;

  if (gather > 0) {
    const weir_operand *g = &u->access->in[gather - 1];
    for (int k = 0; k < g->rank; k++) {
      mask |= dims_of(g->index[k].coef, &u->box);
    }
  }
  return mask;
}

/* A component: array dimensions and limits that share iteration dimensions, directly or through
 * others.
 */
struct component {
  uint32_t dims;     /* iteration dimensions       */
  uint32_t elements; /* array dimensions           */
  struct weir_limits limits;
};

/* Finds the component of array dimension d (d < 0: any limit that no array dimension shares). */
static void component_of(const struct weir_use *u, int d, struct component *p)
{
  bool grown = true;

  p->elements = d >= 0 ? 1u << d : 0;
  p->dims = d >= 0 ? weir_use_dims(u, d) : 0;
  while (grown) {
    const uint32_t before = p->dims;
    p->limits.n = 0;
    for (int k = weir_operand_first(u->x); k < u->x->rank; k++) {
      const uint32_t mask = weir_use_dims(u, k);
      if ((mask & p->dims) != 0) {
        p->dims |= mask;
        p->elements |= 1u << k;
      }
    }
    for (int i = 0; i < u->limits.n; i++) {
      const uint32_t mask = dims_of(u->limits.at[i].coef, &u->box);
      if ((mask & p->dims) != 0) {
        p->dims |= mask;
        p->limits.at[p->limits.n++] = u->limits.at[i];
      }
    }
    grown = p->dims != before;
  }
}

/* True when the sums over the dimensions `left` leave no gap wider than `reach`. */
static bool gapless(const int64_t *coef, uint32_t left, const weir_box *box, weir_wide reach)
{
  while (left != 0) {
    int min = -1;
    for (int k = 0; k < box->rank; k++) {
      if ((left >> k & 1) != 0 && (min < 0 || llabs(coef[k]) < llabs(coef[min]))) {
        min = k;
      }
    }
    const weir_wide c = llabs(coef[min]);
    if (c > reach) {
      return false;
    }
    reach += c * ((weir_wide)box->hi[min] - box->lo[min] - 1);
    left &= ~(1u << min);
  }
  return true;
}

/* True when, whatever the dimensions `seen` are, those that limit i alone sees can be chosen within
 * it: it then drops no element. */
static bool is_met(const struct weir_use *u, int i, uint32_t seen)
{
  const struct weir_limit *l = &u->limits.at[i];
  weir_wide lo, hi, free_length = 0;

  for (int j = 0; j < u->limits.n; j++) {
    seen |= j != i ? dims_of(u->limits.at[j].coef, &u->box) : 0;
  }
  const uint32_t alone = dims_of(l->coef, &u->box) & ~seen;
  if (!gapless(l->coef, alone, &u->box, l->hi - l->lo)) {
    return false;
  }
  for (int k = 0; k < u->box.rank; k++) {
    const weir_wide c = (alone >> k & 1) != 0 ? llabs(l->coef[k]) : 0;
    free_length += c * ((weir_wide)u->box.hi[k] - u->box.lo[k] - 1);
  }
  weir_form_span(l->coef, &u->box, &lo, &hi);
  return lo + free_length >= l->lo && hi - free_length < l->hi;
}

/* Forgets the limits that other dimensions than those of the array meet: a filter whose first
 * outputs lack the older samples still uses all of its coefficients. */
static void forget_met(struct weir_use *u)
{
  uint32_t seen = 0;

  for (int d = weir_operand_first(u->x); d < u->x->rank; d++) {
    seen |= weir_use_dims(u, d);
  }
  for (int i = 0; i < u->limits.n;) {
    if (is_met(u, i, seen)) {
      u->limits.at[i] = u->limits.at[--u->limits.n];
      i = 0; /* others may now see dimensions alone */
    } else {
      i++;
    }
  }
}

void weir_use_init(const weir_access *a, int operand, const weir_box *box, struct weir_use *u)
{
  u->access = a;
  u->x = operand >= 0 ? &a->in[operand] : &a->out[-1 - operand];
  u->box = *box;
  u->limits.n = 0;
  u->named = NULL;
  /* What is written does not depend on dropped iterations: outputs get the neutral element. */
  if (operand >= 0) {
    u->empty = !weir_limits_collect(a, &u->box, &u->limits);
  } else {
    u->box = weir_output_box(a, u->x, box);
    u->empty = weir_box_empty(&u->box);
  }
  for (int d = 0; d < u->x->rank; d++) {
    u->empty = u->empty || u->x->extent[d] == 0;
  }
  if (!u->empty) {
    forget_met(u);
  }
}

/* Intervals of array dimension d that the use may touch; true when it touches them all, whatever
 * the other dimensions are. */
static bool intervals(const struct weir_use *u, int d, const struct component *p, weir_region *r)
{
  const weir_index *x = &u->x->index[d];
  const weir_wide div = weir_index_divisor(x);
  weir_wide lo, hi;

  weir_index_span(x, &u->box, &lo, &hi);
  bool exact = x->gather == 0 && p->elements == 1u << d &&
               gapless(x->coef, dims_of(x->coef, &u->box), &u->box, div);
  for (int i = 0; i < p->limits.n; i++) {
    const struct weir_limit *l = &p->limits.at[i];
    const weir_wide first = l->lo + x->offset, end = l->hi + x->offset; /* of the index times div */
    if (x->gather != 0 || !weir_same_form(l->coef, x->coef, u->box.rank)) {
      exact = false;
      continue;
    }
    exact = exact && first % div == 0 && end % div == 0;
    const weir_wide min = weir_wide_floor_div(first, div);
    const weir_wide max = weir_wide_floor_div(end - 1, div);
    lo = lo < min ? min : lo;
    hi = hi > max ? max : hi;
  }
  r->n[d] = weir_border_image(x->border, lo, hi, u->x->extent[d], r->interval[d]);
  return exact;
}

bool weir_use_region(const struct weir_use *u, weir_region *r)
{
  struct component p;
  bool exact = true;

  *r = (weir_region){.rank = u->x->rank};
  if (u->empty) {
    return true;
  }
  for (int d = 0; d < u->x->rank; d++) {
    if (d < weir_operand_first(u->x)) {
      r->n[d] = 1;
      r->interval[d][0] = (weir_interval){0, u->x->extent[d]};
      continue;
    }
    component_of(u, d, &p);
    exact = intervals(u, d, &p, r) && exact;
  }
  uint32_t seen = 0;
  for (int d = weir_operand_first(u->x); d < u->x->rank; d++) {
    component_of(u, d, &p);
    seen |= p.dims;
  }
  for (int i = 0; i < u->limits.n; i++) {
    exact = exact && (dims_of(u->limits.at[i].coef, &u->box) & ~seen) == 0;
  }
  r->exact = exact;
  return exact;
}

/* One index of two terms without limits: with g = gcd(c1, c2), p = c2 / g, q = c1 / g the sums
 * c1 i + c2 j coincide where i moves by p and j back by q. */
static bool two_terms(const struct weir_use *u, int d, const struct component *p, int64_t *count)
{
  const weir_index *x = &u->x->index[d];
  weir_wide lo, hi;
  int term[2], n_terms = 0;

  for (int k = 0; k < u->box.rank; k++) {
    if ((p->dims >> k & 1) != 0) {
      if (n_terms == 2 || x->coef[k] == 0) {
        return false;
      }
      term[n_terms++] = k;
    }
  }
  if (x->gather != 0 || p->limits.n > 0 || n_terms != 2 || weir_index_divisor(x) != 1) {
    return false;
  }
  weir_index_span(x, &u->box, &lo, &hi);
  if (lo < 0 || hi >= u->x->extent[d]) {
    return false;
  }
  const weir_wide n = (weir_wide)u->box.hi[term[0]] - u->box.lo[term[0]];
  const weir_wide k = (weir_wide)u->box.hi[term[1]] - u->box.lo[term[1]];
  const int64_t c1 = llabs(x->coef[term[0]]), c2 = llabs(x->coef[term[1]]);
  const int64_t g = weir_gcd(c1, c2);
  const weir_wide over_n = n - c2 / g, over_k = k - c1 / g;
  const weir_wide distinct = n * k - (over_n > 0 && over_k > 0 ? over_n * over_k : 0);

  *count = distinct > INT64_MAX ? INT64_MAX : (int64_t)distinct;
  return true;
}

/* After how many iterations of dimension k the same elements come again: 0: never, -1: not known.
 */
static int64_t period_of(const struct weir_use *u, const struct component *p, int k)
{
  int64_t period = 1; /* nothing depends on k */

  for (int d = 0; d < u->x->rank; d++) {
    const weir_index *x = &u->x->index[d];
    const uint32_t dims = (p->elements >> d & 1) != 0 ? weir_use_dims(u, d) : 0;
    weir_wide lo, hi;
    if ((dims >> k & 1) == 0) {
      continue;
    }
    weir_index_span(x, &u->box, &lo, &hi);
    const bool folds = x->border >= WEIR_BORDER_WRAP && (lo < 0 || hi >= u->x->extent[d]);
    const bool alone = dims == 1u << k && x->gather == 0;
    if (alone && !folds && llabs(x->coef[k]) >= weir_index_divisor(x)) {
      return 0;
    }
    if (alone && x->border == WEIR_BORDER_WRAP && weir_index_divisor(x) == 1 && period == 1) {
      period = u->x->extent[d] / weir_gcd(u->x->extent[d], llabs(x->coef[k]));
    } else {
      period = -1;
    }
  }
  return period;
}

/* Of iterations along k that read the same, keeps in the box those that the limits let through
 * whenever they let any of the others; false when there are none. */
static bool keep_period(const struct weir_limits *limits, int k, int64_t period, weir_box *box)
{
  bool later = false, earlier = false;

  if (period < 0) {
    return false;
  }
  if (period == 0 || box->hi[k] - box->lo[k] <= period) {
    return true;
  }
  for (int i = 0; i < limits->n; i++) {
    const struct weir_limit *l = &limits->at[i];
    weir_wide lo, hi;
    weir_form_span(l->coef, box, &lo, &hi);
    later = later || (l->coef[k] > 0 && lo < l->lo) || (l->coef[k] < 0 && hi >= l->hi);
    earlier = earlier || (l->coef[k] < 0 && lo < l->lo) || (l->coef[k] > 0 && hi >= l->hi);
  }
  if (later) {
    box->lo[k] = box->hi[k] - period;
  } else {
    box->hi[k] = box->lo[k] + period;
  }
  return !later || !earlier;
}

/* Where no two iterations touch the same elements, or a box remains in which that is
 * so, the iterations that touch one are counted. */
static bool one_each(const struct weir_use *u, const struct component *p, int64_t *count)
{
  struct weir_limits limits;
  weir_box box = u->box;
  int64_t tries = MAX_TRIES;

  limits.n = p->limits.n;
  memcpy(limits.at, p->limits.at, (size_t)limits.n * sizeof limits.at[0]);
  for (int d = 0; d < u->x->rank; d++) {
    const weir_index *x = &u->x->index[d];
    const bool fills = x->border == WEIR_BORDER_ZERO || x->border == WEIR_BORDER_VALUE;
    if ((p->elements >> d & 1) != 0 && fills) { /* beyond its border no element is touched */
      limits.at[limits.n++] = weir_limit_of(x, u->x->extent[d]);
    }
  }
  for (int k = 0; k < box.rank; k++) {
    if ((p->dims >> k & 1) != 0 && !keep_period(&limits, k, period_of(u, p, k), &box)) {
      return false;
    }
  }
  *count = weir_limits_count(&limits, &box, p->dims, false, &tries);
  return tries >= 0;
}

/* The dimension of the component, not in `used`, whose index is i / divisor for iteration dimension
 * k; -1: none. */
static int digit_of(const struct weir_use *u, const struct component *p, int k, int64_t divisor,
                    uint32_t used)
{
  for (int d = 0; d < u->x->rank; d++) {
    const weir_index *x = &u->x->index[d];

    if (((p->elements & ~used) >> d & 1) != 0 && weir_index_divisor(x) == divisor &&
        weir_use_dims(u, d) == 1u << k && x->coef[k] == 1 && x->gather == 0 &&
        x->offset % divisor == 0) {
      return d;
    }
  }
  return -1;
}

/* An array that is flattened, or made of a flat one: the indices are the digits of one iteration
 * number, each wrapped into its extent but for the first. Every number has separate digits. */
static bool digits(const struct weir_use *u, const struct component *p, int64_t *count)
{
  uint32_t used = 0;
  int64_t radix = 1;
  weir_wide lo, hi;
  int k = 0;

  while (k < u->box.rank && (p->dims >> k & 1) == 0) {
    k++;
  }
  if (p->dims != 1u << k || p->limits.n > 0) {
    return false;
  }
  while (used != p->elements) {
    const int d = digit_of(u, p, k, radix, used);

    if (d < 0 || (used = used | 1u << d, !weir_mul_ok(radix, u->x->extent[d], &radix))) {
      return false;
    }
    weir_index_span(&u->x->index[d], &u->box, &lo, &hi);
    const bool inside = used == p->elements && lo >= 0 && hi < u->x->extent[d];
    if (!inside && (u->x->index[d].border != WEIR_BORDER_WRAP || used == p->elements)) {
      return false;
    }
  }
  *count = u->box.hi[k] - u->box.lo[k];
  return true;
}

/* Of a gathered dimension d, as many elements as are named. */
static void keep_named(const struct weir_use *u, int d, weir_region *r, int at)
{
  int64_t count = 0;

  if (u->named == NULL || u->named->dim != d) {
    return;
  }
  for (int64_t i = 0; i < u->named->n; i++) {
    count += u->named->interval[i].hi - u->named->interval[i].lo;
  }
  r->n[at] = count > 0;
  r->interval[at][0] = (weir_interval){0, count};
}

/* Distinct elements of one component, by the first way that is exact; else an upper bound. */
static int64_t count_component(const struct weir_use *u, const struct component *p,
                               const weir_region *r)
{
  weir_box window = {.rank = 0};
  struct weir_marks m;
  int64_t bound = weir_box_points(&u->box, p->dims), left = WEIR_MAX_POINTS, count;
  bool gathers = false, exact = false;
  weir_region hull = {.rank = 0};

  for (int d = 0; d < r->rank; d++) {
    if ((p->elements >> d & 1) == 0) {
      continue;
    }
    gathers = gathers || u->x->index[d].gather != 0;
    if (p->elements == 1u << d && two_terms(u, d, p, &count)) {
      return count;
    }
    window.lo[window.rank] = r->interval[d][0].lo;
    window.hi[window.rank++] = r->n[d] > 0 ? r->interval[d][r->n[d] - 1].hi : r->interval[d][0].lo;
    hull.n[hull.rank] = r->n[d];
    memcpy(hull.interval[hull.rank], r->interval[d], sizeof r->interval[d]);
    keep_named(u, d, &hull, hull.rank);
    hull.rank++;
  }
  const int64_t volume = weir_region_volume(&hull);
  bound = volume < bound ? volume : bound;
  if (bound == 0 || (!gathers && (one_each(u, p, &count) || digits(u, p, &count)))) {
    return bound == 0 ? 0 : count;
  }
  if (gathers || !weir_marks_init(&m, &window)) {
    return bound;
  }
  m.points_left = &left;
  exact = weir_use_mark(u, p->elements, &p->limits, &m);
  count = m.count;
  weir_marks_fini(&m);
  return exact ? count : bound;
}

/* True when a limit that shares no dimension with the operand drops every iteration. */
static bool none_survives(const struct weir_use *u, uint32_t seen)
{
  struct weir_limits apart = {.n = 0};
  int64_t budget = WEIR_MAX_POINTS;

  for (int i = 0; i < u->limits.n; i++) {
    if ((dims_of(u->limits.at[i].coef, &u->box) & seen) == 0) {
      apart.at[apart.n++] = u->limits.at[i];
    }
  }
  return apart.n > 0 && weir_limits_count(&apart, &u->box, 0, true, &budget) == 0;
}

int64_t weir_use_count(const struct weir_use *u)
{
  weir_region r;
  struct component p;
  uint32_t done = 0, seen = 0;
  int64_t count = 1;

  if (weir_use_region(u, &r)) {
    return u->empty ? 0 : weir_region_volume(&r);
  }
  for (int d = 0; d < r.rank; d++) {
    if ((done >> d & 1) != 0) {
      continue;
    }
    int64_t more = 0;
    if (d < weir_operand_first(u->x)) {
      more = u->x->extent[d];
    } else {
      component_of(u, d, &p);
      done |= p.elements;
      seen |= p.dims;
      if (p.elements == 1u << d && intervals(u, d, &p, &r)) {
        for (int k = 0; k < r.n[d]; k++) {
          more += r.interval[d][k].hi - r.interval[d][k].lo;
        }
      } else {
        more = count_component(u, &p, &r);
      }
    }
    count = more == 0 ? 0 : weir_mul_ok(count, more, &count) ? count : INT64_MAX;
  }
  return none_survives(u, seen) ? 0 : count;
}
