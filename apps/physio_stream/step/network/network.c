/* network.c - a network of an ONNX file on windows of signals, or one of beats (beats.c). An ONNX
 * file has a graph and a plan of its own for one window, so that a result never depends on how many
 * a chunk has; the call that runs it (window.c) states the samples of a window, from which follows
 * what chunks keep. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "beats/onnx.h"
#include "model/events.h"
#include "nn/weir_activation.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"
#include "step/network/network_priv.h"

static const weir_opt options[] = {
    WEIR_OPT_PATH(ps_network_opts, file, "",
                  "ONNX file with one output and one or more inputs, [batch, signals, samples] or "
                  "[batch, samples], which take the streams in order (operators: "
                  "docs/reference/onnx.md); or a network of beats: weights.nc, which `train` made, "
                  "or an ONNX file whose metadata describe one; `from` has its leads, then its "
                  "features of beat_class, such as pre, post, before"),
    WEIR_OPT_REAL(
        ps_network_opts, fs, 0, 0, 1e6, "Hz",
        "sampling rate that the network was trained at; streams of another rate are "
        "refused (resample them); networks of beats state theirs, for streams of any rate"),
    WEIR_OPT_STRING(ps_network_opts, unit, "",
                    "unit that the network was trained in; signals of another are refused; empty: "
                    "not checked"),
    WEIR_OPT_REAL(ps_network_opts, window, 0, 0, 1e6, "s",
                  "window length; 0: that of the input which the file states"),
    WEIR_OPT_REAL(ps_network_opts, hop, 0, 0, 1e6, "s",
                  "time between windows; 0: equal to the window"),
    WEIR_OPT_ENUM(ps_network_opts, results, PS_OF_WINDOW, "window|samples",
                  "window: all numbers of the output belong to the window; samples: the output is "
                  "[batch, numbers, samples] or [batch, samples], and those of the samples in the "
                  "middle of each window, one hop of them, are the result"),
    WEIR_OPT_STRING_LIST(ps_network_opts, outputs, "",
                         "names of the numbers of a window or sample, in order; empty: y0, y1, .., "
                         "a single one has the name of the step"),
    WEIR_OPT_ENUM(
        ps_network_opts, scores, PS_SCORES_AS_IS, "as_is|sigmoid|softmax",
        "function of the outputs: sigmoid or softmax make probabilities of logits; a single "
        "one takes sigmoid"),
    WEIR_OPT_ENUM(ps_network_opts, label, 0, "start|end",
                  "time stamp of the result of a window: start or end of its last hop"),
    WEIR_OPT_ENUM(
        ps_network_opts, state, PS_STATE_RESET, "reset|carry",
        "initial state of the recurrent layers in a window: reset: that of the file; carry: the "
        "final state of the previous window, for windows without overlap (hop: 0 or the window)"),
    WEIR_OPT_REAL(ps_network_opts, reset_after, 0, 0, 1e6, "s",
                  "state: carry: longest time without results after which the state is still that "
                  "of the last window with a result; 0: one missing window resets it"),
    WEIR_OPT_STRING_LIST(ps_network_opts, state_in, "",
                         "inputs of the file that are states, such as [h0, c0]; their initial "
                         "value is 0"),
    WEIR_OPT_STRING_LIST(ps_network_opts, state_out, "",
                         "outputs of the file that are the final states, in the order of state_in, "
                         "such as [hn, cn]"),
    WEIR_OPT_END,
};

static void network_fini(void *memory)
{
  ps_network *const n = memory;

  weir_plan_destroy(&n->plan);
  weir_graph_destroy(&n->graph);
  for (int k = 0; k < n->n_inputs; k++) {
    weir_tensor_fini(&n->x[k]);
  }
  weir_tensor_fini(&n->y);
  for (int k = 0; k < n->states.n; k++) {
    weir_tensor_fini(&n->first[k]);
    weir_tensor_fini(&n->last[k]);
  }
  weir_onnx_states_fini(&n->states);
}

static weir_status check_streams(const weir_series_use *use)
{
  const ps_network_opts *o = use->opts;
  const weir_series *const s = use->in;

  if (!(o->fs > 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "fs: state the sampling rate that the network was trained at, which metadata "
                     "of %s do not state",
                     o->file);
  }
  if (o->state_in.count != o->state_out.count) {
    return weir_fail(WEIR_ERR_CONFIG, "state_in has %lld names, state_out %lld: name them in pairs",
                     (long long)o->state_in.count, (long long)o->state_out.count);
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

/* Shares the streams out to the inputs, in order: an input of [batch, samples] takes one, the only
 * input all if it leaves its signals open. */
static weir_status share_streams(const weir_series_use *use, const weir_onnx_inputs *inputs,
                                 ps_network *n)
{
  const ps_network_opts *o = use->opts;
  int64_t all = 0;

  for (int k = 0; k < inputs->n; k++) {
    const weir_onnx_value *const in = inputs->at[k];
    const bool open = in->n_dims == 3 && in->shape[1] < 0 && inputs->n == 1;
    const int64_t signals = in->n_dims == 2 ? 1 : open ? use->n_in : in->shape[1];

    if (in->n_dims > 3 || signals < 1) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: input \"%.*s\" has %d dimensions%s: [batch, signals, samples] or "
                       "[batch, samples] is supported",
                       o->file, in->name.size, in->name.at, in->n_dims,
                       in->n_dims > 3 ? "" : " and states no number of signals");
    }
    n->signals[k] = (int)(signals < INT32_MAX ? signals : INT32_MAX);
    all += n->signals[k];
  }
  return all == use->n_in
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "%s: the network takes %lld signals, 'from' has %d",
                         o->file, (long long)all, use->n_in);
}

/* The samples of a window that the inputs state, which must agree; negative: they leave them open.
 */
static weir_status find_length(const ps_network_opts *o, const weir_onnx_inputs *inputs,
                               int64_t *length)
{
  *length = -1;
  for (int k = 0; k < inputs->n; k++) {
    const weir_onnx_value *const in = inputs->at[k];
    const int64_t stated = in->shape[in->n_dims - 1];

    if (stated >= 0 && *length >= 0 && stated != *length) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "%s: input \"%.*s\" has %lld samples, one before it %lld: inputs of one "
                       "window are supported, and networks of beats whose metadata describe them "
                       "(docs/reference/onnx.md)",
                       o->file, in->name.size, in->name.at, (long long)stated, (long long)*length);
    }
    *length = stated >= 0 ? stated : *length;
  }
  return WEIR_OK;
}

/* Compares the streams with the inputs of the file. */
static weir_status find_windows(const weir_series_use *use, const weir_onnx_inputs *inputs,
                                ps_network *n)
{
  const ps_network_opts *o = use->opts;
  int64_t stated = -1;

  WEIR_TRY(share_streams(use, inputs, n));
  WEIR_TRY(find_length(o, inputs, &stated));
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
  if (o->results == PS_OF_SAMPLES && (n->hop > n->size || o->label == 1)) {
    return weir_fail(WEIR_ERR_CONFIG, "results: samples: the hop is at most the window, the label "
                                      "is start");
  }
  return WEIR_OK;
}

/* y as [1, numbers, length]. */
static weir_status shape_output(const ps_network_opts *o, ps_network *n, weir_value *y)
{
  const weir_array_desc *const d = weir_value_desc(n->graph, *y);
  int64_t all = 1;

  for (int k = 1; k < d->rank; k++) {
    if (!weir_mul_ok(all, d->shape[k], &all)) {
      all = INT64_MAX;
    }
  }
  n->length = o->results == PS_OF_SAMPLES ? n->size : 1;
  if (o->results == PS_OF_SAMPLES &&
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
  if (n->numbers == 1 && o->scores == PS_SCORES_SOFTMAX) {
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

  if (scores == PS_SCORES_SIGMOID) {
    return weir_activate(g, &(weir_activation){.kind = WEIR_ACTIVATION_SIGMOID}, y);
  }
  if (scores == PS_SCORES_AS_IS) {
    return y;
  }
  const weir_value part = weir_exp(g, weir_sub(g, y, weir_reduce(g, &spec, y)));

  spec.combine = WEIR_COMBINE_SUM;
  return weir_div(g, part, weir_reduce(g, &spec, part));
}

/* Whether states can be carried from window to window. */
static weir_status check_states(const weir_series_use *use, const ps_network *n)
{
  const ps_network_opts *o = use->opts;

  if (o->state == PS_STATE_RESET) {
    return o->reset_after > 0
               ? weir_fail(WEIR_ERR_CONFIG, "reset_after: state: reset carries no state: use carry")
               : WEIR_OK;
  }
  if (n->hop != n->size) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "state: carry: windows of %lld samples begin every %lld: each must begin where "
        "the one before ends: leave `hop` out, or use state: reset",
        (long long)n->size, (long long)n->hop);
  }
  return WEIR_OK;
}

/* Memory of the states that the graph has. */
static weir_status make_states(const weir_series_use *use, ps_network *n)
{
  const ps_network_opts *o = use->opts;
  int64_t slots = 0;

  if (o->state == PS_STATE_RESET) {
    return WEIR_OK;
  }
  if (n->states.n == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "state: carry: %s has no recurrent layer, and state_in names no input: use "
                     "state: reset",
                     o->file);
  }
  for (int k = 0; k < n->states.n; k++) {
    const weir_onnx_state *const s = &n->states.state[k];

    WEIR_TRY(weir_tensor_init(&n->first[k], WEIR_F32, s->rank, s->shape));
    WEIR_TRY(weir_tensor_init(&n->last[k], WEIR_F32, s->rank, s->shape));
  }
  WEIR_TRY(weir_gap_slots(&use->in[0], "reset_after", o->reset_after, &slots));
  n->max_missing = slots / n->hop;
  return WEIR_OK;
}

/* An input of the graph of a window for each of the file. */
static weir_status add_inputs(const weir_onnx_inputs *inputs, ps_network *n, weir_value *x)
{
  for (int k = 0; k < inputs->n; k++) {
    const weir_array_desc d = {
        .dtype = WEIR_F32, .rank = inputs->at[k]->n_dims, .shape = {1, n->size, n->signals[k]}};

    (void)snprintf(n->input[k], sizeof n->input[k], "x%d", k);
    x[k] = weir_input(n->graph, n->input[k], &d);
    WEIR_TRY(weir_tensor_init(&n->x[k], WEIR_F32, d.rank, d.shape));
    n->n_inputs = k + 1;
  }
  return weir_graph_status(n->graph);
}

/* The network's own graph and its plan. */
static weir_status open_network(const weir_series_use *use, const weir_onnx *m, ps_network *n)
{
  const ps_network_opts *o = use->opts;
  weir_value x[WEIR_ONNX_INPUTS], y = WEIR_NO_VALUE;
  weir_onnx_inputs inputs;
  weir_exec_cfg cfg;

  n->states = (weir_onnx_states){.carry = o->state == PS_STATE_CARRY,
                                 .in = o->state_in.items,
                                 .out = o->state_out.items,
                                 .n_named = o->state_in.count};
  WEIR_TRY(weir_onnx_find_inputs(m, o->file, &n->states, &inputs));
  WEIR_TRY(find_windows(use, &inputs, n));
  WEIR_TRY(check_states(use, n));
  WEIR_TRY(weir_graph_create(&n->graph));
  WEIR_TRY(add_inputs(&inputs, n, x));
  WEIR_TRY(weir_onnx_build(n->graph, m, o->file, &n->states, x, &y));
  WEIR_TRY(make_states(use, n));
  WEIR_TRY(shape_output(o, n, &y));
  weir_output(n->graph, "y", score(n->graph, o->scores, y));
  WEIR_TRY(weir_graph_status(n->graph));
  WEIR_TRY(weir_tensor_init(&n->y, WEIR_F32, 3, (const int64_t[]){1, n->numbers, n->length}));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* nothing to compile at the start of a run */
  return weir_plan_create(n->graph, NULL,
                          &(weir_plan_opts){.exec = &cfg, .threads = 1, .terse = true}, &n->plan);
}

/* ---- The call ---- */

/* The signals as rows [signals, time], and the slots in which all are present. */
static weir_status join(const weir_series_use *use, weir_value in[PS_NETWORK_INPUTS])
{
  const weir_reshape_spec row = {.rank = 2, .shape = {1, WEIR_UNBOUNDED}};
  weir_value value[WEIR_SERIES_MAX];
  weir_graph *const g = use->graph;

  for (int k = 0; k < use->n_in; k++) {
    const weir_series s = ps_events_finite(g, use->in[k]);

    value[k] = weir_reshape(g, s.value, &row);
    in[PS_NETWORK_PRESENT] = k == 0 ? s.present : weir_and(g, in[PS_NETWORK_PRESENT], s.present);
  }
  in[PS_NETWORK_VALUES] = weir_concat(g, value, use->n_in, 0);
  return weir_graph_status(g);
}

/* What calls keep from one to the next, where the network has states. */
static weir_status store_state(const weir_series_use *use, const ps_network *n, weir_value *state)
{
  const int64_t bytes = ps_network_state_bytes(n);
  char name[256];

  *state = WEIR_NO_VALUE;
  if (n->states.n == 0) {
    return WEIR_OK;
  }
  (void)snprintf(name, sizeof name, "%s.network", use->step);
  WEIR_TRY(weir_store_add(use->store, name, WEIR_U8, 1, &bytes));
  *state = weir_stored(use->graph, use->store, name);
  weir_in_place(use->graph, *state);
  return weir_graph_status(use->graph);
}

static weir_status name_outputs(const weir_series_use *use, ps_network *n, weir_series_result *out)
{
  const ps_network_opts *o = use->opts;

  if (o->outputs.count > 0 && o->outputs.count != n->numbers) {
    return weir_fail(WEIR_ERR_CONFIG, "outputs: %lld names for the %lld numbers of a window",
                     (long long)o->outputs.count, (long long)n->numbers);
  }
  out->n = (int)n->numbers;
  for (int k = 0; k < out->n; k++) {
    (void)snprintf(n->name[k], PS_NETWORK_NAME, "y%d", k);
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
static weir_call_spec declare(const ps_network_opts *o, ps_network *n)
{
  const bool of_window = o->results == PS_OF_WINDOW;
  const int64_t before = (n->size - n->hop) / 2;
  weir_call_spec spec =
      weir_gap_call("network", of_window ? ps_network_call_windows : ps_network_call_samples);

  spec.context = n;
  spec.context_bytes = weir_plan_memory_bytes(n->plan);
  spec.flops = flops_of(n->plan) / (double)(of_window ? 1 : n->hop);
  spec.out[0] = (weir_array_desc){
      .dtype = WEIR_F32, .rank = 2, .shape = {n->numbers, WEIR_UNBOUNDED}, .time = 2};
  for (int k = 0; k <= PS_NETWORK_PRESENT; k++) {
    spec.up[k] = of_window ? n->hop : 1;
    spec.ahead[k] = of_window ? n->hop - 1 : n->size - 1 - before;
    spec.behind[k] = of_window ? n->size - n->hop : before + n->hop - 1;
  }
  return spec;
}

/* Appends the call, and takes its rows apart. */
static weir_status give(const weir_series_use *use, ps_network *n, weir_series_result *out)
{
  const ps_network_opts *o = use->opts;
  const weir_reshape_spec plain = {.rank = 1, .shape = {WEIR_UNBOUNDED}};
  const weir_call_spec spec = declare(o, n);
  weir_graph *const g = use->graph;
  weir_value in[PS_NETWORK_INPUTS];
  weir_series s = use->in[0];

  WEIR_TRY(join(use, in));
  WEIR_TRY(store_state(use, n, &in[PS_NETWORK_STATE]));
  WEIR_TRY(weir_series_scale_rate(&s, 1, o->results == PS_OF_WINDOW ? n->hop : 1));
  s = weir_gap_made(g, &spec, s, in, n->states.n > 0 ? PS_NETWORK_INPUTS : PS_NETWORK_STATE);
  const weir_value rows = s.value;

  weir_series_set_unit(&s, o->scores == PS_SCORES_AS_IS ? "" : "1");
  s.present = o->label == 1 ? weir_shift(g, s.present, 0, 1) : s.present;
  for (int k = 0; k < out->n; k++) {
    s.value = weir_reshape(g, weir_slice(g, rows, 0, k, k + 1, 1), &plain);
    s.value = o->label == 1 ? weir_shift(g, s.value, 0, 1) : s.value;
    out->out[k] = s;
  }
  return weir_graph_status(g);
}

static weir_status give_windows(const weir_series_use *use, const weir_onnx *m,
                                weir_series_result *out)
{
  void *memory = NULL;

  WEIR_TRY(check_streams(use));
  WEIR_TRY(weir_series_keep(use, sizeof(ps_network), network_fini, &memory));
  WEIR_TRY(open_network(use, m, memory));
  WEIR_TRY(name_outputs(use, memory, out));
  return give(use, memory, out);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const ps_network_opts *o = use->opts;
  bool beats = ps_beat_is_weights(o->file);
  weir_status status = WEIR_OK;
  weir_onnx m = {.opset = 0};

  if (o->file[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "file: state the ONNX file of the network");
  }
  if (!beats) {
    status = weir_onnx_read(o->file, &m);
    beats = status == WEIR_OK && ps_beat_onnx_is(&m);
  }
  if (status == WEIR_OK && !beats) {
    status = give_windows(use, &m, out);
  }
  weir_onnx_fini(&m);
  WEIR_TRY(status);
  return beats ? ps_network_give_beats(use, out) : WEIR_OK;
}

const weir_series_op ps_step_network = {
    .name = "network",
    .cite = "",
    .help = "results of a trained network on windows of one or more signals: an ONNX file; or of a "
            "network of beats, n, s, v and f at each beat",
    .opts = options,
    .opts_size = sizeof(ps_network_opts),
    .min_in = 1,
    .max_in = WEIR_SERIES_MAX,
    .build = build,
};
