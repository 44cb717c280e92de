/* graph.c - see graph.h. */
#include "model/graph.h"
#include "base/weir_alloc.h"
#include "model/beat_call.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "stream/op/moving_sum/weir_stream_moving_sum.h"
#include "stream/op/sos/weir_stream_sos.h"

#define STATE "detector"
/* Arithmetic of the decision per slot: a compare of its scan for peaks. */
#define DECISION_FLOPS 1

static weir_status make_store(ps_graph *out)
{
  const int64_t bytes = (int64_t)ps_beat_call_bytes(out->call);

  WEIR_TRY(weir_store_create(&out->store));
  WEIR_TRY(weir_store_add(out->store, STATE, WEIR_U8, 1, &bytes));
  WEIR_TRY(weir_store_pin(out->store, STATE, &out->state));
  return ps_graph_reset(out);
}

/* The decision on filtered signal and feature. */
static weir_value decide(ps_graph *out, weir_series filtered, weir_series feature,
                         int64_t max_slots)
{
  weir_graph *g = out->graph;
  const weir_value in[4] = {filtered.value, feature.value, feature.present,
                            weir_stored(g, out->store, STATE)};
  const weir_call_spec spec = {
      .name = "decide_beats",
      .function = ps_beat_call_run,
      .context = out->call,
      .n_out = 1,
      .out = {{.dtype = WEIR_I64,
               .rank = 2,
               .shape = {3, ps_beat_call_capacity(out->state->data, max_slots)}}},
      .presence = 3,
      .settle = 1,
      .flops = DECISION_FLOPS};

  weir_in_place(g, in[3]);
  return weir_label(g, weir_call(g, &spec, in, 4), "decide_beats");
}

static weir_value bend(weir_graph *g, const ps_front *front, weir_series sum)
{
  const weir_value ends = weir_add(g, sum.value, weir_series_past(g, sum, 2 * front->step));
  const weir_value twice = weir_scale(g, weir_series_past(g, sum, front->step), 2);

  return weir_scale(g, weir_sub(g, ends, twice), front->bend_scale);
}

ps_graph_front ps_graph_add_front(weir_graph *g, const ps_front *front, weir_series x)
{
  int32_t first = weir_graph_nodes(g);
  ps_graph_front f = {.filtered = weir_stream_sos(g, x, front->sos, front->sections, 0)};

  weir_label_from(g, first, "band_pass");
  first = weir_graph_nodes(g);
  const weir_series means = weir_stream_moving_sum(
      g, weir_stream_moving_sum(g, f.filtered, front->smooth), front->smooth);

  weir_label_from(g, first, "smooth");
  first = weir_graph_nodes(g);
  weir_series energy = means; /* with the age that the sums needed */
  energy.value = bend(g, front, means);
  weir_label_from(g, first, "bend");
  energy.value = weir_label(g, weir_square(g, energy.value), "energy"); /* still 0 where absent */
  first = weir_graph_nodes(g);
  f.feature = weir_stream_moving_sum(g, energy, front->window);
  weir_label_from(g, first, "moving_sum");
  return f;
}

static void build(ps_graph *out, int64_t rate_num, int64_t rate_den, int64_t max_slots,
                  bool features)
{
  weir_graph *g = out->graph;
  const weir_series x = weir_series_input(g, PS_INPUT_X, PS_INPUT_PRESENT, rate_num, rate_den);
  const ps_graph_front f = ps_graph_add_front(g, &out->front, x);

  if (features) {
    weir_output(g, PS_RESULT_FILTERED, f.filtered.value);
    weir_output(g, PS_RESULT_FEATURE, f.feature.value);
    weir_output(g, PS_RESULT_PRESENT, f.feature.present);
  }
  weir_output(g, PS_RESULT_BEATS, decide(out, f.filtered, f.feature, max_slots));
}

weir_status ps_graph_create(const ps_detect_opts *opts, int64_t rate_num, int64_t rate_den,
                            int64_t max_slots, bool features, ps_graph *out)
{
  ps_graph g = {0};
  weir_status status = WEIR_OK;
  const double rate = (double)rate_num / (double)rate_den;

  *out = g;
  WEIR_TRY(ps_front_design(&opts->front, rate, &g.front));
  WEIR_TRY_GOTO(weir_alloc(1, sizeof *g.call, (void **)&g.call), done);
  *g.call = (ps_beat_call){.opts = *opts, .rate = rate};
  WEIR_TRY_GOTO(make_store(&g), done);
  WEIR_TRY_GOTO(weir_graph_create(&g.graph), done);
  build(&g, rate_num, rate_den, max_slots, features);
  WEIR_TRY_GOTO(weir_graph_status(g.graph), done);
  *out = g;
  return WEIR_OK;
done:
  ps_graph_destroy(&g);
  return status;
}

void ps_graph_destroy(ps_graph *g)
{
  weir_graph_destroy(&g->graph);
  weir_store_destroy(&g->store);
  weir_free(&g->call);
  *g = (ps_graph){0};
}

weir_status ps_graph_reset(ps_graph *g)
{
  return ps_beat_call_init(g->call, g->state->data, (size_t)g->state->shape[0]);
}

double ps_graph_latency(const ps_graph *g)
{
  return (double)ps_beat_call_latency(g->state->data) / g->call->rate;
}
