/* lower_merge.c - the expressions of one loop read in another: operands and numbers renamed. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/lower/lower_priv.h"

bool lower_is_pointwise(const weir_access *a)
{
  bool yes = weir_access_is_pointwise(a);

  for (int k = 0; k < a->n_in && yes; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      yes = yes && a->in[k].index[d].border != WEIR_BORDER_ABSENT;
    }
  }
  return yes;
}

bool lower_reads_remainder(const weir_access *a, int operand)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    if (a->body.exprs[i].code == WEIR_CODE_REMAINDER && a->body.exprs[i].integer / 16 == operand) {
      return true;
    }
  }
  return false;
}

static bool same_operand(const weir_operand *x, const weir_operand *y)
{
  if (x->rank != y->rank || x->dtype != y->dtype || x->role != y->role) {
    return false;
  }
  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].gather != 0 || x->extent[d] != y->extent[d] ||
        !weir_index_same(&x->index[d], &y->index[d], WEIR_MAX_DIMS)) {
      return false;
    }
  }
  return true;
}

/* *found: number of operand (array, map) in the loop, appended when new; -1 when there is no space.
 * A gather operand is appended as it is, its `gather` renumbered by the caller. */
static weir_status find_operand(weir_loop *into, const weir_operand *o, int32_t array, int *found)
{
  weir_access *a = &into->access;

  for (int k = 0; k < a->n_in; k++) {
    if (into->in[k] == array && same_operand(&a->in[k], o)) {
      *found = k;
      return WEIR_OK;
    }
  }
  int parts = weir_dtype_parts(o->dtype); /* that engines of real numbers have */

  for (int k = 0; k < a->n_in; k++) {
    parts += weir_dtype_parts(a->in[k].dtype);
  }
  *found = -1;
  if (parts <= WEIR_MAX_OPERANDS) {
    *found = a->n_in;
    WEIR_TRY(weir_access_resize(a, *found + 1, a->n_out, a->n_states));
    a->in[*found] = *o;
    into->in[*found] = array;
  }
  return WEIR_OK;
}

/* *done is false when there was no space. */
static weir_status map_operands(lower_merge *m, bool *done)
{
  const weir_access *f = &m->from->access;

  *done = false;
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
          return WEIR_OK;
        }
        x->gather = m->operand[x->gather - 1] + 1;
      }
      if (m->via != NULL) {
        *x = weir_index_follows(x, f->n_dims) < 0 ? *x
                                                  : m->via->index[weir_index_follows(x, f->n_dims)];
        continue;
      }
      for (int i = 0; i < f->n_dims; i++) {
        coef[m->dim[i]] = x->coef[i];
      }
      memcpy(x->coef, coef, sizeof(coef));
    }
    WEIR_TRY(find_operand(m->into, &o, m->from->in[k], &m->operand[k]));
    if (m->operand[k] < 0) {
      return WEIR_OK;
    }
  }
  *done = true;
  return WEIR_OK;
}

/* The expression that says the same already, or -1. */
static int32_t find_expression(const weir_body *b, const weir_expr *e)
{
  for (int32_t i = 0; i < b->n && e->code != WEIR_CODE_RANDOM; i++) {
    const weir_expr *x = &b->exprs[i];

    /* Constants by their bits: 0 and -0 are two. */
    if (x->code == e->code && x->dtype == e->dtype && x->a == e->a && x->b == e->b &&
        x->c == e->c && x->integer == e->integer &&
        memcmp(&x->real, &e->real, sizeof x->real) == 0) {
      return i;
    }
  }
  return -1;
}

static bool map_expressions(lower_merge *m)
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
    e = weir_expr_renumber(e, m->expr);
    m->expr[i] = find_expression(into, &e);
    m->expr[i] = m->expr[i] >= 0 ? m->expr[i] : weir_body_push(into, e);
    if (m->expr[i] < 0) {
      return false;
    }
  }
  return true;
}

weir_status lower_merge_run(lower_merge *m, bool *done)
{
  void *memory = NULL;
  const int kept_in = m->into->access.n_in;

  *done = false;
  WEIR_TRY(weir_alloc(m->from->access.body.n, sizeof(int32_t), &memory));
  m->expr = memory;
  weir_status status = map_operands(m, done);

  if (status == WEIR_OK && *done && !map_expressions(m)) {
    status = weir_fail(WEIR_ERR_MEMORY, "lower: out of memory for the expressions of a loop");
  }
  if (status != WEIR_OK || !*done) {
    m->into->access.n_in = kept_in;
  }
  if (status != WEIR_OK) {
    *done = false;
    weir_free(&m->expr);
  }
  return status;
}
