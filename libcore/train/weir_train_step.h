/* weir_train_step.h - the step of a training without its loop: what it computes and exchanges on
 * any grid of ranks, for predictions of its cost, and the step itself on the ranks at hand, for
 * measurements. It fetches no samples and writes no files. */
#ifndef WEIR_TRAIN_STEP_H
#define WEIR_TRAIN_STEP_H
#include "pass/partition/weir_partition.h"
#include "train/weir_train.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_train_step weir_train_step;

/* Prepares a step of cfg->batch times cfg->accumulate samples with initial weights; destroyed by
 * the caller. Task, cfg and exec->exec are borrowed. exec->dist NULL: on this rank alone, and
 * local; else collective, and sharded as task->replicate_below says. Fails: as weir_train_run
 * before its first step. */
weir_status weir_train_step_create(const weir_train_task *task, const weir_train_cfg *cfg,
                                   const weir_plan_opts *exec, weir_train_step **out) WEIR_CHECKED;
void weir_train_step_destroy(weir_train_step **s);

/* ---- On any grid ---- */

/* Elements of the feature maps that are sharded with the inputs, ascending, along each dimension of
 * the grid that has several ranks; the last one is that of the inputs. */
enum { WEIR_TRAIN_LEVELS = 16 };
typedef struct weir_train_levels {
  int n[WEIR_ALONG_DIMS];
  int64_t extent[WEIR_ALONG_DIMS][WEIR_TRAIN_LEVELS];
} weir_train_levels;

/* Finds the extents that are possible replication thresholds (weir_train_task.replicate_below) on a
 * grid, of which no rank is needed. Local. Fails: as weir_train_step_shard. */
weir_status weir_train_step_levels(const weir_train_step *s, const weir_grid *grid,
                                   weir_train_levels *out) WEIR_CHECKED;

/* A sum of gradients over ranks between two graphs of a step: bytes of the rank with the most. */
typedef struct weir_train_sum {
  int ranks;
  int64_t bytes;
} weir_train_sum;

/* The graphs of an update in their order, simplified and sharded as those of plans. */
enum { WEIR_TRAIN_GRAPHS = 2, WEIR_TRAIN_SUMS = 17 };
typedef struct weir_train_sharded {
  int n; /* graphs */
  weir_graph *graph[WEIR_TRAIN_GRAPHS];
  weir_partition *partition[WEIR_TRAIN_GRAPHS];
  int64_t runs[WEIR_TRAIN_GRAPHS]; /* of each in an update                 */
  int n_sums;                      /* after the runs of the first graph */
  weir_train_sum sum[WEIR_TRAIN_SUMS];
  struct train_ranks *ranks; /* the sharding that the graphs refer to */
} weir_train_sharded;

/* Builds the graphs of an update on a grid with these replication thresholds, of which no rank is
 * needed; freed by fini, also after a failure. Local. Fails: WEIR_ERR_CONFIG,
 * WEIR_ERR_UNSUPPORTED (the network cannot be sharded so); WEIR_ERR_MEMORY. */
weir_status weir_train_step_shard(const weir_train_step *s, const weir_grid *grid,
                                  const int64_t replicate_below[WEIR_ALONG_DIMS],
                                  weir_train_sharded *out) WEIR_CHECKED;
void weir_train_sharded_fini(weir_train_sharded *sharded);

/* ---- On the ranks at hand ---- */

/* Returns plan number i of an update, made at the first call; *out NULL: the update has no more.
 * Borrowed from the step. Collective over the ranks of the step. Fails: as plans. */
weir_status weir_train_step_plan(weir_train_step *s, int i, weir_plan **out) WEIR_CHECKED;
/* Runs plan number i once, with a learning rate of 0, on numbers in [0, 1) in place of samples and
 * on 0 where the input is integer. *seconds: of this rank in the plan. Collective likewise. Fails:
 * as plans. */
weir_status weir_train_step_run(weir_train_step *s, int i, double *seconds) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
