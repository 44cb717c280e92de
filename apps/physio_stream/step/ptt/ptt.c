/* ptt.c - time from each R wave to the pulse that it sends. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"

typedef struct options {
  double min_delay, max_delay, longest;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL(options_, min_delay, 0.05, 0, 5, "s",
                  "a pulse sooner after an R wave belongs to the beat before", .alias = "least"),
    WEIR_OPT_REAL(options_, max_delay, 0.4, 0, 5, "s",
                  "a later pulse is flagged: longest plausible", .alias = "most"),
    WEIR_OPT_REAL(options_, longest, 1, 0.01, 10, "s",
                  "an R wave without a pulse for so long has none"),
    WEIR_OPT_END,
};

enum { DELAY, FLAGS, VALUES };
enum { LATE = 1, MISSING = 2 }; /* bits of the flags */
enum { WAITING = 64 };          /* R waves that wait at once; of more the oldest have no pulse */

typedef struct search {
  int64_t min_delay, max_delay, longest;
  double rate;
} search;

typedef struct state {
  int64_t n;
  int64_t beat[WAITING];
} state;

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

/* The oldest R wave that waits gets its pulse at slot t, or none (t < 0). */
static void resolve(const search *p, state *s, int64_t t, ps_events *found)
{
  const int64_t at = s->beat[0], delay = t - at;
  float values[VALUES] = {0, MISSING};

  if (t >= 0) {
    values[DELAY] = (float)((double)delay / p->rate);
    values[FLAGS] = delay > p->max_delay ? LATE : 0;
  }
  ps_events_put(found, at, values);
  s->n--;
  memmove(s->beat, s->beat + 1, (size_t)s->n * sizeof *s->beat);
}

/* All pulses before slot t are known. */
static void expire(const search *p, state *s, int64_t t, ps_events *found)
{
  while (s->n > 0 && t - s->beat[0] > p->longest) {
    resolve(p, s, -1, found);
  }
}

/* x[0]: 1 at an R wave; x[1]: 1 at an onset. */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *p = params;
  state *s = memory;

  for (int64_t i = 0; i < n; i++) {
    const uint8_t *next = memchr(usable + i, 1, (size_t)(n - i));

    if (next == NULL) {
      break;
    }
    i = next - usable;
    expire(p, s, t + i, found);
    while (x[1][i] > 0 && s->n > 0 && t + i - s->beat[0] >= p->min_delay) {
      resolve(p, s, t + i, found);
    }
    if (x[0][i] > 0) {
      if (s->n == WAITING) {
        resolve(p, s, -1, found);
      }
      s->beat[s->n++] = t + i;
    }
  }
  expire(p, s, t + n, found);
}

static void finish(const void *params, void *memory, ps_events *found)
{
  state *s = memory;

  while (s->n > 0) {
    resolve(params, s, -1, found);
  }
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const options_ *o = use->opts;
  weir_graph *g = use->graph;
  weir_value event[2];
  weir_series marks;
  void *memory = NULL;

  WEIR_TRY(ps_events_marks(use, event, &marks));
  const double rate = (double)marks.rate_num / (double)marks.rate_den;

  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *p = memory;

  *p = (search){.min_delay = (int64_t)ceil(o->min_delay * rate - 1e-6),
                .max_delay = (int64_t)floor(o->max_delay * rate + 1e-6),
                .longest = (int64_t)ceil(o->longest * rate),
                .rate = rate};
  weir_series in[2] = {marks, marks};

  in[0].present = in[1].present = weir_or(g, event[0], event[1]);
  in[0].value = weir_cast(g, WEIR_F32, event[0]);
  in[1].value = weir_cast(g, WEIR_F32, event[1]);
  const ps_events_spec spec = {.name = "ptt",
                               .params = p,
                               .state_bytes = sizeof(state),
                               .ahead = p->longest + 1,
                               .apart = 1,
                               .n_values = VALUES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 2, out->out));
  out->n = VALUES;
  out->name[DELAY] = "delay";
  out->name[FLAGS] = "flags";
  out->out[DELAY].present = weir_gt_scalar(g, out->out[DELAY].value, 0);
  weir_series_set_unit(&out->out[DELAY], "s");
  weir_series_set_unit(&out->out[FLAGS], "bits");
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_ptt = {
    .name = "ptt",
    .cite = "Mukkamala et al., IEEE Trans. Biomed. Eng. 62 (2015) 1879",
    .help = "of R waves (detect.beat) and pulse onsets (abp_beats.onset), at each R wave: delay, s "
            "to its pulse (none without), and flags (1: later than plausible, 2: no pulse)",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 2,
    .max_in = 2,
    .build = build,
};
