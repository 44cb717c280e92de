/* apply.c - see apply.h. */
#include "beats/apply.h"
#include <math.h>
#include <string.h>
#include "beats/onnx.h"
#include "model/events.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "stream/weir_gap.h"

enum { LEADS, PRESENT, FEATURES, BEAT, INPUTS };

/* Context of the call. */
typedef struct beats {
  ps_beat_classifier classifier;
  double fs;
  int64_t behind, ahead;
} beats;

static void beats_fini(void *memory)
{
  ps_beat_classifier_close(&((beats *)memory)->classifier);
}

/* ---- The call ---- */

/* Runs the network on the beat of slot t; *made: whether it has a result. */
static weir_status run_network(const beats *b, const weir_op_run *run, int64_t t, bool *made)
{
  const ps_beat_classifier *const c = &b->classifier;
  const int64_t from = t - b->behind, n = b->behind + 1 + b->ahead;
  const float *const logits = c->logits.data;

  *made = from >= 0 && from + n <= run->in[PRESENT].extent[0] &&
          weir_gap_count(weir_gap_flag(&run->in[PRESENT], from), n) == n;
  if (!*made) {
    return WEIR_OK;
  }
  for (int64_t k = 0; k < c->is.leads; k++) {
    ps_beat_window_take(&c->is.window, b->fs,
                        weir_view_at(&run->in[LEADS], (const int64_t[]){k, from}), c->is.leads,
                        (float *)c->x.data + k);
  }
  for (int64_t k = 0; k < c->is.features; k++) {
    ((float *)c->f.data)[k] =
        *(const float *)weir_view_at(&run->in[FEATURES], (const int64_t[]){k, t});
  }
  WEIR_TRY(ps_beat_classifier_run(c));
  for (int k = 0; k < PS_CLASSES; k++) {
    *made = *made && isfinite(logits[k]);
  }
  return WEIR_OK;
}

static weir_status classify(void *context, const weir_op_run *run)
{
  const beats *const b = context;
  const float *const logits = b->classifier.logits.data;

  for (int64_t t = run->box.lo[0]; t < run->box.hi[0]; t++) {
    bool made = false;

    if (*weir_gap_flag(&run->in[BEAT], t)) {
      WEIR_TRY(run_network(b, run, t, &made));
    }
    for (int64_t k = 0; k < PS_CLASSES; k++) {
      *(float *)weir_view_at(&run->out[0], (const int64_t[]){k, t}) = made ? logits[k] : 0;
    }
    *weir_gap_flag(&run->out[1], t) = made;
  }
  return WEIR_OK;
}

/* Of one beat, over the slots of a heart beat of a second. */
static double flops_of(const beats *b)
{
  double flops = 0;

  for (int32_t k = 0; k < weir_plan_groups(b->classifier.plan); k++) {
    flops += weir_plan_group(b->classifier.plan, k).flops;
  }
  return flops / b->fs;
}

static weir_call_spec declare(beats *b)
{
  weir_call_spec spec = weir_gap_call("beat_network", classify);

  spec.context = b;
  spec.context_bytes = weir_plan_memory_bytes(b->classifier.plan);
  spec.flops = flops_of(b);
  spec.out[0] = (weir_array_desc){
      .dtype = WEIR_F32, .rank = 2, .shape = {PS_CLASSES, WEIR_UNBOUNDED}, .time = 2};
  for (int k = LEADS; k <= PRESENT; k++) {
    spec.behind[k] = b->behind;
    spec.ahead[k] = b->ahead;
  }
  return spec;
}

/* ---- Its streams ---- */

/* The streams of one beat network: is->leads, and what is present at beats. */
typedef struct inputs {
  const weir_series *leads;
  weir_series of_beat[PS_FEATURES];
  int n_of_beat;
} inputs;

/* Refuses a stream that is named as another feature than the one wanted; other names are accepted.
 */
static weir_status check_name(const char *path, const char *name, const char *want)
{
  const char *const dot = strrchr(name, '.'), *const last = dot != NULL ? dot + 1 : name;

  for (int k = 0; k < PS_FEATURES && strcmp(last, want) != 0; k++) {
    if (strcmp(last, ps_feature_name[k]) == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: the network takes the feature %s of each beat where 'from' has %s",
                       path, want, name);
    }
  }
  return WEIR_OK;
}

/* Shares the streams out to leads and features. */
static weir_status choose(const char *path, const ps_beat_classifier *c, const ps_beat_streams *in,
                          inputs *out)
{
  const int n = c->is.features > 0 ? (int)c->is.features : 1;
  const int n_leads = in->features != NULL ? in->n_leads : in->n_leads > n ? in->n_leads - n : 0;

  if (n_leads != c->is.leads && in->features != NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: the network was trained on %lld leads (beats.network.signals), 'from' "
                     "has %d",
                     path, (long long)c->is.leads, n_leads);
  }
  if (n_leads != c->is.leads) {
    return weir_fail(
        WEIR_ERR_CONFIG, "%s: the network takes %lld leads, then %d %s: 'from' has %d streams",
        path, (long long)c->is.leads, n,
        c->is.features > 0 ? "features of each beat" : "stream present at beats", in->n_leads);
  }
  *out = (inputs){.leads = in->leads, .n_of_beat = n};
  for (int k = 0; k < n; k++) {
    out->of_beat[k] = in->features != NULL ? in->features[c->feature[k]] : in->leads[n_leads + k];
    if (in->features == NULL && c->is.features > 0) {
      WEIR_TRY(check_name(path, in->name[n_leads + k], ps_feature_name[c->feature[k]]));
    }
  }
  return WEIR_OK;
}

static weir_status check(const ps_beat_network *is, const inputs *in)
{
  for (int64_t k = 0; k < is->leads + in->n_of_beat; k++) {
    const weir_series *const s = k < is->leads ? &in->leads[k] : &in->of_beat[k - is->leads];

    if (s->rate_num != in->leads[0].rate_num || s->rate_den != in->leads[0].rate_den) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "leads and features of a network of beats have one rate: %.9g and %.9g Hz",
                       (double)in->leads[0].rate_num / (double)in->leads[0].rate_den,
                       (double)s->rate_num / (double)s->rate_den);
    }
    if (k < is->leads && weir_unit_is_stated(s->unit) && strcmp(s->unit, "mV") != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "the network of beats takes leads in mV, not in %s: state "
                       "`unit: mV` for the stream",
                       s->unit);
    }
  }
  return WEIR_OK;
}

/* n streams as rows [n, time], and the slots in which all are present. */
static void join(weir_graph *g, const weir_series *s, int64_t n, weir_value *rows,
                 weir_value *present)
{
  const weir_reshape_spec row = {.rank = 2, .shape = {1, WEIR_UNBOUNDED}};
  weir_value value[WEIR_SERIES_MAX];

  for (int64_t k = 0; k < n; k++) {
    const weir_series one = ps_events_finite(g, s[k]);

    value[k] = weir_reshape(g, one.value, &row);
    *present = k == 0 ? one.present : weir_and(g, *present, one.present);
  }
  *rows = weir_concat(g, value, (int)n, 0);
}

weir_status ps_beat_apply(const weir_series_use *use, const char *path, const ps_beat_streams *in,
                          weir_series out[PS_CLASSES])
{
  const weir_reshape_spec plain = {.rank = 1, .shape = {WEIR_UNBOUNDED}};
  weir_graph *const g = use->graph;
  weir_value input[INPUTS];
  void *memory = NULL;
  weir_series s = in->leads[0];

  WEIR_TRY(weir_series_keep(use, sizeof(beats), beats_fini, &memory));
  beats *const b = memory;
  const ps_beat_network *const is = &b->classifier.is;
  inputs given;

  WEIR_TRY(ps_beat_is_weights(path) ? ps_beat_classifier_open(path, &b->classifier)
                                    : ps_beat_onnx_open(path, &b->classifier));
  WEIR_TRY(choose(path, &b->classifier, in, &given));
  WEIR_TRY(check(is, &given));
  b->fs = (double)s.rate_num / (double)s.rate_den;
  b->behind = ps_beat_window_behind(&is->window, b->fs);
  b->ahead = ps_beat_window_ahead(&is->window, b->fs);
  join(g, given.leads, is->leads, &input[LEADS], &input[PRESENT]);
  join(g, given.of_beat, given.n_of_beat, &input[FEATURES], &input[BEAT]);
  const weir_call_spec spec = declare(b);

  s = weir_gap_made(g, &spec, s, input, INPUTS);
  weir_series_set_unit(&s, "1");
  const weir_value rows = s.value;

  for (int k = 0; k < PS_CLASSES; k++) {
    s.value = weir_reshape(g, weir_slice(g, rows, 0, k, k + 1, 1), &plain);
    out[k] = s;
  }
  return weir_graph_status(g);
}

void ps_beat_probabilities(weir_graph *g, const weir_series *logit, weir_series out[PS_CLASSES])
{
  weir_value largest = logit[0].value, part[PS_CLASSES], sum = WEIR_NO_VALUE;

  for (int c = 1; c < PS_CLASSES; c++) {
    largest = weir_max(g, largest, logit[c].value);
  }
  for (int c = 0; c < PS_CLASSES; c++) {
    part[c] = weir_exp(g, weir_sub(g, logit[c].value, largest));
    sum = c == 0 ? part[c] : weir_add(g, sum, part[c]);
  }
  for (int c = 0; c < PS_CLASSES; c++) {
    out[c] = logit[c];
    out[c].value = weir_div(g, part[c], sum);
    out[c] = weir_series_mask(g, out[c]);
  }
}

weir_series ps_beat_best(weir_graph *g, const weir_series *score)
{
  weir_series out = score[0];
  weir_value best = score[0].value;

  for (int c = 0; c < PS_CLASSES; c++) {
    const weir_value number = weir_add_scalar(g, weir_scale(g, score[0].value, 0), c + 1);

    if (c == 0) {
      out.value = number;
    } else {
      const weir_value better = weir_gt(g, score[c].value, best);

      out.value = weir_select(g, better, number, out.value);
      best = weir_select(g, better, score[c].value, best);
    }
  }
  return weir_series_mask(g, out);
}
