/* af.c - atrial fibrillation from the irregularity of intervals between beats: the coefficient of
 * sample entropy (COSEn) of Lake and Moorman, Am. J. Physiol. Heart Circ. Physiol. 300 (2011) H319,
 * of the last intervals at each beat. For research only. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"

enum { MAX_BEATS = 128, MAX_MATCHES = 64 };
/* s: intervals that differ by r + TIE count as within r, for r may be a difference of two. */
#define TIE 1e-6
/* Seconds by which an interval, exact to below a slot (detect.refine), may differ from the slots
 * since the beat before: less than any other interval. */
#define JOINED 0.1

typedef struct options {
  int64_t beats, matches;
  double tolerance, limit, gap;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_INT(options_, beats, 30, 12, MAX_BEATS, "1",
                 "intervals that a value is of; 12 are the fewest of Lake and Moorman 2011, and 30 "
                 "raise fewer false alarms"),
    WEIR_OPT_REAL(options_, tolerance, 0.03, 0.001, 1, "s",
                  "smallest tolerance r within which two intervals match"),
    WEIR_OPT_INT(options_, matches, 5, 1, MAX_MATCHES, "1",
                 "pairs of two successive intervals that must match; r is raised until they do"),
    WEIR_OPT_REAL(options_, limit, -1.4, -10, 10, "1",
                  "af is 1 where cosen is above: irregular as in atrial fibrillation"),
    WEIR_OPT_REAL(
        options_, gap, 60, 1, 86400, "s",
        "after longer times without an interval the next value is of new intervals alone"),
    WEIR_OPT_END,
};

enum { COSEN, AF, VALUES };
enum { INTERVAL = 1, ECTOPIC = 2 }; /* what happens in a slot: bits */

typedef struct search {
  int64_t beats, matches;
  double tolerance, limit, gap, rate;
} search;

typedef struct interval {
  double rr;      /* s                                                    */
  int64_t joined; /* 1: it follows the interval before without anything between */
} interval;

typedef struct state {
  int64_t last; /* 1 + slot of the last interval, 0 for none */
  int64_t skip; /* the beat before was ectopic: so is the interval after it */
  int64_t n;
  interval rr[MAX_BEATS];
} state;

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

/* The `matches` smallest distances of pairs of templates of two intervals, ascending. Returns how
 * many there are. */
static int64_t smallest(const search *p, const state *s, double *least)
{
  int64_t n = 0;

  for (int64_t i = 1; i < s->n; i++) {
    for (int64_t j = 1; s->rr[i].joined && j < i; j++) {
      const double a = fabs(s->rr[i].rr - s->rr[j].rr);
      const double b = fabs(s->rr[i - 1].rr - s->rr[j - 1].rr);
      const double d = fmax(a, b);

      if (!s->rr[j].joined || (n == p->matches && d >= least[n - 1])) {
        continue;
      }
      int64_t k = n < p->matches ? n++ : n - 1;

      for (; k > 0 && least[k - 1] > d; k--) {
        least[k] = least[k - 1];
      }
      least[k] = d;
    }
  }
  return n;
}

/* COSEn = -ln(A / B) + ln(2 r) - ln(mean interval), lengths in s; A and B: pairs of templates of
 * two and of one interval within r, both of the intervals that another one follows. NaN: too few.
 */
static double cosen(const search *p, const state *s)
{
  double least[MAX_MATCHES] = {0}, sum = 0;
  int64_t a = 0, b = 0, templates = 0;

  for (int64_t i = 0; i < s->n; i++) {
    templates += i > 0 && s->rr[i].joined;
    sum += s->rr[i].rr;
  }
  if (2 * templates < s->n || smallest(p, s, least) < p->matches) {
    return NAN;
  }
  const double r = fmax(p->tolerance, least[p->matches - 1]);

  for (int64_t i = 1; i < s->n; i++) {
    for (int64_t j = 1; s->rr[i].joined && j < i; j++) {
      const bool near = s->rr[j].joined && fabs(s->rr[i - 1].rr - s->rr[j - 1].rr) <= r + TIE;

      b += near;
      a += near && fabs(s->rr[i].rr - s->rr[j].rr) <= r + TIE;
    }
  }
  return log((double)b / (double)a) + log(2 * r) - log(sum / (double)s->n);
}

/* An interval of rr s ends at slot t. */
static void take(const search *p, state *s, int64_t t, double rr, ps_events *found)
{
  const double since = (double)(t - (s->last - 1)) / p->rate;

  if (since > p->gap) {
    s->n = 0;
  }
  if (s->n == p->beats) {
    memmove(s->rr, s->rr + 1, (size_t)--s->n * sizeof *s->rr);
  }
  s->rr[s->n++] = (interval){rr, s->last > 0 && fabs(since - rr) <= JOINED};
  s->last = t + 1;
  if (s->n == p->beats) {
    const double c = cosen(p, s);
    const float values[VALUES] = {(float)c, c > p->limit ? 1 : 0};

    if (!isnan(c)) {
      ps_events_put(found, t, values);
    }
  }
}

/* x[0]: intervals; x[1]: what happens in each slot. */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  state *s = memory;

  for (int64_t i = 0; i < n; i++) {
    const uint8_t *next = memchr(usable + i, 1, (size_t)(n - i));

    if (next == NULL) {
      break;
    }
    i = next - usable;
    const int what = (int)x[1][i];
    const bool ectopic = what & ECTOPIC;

    if ((what & INTERVAL) && x[0][i] > 0 && !ectopic && !s->skip) {
      take(params, s, t + i, (double)x[0][i], found);
    }
    s->skip = ectopic;
  }
}

static void finish(const void *params, void *memory, ps_events *found)
{
  (void)params;
  (void)memory;
  (void)found;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[VALUES] = {"cosen", "af"};
  static const int bit[2] = {INTERVAL, ECTOPIC};
  const options_ *o = use->opts;
  weir_series in[2];
  void *memory = NULL;

  WEIR_TRY(ps_events_need_intervals(use));
  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *p = memory;

  *p = (search){.beats = o->beats,
                .matches = o->matches,
                .tolerance = o->tolerance,
                .limit = o->limit,
                .gap = o->gap,
                .rate = (double)use->in[0].rate_num / (double)use->in[0].rate_den};
  ps_events_combine(use, bit, in);
  const ps_events_spec spec = {.name = "af",
                               .params = p,
                               .state_bytes = sizeof(state),
                               .apart = 1,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 2, out->out));
  out->n = VALUES;
  for (int k = 0; k < VALUES; k++) {
    weir_series_set_unit(&out->out[k], "1");
    out->name[k] = names[k];
  }
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op ps_step_af = {
    .name = "af",
    .cite = "Lake and Moorman, Am. J. Physiol. Heart Circ. Physiol. 300 (2011) H319",
    .help = "atrial fibrillation, research use only: of a stream of intervals (detect.rr) cosen, "
            "the coefficient of sample entropy of the last ones, and af, 1 where it is above the "
            "limit, else 0, at each beat; the intervals before and after events of a second "
            "stream, ectopic beats, are left out",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 2,
    .build = build,
};
