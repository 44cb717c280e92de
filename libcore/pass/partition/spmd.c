/* spmd.c - see weir_spmd.h: what is needed from elsewhere, then node by node. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "ops/call/weir_call.h"
#include "ops/elementwise/weir_elementwise.h"
#include "pass/partition/spmd_priv.h"

static weir_status started(void *context, const weir_op_run *run)
{
  weir_comm_op *m = context;

  return m->start(m, run);
}

static weir_status finished(void *context, const weir_op_run *run)
{
  weir_comm_op *m = context;

  return m->finish(m, run);
}

static weir_array_desc shaped(weir_dtype dtype, const weir_box *box)
{
  weir_array_desc d = {.dtype = dtype, .rank = box->rank};

  for (int k = 0; k < box->rank; k++) {
    d.shape[k] = box->hi[k] - box->lo[k];
  }
  return d;
}

/* Adds the call that starts the move or finishes it: it hands the token on. */
static weir_status add_call(spmd_lowering *l, spmd_move *x, weir_call_spec *spec, weir_value *in,
                            int n_in, bool finish, weir_value *made)
{
  const bool merges = x->move->kind == WEIR_COMM_OP_ALLREDUCE;

  spec->name = x->move->name;
  spec->context = x->move;
  spec->function = finish ? finished : started;
  spec->out[spec->n_out++] = (weir_array_desc){.dtype = WEIR_I64};
  in[n_in++] = l->token;
  *made = weir_call(l->g, spec, in, n_in);
  (void)weir_label(l->g, *made,
                   merges   ? finish ? "merged" : "merge"
                   : finish ? "exchanged"
                            : "exchange");
  l->token = (weir_value){made->node, spec->n_out - 1};
  WEIR_TRY(weir_graph_status(l->g));
  weir_graph_node_mut(l->g, made->node)->priority = finish ? 1 : -1;
  return WEIR_OK;
}

/* Output o of what moves, as it is before. */
static weir_value before(const spmd_lowering *l, const spmd_move *x, int o)
{
  const bool merges = x->move->kind == WEIR_COMM_OP_ALLREDUCE;
  const int32_t array = merges ? weir_graph_node(l->p->g, x->node)->out[o] : x->array;

  return weir_array_value(l->g, l->now[array]);
}

static weir_status call_start(spmd_lowering *l, spmd_move *x)
{
  weir_call_spec spec = {.n_out = 1};
  weir_value in[WEIR_MAX_OUTPUTS + 1], made;

  spec.out[0] =
      (weir_array_desc){.dtype = x->move->carried, .rank = 1, .shape = {x->move->elements}};
  for (int o = 0; o < x->move->n; o++) {
    in[o] = before(l, x, o);
  }
  WEIR_TRY(add_call(l, x, &spec, in, x->move->n, false, &made));
  x->buffer = (weir_value){made.node, 0};
  return WEIR_OK;
}

/* What is merged or carried has been taken at the start; an exchange else reads its array to the
 * end.
 */
static weir_status call_finish(spmd_lowering *l, spmd_move *x, weir_value *made)
{
  const bool merges = x->move->kind == WEIR_COMM_OP_ALLREDUCE;
  weir_call_spec spec = {.n_out = x->move->n};
  weir_value in[3] = {x->buffer, before(l, x, 0)};

  for (int o = 0; o < x->move->n; o++) {
    spec.out[o] =
        merges ? *weir_value_desc(l->g, before(l, x, o)) : shaped(x->move->dtype, &x->move->to);
  }
  return add_call(l, x, &spec, in, merges || x->move->carries_own ? 1 : 2, true, made);
}

weir_status spmd_start(spmd_lowering *l, spmd_move *x)
{
  if (x->started) {
    return WEIR_OK;
  }
  if (x->move->kind == WEIR_COMM_OP_EXCHANGE && l->merge[x->array] >= 0) {
    WEIR_TRY(spmd_finish(l, &l->moves[l->merge[x->array]]));
  }
  WEIR_TRY(call_start(l, x));
  x->started = true;
  l->out->moves[l->out->n++] = x->move;
  x->owned = false;
  return WEIR_OK;
}

weir_status spmd_finish(spmd_lowering *l, spmd_move *x)
{
  weir_value made;

  if (x->finished) {
    return WEIR_OK;
  }
  WEIR_TRY(spmd_start(l, x));
  WEIR_TRY(call_finish(l, x, &made));
  x->finished = true;
  for (int o = 0; o < x->move->n; o++) {
    const int32_t to = weir_value_array(l->g, (weir_value){made.node, o});

    if (x->move->kind != WEIR_COMM_OP_ALLREDUCE) {
      x->local = to;
    } else {
      l->now[weir_graph_node(l->p->g, x->node)->out[o]] = to;
    }
  }
  return WEIR_OK;
}

/* An index that wraps begins within the array, all of which the rank holds: as far as its offset
 * was away, the same elements are met. */
static void unwind(weir_index *at, int64_t extent)
{
  if (at->border == WEIR_BORDER_WRAP && weir_index_divisor(at) == 1 && extent > 0) {
    at->offset = (at->offset % extent + extent) % extent;
  }
}

/* Iterations and indices of the node as this rank counts them. */
static weir_status narrow(const spmd_lowering *l, int32_t number, const weir_box *const *boxes)
{
  weir_node *node = weir_graph_node_mut(l->g, number);
  const weir_box run = weir_partition_iterations(l->p, number, l->rank);
  weir_access *a = &node->access;

  WEIR_TRY(weir_access_narrow(a, &run));
  for (int i = 0; i < a->n_in + a->n_out; i++) {
    weir_operand *x = i < a->n_in ? &a->in[i] : &a->out[i - a->n_in];

    for (int d = 0; d < x->rank; d++) {
      const int64_t all = x->extent[d];

      weir_operand_narrow(x, d, boxes[i]->lo[d], boxes[i]->hi[d] - boxes[i]->lo[d]);
      if (x->extent[d] == all) {
        unwind(&x->index[d], all);
      }
    }
  }
  return WEIR_OK;
}

/* The local array where it counts once along dimensions of the grid, 0: everywhere. */
static int32_t count_once(spmd_lowering *l, int32_t array, unsigned dims)
{
  const weir_value whole = weir_array_value(l->g, array);
  const weir_dtype dtype = weir_graph_get_array(l->g, array)->desc.dtype;
  const bool narrow = dtype == WEIR_BF16 || dtype == WEIR_F16; /* these have no products */
  int coords[WEIR_GRID_DIMS];
  bool counts = true;

  if (dims == 0) {
    return array;
  }
  weir_grid_coords(&l->p->grid, l->rank, coords);
  for (int d = 0; d < l->p->grid.dims; d++) {
    counts = counts && ((dims >> d & 1) == 0 || coords[d] == 0);
  }
  const weir_value x = narrow ? weir_cast(l->g, WEIR_F32, whole) : whole;
  const weir_value once = weir_label(l->g, weir_scale(l->g, x, counts ? 1 : 0), "counted once");

  return weir_value_array(l->g, narrow ? weir_cast(l->g, dtype, once) : once);
}

/* Adds the node of the local graph. position: in the order of nodes. */
static weir_status spmd_node(spmd_lowering *l, int32_t position)
{
  const int32_t number = l->p->order[position];
  const weir_node *global = weir_graph_node(l->p->g, number);
  const weir_box *boxes[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];
  weir_box owned[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];

  for (int k = 0; k < global->n_in; k++) {
    const int32_t choice = l->choice[(int64_t)number * WEIR_MAX_OPERANDS + k];
    const int32_t array = global->in[k];

    if (choice >= 0) {
      WEIR_TRY(spmd_finish(l, &l->moves[choice]));
    } else if (l->merge[array] >= 0) {
      WEIR_TRY(spmd_finish(l, &l->moves[l->merge[array]]));
    }
    owned[k] =
        choice >= 0 ? l->moves[choice].get[l->rank] : weir_partition_owned(l->p, array, l->rank);
    boxes[k] = &owned[k];
    const int32_t from = count_once(l, choice >= 0 ? l->moves[choice].local : l->now[array],
                                    partition_counted_once(l->p, number, k));

    WEIR_TRY(weir_graph_status(l->g));
    weir_graph_node_mut(l->g, number)->in[k] = from;
  }
  for (int o = 0; o < global->n_out; o++) {
    owned[global->n_in + o] = weir_partition_owned(l->p, global->out[o], l->rank);
    boxes[global->n_in + o] = &owned[global->n_in + o];
  }
  WEIR_TRY(narrow(l, number, boxes));
  for (int32_t m = 0; m < l->n_moves; m++) { /* merges stand before exchanges of what they make */
    if (l->moves[m].after == position) {
      WEIR_TRY(spmd_start(l, &l->moves[m]));
    }
  }
  return WEIR_OK;
}

/* The new value of a stored array, as far as it is a sum. */
static int32_t updated(spmd_lowering *l, int32_t stored)
{
  const int32_t from = weir_graph_get_array(l->p->g, stored)->update;
  const int32_t local = l->updated[stored] >= 0 ? l->moves[l->updated[stored]].local : l->now[from];

  return count_once(l, local,
                    weir_partition_sum_over(l->p, stored) & ~weir_partition_sum_over(l->p, from));
}

/* Results and new values of stored arrays are the merged ones, in the boxes that these have. */
static weir_status close_arrays(spmd_lowering *l)
{
  for (int32_t m = 0; m < l->n_moves; m++) {
    WEIR_TRY(spmd_finish(l, &l->moves[m]));
  }
  for (int32_t a = 0; a < l->p->n_arrays; a++) {
    weir_array *array = weir_graph_array_mut(l->g, a);

    if (l->now[a] != a) {
      weir_graph_array_mut(l->g, l->now[a])->output = array->output;
      array->output = NULL;
    }
    if (array->update >= 0) {
      const int32_t value = updated(l, a); /* may move the arrays */

      weir_graph_array_mut(l->g, a)->update = value;
    }
  }
  return weir_graph_status(l->g);
}

static weir_status build(spmd_lowering *l)
{
  for (int32_t a = 0; a < l->p->n_arrays; a++) {
    const weir_box owned = weir_partition_owned(l->p, a, l->rank);
    weir_array_desc *d = &weir_graph_array_mut(l->g, a)->desc;

    *d = shaped(d->dtype, &owned);
    l->now[a] = a;
  }
  l->token = weir_scalar(l->g, WEIR_I64, 0);
  for (int32_t m = 0; m < l->n_moves; m++) {
    if (l->moves[m].after < 0) {
      WEIR_TRY(spmd_start(l, &l->moves[m]));
    }
  }
  for (int32_t i = 0; i < l->p->n_order; i++) {
    WEIR_TRY(spmd_node(l, i));
  }
  return close_arrays(l);
}

static void drop_moves(spmd_lowering *l)
{
  for (int32_t m = 0; m < l->n_moves; m++) {
    weir_free(&l->moves[m].get);
    spmd_drop_named(&l->moves[m].named, l->ranks);
    if (l->moves[m].owned && l->moves[m].move != NULL) {
      weir_free(&l->moves[m].move->messages);
      weir_free(&l->moves[m].move);
    }
  }
  weir_free(&l->moves);
  weir_free(&l->choice);
  weir_free(&l->merge);
  weir_free(&l->now);
  weir_free(&l->updated);
}

weir_status weir_spmd_lower(const weir_partition *p, int rank, weir_spmd_graph *out)
{
  spmd_lowering l = {.p = p, .rank = rank, .ranks = weir_grid_size(&p->grid), .out = out};
  weir_status status = WEIR_OK;

  *out = (weir_spmd_graph){.p = p, .rank = rank};
  WEIR_TRY_GOTO(spmd_find_moves(&l), out);
  WEIR_TRY_GOTO(weir_alloc(l.n_moves, sizeof *out->moves, (void **)&out->moves), out);
  WEIR_TRY_GOTO(weir_graph_copy(p->g, &out->g), out);
  l.g = out->g;
  WEIR_TRY_GOTO(build(&l), out);
  WEIR_TRY_GOTO(weir_graph_validate(l.g), out);
out:
  drop_moves(&l);
  if (status != WEIR_OK) {
    weir_spmd_graph_fini(out);
  }
  return status;
}

void weir_spmd_graph_fini(weir_spmd_graph *l)
{
  for (int32_t m = 0; m < l->n && l->moves != NULL; m++) {
    weir_free(&l->moves[m]->messages);
    weir_free(&l->moves[m]);
  }
  weir_free(&l->moves);
  weir_graph_destroy(&l->g);
  l->n = 0;
}

/* The communication of a call of that function. */
static const weir_comm_op *moved_by(const weir_graph *g, int32_t node, weir_call_function function)
{
  const weir_node *n = weir_graph_node(g, node);
  const weir_call_spec *spec = n != NULL ? n->spec : NULL;

  return n != NULL && n->op == &weir_op_call && !n->dead && spec->function == function
             ? spec->context
             : NULL;
}

const weir_comm_op *weir_spmd_graph_starts(const weir_graph *g, int32_t node)
{
  return moved_by(g, node, started);
}

const weir_comm_op *weir_spmd_graph_finishes(const weir_graph *g, int32_t node)
{
  return moved_by(g, node, finished);
}

/* ---- What an end of a move takes its time for ---- */

/* The box, its array beginning at the corner of `from`. */
static void print_box(const weir_box *box, const weir_box *from, FILE *out)
{
  for (int d = 0; d < box->rank; d++) {
    fprintf(out, " %" PRId64 "-%" PRId64, box->lo[d] - from->lo[d], box->hi[d] - from->lo[d]);
  }
}

static void print_move(const weir_comm_op *m, bool finish, FILE *out)
{
  fprintf(out, "%s of move %d, %s, %" PRId64 " bytes, %d by %d", finish ? "end" : "start",
          (int)m->kind, weir_dtype_name(m->dtype), m->bytes, m->n, (int)m->monoid);
  print_box(&m->from, &m->from, out);
  print_box(&m->to, &m->from, out);
  for (int64_t i = 0; i < m->n_messages; i++) {
    fputs(m->messages[i].receive ? " get" : " give", out);
    print_box(&m->messages[i].box, &m->from, out);
  }
}

weir_status weir_spmd_graph_digest(const weir_graph *g, const weir_group *group, char hex[65])
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_call_spec *spec = node->spec;
  char *text = NULL;
  size_t size = 0;

  hex[0] = 0;
  if (node->access.maker != WEIR_MADE_BY_CALL) {
    return weir_group_digest(g, group, hex);
  }
  if (node->op != &weir_op_call || (spec->function != started && spec->function != finished)) {
    return WEIR_OK;
  }
  FILE *out = open_memstream(&text, &size);

  if (out != NULL) {
    print_move(spec->context, spec->function == finished, out);
  }
  if (out == NULL || fclose(out) != 0) {
    free(text); /* libc's own memory */
    return weir_fail(WEIR_ERR_MEMORY, "spmd_lower: no memory for the text of a move");
  }
  weir_sha256(text, size, hex);
  free(text);
  return WEIR_OK;
}
