/* batch.h - the samples of a batch. */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H
#include "train/step/bindings.h"
#include "train/train_run.h"

/* Allocates the memory for the samples of a batch of this rank; freed with the run. Local. Fails:
 * WEIR_ERR_MEMORY. */
weir_status train_alloc_batch(train_run *r) WEIR_CHECKED;
/* Returns the number of samples of the next step. */
int64_t train_step_samples(const train_run *r);
/* Returns the scalar inputs of a batch of the next step. */
train_numbers train_numbers_of(const train_run *r, int64_t batch);
/* Writes the numbers of the samples at positions [at, at + n) of the epoch into r->sample. */
void train_choose(train_run *r, int64_t at, int64_t n);
/* Reads n samples of the size r->graph.size, those of r->sample, of which this rank has its share;
 * training samples in their order where r->chosen is their position, not where it is -1.
 * Collective. Fails: as the task's fetch, on all ranks. */
weir_status train_fetch(train_run *r, weir_train_split split, int64_t n) WEIR_CHECKED;
#endif
