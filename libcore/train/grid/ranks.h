/* ranks.h - a run on its ranks: their agreement, and what this one has to do. */
#ifndef TRAIN_RANKS_H
#define TRAIN_RANKS_H
#include "train/train_run.h"

/* Opens the ranks of exec.dist, alone where that is NULL or of one rank, and shards the inputs;
 * freed by train_ranks_close. Collective. Fails: WEIR_ERR_CONFIG (the grid does not fit ranks or
 * task); as train_shard_inputs. */
weir_status train_ranks_open(train_run *r) WEIR_CHECKED;
/* Returns whether this rank writes files and reports the run. */
bool train_leads(const train_run *r);
/* Returns this rank's samples [*lo, *hi) of n that are computed at once. */
void train_own_samples(const train_run *r, int64_t n, int64_t *lo, int64_t *hi);
/* Returns how many of n samples that are computed at once a loss is the mean of: this rank's where
 * ranks train apart, else all. */
int64_t train_counted_samples(const train_run *r, int64_t n);
/* Agrees on a status as weir_comm_agree, over the ranks that compute a step together. Collective
 * over these. */
weir_status train_agree(const train_run *r, weir_status status) WEIR_CHECKED;
/* Agrees over all ranks of the run: where replicas train apart, as they meet. Collective. */
weir_status train_agree_all(const train_run *r, weir_status status) WEIR_CHECKED;
/* Computes the minimum of *x over the ranks that compute a step together. Collective over these.
 * Fails: as requests. */
weir_status train_min(train_run *r, int64_t *x) WEIR_CHECKED;
/* Computes the minimum of *x over all ranks of the run. Collective. Fails: as requests. */
weir_status train_min_all(train_run *r, int64_t *x) WEIR_CHECKED;
#endif
