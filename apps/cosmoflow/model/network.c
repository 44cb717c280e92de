/* network.c - see network.h. */
#include "model/network.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "nn/weir_loss.h"

#define USUAL "mlperf"

/* Entry i for WEIR_OPT_ONE_OF rows. */
static bool entry_of(int64_t i, weir_opt_choice *entry)
{
  int64_t n = 0;

  while (cf_net_table[n] != NULL) {
    n++;
  }
  if (i < 0 || i >= n) {
    return false;
  }
  const cf_net *const net = cf_net_table[i];

  *entry = (weir_opt_choice){
      .name = net->name, .help = net->help, .table = net->opts, .size = net->opts_size};
  return true;
}

const weir_opt cf_model_options[] = {
    WEIR_OPT_ONE_OF(cf_model_opts, net, entry_of, "the network; none named: " USUAL),
    WEIR_OPT_ENUM(cf_model_opts, loss, CF_LOSS_DEFAULT, CF_LOSS_CHOICES,
                  "loss that training minimises; default: that of the network's publication, mean "
                  "squared error for mlperf",
                  .choice_aliases = "own=default"),
    WEIR_OPT_TABLE(cf_model_opts, segment, cf_segment_options,
                   "the classes of voxels that a network which segments learns"),
    WEIR_OPT_END,
};

const cf_net *cf_model_net(const cf_model_opts *o)
{
  const char *const name = o->net.name != NULL ? o->net.name : USUAL;
  const cf_net *const *n = cf_net_table;

  while (*n != NULL && strcmp((*n)->name, name) != 0) {
    n++;
  }
  WEIR_ASSERT(*n != NULL); /* the option table knows no others */
  return *n;
}

weir_status cf_model_loss_kind(const cf_model_opts *o, cf_loss *out)
{
  const cf_net *const net = cf_model_net(o);
  const cf_loss loss = o->loss == CF_LOSS_DEFAULT ? net->loss : (cf_loss)o->loss;

  if ((loss == CF_LOSS_ENTROPY) != (net->target == CF_SEGMENT)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.loss: %s makes %s, whose loss is %s; leave model.loss out for its own",
                     net->name, net->target == CF_SEGMENT ? "a class of every voxel" : "numbers",
                     net->target == CF_SEGMENT ? "cross_entropy" : "mse or mae");
  }
  *out = loss;
  return WEIR_OK;
}

weir_value cf_model_apply(weir_net *net, const cf_model_opts *o, int64_t outputs, weir_value x)
{
  const cf_net *const chosen = cf_model_net(o);
  void *usual = NULL;

  if (o->net.opts == NULL && chosen->opts != NULL) {
    const weir_status status = weir_alloc(1, chosen->opts_size, &usual);

    if (status != WEIR_OK) {
      return weir_graph_fail(net->graph, status);
    }
    weir_opts_default(chosen->opts, chosen->opts_size, usual);
  }
  const weir_value y = chosen->build(net, o->net.opts != NULL ? o->net.opts : usual, outputs, x);

  weir_free(&usual);
  return y;
}

weir_value cf_model_loss(weir_graph *g, const cf_model_opts *o, weir_value made, weir_value truth,
                         weir_value weights)
{
  cf_loss loss = CF_LOSS_DEFAULT;
  const weir_status status = cf_model_loss_kind(o, &loss);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  switch (loss) {
  case CF_LOSS_MAE:
    return weir_loss_mae(g, made, truth, weights);
  case CF_LOSS_ENTROPY:
    return weir_loss_categorical(g, &(weir_categorical_spec){.smoothing = 0}, made, truth, weights);
  default:
    return weir_loss_mse(g, made, truth, weights);
  }
}
