/* views.c - estimates as means over the symmetries of a sample: predict.symmetry, predict.shift. */
#include <string.h>
#include "predict/predict.h"

int cf_predict_views(const cf_predict *w)
{
  return cf_symmetries(w->cfg->predict.symmetry, &w->info);
}

weir_status cf_predict_views_check(const cf_predict *w)
{
  const bool segments = cf_model_net(&w->weights.model)->target == CF_SEGMENT;
  const bool estimates = !segments && cf_model_head(&w->weights.model) == CF_HEAD_ESTIMATE;

  if (w->cfg->predict.shift && w->cfg->predict.symmetry == CF_SYMMETRY_NONE) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.shift: moves the images of predict.symmetry, and that is none: set "
                     "it, too, or leave predict.shift out");
  }
  return estimates || w->cfg->predict.symmetry == CF_SYMMETRY_NONE
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "predict.symmetry: numbers for each parameter are averaged, and %s makes "
                         "%s: leave it out",
                         w->cfg->predict.weights, segments ? "classes of voxels" : "posteriors");
}

/* Samples without labels are of universes that nobody knows, and as those of the training where
 * they do not state their box. */
weir_status cf_predict_views_fit(const cf_predict *w)
{
  cf_volume_info info = w->info;
  int64_t universes = 0;

  if (!w->cfg->predict.shift) {
    return WEIR_OK;
  }
  for (int s = 0; s < CF_SUBSETS && w->truth != CF_TRUTH_NONE; s++) {
    universes += w->split.universes[s];
  }
  if (universes == 0 && info.box == 0) {
    info.box = w->weights.info.box;
    info.cell = w->weights.info.cell;
  }
  return cf_shift_check("predict.shift", &info, w->split.count, universes);
}

weir_status cf_predict_run_views(cf_predict *w, const char *from, size_t bytes, double *sum)
{
  const int64_t *const l = cf_source_info(w->source)->lengths, none[3] = {0};
  const size_t voxel = (size_t)l[3] * weir_dtype_size(w->estimator.is.dtype);
  const weir_binding binding[] = {{"x", &w->x}, {"y", &w->y}};
  const int64_t outputs = weir_tensor_numel(&w->y);
  const int views = cf_predict_views(w);
  float *const y = w->y.data;

  memset(sum, 0, (size_t)outputs * sizeof *sum);
  for (int v = 0; v < views; v++) {
    cf_view view = cf_symmetry_view(&w->info, v);

    if (v > 0 && w->cfg->predict.shift) {
      cf_view_move(&view, &w->info, 0, 0, v);
    }
    for (int64_t k = 0; k < w->batch; k++) {
      const size_t at = (size_t)k * bytes;

      cf_view_take(&view, l, none, l, voxel, from + at, (char *)w->x.data + at);
    }
    WEIR_TRY(weir_plan_run(w->plan, binding, 2));
    for (int64_t k = 0; k < outputs; k++) {
      sum[k] += (double)y[k];
    }
  }
  for (int64_t k = 0; k < outputs; k++) {
    y[k] = (float)(sum[k] / views);
  }
  return WEIR_OK;
}
