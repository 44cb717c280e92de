/* emos_starts.c - see emos_priv.h. With few cases, and with many whose truth is at a bound, the
 * mean CRPS has several minima: where the scale is small it is a sum of distances |y - mu|, whose
 * minima are lines through two cases; where truth is at a bound, the location may be far beyond it,
 * so that a line leaves such cases aside or separates them; and a scale that follows the variance
 * of the members leaves aside all cases but those of the smallest one.
 *
 * Points to begin from are therefore the lines through pairs of cases (as in Rousseeuw and Leroy,
 * Robust Regression and Outlier Detection (1987), chapter 5: elemental subsets), where truth is at
 * a bound also through a point beyond it, each with several scales. Those of the lowest CRPS are
 * improved by two steps, the lowest different ones by a whole search, and the lowest of all again
 * from other scales. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "baseline/emos_priv.h"

/* Cases that are looked at (between two bounds, where those at an edge decide, all of a window),
 * and those of them that make pairs; rounds with other scales. */
enum { SAMPLE = 128, FEWER = 32, PAIRED = 12, SCALES = 5, OTHERS = 6, ROUNDS = 3 };

typedef struct point {
  double at[EMOS_UNKNOWNS], crps;
} point;

/* The lowest ones, in order. */
typedef struct points {
  int n, most;
  point of[EMOS_REFINED];
} points;

typedef struct sample {
  int64_t n;
  float mean[SAMPLE], variance[SAMPLE], truth[SAMPLE];
  double weight[SAMPLE];
  wx_cases cases;
} sample;

/* A case in units of the search. */
typedef struct place {
  double x, y;
} place;

/* Takes cases that count, evenly spread among n. */
static void take_sample(const emos_search *search, int64_t n, sample *s)
{
  const wx_cases *const c = search->cases;
  const int64_t room = search->width > 0 ? SAMPLE : FEWER, most = n < room ? n : room;
  int64_t counted = 0;

  s->n = 0;
  for (int64_t i = 0; s->n < most && i < c->rows * c->columns; i++) {
    const float x = c->mean[i], y = c->truth[i], v = c->variance[i];
    const double w = c->weight != NULL ? c->weight[i % c->columns] : 1;

    if (!isfinite(x) || !isfinite(y) || !isfinite(v) || !(v >= 0) || !(w > 0)) {
      continue;
    }
    if (counted * most / n >= s->n) {
      s->mean[s->n] = x;
      s->truth[s->n] = y;
      s->variance[s->n] = v;
      s->weight[s->n++] = w;
    }
    counted++;
  }
  s->cases = (wx_cases){.rows = 1,
                        .columns = s->n,
                        .mean = s->mean,
                        .variance = s->variance,
                        .truth = s->truth,
                        .weight = s->weight};
}

/* Puts p in its place, but where it is not among the lowest, or one of them has its CRPS. */
static void insert(points *list, const point *p)
{
  const double same = 1e-6;
  int i = list->n;

  while (i > 0 && p->crps < list->of[i - 1].crps) {
    i--;
  }
  const bool doubled = (i > 0 && p->crps - list->of[i - 1].crps <= same * p->crps) ||
                       (i < list->n && list->of[i].crps - p->crps <= same * p->crps);

  if (i >= list->most || !isfinite(p->crps) || doubled) {
    return;
  }
  list->n += list->n < list->most;
  memmove(&list->of[i + 1], &list->of[i], (size_t)(list->n - 1 - i) * sizeof *p);
  list->of[i] = *p;
}

/* Sets the unknowns of the scale, within limits. */
static void set_scale(emos_search *s, const emos_search *first, double c, double d)
{
  s->at[EMOS_C] =
      first->fixed[EMOS_C] ? first->at[EMOS_C] : fmax(s->low[EMOS_C], fmin(s->high[EMOS_C], c));
  s->at[EMOS_D] = first->fixed[EMOS_D] ? 0 : fmin(s->high[EMOS_D], d);
}

/* Mean distance of the truth from a line, cut at the bounds, as the standard deviation of a normal
 * distribution. */
static double distance_from(const emos_search *s, const sample *of)
{
  const bool bounded = wx_family_is_bounded(s->family);
  const double low = bounded ? (s->lower - s->y0) / s->scale : -INFINITY;
  const double high = s->width > 0 ? low + s->width / s->scale : INFINITY;
  double sum = 0;

  for (int64_t i = 0; i < of->n; i++) {
    const double x = ((double)of->mean[i] - s->x0) / s->scale;
    const double mu = fmin(high, fmax(low, s->at[EMOS_A] + s->at[EMOS_B] * x));

    sum += fabs(((double)of->truth[i] - s->y0) / s->scale - mu);
  }
  return 1.25 * sum / (double)of->n;
}

/* Inserts the line at the unknowns with the best of several scales. */
static void try_line(emos_search *s, const emos_search *first, const sample *of, points *list)
{
  const double r = distance_from(s, of), per_v = s->v_mean > 0 ? 1 / s->v_mean : 0;
  const double wide = s->sd_y * s->sd_y * per_v, floor = s->low[EMOS_C];
  const double slope = s->at[EMOS_B] * s->sd_x;
  const double scale[SCALES][2] = {{r * r, 0},
                                   {floor, r * r * per_v},
                                   {r * r, 1e4 * wide},
                                   {floor, 25 * wide},
                                   {floor, slope * slope * per_v}};
  point best = {.crps = INFINITY};

  for (int k = 0; k < SCALES; k++) {
    set_scale(s, first, scale[k][0], scale[k][1]);
    const double crps = emos_value(s);

    if (crps < best.crps) {
      best.crps = crps;
      memcpy(best.at, s->at, sizeof best.at);
    }
  }
  insert(list, &best);
}

static int in_order(const void *a, const void *b)
{
  const place *const p = a, *const q = b;

  return p->x != q->x ? (p->x < q->x ? -1 : 1) : p->y != q->y ? (p->y < q->y ? -1 : 1) : 0;
}

/* Returns by how much a point at a bound, in units of the search and so but for rounding, is moved
 * beyond it; 0: it is at none. */
static double beyond(const emos_search *s, double y)
{
  const double low = (s->lower - s->y0) / s->scale, width = s->width / s->scale;
  const double rounding = 1e-9 * (fabs(low) + width);

  if (wx_family_is_bounded(s->family) && y <= low + rounding) {
    return s->width > 0 ? -width : -2 * s->sd_y;
  }
  return s->width > 0 && y >= low + width - rounding ? width : 0;
}

/* Whether truth next to this case, in the order of their means, is at another bound or at none:
 * lines that separate the cases at the bounds go through these. */
static bool is_edge(const emos_search *s, const place *all, int n, int i)
{
  const double here = beyond(s, all[i].y);

  return s->width > 0 && (here == 0 || (i > 0 && beyond(s, all[i - 1].y) != here) ||
                          (i + 1 < n && beyond(s, all[i + 1].y) != here));
}

/* PAIRED cases at most, evenly spread in the order of their means; where few are at edges, these
 * are among them. */
static int take_places(const emos_search *s, const sample *of, place *out)
{
  const int n = (int)of->n, m = n < PAIRED ? n : PAIRED;
  int edges = 0, others = 0, taken = 0, count = 0;
  place all[SAMPLE];

  for (int i = 0; i < n; i++) {
    all[i] = (place){((double)of->mean[i] - s->x0) / s->scale,
                     ((double)of->truth[i] - s->y0) / s->scale};
  }
  qsort(all, (size_t)n, sizeof *all, in_order);
  for (int i = 0; i < n; i++) {
    edges += is_edge(s, all, n, i);
  }
  const int kept = edges <= m * 3 / 4 ? edges : 0, most = m - kept, rest = n - kept;

  for (int i = 0; i < n && count < m; i++) {
    const bool keep = kept > 0 && is_edge(s, all, n, i);
    const int at = most > 1 ? taken * (rest - 1) / (most - 1) : 0;
    const bool next = !keep && taken < most && others == at;

    others += !keep;
    taken += next;
    if (keep || next) {
      out[count++] = all[i];
    }
  }
  return count;
}

static void try_pair(emos_search *s, const emos_search *first, const sample *of, place p, place q,
                     points *list)
{
  s->at[EMOS_B] = (q.y - p.y) / (q.x - p.x);
  s->at[EMOS_A] = p.y - s->at[EMOS_B] * p.x;
  try_line(s, first, of, list);
}

/* The lines through one place, of slope 0 or the fixed one, and through it and each one before. */
static void try_place(emos_search *s, const emos_search *first, const sample *of, const place *at,
                      int j, points *list)
{
  for (int moved = 0; moved <= (beyond(s, at[j].y) != 0); moved++) {
    const place q = {at[j].x, at[j].y + moved * beyond(s, at[j].y)};

    s->at[EMOS_B] = s->fixed[EMOS_B] ? first->at[EMOS_B] : 0;
    s->at[EMOS_A] = q.y - s->at[EMOS_B] * q.x;
    try_line(s, first, of, list);
    for (int i = 0; i < j && !s->fixed[EMOS_B]; i++) {
      if (at[i].x < q.x) {
        const double shift = beyond(s, at[i].y);

        try_pair(s, first, of, at[i], q, list);
        if (shift != 0) {
          try_pair(s, first, of, (place){at[i].x, at[i].y + shift}, q, list);
        }
      }
    }
  }
}

static point descend_from(emos_search *s, const double *at, const emos_stop *stop)
{
  point p;
  int64_t steps;

  memcpy(s->at, at, sizeof p.at);
  p.crps = emos_descend(s, stop, &steps);
  memcpy(p.at, s->at, sizeof p.at);
  return p;
}

/* Searches again from the lowest minimum with other scales, while that lowers it. */
static void try_scales(emos_search *s, const emos_search *first, const emos_stop *stop,
                       points *list)
{
  const double per_v = s->v_mean > 0 ? 1 / s->v_mean : 0, wide = s->sd_y * s->sd_y;
  double before = INFINITY;

  for (int round = 0; round < ROUNDS && list->of[0].crps < before * (1 - 1e-9); round++) {
    const point from = list->of[0];
    const double c = from.at[EMOS_C], d = from.at[EMOS_D], u = c + d * s->v_mean;
    const double scale[OTHERS][2] = {{u, 0},
                                     {s->low[EMOS_C], u * per_v},
                                     {c, d + 25 * wide * per_v},
                                     {wide, 0},
                                     {16 * c, d},
                                     {c / 16, d / 16}};

    before = from.crps;
    for (int k = 0; k < OTHERS; k++) {
      memcpy(s->at, from.at, sizeof from.at);
      set_scale(s, first, scale[k][0], scale[k][1]);
      const point p = descend_from(s, s->at, stop);

      insert(list, &p);
    }
  }
}

bool emos_find_start(const emos_search *first, const emos_stop *stop, int searches, int64_t n,
                     double at[EMOS_UNKNOWNS])
{
  const emos_stop two = {stop->tolerance, 2};
  points list = {.most = EMOS_REFINED}, better = {.most = searches}, minima = {.most = searches};
  emos_search s = *first;
  place places[PAIRED];
  sample of;

  if (searches == 0) {
    return false;
  }
  take_sample(first, n, &of);
  s.scratch = NULL;
  s.cases = &of.cases;
  const int m = take_places(&s, &of, places);

  for (int j = 0; j < m; j++) {
    try_place(&s, first, &of, places, j, &list);
  }
  s.cases = first->cases;
  for (int i = 0; i < list.n; i++) {
    const point p = descend_from(&s, list.of[i].at, &two);

    insert(&better, &p);
  }
  for (int i = 0; i < better.n; i++) {
    const point p = descend_from(&s, better.of[i].at, stop);

    insert(&minima, &p);
  }
  if (minima.n == 0) {
    return false;
  }
  try_scales(&s, first, stop, &minima);
  memcpy(at, minima.of[0].at, sizeof minima.of[0].at);
  return true;
}
