/* predictor.h - a trained stage applied to samples, a batch at a time. */
#ifndef WX_PREDICTOR_H
#define WX_PREDICTOR_H
#include "stage.h"

typedef struct wx_predictor {
  const wx_stage *stage;
  weir_plan *plan;
  bool makes_mean, makes_sigma;
  int64_t batch, of_x, of_y; /* floats of a sample */
  weir_tensor x, s, out[2];
  weir_tensor e;    /* where the network takes members */
  weir_tensor made; /* of head members */
  bool takes_members;
  float *m;                /* [batch, y channel, cells] what the correction is added to */
  float *mean;             /* [batch, y channel, cells] corrected mean, in units of y   */
  float *sigma;            /* the same of the standard deviation; NULL: the head makes none */
  float *location, *scale; /* the same; NULL: all distributions are normal */
  float *members; /* [batch, y channel, depth, member, plane] raw, and after the run corrected, of
                     which mean and sigma are the moments; NULL: the head makes none */
} wx_predictor;

/* Creates a predictor of the network of the stage, with the values of its store; of exec->dist it
 * uses this rank alone. Fails: as
 * weir_plan_create. */
weir_status wx_predictor_create(const wx_stage *stage, int64_t batch, const weir_plan_opts *exec,
                                wx_predictor *out) WEIR_CHECKED;
/* Sets sample i of the batch: its inputs, with its members where the network takes them; m is that
 * of the sample until the caller writes another. */
void wx_predictor_put(wx_predictor *p, int64_t i, const wx_sample *v);
/* Computes mean and sigma of the batch, of other distributions than the normal one their moments.
 * Fails: as weir_plan_run. */
weir_status wx_predictor_run(wx_predictor *p) WEIR_CHECKED;
void wx_predictor_fini(wx_predictor *p);

/* Computes corrected means of n samples into mean [all samples, y channel, cells]. Fails: as
 * wx_predictor_create, wx_samples_read, WEIR_ERR_STOPPED. */
weir_status wx_predict_means(const wx_stage *stage, const weir_plan_opts *exec,
                             const int64_t *sample, int64_t n, float *mean) WEIR_CHECKED;
#endif
