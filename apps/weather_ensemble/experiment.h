/* experiment.h - samples, statistics and network as a task of the trainer. */
#ifndef WX_EXPERIMENT_H
#define WX_EXPERIMENT_H
#include "conf/weir_cli.h"
#include "options.h"

enum { WX_NOTES = 5 };

/* Stays where it is: the task points into it. */
typedef struct wx_experiment {
  const wx_cfg *cfg;
  wx_samples *samples;
  wx_facts facts;    /* of the samples; when predicting, y is that of the weights */
  wx_channel *truth; /* y's channels of the weights, or NULL */
  wx_split split;
  wx_standard standard;
  wx_network network;
  weir_params *params;
  weir_store *store;
  float *x, *y; /* room for a sample */
  weir_train_input input[2];
  weir_note note[WX_NOTES];
  char *text[WX_NOTES];
  weir_train_task task;
} wx_experiment;

/* Samples with truth, split; the network declared, the statistics of the training samples in the
 * store. Fails: as wx_samples_open, wx_split_create, wx_standard_fit, weir_train_prepare; also
 * where a sample of the validation cannot be read. fit: read the fields; else the statistics are 0.
 */
weir_status wx_experiment_open(const wx_cfg *cfg, bool fit, wx_experiment *out) WEIR_CHECKED;
/* Samples, with or without truth, and the network of cfg->predict.weights with its statistics.
 * Fails: WEIR_ERR_CONFIG (no weights; of other channels or another network), as
 * weir_train_weights. */
weir_status wx_experiment_open_weights(const wx_cfg *cfg, wx_experiment *out) WEIR_CHECKED;
void wx_experiment_close(wx_experiment *e);
/* The trained network on `batch` samples: input x, results mean and, for the loss crps, spread.
 * Fails: as builders. */
weir_status wx_experiment_append(const wx_experiment *e, int64_t batch, weir_graph *g) WEIR_CHECKED;
/* The section `train`, with the program's seed added. */
weir_train_cfg wx_experiment_train(const wx_experiment *e);
/* How graphs are computed. */
weir_plan_opts wx_experiment_exec(const wx_experiment *e, const weir_cli *cli);
#endif
