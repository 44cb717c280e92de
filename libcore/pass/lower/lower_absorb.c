/* lower_absorb.c - a reduction takes in the element-wise loop that feeds it alone. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/lower/lower_priv.h"

static bool is_reduction(const weir_access *a)
{
  return a->maker == WEIR_MADE_BY_BODY && a->combine != WEIR_COMBINE_NONE && a->n_states == 0;
}

/* True when every operand follows the iterations one to one, or not at all: it may then be read at
 * whatever index the value is asked for, as `o` does, whose border is then its own. */
static bool is_movable(const weir_access *a, const weir_operand *o)
{
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      const weir_index *x = &a->in[k].index[d];
      const int of = weir_index_follows(x, a->n_dims);
      bool still = x->gather == 0 && x->offset == 0 && x->div <= 1;

      for (int i = 0; i < a->n_dims; i++) {
        still = still && x->coef[i] == 0;
      }
      if (!still &&
          (of < 0 || a->dim[of].lo != 0 || a->dim[of].hi > a->in[k].extent[d] ||
           (a->dim[of].hi < a->in[k].extent[d] && o->index[of].border != WEIR_BORDER_NEVER))) {
        return false;
      }
    }
  }
  return !weir_body_uses(&a->body, WEIR_CODE_INDEX) &&
         !weir_body_uses(&a->body, WEIR_CODE_REMAINDER);
}

/* Whether some operand follows iteration dimension i: it drops what lies outside when it is read as
 * `early` was. */
static bool is_followed(const weir_access *a, int i)
{
  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      if (weir_index_follows(&a->in[k].index[d], a->n_dims) == i) {
        return true;
      }
    }
  }
  return false;
}

/* True when the reduction reads what `early` makes once each, in windows side by side, and drops
 * what lies outside. */
static bool is_windowed(const weir_access *early, const weir_operand *o, const weir_access *r)
{
  for (int d = 0; d < o->rank; d++) {
    if (o->index[d].border != WEIR_BORDER_NEVER &&
        (o->index[d].border != WEIR_BORDER_ABSENT || !is_followed(early, d))) {
      return false;
    }
  }
  return early->n_out == 1 && is_movable(early, o) && weir_operand_reads_once(o, r);
}

bool lower_feeds_only(const weir_graph *g, const weir_group *group, const weir_loop *early,
                      const weir_loop *reduction, int *order, const weir_operand **via)
{
  const weir_access *e = &early->access, *r = &reduction->access;
  bool found = false;

  if (!lower_is_pointwise(e) || !is_reduction(r) || weir_body_uses(&e->body, WEIR_CODE_RANDOM)) {
    return false;
  }
  for (int j = 0; j < e->n_out; j++) {
    int32_t readers[2];
    bool here_too = false; /* its reader may be another loop */

    if (!weir_group_is_local(g, group, early->out[j]) || !weir_operand_is_identity(&e->out[j], e) ||
        weir_graph_readers(g, early->out[j], readers, 2) != 1) {
      return false;
    }
    for (int k = 0; k < r->n_in; k++) {
      int here[WEIR_MAX_RANK] = {0};

      if (reduction->in[k] != early->out[j]) {
        continue;
      }
      here_too = true;
      if (!found && !weir_operand_is_one_to_one(&r->in[k], r, here) &&
          !lower_reads_remainder(r, k) && is_windowed(e, &r->in[k], r)) {
        *via = &r->in[k];
        found = true;
        continue;
      }
      if (*via != NULL || !weir_operand_is_one_to_one(&r->in[k], r, here) ||
          lower_reads_remainder(r, k) ||
          (found && memcmp(here, order, (size_t)e->n_dims * sizeof(int)) != 0)) {
        return false;
      }
      memcpy(order, here, sizeof(here));
      found = true;
    }
    if (!here_too) {
      return false;
    }
  }
  return found;
}

weir_status lower_absorb(const weir_loop *early, weir_loop *reduction, const int *order,
                         const weir_operand *via, bool *done)
{
  weir_status status = WEIR_OK;
  weir_loop grown = *reduction;
  lower_merge first = {.from = early, .via = via}, second = {.from = reduction};

  *done = false;
  WEIR_TRY(weir_access_copy(&reduction->access, &grown.access));
  weir_body_fini(&grown.access.body);
  grown.access.n_in = 0;
  first.into = second.into = &grown;
  for (int k = 0; k < early->access.n_dims; k++) {
    first.dim[k] = order[k];
  }
  for (int k = 0; k < reduction->access.n_dims; k++) {
    second.dim[k] = k;
  }
  for (int k = 0; k < early->access.n_in; k++) {
    first.value[k] = -1;
  }
  WEIR_TRY_GOTO(lower_merge_run(&first, done), out);
  for (int k = 0; k < reduction->access.n_in && *done; k++) {
    second.value[k] = -1;
    for (int j = 0; j < early->access.n_out; j++) {
      if (reduction->in[k] == early->out[j]) {
        second.value[k] = first.expr[early->access.value[j]];
      }
    }
  }
  if (*done) {
    WEIR_TRY_GOTO(lower_merge_run(&second, done), out);
  }
  if (*done) {
    for (int k = 0; k < reduction->access.n_values; k++) {
      grown.access.value[k] = second.expr[reduction->access.value[k]];
    }
    grown.n_members += early->n_members;
    const weir_loop old = *reduction;

    *reduction = grown;
    grown = old;
  }
out:
  weir_access_fini(&grown.access);
  weir_free(&first.expr);
  weir_free(&second.expr);
  return status;
}
