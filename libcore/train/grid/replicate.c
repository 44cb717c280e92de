/* replicate.c - the level from which maps are replicated: maps become coarser from layer to layer,
 * and results computed from thin ones only are replicated on every rank along that dimension of the
 * grid. The thin map is all-gathered, and neither halos nor sums over those ranks follow it. Maps
 * that become fine again are sharded again. */
#include "train/grid/replicate.h"

#include "base/weir_alloc.h"

/* The arrays of one graph. */
typedef struct replication {
  const weir_train_task *task;
  const weir_graph *g;
  const weir_partition *p; /* as inputs and stored arrays are sharded, to the last layer */
  const int64_t *max_thin; /* along each dimension: arrays with no more are thin      */
  int32_t *order, n;       /* nodes as they run                                       */
  unsigned *fine;          /* [nodes], bit d: it reads arrays sharded along d that are not thin */
  /* [arrays], bit d: made by a node that of arrays sharded along d reads thin ones only; by another
   * node; sharded all the same. */
  unsigned *thin, *thick, *again;
} replication;

/* Elements of the array along its dimension that is sharded along that one of the grid, 0: none. */
static int64_t sharded_extent(const weir_graph *g, const weir_partition *p, int32_t array,
                              int along)
{
  const weir_array_desc *desc = &weir_graph_get_array(g, array)->desc;
  weir_shard shard;

  for (int d = 0; d < desc->rank; d++) {
    if (weir_partition_sharding(p, array, d, &shard) && weir_shard_goes(&shard, along)) {
      return desc->shape[d];
    }
  }
  return 0;
}

/* Whether an array that is sharded so has its dimensions as an input has: a map, not a flattened
 * one.
 */
static bool is_map(const weir_train_task *task, const weir_graph *g, const weir_partition *p,
                   int32_t array, int along)
{
  const weir_array_desc *desc = &weir_graph_get_array(g, array)->desc;
  weir_shard shard;

  for (int i = 0; i < task->n_inputs; i++) {
    const weir_train_input *x = &task->input[i];

    for (int d = 0; d < x->rank && x->rank + 1 == desc->rank; d++) {
      if ((int)x->along[d] == along && weir_partition_sharding(p, array, d + 1, &shard) &&
          weir_shard_goes(&shard, along)) {
        return true;
      }
    }
  }
  return false;
}

int64_t train_map_extent(const weir_train_task *task, const weir_graph *g, const weir_partition *p,
                         int32_t array, int along)
{
  return is_map(task, g, p, array, along) ? sharded_extent(g, p, array, along) : 0;
}

static unsigned replicated(const replication *x, int32_t array)
{
  return x->thin[array] & ~x->thick[array];
}

/* Classifies the results of the node along one dimension of the grid: replicated where every
 * sharded operand is thin, except maps that are fine again. */
static void visit(replication *x, int32_t number, int along)
{
  const weir_node *node = weir_graph_node(x->g, number);
  const unsigned bit = 1u << along;
  bool thick = false, thin = false;

  for (int k = 0; k < node->n_in; k++) {
    const int64_t e = sharded_extent(x->g, x->p, node->in[k], along);
    const bool sharded = e > 0 && (replicated(x, node->in[k]) & bit) == 0;

    thick = thick || (sharded && e > x->max_thin[along]);
    thin = thin || (sharded && e <= x->max_thin[along]);
  }
  x->fine[number] |= thick ? bit : 0;
  for (int o = 0; o < node->n_out; o++) {
    const int32_t a = node->out[o];
    const int64_t e = sharded_extent(x->g, x->p, a, along);

    if (!thick && e > x->max_thin[along] && is_map(x->task, x->g, x->p, a, along)) {
      x->again[a] |= bit;
    }
    if (thick || (x->again[a] & bit) != 0) {
      x->thick[a] |= bit;
    } else if (thin || e > 0) {
      x->thin[a] |= bit;
    }
  }
}

/* Whether each rank owns, along the dimension, what its iterations read. */
static bool reads_own(const replication *x, int32_t number, int in, int along)
{
  const weir_node *node = weir_graph_node(x->g, number);
  const int rank = weir_graph_get_array(x->g, node->in[in])->desc.rank;
  weir_shard shard;

  for (int q = 0; q < weir_grid_size(weir_partition_grid(x->p)); q++) {
    const weir_box run = weir_partition_iterations(x->p, number, q);
    const weir_box own = weir_partition_owned(x->p, node->in[in], q);
    int64_t below[WEIR_MAX_RANK], above[WEIR_MAX_RANK];

    weir_halo(&node->access, in, &run, &own, below, above);
    for (int d = 0; d < rank; d++) {
      if (weir_partition_sharding(x->p, node->in[in], d, &shard) &&
          weir_shard_goes(&shard, along) && (below[d] > 0 || above[d] > 0)) {
        return false;
      }
    }
  }
  return true;
}

/* Whether the ranks' iterations differ along the dimension, as if all stayed sharded. */
static bool is_shared(const replication *x, int32_t number, int along)
{
  const weir_node *node = weir_graph_node(x->g, number);
  bool yes = true;

  for (int o = 0; o < node->n_out; o++) {
    yes = yes && sharded_extent(x->g, x->p, node->out[o], along) > 0 &&
          (replicated(x, node->out[o]) >> along & 1) == 0;
  }
  return yes || (x->fine[number] >> along & 1) != 0;
}

/* Whether no rank reads more of an array than its own shard: nodes that are distributed, and sums
 * next to them. */
static bool read_in_shards(const replication *x, int32_t array, int along)
{
  bool own = true, sums = false, shared = false;

  for (int32_t i = 0; i < x->n && own; i++) {
    const int32_t number = x->order[i];
    const weir_node *node = weir_graph_node(x->g, number);

    for (int k = 0; k < node->n_in && own; k++) {
      if (node->in[k] == array) {
        const bool split = is_shared(x, number, along);

        shared = shared || split;
        sums = sums || !split;
        own = (split || (weir_partition_partial(x->p, number) >> along & 1) != 0) &&
              reads_own(x, number, k, along);
      }
    }
  }
  return own && (shared || !sums);
}

/* Keeps a map sharded that would be replicated where each rank reads its own shard of it: such is
 * the gradient with respect to the map that was all-gathered. Only sums over it, as for a bias, are
 * communicated. */
static void keep_sharded(replication *x, const weir_node *node, int along)
{
  const unsigned bit = 1u << along;
  bool may = true;

  for (int o = 0; o < node->n_out && may; o++) {
    may = (replicated(x, node->out[o]) & bit) != 0 &&
          is_map(x->task, x->g, x->p, node->out[o], along) &&
          read_in_shards(x, node->out[o], along);
  }
  for (int o = 0; o < node->n_out && may; o++) {
    x->again[node->out[o]] |= bit;
    x->thick[node->out[o]] |= bit;
  }
}

/* Appends the remaining shards of an array. */
static weir_status add_remaining(const replication *x, int32_t array, train_sharding *c)
{
  const int before = c->dist.n_shards;
  weir_shard shard;

  for (int d = 0; d < weir_graph_get_array(x->g, array)->desc.rank; d++) {
    if (weir_partition_sharding(x->p, array, d, &shard) &&
        (replicated(x, array) >> shard.along & 1) == 0) {
      WEIR_TRY(train_add_shard(c, shard));
    }
  }
  return c->dist.n_shards > before ? WEIR_OK
                                   : train_add_shard(c, (weir_shard){.array = array, .dim = -1});
}

/* Forward through the nodes, and back. */
static void walk(replication *x, int along)
{
  for (int32_t i = 0; i < x->n; i++) {
    visit(x, x->order[i], along);
  }
  for (int32_t i = x->n - 1; i >= 0; i--) {
    keep_sharded(x, weir_graph_node(x->g, x->order[i]), along);
  }
}

static weir_status find_replicated(replication *x, const weir_grid *grid, train_sharding *c)
{
  WEIR_TRY(weir_graph_order(x->g, x->order, &x->n));
  for (int along = WEIR_ALONG_DEPTH; along < grid->dims; along++) {
    if (x->max_thin[along] > 0 && grid->extent[along] > 1) {
      walk(x, along);
    }
  }
  for (int32_t a = 0; a < weir_graph_arrays(x->g); a++) {
    if (replicated(x, a) != 0 || x->again[a] != 0) {
      WEIR_TRY(add_remaining(x, a, c));
    }
  }
  return WEIR_OK;
}

weir_status train_replicate(const int64_t replicate_below[WEIR_ALONG_DIMS],
                            const weir_train_task *task, const weir_graph *g, train_sharding *c)
{
  const int64_t arrays = weir_graph_arrays(g), nodes = weir_graph_nodes(g);
  replication x = {.task = task, .g = g, .max_thin = replicate_below};
  weir_status status;

  WEIR_TRY(weir_partition_create(g, &c->dist.grid, c->shard, c->dist.n_shards, &c->whole));
  x.p = c->whole;
  WEIR_TRY_GOTO(weir_alloc(nodes, sizeof *x.order, (void **)&x.order), done);
  WEIR_TRY_GOTO(weir_alloc(3 * arrays + nodes, sizeof *x.thin, (void **)&x.thin), done);
  x.thick = x.thin + arrays;
  x.again = x.thick + arrays;
  x.fine = x.again + arrays;
  WEIR_TRY_GOTO(find_replicated(&x, &c->dist.grid, c), done);
done:
  weir_free(&x.thin);
  weir_free(&x.order);
  return status;
}
