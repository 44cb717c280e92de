/* models.h - several networks of one shape that train as one graph (weir_train_cfg.models). */
#ifndef TRAIN_MODELS_H
#define TRAIN_MODELS_H
#include "train/train_run.h"

/* The arguments of weir_train_run. */
typedef struct train_given {
  const weir_train_task *task;
  const weir_train_cfg *cfg;
  const weir_plan_opts *exec;
  weir_params *params;
  weir_store *store;
  const char *dir;
} train_given;

/* Return options and seed of network k, from 0, alone; those of cfg where it names no networks. */
weir_train_cfg train_model_cfg(const weir_train_cfg *cfg, int64_t k);
int64_t train_model_seed(const weir_train_cfg *cfg, int64_t k);
/* Trains the networks of cfg->models. Local. Fails: WEIR_ERR_UNSUPPORTED (several ranks; a device;
 * an operator that cannot be computed for several networks, by name); as weir_train_run. */
weir_status train_models_run(const train_given *given, weir_train_result *result) WEIR_CHECKED;
#endif
