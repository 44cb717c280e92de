/* array_names.h - names of arrays of a training in the store. */
#ifndef TRAIN_ARRAY_NAMES_H
#define TRAIN_ARRAY_NAMES_H

#define TRAIN_BANK "train.gradient" /* sum of gradients; not in checkpoints */
#define TRAIN_KEPT \
  "train.kept." /* before what an exchange policy keeps: its name, "." and that of the array */
#define TRAIN_MODEL_SEED "train.model_seed"   /* of weights and dropout, with train.models */
#define TRAIN_INITIAL "train.initial_weights" /* SHA-256 of the file, with that option */
#define TRAIN_BEST "best." /* before the name of an array: its copy of the best validation */
#endif
