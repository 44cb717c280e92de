/* posterior.c - posteriors of what a network computes, for predictions.nc; see predict.h.
 */
#include <math.h>
#include "model/moments.h"
#include "predict/predict.h"

/* Copies the flow's weights from the parameters of the network. */
static weir_status take_flow(const cf_predict *w, cf_flow *f)
{
  const weir_tensor *all = NULL;
  double *to = f->weight;

  WEIR_TRY(weir_store_read(w->estimator.store, WEIR_PARAMS_FLAT, &all));
  for (int p = 0; p < CF_FLOW_PARTS; p++) {
    const int64_t i = weir_params_find(w->estimator.params, cf_flow_param((cf_flow_part)p));
    const weir_param_row *const row = weir_params_get(w->estimator.params, i);

    for (int64_t k = 0; k < row->count; k++) {
      *to++ = weir_dtype_load_real(all->dtype, all->data, row->first + k);
    }
  }
  return WEIR_OK;
}

weir_status cf_predict_posteriors_create(cf_predict *w, int64_t n)
{
  const cf_model_opts *const model = &w->weights.model;
  const cf_head head = cf_model_head(model);

  if (head == CF_HEAD_ESTIMATE) {
    return WEIR_OK;
  }
  if (head == CF_HEAD_FLOW) {
    const cf_flow_shape shape = cf_model_flow(model, w->out->n_labels);

    WEIR_TRY(cf_posteriors_create_flow(n, &shape, &w->out->posterior));
    WEIR_TRY(take_flow(w, w->out->posterior->flow));
  } else {
    WEIR_TRY(
        cf_posteriors_create(n, w->out->n_labels, cf_model_components(model), &w->out->posterior));
  }
  w->out->posterior->moments = head == CF_HEAD_MOMENTS;
  w->out->posterior->limit = w->cfg->predict.truncate ? 1 : (double)INFINITY;
  w->out->draws = w->cfg->predict.draws;
  w->out->seed = (uint64_t)w->cfg->seed;
  return WEIR_OK;
}

void cf_predict_posterior(cf_posteriors *p, int64_t row, const float *made)
{
  const int64_t at = row * p->components, labels = p->n_labels, square = labels * labels;

  if (p->flow != NULL) {
    const int64_t features = p->flow->shape.features;

    for (int64_t k = 0; k < features; k++) {
      p->feature[row * features + k] = (double)made[k];
    }
  } else if (p->moments) {
    p->weight[at] = 1;
    cf_moments_decode(labels, made, p->mean + at * labels, p->factor + at * square);
  } else {
    cf_mixture_decode(p->components, labels, made, p->weight + at, p->mean + at * labels,
                      p->factor + at * square);
  }
}

weir_status cf_predict_posteriors_check(const cf_predict *w)
{
  const char *const key = w->cfg->predict.draws > 0  ? "draws"
                          : w->cfg->predict.truncate ? "truncate"
                                                     : NULL;

  if (w->cfg->predict.truncate && w->cfg->files.label_limit > 1) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.truncate: posteriors are restricted to labels in [-1, 1], and "
                     "files.label_limit takes labels of up to %g: leave one of them out",
                     w->cfg->files.label_limit);
  }
  if (key == NULL || (w->out->posterior != NULL && !w->out->posterior->moments)) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "predict.%s: %s estimates %s: train a posterior with model.head=mixture or "
                   "flow, or leave predict.%s out",
                   key, w->cfg->predict.weights,
                   w->out->posterior == NULL ? "numbers" : "mean and covariance, no density", key);
}
