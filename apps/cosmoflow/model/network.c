/* network.c - see network.h. */
#include "model/network.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"

#define USUAL "mlperf"
#define MIXTURE "mixture"

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

/* What the outputs are: entry i. */
static bool head_of(int64_t i, weir_opt_choice *entry)
{
  static const weir_opt_choice heads[] = {
      {.name = "estimate", .help = "a number for each parameter"},
      {.name = MIXTURE,
       .help = "the posterior of the parameters: a mixture of Gaussians with full covariances "
               "(Bishop 1994), trained for the log density of the truth",
       .table = cf_mixture_options,
       .size = sizeof(cf_mixture_opts)},
  };

  if (i < 0 || i >= (int64_t)(sizeof heads / sizeof heads[0])) {
    return false;
  }
  *entry = heads[i];
  return true;
}

const weir_opt cf_model_options[] = {
    WEIR_OPT_ONE_OF(cf_model_opts, net, entry_of, "the network; none named: " USUAL),
    WEIR_OPT_ONE_OF(cf_model_opts, head, head_of,
                    "what a network that estimates parameters computes; none named: estimate"),
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

int64_t cf_model_components(const cf_model_opts *o)
{
  const cf_mixture_opts *const m = o->head.opts;

  return o->head.name == NULL || strcmp(o->head.name, MIXTURE) != 0 ? 0 : m->components;
}

int64_t cf_model_outputs(const cf_model_opts *o, int64_t labels)
{
  const int64_t components = cf_model_components(o);

  return components > 0 ? cf_mixture_outputs(components, labels) : labels;
}

static weir_status check_head(const cf_model_opts *o, const cf_net *net)
{
  if (net->target == CF_SEGMENT) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.head: %s makes a class of every voxel, and a posterior is of "
                     "parameters: leave model.head out",
                     net->name);
  }
  return o->loss == CF_LOSS_DEFAULT
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "model.loss: the head mixture is trained for the log density of the "
                         "truth: leave model.loss out");
}

weir_status cf_model_loss_kind(const cf_model_opts *o, cf_loss *out)
{
  const cf_net *const net = cf_model_net(o);
  const cf_loss loss = o->loss == CF_LOSS_DEFAULT ? net->loss : (cf_loss)o->loss;

  if (cf_model_components(o) > 0) {
    WEIR_TRY(check_head(o, net));
    *out = CF_LOSS_DENSITY;
    return WEIR_OK;
  }
  if ((loss == CF_LOSS_ENTROPY) != (net->target == CF_SEGMENT)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.loss: %s makes %s, whose loss is %s; leave model.loss out for its own",
                     net->name, net->target == CF_SEGMENT ? "a class of every voxel" : "numbers",
                     net->target == CF_SEGMENT ? "cross_entropy" : "mse or mae");
  }
  *out = loss;
  return WEIR_OK;
}

/* Copies the options of the network, or its defaults, into *out, which the caller frees. */
static weir_status copy_opts(const cf_model_opts *o, const cf_net *net, void **out)
{
  if (net->opts == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(1, net->opts_size, out));
  if (o->net.opts != NULL) {
    memcpy(*out, o->net.opts, net->opts_size);
  } else {
    weir_opts_default(net->opts, net->opts_size, *out);
  }
  if (net->bound > 0 && cf_model_components(o) > 0) { /* logits and the like have no bounds */
    memcpy((char *)*out + net->bound, &(double){0}, sizeof(double));
  }
  return WEIR_OK;
}

weir_value cf_model_apply(weir_net *net, const cf_model_opts *o, int64_t outputs, weir_value x)
{
  const cf_net *const chosen = cf_model_net(o);
  void *opts = NULL;
  const weir_status status = copy_opts(o, chosen, &opts);

  if (status != WEIR_OK) {
    return weir_graph_fail(net->graph, status);
  }
  const weir_value y = chosen->build(net, opts, cf_model_outputs(o, outputs), x);

  weir_free(&opts);
  return y;
}

weir_value cf_model_estimate(weir_graph *g, const cf_model_opts *o, int64_t labels, weir_value made)
{
  const int64_t components = cf_model_components(o);

  return components > 0 ? cf_mixture_mean(g, components, labels, made) : made;
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
  case CF_LOSS_DENSITY:
    return weir_loss_mean(
        g, weir_neg(g, cf_mixture_log_density(g, cf_model_components(o), made, truth)), weights);
  case CF_LOSS_ENTROPY:
    return weir_loss_categorical(g, &(weir_categorical_spec){.smoothing = 0}, made, truth, weights);
  default:
    return weir_loss_mse(g, made, truth, weights);
  }
}
