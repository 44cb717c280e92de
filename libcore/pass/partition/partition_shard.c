/* partition_shard.c - which iterations of a node belong to the owners of what it reads. */
#include "base/weir_alloc.h"
#include "pass/partition/partition_priv.h"

weir_status partition_reserve(weir_partition *p, unsigned over, int32_t *first)
{
  const int64_t more = partition_pieces(p, over) + 1;

  if (p->n_bounds + more > INT32_MAX) {
    return weir_fail(WEIR_ERR_MEMORY, "partition: too many shardings");
  }
  WEIR_TRY(weir_reserve(&p->bounds, &p->capacity, p->n_bounds + more, sizeof *p->bounds));
  *first = (int32_t)p->n_bounds;
  p->n_bounds += more;
  return WEIR_OK;
}

/* One iteration dimension that could be sharded with array dimension d of operand `in`, into so
 * many pieces. */
typedef struct choice {
  int in, d, k, rank; /* rank: 3 the index is the iteration, 2 of that dimension alone, 1 of others
                         too, 0 none */
  int pieces;
} choice;

/* The middle of what the iterations read whose dimension k is i: divided last, so that with
 * windows it is that of the middle of the elements that they lie over. */
static int64_t middle(const weir_access *a, const weir_index *x, int k, int64_t i)
{
  weir_box box = weir_iterations(a);
  weir_index undivided = *x;
  int64_t min, max;

  box.lo[k] = i;
  box.hi[k] = i + 1;
  undivided.div = 1;
  weir_index_range(&undivided, &box, &min, &max);
  return weir_floor_div(weir_floor_div(min + max, 2), weir_index_divisor(x));
}

/* Dimensions of the grid over which one of the first n is sharded. */
static unsigned all_over(const partition_shards *c, int n)
{
  unsigned over = 0;

  for (int d = 0; d < n; d++) {
    over |= c->over[d];
  }
  return over;
}

/* True when the index grows with its iteration dimensions and stays there at the borders. */
static bool is_monotone(const weir_access *a, const weir_index *x, int64_t extent)
{
  const weir_box whole = weir_iterations(a);
  int64_t min, max;

  if (x->gather > 0 || weir_box_empty(&whole)) {
    return false;
  }
  weir_index_range(x, &whole, &min, &max);
  return (min >= 0 && max < extent) ||
         (x->border != WEIR_BORDER_WRAP && x->border != WEIR_BORDER_REFLECT);
}

static bool may_shard(const weir_access *a, int k)
{
  const weir_dim *dim = &a->dim[k];

  /* Random numbers are counted over all iterations. */
  return !dim->time && a->maker != WEIR_MADE_BY_CALL &&
         !weir_body_uses(&a->body, WEIR_CODE_RANDOM) &&
         (dim->kind == WEIR_PARALLEL ||
          (dim->kind == WEIR_REDUCED && a->n_states == 0 &&
           weir_partition_reducer(a->combine, a->out[0].dtype) != NULL));
}

/* How well dimension k follows the index: where several do, parallel ones and those that it goes
 * far along. */
static int rank_of(const weir_access *a, const weir_index *x, int k)
{
  int terms = 0;

  for (int j = 0; j < a->n_dims; j++) {
    terms += x->coef[j] != 0;
  }
  if (x->coef[k] <= 0 || !may_shard(a, k)) {
    return 0;
  }
  return weir_index_follows(x, a->n_dims) == k ? 3 : terms == 1 ? 2 : 1;
}

/* How far the index goes along the dimension: of a position in an array, that of its rows. */
static double reach(const weir_access *a, const choice *c)
{
  return (double)(a->dim[c->k].hi - a->dim[c->k].lo) * (double)a->in[c->in].index[c->d].coef[c->k];
}

static bool is_better(const weir_access *a, const choice *c, const choice *than)
{
  if (c->rank != than->rank || c->rank == 0) {
    return c->rank > than->rank;
  }
  const weir_dim *x = &a->dim[c->k], *y = &a->dim[than->k];

  if (x->kind != y->kind) {
    return x->kind == WEIR_PARALLEL;
  }
  if (c->pieces != than->pieces) {
    return c->pieces > than->pieces;
  }
  return reach(a, c) > reach(a, than);
}

/* Dimensions of the grid over which the caller shards an output; all, where others write it too:
 * its owners then need every reduced iteration. */
static unsigned sharded_by_outputs(const weir_partition *p, const weir_node *node)
{
  unsigned over = 0;

  for (int o = 0; o < node->n_out; o++) {
    if (weir_graph_writers(p->g, node->out[o], NULL, 0) != 1) {
      return ~0u;
    }
    over |=
        p->known[node->out[o]] ? all_over(&p->array[node->out[o]], node->access.out[o].rank) : 0;
  }
  return over;
}

/* The best way in which the node goes with inputs sharded along a dimension of the grid, and
 * perhaps along others that it is not sharded over yet. */
static choice choose(const weir_partition *p, int32_t number, int along)
{
  const weir_node *node = weir_graph_node(p->g, number);
  const weir_access *a = &node->access;
  const unsigned whole = sharded_by_outputs(p, node), taken = all_over(&p->node[number], a->n_dims);
  choice best = {.rank = 0};

  for (int in = 0; in < node->n_in; in++) {
    const weir_operand *x = &a->in[in];

    for (int d = 0; d < x->rank && x->role == WEIR_ROLE_DATA; d++) {
      const unsigned over = p->array[node->in[in]].over[d];

      if ((over >> along & 1) == 0 || (over & taken) != 0 || p->fetched[node->in[in]] ||
          !is_monotone(a, &x->index[d], x->extent[d])) {
        continue;
      }
      for (int k = 0; k < a->n_dims; k++) {
        const choice c = {in, d, k, rank_of(a, &x->index[d], k), partition_pieces(p, over)};

        if (p->node[number].over[k] == 0 &&
            !((over & whole) != 0 && a->dim[k].kind == WEIR_REDUCED) && is_better(a, &c, &best)) {
          best = c;
        }
      }
    }
  }
  return best;
}

/* First iteration whose middle is not below the bound. */
static int64_t first_from(const weir_access *a, const weir_index *x, int k, int64_t bound)
{
  int64_t lo = a->dim[k].lo, hi = a->dim[k].hi;

  while (lo < hi) {
    const int64_t i = lo + (hi - lo) / 2;

    if (middle(a, x, k, i) < bound) {
      lo = i + 1;
    } else {
      hi = i;
    }
  }
  return lo;
}

/* Cuts iterations along one dimension of the grid, unless they are. */
static weir_status shard_iterations(weir_partition *p, int32_t number, int along)
{
  const weir_node *node = weir_graph_node(p->g, number);
  const choice c = choose(p, number, along);
  const weir_access *a = &node->access;
  int32_t first = 0;

  if (c.rank == 0) {
    return WEIR_OK;
  }
  const unsigned over = p->array[node->in[c.in]].over[c.d];

  WEIR_TRY(partition_reserve(p, over, &first));
  const int64_t *from = &p->bounds[p->array[node->in[c.in]].first[c.d]];
  int64_t *to = &p->bounds[first];
  const int last = c.pieces;

  for (int q = 1; q < last; q++) {
    to[q] = first_from(a, &a->in[c.in].index[c.d], c.k, from[q]);
  }
  to[0] = a->dim[c.k].lo;
  to[last] = a->dim[c.k].hi;
  p->node[number].over[c.k] = (uint8_t)over;
  p->node[number].first[c.k] = first;
  return WEIR_OK;
}

/* Whether every writer of the array follows its dimension d: then any sharding of it serves them
 * all. */
static bool all_follow(const weir_partition *p, int32_t array, int d)
{
  bool yes = true;

  for (int32_t i = 0; i < p->n_nodes && yes; i++) {
    const weir_node *node = weir_graph_node(p->g, i);

    for (int o = 0; o < node->n_out && node->op != NULL && !node->dead; o++) {
      yes = yes && (node->out[o] != array ||
                    weir_operand_dim(&node->access.out[o], &node->access, d) >= 0);
    }
  }
  return yes;
}

/* An output takes the sharding of the iterations that its indices are; of several writers, those of
 * the first that is sharded. */
static void shard_output(weir_partition *p, int32_t number, int output)
{
  const weir_node *node = weir_graph_node(p->g, number);
  const weir_operand *x = &node->access.out[output];
  partition_shards *to = &p->array[node->out[output]];
  const bool shared = weir_graph_writers(p->g, node->out[output], NULL, 0) != 1;

  if (p->known[node->out[output]] || x->role != WEIR_ROLE_DATA) {
    return;
  }
  for (int d = 0; d < x->rank; d++) {
    const int k = weir_operand_dim(x, &node->access, d);

    if (k >= 0 && to->over[d] == 0 && (all_over(to, x->rank) & p->node[number].over[k]) == 0 &&
        (!shared || all_follow(p, node->out[output], d))) {
      to->over[d] = p->node[number].over[k];
      to->first[d] = p->node[number].first[k];
    }
  }
}

weir_status partition_shard_node(weir_partition *p, int32_t node)
{
  for (int along = 0; along < p->grid.dims; along++) {
    WEIR_TRY(shard_iterations(p, node, along));
  }
  for (int o = 0; o < weir_graph_node(p->g, node)->n_out; o++) {
    shard_output(p, node, o);
  }
  return WEIR_OK;
}
