/* network.c - a network of an ONNX file on windows of signals, or that of beats from its file of
 * weights (beats/apply.h). An ONNX file has a graph and a plan of its own
 * for one window, so that a result never depends on how many a chunk has; the call that runs it
 * states the samples of a window, from which follows what chunks keep. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "beats/apply.h"
#include "exec/weir_plan.h"
#include "model/events.h"
#include "nn/weir_activation.h"
#include "nn/onnx/weir_onnx_graph.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"
#include "stream/weir_gap.h"

enum { NAME_MAX = 16, AS_IS = 0, SIGMOID, SOFTMAX, OF_WINDOW = 0, OF_SAMPLES };

typedef struct network_opts {
  const char *file, *unit;
  double fs, window, hop;
  int results, scores, label;
  weir_string_list outputs;
} network_opts;

static const weir_opt options[] = {
    WEIR_OPT_PATH(network_opts, file, "",
                  "ONNX file with one input, [batch, signals, samples] or [batch, samples], and "
                  "one output (operators: docs/reference/onnx.md); or weights.nc of the network of "
                  "beats that `train` made, for which `from` has the leads, then the features "
                  "pre, post, before (or all seven) of beat_class"),
    WEIR_OPT_REAL(network_opts, fs, 0, 0, 1e6, "Hz",
                  "sampling rate that the network was trained at; streams of another rate are "
                  "refused (resample them); weights.nc states its own, for streams of any rate"),
    WEIR_OPT_STRING(network_opts, unit, "",
                    "unit that the network was trained in; signals of another are refused; empty: "
                    "not checked"),
    WEIR_OPT_REAL(network_opts, window, 0, 0, 1e6, "s",
                  "window length; 0: that of the input which the file states"),
    WEIR_OPT_REAL(network_opts, hop, 0, 0, 1e6, "s",
                  "time between windows; 0: equal to the window"),
    WEIR_OPT_ENUM(network_opts, results, OF_WINDOW, "window|samples",
                  "window: all numbers of the output belong to the window; samples: the output is "
                  "[batch, numbers, samples] or [batch, samples], and those of the samples in the "
                  "middle of each window, one hop of them, are the result"),
    WEIR_OPT_STRING_LIST(network_opts, outputs, "",
                         "names of the numbers of a window or sample, in order; empty: y0, y1, .., "
                         "a single one has the name of the step"),
    WEIR_OPT_ENUM(
        network_opts, scores, AS_IS, "as_is|sigmoid|softmax",
        "function of the outputs: sigmoid or softmax make probabilities of logits; a single "
        "one takes sigmoid"),
    WEIR_OPT_ENUM(network_opts, label, 0, "start|end",
                  "time stamp of the result of a window: start or end of its last hop"),
    WEIR_OPT_END,
};

/* A network of its own graph, which a window at a time is given to: of `signals` signals, `size`
 * samples each, one every `hop`; `numbers` come out. */
typedef struct network {
  weir_graph *graph;
  weir_plan *plan;
  weir_tensor x, y;                   /* [1, size, signals], or [1, size]; [1, numbers, length] */
  int64_t size, hop, numbers, length; /* length: 1, or size where samples have results */
  int signals;
  char name[WEIR_SERIES_MAX][NAME_MAX]; /* of numbers without a given name */
} network;

static void network_fini(void *memory)
{
  network *const n = memory;

  weir_plan_destroy(&n->plan);
  weir_graph_destroy(&n->graph);
  weir_tensor_fini(&n->x);
  weir_tensor_fini(&n->y);
}

static weir_status check_streams(const weir_series_use *use)
{
  const network_opts *o = use->opts;
  const weir_series *const s = use->in;

  if (o->file[0] == 0 || !(o->fs > 0)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: state %s", o->file[0] == 0 ? "file" : "fs",
                     o->file[0] == 0 ? "the ONNX file of the network"
                                     : "the sampling rate that the network was trained at");
  }
  for (int k = 0; k < use->n_in; k++) {
    const double rate = (double)s[k].rate_num / (double)s[k].rate_den;

    if (s[k].rate_num != s[0].rate_num || s[k].rate_den != s[0].rate_den ||
        fabs(rate - o->fs) > 1e-9 * o->fs) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "fs: the network takes %.12g Hz, '%s' has %.12g Hz: resample it first",
                       o->fs, use->in_name[k], rate);
    }
    if (o->unit[0] != 0 && strcmp(o->unit, s[k].unit) != 0) {
      return weir_fail(WEIR_ERR_CONFIG, "unit: the network takes %s, '%s' is in %s", o->unit,
                       use->in_name[k],
                       s[k].unit[0] != 0 ? s[k].unit : "a unit that is not stated");
    }
  }
  return WEIR_OK;
}

/* Compares the streams with the input of the file. */
static weir_status find_windows(const weir_series_use *use, const weir_onnx_value *input,
                                network *n)
{
  const network_opts *o = use->opts;
  const bool one = input->n_dims == 2;
  const int64_t signals = one ? 1 : input->shape[1], stated = input->shape[input->n_dims - 1];

  if (input->n_dims > 3) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: the input has %d dimensions: [batch, signals, samples] or [batch, "
                     "samples] is supported",
                     o->file, input->n_dims);
  }
  if (signals != use->n_in && (one || signals >= 0)) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: the network takes %lld signals, 'from' has %d", o->file,
                     (long long)signals, use->n_in);
  }
  n->signals = use->n_in;
  n->size = stated;
  if (o->window > 0) {
    WEIR_TRY(weir_series_hop(&use->in[0], "window", o->window, &n->size));
  }
  if (n->size < 1 || n->size > WEIR_GAP_MAX || (stated >= 0 && n->size != stated)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     stated >= 0 ? "window: %.12g s are not the %lld samples that the network takes"
                                 : "window: %.12g s: the file leaves the length open: state it",
                     o->window, (long long)stated);
  }
  n->hop = n->size;
  if (o->hop > 0) {
    WEIR_TRY(weir_series_hop(&use->in[0], "hop", o->hop, &n->hop));
  }
  if (o->results == OF_SAMPLES && (n->hop > n->size || o->label == 1)) {
    return weir_fail(WEIR_ERR_CONFIG, "results: samples: the hop is at most the window, the label "
                                      "is start");
  }
  return WEIR_OK;
}

/* y as [1, numbers, length]. */
static weir_status shape_output(const network_opts *o, network *n, weir_value *y)
{
  const weir_array_desc *const d = weir_value_desc(n->graph, *y);
  int64_t all = 1;

  for (int k = 1; k < d->rank; k++) {
    if (!weir_mul_ok(all, d->shape[k], &all)) {
      all = INT64_MAX;
    }
  }
  n->length = o->results == OF_SAMPLES ? n->size : 1;
  if (o->results == OF_SAMPLES &&
      (d->rank < 2 || d->rank > 3 || d->shape[d->rank - 1] != n->size)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "results: samples: the output of %s ends in %lld numbers, the window has %lld "
                     "samples",
                     o->file, (long long)d->shape[d->rank - 1], (long long)n->size);
  }
  n->numbers = all / n->length;
  if (n->numbers < 1 || n->numbers > WEIR_SERIES_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s gives %lld numbers: 1 to %d are supported; a network with results for "
                     "each sample needs results: samples",
                     o->file, (long long)n->numbers, WEIR_SERIES_MAX);
  }
  if (n->numbers == 1 && o->scores == SOFTMAX) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "scores: softmax: %s gives one number, whose softmax is 1 always: a single "
                     "logit takes scores: sigmoid",
                     o->file);
  }
  *y = weir_reshape(n->graph, *y,
                    (&(weir_reshape_spec){.rank = 3, .shape = {1, n->numbers, n->length}}));
  return weir_graph_status(n->graph);
}

static weir_value score(weir_graph *g, int scores, weir_value y)
{
  weir_reduce_spec spec = {.combine = WEIR_COMBINE_MAX, .n_dims = 1, .dim = {1}, .keep = true};

  if (scores == SIGMOID) {
    return weir_activate(g, &(weir_activation){.kind = WEIR_ACTIVATION_SIGMOID}, y);
  }
  if (scores == AS_IS) {
    return y;
  }
  const weir_value part = weir_exp(g, weir_sub(g, y, weir_reduce(g, &spec, y)));

  spec.combine = WEIR_COMBINE_SUM;
  return weir_div(g, part, weir_reduce(g, &spec, part));
}

/* The network's own graph and its plan. */
static weir_status open_network(const weir_series_use *use, const weir_onnx *m, network *n)
{
  const network_opts *o = use->opts;
  const weir_onnx_value *input = NULL;
  weir_value y = WEIR_NO_VALUE;
  weir_exec_cfg cfg;

  WEIR_TRY(weir_onnx_input(m, o->file, &input));
  WEIR_TRY(find_windows(use, input, n));
  const weir_array_desc d = {
      .dtype = WEIR_F32, .rank = input->n_dims, .shape = {1, n->size, n->signals}};

  WEIR_TRY(weir_graph_create(&n->graph));
  WEIR_TRY(weir_onnx_build(n->graph, m, o->file, weir_input(n->graph, "x", &d), &y));
  WEIR_TRY(shape_output(o, n, &y));
  weir_output(n->graph, "y", score(n->graph, o->scores, y));
  WEIR_TRY(weir_graph_status(n->graph));
  WEIR_TRY(weir_tensor_init(&n->x, WEIR_F32, d.rank, d.shape));
  WEIR_TRY(weir_tensor_init(&n->y, WEIR_F32, 3, (const int64_t[]){1, n->numbers, n->length}));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* nothing to compile at the start of a run */
  return weir_plan_create(n->graph, NULL,
                          &(weir_plan_opts){.exec = &cfg, .threads = 1, .terse = true}, &n->plan);
}

/* ---- The calls ---- */

enum { VALUES, PRESENT, INPUTS };

/* Copies the window that begins at slot `from`: signals are rows of the stream, columns of x. */
static void take_window(const network *n, const weir_view *v, int64_t from)
{
  float *const x = n->x.data;

  for (int64_t k = 0; k < n->signals; k++) {
    const float *const row = weir_view_at(v, (const int64_t[]){k, from});

    for (int64_t i = 0; i < n->size; i++) {
      x[i * n->signals + k] = row[i];
    }
  }
}

/* Runs the network on the window that begins at slot `from`; *made: whether it has a result, which
 * is where all samples are there and all numbers finite. */
static weir_status run_network(const network *n, const weir_op_run *run, int64_t from, bool *made)
{
  const float *const y = n->y.data;
  weir_tensor in = n->x, out = n->y;

  *made = from >= 0 && from + n->size <= run->in[PRESENT].extent[0] &&
          weir_gap_count(weir_gap_flag(&run->in[PRESENT], from), n->size) == n->size;
  if (!*made) {
    return WEIR_OK;
  }
  take_window(n, &run->in[VALUES], from);
  WEIR_TRY(weir_plan_run(n->plan, ((const weir_binding[]){{"x", &in}, {"y", &out}}), 2));
  for (int64_t i = 0; i < n->numbers * n->length; i++) {
    *made = *made && isfinite(y[i]);
  }
  return WEIR_OK;
}

/* Writes the results of slots [lo, hi), those of the samples from `first` on of y. */
static void put(const network *n, const weir_op_run *run, int64_t lo, int64_t hi, int64_t first,
                bool made)
{
  const float *const y = n->y.data;

  for (int64_t k = 0; k < n->numbers; k++) {
    float *const out = weir_view_at(&run->out[0], (const int64_t[]){k, lo});

    for (int64_t i = 0; i < hi - lo; i++) {
      out[i] = made ? y[k * n->length + first + i] : 0;
    }
  }
  memset(weir_gap_flag(&run->out[1], lo), made, (size_t)(hi - lo));
}

/* Slot j: the window that ends with hop j. */
static weir_status find_windows_results(void *context, const weir_op_run *run)
{
  const network *const n = context;
  bool made = false;

  for (int64_t j = run->box.lo[0]; j < run->box.hi[0]; j++) {
    WEIR_TRY(run_network(n, run, (j + 1) * n->hop - n->size, &made));
    put(n, run, j, j + 1, 0, made);
  }
  return WEIR_OK;
}

/* Slots of hop j: the middle of a window, `before` samples after its begin. */
static weir_status find_samples_results(void *context, const weir_op_run *run)
{
  const network *const n = context;
  const int64_t before = (n->size - n->hop) / 2;
  bool made = false;

  for (int64_t t = run->box.lo[0], end; t < run->box.hi[0]; t = end) {
    const int64_t begin = t / n->hop * n->hop, from = begin - before;

    end = begin + n->hop < run->box.hi[0] ? begin + n->hop : run->box.hi[0];
    WEIR_TRY(run_network(n, run, from, &made));
    put(n, run, t, end, t - from, made);
  }
  return WEIR_OK;
}

/* The signals as rows [signals, time], and the slots in which all are present. */
static weir_status join(const weir_series_use *use, weir_value in[INPUTS])
{
  const weir_reshape_spec row = {.rank = 2, .shape = {1, WEIR_UNBOUNDED}};
  weir_value value[WEIR_SERIES_MAX];
  weir_graph *const g = use->graph;

  for (int k = 0; k < use->n_in; k++) {
    const weir_series s = ps_events_finite(g, use->in[k]);

    value[k] = weir_reshape(g, s.value, &row);
    in[PRESENT] = k == 0 ? s.present : weir_and(g, in[PRESENT], s.present);
  }
  in[VALUES] = weir_concat(g, value, use->n_in, 0);
  return weir_graph_status(g);
}

static weir_status name_outputs(const weir_series_use *use, network *n, weir_series_result *out)
{
  const network_opts *o = use->opts;

  if (o->outputs.count > 0 && o->outputs.count != n->numbers) {
    return weir_fail(WEIR_ERR_CONFIG, "outputs: %lld names for the %lld numbers of a window",
                     (long long)o->outputs.count, (long long)n->numbers);
  }
  out->n = (int)n->numbers;
  for (int k = 0; k < out->n; k++) {
    (void)snprintf(n->name[k], NAME_MAX, "y%d", k);
    out->name[k] = o->outputs.count > 0 ? o->outputs.items[k] : out->n > 1 ? n->name[k] : NULL;
  }
  return WEIR_OK;
}

/* Of one window. */
static double flops_of(const weir_plan *p)
{
  double flops = 0;

  for (int32_t k = 0; k < weir_plan_groups(p); k++) {
    flops += weir_plan_group(p, k).flops;
  }
  return flops;
}

/* What the call reads of its inputs, around a slot of its results. */
static weir_call_spec declare(const network_opts *o, network *n)
{
  const bool of_window = o->results == OF_WINDOW;
  const int64_t before = (n->size - n->hop) / 2;
  weir_call_spec spec =
      weir_gap_call("network", of_window ? find_windows_results : find_samples_results);

  spec.context = n;
  spec.context_bytes = weir_plan_memory_bytes(n->plan);
  spec.flops = flops_of(n->plan) / (double)(of_window ? 1 : n->hop);
  spec.out[0] = (weir_array_desc){
      .dtype = WEIR_F32, .rank = 2, .shape = {n->numbers, WEIR_UNBOUNDED}, .time = 2};
  for (int k = 0; k < INPUTS; k++) {
    spec.up[k] = of_window ? n->hop : 1;
    spec.ahead[k] = of_window ? n->hop - 1 : n->size - 1 - before;
    spec.behind[k] = of_window ? n->size - n->hop : before + n->hop - 1;
  }
  return spec;
}

/* Appends the call, and takes its rows apart. */
static weir_status give(const weir_series_use *use, network *n, weir_series_result *out)
{
  const network_opts *o = use->opts;
  const weir_reshape_spec plain = {.rank = 1, .shape = {WEIR_UNBOUNDED}};
  const weir_call_spec spec = declare(o, n);
  weir_graph *const g = use->graph;
  weir_value in[INPUTS];
  weir_series s = use->in[0];

  WEIR_TRY(join(use, in));
  WEIR_TRY(weir_series_scale_rate(&s, 1, o->results == OF_WINDOW ? n->hop : 1));
  s = weir_gap_made(g, &spec, s, in, INPUTS);
  const weir_value rows = s.value;

  weir_series_set_unit(&s, o->scores == AS_IS ? "" : "1");
  s.present = o->label == 1 ? weir_shift(g, s.present, 0, 1) : s.present;
  for (int k = 0; k < out->n; k++) {
    s.value = weir_reshape(g, weir_slice(g, rows, 0, k, k + 1, 1), &plain);
    s.value = o->label == 1 ? weir_shift(g, s.value, 0, 1) : s.value;
    out->out[k] = s;
  }
  return weir_graph_status(g);
}

/* ---- Weights of this suite ---- */

static bool ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);

  return n > m && strcmp(text + n - m, end) == 0;
}

/* The classes of beats: what the file states is not stated again. */
static weir_status give_beats(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[PS_CLASSES] = {"n", "s", "v", "f"};
  const network_opts *o = use->opts;
  const ps_beat_streams in = {.leads = use->in, .n_leads = use->n_in};
  weir_series logit[PS_CLASSES];

  if (o->window > 0 || o->hop > 0 || o->fs > 0 || o->results != OF_WINDOW || o->scores == SIGMOID ||
      (o->outputs.count > 0 && o->outputs.count != PS_CLASSES)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s has weights of a network of beats, with a result at each beat: fs, window, "
        "hop and results are not for it, scores are as_is or softmax, outputs %d names",
        o->file, PS_CLASSES);
  }
  WEIR_TRY(ps_beat_apply(use, o->file, &in, logit));
  if (o->scores == SOFTMAX) {
    ps_beat_probabilities(use->graph, logit, out->out);
  } else {
    memcpy(out->out, logit, sizeof logit);
  }
  out->n = PS_CLASSES;
  for (int k = 0; k < PS_CLASSES; k++) {
    weir_series_set_unit(&out->out[k], "1");
    out->name[k] = o->outputs.count > 0 ? o->outputs.items[k] : names[k];
  }
  return weir_graph_status(use->graph);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const network_opts *o = use->opts;
  void *memory = NULL;
  weir_onnx m;

  if (ends_with(o->file, ".nc") || ends_with(o->file, ".weir")) {
    return give_beats(use, out);
  }
  WEIR_TRY(check_streams(use));
  WEIR_TRY(weir_series_keep(use, sizeof(network), network_fini, &memory));
  weir_status status = weir_onnx_read(o->file, &m);

  if (status == WEIR_OK) {
    status = open_network(use, &m, memory);
  }
  weir_onnx_fini(&m);
  WEIR_TRY(status);
  WEIR_TRY(name_outputs(use, memory, out));
  return give(use, memory, out);
}

const weir_series_op ps_step_network = {
    .name = "network",
    .cite = "",
    .help =
        "results of a trained network on windows of one or more signals: an ONNX file, or weights "
        "of `train`, with n, s, v and f at each beat",
    .opts = options,
    .opts_size = sizeof(network_opts),
    .min_in = 1,
    .max_in = WEIR_SERIES_MAX,
    .build = build,
};
