/* network.c - see network.h. */
#include "model/network.h"
#include <math.h>
#include <string.h>
#include "model/family_crps.h"
#include "model/members.h"
#include "model/members_crps.h"
#include "model/roughness.h"
#include "nn/weir_activation.h"
#include "ops/concat/weir_concat.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/slice/weir_slice.h"
#include "tensor/weir_tensor.h"

#define SOFTPLUS_IS_ONE 0.54132485461291804 /* log(e - 1) */

const weir_opt wx_model_options[] = {
    WEIR_OPT_ENUM(wx_model_opts, net, WX_UNET, WX_KIND_CHOICES,
                  "a U-Net; parallel convolutions at full size (spread net of arXiv:2005.08748); "
                  "dense, a fully connected network of each station or grid point by itself; or a "
                  "transformer over patches of the grid",
                  .choice_aliases = "incep=inception"),
    WEIR_OPT_ENUM(wx_model_opts, head, WX_HEAD_GAUSS, WX_HEAD_CHOICES,
                  "what is made: a corrected mean; mean and standard deviation; the standard "
                  "deviation alone, around the mean as it is; every member corrected by itself, "
                  "with the same weights"),
    WEIR_OPT_ENUM(
        wx_model_opts, loss, WX_LOSS_CRPS, WX_LOSS_CHOICES,
        "CRPS of the distribution (heads gauss, spread) or of the members (head members); mean "
        "squared or absolute error (head mean; head spread where data.label is a spread)"),
    WEIR_OPT_ENUM(
        wx_model_opts, coupling, WX_COUPLING_MEAN, WX_COUPLING_CHOICES,
        "what a network knows of the members: their mean and spread (mean); head members only: "
        "each corrected from itself alone (none; then data.mean and data.spread are false); net "
        "transformer: all of them, each a token at every patch, which attends to the others "
        "(attention)"),
    WEIR_OPT_REAL(
        wx_model_opts, alpha, 0, 0, 1, "1",
        "head members: 0 is the CRPS of their empirical distribution (kernel CRPS), 1 the "
        "fair one, between them the almost fair one (arXiv:2412.15832: 0.95); above 0 "
        "with coupling none alone, as members that know of each other make it unfair"),
    WEIR_OPT_ENUM(wx_model_opts, shift, WX_SHIFT_UNIT, WX_SHIFT_CHOICES,
                  "what the correction of the mean is counted in: root mean square of what the raw "
                  "mean lacks, or the raw spread of the grid point (arXiv:2206.14786)"),
    WEIR_OPT_REAL(wx_model_opts, floor, 1e-3, 0, 1e3, "1",
                  "added to the standard deviation, in units of what the raw mean lacks"),
    WEIR_OPT_REAL(wx_model_opts, min_spread, 0.01, 1e-6, 1e3, "1",
                  "minimum raw spread that is scaled, in the same units", .alias = "least_spread"),
    WEIR_OPT_REAL(wx_model_opts, smooth, 0, 0, 1e6, "1",
                  "unet.locally_connected: weight of the roughness of the local weights in the "
                  "loss (alpha of "
                  "arXiv:2005.08748; 10 there)"),
    WEIR_OPT_LIST(wx_model_opts, distributions, wx_output_row, wx_output_row_options,
                  WX_OUTPUT_ROWS,
                  "head gauss: distributions that are not normal, as [{quantity: ws500, family: "
                  "truncated_normal, lower: 0}]"),
    WEIR_OPT_TABLE(wx_model_opts, unet, weir_unet_options,
                   "the U-Net: level or lead, lat, lon are z, y, x"),
    WEIR_OPT_TABLE(
        wx_model_opts, inception, weir_inception_options,
        "parallel convolutions; inception.control is set to the channels of the trajectory, "
        "inception.carry of -1 to the raw spread of the first target",
        .alias = "incep"),
    WEIR_OPT_TABLE(wx_model_opts, dense, wx_dense_options,
                   "fully connected, with an embedding of each position (Rasp and Lerch 2018)"),
    WEIR_OPT_TABLE(wx_model_opts, transformer, weir_transformer_options,
                   "the transformer: level or lead, lat, lon are z, y, x"),
    WEIR_OPT_END,
};

const char *const wx_input_name[WX_INPUTS] = {
    "x", "y", "s", "w", "lower", "extra", WX_MEMBERS_NAME};
const char *const wx_metric[WX_METRICS] = {"mse"};

static const char *const head_name[] = {"mean", "gauss", "spread", "members"};
static const char *const coupling_name[] = {"mean", "none", "attention"};

bool wx_model_takes_members(const wx_model_opts *o)
{
  return o->head == WX_HEAD_MEMBERS || o->coupling == WX_COUPLING_ATTENTION;
}

int wx_network_inputs(const wx_network *network, int input[WX_INPUTS])
{
  int n = 0;

  for (int k = 0; k < WX_INPUTS; k++) {
    const wx_output *output = network->output;
    const bool takes = k == WX_IN_LOWER ? output != NULL && wx_outputs_bounded(output, network->n_y)
                       : k == WX_IN_EXTRA ? output != NULL && wx_outputs_extra(output, network->n_y)
                       : k == WX_IN_MEMBERS ? wx_model_takes_members(network->opts)
                                            : true;

    if (takes) {
      input[n++] = k;
    }
  }
  return n;
}

weir_status wx_network_check(const char *section, const wx_model_opts *o, bool of_spread)
{
  const bool crps = o->loss == WX_LOSS_CRPS;
  const bool fits = o->head == WX_HEAD_MEAN     ? !crps && !of_spread
                    : o->head != WX_HEAD_SPREAD ? crps && !of_spread
                                                : crps == !of_spread;

  if (!fits) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: head mean takes loss mse or mae, heads gauss and members crps, head "
                     "spread crps, or mse or mae where data.label is spread",
                     section);
  }
  WEIR_TRY(wx_outputs_check(&o->distributions));
  if (o->coupling == WX_COUPLING_ATTENTION && o->net != WX_TRANSFORMER) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.coupling: attention is between the tokens of a transformer: set model.net "
                     "to transformer, or model.coupling to mean",
                     section);
  }
  if (o->head == WX_HEAD_MEMBERS && o->coupling != WX_COUPLING_NONE && o->alpha > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.alpha: %g with coupling %s: the fair CRPS takes members for independent "
                     "draws, and rewards those that know of each other for too much spread "
                     "(arXiv:2602.15830): set model.alpha to 0, or model.coupling to none",
                     section, o->alpha, coupling_name[o->coupling]);
  }
  if (o->head == WX_HEAD_MEMBERS && o->coupling == WX_COUPLING_NONE &&
      o->shift == WX_SHIFT_SPREAD) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.shift: the spread is that of all members, and with coupling none each is "
                     "corrected from itself alone: set model.shift to unit",
                     section);
  }
  if (o->distributions.count > 0 && o->head != WX_HEAD_GAUSS) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: head %s makes no location and scale of distributions: set model.head to "
                     "gauss, or leave distributions empty",
                     section, head_name[o->head]);
  }
  if (o->head != WX_HEAD_MEMBERS && o->coupling == WX_COUPLING_NONE) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.coupling: none corrects each member from itself alone, and head %s makes "
                     "no members: set model.head to members, or model.coupling to mean",
                     section, head_name[o->head]);
  }
  if (o->net == WX_UNET && o->unet.residual) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s.unet.residual: the network makes what the forecast lacks anyway", section);
  }
  return WEIR_OK;
}

/* What the network puts out, n channels. members: as of weir_transformer. */
static weir_value body(weir_net *net, const wx_network *w, int64_t members, int64_t n, weir_value x)
{
  if (w->opts->net == WX_UNET) {
    return weir_unet(net, &w->opts->unet, n, x);
  }
  if (w->opts->net == WX_DENSE) {
    return wx_dense(net, &w->opts->dense, n, x);
  }
  if (w->opts->net == WX_TRANSFORMER) {
    return weir_transformer(net, &w->opts->transformer, members, n, x);
  }
  weir_inception_opts o = w->opts->inception;

  o.control = w->n_trajectory;
  o.carry = o.carry < 0 ? w->carry : o.carry;
  return weir_inception(net, &o, n, x);
}

/* s_f softplus(b + b0) + floor. */
static weir_value scale(weir_graph *g, const wx_model_opts *o, weir_value s, weir_value b)
{
  const weir_activation softplus = {.kind = WEIR_ACTIVATION_SOFTPLUS};
  const weir_value shifted = weir_right_at(g, WEIR_CODE_ADD, b, SOFTPLUS_IS_ONE, WEIR_WHERE);
  const weir_value factor = weir_activation_at(g, &softplus, shifted, WEIR_WHERE);
  const weir_value floored = weir_left_at(g, WEIR_CODE_MAX, o->min_spread, s, WEIR_WHERE);

  return weir_right_at(g, WEIR_CODE_ADD, weir_mul(g, floored, factor), o->floor, WEIR_WHERE);
}

/* The scale of a logistic distribution is sd sqrt(3) / pi. */
static weir_value scale_of_family(weir_graph *g, const wx_network *w, weir_value sd)
{
  const double pi = 3.14159265358979323846;
  const weir_array_desc *const d = weir_value_desc(g, sd);
  weir_value factor = WEIR_NO_VALUE;
  bool logistic = false;
  weir_tensor t;

  for (int64_t c = 0; c < w->n_y && w->output != NULL; c++) {
    logistic = logistic || wx_family_is_logistic(w->output[c].family);
  }
  if (!logistic || d == NULL) {
    return sd;
  }
  const weir_status status = weir_tensor_init(&t, d->dtype, 1, &w->n_y);

  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  for (int64_t c = 0; c < w->n_y; c++) {
    weir_dtype_store_real(d->dtype, t.data, c,
                          wx_family_is_logistic(w->output[c].family) ? sqrt(3) / pi : 1);
  }
  factor = weir_constant(g, &t);
  weir_tensor_fini(&t);
  return weir_mul(g, sd, factor);
}

/* What the network puts out of every member, [n, m, .., channels]. */
static weir_value body_of_members(weir_net *net, const wx_network *w, int64_t channels,
                                  weir_value x, weir_value d)
{
  const weir_array_desc *const is = weir_value_desc(net->graph, d);
  const bool sets = w->opts->coupling == WX_COUPLING_ATTENTION && is != NULL;
  const weir_value each = wx_members_fold(net->graph, x, d);

  return wx_members_unfold(net->graph, body(net, w, sets ? is->shape[1] : 0, channels, each), d);
}

/* a + softplus(b + b0) d of every member. */
static weir_value correct_members(weir_net *net, const wx_network *network, weir_value x,
                                  weir_value s, weir_value d)
{
  const weir_activation softplus = {.kind = WEIR_ACTIVATION_SOFTPLUS};
  const wx_model_opts *const o = network->opts;
  weir_graph *const g = net->graph;
  const weir_value out = body_of_members(net, network, 2 * network->n_y, x, d);
  const weir_array_desc *const made = weir_value_desc(g, out);

  if (made == NULL) {
    return WEIR_NO_VALUE;
  }
  weir_value a = weir_slice(g, out, made->rank - 1, 0, network->n_y, 1);
  const weir_value b = weir_slice(g, out, made->rank - 1, network->n_y, WEIR_SLICE_END, 1);
  const weir_value shifted = weir_right_at(g, WEIR_CODE_ADD, b, SOFTPLUS_IS_ONE, WEIR_WHERE);
  const weir_value factor = weir_activation_at(g, &softplus, shifted, WEIR_WHERE);

  a = o->shift == WX_SHIFT_SPREAD ? weir_mul(g, a, wx_members_shared(g, s)) : a;
  return weir_add(g, a, weir_mul(g, factor, d));
}

/* Their mean. */
static weir_value mean_of_members(weir_graph *g, weir_value members)
{
  const weir_array_desc *const d = weir_value_desc(g, members);

  return d == NULL ? WEIR_NO_VALUE
                   : weir_scale(g, weir_sum(g, members, 1), 1 / (double)d->shape[1]);
}

/* The same of the distribution of all of them. */
static weir_value body_of_all(weir_net *net, const wx_network *w, int64_t channels, weir_value x,
                              weir_value d)
{
  return w->opts->coupling == WX_COUPLING_ATTENTION
             ? mean_of_members(net->graph, body_of_members(net, w, channels, x, d))
             : body(net, w, 0, channels, x);
}

wx_made wx_network_apply(weir_net *net, const wx_network *network, weir_value x, weir_value s,
                         weir_value members)
{
  const wx_model_opts *o = network->opts;
  wx_made made = {WEIR_NO_VALUE, WEIR_NO_VALUE, WEIR_NO_VALUE};

  if (o->head == WX_HEAD_MEMBERS) {
    made.members = correct_members(net, network, x, s, members);
    return made;
  }
  const int64_t n = network->n_y;
  const weir_array_desc *d = weir_value_desc(net->graph, x);
  const int last = d != NULL ? d->rank - 1 : 0;
  weir_value a = body_of_all(net, network, o->head == WX_HEAD_GAUSS ? 2 * n : n, x, members), b = a;

  if (o->head == WX_HEAD_GAUSS) {
    a = weir_slice(net->graph, b, last, 0, n, 1);
    b = weir_slice(net->graph, b, last, n, WEIR_SLICE_END, 1);
  }
  if (o->head != WX_HEAD_SPREAD) {
    made.mean = o->shift == WX_SHIFT_SPREAD ? weir_mul(net->graph, a, s) : a;
  }
  if (o->head != WX_HEAD_MEAN) {
    made.sigma = scale_of_family(net->graph, network, scale(net->graph, o, s, b));
  }
  return made;
}

/* The roughness of the local layer, where there is one and it matters. */
static weir_value add_roughness(weir_net *net, const wx_model_opts *o, weir_value loss)
{
  if (o->net != WX_UNET || o->unet.locally_connected == 0 || o->smooth == 0) {
    return loss;
  }
  const bool wraps = weir_nn_border_of(&o->unet.border, 1, 0) == WEIR_BORDER_WRAP;
  const weir_value rough = wx_roughness(net, "local/weight", "local/bias", wraps);

  return weir_add(net->graph, loss,
                  weir_right_at(net->graph, WEIR_CODE_MUL, rough, o->smooth, WEIR_WHERE));
}

/* As wx_output_location. */
static weir_value location_of(weir_graph *g, wx_family family, const weir_value of[WX_OF])
{
  if (family != WX_CENSORED_SHIFTED_GAMMA) {
    return of[WX_OF_LOCATION];
  }
  const weir_value begin = weir_sub(g, of[WX_OF_LOWER], of[WX_OF_EXTRA]);
  const weir_value d = weir_sub(g, of[WX_OF_LOCATION], begin);
  const weir_value round = weir_square(g, weir_scale(g, of[WX_OF_SCALE], WX_OUTPUT_ROUNDING));
  const weir_value root = weir_sqrt(g, weir_add(g, weir_square(g, d), round));

  return weir_add(g, begin, weir_scale(g, weir_add(g, d, root), 0.5));
}

/* Channel c of each; no shift or upper bound where its distribution has none. */
static void take_channel(weir_graph *g, const wx_network *w, const weir_value of[WX_OF], int64_t c,
                         weir_value own[WX_OF])
{
  const weir_array_desc *const d = weir_value_desc(g, of[WX_OF_LOCATION]);

  for (int k = 0; k < WX_OF; k++) {
    const bool has = of[k].node >= 0 && (k != WX_OF_EXTRA || wx_output_extra(&w->output[c]) > 0);

    own[k] = d != NULL && has ? weir_slice(g, of[k], d->rank - 1, c, c + 1, 1) : WEIR_NO_VALUE;
  }
}

/* Whether the distributions of all channels differ in numbers alone. */
static bool are_alike(const wx_network *w)
{
  bool alike = true;

  for (int64_t c = 1; c < w->n_y && w->output != NULL; c++) {
    alike = alike && w->output[c].family == w->output[0].family &&
            (w->output[c].width > 0) == (w->output[0].width > 0);
  }
  return alike;
}

/* The locations that the network's outputs of[WX_OF_LOCATION] stand for. */
static weir_value locations(weir_graph *g, const wx_network *w, const weir_value of[WX_OF])
{
  const weir_array_desc *const d = weir_value_desc(g, of[WX_OF_LOCATION]);
  weir_value each[WX_CHANNELS];

  if (d == NULL || w->output == NULL || !wx_outputs_extra(w->output, w->n_y)) {
    return of[WX_OF_LOCATION];
  }
  if (are_alike(w)) {
    return location_of(g, w->output[0].family, of);
  }
  for (int64_t c = 0; c < w->n_y; c++) {
    weir_value own[WX_OF];

    take_channel(g, w, of, c, own);
    each[c] = location_of(g, w->output[c].family, own);
  }
  return weir_concat(g, each, (int)w->n_y, d->rank - 1);
}

/* CRPS of every element: of all channels at once where their distributions are alike. */
static weir_value crps(weir_graph *g, const wx_network *w, const weir_value of[WX_OF])
{
  const weir_array_desc *const d = weir_value_desc(g, of[WX_OF_LOCATION]);
  weir_value each[WX_CHANNELS];

  if (are_alike(w) || d == NULL) {
    return wx_family_crps(g, w->output != NULL ? w->output[0].family : WX_NORMAL, of);
  }
  for (int64_t c = 0; c < w->n_y; c++) {
    weir_value own[WX_OF];

    take_channel(g, w, of, c, own);
    each[c] = wx_family_crps(g, w->output[c].family, own);
  }
  return weir_concat(g, each, (int)w->n_y, d->rank - 1);
}

/* Of the members, or of the distribution. */
static weir_value score(weir_graph *g, const wx_network *w, wx_made made,
                        const weir_value of[WX_OF])
{
  return w->opts->head == WX_HEAD_MEMBERS
             ? wx_members_crps(g, w->opts->alpha, made.members, of[WX_OF_TRUTH])
             : crps(g, w, of);
}

weir_status wx_network_build(weir_net *net, const void *opts, const weir_value *in,
                             weir_value *loss)
{
  const wx_network *network = opts;
  const wx_model_opts *o = network->opts;
  const weir_value y = in[WX_IN_Y], w = in[WX_IN_W];
  weir_value rest[WX_INPUTS];
  int input[WX_INPUTS];

  for (int k = 0; k < WX_INPUTS; k++) {
    rest[k] = WEIR_NO_VALUE;
  }
  for (int i = wx_network_inputs(network, input) - 1; i >= WX_IN_LOWER; i--) {
    rest[input[i]] = in[i];
  }
  const bool each = o->head == WX_HEAD_MEMBERS;
  weir_graph *g = net->graph;
  const wx_made made =
      wx_network_apply(net, network, in[WX_IN_X], in[WX_IN_S], rest[WX_IN_MEMBERS]);
  const weir_value mean = each ? mean_of_members(g, made.members) : made.mean, sigma = made.sigma;
  const weir_value none = weir_right_at(g, WEIR_CODE_MUL, in[WX_IN_S], 0, WEIR_WHERE);
  const bool of_sigma = o->head == WX_HEAD_SPREAD && o->loss != WX_LOSS_CRPS;
  const weir_value there = weir_loss_present(g, y, w);
  weir_value of[WX_OF] = {[WX_OF_LOCATION] = of_sigma                    ? sigma
                                             : o->head == WX_HEAD_SPREAD ? none
                                                                         : mean,
                          [WX_OF_SCALE] = sigma,
                          [WX_OF_LOWER] = rest[WX_IN_LOWER],
                          [WX_OF_EXTRA] = rest[WX_IN_EXTRA],
                          [WX_OF_TRUTH] = there};
  const weir_value guess = of[WX_OF_LOCATION] = locations(g, network, of);
  const weir_value square = weir_loss_mse(g, guess, y, w);

  weir_output(g, wx_metric[0], square);
  weir_output(g, WX_WEIGHT, weir_loss_weight(g, y, w));
  switch ((wx_loss)o->loss) {
  case WX_LOSS_MSE:
    *loss = square;
    break;
  case WX_LOSS_MAE:
    *loss = weir_loss_mae(g, guess, y, w);
    break;
  default:
    *loss = weir_loss_mean(g, score(g, network, made, of), w);
    break;
  }
  *loss = add_roughness(net, o, *loss);
  return weir_graph_status(g);
}
