/* predictor.h - the trained network applied to samples, a batch at a time. */
#ifndef WX_PREDICTOR_H
#define WX_PREDICTOR_H
#include "experiment.h"

typedef struct wx_predictor {
  wx_experiment *e;
  weir_plan *plan;
  bool spread; /* whether the network makes one */
  int64_t batch;
  weir_tensor x, out[2];
  float *raw;      /* [batch, x channels, cells] */
  float *field[2]; /* [batch, y channels, cells]: mean and standard deviation, in units of y */
} wx_predictor;

/* The network of the experiment, with what its store has. Fails: as weir_plan_create. */
weir_status wx_predictor_create(wx_experiment *e, const weir_plan_opts *exec,
                                wx_predictor *out) WEIR_CHECKED;
/* n <= batch samples: x into raw, results into field. Fails: as wx_samples_read, weir_plan_run. */
weir_status wx_predictor_run(wx_predictor *p, const int64_t *sample, int64_t n) WEIR_CHECKED;
void wx_predictor_fini(wx_predictor *p);
#endif
