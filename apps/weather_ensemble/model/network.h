/* network.h - the networks that correct an ensemble, their heads and losses. In units of the
 * statistics (data/samples/standard.h) throughout: y is what the raw mean lacks.
 *
 *   head mean    mean = a                                  bias net of arXiv:2005.08748
 *   head gauss   mean = a,  sigma = s_f softplus(b + b0) + floor
 *   head spread  mean = 0,  sigma as above                 spread net, the mean frozen
 *   head members member = a + softplus(b + b0) d           a, b of every member d by itself
 *
 * Of quantities that `distributions` names, head gauss makes location and scale of another
 * distribution: the mean and standard deviation of the whole one, before a bound cuts it.
 *
 * a and b are what the network puts out; s the raw spread, s_f the larger of it and min_spread;
 * softplus(b0) = 1, so that a = b = 0 is the raw ensemble as a Gaussian. shift spread: a counts in
 * spreads (arXiv:2206.14786). d is what a member differs from the raw mean by. The network sees x
 * and d of all targets, with the same weights for every member: members in another order are
 * corrected to the same values in that order. coupling none: y and d are counted from the climate
 * of the training samples (data/samples/standard.h) instead, and x has nothing of the members, so
 * that each is corrected from itself alone. coupling attention: the members of a sample, each x and
 * its d, are a set to the transformer (nn/weir_transformer.h); a and b of other heads than members
 * are means over the members of what it puts out. */
#ifndef WX_NETWORK_H
#define WX_NETWORK_H
#include "model/dense.h"
#include "model/outputs.h"
#include "nn/weir_inception.h"
#include "nn/weir_loss.h"
#include "nn/weir_transformer.h"
#include "nn/weir_unet.h"

typedef enum wx_head { WX_HEAD_MEAN, WX_HEAD_GAUSS, WX_HEAD_SPREAD, WX_HEAD_MEMBERS } wx_head;
#define WX_HEAD_CHOICES "mean|gauss|spread|members"
typedef enum wx_coupling { WX_COUPLING_MEAN, WX_COUPLING_NONE, WX_COUPLING_ATTENTION } wx_coupling;
#define WX_COUPLING_CHOICES "mean|none|attention"
typedef enum wx_kind { WX_UNET, WX_INCEPTION, WX_DENSE, WX_TRANSFORMER } wx_kind;
#define WX_KIND_CHOICES "unet|inception|dense|transformer"
typedef enum wx_loss { WX_LOSS_MSE, WX_LOSS_MAE, WX_LOSS_CRPS } wx_loss;
#define WX_LOSS_CHOICES "mse|mae|crps"
typedef enum wx_shift { WX_SHIFT_UNIT, WX_SHIFT_SPREAD } wx_shift;
#define WX_SHIFT_CHOICES "unit|spread"

typedef struct wx_model_opts {
  int net, head, loss, shift, coupling;
  double floor, min_spread, smooth, alpha;
  weir_struct_list distributions; /* wx_output_row */
  weir_unet_opts unet;
  weir_inception_opts inception;
  wx_dense_opts dense;
  weir_transformer_opts transformer;
} wx_model_opts;
extern const weir_opt wx_model_options[];

/* What is built. n_trajectory, carry: as in wx_info. */
typedef struct wx_network {
  const wx_model_opts *opts;
  const wx_output *output; /* [n_y]; NULL: normal distributions */
  int64_t n_y, n_trajectory, carry;
} wx_network;

/* Inputs of the task: x [n, space.., channels]; y, s, weights [n, space.., n_y]; after them those
 * of the rest that the network takes: where a distribution has them, the lower bound (counted as y
 * is) and its shift or the width to its upper bound (in the units of y), [n, space.., n_y]; d of
 * the members [n, m, space.., n_y].
 */
enum {
  WX_IN_X,
  WX_IN_Y,
  WX_IN_S,
  WX_IN_W,
  WX_IN_LOWER,
  WX_IN_EXTRA,
  WX_IN_MEMBERS,
  WX_INPUTS,
  WX_BOUNDS = WX_IN_MEMBERS - WX_IN_LOWER
};
extern const char *const wx_input_name[WX_INPUTS];
#define WX_MEMBERS_NAME "members"
/* Returns whether a network takes the members themselves. */
bool wx_model_takes_members(const wx_model_opts *o);
/* Lists the inputs that a network takes, in their order; returns how many. */
int wx_network_inputs(const wx_network *network, int input[WX_INPUTS]);
/* What the validation reports as well as the loss, mse: the mean squared error of the mean, of the
 * location of distributions that are not normal, or of the spread where that is the label. And how
 * much a batch counts. */
enum { WX_METRICS = 1 };
extern const char *const wx_metric[WX_METRICS];
#define WX_WEIGHT "counted"

/* Checks whether head, loss and label go together. Fails: WEIR_ERR_CONFIG, naming `section`. */
weir_status wx_network_check(const char *section, const wx_model_opts *o,
                             bool of_spread) WEIR_CHECKED;
/* What a network makes; invalid where the head makes none. */
typedef struct wx_made {
  weir_value mean, sigma; /* or location and scale of the distribution, [n, space.., n_y] */
  weir_value members;     /* [n, m, space.., n_y] */
} wx_made;
/* Appends the network. members: as the input, which only a network that takes members reads. */
wx_made wx_network_apply(weir_net *net, const wx_network *network, weir_value x, weir_value s,
                         weir_value members);
/* Builds the loss, as weir_train_task.build, of the inputs that it takes; opts: the wx_network. */
weir_status wx_network_build(weir_net *net, const void *opts, const weir_value *in,
                             weir_value *loss) WEIR_CHECKED;
#endif
