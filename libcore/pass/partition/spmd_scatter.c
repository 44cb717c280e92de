/* spmd_scatter.c - partial outputs of which each rank reads a box alone: partial sums of the boxes
 * go to their readers, who add them up (reduce-scatter), in place of a merge that leaves all of it
 * on every rank. */
#include "base/weir_alloc.h"
#include "pass/partition/spmd_priv.h"

/* Whether more than the operands of nodes want all of it. */
static bool is_kept(const spmd_lowering *l, int32_t array)
{
  bool kept = weir_graph_get_array(l->p->g, array)->output != NULL;

  for (int32_t a = 0; a < l->p->n_arrays && !kept; a++) {
    kept = weir_graph_get_array(l->p->g, a)->update == array;
  }
  return kept;
}

static weir_box hull(const weir_box *a, const weir_box *b)
{
  weir_box out = weir_box_empty(a) ? *b : *a;

  for (int d = 0; d < a->rank && !weir_box_empty(a) && !weir_box_empty(b); d++) {
    out.lo[d] = a->lo[d] < b->lo[d] ? a->lo[d] : b->lo[d];
    out.hi[d] = a->hi[d] > b->hi[d] ? a->hi[d] : b->hi[d];
  }
  return out;
}

/* What each rank reads of the array, by all readers: get [ranks], scratch likewise. False: nobody
 * reads it, or not as a box. */
static bool find_read(const spmd_lowering *l, int32_t array, weir_box *get, weir_box *scratch)
{
  bool any = false;

  for (int32_t i = 0; i < l->p->n_order; i++) {
    const weir_node *node = weir_graph_node(l->p->g, l->p->order[i]);

    for (int k = 0; k < node->n_in; k++) {
      if (node->in[k] != array) {
        continue;
      }
      if (node->access.in[k].role != WEIR_ROLE_DATA) {
        return false;
      }
      spmd_needed(l, l->p->order[i], k, scratch);
      for (int r = 0; r < l->ranks; r++) {
        get[r] = any ? hull(&get[r], &scratch[r]) : scratch[r];
      }
      any = true;
    }
  }
  return any;
}

/* Whether two ranks have partial sums of the same copy of the output. */
static bool share_sum(const spmd_lowering *l, int32_t array, unsigned partial, int one, int other)
{
  unsigned dims = partial;

  for (int d = 0; d < weir_graph_get_array(l->p->g, array)->desc.rank; d++) {
    dims |= l->p->array[array].over[d];
  }
  return weir_grid_sub_id(&l->p->grid, one, dims) == weir_grid_sub_id(&l->p->grid, other, dims);
}

/* Ranks that have partial sums of each element. */
static double summands(const spmd_lowering *l, const spmd_move *merge)
{
  double n = 1;

  for (int d = 0; d < l->p->grid.dims; d++) {
    n *= (merge->move->dims >> d & 1) != 0 ? l->p->grid.extent[d] : 1;
  }
  return n;
}

/* Elements of boxes [ranks] that a rank does not own, all ranks together; all: of all boxes. */
static double not_owned(const spmd_lowering *l, int32_t array, const weir_box *get, double *all)
{
  double sum = 0;

  *all = 0;
  for (int r = 0; r < l->ranks; r++) {
    const weir_box owned = weir_partition_owned(l->p, array, r);
    const weir_box there = weir_box_intersect(&owned, &get[r]);

    *all += (double)weir_box_volume(&get[r]);
    sum += (double)(weir_box_volume(&get[r]) - weir_box_volume(&there));
  }
  return sum;
}

/* Elements that all ranks send: of boxes of partial sums, each from all who have one of it. */
static double sent_as_messages(const spmd_lowering *l, const spmd_move *merge, const weir_box *get)
{
  double all;
  const double absent = not_owned(l, merge->array, get, &all), n = summands(l, merge);

  return (n - 1) * all + absent;
}

/* By the merge, and the exchanges after it. */
static double sent_as_merge(const spmd_lowering *l, const spmd_move *merge)
{
  const double n = summands(l, merge);
  double sent = 0, all;

  for (int r = 0; r < l->ranks; r++) {
    const weir_box owned = weir_partition_owned(l->p, merge->array, r);

    sent += 2 * (n - 1) / n * (double)weir_box_volume(&owned);
  }
  for (int32_t m = 0; m < l->n_moves; m++) {
    const spmd_move *x = &l->moves[m];

    if (x->array == merge->array && x->move->kind == WEIR_COMM_OP_EXCHANGE) {
      sent += not_owned(l, x->array, x->get, &all);
    }
  }
  return sent;
}

/* Whether partial sums of one element are reduced by themselves, without those of other outputs. */
static bool can_split(const weir_comm_op *m)
{
  const weir_reducer *r = weir_partition_reducer(m->monoid, m->dtype);

  return m->n == 1 && r != NULL && r->size == weir_dtype_size(m->dtype);
}

static weir_status fill(const spmd_lowering *l, spmd_move *x)
{
  weir_comm_op *m = x->move;
  int64_t capacity = 0;

  m->from = weir_partition_owned(l->p, x->array, l->rank);
  m->to = x->get[l->rank];
  for (int other = 0; other < l->ranks; other++) {
    const weir_box theirs = weir_partition_owned(l->p, x->array, other);
    const weir_box boxes[] = {weir_box_intersect(&m->from, &x->get[other]),
                              weir_box_intersect(&theirs, &m->to)};

    for (int direction = 0; direction < 2; direction++) {
      if (other != l->rank && !weir_box_empty(&boxes[direction]) &&
          share_sum(l, x->array, m->dims, l->rank, other)) {
        WEIR_TRY(spmd_add_message(x, &capacity, other, direction == 1, &boxes[direction]));
      }
    }
  }
  spmd_carry_own(m);
  return WEIR_OK;
}

/* Puts the boxes in place of the merge and of exchanges of the array; takes get. */
static weir_status replace(spmd_lowering *l, int32_t merge, weir_box **get)
{
  const int32_t array = l->moves[merge].array, number = l->n_moves;
  spmd_move *x;

  WEIR_TRY(spmd_push(l, array, WEIR_COMM_OP_REDUCE_SCATTER, &x));
  x->node = l->moves[merge].node;
  x->get = *get;
  *get = NULL;
  x->move->monoid = l->moves[merge].move->monoid;
  x->move->dims = l->moves[merge].move->dims;
  for (int32_t m = 0; m < number; m++) {
    if (l->moves[m].array == array) {
      l->moves[m].started = l->moves[m].finished = true; /* neither is added */
    }
  }
  l->merge[array] = -1;
  for (int32_t i = 0; i < l->p->n_order; i++) {
    const int32_t node = l->p->order[i];

    for (int k = 0; k < weir_graph_node(l->p->g, node)->n_in; k++) {
      if (weir_graph_node(l->p->g, node)->in[k] == array) {
        l->choice[(int64_t)node * WEIR_MAX_OPERANDS + k] = number;
      }
    }
  }
  return fill(l, x);
}

weir_status spmd_find_scatters(spmd_lowering *l)
{
  const int32_t found = l->n_moves;
  weir_box *get = NULL, *scratch = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(l->ranks, sizeof *scratch, (void **)&scratch));
  for (int32_t m = 0; m < found; m++) {
    const spmd_move *x = &l->moves[m];

    if (x->move->kind != WEIR_COMM_OP_ALLREDUCE || !can_split(x->move) || is_kept(l, x->array)) {
      continue;
    }
    if (get == NULL) {
      WEIR_TRY_GOTO(weir_alloc(l->ranks, sizeof *get, (void **)&get), done);
    }
    if (find_read(l, x->array, get, scratch) &&
        sent_as_messages(l, x, get) < sent_as_merge(l, x) * (1 - 1e-12)) {
      WEIR_TRY_GOTO(replace(l, m, &get), done);
    }
  }
done:
  weir_free(&get);
  weir_free(&scratch);
  return status;
}
