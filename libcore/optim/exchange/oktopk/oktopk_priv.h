/* oktopk_priv.h - options of the policy, and the measurement of its error. */
#ifndef WEIR_OKTOPK_PRIV_H
#define WEIR_OKTOPK_PRIV_H
#include "optim/exchange_sparse.h"

enum { OKTOPK_BALANCED, OKTOPK_EQUAL };

struct oktopk_opts {
  double density;
  int64_t dense_steps;
  double reselect_factor;
  int64_t threshold_period, region_period;
  double local_scale, global_scale, band;
  int regions;
  int64_t error_period;
};

/* Measures how far the result of a step is from the k largest elements of the sum of all residuals
 * and gradients, relative to the sum of the gradients, in L2 norms: xi of assumption 1 of Li and
 * Hoefler 2022. It takes two dense sums. */
typedef struct oktopk_error {
  int64_t period; /* steps from one measurement to the next; 0: none */
  void *gradient; /* [count] sum of gradients, then the result */
  void *residual; /* [count] sum of residuals with gradients */
  weir_request *sum_gradient, *sum_residual;
} oktopk_error;

/* Opens it for the steps of x. Collective. Fails on all ranks alike: WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL. */
weir_status oktopk_error_open(const exchange_sparse *x, int64_t period,
                              oktopk_error *out) WEIR_CHECKED;
void oktopk_error_close(oktopk_error *e);
/* Takes the gradient before a step, and the residual once that is added. Local. */
void oktopk_error_gradient(oktopk_error *e, const exchange_sparse *x);
void oktopk_error_residual(oktopk_error *e, const exchange_sparse *x);
/* Reports the error of the step that the parts have the result of, in the event `exchange_error`.
 * Collective. Fails: as weir_request_run. */
weir_status oktopk_error_report(oktopk_error *e, exchange_sparse *x) WEIR_CHECKED;

#endif
