/* optim_shards.h - arrays of the update in shards of all ranks, by elements of the flat buffer: the
 * state of the update rule, and gradients and parameters if asked for. Stages 1 to 3 of ZeRO,
 * Rajbhandari et al. 2020 (arXiv:1910.02054).
 *
 * Each rank updates its shard of the parameters. Stages 1 and 2: it gathers the others, so that
 * parameters are complete on every rank. From stage 2 on sums of gradients go to the rank of the
 * shard alone, in every micro-batch. Stage 3: the parameters of a layer are fetched where it runs,
 * and again where its derivative does (weir_shard.fetched). */
#ifndef TRAIN_OPTIM_SHARDS_H
#define TRAIN_OPTIM_SHARDS_H
#include "comm/weir_request.h"
#include "graph/weir_store.h"
#include "nn/weir_net.h"
#include "optim/weir_optim.h"
#include "train/grid/sharding.h"

typedef struct train_optim_shards {
  weir_optim_shard what; /* NONE: nothing is sharded, and all below is empty */
  int64_t *at;           /* [ranks + 1] first elements of the shards, and the end of the buffer */
  int64_t *rows;         /* [parameters][ranks + 1] the same in elements of each of them */
  const weir_params *params;
  int rank, ranks;
  weir_store *whole; /* shapes of complete arrays, from which graphs are built: of those that are
                        sharded, without memory */
  weir_store *own;   /* shards of this rank, also of the parameters, for the plan of an update */
  weir_request *scatter, *gather; /* of the gradient, of the parameters; NULL: not yet needed */
  bool params_sharded;            /* the store has this rank's shard of the parameters */
} train_optim_shards;

/* Divides the elements of the parameters, which outlive the shards, among ranks. Closed by close.
 * Local. Fails: WEIR_ERR_MEMORY. */
weir_status train_optim_shards_open(train_optim_shards *s, weir_optim_shard what,
                                    const weir_params *params, int rank, int ranks) WEIR_CHECKED;
/* Frees all; accepts zeroed shards. */
void train_optim_shards_close(train_optim_shards *s);
/* Checks that the parameters in the store are complete. Local. Fails: WEIR_ERR_CONFIG. */
weir_status train_optim_shards_check(const train_optim_shards *s,
                                     const weir_store *store) WEIR_CHECKED;
/* Gives them the elements of this rank's shard; and all again, of which the caller gathers those of
 * others. Only of WEIR_OPTIM_SHARD_PARAMETERS. Local. Fail: as weir_store_resize. */
weir_status train_optim_shards_enter(train_optim_shards *s, weir_store *store) WEIR_CHECKED;
weir_status train_optim_shards_leave(train_optim_shards *s, weir_store *store) WEIR_CHECKED;
/* Returns whether ranks have shards of a flat array of the store, by its name. */
bool train_optim_sharded(const train_optim_shards *s, const char *name);
/* Returns the elements [*lo, *hi) of the flat buffer that this rank updates; all [0, elements)
 * where nothing is sharded. */
void train_own_update(const train_optim_shards *s, int64_t elements, int64_t *lo, int64_t *hi);
/* Fills s->whole and s->own from the arrays of a store, which are pinned; nothing where nothing is
 * sharded. Local. Fails: WEIR_ERR_MEMORY; as weir_store_pin. */
weir_status train_optim_shards_view(train_optim_shards *s, weir_store *store,
                                    const weir_params *params) WEIR_CHECKED;
/* Appends the shards of the stored arrays of a graph. Fails: WEIR_ERR_MEMORY. */
weir_status train_shard_optim(const train_optim_shards *s, const weir_grid *grid,
                              const weir_graph *g, train_sharding *c) WEIR_CHECKED;
#endif
