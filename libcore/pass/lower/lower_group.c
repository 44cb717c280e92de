/* lower.c - a group as an ordered list of loops: same-iteration neighbours share one loop.
 *
 * A producer joins its consumer's loop where every value it hands over is read at the iteration
 * that made it; the value then stays in a register and its array, if nobody else reads it, has no
 * memory at all. A reduction takes in the element-wise loop that feeds it alone. Scans and opaque
 * nodes keep loops of their own. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/lower/weir_loop.h"
#include "pass/weir_reach.h"
#include "pass/weir_sweep.h"

static bool is_pointwise(const weir_access *a)
{
  bool yes = !a->opaque && a->combine == WEIR_COMBINE_NONE && a->n_states == 0;

  for (int k = 0; k < a->n_dims; k++) {
    yes = yes && a->dim[k].kind == WEIR_PARALLEL;
  }
  for (int k = 0; k < a->n_in && yes; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      yes = yes && a->in[k].index[d].border != WEIR_BORDER_ABSENT;
    }
  }
  return yes;
}

static bool is_reduction(const weir_access *a)
{
  return !a->opaque && a->combine != WEIR_COMBINE_NONE && a->n_states == 0;
}

/* The iteration dimension that array dimension d follows one to one, or -1. */
static int follows(const weir_index *x, int n_dims)
{
  int found = -1;

  if (x->offset != 0 || x->div > 1 || x->gather != 0) {
    return -1;
  }
  for (int k = 0; k < n_dims; k++) {
    if (x->coef[k] != 0) {
      if (x->coef[k] != 1 || found >= 0) {
        return -1;
      }
      found = k;
    }
  }
  return found;
}

/* True when the operand reads, at each iteration, the element of the same number: order[d] receives
 * the iteration dimension of array dimension d; all `n_dims` dimensions are used exactly once. */
static bool is_injective(const weir_operand *o, const weir_access *a, int *order)
{
  unsigned used = 0;

  if (o->rank != a->n_dims) {
    return false;
  }
  for (int d = 0; d < o->rank; d++) {
    const int k = follows(&o->index[d], a->n_dims);

    if (k < 0 || (used >> k & 1) != 0 || a->dim[k].lo != 0 || a->dim[k].hi != o->extent[d]) {
      return false;
    }
    used |= 1u << k;
    order[d] = k;
  }
  return true;
}

static bool same_operand(const weir_operand *x, const weir_operand *y)
{
  if (x->rank != y->rank || x->dtype != y->dtype || x->role != y->role) {
    return false;
  }
  for (int d = 0; d < x->rank; d++) {
    const weir_index *p = &x->index[d], *q = &y->index[d];

    if (memcmp(p->coef, q->coef, sizeof(p->coef)) != 0 || p->offset != q->offset ||
        (p->div ? p->div : 1) != (q->div ? q->div : 1) || p->border != q->border ||
        p->fill != q->fill || p->gather != 0 || q->gather != 0 || x->extent[d] != y->extent[d]) {
      return false;
    }
  }
  return true;
}

/* Number of operand (array, map) in the loop, appended when new; -1 when there is no room. A gather
 * operand is appended as it is, its `gather` renumbered by the caller. */
static int find_operand(weir_loop *into, const weir_operand *o, int32_t array)
{
  weir_access *a = &into->access;

  for (int k = 0; k < a->n_in; k++) {
    if (into->in[k] == array && same_operand(&a->in[k], o)) {
      return k;
    }
  }
  if (a->n_in == WEIR_MAX_OPERANDS) {
    return -1;
  }
  a->in[a->n_in] = *o;
  into->in[a->n_in] = array;
  return a->n_in++;
}

/* How the expressions of one access read in another loop. */
typedef struct merge {
  const weir_loop *from;
  weir_loop *into;
  int dim[WEIR_MAX_DIMS];           /* iteration dimension of `into` per dimension of `from` */
  const weir_operand *via;          /* or its index per dimension of `from`, NULL: none      */
  int operand[WEIR_MAX_OPERANDS];   /* operand of `into`, or -1 when `value` serves           */
  int32_t value[WEIR_MAX_OPERANDS]; /* expression of `into` that already holds the load       */
  int32_t *expr;                    /* expression of `into` per expression of `from`          */
} merge;

static bool map_operands(merge *m)
{
  const weir_access *f = &m->from->access;

  for (int k = 0; k < f->n_in; k++) {
    weir_operand o = f->in[k];

    if (m->value[k] >= 0) {
      m->operand[k] = -1;
      continue;
    }
    for (int d = 0; d < o.rank; d++) {
      weir_index *x = &o.index[d];
      int64_t coef[WEIR_MAX_DIMS] = {0};

      if (x->gather != 0) {
        if (m->operand[x->gather - 1] < 0 || x->gather - 1 >= k) {
          return false;
        }
        x->gather = m->operand[x->gather - 1] + 1;
      }
      if (m->via != NULL) {
        *x = follows(x, f->n_dims) < 0 ? *x : m->via->index[follows(x, f->n_dims)];
        continue;
      }
      for (int i = 0; i < f->n_dims; i++) {
        coef[m->dim[i]] = x->coef[i];
      }
      memcpy(x->coef, coef, sizeof(coef));
    }
    m->operand[k] = find_operand(m->into, &o, m->from->in[k]);
    if (m->operand[k] < 0) {
      return false;
    }
  }
  return true;
}

static bool map_expressions(merge *m)
{
  const weir_body *from = &m->from->access.body;
  weir_body *into = &m->into->access.body;

  for (int32_t i = 0; i < from->n; i++) {
    weir_expr e = from->exprs[i];

    if (e.code == WEIR_CODE_LOAD && m->value[e.integer] >= 0) {
      m->expr[i] = m->value[e.integer];
      continue;
    }
    if (e.code == WEIR_CODE_LOAD) {
      e.integer = m->operand[e.integer];
    } else if (e.code == WEIR_CODE_INDEX) {
      e.integer = m->dim[e.integer];
    } else if (e.code == WEIR_CODE_REMAINDER) {
      e.integer = (int64_t)m->operand[e.integer / 16] * 16 + e.integer % 16;
    }
    e.a = e.a < 0 ? -1 : m->expr[e.a];
    e.b = e.b < 0 ? -1 : m->expr[e.b];
    e.c = e.c < 0 ? -1 : m->expr[e.c];
    m->expr[i] = weir_body_push(into, e);
    if (m->expr[i] < 0) {
      return false;
    }
  }
  return true;
}

static bool uses_code(const weir_access *a, weir_code code)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    if (a->body.exprs[i].code == code) {
      return true;
    }
  }
  return false;
}

/* Operands whose REMAINDER is used must keep an operand of their own even when the value is at
 * hand. */
static bool reads_remainder(const weir_access *a, int operand)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    if (a->body.exprs[i].code == WEIR_CODE_REMAINDER && a->body.exprs[i].integer / 16 == operand) {
      return true;
    }
  }
  return false;
}

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
                 weir_reach_is_identity(&loops[j].access.in[k], &loops[j].access) &&
                 weir_reach_is_identity(&loop->access.out[o], &loop->access);
        }
      }
    }
  }
  return read && same;
}

/* True when the loop `later` may run as part of `early`, point by point. A loop that runs a border
 * around the tile must not draw in one that writes exactly the tile; and two of them only share a
 * border when one feeds the other. */
static bool may_join(const weir_loop *early, const weir_loop *later)
{
  const weir_access *e = &early->access, *l = &later->access;
  bool related = false;

  if (!is_pointwise(e) || !is_pointwise(l) || !same_iterations(e, l) ||
      e->n_out + l->n_out > WEIR_MAX_OUTPUTS || early->aligned != later->aligned) {
    return false;
  }
  for (int k = 0; k < l->n_in; k++) {
    related = related || (early->aligned && reads(early, later->in[k]));
    if (writes(early, later->in[k])) {
      related = true;
      if (!weir_reach_is_identity(&l->in[k], l) || reads_remainder(l, k)) {
        return false;
      }
      for (int j = 0; j < e->n_out; j++) {
        if (early->out[j] == later->in[k] && !weir_reach_is_identity(&e->out[j], e)) {
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

static weir_status merge_expressions(merge *m, bool *done)
{
  void *memory = NULL;
  const int kept_in = m->into->access.n_in;

  *done = false;
  WEIR_TRY(weir_alloc(m->from->access.body.n, sizeof(int32_t), &memory));
  m->expr = memory;
  if (!map_operands(m)) {
    m->into->access.n_in = kept_in;
    return WEIR_OK;
  }
  if (!map_expressions(m)) {
    weir_free(&m->expr);
    return weir_fail(WEIR_ERR_MEMORY, "lower: no memory for the expressions of a loop");
  }
  *done = true;
  return WEIR_OK;
}

/* Appends `later` to `early`; *done is false (and nothing changed) when there was no room. */
static weir_status join(weir_loop *early, const weir_loop *later, bool *done)
{
  weir_access *e = &early->access;
  const weir_access *l = &later->access;
  merge m = {.from = later, .into = early};

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
  WEIR_TRY(merge_expressions(&m, done));
  for (int k = 0; k < l->n_out && *done; k++) {
    e->out[e->n_out] = l->out[k];
    early->out[e->n_out] = later->out[k];
    e->value[e->n_out++] = m.expr[l->value[k]];
    e->n_values = e->n_out;
  }
  if (*done) {
    early->node = later->node;
    early->n_members += later->n_members;
  }
  weir_free(&m.expr);
  return WEIR_OK;
}

/* True when every operand follows the iterations one to one, or not at all: it may then be read at
 * whatever place the value is asked for. */
static bool is_movable(const weir_access *a)
{
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const weir_index *x = &a->in[k].index[d];
      bool still = x->gather == 0 && x->offset == 0 && x->div <= 1;

      for (int i = 0; i < a->n_dims; i++) {
        still = still && x->coef[i] == 0;
      }
      if (!still && follows(x, a->n_dims) < 0) {
        return false;
      }
    }
  }
  return !uses_code(a, WEIR_CODE_INDEX) && !uses_code(a, WEIR_CODE_REMAINDER);
}

/* True when the reduction reads what `early` makes once each, in windows side by side, and drops
 * what lies outside. */
static bool is_windowed(const weir_access *early, const weir_operand *o, const weir_access *r)
{
  for (int d = 0; d < o->rank; d++) {
    if (o->index[d].border != WEIR_BORDER_NEVER && o->index[d].border != WEIR_BORDER_ABSENT) {
      return false;
    }
  }
  return early->n_out == 1 && is_movable(early) && weir_reach_reads_once(o, r);
}

/* True when the reduction is the only reader of everything that `early` makes. `order` receives,
 * per dimension of `early`, the reduction's dimension; or *via the operand through which windows
 * side by side are read. */
static bool feeds_only(const weir_graph *g, const weir_group *group, const weir_loop *early,
                       const weir_loop *reduction, int *order, const weir_operand **via)
{
  const weir_access *e = &early->access, *r = &reduction->access;
  bool found = false;

  if (!is_pointwise(e) || !is_reduction(r) || uses_code(e, WEIR_CODE_RANDOM)) {
    return false;
  }
  for (int j = 0; j < e->n_out; j++) {
    int32_t readers[2];

    if (!weir_group_is_local(g, group, early->out[j]) || !weir_reach_is_identity(&e->out[j], e) ||
        weir_graph_readers(g, early->out[j], readers, 2) != 1) {
      return false;
    }
    for (int k = 0; k < r->n_in; k++) {
      int here[WEIR_MAX_RANK] = {0};

      if (reduction->in[k] != early->out[j]) {
        continue;
      }
      if (!found && !is_injective(&r->in[k], r, here) && !reads_remainder(r, k) &&
          is_windowed(e, &r->in[k], r)) {
        *via = &r->in[k];
        found = true;
        continue;
      }
      if (*via != NULL || !is_injective(&r->in[k], r, here) || reads_remainder(r, k) ||
          (found && memcmp(here, order, (size_t)e->n_dims * sizeof(int)) != 0)) {
        return false;
      }
      memcpy(order, here, sizeof(here));
      found = true;
    }
  }
  return found;
}

/* Rebuilds the reduction with the producer's expressions in front. */
static weir_status absorb(const weir_loop *early, weir_loop *reduction, const int *order,
                          const weir_operand *via, bool *done)
{
  weir_status status = WEIR_OK;
  weir_loop *grown = NULL;
  void *memory = NULL;
  merge first = {.from = early, .via = via}, second = {.from = reduction};

  WEIR_TRY(weir_alloc(1, sizeof(*grown), &memory));
  grown = memory;
  *grown = *reduction;
  memset(&grown->access.body, 0, sizeof(grown->access.body));
  grown->access.n_in = 0;
  first.into = second.into = grown;
  for (int k = 0; k < early->access.n_dims; k++) {
    first.dim[k] = order[k];
  }
  for (int k = 0; k < reduction->access.n_dims; k++) {
    second.dim[k] = k;
  }
  for (int k = 0; k < early->access.n_in; k++) {
    first.value[k] = -1;
  }
  WEIR_TRY_GOTO(merge_expressions(&first, done), out);
  for (int k = 0; k < reduction->access.n_in && *done; k++) {
    second.value[k] = -1;
    for (int j = 0; j < early->access.n_out; j++) {
      if (reduction->in[k] == early->out[j]) {
        second.value[k] = first.expr[early->access.value[j]];
      }
    }
  }
  if (*done) {
    WEIR_TRY_GOTO(merge_expressions(&second, done), out);
  }
  if (*done) {
    for (int k = 0; k < reduction->access.n_values; k++) {
      grown->access.value[k] = second.expr[reduction->access.value[k]];
    }
    grown->n_members += early->n_members;
    weir_body_fini(&reduction->access.body);
    *reduction = *grown;
    memset(&grown->access.body, 0, sizeof(grown->access.body));
  }
out:
  weir_body_fini(&grown->access.body);
  weir_free(&first.expr);
  weir_free(&second.expr);
  weir_free(&grown);
  return status;
}

/* Drops outputs that neither another loop of the group nor anyone outside reads. */
static void drop_outputs(const weir_graph *g, const weir_group *group, weir_loop *loops, int32_t n,
                         int32_t at)
{
  weir_loop *loop = &loops[at];
  weir_access *a = &loop->access;
  int kept = 0;

  if (a->opaque || a->combine != WEIR_COMBINE_NONE || a->n_states > 0) {
    return;
  }
  for (int k = 0; k < a->n_out; k++) {
    bool needed = !weir_group_is_local(g, group, loop->out[k]);

    for (int32_t j = at + 1; j < n; j++) {
      needed = needed || reads(&loops[j], loop->out[k]);
    }
    if (needed) {
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

      /* The anchor stays last: joining moves it up only when it is joined with its direct
       * neighbour. */
      if (may_join(&loops[j], &loops[i]) && may_move_up(loops, j, i) &&
          (i < *n - 1 || may_move_down(loops, j, i))) {
        WEIR_TRY(join(&loops[j], &loops[i], &done));
        if (done) {
          const bool last = i == *n - 1;
          const weir_loop joined = loops[j];

          remove_loop(loops, n, i);
          if (last && j != *n - 1) {
            memmove(&loops[j], &loops[j + 1], (size_t)(*n - j - 1) * sizeof(*loops));
            loops[*n - 1] = joined;
          }
          /* At once: a long chain would else run out of outputs that nobody reads. */
          drop_outputs(g, group, loops, *n, last ? *n - 1 : j);
          i--;
          break;
        }
      } else if (feeds_only(g, group, &loops[j], &loops[i], order, &via) &&
                 may_move_down(loops, j, i)) {
        WEIR_TRY(absorb(&loops[j], &loops[i], order, via, &done));
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
  }
  for (int32_t i = count - 1; i >= 0; i--) {
    loops[i].aligned = is_aligned(loops, count, i);
  }
  WEIR_TRY_GOTO(merge_loops(g, group, loops, &count), fail);
  for (int32_t i = count - 1; i >= 0; i--) {
    drop_outputs(g, group, loops, count, i);
    if (!loops[i].access.opaque) {
      WEIR_TRY_GOTO(weir_sweep(&loops[i].access), fail);
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
