/* hrv_entropy.c - approximate and sample entropy by counting pairs of templates that match.
 *
 * Values become ranks, and those that a value matches a range of ranks: comparisons of 32 bits that
 * are exact, four of them in the smallest vector. Templates ascend by their first value, so that
 * those that can match one follow it, and are stored value by value. */
#include <math.h>
#include <stdlib.h>
#include "model/hrv_nonlinear_priv.h"

enum { BLOCK = 512 };

typedef struct ranked {
  double x;
  int64_t at;
} ranked;

/* Ranks that match a value. */
typedef struct range {
  int32_t lo, hi;
} range;

/* Templates of m values, and of m + 1: rank m is -1 at the end of a run, which matches none. */
typedef struct templates {
  int64_t n, n_longer, m;
  const range *near;               /* [values of the series]                       */
  int32_t *at;                     /* [n], first value, ascending                  */
  int32_t *rank[PS_HRV_MAX_M + 1]; /* [m + 1][n]                                   */
  int32_t *matches, *longer;       /* [n], of each with the others                 */
  int64_t pairs;                   /* matches of m values that both go on          */
  int64_t pairs_longer;            /* matches of m + 1 values                      */
} templates;

/* Sorted values, two numbers each; of half a number: ranks, ranges (2), places of templates, two
 * counts and m + 1 ranks. */
size_t hrv_entropy_scratch(int64_t m, int64_t n)
{
  return (size_t)((2 * 2 + 1 + 2 + m + 1 + 3 + 1) / 2) * (size_t)n;
}

static int by_value(const void *a, const void *b)
{
  const ranked *p = a, *q = b;

  return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->at > q->at) - (p->at < q->at);
}

static void rank_values(const hrv_series *s, double tolerance, ranked *sorted, int32_t *rank,
                        range *near)
{
  for (int64_t i = 0; i < s->n; i++) {
    sorted[i] = (ranked){s->x[i], i};
  }
  qsort(sorted, (size_t)s->n, sizeof *sorted, by_value);
  for (int64_t i = 0, lo = 0, hi = 0; i < s->n; i++) {
    while (sorted[i].x - sorted[lo].x > tolerance) {
      lo++;
    }
    while (hi + 1 < s->n && sorted[hi + 1].x - sorted[i].x <= tolerance) {
      hi++;
    }
    rank[sorted[i].at] = (int32_t)i;
    near[sorted[i].at] = (range){(int32_t)lo, (int32_t)hi};
  }
}

static void make_templates(const hrv_series *s, int64_t m, double tolerance, double *scratch,
                           templates *t)
{
  ranked *sorted = (ranked *)(void *)scratch;
  int32_t *rank = (int32_t *)(void *)(scratch + 2 * s->n);
  range *near = (range *)(void *)(rank + s->n);
  int32_t *next = (int32_t *)(void *)(near + s->n);

  rank_values(s, tolerance, sorted, rank, near);
  *t = (templates){
      .m = m, .near = near, .at = next, .matches = next + s->n, .longer = next + 2 * s->n};
  for (int64_t i = 0; i < s->n; i++) {
    if (s->left[sorted[i].at] >= m) {
      t->at[t->n++] = (int32_t)sorted[i].at;
    }
  }
  for (int64_t k = 0; k <= m; k++) {
    t->rank[k] = next + (3 + k) * s->n;
    for (int64_t i = 0; i < t->n; i++) {
      t->rank[k][i] = s->left[t->at[i]] > k ? rank[t->at[i] + k] : -1;
    }
  }
  for (int64_t i = 0; i < t->n; i++) {
    t->n_longer += t->rank[m][i] >= 0;
    t->matches[i] = t->longer[i] = 0;
  }
}

/* Template i with templates [from, from + n), whose first values are near enough. */
static void count_block(templates *t, int64_t i, int64_t from, int64_t n)
{
  const int32_t *last = t->rank[t->m] + from;
  const bool goes_on = t->rank[t->m][i] >= 0;
  const range end = goes_on ? t->near[t->at[i] + t->m] : (range){1, 0};
  int32_t *matches = t->matches + from, *longer = t->longer + from;
  int32_t match[BLOCK], sum = 0, sum_longer = 0, both = 0;

  for (int64_t j = 0; j < n; j++) {
    match[j] = 1;
  }
  for (int64_t k = 1; k < t->m; k++) {
    const int32_t *x = t->rank[k] + from;
    const range own = t->near[t->at[i] + k];

    for (int64_t j = 0; j < n; j++) {
      match[j] &= (x[j] >= own.lo) & (x[j] <= own.hi);
    }
  }
  for (int64_t j = 0; j < n; j++) {
    const int32_t one_longer = match[j] & (last[j] >= end.lo) & (last[j] <= end.hi);

    matches[j] += match[j];
    longer[j] += one_longer;
    sum += match[j];
    sum_longer += one_longer;
    both += match[j] & (last[j] >= 0);
  }
  t->matches[i] += sum;
  t->longer[i] += sum_longer;
  t->pairs += goes_on ? both : 0;
  t->pairs_longer += sum_longer;
}

static void count_all(templates *t)
{
  for (int64_t i = 0, end = 0; i < t->n; i++) {
    while (end < t->n && t->rank[0][end] <= t->near[t->at[i]].hi) {
      end++;
    }
    for (int64_t from = i + 1; from < end; from += BLOCK) {
      count_block(t, i, from, end - from < BLOCK ? end - from : BLOCK);
    }
  }
}

/* Pincus: a template matches itself too. */
static double approximate(const templates *t)
{
  double phi = 0, phi_longer = 0;
  int64_t others = 0;

  for (int64_t i = 0; i < t->n; i++) {
    others += t->matches[i];
    phi += log((double)(1 + t->matches[i]) / (double)t->n);
    phi_longer += t->rank[t->m][i] >= 0 ? log((double)(1 + t->longer[i]) / (double)t->n_longer) : 0;
  }
  /* Where templates match only themselves the value is of their number alone. */
  return others > 0 ? phi / (double)t->n - phi_longer / (double)t->n_longer : NAN;
}

hrv_entropy hrv_entropy_of(const hrv_series *s, int64_t m, double tolerance, int64_t min_templates,
                           double *scratch)
{
  templates t;

  make_templates(s, m, tolerance, scratch, &t);
  if (t.n_longer < min_templates || t.n_longer < 2) {
    return (hrv_entropy){NAN, NAN};
  }
  count_all(&t);
  return (hrv_entropy){.apen = approximate(&t),
                       .sampen = t.pairs_longer > 0 ? log((double)t.pairs / (double)t.pairs_longer)
                                                    : NAN};
}

void hrv_coarse_grain(const hrv_series *s, int64_t scale, hrv_series *coarse)
{
  coarse->n = 0;
  for (int64_t at = 0; at < s->n;) {
    const int64_t run = s->left[at], end = at + run;

    for (int64_t k = run / scale; k > 0; k--, at += scale) {
      double sum = 0;

      for (int64_t i = 0; i < scale; i++) {
        sum += s->x[at + i];
      }
      coarse->left[coarse->n] = k;
      coarse->x[coarse->n++] = sum / (double)scale;
    }
    at = end;
  }
}
