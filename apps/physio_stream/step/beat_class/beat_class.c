/* beat_class.c - features of each beat, and its class by a linear discriminant, after de Chazal et
 * al. 2004, or a network, that the user has trained (command train). For research only. */
#include <math.h>
#include <string.h>
#include "beats/apply.h"
#include "model/beat_features.h"
#include "model/events.h"
#include "model/mean_beat.h"
#include "ops/elementwise/weir_elementwise.h"

enum { MAX_BEATS = 32, INTERVALS = 10, MIN_INTERVALS = 3, UNLIKE_WIDE = 300 };
/* s: the longest interval that is waited for after a beat, and the signal on either side that has
 * its shape. */
#define LONGEST 2.5
#define REACH 0.1
/* s by which the interval of the next beat may differ from its distance (as in af.c); otherwise a
 * beat between them is not known, and neither is the interval after the first. */
#define JOINED 0.1
/* Weight of a beat in the mean beat that it is like. With the rule only narrow beats, more of them
 * unlike the mean than like it, or UNLIKE_WIDE of any kind in a row begin another: a tachycardia of
 * wide beats is not taken for the usual rhythm, and a ventricular beat that was is given up. */
#define WEIGHT (1.0 / 16)

/* Inputs that the features are of; further ones are leads of the network. */
enum { OF_FEATURES = 4 };

typedef struct options {
  weir_real_list weights;
  const char *network;
  bool rule;
  double wide;
} options_;

static const weir_opt options[] = {
    WEIR_OPT_REAL_LIST(options_, weights, "", -1e30, 1e30, "1",
                       "discriminant, as `train` writes it: {file: OUT/beat_class.txt}; empty: "
                       "features alone"),
    WEIR_OPT_PATH(options_, network, "",
                  "weights of a network, as `train` writes them (OUT/weights.nc), or an ONNX file "
                  "whose metadata state window and features (docs/reference/onnx.md), in place of "
                  "the discriminant; its further leads follow in `from`"),
    WEIR_OPT_BOOL(options_, rule, false,
                  "class without weights: V if the QRS complex is wider than `wide` and unlike the "
                  "usual beats, else N; S and F are not told apart"),
    WEIR_OPT_REAL(options_, wide, 0.12, 0.01, 1, "s", "rule: width of a wide QRS complex"),
    WEIR_OPT_END,
};

enum { ECG = 1, P_WAVE = 2 }; /* what is there in a slot: bits */

typedef struct search {
  int64_t longest, reach, ring; /* slots; ring: a power of two */
  double rate, wide;
  bool rule;
  int64_t in_row; /* beats unlike the mean beat after which the next one begins it anew */
} search;

typedef struct beat {
  int64_t slot;
  double rr, width; /* s; width: 0, none */
  int64_t p;
} beat;

/* A ring of samples, NaN where absent; the mean beat and a beat, 2 reach + 1 each, follow. */
typedef struct state {
  int64_t next;
  int64_t n; /* beats that wait */
  beat beats[MAX_BEATS];
  int64_t n_rr;
  double rr[INTERVALS]; /* the last ones, the newest last   */
  ps_mean_beat mean;
} state;

static size_t round_up(size_t n)
{
  return (n + 63) / 64 * 64;
}

static float *ring_of(state *s)
{
  return (float *)(void *)((char *)s + round_up(sizeof *s));
}

static double *mean_of(const search *p, state *s)
{
  return (double *)(void *)((char *)ring_of(s) + round_up((size_t)p->ring * sizeof(float)));
}

static size_t bytes_of(const search *p)
{
  return round_up(sizeof(state)) + round_up((size_t)p->ring * sizeof(float)) +
         2 * (size_t)(2 * p->reach + 1) * sizeof(double);
}

static int start(const void *params, void *memory)
{
  const search *p = params;

  for (int64_t i = 0; i < p->ring; i++) {
    ring_of(memory)[i] = NAN;
  }
  return 1;
}

static double median(const double *v, int64_t n)
{
  double sorted[INTERVALS];

  for (int64_t i = 0; i < n; i++) {
    int64_t k = i;

    for (; k > 0 && sorted[k - 1] > v[i]; k--) {
      sorted[k] = sorted[k - 1];
    }
    sorted[k] = v[i];
  }
  return 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

/* Compares a beat with the mean beat, which it may change. Returns whether it can be: there is a
 * mean beat, and no sample is missing. */
static bool compare(const search *p, state *s, const beat *b, float *values)
{
  const int64_t n = 2 * p->reach + 1;
  double *mean = mean_of(p, s), *own = mean + n, sum = 0;

  for (int64_t i = 0; i < n; i++) {
    own[i] = (double)ring_of(s)[(b->slot - p->reach + i) & (p->ring - 1)];
    sum += own[i];
  }
  if (isnan(sum)) {
    return false;
  }
  const bool known = s->mean.n > 0;
  const double c = known ? ps_beat_compare(mean, 0, own, 0, n).correlation : 0;
  const double usual = known ? ps_beat_height(mean, n) : 0, here = ps_beat_height(own, n);

  if (ps_mean_count(&s->mean, c >= PS_BEAT_ALIKE, p->rule && b->width <= p->wide, p->in_row)) {
    ps_mean_begin(&s->mean, mean, own, n, 0);
  } else if (c >= PS_BEAT_ALIKE) {
    ps_mean_learn(&s->mean, mean, own, n, WEIGHT, 0);
  }
  values[PS_FEATURE_SHAPE] = (float)c;
  values[PS_FEATURE_HEIGHT] = known && usual > 0 && here > 0 ? (float)log(here / usual) : 0;
  return known;
}

/* The first beat that waits; post: the interval after it, s; NaN: not known, no features. */
static void measure(const search *p, state *s, double post, ps_events *found)
{
  const beat b = s->beats[0];
  float values[PS_FEATURES] = {0};
  const bool comparable = compare(p, s, &b, values);

  if (comparable && !isnan(post) && s->n_rr >= MIN_INTERVALS && b.width > 0) {
    const double usual = median(s->rr, s->n_rr);

    values[PS_FEATURE_PRE] = (float)log(b.rr / usual);
    values[PS_FEATURE_POST] = (float)log(post / usual);
    values[PS_FEATURE_BEFORE] = (float)log(s->rr[s->n_rr - 1] / usual);
    values[PS_FEATURE_WIDTH] = (float)b.width;
    values[PS_FEATURE_P] = (float)b.p;
    ps_events_put(found, b.slot, values);
  }
  if (s->n_rr == INTERVALS) {
    memmove(s->rr, s->rr + 1, (size_t)--s->n_rr * sizeof *s->rr);
  }
  s->rr[s->n_rr++] = b.rr;
  s->n--;
  memmove(s->beats, s->beats + 1, (size_t)s->n * sizeof *s->beats);
}

/* Slot t: the sample (NaN: absent), and the interval that ends at a beat, else 0. */
static void take(const search *p, state *s, int64_t t, float x, const beat *b, ps_events *found)
{
  ring_of(s)[t & (p->ring - 1)] = x;
  if (b->rr > 0 && s->n < MAX_BEATS) {
    s->beats[s->n++] = *b;
  }
  while (s->n > 1 && t - s->beats[0].slot >= p->reach) {
    const double post = (double)(s->beats[1].slot - s->beats[0].slot) / p->rate;

    measure(p, s, fabs(post - s->beats[1].rr) <= JOINED ? post : NAN, found);
  }
  if (s->n == 1 && t - s->beats[0].slot >= p->longest) {
    measure(p, s, LONGEST, found);
  }
}

/* x: samples, intervals, widths, and what is there. */
static void pass(const void *params, void *memory, int64_t t, int64_t n, const float *const *x,
                 const uint8_t *usable, ps_events *found)
{
  static const beat none = {.rr = 0};
  const search *p = params;
  state *s = memory;

  if (t > s->next + p->ring) {
    s->next = t - p->ring; /* by then no beat waits */
  }
  for (; s->next < t; s->next++) {
    take(p, s, s->next, NAN, &none, found);
  }
  for (int64_t i = 0; i < n; i++) {
    const int what = usable[i] ? (int)x[3][i] : 0;
    const beat b = {.slot = t + i,
                    .rr = usable[i] ? (double)x[1][i] : 0,
                    .width = usable[i] ? (double)x[2][i] : 0,
                    .p = (what & P_WAVE) != 0};

    take(p, s, t + i, what & ECG ? x[0][i] : NAN, &b, found);
  }
  s->next = t + n;
}

static void finish(const void *params, void *memory, ps_events *found)
{
  static const beat none = {.rr = 0};
  const search *p = params;
  state *s = memory;

  while (s->n > 0) {
    take(p, s, s->next, NAN, &none, found);
    s->next++;
  }
}

/* The streams of the search; each is present where any input is. */
static weir_status streams(const weir_series_use *use, weir_series in[4])
{
  static const char *const units[4] = {"mV", "s", "s", "s"};
  weir_graph *g = use->graph;
  weir_series finite[4];

  for (int k = 0; k < 4; k++) {
    WEIR_TRY(ps_events_need_unit(use, k, units[k]));
    finite[k] = ps_events_finite(g, use->in[k]);
  }
  memcpy(in, finite, 4 * sizeof *in);
  in[3].value = weir_add(g, weir_cast(g, WEIR_F32, finite[0].present),
                         weir_scale(g, weir_cast(g, WEIR_F32, finite[3].present), P_WAVE));
  for (int k = 0; k < 3; k++) {
    in[3].present = weir_or(g, in[3].present, finite[k].present);
  }
  for (int k = 0; k < 3; k++) {
    in[k].present = in[3].present;
  }
  return WEIR_OK;
}

/* The class with the largest discriminant, 1 to PS_CLASSES. */
static weir_series class_of(weir_graph *g, const double *w, const weir_series *features)
{
  weir_series score[PS_CLASSES];

  for (int c = 0; c < PS_CLASSES; c++, w += 1 + PS_FEATURES) {
    score[c] = features[0];
    score[c].value = weir_add_scalar(g, weir_scale(g, features[0].value, w[1]), w[0]);
    for (int k = 1; k < PS_FEATURES; k++) {
      score[c].value = weir_add(g, score[c].value, weir_scale(g, features[k].value, w[1 + k]));
    }
  }
  return ps_beat_best(g, score);
}

/* The largest of the probabilities. */
static weir_series probability_of(weir_graph *g, const weir_series *logit)
{
  weir_series all[PS_CLASSES], out;

  ps_beat_probabilities(g, logit, all);
  out = all[0];
  for (int c = 1; c < PS_CLASSES; c++) {
    out.value = weir_max(g, out.value, all[c].value);
  }
  return out;
}

static void give(weir_series s, const char *name, const char *unit, weir_series_result *out)
{
  weir_series_set_unit(&s, unit);
  out->out[out->n] = s;
  out->name[out->n++] = name;
}

/* What the network makes of the features, the results so far, and the leads. */
static weir_status classify(const weir_series_use *use, const char *path, weir_series_result *out)
{
  weir_series leads[WEIR_SERIES_MAX], logit[PS_CLASSES];
  ps_beat_streams in = {.leads = leads, .features = out->out, .n_leads = 1};

  leads[0] = use->in[0];
  for (int k = OF_FEATURES; k < use->n_in; k++) {
    leads[in.n_leads++] = use->in[k];
  }
  WEIR_TRY(ps_beat_apply(use, path, &in, logit));
  give(ps_beat_best(use->graph, logit), "class", PS_CLASS_UNIT, out);
  give(probability_of(use->graph, logit), "probability", "1", out);
  return WEIR_OK;
}

/* The class by the rule. */
static weir_series class_by_rule(weir_graph *g, double wide, const weir_series *features)
{
  weir_series out = features[PS_FEATURE_WIDTH];
  const weir_value ventricular =
      weir_and(g, weir_gt_scalar(g, features[PS_FEATURE_WIDTH].value, wide),
               weir_not(g, weir_ge_scalar(g, features[PS_FEATURE_SHAPE].value, PS_BEAT_ALIKE)));

  out.value = weir_add_scalar(
      g, weir_scale(g, weir_cast(g, WEIR_F32, ventricular), PS_CLASS_V - PS_CLASS_N),
      PS_CLASS_N + 1);
  return out;
}

/* What states classes is one of three. */
static weir_status check(const weir_series_use *use)
{
  const options_ *o = use->opts;
  const bool network = o->network[0] != 0;

  if (network + (o->weights.count > 0) + o->rule > 1) {
    return weir_fail(WEIR_ERR_CONFIG, "beat_class: weights, network and rule each state classes: "
                                      "give one of them");
  }
  if (!network && use->n_in > OF_FEATURES) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "beat_class: further leads, after the first %d streams of 'from', are for a "
                     "network",
                     OF_FEATURES);
  }
  if (o->weights.count != 0 && o->weights.count != PS_CLASS_WEIGHTS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "beat_class.weights has %lld numbers; a discriminant has %d: read it from "
                     "the file beat_class.txt that `train` writes",
                     (long long)o->weights.count, (int)PS_CLASS_WEIGHTS);
  }
  return WEIR_OK;
}

static weir_status make_search(const weir_series_use *use, search **out)
{
  const options_ *o = use->opts;
  void *memory = NULL;

  WEIR_TRY(weir_series_keep(use, sizeof **out, NULL, &memory));
  search *p = memory;

  *p = (search){.rate = (double)use->in[0].rate_num / (double)use->in[0].rate_den,
                .ring = 1,
                .rule = o->rule,
                .in_row = o->rule ? UNLIKE_WIDE : PS_BEAT_UNLIKE,
                .wide = o->wide};
  p->longest = (int64_t)ceil(LONGEST * p->rate);
  p->reach = (int64_t)ceil(REACH * p->rate);
  while (p->ring < p->longest + 2 * p->reach + 2) {
    p->ring *= 2;
  }
  *out = p;
  return WEIR_OK;
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const options_ *o = use->opts;
  weir_series in[4];
  search *p = NULL;

  WEIR_TRY(check(use));
  WEIR_TRY(make_search(use, &p));
  WEIR_TRY(streams(use, in));
  const ps_events_spec spec = {.name = "beat_class",
                               .params = p,
                               .state_bytes = bytes_of(p),
                               .ahead = p->longest,
                               .settle = p->ring + 1,
                               .apart = 1,
                               .n_values = PS_FEATURES,
                               .start = start,
                               .pass = pass,
                               .finish = finish};

  WEIR_TRY(ps_events_add(use, &spec, in, 4, out->out));
  for (int k = 0; k < PS_FEATURES; k++) {
    weir_series_set_unit(&out->out[k], k == PS_FEATURE_WIDTH ? "s" : "1");
    out->name[k] = ps_feature_name[k];
  }
  out->n = PS_FEATURES;
  if (o->network[0] != 0) {
    WEIR_TRY(classify(use, o->network, out));
  } else if (o->weights.count > 0) {
    give(class_of(use->graph, o->weights.items, out->out), "class", PS_CLASS_UNIT, out);
  } else if (o->rule) {
    give(class_by_rule(use->graph, o->wide, out->out), "class", PS_CLASS_UNIT, out);
  }
  WEIR_TRY(weir_graph_status(use->graph));
  return WEIR_OK;
}

const weir_series_op ps_step_beat_class = {
    .name = "beat_class",
    .cite = "de Chazal, O'Dwyer and Reilly, IEEE Trans. Biomed. Eng. 51 (2004) 1196",
    .help = "class of each beat by a linear discriminant, a network or a rule, research use only: "
            "of an ECG, detect.rr, delineate.qrs and delineate.p the features pre, post, before, "
            "width, shape, height, p and, with weights, network or rule, class (1 N, 2 S, 3 V, 4 F "
            "of AAMI EC57); with a network also probability, that of the class",
    .opts = options,
    .opts_size = sizeof(options_),
    .min_in = OF_FEATURES,
    .max_in = OF_FEATURES + PS_BEAT_LEADS - 1,
    .build = build,
};
