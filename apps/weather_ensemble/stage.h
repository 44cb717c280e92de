/* stage.h - one network of an experiment as a task of the trainer: its samples, statistics and
 * parameters. */
#ifndef WX_STAGE_H
#define WX_STAGE_H
#include "data/extremes.h"
#include "data/samples/samples.h"
#include "data/samples/standard.h"
#include "exec/weir_plan.h"
#include "model/network.h"
#include "train/weir_train.h"

enum { WX_NOTES = 11 };

/* All borrowed; they stay while the stage is used. */
typedef struct wx_stage_spec {
  const char *name; /* "bias", "forecast": for reports */
  const wx_data_opts *data;
  const wx_model_opts *model;
  const wx_standard_opts *standard;
  const weir_train_cfg *train; /* seed already added */
  wx_samples *samples;
  const wx_split *split;
  bool leads;         /* the rank that warns of what all ranks see */
  bool wraps;         /* columns go round the globe */
  const float *mean;  /* [all samples, y channel, cells] for the raw mean; NULL: the raw mean */
  const char *before; /* SHA-256 of the weights that made `mean`; "": none */
  const wx_extremes *extremes; /* factor of a point, times its area; NULL: 1 */
} wx_stage_spec;

/* Stays where it is: the task points into it. */
typedef struct wx_stage {
  wx_stage_spec is;
  wx_info facts;
  wx_model_opts model;
  wx_standard standard;
  wx_network network;
  wx_output *output;       /* [y channel] */
  char *bounds[WX_BOUNDS]; /* names of WX_IN_LOWER and of what follows it; NULL: there is none */
  weir_params *params;
  weir_store *store;
  weir_train_input input[WX_INPUTS]; /* of all kinds */
  weir_train_input taken[WX_INPUTS]; /* those that the network takes, wx_network_inputs */
  float *scratch[WX_INPUTS];         /* a whole sample, where this rank has a box of it; or NULL */
  weir_note note[WX_NOTES + 1];      /* the last: of `extremes` */
  char *text[WX_NOTES + 1];
  char samples[65]; /* digest of the training samples, of a fine-tuning; else "" */
  weir_train_task task;
} wx_stage;

/* Declares the network, its initial weights and the arrays of the statistics in the store.
 * Fails: as wx_network_check, weir_train_prepare. */
weir_status wx_stage_open(const wx_stage_spec *spec, wx_stage *out) WEIR_CHECKED;
void wx_stage_close(wx_stage *s);
/* Reads the training samples for the statistics and those of the validation, so that what is wrong
 * with one is said now. With train.initial_weights weights and statistics are then those of that
 * file, and the dates those of both trainings; warns of validation samples that the file was
 * trained on. Fails: as wx_standard_fit, as wx_stage_load; WEIR_ERR_DATA where truth is below the
 * bound of its distribution. */
weir_status wx_stage_fit(wx_stage *s) WEIR_CHECKED;
/* Trains in the folder `dir`, on the ranks of exec->dist, resuming from its latest checkpoint.
 * *digest: SHA-256 of the weights, on other ranks than the first "". Collective. Fails:
 * WEIR_ERR_CONFIG where a checkpoint has other statistics, as weir_train_run. */
weir_status wx_stage_train(wx_stage *s, const char *dir, const weir_plan_opts *exec,
                           weir_train_result *result, char digest[65]) WEIR_CHECKED;
/* Reads weights of a file and the statistics with them. Fails: WEIR_ERR_CONFIG (weights of other
 * channels or of another network), as wx_samples_fit_text, as weir_train_weights. */
weir_status wx_stage_load(wx_stage *s, const char *path) WEIR_CHECKED;
/* Reads the dates that weights were trained on and chosen by (wx_trained_dates). The caller frees
 * it. Fails: WEIR_ERR_DATA. */
weir_status wx_stage_trained(const char *path, char **dates) WEIR_CHECKED;
#define WX_MADE_MEMBERS "corrected"
/* Appends the trained network on `batch` samples: inputs x, s and, where it takes them, members;
 * results mean and sigma, or WX_MADE_MEMBERS, those that its head has. Fails: as builders. */
weir_status wx_stage_append(const wx_stage *s, int64_t batch, weir_graph *g) WEIR_CHECKED;
/* Counts the floating-point operations of the network for one sample. */
weir_status wx_stage_flops(const wx_stage *s, double *flops) WEIR_CHECKED;
#endif
