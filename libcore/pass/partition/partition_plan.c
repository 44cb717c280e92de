/* partition_plan.c - see weir_partition.h: boxes from the table of shardings and the accesses. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/partition/partition_priv.h"

static const weir_node *node_of(const weir_partition *p, int32_t node)
{
  return weir_graph_node(p->g, node);
}

const weir_grid *weir_partition_grid(const weir_partition *p)
{
  return &p->grid;
}

bool weir_partition_sharding(const weir_partition *p, int32_t array, int dim, weir_shard *out)
{
  const partition_shards *c = &p->array[array];

  *out = (weir_shard){.array = array, .dim = dim, .along = -1};
  for (int d = p->grid.dims - 1; d >= 0; d--) {
    out->along = (c->over[dim] >> d & 1) != 0 ? d : out->along;
  }
  if (out->along >= 0) {
    out->also = c->over[dim] & ~(1u << out->along);
    out->bounds = &p->bounds[c->first[dim]];
  }
  return out->along >= 0;
}

/* What the rank has of dimension d: [0], [1]; NULL: all of it. */
static const int64_t *piece_of(const weir_partition *p, const partition_shards *c, int d,
                               const int coords[WEIR_GRID_DIMS])
{
  return c->over[d] != 0 ? &p->bounds[c->first[d] + partition_piece(p, c->over[d], coords)] : NULL;
}

weir_box weir_partition_owned(const weir_partition *p, int32_t array, int rank)
{
  const weir_array_desc *desc = &weir_graph_get_array(p->g, array)->desc;
  const partition_shards *c = &p->array[array];
  weir_box box = {.rank = desc->rank};
  int coords[WEIR_GRID_DIMS];

  weir_grid_coords(&p->grid, rank, coords);
  for (int d = 0; d < desc->rank; d++) {
    const int64_t *at = piece_of(p, c, d, coords);

    box.lo[d] = at != NULL ? at[0] : 0;
    box.hi[d] = at != NULL ? at[1] : desc->shape[d];
  }
  return box;
}

weir_box weir_partition_iterations(const weir_partition *p, int32_t node, int rank)
{
  const weir_access *a = &node_of(p, node)->access;
  const weir_operand *x = &a->out[0];
  weir_box owned = weir_partition_owned(p, node_of(p, node)->out[0], rank);
  const partition_shards *c = &p->node[node];
  bool none[WEIR_MAX_DIMS] = {false};
  int coords[WEIR_GRID_DIMS];

  for (int d = 0; d < owned.rank; d++) { /* none along d: as one element, then without it */
    const bool empty = owned.lo[d] >= owned.hi[d];

    owned.lo[d] -= empty && owned.lo[d] > 0;
    owned.hi[d] = empty ? owned.lo[d] + 1 : owned.hi[d];
    for (int k = 0; k < a->n_dims && empty; k++) {
      none[k] = none[k] || x->index[d].coef[k] != 0;
    }
  }
  weir_grid_coords(&p->grid, rank, coords);
  weir_box box = weir_iterations_of(a, 0, &owned);

  for (int k = 0; k < a->n_dims; k++) {
    const int64_t *at = a->dim[k].kind == WEIR_REDUCED ? piece_of(p, c, k, coords) : NULL;

    if (at != NULL) {
      box.lo[k] = at[0];
      box.hi[k] = at[1];
    }
    box.hi[k] = none[k] || box.hi[k] < box.lo[k] ? box.lo[k] : box.hi[k];
  }
  return box;
}

unsigned partition_reduced_over(const weir_partition *p, int32_t node)
{
  const weir_access *a = &node_of(p, node)->access;
  unsigned dims = 0;

  for (int k = 0; k < a->n_dims; k++) {
    dims |= a->dim[k].kind == WEIR_REDUCED ? p->node[node].over[k] : 0;
  }
  for (int d = 0; d < p->grid.dims; d++) {
    dims &= p->grid.extent[d] > 1 ? ~0u : ~(1u << d);
  }
  return dims;
}

unsigned weir_partition_partial(const weir_partition *p, int32_t node)
{
  return partition_reduced_over(p, node) & ~(p->unmerged != NULL ? p->unmerged[node] : 0);
}

unsigned weir_partition_sum_over(const weir_partition *p, int32_t array)
{
  return p->sum_over != NULL ? p->sum_over[array] : 0;
}

bool partition_share_copy(const weir_partition *p, int32_t array, int one, int other)
{
  unsigned shard = 0;

  for (int d = 0; d < weir_graph_get_array(p->g, array)->desc.rank; d++) {
    shard |= p->array[array].over[d];
  }
  return weir_grid_sub_id(&p->grid, one, shard) == weir_grid_sub_id(&p->grid, other, shard);
}

int64_t weir_partition_partial_bytes(const weir_partition *p, int32_t node, int rank)
{
  int64_t sum = 0;

  for (int o = 0; o < node_of(p, node)->n_out && weir_partition_partial(p, node) != 0; o++) {
    const int32_t array = node_of(p, node)->out[o];
    const weir_box owned = weir_partition_owned(p, array, rank);
    const weir_dtype dtype = weir_graph_get_array(p->g, array)->desc.dtype;

    sum = weir_saturating_add(sum, weir_box_bytes(&owned, dtype));
  }
  return sum;
}

/* Takes from `box` the least that leaves nothing of `bad`, along dimensions whose pieces are
 * separate results: windows stay together. */
static void avoid(const weir_partition *p, int32_t node, weir_box *box, const weir_box *bad)
{
  const weir_access *a = &node_of(p, node)->access;
  const weir_box common = weir_box_intersect(box, bad);
  weir_box best = {.rank = box->rank}; /* where no dimension may: nothing */
  int64_t max = -1;

  if (weir_box_empty(&common)) {
    return;
  }
  for (int k = 0; k < box->rank; k++) {
    const bool may = a->dim[k].kind == WEIR_PARALLEL || p->node[node].over[k] != 0;

    for (int side = 0; side < 2 && may; side++) {
      weir_box rest = *box;

      *(side == 0 ? &rest.lo[k] : &rest.hi[k]) = side == 0 ? common.hi[k] : common.lo[k];
      if (weir_box_volume(&rest) > max) {
        max = weir_box_volume(&rest);
        best = rest;
      }
    }
  }
  *box = best;
}

weir_box weir_partition_interior(const weir_partition *p, int32_t node, int rank)
{
  const weir_node *n = node_of(p, node);
  weir_box box = weir_partition_iterations(p, node, rank);

  for (int in = 0; in < n->n_in; in++) { /* of what others own: below and above */
    const weir_box owned = weir_partition_owned(p, n->in[in], rank);
    const weir_array_desc *desc = &weir_graph_get_array(p->g, n->in[in])->desc;

    for (int d = 0; d < desc->rank; d++) {
      for (int side = 0; side < 2 && p->array[n->in[in]].over[d] != 0; side++) {
        weir_box others = {.rank = desc->rank}, bad;

        memcpy(others.hi, desc->shape, sizeof desc->shape);
        *(side == 0 ? &others.hi[d] : &others.lo[d]) = side == 0 ? owned.lo[d] : owned.hi[d];
        if (!weir_box_empty(&others)) {
          bad = weir_node_affected(p->g, n, in, &others);
          avoid(p, node, &box, &bad);
        }
      }
    }
  }
  return box;
}

/* Adds sharding i of n, which check_shard has checked. */
static weir_status take_shard(weir_partition *p, const weir_grid *grid, const weir_shard *shards,
                              int n, int i)
{
  const weir_shard *c = &shards[i];
  const weir_array_desc *desc = &weir_graph_get_array(p->g, c->array)->desc;
  partition_shards *to = &p->array[c->array];
  const unsigned over = c->dim < 0 ? 0 : partition_dims(p, grid, shards, n, i);
  const int last = partition_pieces(p, over);

  p->known[c->array] = true;
  p->fetched[c->array] = p->fetched[c->array] || c->fetched;
  if (c->dim < 0) {
    return WEIR_OK;
  }
  bool good = c->bounds[0] == 0 && c->bounds[last] == desc->shape[c->dim];

  for (int q = 0; q < last; q++) {
    good = good && c->bounds[q] <= c->bounds[q + 1];
  }
  for (int d = 0; d < desc->rank; d++) {
    good = good && (to->over[d] & over) == 0;
  }
  if (!good) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "partition: the bounds of the %d pieces of dimension %d of array %d do not "
                     "ascend from 0 to %lld, or another of its dimensions uses the same ranks of "
                     "the grid without all of these stating their number of pieces",
                     last, c->dim, (int)c->array, (long long)desc->shape[c->dim]);
  }
  if (over != 0) {
    WEIR_TRY(partition_reserve(p, over, &to->first[c->dim]));
    memcpy(&p->bounds[to->first[c->dim]], c->bounds, ((size_t)last + 1) * sizeof *c->bounds);
  }
  to->over[c->dim] = (uint8_t)over;
  return WEIR_OK;
}

/* Checks that the array and dimension of sharding i exist, and are named once. */
static weir_status check_shard(const weir_partition *p, const weir_grid *grid,
                               const weir_shard *shards, int i)
{
  const weir_shard *c = &shards[i];

  if (c->array < 0 || c->array >= p->n_arrays) {
    return weir_fail(WEIR_ERR_CONFIG, "partition: there is no array %d", (int)c->array);
  }
  const weir_array_desc *desc = &weir_graph_get_array(p->g, c->array)->desc;
  bool again = false;

  for (int k = 0; k < i && c->dim >= 0; k++) {
    again = again || (shards[k].array == c->array && shards[k].dim == c->dim);
  }
  if (c->dim == WEIR_SHARD_SUM &&
      (weir_graph_get_array(p->g, c->array)->kind != WEIR_ARRAY_STORED || c->along < 0 ||
       c->along >= grid->dims || c->also >> grid->dims != 0 || c->pieces != 0)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "partition: array %d is not stored, or cannot be a sum over dimension %d (and "
                     "those of mask %#x) of a grid of %d dimensions",
                     (int)c->array, c->along, c->also, grid->dims);
  }
  if (c->fetched && weir_graph_get_array(p->g, c->array)->kind == WEIR_ARRAY_TEMPORARY) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "partition: array %d is to be fetched by its readers, but a node makes it",
                     (int)c->array);
  }
  if (c->dim >= 0 &&
      (c->dim >= desc->rank || c->along < 0 || c->along >= grid->dims ||
       c->also >> grid->dims != 0 || c->pieces < 0 || desc->time == c->dim + 1 || again)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "partition: dimension %d of array %d, of rank %d, cannot be sharded along "
                     "dimension %d (and those of mask %#x) of a grid of %d dimensions",
                     c->dim, (int)c->array, desc->rank, c->along, c->also, grid->dims);
  }
  return WEIR_OK;
}

/* Outputs of one node are made by the same iterations. */
static weir_status check_outputs(const weir_partition *p, int32_t number)
{
  const weir_node *node = node_of(p, number);
  const int ranks = weir_grid_size(&p->grid);

  for (int o = 1; o < node->n_out; o++) {
    for (int rank = 0; rank < ranks; rank++) {
      const weir_box first = weir_partition_owned(p, node->out[0], rank);
      const weir_box other = weir_partition_owned(p, node->out[o], rank);
      const weir_box a = weir_iterations_of(&node->access, 0, &first);
      const weir_box b = weir_iterations_of(&node->access, o, &other);

      const size_t size = (size_t)a.rank * sizeof *a.lo;
      const bool none = weir_box_empty(&first);

      if (none != weir_box_empty(&other) ||
          (!none && (memcmp(a.lo, b.lo, size) != 0 || memcmp(a.hi, b.hi, size) != 0))) {
        return weir_fail(WEIR_ERR_UNSUPPORTED,
                         "partition: outputs 0 and %d of node %d (%s) are sharded differently", o,
                         (int)number, node->op->name);
      }
    }
  }
  return WEIR_OK;
}

/* The new value of an array that stays a sum lies as it does, whatever it is made of. */
static void pin_sums(weir_partition *p, const weir_shard *shards, int n)
{
  for (int i = 0; i < n; i++) {
    const int32_t to = weir_graph_get_array(p->g, shards[i].array)->update;

    if (shards[i].dim == WEIR_SHARD_SUM && to >= 0 && !p->known[to] &&
        weir_graph_get_array(p->g, to)->kind == WEIR_ARRAY_TEMPORARY) {
      p->array[to] = p->array[shards[i].array];
      p->known[to] = true;
    }
  }
}

static weir_status fill(weir_partition *p, const weir_grid *grid, const weir_shard *shards, int n)
{
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *p->array, (void **)&p->array));
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *p->known, (void **)&p->known));
  WEIR_TRY(weir_alloc(p->n_arrays, sizeof *p->fetched, (void **)&p->fetched));
  WEIR_TRY(weir_alloc(p->n_nodes, sizeof *p->node, (void **)&p->node));
  WEIR_TRY(weir_alloc(p->n_nodes, sizeof *p->order, (void **)&p->order));
  WEIR_TRY(weir_grid_check(grid, -1));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(check_shard(p, grid, shards, i));
  }
  WEIR_TRY(partition_split_grid(p, grid, shards, n));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(take_shard(p, grid, shards, n, i));
  }
  pin_sums(p, shards, n);
  WEIR_TRY(weir_graph_order(p->g, p->order, &p->n_order));
  for (int32_t i = 0; i < p->n_order; i++) {
    WEIR_TRY(partition_shard_node(p, p->order[i]));
    WEIR_TRY(check_outputs(p, p->order[i]));
  }
  return partition_find_sums(p, grid, shards, n);
}

weir_status weir_partition_create(const weir_graph *g, const weir_grid *grid,
                                  const weir_shard *shards, int n, weir_partition **out)
{
  weir_partition *p = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *p, (void **)&p));
  p->g = g;
  p->n_arrays = weir_graph_arrays(g);
  p->n_nodes = weir_graph_nodes(g);
  WEIR_TRY_GOTO(fill(p, grid, shards, n), fail);
  *out = p;
  return WEIR_OK;
fail:
  weir_partition_destroy(&p);
  return status;
}

void weir_partition_destroy(weir_partition **p)
{
  if (*p != NULL) {
    weir_free(&(*p)->array);
    weir_free(&(*p)->known);
    weir_free(&(*p)->fetched);
    weir_free(&(*p)->sum_over);
    weir_free(&(*p)->unmerged);
    weir_free(&(*p)->summands);
    weir_free(&(*p)->node);
    weir_free(&(*p)->order);
    weir_free(&(*p)->bounds);
    weir_free(p);
  }
}
