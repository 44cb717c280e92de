/* size.h - steps whose samples have a size that is drawn for each: weir_train_size. */
#ifndef TRAIN_SIZE_H
#define TRAIN_SIZE_H
#include "train/train_run.h"

/* Checks the sizes of the task, and that the options go with them. Fails: WEIR_ERR_CONFIG. */
weir_status train_check_sizes(const train_run *r) WEIR_CHECKED;
/* Checks that ranks of the grid share whole samples of all sizes. Fails: WEIR_ERR_UNSUPPORTED. */
weir_status train_check_sizes_grid(const train_run *r) WEIR_CHECKED;
/* Returns the size of the samples of a step, from 1; NULL: that of the task's inputs. */
const weir_train_size *train_size_of(const weir_train_task *task, int64_t seed, int64_t step);
/* Return how many times train.accumulate batches a step has, and the most of all sizes. */
int64_t train_size_batches(const weir_train_size *size);
int64_t train_most_batches(const weir_train_task *task);
/* Counts the steps of an epoch of so many samples, a step being per_step samples times the batches
 * of its size: of this one, whose first step has the number `first` + 1. */
int64_t train_epoch_steps(const weir_train_task *task, int64_t seed, int64_t samples,
                          int64_t per_step, int64_t first);
#endif
