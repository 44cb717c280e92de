/* shards.h - the flat buffer of the parameters in slices, some of them sharded over ranks. */
#ifndef TRAIN_SHARDS_H
#define TRAIN_SHARDS_H
#include "comm/weir_grid.h"
#include "graph/weir_store.h"
#include "nn/weir_net.h"
#include "train/grid/sharding.h"

enum { TRAIN_MAX_SHARDED = 8, TRAIN_MAX_SLICES = 2 * TRAIN_MAX_SHARDED + 1 };

/* The slice that an array of the store of slices belongs to. Its name is the store's. */
typedef struct train_slice_array {
  const char *name;
  int slice;
} train_slice_array;

/* The flat buffer in slices: sharded rows, whose weights, gradients and optimiser state are on one
 * rank only, and the rows between them, which are replicated. */
typedef struct train_shards {
  int n;         /* slices, 0: the flat buffer is one array */
  int n_sharded; /* of them */
  weir_flat_slice slice[TRAIN_MAX_SLICES];
  int along[TRAIN_MAX_SLICES];   /* of the grid, 0: replicated */
  int64_t *at[TRAIN_MAX_SLICES]; /* first elements of the shards, and the end of the slice */
  char name[TRAIN_MAX_SLICES][8];
  weir_store *whole, *own;  /* views of the run's arrays: complete ones, from which graphs are
                               built; shards of this rank, which its plans read and write */
  train_slice_array *array; /* of slices in `whole`, [n_arrays] */
  int64_t n_arrays, capacity;
} train_shards;

/* Frees bounds and views; accepts zeroed shards. */
void train_shards_close(train_shards *s);
/* Returns the elements [*lo, *hi) of a slice, counted from its first one, that the rank at these
 * coordinates of the grid has. */
void train_own_shard(const train_shards *s, const int coords[WEIR_GRID_DIMS], int slice,
                     int64_t *lo, int64_t *hi);
/* Returns the slice that a stored array of a graph belongs to, by its name; -1: none. */
int train_slice_of(const train_shards *s, const char *name);
/* Returns whether an array has an element for every parameter: weights, their copies, the gradient,
 * the state of the update rule. */
bool train_is_flat(const char *name, const weir_tensor *t, const weir_params *params);
/* Adds views of the arrays of a store to s->whole and s->own, for the rank at these coordinates;
 * nothing where there are no slices. Fails: WEIR_ERR_MEMORY. */
weir_status train_shards_view(train_shards *s, const int coords[WEIR_GRID_DIMS], weir_store *store,
                              const weir_params *params) WEIR_CHECKED;
/* Appends the shards of the stored arrays of a graph that are sharded slices. Fails:
 * WEIR_ERR_MEMORY. */
weir_status train_shard_slices(const train_shards *s, const weir_graph *g,
                               train_sharding *c) WEIR_CHECKED;
/* Returns the dimensions of the grid over which the accumulated gradient of a slice (-1: of all
 * parameters, where there are no slices) is a sum: bit d for dimension d. */
unsigned train_summed_over(const train_shards *s, const weir_grid *grid, int slice);
/* Appends the sums over ranks that the accumulated gradient stays, in a graph that adds to it.
 * Fails: WEIR_ERR_MEMORY. */
weir_status train_leave_sums(const train_shards *s, const weir_grid *grid, const weir_graph *g,
                             train_sharding *c) WEIR_CHECKED;
#endif
