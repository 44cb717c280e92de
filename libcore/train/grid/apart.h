/* apart.h - ranks that train apart: each has a training of its own, on its share of every batch. */
#ifndef TRAIN_APART_H
#define TRAIN_APART_H
#include "train/train_run.h"

/* Returns whether the exchange policy has ranks train apart: it does not leave replicas equal after
 * each step. */
bool train_apart(const weir_train_cfg *cfg);
/* Checks that ranks of the grid can train apart. Fails: WEIR_ERR_UNSUPPORTED (ranks share samples),
 * WEIR_ERR_CONFIG (fewer samples in a batch than ranks). */
weir_status train_check_apart(const weir_train_cfg *cfg, const weir_grid *grid) WEIR_CHECKED;
/* Checks that optim.shard goes with the exchange policy. Fails: WEIR_ERR_UNSUPPORTED (ranks train
 * apart; gradients in shards where the policy needs all of them). */
weir_status train_check_optim_shards(const weir_train_cfg *cfg) WEIR_CHECKED;
/* Returns the number of replicas, 1 where ranks compute every step together. */
int train_groups(const train_run *r);
/* Returns the number of this one. */
int train_group(const train_run *r);
#endif
