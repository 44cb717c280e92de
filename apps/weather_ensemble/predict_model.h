/* predict_model.h - statistical corrections applied to forecasts: fitted to the initialisation
 * times of data.split.train, for each quantity and lead of the samples, and written as predictions.
 */
#ifndef WX_PREDICT_MODEL_H
#define WX_PREDICT_MODEL_H
#include "eval/forecast_model.h"
#include "experiment.h"
#include "predict_files.h"

typedef struct wx_predict_model {
  wx_experiment *e;
  wx_eval_data data;
  wx_split split; /* of the initialisation times of the archive */
  wx_model model;
  bool open;
  wx_output *output; /* [y channel] of distributions that are not normal; or NULL */
} wx_predict_model;

/* Opens the model of predict.model on the archives of e, whose truth is opened where data.truth
 * names files. Fails: WEIR_ERR_CONFIG (predict.members, and the model gives distributions); as
 * wx_model_open, wx_archive_open_truth, wx_eval_data_open. What is open is closed by the caller. */
weir_status wx_predict_model_open(wx_experiment *e, wx_predict_model *out) WEIR_CHECKED;
void wx_predict_model_close(wx_predict_model *p);
/* Fits it for every target and lead, corrects n samples and completes the files. Fails:
 * WEIR_ERR_DATA where there is nothing to fit to; as the model, wx_predict_files_give;
 * WEIR_ERR_STOPPED. */
weir_status wx_predict_model_run(wx_predict_model *p, wx_predict_files *files,
                                 const int64_t *sample, int64_t n) WEIR_CHECKED;
#endif
