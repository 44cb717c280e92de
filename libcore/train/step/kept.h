/* kept.h - what an exchange policy keeps from step to step, in checkpoints: arrays of each rank. */
#ifndef TRAIN_KEPT_H
#define TRAIN_KEPT_H
#include "train/train_run.h"

/* Gathers what the policy keeps on rank 0, in r->kept: an array [ranks, count] of what differs from
 * rank to rank, [count] of what does not. It takes the memory of all of them there. Collective.
 * Fails: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status train_gather_kept(train_run *r) WEIR_CHECKED;
/* Gives the open policy what r->kept of rank 0 has for it, and destroys that. As many ranks as in
 * the checkpoint have their own arrays again; other numbers share the sum of summands evenly, and
 * begin without what is of one rank. Warns of each array that is dropped, with its policy, why, and
 * how to resume with it. Collective. Fails: WEIR_ERR_MEMORY; as requests. */
weir_status train_restore_kept(train_run *r) WEIR_CHECKED;
#endif
