/* task.c - see task.h. */
#include "beats/task.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"

static const char *const metric[] = {"accuracy"};
static const char sum_of_weights[] = "class_weights", digest_name[] = "beats_digest";

weir_status ps_beat_network_of(const ps_beat_network_opts *o, ps_beat_network *out)
{
  const double before = round(o->before * o->rate), after = round(o->after * o->rate);
  const int64_t leads = o->signals.count > 0 ? o->signals.count : 1;

  if (!(before + after >= PS_BEAT_SAMPLES_MIN && before + after <= PS_BEAT_SAMPLES_MAX) ||
      after < 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "beats.network: a window of %g s before and %g s after the beat has %.0f "
                     "samples at %g Hz: %d to %d are supported",
                     o->before, o->after, before + after, o->rate, PS_BEAT_SAMPLES_MIN,
                     PS_BEAT_SAMPLES_MAX);
  }
  if (leads > PS_BEAT_LEADS) {
    return weir_fail(WEIR_ERR_CONFIG, "beats.network.signals: %lld leads: 1 to %d are supported",
                     (long long)leads, PS_BEAT_LEADS);
  }
  *out = (ps_beat_network){
      .window = {.rate = o->rate, .before = (int64_t)before, .after = (int64_t)after},
      .leads = leads,
      .features = o->features == PS_BEAT_FEATURES_ALL ? PS_FEATURES : PS_FEATURE_BEFORE + 1,
      .filters = o->filters,
      .hidden = o->hidden,
      .dropout = o->dropout};
  return WEIR_OK;
}

/* ---- The loss ---- */

/* Index of the largest of the last dimension, i64. */
static weir_value best(weir_graph *g, weir_value logits)
{
  const weir_value largest = weir_argmax(g, logits, 1);

  return largest.node < 0 ? largest : (weir_value){largest.node, 1};
}

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const ps_beat_training *const t = opts;
  weir_graph *const g = net->graph;
  const weir_value y = in[PS_BEAT_Y], w = in[PS_BEAT_WEIGHT];
  const weir_value logits = ps_beat_network_build(net, &t->is, in[PS_BEAT_X], in[PS_BEAT_F]);
  const weir_array_desc *const d = weir_value_desc(g, w);

  if (d == NULL) {
    return weir_graph_status(g);
  }
  const weir_value right =
      weir_eq(g, weir_cast(g, WEIR_I64, best(g, logits)), weir_cast(g, WEIR_I64, y));

  weir_output(g, metric[0], weir_loss_mean(g, weir_cast(g, d->dtype, right), w));
  weir_output(g, sum_of_weights, weir_loss_weight(g, w, w));
  *loss = weir_loss_categorical(g, (&(weir_categorical_spec){.smoothing = 0}), logits, y, w);
  return weir_graph_status(g);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  const ps_beat_training *const t = context;
  const int64_t size = ps_beat_window_samples(&t->is.window) * t->is.leads;
  float *const x = tensor[PS_BEAT_X]->data, *const f = tensor[PS_BEAT_F]->data,
               *const w = tensor[PS_BEAT_WEIGHT]->data;
  int32_t *const y = tensor[PS_BEAT_Y]->data;

  WEIR_TRY(ps_beat_training_check(t));
  for (int64_t i = 0; i < want->n; i++) {
    const int64_t at = want->sample[i] + (want->split == WEIR_TRAIN_SAMPLES ? 0 : t->split.n_train);
    const int64_t number = t->split.beat[at];
    const ps_labelled *const beat = &t->set.beat[number];

    memcpy(x + i * size, t->set.window + number * size, (size_t)size * sizeof *x);
    for (int64_t k = 0; k < t->is.features; k++) {
      f[i * t->is.features + k] = (float)beat->x[k];
    }
    y[i] = beat->kind;
    w[i] = (float)t->class_weight[beat->kind];
  }
  return WEIR_OK;
}

/* ---- Which beats ---- */

/* Digest of all that fetch gives, a beat at a time, each with the digest so far. */
static weir_status take_digest(ps_beat_training *t)
{
  const int64_t size = ps_beat_window_samples(&t->is.window) * t->is.leads;
  const int64_t counts[] = {t->split.n_train, t->split.n_valid, t->is.features};
  const size_t window = (size_t)size * sizeof(float);
  double v[PS_FEATURES + 2];
  weir_tensor *stored = NULL;
  char *all = NULL;

  WEIR_TRY(weir_alloc((int64_t)(PS_BEAT_DIGEST + sizeof v + window), 1, (void **)&all));
  weir_sha256(counts, sizeof counts, t->digest);
  for (int64_t i = 0; i < t->split.n_train + t->split.n_valid; i++) {
    const int64_t number = t->split.beat[i];
    const ps_labelled *const beat = &t->set.beat[number];

    memset(v, 0, sizeof v);
    v[0] = beat->kind;
    v[1] = t->class_weight[beat->kind];
    memcpy(v + 2, beat->x, (size_t)t->is.features * sizeof *v);
    memcpy(all, t->digest, PS_BEAT_DIGEST);
    memcpy(all + PS_BEAT_DIGEST, v, sizeof v);
    memcpy(all + PS_BEAT_DIGEST + sizeof v, t->set.window + number * size, window);
    weir_sha256(all, PS_BEAT_DIGEST + sizeof v + window, t->digest);
  }
  weir_free(&all);
  WEIR_TRY(weir_store_add(t->store, digest_name, WEIR_U8, 1, (const int64_t[]){PS_BEAT_DIGEST}));
  WEIR_TRY(weir_store_write(t->store, digest_name, &stored));
  memcpy(stored->data, t->digest, PS_BEAT_DIGEST);
  return WEIR_OK;
}

weir_status ps_beat_training_check(const ps_beat_training *t)
{
  const weir_tensor *stored = NULL;

  WEIR_TRY(weir_store_read(t->store, digest_name, &stored));
  return memcmp(stored->data, t->digest, PS_BEAT_DIGEST) == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "the network in --out was trained on other beats: take the records, "
                         "features, beats.network and seed of that run, another --out, or give "
                         "--overwrite to train anew");
}

/* ---- The task ---- */

/* Classes with enough beats, and their weights. */
static weir_status weigh(const ps_beat_network_opts *o, int64_t min_beats, ps_beat_training *t)
{
  int64_t total = 0, classes = 0;

  for (int64_t i = 0; i < t->split.n_train; i++) {
    t->beats[t->set.beat[t->split.beat[i]].kind]++;
  }
  for (int c = 0; c < PS_CLASSES; c++) {
    t->is.learnt[c] = t->beats[c] >= min_beats;
    t->beats[c] = t->is.learnt[c] ? t->beats[c] : 0;
    total += t->beats[c];
    classes += t->is.learnt[c];
  }
  if (classes < 2) {
    return weir_fail(WEIR_ERR_DATA,
                     "of the classes N, S, V and F %lld have %lld beats or more to train the "
                     "network with; two are needed: add records, or lower beats.min_beats or "
                     "beats.network.valid",
                     (long long)classes, (long long)min_beats);
  }
  for (int c = 0; c < PS_CLASSES; c++) {
    t->class_weight[c] = !t->is.learnt[c] ? 0
                         : o->class_weights == PS_BEAT_WEIGHTS_NONE
                             ? 1
                             : (double)total / (double)(classes * t->beats[c]);
  }
  return WEIR_OK;
}

/* Of the features, over the beats that are learnt from. */
static weir_status standardise(ps_beat_training *t)
{
  double mean[PS_FEATURES] = {0}, sd[PS_FEATURES] = {0}, n = 0;

  for (int pass = 0; pass < 2; pass++) {
    n = 0;
    for (int64_t i = 0; i < t->split.n_train; i++) {
      const ps_labelled *const beat = &t->set.beat[t->split.beat[i]];

      n += t->is.learnt[beat->kind];
      for (int64_t k = 0; k < t->is.features && t->is.learnt[beat->kind]; k++) {
        if (pass == 0) {
          mean[k] += beat->x[k];
        } else {
          sd[k] += (beat->x[k] - mean[k]) * (beat->x[k] - mean[k]);
        }
      }
    }
    for (int64_t k = 0; k < t->is.features; k++) {
      mean[k] = pass == 0 ? mean[k] / n : mean[k];
      sd[k] = pass == 0 ? 0 : sqrt(sd[k] / n);
    }
  }
  return ps_beat_network_standardise(t->store, &t->is, mean, sd);
}

weir_train_task ps_beat_task(void)
{
  return (weir_train_task){.name = "beats",
                           .dtype = WEIR_F32,
                           .n_train = -1,
                           .n_valid = -1,
                           .build = build,
                           .metric = metric,
                           .n_metrics = 1,
                           .metrics_grow = true,
                           .weight = sum_of_weights,
                           .fetch = fetch};
}

static void describe(ps_beat_training *t)
{
  const int64_t samples = ps_beat_window_samples(&t->is.window);

  t->input[PS_BEAT_X] = (weir_train_input){
      .name = "x", .dtype = WEIR_F32, .rank = 2, .shape = {samples, t->is.leads}};
  t->input[PS_BEAT_F] =
      (weir_train_input){.name = "f", .dtype = WEIR_F32, .rank = 1, .shape = {t->is.features}};
  t->input[PS_BEAT_Y] = (weir_train_input){.name = "y", .dtype = WEIR_I32};
  t->input[PS_BEAT_WEIGHT] = (weir_train_input){.name = "class_weight", .dtype = WEIR_F32};
  t->task = ps_beat_task();
  t->task.input = t->input;
  t->task.n_inputs = PS_BEAT_INPUTS;
  t->task.n_train = t->split.n_train;
  t->task.n_valid = t->split.n_valid;
  t->task.opts = t;
  t->task.context = t;
}

weir_status ps_beat_training_open(const ps_beat_network_opts *o, const ps_beat_set *set,
                                  const ps_beat_split *split, int64_t min_beats, int64_t seed,
                                  ps_beat_training *out)
{
  *out = (ps_beat_training){.set = *set, .split = *split};
  WEIR_TRY(ps_beat_network_of(o, &out->is));
  WEIR_TRY(weigh(o, min_beats, out));
  describe(out);
  WEIR_TRY(weir_params_create(WEIR_F32, &out->params));
  WEIR_TRY(weir_store_create(&out->store));
  WEIR_TRY(weir_train_prepare(&out->task, seed, out->params, out->store));
  WEIR_TRY(ps_beat_network_add_header(out->store, &out->is));
  WEIR_TRY(take_digest(out));
  return standardise(out);
}

void ps_beat_training_close(ps_beat_training *t)
{
  weir_params_destroy(&t->params);
  weir_store_destroy(&t->store);
}
