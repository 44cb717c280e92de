/* clock.c - the clock of one device against another's, from marks of the same events on both: an
 * affine relation by a robust regression, and its steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/weir_flags.h"

typedef struct options {
  double window, hop, lag, reach, max_offset;
  int64_t min_pairs;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, window, 600, 10, 86400, "s", "pairs of marks in so much time"),
    WEIR_OPT_REAL(options_, hop, 60, 1, 86400, "s",
                  "a new window each; a result stands at the start of the window's last hop"),
    WEIR_OPT_INT(options_, min_pairs, 20, 4, 1e6, "1", "fewer pairs in a window give no result",
                 .alias = "least"),
    WEIR_OPT_REAL(options_, lag, 0, -100, 100, "s",
                  "offset before any is known: what the first stream's marks come later by"),
    WEIR_OPT_REAL(options_, reach, 0.3, 0, 10, "s",
                  "marks further from the offset known so far are no pair"),
    WEIR_OPT_REAL(options_, max_offset, 10, 0, 100, "s", "largest offset", .alias = "most"),
    WEIR_OPT_END,
};

enum { OFFSET, DRIFT, RESIDUAL, PAIRS, FITS };
enum { REFERENCE = 1, DEVICE = 2 };     /* marks in a slot: bits                         */
enum { WAITING = 1024 };                /* marks remembered; of more the oldest are lost */
enum { NEW = 5, OLD = 15 };             /* pairs on both sides of a step                 */
enum { PER_SECOND = 4, TOLERATED = 4 }; /* pairs kept; deviations that are no step       */
#define STEP 1.5                        /* slots that rounding may move an offset by     */
#define INLIER 2.5                      /* deviations within which a pair counts in the end */
#define MEAN 1.2533   /* deviation of a normal distribution by its mean absolute one */
#define NORMAL 1.4826 /* deviation of a normal distribution by its MAD */

typedef struct search {
  double rate, lag, reach, max_offset; /* slots */
  int64_t window, hop, min_pairs, capacity, ahead;
} search;

/* A mark of the device at slot `at` comes `by` slots before the same mark of the reference. */
typedef struct pair {
  double at, by;
} pair;

/* The pairs and scratch memory follow. */
typedef struct state {
  int64_t next, newest;    /* newest: 1 + slot at which the last pair became known */
  int64_t n_ref, n_dev, n; /* marks and pairs in the lists                         */
  int64_t since;           /* pairs since the last step                            */
  int64_t last_jump;       /* 1 + slot of the last step put                        */
  int64_t ref[WAITING], dev[WAITING];
} state;

static pair *pairs_of(state *s)
{
  return (pair *)(void *)((char *)s + (sizeof *s + 63) / 64 * 64);
}

static double *scratch_of(const search *p, state *s)
{
  return (double *)(void *)(pairs_of(s) + p->capacity);
}

static size_t bytes_of(const search *p)
{
  return (sizeof(state) + 63) / 64 * 64 + (size_t)p->capacity * (sizeof(pair) + sizeof(double));
}

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* Sorts v. */
static double median(double *v, int64_t n)
{
  qsort(v, (size_t)n, sizeof *v, by_size);
  return 0.5 * (v[(n - 1) / 2] + v[n / 2]);
}

/* Mean of the offsets near their median. */
static double middle_offset(const pair *v, int64_t n, double *deviation)
{
  double x[OLD], sum = 0;
  int64_t count = 0;

  for (int64_t i = 0; i < n; i++) {
    x[i] = v[i].by;
  }
  const double m = median(x, n);

  *deviation = 0;
  for (int64_t i = 0; i < n; i++) {
    *deviation += MEAN * fabs(v[i].by - m) / (double)n;
  }
  for (int64_t i = 0; i < n; i++) {
    if (fabs(v[i].by - m) <= fmax(STEP, INLIER * *deviation)) {
      sum += v[i].by;
      count++;
    }
  }
  return sum / (double)count;
}

static double expected_offset(const search *p, state *s)
{
  double deviation = 0;

  return s->since >= NEW ? middle_offset(pairs_of(s) + s->n - NEW, NEW, &deviation) : p->lag;
}

static void push(int64_t *list, int64_t *n, int64_t slot)
{
  if (*n == WAITING) {
    (*n)--;
    memmove(list, list + 1, (size_t)*n * sizeof *list);
  }
  list[(*n)++] = slot;
}

static void drop_pairs(state *s, int64_t count)
{
  pair *v = pairs_of(s);

  s->n -= count;
  memmove(v, v + count, (size_t)s->n * sizeof *v);
}

/* Whether the offset has stepped by *size before the last NEW pairs; then those before are gone. */
static bool stepped(state *s, double *size)
{
  const pair *last = pairs_of(s) + s->n - NEW;
  double deviation = 0, unused = 0;

  if (s->since < NEW + OLD) {
    return false;
  }
  const double before = middle_offset(last - OLD, OLD, &deviation);

  *size = middle_offset(last, NEW, &unused) - before;
  if (fabs(*size) <= fmax(STEP, TOLERATED * deviation)) {
    return false;
  }
  for (int64_t i = 0; i < NEW; i++) {
    if ((last[i].by - before) / *size < 0.5) {
      return false;
    }
  }
  drop_pairs(s, s->n - NEW);
  s->since = NEW;
  return true;
}

/* The oldest mark of the device finds its own among those of the reference. */
static bool resolve(const search *p, state *s, int64_t t, double offset, double *size)
{
  const double wanted = (double)s->dev[0] + offset;
  double best = INFINITY;
  int64_t from = 0;

  for (int64_t i = 0; i < s->n_ref; i++) {
    const double by = (double)s->ref[i] - wanted;

    best = fabs(by) < fabs(best) ? by : best;
    from += (double)s->ref[i] < wanted - 2 * p->reach - p->max_offset;
  }
  s->n_ref -= from;
  memmove(s->ref, s->ref + from, (size_t)s->n_ref * sizeof *s->ref);
  const pair found = {(double)s->dev[0], offset + best};

  s->n_dev--;
  memmove(s->dev, s->dev + 1, (size_t)s->n_dev * sizeof *s->dev);
  if (fabs(best) > p->reach || fabs(found.by) > p->max_offset) {
    return false;
  }
  if (s->n == p->capacity) {
    drop_pairs(s, 1);
  }
  pairs_of(s)[s->n++] = found;
  s->since++;
  s->newest = t + 1;
  return stepped(s, size);
}

/* Slot t; what: its marks. Steps are added to `found`, unless it is NULL. */
static void slot(const search *p, state *s, int64_t t, int what, ps_events *found)
{
  if (what & REFERENCE) {
    push(s->ref, &s->n_ref, t);
  }
  if (what & DEVICE) {
    push(s->dev, &s->n_dev, t);
  }
  while (s->n_dev > 0) {
    const double offset = expected_offset(p, s);
    double size = 0;

    if ((double)t < (double)s->dev[0] + fmax(offset, 0) + p->reach) {
      return;
    }
    if (resolve(p, s, t, offset, &size) && found != NULL) {
      const int64_t first = (int64_t)pairs_of(s)[0].at;
      const int64_t at = first > t - p->ahead ? first : t - p->ahead;
      const float value = (float)(size / p->rate);

      if (at >= s->last_jump) {
        ps_events_put(found, at, &value);
        s->last_jump = at + 1;
      }
    }
  }
}

/* by = offset + slope (at - end) */
typedef struct line {
  double slope, offset, deviation;
} line;

static double miss(const line *l, const pair *v, double end)
{
  return v->by - l->offset - l->slope * (v->at - end);
}

/* Theil's incomplete regression: slopes between pairs half a window apart. */
static line theil(const pair *v, int64_t n, double end, double *scratch)
{
  const int64_t half = n / 2;
  line l = {0, 0, 0};

  for (int64_t i = 0; i + half < n; i++) {
    scratch[i] = (v[i + half].by - v[i].by) / (v[i + half].at - v[i].at);
  }
  l.slope = median(scratch, n - half);
  for (int64_t i = 0; i < n; i++) {
    scratch[i] = miss(&l, &v[i], end);
  }
  l.offset = median(scratch, n);
  for (int64_t i = 0; i < n; i++) {
    scratch[i] = fabs(miss(&l, &v[i], end));
  }
  l.deviation = NORMAL * median(scratch, n);
  return l;
}

/* Least squares of the pairs near a line: marks stand in slots, and a median of their slopes moves
 * by whole slots. `deviation` is the root mean square. */
static line refine(line l, const pair *v, int64_t n, double end)
{
  const double max_residual = fmax(STEP, INLIER * l.deviation);
  double count = 0, at = 0, by = 0, square = 0, both = 0, rest = 0;

  for (int64_t i = 0; i < n; i++) {
    const double r = miss(&l, &v[i], end);

    if (fabs(r) <= max_residual) {
      count++;
      at += v[i].at - end;
      by += r;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    const double r = miss(&l, &v[i], end), d = v[i].at - end - at / count;

    if (fabs(r) <= max_residual) {
      square += d * d;
      both += d * (r - by / count);
      rest += (r - by / count) * (r - by / count);
    }
  }
  const double slope = square > 0 ? both / square : 0;

  return (line){.slope = l.slope + slope,
                .offset = l.offset + (by - slope * at) / count,
                .deviation = sqrt(fmax(rest - slope * both, 0) / count)};
}

/* The relation of the pairs from one on. */
static void fit(const search *p, state *s, int64_t from, int64_t end, float *values)
{
  const pair *v = pairs_of(s) + from;
  const int64_t n = s->n - from;
  const line l = refine(theil(v, n, (double)end, scratch_of(p, s)), v, n, (double)end);

  values[OFFSET] = (float)(l.offset / p->rate);
  values[DRIFT] = (float)(1e6 * l.slope);
  values[RESIDUAL] = (float)(l.deviation / p->rate);
  values[PAIRS] = (float)n;
}

/* The window that ends before slot `end`; its result stands at slot `at`. */
static void evaluate(const search *p, state *s, int64_t end, int64_t at, ps_events *found)
{
  float values[FITS];
  int64_t old = 0;

  while (old < s->n && pairs_of(s)[old].at < (double)(end - p->window)) {
    old++;
  }
  if (s->newest <= at || s->n - old < p->min_pairs) {
    return;
  }
  fit(p, s, old, end, values);
  ps_events_put(found, at, values);
}

/* x[0]: marks in each slot, as are the next two. */
static void pass_fits(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                      const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  for (int64_t i = 0; i < n; i++) {
    if (usable[i] || s->n_dev > 0) {
      slot(p, s, t + i, usable[i] ? (int)x[0][i] : 0, NULL);
    }
    if ((t + i + 1) % p->hop == 0) {
      evaluate(p, s, t + i + 1, t + i + 1 - p->hop, found);
    }
  }
  s->next = t + n;
}

static void pass_steps(const void *params, void *memory, int64_t t, int64_t n,
                       const float *const *x, const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  for (int64_t i = 0; i < n; i++) {
    if (usable[i] || s->n_dev > 0) {
      slot(p, s, t + i, usable[i] ? (int)x[0][i] : 0, found);
    }
  }
}

static void finish_fits(const void *params, void *memory, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  if (s->next % p->hop != 0) {
    evaluate(p, s, s->next, s->next / p->hop * p->hop, found);
  }
}

static void finish_steps(const void *params, void *memory, ps_events *found)
{
  (void)params;
  (void)memory;
  (void)found;
}

static weir_status make_search(const weir_series_use *use, const weir_series *marks, search **out)
{
  const options_ *o = use->opts;
  const double rate = (double)marks->rate_num / (double)marks->rate_den;
  void *memory = NULL;

  if (fabs(o->lag) > o->max_offset) {
    return weir_fail(WEIR_ERR_CONFIG, "clock: a lag of %g s is beyond the largest offset, %g s",
                     o->lag, o->max_offset);
  }
  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  *p = (search){.rate = rate,
                .lag = o->lag * rate,
                .reach = o->reach * rate,
                .max_offset = o->max_offset * rate,
                .min_pairs = o->min_pairs,
                .capacity = (int64_t)ceil(o->window + o->hop) * PER_SECOND + NEW + OLD};
  WEIR_TRY(weir_series_slots(marks, "clock.window", o->window, 1, &p->window));
  WEIR_TRY(weir_series_slots(marks, "clock.hop", o->hop, 1, &p->hop));
  p->ahead = (int64_t)ceil(fmin((o->reach + o->max_offset + NEW) * rate, 1e15));
  *out = p;
  return WEIR_OK;
}

/* The two streams of marks as one of bits. */
static weir_status combine(const weir_series_use *use, weir_series *marks)
{
  weir_graph *g = use->graph;
  weir_value event[2];

  WEIR_TRY(ps_events_marks(use, event, marks));
  const weir_value device = weir_scale(g, weir_cast(g, WEIR_F32, event[1]), DEVICE);

  marks->present = weir_or(g, event[0], event[1]);
  marks->value = weir_add(g, weir_cast(g, WEIR_F32, event[0]), device);
  marks->age = WEIR_NO_VALUE;
  return WEIR_OK;
}

/* The relation, a value each hop. */
static weir_status add_fits(const weir_series_use *use, const search *p, const weir_series *marks,
                            weir_series_result *out)
{
  static const char *const names[FITS] = {"offset", "drift", "residual", "pairs"};
  static const char *const units[FITS] = {"s", "ppm", "s", "1"};
  const ps_events_spec spec = {.name = "clock",
                               .params = p,
                               .state_bytes = bytes_of(p),
                               .ahead = p->hop,
                               .settle = p->hop + p->ahead,
                               .apart = p->hop,
                               .n_values = FITS,
                               .start = start,
                               .pass = pass_fits,
                               .finish = finish_fits};

  WEIR_TRY(ps_events_add(use, &spec, marks, 1, out->out));
  for (int k = 0; k < FITS; k++) {
    WEIR_TRY(ps_events_thin(use->graph, p->hop, units[k], &out->out[k]));
    out->name[k] = names[k];
  }
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  weir_graph *g = use->graph;
  weir_series marks;
  search *p = NULL;

  WEIR_TRY(combine(use, &marks));
  WEIR_TRY(make_search(use, &marks, &p));
  WEIR_TRY(add_fits(use, p, &marks, out));
  weir_series *jump = &out->out[FITS], *flags = &out->out[FITS + 1];
  const ps_events_spec spec = {.name = "clock_steps",
                               .params = p,
                               .state_bytes = bytes_of(p),
                               .ahead = p->ahead,
                               .settle = p->ahead,
                               .apart = 1,
                               .n_values = 1,
                               .start = start,
                               .pass = pass_steps,
                               .finish = finish_steps};

  WEIR_TRY(ps_events_add(use, &spec, &marks, 1, jump));
  *flags = *jump;
  flags->value = weir_scale(g, weir_cast(g, WEIR_F32, jump->present), WEIR_FLAG_CLOCK_JUMP);
  weir_series_set_unit(jump, "s");
  weir_series_set_unit(flags, WEIR_FLAG_UNIT);
  out->name[FITS] = "jump";
  out->name[FITS + 1] = "flags";
  out->n = FITS + 2;
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_clock = {
    .name = "clock",
    .cite = "Theil, Proc. Kon. Ned. Akad. Wet. A 53 (1950) 386",
    .help = "a device's clock (marks: second stream) against a reference (same marks: first): "
            "offset (s), drift (ppm), residual (s), pairs, a value each hop; jump (s), flags",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 2,
    .max_in = 2,
    .build = build,
};
