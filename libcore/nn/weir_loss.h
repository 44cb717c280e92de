/* weir_loss.h - losses: scalars built from operators, minimised by training.
 *
 * Every loss is a mean over all elements, or sum(w l) / sum(w) with weights that broadcast to them
 * (cell areas; 0
 * where the target is missing, which may then be NaN; not negative; a zero sum of weights gives 0).
 * Prediction and target have one float dtype and shape, the loss that dtype. Weights: WEIR_NO_VALUE
 * for none. On failure the value is invalid and the graph keeps the error. */
#ifndef WEIR_LOSS_H
#define WEIR_LOSS_H
#include "conf/weir_opt.h"
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Mean squared error, and mean absolute error. */
weir_value weir_loss_mse_at(weir_graph *g, weir_value prediction, weir_value truth,
                            weir_value weights, const char *where);
weir_value weir_loss_mae_at(weir_graph *g, weir_value prediction, weir_value truth,
                            weir_value weights, const char *where);

typedef enum weir_sigma_form {
  WEIR_SPREAD_SOFTPLUS, /* sigma = floor + log(1 + exp(raw)) */
  WEIR_SPREAD_EXP,      /* sigma = floor + exp(raw), raw clamped at 40 */
  WEIR_SPREAD_GIVEN,    /* sigma = max(floor, raw): no gradient below the floor */
} weir_sigma_form;

/* Transform from network output to standard deviation. Rows: weir_sigma_opts. */
typedef struct weir_sigma_spec {
  int form;     /* weir_sigma_form                             */
  double floor; /* minimum standard deviation, in units of the target; 0: 1e-3 */
} weir_sigma_spec;
extern const weir_opt weir_sigma_opts[];

/* Appends the standard deviation, above 0 (at least the smallest normal number of its dtype) for
 * every raw. */
weir_value weir_sigma_at(weir_graph *g, const weir_sigma_spec *spec, weir_value raw,
                         const char *where);
/* CRPS of a Gaussian, element by element, in units of truth (Gneiting et al. 2005, eq. 5):
 *   sigma (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)),  z = (truth - mean) / sigma.
 * Value and derivatives are finite for every finite mean and truth and sigma >= 0, 0 included: it
 * is then |truth - mean|. */
weir_value weir_crps_at(weir_graph *g, weir_value mean, weir_value sigma, weir_value truth,
                        const char *where);
/* Appends the mean CRPS, with the standard deviation from the network output. */
weir_value weir_loss_crps_at(weir_graph *g, const weir_sigma_spec *spec, weir_value mean,
                             weir_value raw, weir_value truth, weir_value weights,
                             const char *where);

/* Appends the binary cross entropy of truth, a probability in [0, 1], under sigmoid(logits). */
weir_value weir_loss_bce_logits_at(weir_graph *g, weir_value logits, weir_value truth,
                                   weir_value weights, const char *where);

/* Rows: weir_categorical_opts. */
typedef struct weir_categorical_spec {
  double smoothing; /* label smoothing: fraction of each target distributed over all classes */
} weir_categorical_spec;
extern const weir_opt weir_categorical_opts[];

/* Appends the cross entropy under softmax over the last dimension of logits [.., classes]. truth:
 * integers [..], class indices (an index outside the classes has log-probability 0), or
 * probabilities [.., classes]; weights broadcast to [..]. */
weir_value weir_loss_categorical_at(weir_graph *g, const weir_categorical_spec *spec,
                                    weir_value logits, weir_value truth, weir_value weights,
                                    const char *where);

/* Appends the mean of a custom elementwise loss, weighted as above. Elements of weight 0 must still
 * be finite: weir_loss_present replaces them by 0. */
weir_value weir_loss_mean_at(weir_graph *g, weir_value loss, weir_value weights, const char *where);
weir_value weir_loss_present_at(weir_graph *g, weir_value truth, weir_value weights,
                                const char *where);
/* Appends the sum of the weights of all elements, the denominator of such a mean: the weight of a
 * batch in the mean over several (weir_train_task.weight). `loss`: of the shape of the weighted
 * values, such as truth. */
weir_value weir_loss_weight_at(weir_graph *g, weir_value loss, weir_value weights,
                               const char *where);

#define weir_loss_mse(g, prediction, truth, weights) \
  weir_loss_mse_at(g, prediction, truth, weights, WEIR_WHERE)
#define weir_loss_mae(g, prediction, truth, weights) \
  weir_loss_mae_at(g, prediction, truth, weights, WEIR_WHERE)
#define weir_sigma(g, spec, raw) weir_sigma_at(g, spec, raw, WEIR_WHERE)
#define weir_crps(g, mean, sigma, truth) weir_crps_at(g, mean, sigma, truth, WEIR_WHERE)
#define weir_loss_crps(g, spec, mean, raw, truth, weights) \
  weir_loss_crps_at(g, spec, mean, raw, truth, weights, WEIR_WHERE)
#define weir_loss_bce_logits(g, logits, truth, weights) \
  weir_loss_bce_logits_at(g, logits, truth, weights, WEIR_WHERE)
#define weir_loss_categorical(g, spec, logits, truth, weights) \
  weir_loss_categorical_at(g, spec, logits, truth, weights, WEIR_WHERE)
#define weir_loss_mean(g, loss, weights) weir_loss_mean_at(g, loss, weights, WEIR_WHERE)
#define weir_loss_weight(g, loss, weights) weir_loss_weight_at(g, loss, weights, WEIR_WHERE)
#define weir_loss_present(g, truth, weights) weir_loss_present_at(g, truth, weights, WEIR_WHERE)

#ifdef __cplusplus
}
#endif
#endif
