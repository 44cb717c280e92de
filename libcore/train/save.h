/* save.h - checkpoints of a run, and its weights as a file. */
#ifndef TRAIN_SAVE_H
#define TRAIN_SAVE_H
#include "train/train_run.h"

/* Writes a checkpoint and removes the oldest, on rank 0. Collective. Fails: WEIR_ERR_NUMERIC
 * (weights that differ between ranks or are not finite); as weir_checkpoint_save. */
weir_status train_save(train_run *r) WEIR_CHECKED;
/* Loads the latest checkpoint of r->dir, if there is one, on all ranks. Collective. Fails:
 * WEIR_ERR_CONFIG (of another training; resume is off), WEIR_ERR_DATA; as weir_checkpoint_resume.
 */
weir_status train_resume(train_run *r) WEIR_CHECKED;
/* Makes the best weights, or averages, those of the network, and writes the file of weights.
 * Collective. Fails: as weir_checkpoint_save. */
weir_status train_finish(train_run *r) WEIR_CHECKED;
/* Writes the network's arrays as the file of weights of r->dir. Local. Fails: as
 * weir_checkpoint_save. */
weir_status train_write_weights(train_run *r) WEIR_CHECKED;
#endif
