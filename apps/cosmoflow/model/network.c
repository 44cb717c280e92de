/* network.c - see network.h. */
#include "model/network.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "model/moments.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"

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

static const weir_opt_choice heads[CF_HEADS] = {
    [CF_HEAD_ESTIMATE] = {.name = "estimate", .help = "a number for each parameter"},
    [CF_HEAD_MIXTURE] = {.name = "mixture",
                         .help =
                             "the posterior of the parameters: a mixture of Gaussians with full "
                             "covariances (Bishop 1994), trained for the log density of the "
                             "truth",
                         .table = cf_mixture_options,
                         .size = sizeof(cf_mixture_opts)},
    [CF_HEAD_FLOW] = {.name = "flow",
                      .help = "the posterior of two or more parameters: a masked autoregressive "
                              "flow (Papamakarios et al. 2017), trained for the log density of the "
                              "truth",
                      .table = cf_flow_options,
                      .size = sizeof(cf_flow_opts)},
    [CF_HEAD_MOMENTS] = {.name = "moments",
                         .help = "mean and covariance of the posterior, by squared errors (Jeffrey "
                                 "and Wandelt 2020); no density and no draws"},
};

/* What the outputs are: entry i. */
static bool head_of(int64_t i, weir_opt_choice *entry)
{
  if (i < 0 || i >= CF_HEADS) {
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

cf_head cf_model_head(const cf_model_opts *o)
{
  int head = CF_HEAD_ESTIMATE;

  for (int i = 0; i < CF_HEADS && o->head.name != NULL; i++) {
    head = strcmp(heads[i].name, o->head.name) == 0 ? i : head;
  }
  return (cf_head)head;
}

int64_t cf_model_components(const cf_model_opts *o)
{
  switch (cf_model_head(o)) {
  case CF_HEAD_MIXTURE:
    return ((const cf_mixture_opts *)o->head.opts)->components;
  case CF_HEAD_MOMENTS:
    return 1;
  default:
    return 0;
  }
}

cf_flow_shape cf_model_flow(const cf_model_opts *o, int64_t labels)
{
  const cf_flow_opts *const f = o->head.opts;

  return (cf_flow_shape){labels, f->features, f->transforms, f->hidden};
}

int64_t cf_model_outputs(const cf_model_opts *o, int64_t labels)
{
  switch (cf_model_head(o)) {
  case CF_HEAD_MIXTURE:
    return cf_mixture_outputs(cf_model_components(o), labels);
  case CF_HEAD_FLOW:
    return cf_model_flow(o, labels).features;
  case CF_HEAD_MOMENTS:
    return cf_moments_outputs(labels);
  default:
    return labels;
  }
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
             : weir_fail(WEIR_ERR_CONFIG, "model.loss: the head %s has %s: leave model.loss out",
                         o->head.name,
                         cf_model_head(o) == CF_HEAD_MOMENTS
                             ? "a loss of its own"
                             : "the log density of the truth as its loss");
}

weir_status cf_model_loss_kind(const cf_model_opts *o, cf_loss *out)
{
  const cf_net *const net = cf_model_net(o);
  const cf_loss loss = o->loss == CF_LOSS_DEFAULT ? net->loss : (cf_loss)o->loss;

  if (cf_model_head(o) != CF_HEAD_ESTIMATE) {
    WEIR_TRY(check_head(o, net));
    *out = cf_model_head(o) == CF_HEAD_MOMENTS ? CF_LOSS_MOMENTS : CF_LOSS_DENSITY;
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
  if (net->bound > 0 &&
      cf_model_head(o) != CF_HEAD_ESTIMATE) { /* logits and the like have no bounds */
    memcpy((char *)*out + net->bound, &(double){0}, sizeof(double));
  }
  return WEIR_OK;
}

cf_made cf_model_apply(weir_net *net, const cf_model_opts *o, int64_t outputs, weir_value x)
{
  const cf_net *const chosen = cf_model_net(o);
  cf_made made = {.y = WEIR_NO_VALUE};
  void *opts = NULL;
  const weir_status status = copy_opts(o, chosen, &opts);

  if (status != WEIR_OK) {
    made.y = weir_graph_fail(net->graph, status);
    return made;
  }
  made.y = chosen->build(net, opts, cf_model_outputs(o, outputs), x);
  weir_free(&opts);
  if (cf_model_head(o) == CF_HEAD_FLOW) {
    made.flow = cf_flow_declare(net, o->head.opts, outputs);
    made.y = weir_graph_status(net->graph) == WEIR_OK ? made.y : WEIR_NO_VALUE;
  }
  return made;
}

weir_value cf_model_estimate(weir_graph *g, const cf_model_opts *o, int64_t labels,
                             const cf_made *made)
{
  switch (cf_model_head(o)) {
  case CF_HEAD_MIXTURE:
    return cf_mixture_mean(g, cf_model_components(o), labels, made->y);
  case CF_HEAD_FLOW:
    return cf_flow_graph_centre(g, &made->flow, made->y);
  case CF_HEAD_MOMENTS:
    return cf_moments_mean(g, labels, made->y);
  default:
    return made->y;
  }
}

static weir_value log_density(weir_graph *g, const cf_model_opts *o, const cf_made *made,
                              weir_value truth)
{
  return cf_model_head(o) == CF_HEAD_FLOW
             ? cf_flow_graph_log_density(g, &made->flow, made->y, truth)
             : cf_mixture_log_density(g, cf_model_components(o), made->y, truth);
}

weir_value cf_model_loss(weir_graph *g, const cf_model_opts *o, const cf_made *made,
                         weir_value truth, weir_value weights)
{
  cf_loss loss = CF_LOSS_DEFAULT;
  const weir_status status = cf_model_loss_kind(o, &loss);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  switch (loss) {
  case CF_LOSS_MAE:
    return weir_loss_mae(g, made->y, truth, weights);
  case CF_LOSS_DENSITY:
    return weir_loss_mean(g, weir_neg(g, log_density(g, o, made, truth)), weights);
  case CF_LOSS_MOMENTS:
    return weir_loss_mean(g, cf_moments_loss(g, made->y, truth), weights);
  case CF_LOSS_ENTROPY:
    return weir_loss_categorical(g, &(weir_categorical_spec){.smoothing = 0}, made->y, truth,
                                 weights);
  default:
    return weir_loss_mse(g, made->y, truth, weights);
  }
}
