/* access_count.c - distinct elements: products of independent parts, closed forms, enumeration. */
#include "graph/access_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"

/* More bounds of the exact fall-back: elements in a bitmap, steps in search of one surviving
 * iteration. Beyond them the hull is taken, an upper bound. */
enum { MAX_BITS = 1 << 27, MAX_STEPS = 1 << 22 };

static uint32_t dims_of(const weir_index *x, const weir_box *box)
{
  uint32_t mask = 0;

  for (int k = 0; k < box->rank; k++) {
    mask |= x->coef[k] != 0 && box->hi[k] - box->lo[k] > 1 ? 1u << k : 0;
  }
  return mask;
}

/* Dimensions that decide array dimension d, those behind a gathered value included. */
static uint32_t dims_of_element(const struct weir_use *u, int d)
{
  uint32_t mask = dims_of(&u->x->index[d], &u->box);
  const int gather = u->x->index[d].gather;

  if (gather > 0) {
    const weir_operand *g = &u->access->in[gather - 1];
    for (int k = 0; k < g->rank; k++) {
      mask |= dims_of(&g->index[k], &u->box);
    }
  }
  return mask;
}

void weir_use_init(const weir_access *a, int operand, const weir_box *box, struct weir_use *u)
{
  u->access = a;
  u->x = operand >= 0 ? &a->in[operand] : &a->out[-1 - operand];
  u->box = *box;
  u->limits.n = 0;
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
}

/* A part: array dimensions and limits that share iteration dimensions, directly or through others.
 */
struct part {
  uint32_t dims;     /* iteration dimensions       */
  uint32_t elements; /* array dimensions           */
  struct weir_limits limits;
};

/* The part that holds array dimension d (d < 0: any limit that no array dimension shares). */
static void part_of(const struct weir_use *u, int d, struct part *p)
{
  bool grown = true;

  p->elements = d >= 0 ? 1u << d : 0;
  p->dims = d >= 0 ? dims_of_element(u, d) : 0;
  while (grown) {
    const uint32_t before = p->dims;
    p->limits.n = 0;
    for (int k = weir_operand_first(u->x); k < u->x->rank; k++) {
      const uint32_t mask = dims_of_element(u, k);
      if ((mask & p->dims) != 0) {
        p->dims |= mask;
        p->elements |= 1u << k;
      }
    }
    for (int i = 0; i < u->limits.n; i++) {
      const uint32_t mask = dims_of(u->limits.at[i].x, &u->box);
      if ((mask & p->dims) != 0) {
        p->dims |= mask;
        p->limits.at[p->limits.n++] = u->limits.at[i];
      }
    }
    grown = p->dims != before;
  }
}

/* True when the limit says of an iteration what index `x` of an array of `extent` says. */
static bool same_limit(const struct weir_limit *l, const weir_index *x, int64_t extent,
                       const weir_box *box)
{
  if (l->x == x) {
    return true;
  }
  if (l->extent != extent || weir_index_div(l->x) != weir_index_div(x) ||
      l->x->offset != x->offset || x->gather != 0) {
    return false;
  }
  for (int k = 0; k < box->rank; k++) {
    if (l->x->coef[k] != x->coef[k]) {
      return false;
    }
  }
  return true;
}

/* True when the sums leave no gap wider than div, so that every index between the ends occurs. */
static bool contiguous(const weir_index *x, const weir_box *box)
{
  weir_wide reach = weir_index_div(x);
  uint32_t left = dims_of(x, box);

  while (left != 0) {
    int least = -1;
    for (int k = 0; k < box->rank; k++) {
      if ((left >> k & 1) != 0 && (least < 0 || llabs(x->coef[k]) < llabs(x->coef[least]))) {
        least = k;
      }
    }
    const weir_wide c = llabs(x->coef[least]);
    if (c > reach) {
      return false;
    }
    reach += c * ((weir_wide)box->hi[least] - box->lo[least] - 1);
    left &= ~(1u << least);
  }
  return true;
}

static void raw_range(const weir_index *x, const weir_box *box, weir_wide *lo, weir_wide *hi)
{
  weir_index_span(x, box, lo, hi);
  *lo = weir_wide_floor_div(*lo, weir_index_div(x));
  *hi = weir_wide_floor_div(*hi, weir_index_div(x));
}

/* Intervals of array dimension d that the use may touch; true when it touches them all, whatever
 * the other dimensions are. */
static bool intervals(const struct weir_use *u, int d, const struct part *p, weir_region *r)
{
  const weir_index *x = &u->x->index[d];
  weir_wide lo, hi;

  raw_range(x, &u->box, &lo, &hi);
  bool exact = x->gather == 0 && p->elements == 1u << d && contiguous(x, &u->box);
  for (int i = 0; i < p->limits.n; i++) {
    exact = exact && same_limit(&p->limits.at[i], x, u->x->extent[d], &u->box);
  }
  if (x->border == WEIR_BORDER_ABSENT || (exact && p->limits.n > 0)) {
    lo = lo < 0 ? 0 : lo;
    hi = hi >= u->x->extent[d] ? (weir_wide)u->x->extent[d] - 1 : hi;
  }
  r->n[d] = weir_border_image(x->border, lo, hi, u->x->extent[d], r->part[d]);
  return exact;
}

bool weir_use_region(const struct weir_use *u, weir_region *r)
{
  struct part p;
  bool exact = true;

  *r = (weir_region){.rank = u->x->rank};
  if (u->empty) {
    return true;
  }
  for (int d = 0; d < u->x->rank; d++) {
    if (d < weir_operand_first(u->x)) {
      r->n[d] = 1;
      r->part[d][0] = (weir_interval){0, u->x->extent[d]};
      continue;
    }
    part_of(u, d, &p);
    exact = intervals(u, d, &p, r) && exact;
  }
  uint32_t seen = 0;
  for (int d = weir_operand_first(u->x); d < u->x->rank; d++) {
    part_of(u, d, &p);
    seen |= p.dims;
  }
  for (int i = 0; i < u->limits.n; i++) {
    exact = exact && (dims_of(u->limits.at[i].x, &u->box) & ~seen) == 0;
  }
  r->exact = exact;
  return exact;
}

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

bool weir_use_mark(const struct weir_use *u, uint32_t elements, const struct weir_limits *limits,
                   struct weir_marks *m)
{
  uint32_t mask = 0;
  int64_t at[WEIR_MAX_DIMS], budget = MAX_STEPS;

  for (int d = 0; d < u->x->rank; d++) {
    if ((elements >> d & 1) != 0) {
      mask |= dims_of_element(u, d);
    }
  }
  int64_t *const left = m->points_left;
  *left -= weir_box_points(&u->box, mask);
  if (*left < 0) {
    return false;
  }
  memcpy(at, u->box.lo, sizeof at);
  for (int k = 0; k >= 0;) {
    weir_box one = u->box;
    for (int j = 0; j < one.rank; j++) {
      if ((mask >> j & 1) != 0) {
        one.lo[j] = at[j];
        one.hi[j] = at[j] + 1;
      }
    }
    if (limits->n == 0 || weir_limits_count(limits, &one, 0, true, &budget) > 0) {
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

/* One index with one term that steps over whole elements, or two terms, where a formula counts:
 * with g = gcd(c1, c2), p = c2 / g, q = c1 / g the sums c1 i + c2 j coincide where i moves by p
 * and j back by q. */
static bool closed_form(const struct weir_use *u, int d, const struct part *p, int64_t *count)
{
  const weir_index *x = &u->x->index[d];
  weir_box box = u->box;
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
  const bool folds = x->border >= WEIR_BORDER_WRAP; /* what leaves comes back elsewhere */
  if (x->gather != 0 || p->limits.n > 0 || n_terms == 0) {
    return false;
  }
  if (n_terms == 1 && !folds && !weir_index_tighten(x, 0, u->x->extent[d], &box)) {
    *count = 0;
    return true;
  }
  raw_range(x, &box, &lo, &hi);
  const int64_t n = box.hi[term[0]] - box.lo[term[0]], c1 = llabs(x->coef[term[0]]);
  if (lo < 0 || hi >= u->x->extent[d]) {
    return false;
  }
  if (n_terms == 1) {
    *count = n;
    return c1 >= weir_index_div(x);
  }
  const int64_t k = u->box.hi[term[1]] - u->box.lo[term[1]], c2 = llabs(x->coef[term[1]]);
  int64_t g = c1, rest = c2;
  while (rest != 0) {
    const int64_t next = g % rest;
    g = rest;
    rest = next;
  }
  const int64_t p1 = c2 / g, q1 = c1 / g;
  const weir_wide repeats = (weir_wide)(n > p1 ? n - p1 : 0) * (k > q1 ? k - q1 : 0);
  const weir_wide distinct = (weir_wide)n * k - repeats;
  *count = distinct > INT64_MAX ? INT64_MAX : (int64_t)distinct;
  return weir_index_div(x) == 1;
}

/* Distinct elements of one part, by the first way that is exact; else an upper bound. */
static int64_t count_part(const struct weir_use *u, const struct part *p, const weir_region *r)
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
    if (p->elements == 1u << d && closed_form(u, d, p, &count)) {
      return count;
    }
    window.lo[window.rank] = r->part[d][0].lo;
    window.hi[window.rank++] = r->n[d] > 0 ? r->part[d][r->n[d] - 1].hi : r->part[d][0].lo;
    hull.n[hull.rank] = r->n[d];
    memcpy(hull.part[hull.rank++], r->part[d], sizeof r->part[d]);
  }
  const int64_t volume = weir_region_volume(&hull);
  bound = volume < bound ? volume : bound;
  if (gathers || bound == 0 || !weir_marks_init(&m, &window)) {
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
  int64_t budget = MAX_STEPS;

  for (int i = 0; i < u->limits.n; i++) {
    if ((dims_of(u->limits.at[i].x, &u->box) & seen) == 0) {
      apart.at[apart.n++] = u->limits.at[i];
    }
  }
  return apart.n > 0 && weir_limits_count(&apart, &u->box, 0, true, &budget) == 0;
}

int64_t weir_use_count(const struct weir_use *u)
{
  weir_region r;
  struct part p;
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
      part_of(u, d, &p);
      done |= p.elements;
      seen |= p.dims;
      if (p.elements == 1u << d && intervals(u, d, &p, &r)) {
        for (int k = 0; k < r.n[d]; k++) {
          more += r.part[d][k].hi - r.part[d][k].lo;
        }
      } else {
        more = count_part(u, &p, &r);
      }
    }
    count = more == 0 ? 0 : weir_mul_ok(count, more, &count) ? count : INT64_MAX;
  }
  return none_survives(u, seen) ? 0 : count;
}
