/* detect.c - R waves of an electrocardiogram: the detector of command `run`, or a second one of
 * another principle, as a stream of beats. */
#include <string.h>
#include "model/elgendi.h"
#include "model/beat_call.h"
#include "model/graph.h"
#include "ops/elementwise/weir_elementwise.h"

typedef enum method { ADAPTIVE, ELGENDI } method;

typedef struct options {
  int method;
  ps_detect_opts adaptive;
  ps_elgendi_opts elgendi;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_ENUM(
        options_, method, ADAPTIVE, "adaptive|elgendi",
        "adaptive: adaptive thresholds and rhythm, as `run`; elgendi: two moving averages, "
        "to check it with",
        .choice_aliases = "levels=adaptive|averages=elgendi"),
    WEIR_OPT_TABLE(options_, adaptive, ps_detect_options, "of method adaptive", .alias = "levels"),
    WEIR_OPT_TABLE(options_, elgendi, ps_elgendi_ecg_options, "of method elgendi",
                   .alias = "averages"),
    WEIR_OPT_END,
};

/* Slots given to the decision at once: bounds the beats that one such call returns. */
enum { PIECE = 1024 };

/* The decision before slot 0, and how long the lists of its beats are. */
typedef struct search {
  ps_beat_call call;
  int64_t bytes, capacity;
  void *first; /* [bytes] */
} search;

/* The search's state: the decision, `bytes` of it; then this; then three lists. */
typedef struct tail {
  int64_t last;     /* 1 + slot of the last beat, 0 for none       */
  int64_t fraction; /* how far it lies beyond the slot (model/graph.h) */
} tail;

static size_t state_bytes(const search *s)
{
  return (size_t)s->bytes + sizeof(tail) + 3 * (size_t)s->capacity * sizeof(int64_t);
}

static tail *tail_of(const search *s, void *state)
{
  return (tail *)(void *)((char *)state + s->bytes);
}

static int start(const void *params, void *state)
{
  const search *s = params;

  memcpy(state, s->first, (size_t)s->bytes);
  return 1;
}

static ps_beat_table table_of(const search *s, void *state)
{
  int64_t *list = (int64_t *)(void *)(tail_of(s, state) + 1);

  return (ps_beat_table){.sample = list,
                         .gap = list + s->capacity,
                         .fraction = list + 2 * s->capacity,
                         .capacity = s->capacity};
}

static void put_beats(const search *s, void *state, const ps_beat_table *table, ps_events *found)
{
  tail *t = tail_of(s, state);

  for (int64_t i = 0; i < table->n; i++) {
    const int64_t at = table->sample[i];
    const double since = (double)(at - (t->last - 1)) +
                         (double)(table->fraction[i] - t->fraction) / (double)PS_DETECT_PER_SAMPLE;
    const float rr = t->last > 0 && !table->gap[i] ? (float)(since / s->call.rate) : 0.0f;

    ps_events_put(found, at, &rr);
    t->last = at + 1;
    t->fraction = table->fraction[i];
  }
}

static void pass(const void *params, void *state, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  const search *s = params;

  for (int64_t i = 0; i < n; i += PIECE) {
    const int64_t m = n - i < PIECE ? n - i : PIECE;
    ps_beat_table table = table_of(s, state);
    const weir_status status =
        ps_beat_call_slots(state, x[0] + i, x[1] + i, usable + i, t + i, m, &table);

    WEIR_ASSERT(status == WEIR_OK); /* there is room by construction */
    put_beats(s, state, &table, found);
  }
}

static void finish(const void *params, void *state, ps_events *found)
{
  const search *s = params;
  ps_beat_table table = table_of(s, state);
  const weir_status status = ps_beat_call_end(state, &table);

  WEIR_ASSERT(status == WEIR_OK);
  put_beats(s, state, &table, found);
}

static weir_status make_search(const weir_series_use *use, const ps_detect_opts *opts, double rate,
                               search **out)
{
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *s = memory;

  s->call = (ps_beat_call){.opts = *opts, .rate = rate};
  s->bytes = ((int64_t)ps_beat_call_bytes(&s->call) + 63) / 64 * 64;
  WEIR_TRY(weir_series_keep(use, s->bytes > 0 ? (size_t)s->bytes : 1, NULL, &s->first));
  WEIR_TRY(ps_beat_call_init(&s->call, s->first, (size_t)s->bytes));
  s->capacity = ps_beat_call_capacity(s->first, PIECE);
  *out = s;
  return WEIR_OK;
}

static weir_status by_adaptive_levels(const weir_series_use *use, const ps_detect_opts *opts,
                                      weir_series x, weir_series *rr)
{
  const double rate = (double)x.rate_num / (double)x.rate_den;
  search *s = NULL;
  ps_front front;

  WEIR_TRY(ps_front_design(&opts->front, rate, &front));
  WEIR_TRY(make_search(use, opts, rate, &s));
  const ps_graph_front f = ps_graph_add_front(use->graph, &front, x);
  const weir_series in[2] = {f.filtered, f.feature};
  const ps_events_spec spec = {.name = "decide_beats",
                               .params = s,
                               .state_bytes = state_bytes(s),
                               .ahead = ps_beat_call_latency(s->first),
                               .apart = 1,
                               .n_values = 1,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 2, rr));
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const options_ *o = use->opts;
  weir_graph *g = use->graph;
  weir_series found[PS_ELGENDI_VALUES];

  WEIR_TRY(ps_events_need_unit(use, 0, "mV"));
  const weir_series x = ps_events_finite(g, use->in[0]);

  if (o->method == ELGENDI) {
    WEIR_TRY(ps_elgendi_add(use, &o->elgendi, false, x, found));
  } else {
    WEIR_TRY(by_adaptive_levels(use, &o->adaptive, x, found));
  }
  weir_series rr = found[0], beat = found[0];

  rr.present = weir_gt_scalar(g, rr.value, 0);
  beat.value = weir_cast(g, WEIR_F32, beat.present);
  weir_series_set_unit(&rr, "s");
  weir_series_set_unit(&beat, "1");
  *out = (weir_series_result){.out = {rr, beat}, .name = {"rr", "beat"}, .n = 2};
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

const weir_series_op ps_step_detect = {
    .name = "detect",
    .cite = "Pan and Tompkins 1985; Elgendi 2013",
    .help = "R waves: rr, s since the beat before (none for the first and across a gap), and beat, "
            "1 at each",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = 1,
    .max_in = 1,
    .build = build,
};
