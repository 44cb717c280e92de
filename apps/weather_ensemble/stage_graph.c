/* stage_graph.c - the network of a stage as a graph; see stage.h. */
#include <string.h>
#include "base/weir_alloc.h"
#include "stage_priv.h"

static weir_value graph_input(const weir_train_input *in, int64_t batch, weir_graph *g)
{
  weir_array_desc d = {.dtype = in->dtype, .rank = in->rank + 1, .shape = {batch}};

  memcpy(d.shape + 1, in->shape, sizeof *d.shape * (size_t)in->rank);
  return weir_input(g, in->name, &d);
}

weir_status wx_stage_append_members(const wx_stage *s, int64_t batch, int64_t members,
                                    weir_graph *g)
{
  const bool each = wx_model_takes_members(&s->model);
  weir_net net;

  weir_net_init(&net, g, s->params, false);
  const weir_value x = graph_input(&s->input[WX_IN_X], batch, g);
  const weir_value raw = graph_input(&s->input[WX_IN_S], batch, g);
  weir_train_input in = s->input[WX_IN_MEMBERS];

  in.shape[0] = members;
  const weir_value e = each ? graph_input(&in, batch, g) : WEIR_NO_VALUE;
  const wx_made made = wx_network_apply(&net, &s->network, x, raw, e);

  if (made.mean.node >= 0) {
    weir_output(g, "mean", made.mean);
  }
  if (made.sigma.node >= 0) {
    weir_output(g, "sigma", made.sigma);
  }
  if (made.members.node >= 0) {
    weir_output(g, WX_MADE_MEMBERS, made.members);
  }
  weir_net_fini(&net);
  return weir_graph_status(g);
}

weir_status wx_stage_append(const wx_stage *s, int64_t batch, weir_graph *g)
{
  return wx_stage_append_members(s, batch, s->facts.members, g);
}

weir_status wx_stage_flops(const wx_stage *s, double *flops)
{
  weir_graph *g = NULL;
  int32_t *order = NULL, n = 0;
  weir_status status = WEIR_OK;

  *flops = 0;
  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(wx_stage_append(s, 1, g), done);
  WEIR_TRY_GOTO(weir_alloc(weir_graph_nodes(g), sizeof *order, (void **)&order), done);
  WEIR_TRY_GOTO(weir_graph_order(g, order, &n), done);
  for (int32_t i = 0; i < n; i++) {
    *flops += weir_node_traffic(g, order[i], 1, NULL).flops;
  }
done:
  weir_free(&order);
  weir_graph_destroy(&g);
  return status;
}
