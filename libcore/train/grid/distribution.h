/* distribution.h - the part of inputs and weights that each rank of a grid has. */
#ifndef TRAIN_DISTRIBUTION_H
#define TRAIN_DISTRIBUTION_H
#include "comm/weir_request.h"
#include "train/graph.h"
#include "train/grid/optim_shards.h"
#include "train/grid/shards.h"

/* The ranks of a run: the slice of an input that each has, and the sharding of graphs. */
typedef struct train_ranks {
  weir_dist dist; /* that compute a step together; comm NULL: this one alone, nothing is sharded */
  weir_comm *all; /* of the run; NULL: one */
  weir_grid grid; /* of these */
  int replicas;   /* ranks that train apart and exchange gradients or weights; 0: they do not */
  int rank, coords[WEIR_GRID_DIMS];
  int64_t *bounds[TRAIN_INPUTS][WEIR_MAX_RANK - 1]; /* of an input's dimension, NULL: replicated */
  int64_t *share;                                   /* of the samples of a batch            */
  int64_t replicate_below[WEIR_ALONG_DIMS];         /* as in weir_train_task                */
  weir_box box[TRAIN_INPUTS];                       /* of this rank, of one sample          */
  train_shards shards;
  train_optim_shards optim;
  weir_request *min_request; /* minimum of `number` over all ranks */
  int64_t number;
} train_ranks;

/* Returns the box of a complete input, of one sample. */
weir_box train_whole(const weir_train_input *x);
/* Returns the box of an input at these coordinates, of one sample. */
weir_box train_box(const train_ranks *k, const weir_train_task *task, int input,
                   const int coords[WEIR_GRID_DIMS]);
/* Finds the bounds of the inputs on the grid k->dist.grid and the slices of the parameters; freed
 * by close. Local, needs no ranks. Fails: WEIR_ERR_CONFIG (a dimension of the grid that no input
 * has); as train_build, weir_partition_create. */
weir_status train_shard_inputs(train_ranks *k, const train_graph *t, int64_t batch) WEIR_CHECKED;
/* Creates the sharding of a graph over n samples; freed by train_sharding_close. Local. Fails: as
 * train_replicate. */
weir_status train_sharding_of(const train_ranks *k, const weir_train_task *task,
                              const weir_graph *g, int64_t n, train_sharding *out) WEIR_CHECKED;
/* Builds the graph of a kind as in plans on the grid of k, and its partition, after
 * train_shards_view. Both are the caller's where they are not NULL, also after a failure. Local.
 * Fails: as train_build, passes, weir_partition_create. */
weir_status train_shard_graph(const train_ranks *k, const train_graph *t, train_kind kind,
                              int64_t batch, const weir_pass_opts *passes, weir_graph **g,
                              weir_partition **p) WEIR_CHECKED;
/* Frees all of it; accepts zeroed ranks. Collective where ranks were opened. */
void train_ranks_close(train_ranks *k);
#endif
