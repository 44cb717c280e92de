/* access_union.c - distinct elements of several uses of one array, counted once. */
#include "graph/access/access_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_sort.h"

enum { MAX_USES = 32 };

/* Union over dimensions d, d + 1, ... of the regions of `alive`: between two neighbouring ends of
 * intervals the same regions hold everywhere. */
static weir_wide sweep(const weir_region *r, int n, uint64_t alive, int d)
{
  int64_t edge[4 * MAX_USES];
  int n_edges = 0;
  weir_wide total = 0;

  if (alive == 0 || d == r[0].rank) {
    return alive != 0;
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; (alive >> i & 1) != 0 && k < r[i].n[d]; k++) {
      edge[n_edges++] = r[i].interval[d][k].lo;
      edge[n_edges++] = r[i].interval[d][k].hi;
    }
  }
  qsort(edge, (size_t)n_edges, sizeof edge[0], weir_compare_i64);
  for (int c = 0; c + 1 < n_edges; c++) {
    uint64_t here = 0;
    if (edge[c] == edge[c + 1]) {
      continue;
    }
    for (int i = 0; i < n; i++) {
      for (int k = 0; (alive >> i & 1) != 0 && k < r[i].n[d]; k++) {
        if (r[i].interval[d][k].lo <= edge[c] && edge[c] < r[i].interval[d][k].hi) {
          here |= UINT64_C(1) << i;
        }
      }
    }
    total += ((weir_wide)edge[c + 1] - edge[c]) * sweep(r, n, here, d + 1);
  }
  return total;
}

weir_wide weir_regions_union(const weir_region *r, int n)
{
  WEIR_ASSERT(n >= 0 && n <= MAX_USES);
  return n == 0 ? 0 : sweep(r, n, (UINT64_C(1) << n) - 1, 0);
}

/* True when both uses touch the same elements because they say the same. */
static bool same_use(const struct weir_use *a, const struct weir_use *b)
{
  bool same = a->box.rank == b->box.rank && a->limits.n == b->limits.n && a->x->role == b->x->role;

  for (int k = 0; same && k < a->box.rank; k++) {
    same = a->box.lo[k] == b->box.lo[k] && a->box.hi[k] == b->box.hi[k];
  }
  for (int d = 0; same && d < a->x->rank; d++) {
    same = a->x->index[d].gather == 0 &&
           weir_index_same(&a->x->index[d], &b->x->index[d], a->box.rank);
  }
  for (int i = 0; same && i < a->limits.n; i++) {
    const struct weir_limit *l = &a->limits.at[i], *m = &b->limits.at[i];
    same = l->lo == m->lo && l->hi == m->hi && weir_same_form(l->coef, m->coef, a->box.rank);
  }
  return same;
}

/* Takes array dimension d out of every region where all agree on it; returns its length, or 0. */
static int64_t common_length(const weir_region *r, int n, int d)
{
  int64_t length = 0;

  for (int i = 1; i < n; i++) {
    if (r[i].n[d] != r[0].n[d] || memcmp(r[i].interval[d], r[0].interval[d],
                                         (size_t)r[0].n[d] * sizeof r[0].interval[d][0]) != 0) {
      return 0;
    }
  }
  for (int k = 0; k < r[0].n[d]; k++) {
    length += r[0].interval[d][k].hi - r[0].interval[d][k].lo;
  }
  return length;
}

/* True when dimension d of the use is independent of the other dimensions and without holes. */
static bool independent(const struct weir_use *u, int d)
{
  weir_operand alone = {.rank = 1, .role = WEIR_ROLE_DATA};
  struct weir_use one = *u;
  weir_region r;

  if (d < weir_operand_first(u->x)) {
    return true;
  }
  for (int k = weir_operand_first(u->x); k < u->x->rank; k++) {
    for (int j = 0; k != d && j < u->box.rank; j++) {
      if (u->x->index[k].coef[j] != 0 && u->x->index[d].coef[j] != 0 &&
          u->box.hi[j] - u->box.lo[j] > 1) {
        return false;
      }
    }
  }
  alone.index[0] = u->x->index[d];
  alone.extent[0] = u->x->extent[d];
  one.x = &alone;
  return u->limits.n == 0 && weir_use_region(&one, &r);
}

/* Exact union by marking every element, after the dimensions common to all uses are taken out. */
static bool mark_union(const struct weir_use *const *u, const weir_region *r, int n, int64_t *count)
{
  const weir_region *first = &r[0];
  weir_box window = {.rank = 0};
  uint32_t elements = 0;
  int64_t factor = 1, left = WEIR_MAX_POINTS;
  struct weir_marks m;
  bool exact = true;

  for (int d = 0; d < first->rank; d++) {
    bool apart = true;
    for (int i = 0; i < n; i++) {
      apart = apart && independent(u[i], d);
    }
    const int64_t length = apart ? common_length(r, n, d) : 0;
    if (length > 0) {
      factor = weir_mul_ok(factor, length, &factor) ? factor : INT64_MAX;
      continue;
    }
    if (d < weir_operand_first(u[0]->x)) {
      return false;
    }
    elements |= 1u << d;
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < r[i].n[d]; k++) {
        lo = r[i].interval[d][k].lo < lo ? r[i].interval[d][k].lo : lo;
        hi = r[i].interval[d][k].hi > hi ? r[i].interval[d][k].hi : hi;
      }
    }
    window.lo[window.rank] = lo;
    window.hi[window.rank++] = hi < lo ? lo : hi;
  }
  if (!weir_marks_init(&m, &window)) {
    return false;
  }
  m.points_left = &left;
  for (int i = 0; i < n && exact; i++) {
    exact = weir_use_mark(u[i], elements, &u[i]->limits, &m);
  }
  *count = weir_mul_ok(m.count, factor, count) ? *count : INT64_MAX;
  weir_marks_fini(&m);
  return exact;
}

static bool gathers(const struct weir_use *u)
{
  for (int d = weir_operand_first(u->x); d < u->x->rank; d++) {
    if (u->x->index[d].gather != 0) {
      return true;
    }
  }
  return false;
}

static int64_t count_union(const struct weir_use *const *u, int n)
{
  weir_region regions[MAX_USES];
  bool exact = true, unknown = false;
  int64_t count;

  if (n <= 1) {
    return n == 0 ? 0 : weir_use_count(u[0]);
  }
  for (int i = 0; i < n; i++) {
    exact = weir_use_region(u[i], &regions[i]) && exact;
    unknown = unknown || gathers(u[i]);
  }
  if (!exact && !unknown && mark_union(u, regions, n, &count)) {
    return count;
  }
  const weir_wide all = weir_regions_union(regions, n);
  weir_wide apart = 0; /* hulls of what is gathered are often more than both together */

  for (int i = 0; i < n && unknown; i++) {
    apart += weir_use_count(u[i]);
  }
  const weir_wide min = unknown && apart < all ? apart : all;
  return min > INT64_MAX ? INT64_MAX : (int64_t)min;
}

static int64_t saturating_sum(int64_t a, int64_t b)
{
  int64_t sum;

  return weir_add_ok(a, b, &sum) ? sum : INT64_MAX;
}

int64_t weir_distinct_union(const weir_access *const *access, const int *operand,
                            const weir_box *box, int n)
{
  return weir_distinct_named(access, operand, box, NULL, n);
}

int64_t weir_distinct_named(const weir_access *const *access, const int *operand,
                            const weir_box *box, const weir_named *named, int n)
{
  struct weir_use *uses;
  const struct weir_use *kept[MAX_USES];
  int n_kept = 0;
  void *memory;
  int64_t total = 0;

  if (weir_alloc(n < MAX_USES ? n : MAX_USES, sizeof *uses, &memory) != WEIR_OK) {
    return INT64_MAX;
  }
  uses = memory;
  for (int i = 0; i < n; i++) {
    struct weir_use *u = &uses[n_kept];
    weir_use_init(access[i], operand[i], &box[i], u);
    u->named = named != NULL ? &named[i] : NULL;
    bool known = u->empty;
    for (int k = 0; k < n_kept && !known; k++) {
      known = same_use(kept[k], u);
    }
    if (known) {
      continue;
    }
    kept[n_kept++] = u;
    if (n_kept == MAX_USES) {
      total = saturating_sum(total, count_union(kept, n_kept));
      n_kept = 0;
    }
  }
  total = saturating_sum(total, count_union(kept, n_kept));
  weir_free(&memory);
  return total;
}

int64_t weir_distinct(const weir_access *a, int operand, const weir_box *box)
{
  struct weir_use u;

  weir_use_init(a, operand, box, &u);
  return weir_use_count(&u);
}
