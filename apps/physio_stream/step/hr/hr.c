/* hr.c - heart rate, as the median of the last intervals between beats. */
#include <math.h>
#include <string.h>
#include "model/events.h"
#include "ops/elementwise/weir_elementwise.h"

enum { MAX_BEATS = 64 };

typedef struct options {
  int64_t beats;
  double longest;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_INT(options_, beats, 8, 1, MAX_BEATS, "1",
                 "the rate is 60 s over the median of so many intervals; there is none before"),
    WEIR_OPT_REAL(options_, longest, 10, 0.5, 3600, "s",
                  "without an interval for longer, those before are forgotten"),
    WEIR_OPT_END,
};

typedef struct search {
  int64_t beats, longest;
} search;

typedef struct state {
  int64_t last; /* 1 + slot of the last interval */
  int64_t n;    /* intervals so far              */
  float rr[MAX_BEATS];
} state;

static int start(const void *params, void *memory)
{
  (void)params;
  (void)memory;
  return 1;
}

static float median(const float *v, int64_t n)
{
  float sorted[MAX_BEATS];

  for (int64_t i = 0; i < n; i++) {
    int64_t k = i;

    for (; k > 0 && sorted[k - 1] > v[i]; k--) {
      sorted[k] = sorted[k - 1];
    }
    sorted[k] = v[i];
  }
  return 0.5f * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

static void take(const search *p, state *s, int64_t t, float rr, ps_events *found)
{
  if (s->last > 0 && t - (s->last - 1) > p->longest) {
    s->n = 0;
  }
  s->rr[s->n++ % p->beats] = rr;
  s->last = t + 1;
  if (s->n >= p->beats) {
    const float rate = 60.0f / median(s->rr, p->beats);

    ps_events_put(found, t, &rate);
  }
}

static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  for (int64_t i = 0; i < n; i++) {
    const uint8_t *next = memchr(usable + i, 1, (size_t)(n - i));

    if (next == NULL) {
      break;
    }
    i = next - usable;
    if (x[0][i] > 0.0f) {
      take(params, memory, t + i, x[0][i], found);
    }
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
  const options_ *o = use->opts;
  const double rate = (double)use->in[0].rate_num / (double)use->in[0].rate_den;
  void *memory = NULL;

  WEIR_TRY(ps_events_need_intervals(use));
  WEIR_TRY(weir_series_keep(use, sizeof(search), NULL, &memory));
  search *p = memory;

  *p = (search){.beats = o->beats, .longest = (int64_t)ceil(fmin(o->longest * rate, 0x1p60))};
  const ps_events_spec spec = {.name = "hr",
                               .params = p,
                               .state_bytes = sizeof(state),
                               .apart = 1,
                               .n_values = 1,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, use->in, 1, out->out));
  out->n = 1;
  weir_series_set_unit(&out->out[0], "1/min");
  return WEIR_OK;
}

const weir_series_op ps_step_hr = {
    .name = "hr",
    .cite = "",
    .help = "heart rate, 1/min, at each beat: 60 s over the median of the last intervals; of a "
            "stream of intervals (detect.rr)",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
