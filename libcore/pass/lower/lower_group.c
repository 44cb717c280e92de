/* lower_group.c - a group as an ordered list of loops: same-iteration neighbours share one loop.
 *
 * A producer joins its consumer's loop where every value it hands over is read at the iteration
 * that made it; the value then stays in a register and its array, if it has no other reader, has no
 * memory at all. A reduction takes in the element-wise loop that feeds it alone. Scans,
 * libraries and calls keep separate loops. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/lower/lower_priv.h"
#include "pass/weir_body_dce.h"

static bool writes(const weir_loop *loop, int32_t array)
{
  for (int k = 0; k < loop->access.n_out; k++) {
    if (loop->out[k] == array) {
      return true;
    }
  }
  return false;
}

static bool reads(const weir_loop *loop, int32_t array)
{
  for (int k = 0; k < loop->access.n_in; k++) {
    if (loop->in[k] == array) {
      return true;
    }
  }
  return false;
}

static bool same_iterations(const weir_access *x, const weir_access *y)
{
  if (x->n_dims != y->n_dims) {
    return false;
  }
  for (int k = 0; k < x->n_dims; k++) {
    if (x->dim[k].lo != y->dim[k].lo || x->dim[k].hi != y->dim[k].hi ||
        x->dim[k].time != y->dim[k].time) {
      return false;
    }
  }
  return true;
}

/* True when every value of the loop is read where it is made, by loops that run the anchor's tile:
 * its box is the tile too. */
static bool is_aligned(const weir_loop *loops, int32_t n, int32_t at)
{
  const weir_loop *loop = &loops[at];
  bool read = at == n - 1, same = true;

  for (int32_t j = at + 1; j < n; j++) {
    for (int k = 0; k < loops[j].access.n_in; k++) {
      for (int o = 0; o < loop->access.n_out; o++) {
        if (loops[j].in[k] == loop->out[o]) {
          read = true;
          same = same && loops[j].aligned &&
                 weir_operand_is_identity(&loops[j].access.in[k], &loops[j].access) &&
                 weir_operand_is_identity(&loop->access.out[o], &loop->access);
        }
      }
    }
  }
  return read && same;
}

/* Outputs, complex ones counted by their parts. */
static int components_written(const weir_access *a)
{
  int components = 0;

  for (int k = 0; k < a->n_out; k++) {
    components += weir_dtype_parts(a->out[k].dtype);
  }
  return components;
}

/* True when the loop `later` may run as part of `early`, point by point. A loop that runs a border
 * around the tile must not draw in one that writes exactly the tile; and two of them only share a
 * border when one feeds the other. */
static bool may_join(const weir_loop *early, const weir_loop *later)
{
  const weir_access *e = &early->access, *l = &later->access;
  bool related = false;

  if (!lower_is_pointwise(e) || !lower_is_pointwise(l) || !same_iterations(e, l) ||
      components_written(e) + components_written(l) > WEIR_MAX_OUTPUTS ||
      early->aligned != later->aligned) {
    return false;
  }
  for (int k = 0; k < l->n_in; k++) {
    related = related || (early->aligned && reads(early, later->in[k]));
    if (writes(early, later->in[k])) {
      related = true;
      if (!weir_operand_is_identity(&l->in[k], l) || lower_reads_remainder(l, k)) {
        return false;
      }
      for (int j = 0; j < e->n_out; j++) {
        if (early->out[j] == later->in[k] && !weir_operand_is_identity(&e->out[j], e)) {
          return false;
        }
      }
      for (int j = 0; j < l->n_in; j++) {
        for (int d = 0; d < l->in[j].rank; d++) {
          if (l->in[j].index[d].gather == k + 1) {
            return false;
          }
        }
      }
    }
  }
  return related;
}

/* Appends `later` to `early`; *done is false (and nothing changed) when there was no space. */
static weir_status join(weir_loop *early, const weir_loop *later, bool *done)
{
  weir_access *e = &early->access;
  const weir_access *l = &later->access;
  lower_merge m = {.from = later, .into = early};

  for (int k = 0; k < l->n_dims; k++) {
    m.dim[k] = k;
  }
  for (int k = 0; k < l->n_in; k++) {
    m.value[k] = -1;
    for (int j = 0; j < e->n_out; j++) {
      if (early->out[j] == later->in[k]) {
        m.value[k] = e->value[j];
      }
    }
  }
  WEIR_TRY(lower_merge_run(&m, done));
  const int first = e->n_out;
  const weir_status status = *done ? weir_access_resize(e, e->n_in, first + l->n_out, 0) : WEIR_OK;

  if (*done && status == WEIR_OK) {
    for (int k = 0; k < l->n_out; k++) {
      e->out[first + k] = l->out[k];
      early->out[first + k] = later->out[k];
      e->value[first + k] = m.expr[l->value[k]];
    }
    e->n_values = e->n_out;
    early->node = later->node;
    early->n_members += later->n_members;
  }
  weir_free(&m.expr);
  return status;
}

/* Drops outputs that neither another loop of the group nor anyone outside reads. */
static void drop_outputs(const weir_graph *g, const weir_group *group, weir_loop *loops, int32_t n,
                         int32_t at)
{
  weir_loop *loop = &loops[at];
  weir_access *a = &loop->access;
  int kept = 0;

  if (a->maker != WEIR_MADE_BY_BODY || a->combine != WEIR_COMBINE_NONE || a->n_states > 0) {
    return;
  }
  for (int k = 0; k < a->n_out; k++) {
    bool needed = false;

    for (int32_t j = at + 1; j < n && !needed; j++) {
      needed = reads(&loops[j], loop->out[k]);
    }
    /* Only now: whether it is local takes a look at all nodes of the graph. */
    if (needed || !weir_group_is_local(g, group, loop->out[k])) {
      a->out[kept] = a->out[k];
      a->value[kept] = a->value[k];
      loop->out[kept++] = loop->out[k];
    }
  }
  a->n_out = a->n_values = kept;
}

static void remove_loop(weir_loop *loops, int32_t *n, int32_t at)
{
  weir_access_fini(&loops[at].access);
  memmove(&loops[at], &loops[at + 1], (size_t)(*n - at - 1) * sizeof(*loops));
  (*n)--;
  memset(&loops[*n], 0, sizeof(*loops));
}

/* A loop may move up to `at` when nothing between writes what it reads. */
static bool may_move_up(const weir_loop *loops, int32_t at, int32_t from)
{
  for (int32_t j = at + 1; j < from; j++) {
    for (int k = 0; k < loops[from].access.n_in; k++) {
      if (writes(&loops[j], loops[from].in[k])) {
        return false;
      }
    }
  }
  return true;
}

/* A loop may move down to `to` when nothing between reads what it writes. */
static bool may_move_down(const weir_loop *loops, int32_t from, int32_t to)
{
  for (int32_t j = from + 1; j < to; j++) {
    for (int k = 0; k < loops[from].access.n_out; k++) {
      if (reads(&loops[j], loops[from].out[k])) {
        return false;
      }
    }
  }
  return true;
}

static weir_status merge_loops(const weir_graph *g, const weir_group *group, weir_loop *loops,
                               int32_t *n)
{
  for (int32_t i = 1; i < *n; i++) {
    for (int32_t j = i - 1; j >= 0; j--) {
      bool done = false;
      int order[WEIR_MAX_RANK] = {0};
      const weir_operand *via = NULL;

      if (loops[i].claimed || loops[j].claimed) {
        continue;
      }
      /* The anchor stays last: what it is joined with comes down to it. */
      if (may_join(&loops[j], &loops[i]) &&
          (i < *n - 1 ? may_move_up(loops, j, i) : may_move_down(loops, j, i))) {
        WEIR_TRY(join(&loops[j], &loops[i], &done));
        if (done) {
          const bool last = i == *n - 1;
          const weir_loop joined = loops[j];

          remove_loop(loops, n, i);
          if (last && j != *n - 1) {
            memmove(&loops[j], &loops[j + 1], (size_t)(*n - j - 1) * sizeof(*loops));
            loops[*n - 1] = joined;
          }
          const int32_t at = last ? *n - 1 : j;

          /* At once: a long chain would else run out of outputs without a reader. */
          drop_outputs(g, group, loops, *n, at);
          i = at - 1; /* what it is now may join an earlier one in its turn */
          break;
        }
      } else if (lower_feeds_only(g, group, &loops[j], &loops[i], order, &via) &&
                 may_move_down(loops, j, i)) {
        WEIR_TRY(lower_absorb(&loops[j], &loops[i], order, via, &done));
        if (done) {
          remove_loop(loops, n, j);
          i--;
          j = i;
        }
      }
    }
  }
  return WEIR_OK;
}

/* What a kernel makes block by block is parallel in the group, also where its operator reduces the
 * whole of it at once. */
static void divide_result(const weir_claim *claim, weir_access *a)
{
  for (int d = 0; d < a->out[0].rank && !claim->blocks.of_input; d++) {
    const int k = weir_index_follows(&a->out[0].index[d], a->n_dims);

    if (k >= 0 && a->dim[k].kind == WEIR_REDUCED && claim->blocks.block_size[d] > 0) {
      a->dim[k].kind = WEIR_PARALLEL;
      a->point_flops /= (double)(a->dim[k].hi - a->dim[k].lo);
    }
  }
}

weir_status weir_lower(const weir_graph *g, const weir_group *group, weir_loop **out, int32_t *n)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;
  weir_loop *loops = NULL;
  int32_t count = 0;

  *out = NULL;
  *n = 0;
  WEIR_TRY(weir_alloc(group->n_nodes, sizeof(weir_loop), &memory));
  loops = memory;
  for (int64_t i = 0; i < group->n_nodes; i++) {
    const weir_node *node = weir_graph_node(g, group->nodes[i]);
    weir_loop *loop = &loops[count++];

    WEIR_TRY_GOTO(weir_access_copy(&node->access, &loop->access), fail);
    memcpy(loop->in, node->in, sizeof(loop->in));
    memcpy(loop->out, node->out, sizeof(loop->out));
    loop->node = group->nodes[i];
    loop->n_members = 1;
    const weir_claim *const claim = weir_group_claim(group, group->nodes[i]);

    loop->claimed = claim != NULL;
    if (claim != NULL && group->n_nodes > 1) {
      divide_result(claim, &loop->access);
    }
  }
  for (int32_t i = count - 1; i >= 0; i--) {
    loops[i].aligned = is_aligned(loops, count, i);
  }
  WEIR_TRY_GOTO(merge_loops(g, group, loops, &count), fail);
  for (int32_t i = count - 1; i >= 0; i--) {
    drop_outputs(g, group, loops, count, i);
    if (loops[i].access.maker == WEIR_MADE_BY_BODY) {
      WEIR_TRY_GOTO(weir_body_dce(&loops[i].access), fail);
    }
  }
  *out = loops;
  *n = count;
  return WEIR_OK;
fail:
  weir_loops_free(&loops, count);
  return status;
}

void weir_loops_free(weir_loop **loops, int32_t n)
{
  if (loops == NULL || *loops == NULL) {
    return;
  }
  for (int32_t i = 0; i < n; i++) {
    weir_access_fini(&(*loops)[i].access);
  }
  weir_free(loops);
}
