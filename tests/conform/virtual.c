/* virtual.c - memories of several ranks in one process, what each computes by the definition of the
 * accesses, communication as copies. */
#include "virtual.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_check.h"
#include "ops/call/weir_call.h"
#include "oracle.h"
#include "pass/partition/weir_spmd.h"
#include "pass/weir_pass.h"

/* A graph and memory of its own for every array. */
typedef struct world {
  weir_graph *g;
  weir_tensor *array; /* [arrays] */
  int32_t n;
} world;

/* Memory begins with bytes that mean nothing, so that who reads what nobody made is seen: no
 * numbers, or large ones, which a maximum does not swallow. */
static world world_of(weir_graph *g, bool large)
{
  world w = {.g = g, .n = weir_graph_arrays(g)};

  w.array = calloc((size_t)w.n + 1, sizeof *w.array);
  assert_non_null(w.array);
  for (int32_t a = 0; a < w.n; a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    assert_ok(
        weir_tensor_init(&w.array[a], array->desc.dtype, array->desc.rank, array->desc.shape));
    if (array->kind == WEIR_ARRAY_CONSTANT) {
      assert_ok(weir_tensor_copy(&array->constant, &w.array[a]));
    } else if (weir_tensor_numel(&w.array[a]) > 0) {
      memset(w.array[a].data, large ? 0x4b : 0xff,
             (size_t)weir_tensor_numel(&w.array[a]) * weir_dtype_size(array->desc.dtype));
    }
  }
  return w;
}

static void leave(world *w)
{
  for (int32_t a = 0; a < w->n; a++) {
    weir_tensor_fini(&w->array[a]);
  }
  free(w->array);
}

/* Copies the elements of a box, in indices of the whole array, of which the tensors begin at lo. */
static void copy_box(const weir_box *box, const weir_tensor *from, const int64_t *from_lo,
                     weir_tensor *to, const int64_t *to_lo)
{
  const int64_t n = box->rank == 0 ? 1 : weir_box_volume(box);
  const size_t size = weir_dtype_size(from->dtype);

  for (int64_t i = 0; i < n; i++) {
    int64_t at[WEIR_MAX_RANK], left = i, source = 0, target = 0;

    for (int d = box->rank - 1; d >= 0; d--) {
      at[d] = box->lo[d] + left % (box->hi[d] - box->lo[d]);
      left /= box->hi[d] - box->lo[d];
    }
    for (int d = 0; d < box->rank; d++) {
      assert_true(at[d] >= from_lo[d] && at[d] < from_lo[d] + from->shape[d]);
      assert_true(at[d] >= to_lo[d] && at[d] < to_lo[d] + to->shape[d]);
      source = source * from->shape[d] + at[d] - from_lo[d];
      target = target * to->shape[d] + at[d] - to_lo[d];
    }
    memcpy((char *)to->data + (size_t)target * size, (char *)from->data + (size_t)source * size,
           size);
  }
}

/* A node that moves nothing. */
static void evaluate(const world *w, int32_t number)
{
  const weir_node *node = weir_graph_node(w->g, number);
  weir_tensor in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  weir_view in_view[WEIR_MAX_OPERANDS], out_view[WEIR_MAX_OUTPUTS];

  for (int k = 0; k < node->n_in; k++) {
    in[k] = w->array[node->in[k]];
    in_view[k] = weir_view_of(&in[k]);
  }
  for (int o = 0; o < node->n_out; o++) {
    out[o] = w->array[node->out[o]];
    out_view[o] = weir_view_of(&out[o]);
  }
  const weir_box box = weir_iterations(&node->access);

  if (node->access.maker != WEIR_MADE_BY_BODY) {
    assert_ok(oracle_call(node, in_view, out_view));
    return;
  }
  const oracle_run run = {.access = &node->access, .box = box, .in = in, .out = out};

  oracle_evaluate(&run);
}

/* The move that a call stands for, -1: none; *finish: its end. */
static int32_t move_of(const weir_spmd_graph *l, int32_t node, bool *finish)
{
  const weir_comm_op *starts = weir_spmd_graph_starts(l->g, node),
                     *move = starts != NULL ? starts : weir_spmd_graph_finishes(l->g, node);

  for (int32_t m = 0; m < l->n && move != NULL; m++) {
    if (move == l->moves[m]) {
      *finish = starts == NULL;
      return m;
    }
  }
  return -1;
}

/* Both sides list the same boxes in the same order; this one's end is filled. start: the node that
 * took what is sent. */
static void exchange(const world *w, const weir_spmd_graph *l, int ranks, int me, int32_t m,
                     int32_t start, int32_t number)
{
  const weir_comm_op *mine = l[me].moves[m];
  const weir_node *node = weir_graph_node(l[me].g, number);
  weir_tensor *to = &w[me].array[node->out[0]];
  const weir_box own = weir_box_intersect(&mine->from, &mine->to);

  if (own.rank == 0 || !weir_box_empty(&own)) {
    copy_box(&own, &w[me].array[weir_graph_node(l[me].g, start)->in[0]], mine->from.lo, to,
             mine->to.lo);
  }
  for (int peer = 0; peer < ranks; peer++) {
    const weir_comm_op *theirs = l[peer].moves[m];
    const weir_tensor *from = &w[peer].array[weir_graph_node(l[peer].g, start)->in[0]];
    int64_t j = 0;

    for (int64_t i = 0; i < mine->n_messages; i++) {
      if (mine->messages[i].peer != peer || !mine->messages[i].receive) {
        continue;
      }
      while (j < theirs->n_messages &&
             (theirs->messages[j].peer != me || theirs->messages[j].receive)) {
        j++;
      }
      assert_true(j < theirs->n_messages);
      assert_memory_equal(&theirs->messages[j].box, &mine->messages[i].box, sizeof own);
      copy_box(&mine->messages[i].box, from, theirs->from.lo, to, mine->to.lo);
      j++;
    }
  }
}

/* Adds a box of what a rank has to what another one gets of it; seen: elements that it has. */
static void add_box(const weir_reducer *r, const weir_box *box, const weir_tensor *from,
                    const int64_t *from_lo, weir_tensor *to, const int64_t *to_lo, bool *seen)
{
  const size_t size = weir_dtype_size(to->dtype);
  weir_tensor more;

  assert_ok(weir_tensor_init(&more, to->dtype, to->rank, to->shape));
  copy_box(box, from, from_lo, &more, to_lo);
  for (int64_t i = 0; i < weir_tensor_numel(to); i++) {
    char *const here = (char *)to->data + (size_t)i * size;
    const char *there = (const char *)more.data + (size_t)i * size;
    int64_t left = i;
    bool inside = true;

    for (int d = to->rank - 1; d >= 0; d--) {
      const int64_t at = to_lo[d] + left % to->shape[d];

      inside = inside && at >= box->lo[d] && at < box->hi[d];
      left /= to->shape[d];
    }
    if (inside && seen[i]) {
      r->merge(here, there, 1);
    } else if (inside) {
      memcpy(here, there, size);
      seen[i] = true;
    }
  }
  weir_tensor_fini(&more);
}

/* Parts come in the order of ranks, this one's own among them, and leave no element out. */
static void reduce_scatter(const world *w, const weir_spmd_graph *l, int ranks, int me, int32_t m,
                           int32_t start, int32_t number)
{
  const weir_comm_op *mine = l[me].moves[m];
  const weir_node *node = weir_graph_node(l[me].g, number);
  const weir_reducer *r = weir_partition_reducer(mine->monoid, mine->dtype);
  weir_tensor *to = &w[me].array[node->out[0]];
  const weir_box own = weir_box_intersect(&mine->from, &mine->to);
  bool *seen = calloc((size_t)weir_tensor_numel(to) + 1, sizeof *seen);
  int last = -1;

  assert_non_null(r);
  assert_non_null(seen);
  for (int peer = 0; peer < ranks; peer++) {
    const weir_comm_op *theirs = l[peer].moves[m];
    const weir_tensor *from = &w[peer].array[weir_graph_node(l[peer].g, start)->in[0]];
    bool given = false;

    if (peer == me && !weir_box_empty(&own)) {
      add_box(r, &own, from, mine->from.lo, to, mine->to.lo, seen);
    }
    for (int64_t i = 0; i < mine->n_messages; i++) {
      if (mine->messages[i].peer == peer && mine->messages[i].receive) {
        assert_true(peer > last);
        last = peer;
        add_box(r, &mine->messages[i].box, from, theirs->from.lo, to, mine->to.lo, seen);
        for (int64_t j = 0; j < theirs->n_messages; j++) {
          given =
              given || (theirs->messages[j].peer == me && !theirs->messages[j].receive &&
                        memcmp(&theirs->messages[j].box, &mine->messages[i].box, sizeof own) == 0);
        }
        assert_true(given);
      }
    }
  }
  for (int64_t i = 0; i < weir_tensor_numel(to); i++) {
    assert_true(seen[i]);
  }
  free(seen);
}

/* Elements of the arrays of a merge, as reducers take them. */
static void pack(const world *w, const int32_t *arrays, int n, int64_t i, double *tuple)
{
  for (int o = 0; o < n; o++) {
    const weir_tensor *t = &w->array[arrays[o]];
    const size_t size = weir_dtype_size(t->dtype);

    if (n == 1) {
      memcpy(tuple, (char *)t->data + (size_t)i * size, size);
    } else {
      tuple[o] = weir_dtype_load_real(t->dtype, t->data, i);
    }
  }
}

/* start: the node that took the partial results. */
static void merge(const world *w, const weir_spmd_graph *l, const weir_grid *grid, int me,
                  int32_t m, int32_t start, int32_t number)
{
  const weir_comm_op *mine = l[me].moves[m];
  const weir_node *node = weir_graph_node(l[me].g, number);
  const weir_reducer *r = weir_partition_reducer(mine->monoid, mine->dtype);
  const int64_t count = weir_tensor_numel(&w[me].array[node->out[0]]);
  double sum[3], more[3];

  assert_non_null(r);
  for (int64_t i = 0; i < count; i++) {
    bool any = false;

    for (int peer = 0; peer < weir_grid_size(grid); peer++) {
      if (weir_grid_sub_id(grid, peer, mine->dims) != weir_grid_sub_id(grid, me, mine->dims)) {
        continue;
      }
      pack(&w[peer], weir_graph_node(l[peer].g, start)->in, mine->n, i, any ? more : sum);
      if (any) {
        r->merge(sum, more, 1);
      }
      any = true;
    }
    for (int o = 0; o < mine->n; o++) {
      weir_tensor *t = &w[me].array[node->out[o]];
      const size_t size = weir_dtype_size(t->dtype);

      if (mine->n == 1) {
        memcpy((char *)t->data + (size_t)i * size, sum, size);
      } else {
        weir_dtype_store_real(t->dtype, t->data, i, sum[o]);
      }
    }
  }
}

/* Where a rank is in its own order of nodes. */
typedef struct walk {
  int32_t *order, *starts; /* starts: [moves] */
  int32_t n, at;
} walk;

static walk walk_of(const world *w, const weir_spmd_graph *l)
{
  const int32_t nodes = weir_graph_nodes(w->g);
  walk k = {.order = calloc((size_t)nodes, sizeof *k.order),
            .starts = calloc(l == NULL ? 1 : (size_t)l->n + 1, sizeof *k.starts)};

  assert_non_null(k.order);
  assert_non_null(k.starts);
  assert_ok(weir_graph_order(w->g, k.order, &k.n));
  return k;
}

/* Up to the next move that is finished, which is returned; -1: to the end. */
static int32_t go_on(const world *w, const weir_spmd_graph *l, walk *k)
{
  for (; k->at < k->n; k->at++) {
    bool finish = false;
    const int32_t number = k->order[k->at];
    const int32_t m = l == NULL ? -1 : move_of(l, number, &finish);

    if (m < 0) {
      evaluate(w, number);
    } else if (finish) {
      return m;
    } else {
      k->starts[m] = number;
    }
  }
  return -1;
}

/* All ranks, each in its own order, together where a move is finished. */
static void run_all(const world *w, const weir_spmd_graph *l, const weir_grid *grid)
{
  const int ranks = weir_grid_size(grid);
  walk k[VIRTUAL_RANKS];
  int32_t m = 0;

  for (int me = 0; me < ranks; me++) {
    k[me] = walk_of(&w[me], l == NULL ? NULL : &l[me]);
  }
  while (m >= 0) {
    for (int me = 0; me < ranks; me++) {
      const int32_t here = go_on(&w[me], l == NULL ? NULL : &l[me], &k[me]);

      assert_true(me == 0 || here == m);
      m = here;
    }
    for (int me = 0; me < ranks && m >= 0; me++) {
      const int32_t number = k[me].order[k[me].at++];

      if (l[me].moves[m]->kind == WEIR_COMM_OP_EXCHANGE) {
        exchange(w, l, ranks, me, m, k[me].starts[m], number);
      } else if (l[me].moves[m]->kind == WEIR_COMM_OP_REDUCE_SCATTER) {
        reduce_scatter(w, l, ranks, me, m, k[me].starts[m], number);
      } else {
        merge(w, l, grid, me, m, k[me].starts[m], number);
      }
    }
  }
  for (int me = 0; me < ranks; me++) {
    free(k[me].order);
    free(k[me].starts);
  }
}

/* Of the largest element, rounding of sums that are made in another order. */
static double within(weir_dtype dtype)
{
  const weir_dtype part = weir_dtype_part(dtype);

  return part == WEIR_F64 ? 1e-12 : part == WEIR_F32 ? 1e-5 : 2e-2;
}

static bool agree(const weir_tensor *part, const weir_box *box, const weir_tensor *whole,
                  bool exact)
{
  const double off = exact ? 0 : within(part->dtype);
  const int64_t origin[WEIR_MAX_RANK] = {0};
  weir_tensor expected;
  double scale = 0;
  bool good = true;

  assert_ok(weir_tensor_init(&expected, part->dtype, part->rank, part->shape));
  if (box->rank == 0 || !weir_box_empty(box)) {
    copy_box(box, whole, origin, &expected, box->lo);
  }
  for (int64_t i = 0; i < weir_tensor_numel(whole); i++) {
    const weir_c128 z = weir_dtype_load_complex(whole->dtype, whole->data, i);
    const double x = hypot(z.re, z.im);

    scale = isfinite(x) && x > scale ? x : scale;
  }
  for (int64_t i = 0; i < weir_tensor_numel(&expected) && good; i++) {
    const weir_c128 x = weir_dtype_load_complex(part->dtype, part->data, i);
    const weir_c128 y = weir_dtype_load_complex(part->dtype, expected.data, i);
    const bool both_nan = (isnan(x.re) || isnan(x.im)) && (isnan(y.re) || isnan(y.im));

    good = weir_dtype_is_whole(part->dtype) ? weir_dtype_load_int(part->dtype, part->data, i) ==
                                                  weir_dtype_load_int(part->dtype, expected.data, i)
                                            : (x.re == y.re && x.im == y.im) || both_nan ||
                                                  hypot(x.re - y.re, x.im - y.im) <= off * scale;
    if (!good) {
      fprintf(stderr, "element %lld is %g + %g i, whole %g + %g i, largest %g\n", (long long)i,
              x.re, x.im, y.re, y.im, scale);
    }
  }
  weir_tensor_fini(&expected);
  return good;
}

/* Whether a rank's summand of an array is what the whole array is: of others it is 0. */
static bool has_all(const weir_partition *part, int32_t array, int rank)
{
  const unsigned over = weir_partition_sum_over(part, array);

  return weir_grid_sub_id(weir_partition_grid(part), rank, over) == rank;
}

/* Inputs of the whole world in the boxes of a rank's. */
static void hand_out(const problem *p, const world *whole, world *w, const weir_partition *part,
                     int rank)
{
  const int64_t origin[WEIR_MAX_RANK] = {0};

  for (int k = 0; k < p->n; k++) {
    const int32_t a = weir_value_array(p->g, p->in[k]);
    const weir_box box = weir_partition_owned(part, a, rank);

    if (!has_all(part, a, rank)) {
      memset(w->array[a].data, 0, weir_tensor_bytes(&w->array[a]));
    } else if (!p->constant[k] && (box.rank == 0 || !weir_box_empty(&box))) {
      copy_box(&box, &whole->array[a], origin, &w->array[a], box.lo);
    }
  }
}

static bool compare(const world *whole, const world *w, const weir_partition *part, int rank,
                    bool exact)
{
  bool good = true;

  for (int32_t a = 0; a < w->n && good; a++) {
    const char *name = weir_graph_get_array(w->g, a)->output;

    for (int32_t b = 0; b < whole->n && name != NULL; b++) {
      const char *other = weir_graph_get_array(whole->g, b)->output;
      const weir_box box = weir_partition_owned(part, b, rank);

      if (other != NULL && strcmp(other, name) == 0 &&
          !agree(&w->array[a], &box, &whole->array[b], exact)) {
        fprintf(stderr, "rank %d: '%s' differs\n", rank, name);
        good = false;
      }
    }
  }
  return good;
}

/* The new value of a stored array on a rank: its own, or the sum of all summands. */
static bool compare_update(const world *whole, const world *w, const weir_partition *part, int rank,
                           int32_t array)
{
  const weir_grid *grid = weir_partition_grid(part);
  const unsigned over = weir_partition_sum_over(part, array);
  const weir_tensor *mine = &w[rank].array[weir_graph_get_array(w[rank].g, array)->update];
  const weir_box box = weir_partition_owned(part, array, rank);
  weir_tensor sum;

  assert_ok(weir_tensor_init(&sum, mine->dtype, mine->rank, mine->shape));
  for (int peer = 0; peer < weir_grid_size(grid); peer++) {
    const weir_tensor *theirs = &w[peer].array[weir_graph_get_array(w[peer].g, array)->update];

    for (int64_t i = 0; i < weir_tensor_numel(&sum) &&
                        weir_grid_sub_id(grid, peer, over) == weir_grid_sub_id(grid, rank, over);
         i++) {
      weir_dtype_store_real(sum.dtype, sum.data, i,
                            weir_dtype_load_real(sum.dtype, sum.data, i) +
                                weir_dtype_load_real(sum.dtype, theirs->data, i));
    }
  }
  const bool good =
      agree(&sum, &box, &whole->array[weir_graph_get_array(whole->g, array)->update], false);

  weir_tensor_fini(&sum);
  return good;
}

static bool compare_updates(const world *whole, const world *w, const weir_partition *part,
                            int rank)
{
  bool good = true;

  for (int32_t a = 0; a < whole->n && good; a++) {
    if (weir_graph_get_array(whole->g, a)->update >= 0) {
      good = compare_update(whole, w, part, rank, a);
    }
  }
  return good;
}

/* Interiors before halos, wherever that can be. */
static int compute_ahead(weir_graph *g)
{
  const weir_pass_opts opts = {.overlap = WEIR_OVERLAP_ON};
  const int32_t nodes = weir_graph_nodes(g);
  int parts = 0;

  assert_ok(weir_pass_run(g, "overlap", &opts));
  assert_ok(weir_graph_validate(g));
  for (int32_t i = nodes; i < weir_graph_nodes(g); i++) {
    parts += !weir_graph_node(g, i)->dead;
  }
  return parts;
}

weir_status virtual_run(const problem *p, const virtual_cuts *c, bool exact, virtual_result *r)
{
  const int ranks = weir_grid_size(&c->grid);
  const bool large = p->seed / 2 % 2 == 1;
  weir_spmd_graph local[VIRTUAL_RANKS];
  world w[VIRTUAL_RANKS] = {{.n = 0}}, whole;
  weir_partition *part = NULL;
  weir_status status;

  assert_true(ranks <= VIRTUAL_RANKS);
  memset(local, 0, sizeof local);
  *r = (virtual_result){.moves = 0};
  status = weir_partition_create(p->g, &c->grid, c->cut, c->n, &part);
  for (int k = 0; k < ranks && status == WEIR_OK; k++) {
    status = weir_spmd_lower(part, k, &local[k]);
    if (status == WEIR_OK && p->seed % 4 < 2) {
      r->parts += compute_ahead(local[k].g);
    }
  }
  if (status != WEIR_OK) {
    goto done;
  }
  whole = world_of(p->g, large);
  for (int k = 0; k < p->n; k++) {
    assert_ok(weir_tensor_copy(&p->from[k], &whole.array[weir_value_array(p->g, p->in[k])]));
  }
  run_all(&whole, NULL, &(weir_grid){1, {1}});
  for (int k = 0; k < ranks; k++) {
    w[k] = world_of(local[k].g, large);
    hand_out(p, &whole, &w[k], part, k);
  }
  run_all(w, local, weir_partition_grid(part));
  r->moves = local[0].n;
  for (int32_t m = 0; m < local[0].n; m++) {
    r->merges += local[0].moves[m]->kind == WEIR_COMM_OP_ALLREDUCE;
  }
  for (int k = 0; k < ranks; k++) {
    r->wrong += !compare(&whole, &w[k], part, k, exact) || !compare_updates(&whole, w, part, k);
  }
  for (int k = 0; k < ranks; k++) {
    leave(&w[k]);
  }
  leave(&whole);
done:
  for (int k = 0; k < ranks; k++) {
    weir_spmd_graph_fini(&local[k]);
  }
  weir_partition_destroy(&part);
  return status;
}
