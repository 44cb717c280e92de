/* weir_loss.h - losses: numbers of rank 0, made of ops, that training makes small.
 *
 * Every loss is a mean over all elements, or sum(w l) / sum(w) with weights that broadcast to them
 * (cell areas; 0 where truth is missing, which may then be NaN; never below 0; no weight at all:
 * 0). Prediction and truth have one float dtype and shape, the loss that dtype. Weights:
 * WEIR_NO_VALUE for none. On failure the value is invalid and the graph keeps the error. */
#ifndef WEIR_LOSS_H
#define WEIR_LOSS_H
#include "conf/weir_opt.h"
#include "ops/weir_builder.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Mean of squared, and of absolute differences. */
weir_value weir_loss_mse_at(weir_graph *g, weir_value prediction, weir_value truth,
                            weir_value weights, const char *where);
weir_value weir_loss_mae_at(weir_graph *g, weir_value prediction, weir_value truth,
                            weir_value weights, const char *where);

typedef enum weir_spread_form {
  WEIR_SPREAD_SOFTPLUS, /* sigma = floor + log(1 + exp(raw)) */
  WEIR_SPREAD_EXP,      /* sigma = floor + exp(raw), raw cut at 40 */
  WEIR_SPREAD_GIVEN,    /* sigma = max(floor, raw): no gradient below the floor */
} weir_spread_form;

/* How what a network puts out becomes a standard deviation. Rows: weir_sigma_opts. */
typedef struct weir_sigma_spec {
  int form;     /* weir_spread_form                             */
  double floor; /* least standard deviation, in units of truth; 0: 1e-3 */
} weir_sigma_spec;
extern const weir_opt weir_sigma_opts[];

/* The standard deviation, above 0 (of its dtype's smallest normal number) whatever raw is. */
weir_value weir_sigma_at(weir_graph *g, const weir_sigma_spec *spec, weir_value raw,
                         const char *where);
/* CRPS of a Gaussian, element by element, in units of truth (Gneiting et al. 2005, eq. 5):
 *   sigma (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)),  z = (truth - mean) / sigma.
 * Value and derivatives are finite for every finite mean and truth and sigma >= 0, 0 included: it
 * is then |truth - mean|. */
weir_value weir_crps_at(weir_graph *g, weir_value mean, weir_value sigma, weir_value truth,
                        const char *where);
/* Its mean, of a spread as the network puts it out. */
weir_value weir_loss_crps_at(weir_graph *g, const weir_sigma_spec *spec, weir_value mean,
                             weir_value raw, weir_value truth, weir_value weights,
                             const char *where);

/* Cross entropy of truth, a probability in [0, 1], under sigmoid(logits). */
weir_value weir_loss_bce_logits_at(weir_graph *g, weir_value logits, weir_value truth,
                                   weir_value weights, const char *where);

/* Rows: weir_categorical_opts. */
typedef struct weir_categorical_spec {
  double smoothing; /* share of every truth that is spread over all classes */
} weir_categorical_spec;
extern const weir_opt weir_categorical_opts[];

/* Cross entropy under softmax over the last dimension of logits [.., classes]. truth: integers
 * [..], numbers of classes (another number belongs to no class and has log-probability 0), or
 * probabilities [.., classes]; weights broadcast to [..]. */
weir_value weir_loss_categorical_at(weir_graph *g, const weir_categorical_spec *spec,
                                    weir_value logits, weir_value truth, weir_value weights,
                                    const char *where);

/* Mean of what a loss of one's own gives element by element, weighted as above. What has weight 0
 * must be finite all the same: weir_loss_present puts 0 for it. */
weir_value weir_loss_mean_at(weir_graph *g, weir_value loss, weir_value weights, const char *where);
weir_value weir_loss_present_at(weir_graph *g, weir_value truth, weir_value weights,
                                const char *where);
/* The weights of all elements added up, what such a mean divides by: means of parts that are to
 * make up that of the whole count as much (weir_train_task.weight). `loss`: of the shape of what is
 * weighted, such as truth. */
weir_value weir_loss_weight_at(weir_graph *g, weir_value loss, weir_value weights,
                               const char *where);

#define weir_loss_mse(g, prediction, truth, weights) \
  weir_loss_mse_at(g, prediction, truth, weights, WEIR_WHERE)
#define weir_loss_mae(g, prediction, truth, weights) \
  weir_loss_mae_at(g, prediction, truth, weights, WEIR_WHERE)
#define weir_spread(g, spec, raw) weir_sigma_at(g, spec, raw, WEIR_WHERE)
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
