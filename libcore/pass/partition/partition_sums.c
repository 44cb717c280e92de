/* partition_sums.c - arrays that stay partial sums over ranks: from the stored arrays that the
 * caller has named, backward to the sums whose merge can be left out, and forward again. */
#include "base/weir_alloc.h"
#include "pass/partition/partition_priv.h"

/* Dimensions of the grid over which an array may stay partial, by all who use it so far. */
typedef struct wish {
  unsigned dims;
  bool used;
} wish;

typedef struct search {
  weir_partition *p;
  unsigned *named; /* [arrays] by the caller */
  unsigned *may;   /* [arrays] over which it would be partial if nothing were merged */
  wish *wish;      /* [arrays] */
  uint8_t *kind;   /* [expressions of the longest body] */
} search;

static const weir_node *node_of(const search *s, int32_t position)
{
  return weir_graph_node(s->p->g, s->p->order[position]);
}

static void narrow(wish *w, unsigned dims)
{
  w->dims = w->used ? w->dims & dims : dims;
  w->used = true;
}

/* Dimensions of the grid over which the array is sharded. */
static unsigned sharded_over(const weir_partition *p, int32_t array)
{
  unsigned over = 0;

  for (int d = 0; d < weir_graph_get_array(p->g, array)->desc.rank; d++) {
    over |= p->array[array].over[d];
  }
  return over;
}

/* Over which the result of the node may stay partial. */
static unsigned wished(const search *s, const weir_node *node)
{
  const int32_t array = node->out[0];

  return node->n_out == 1 && s->wish[array].used ? s->wish[array].dims & ~sharded_over(s->p, array)
                                                 : 0;
}

static weir_status take_rows(search *s, const weir_grid *grid, const weir_shard *shards, int n)
{
  weir_partition *p = s->p;

  for (int i = 0; i < n; i++) {
    unsigned dims = shards[i].dim == WEIR_SHARD_SUM ? partition_dims(p, grid, shards, n, i) : 0;

    for (int d = 0; d < p->grid.dims; d++) {
      dims &= p->grid.extent[d] > 1 ? ~0u : ~(1u << d);
    }
    if ((dims & sharded_over(p, shards[i].array)) != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "partition: array %d is sharded over ranks of which each has a summand",
                       (int)shards[i].array);
    }
    s->named[shards[i].array] |= dims;
  }
  return WEIR_OK;
}

/* Which operands of each node may be summands, and what would then be partial. */
static void go_forward(search *s)
{
  for (int32_t i = 0; i < s->p->n_order; i++) {
    const int32_t number = s->p->order[i];
    const weir_node *node = node_of(s, i);
    const uint32_t set = partition_linear(s->p->g, node, s->may, s->kind);
    unsigned dims = partition_is_sum(&node->access) ? partition_reduced_over(s->p, number) : 0;

    s->p->summands[number] = set;
    for (int k = 0; k < node->n_in; k++) {
      dims |= (set >> k & 1) != 0 ? s->may[node->in[k]] : 0;
    }
    for (int o = 0; o < node->n_out; o++) {
      s->may[node->out[o]] |= dims;
    }
  }
}

/* What may stay partial: what all who read it allow. */
static void go_backward(search *s)
{
  const weir_partition *p = s->p;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    if (array->output != NULL) {
      narrow(&s->wish[a], 0);
    }
    if (array->update >= 0) {
      narrow(&s->wish[array->update], s->named[a]);
    }
  }
  for (int32_t i = 0; i < p->n_order; i++) { /* of several writers, all add up */
    const weir_node *node = node_of(s, i);
    const bool alone = node->n_out == 1 && weir_graph_writers(p->g, node->out[0], NULL, 0) == 1;

    for (int o = 0; o < node->n_out && !alone; o++) {
      if (p->summands[p->order[i]] == 0) {
        narrow(&s->wish[node->out[o]], 0);
      }
    }
  }
  for (int32_t i = p->n_order - 1; i >= 0; i--) {
    const weir_node *node = node_of(s, i);
    const unsigned dims = wished(s, node) & ~partition_reduced_over(p, p->order[i]);

    for (int k = 0; k < node->n_in; k++) {
      narrow(&s->wish[node->in[k]], (p->summands[p->order[i]] >> k & 1) != 0 ? dims : 0);
    }
  }
}

/* Fails with the first node that needs more than summands of a named array. */
static weir_status refuse(const search *s, int32_t named)
{
  const weir_partition *p = s->p;
  const char *name = weir_graph_get_array(p->g, named)->name;
  int32_t array = named;

  for (int32_t i = 0; i < p->n_order; i++) {
    const weir_node *node = node_of(s, i);
    const unsigned dims = wished(s, node), merged = partition_reduced_over(p, p->order[i]);
    bool reads = false, linear = true;

    for (int k = 0; k < node->n_in; k++) {
      reads = reads || node->in[k] == array;
      linear = linear && (node->in[k] != array || (p->summands[p->order[i]] >> k & 1) != 0);
    }
    if (!reads || (linear && (s->named[named] & ~(dims & ~merged)) == 0)) {
      continue;
    }
    if (linear && (s->named[named] & ~dims) != 0 && node->n_out == 1 &&
        weir_graph_readers(p->g, node->out[0], NULL, 0) > 0) {
      array = node->out[0]; /* a later node reads it otherwise */
      continue;
    }
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "partition: '%s' is a partial sum on each rank, but node %d '%s' %s", name,
                     (int)p->order[i], node->label != NULL ? node->label : node->op->name,
                     linear ? "makes a complete array of it" : "is not linear in it");
  }
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "partition: '%s' is a partial sum on each rank, but a result, or a complete or "
                   "sharded array, takes it",
                   name);
}

static weir_status settle(search *s)
{
  weir_partition *p = s->p;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    if (s->wish[a].used && (s->named[a] & ~s->wish[a].dims) != 0) {
      return refuse(s, a);
    }
    p->sum_over[a] = s->named[a];
  }
  for (int32_t i = 0; i < p->n_order; i++) {
    const int32_t number = p->order[i];
    const weir_node *node = node_of(s, i);

    if (partition_is_sum(&node->access)) {
      p->unmerged[number] = wished(s, node) & partition_reduced_over(p, number);
      p->sum_over[node->out[0]] |= p->unmerged[number];
    }
    for (int k = 0; k < node->n_in; k++) {
      p->sum_over[node->out[0]] |=
          (p->summands[number] >> k & 1) != 0 ? p->sum_over[node->in[k]] : 0;
    }
  }
  return WEIR_OK;
}

unsigned partition_counted_once(const weir_partition *p, int32_t node, int operand)
{
  const weir_node *n = weir_graph_node(p->g, node);

  return p->sum_over != NULL && (p->summands[node] >> operand & 1) != 0
             ? p->sum_over[n->out[0]] & ~p->unmerged[node] & ~p->sum_over[n->in[operand]]
             : 0;
}

static weir_status open_search(search *s)
{
  weir_partition *p = s->p;
  int32_t longest = 1;

  for (int32_t i = 0; i < p->n_order; i++) {
    const int32_t n = node_of(s, i)->access.body.n;

    longest = n > longest ? n : longest;
  }
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *p->sum_over, (void **)&p->sum_over));
  WEIR_TRY(weir_alloc(p->n_nodes, sizeof *p->unmerged, (void **)&p->unmerged));
  WEIR_TRY(weir_alloc(p->n_nodes, sizeof *p->summands, (void **)&p->summands));
  WEIR_TRY(weir_alloc(2 * (int64_t)p->n_arrays, sizeof *s->named, (void **)&s->named));
  s->may = s->named + p->n_arrays;
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *s->wish, (void **)&s->wish));
  return weir_alloc(longest, 1, (void **)&s->kind);
}

weir_status partition_find_sums(weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                                int n)
{
  search s = {.p = p};
  weir_status status = WEIR_OK;
  bool any = false;

  for (int i = 0; i < n; i++) {
    any = any || shards[i].dim == WEIR_SHARD_SUM;
  }
  if (!any) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(open_search(&s), done);
  WEIR_TRY_GOTO(take_rows(&s, grid, shards, n), done);
  for (int32_t a = 0; a < p->n_arrays; a++) {
    s.may[a] = s.named[a];
  }
  go_forward(&s);
  go_backward(&s);
  status = settle(&s);
done:
  weir_free(&s.named);
  weir_free(&s.wish);
  weir_free(&s.kind);
  return status;
}
