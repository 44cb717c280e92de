/* network.c - see network.h. */
#include "model/network.h"
#include "ops/slice/weir_slice.h"

const weir_opt wx_model_options[] = {
    WEIR_OPT_ENUM(wx_model_opts, target, WX_TARGET_DIFFERENCE, WX_TARGET_CHOICES,
                  "what the network makes: truth minus the forecast (the channel of x of the same "
                  "name), so that 0 is the correction of the mean bias; or truth itself"),
    WEIR_OPT_ENUM(wx_model_opts, loss, WX_LOSS_MSE, WX_LOSS_CHOICES,
                  "mean squared or absolute error, or the CRPS of a Gaussian, whose mean and "
                  "standard deviation the network then makes"),
    WEIR_OPT_TABLE(wx_model_opts, spread, weir_spread_opts, "loss crps: the standard deviation"),
    WEIR_OPT_TABLE(wx_model_opts, net, weir_unet_options, "the U-Net: level, lat, lon are z, y, x"),
    WEIR_OPT_END,
};

const char *const wx_metric[WX_METRICS] = {"mse"};

void wx_network_apply(weir_net *net, const wx_network *network, weir_value x, weir_value *mean,
                      weir_value *raw)
{
  const bool spread = network->opts->loss == WX_LOSS_CRPS;
  const int64_t n = network->n_y;
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  const int last = d != NULL ? d->rank - 1 : 0;
  const weir_value out = weir_unet(net, &network->opts->net, spread ? 2 * n : n, x);

  *mean = spread ? weir_slice(net->graph, out, last, 0, n, 1) : out;
  *raw = spread ? weir_slice(net->graph, out, last, n, WEIR_SLICE_END, 1) : WEIR_NO_VALUE;
}

weir_status wx_network_build(weir_net *net, const void *opts, const weir_value *in,
                             weir_value *loss)
{
  const wx_network *network = opts;
  weir_graph *g = net->graph;
  weir_value mean, raw;

  wx_network_apply(net, network, in[0], &mean, &raw);
  const weir_value square = weir_loss_mse(g, mean, in[1], WEIR_NO_VALUE);

  weir_output(g, wx_metric[0], square);
  switch ((wx_loss)network->opts->loss) {
  case WX_LOSS_MSE:
    *loss = square;
    break;
  case WX_LOSS_MAE:
    *loss = weir_loss_mae(g, mean, in[1], WEIR_NO_VALUE);
    break;
  default:
    *loss = weir_loss_crps(g, &network->opts->spread, mean, raw, in[1], WEIR_NO_VALUE);
    break;
  }
  return weir_graph_status(g);
}
