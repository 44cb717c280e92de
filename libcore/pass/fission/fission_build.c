/* fission_build.c - the chosen tree as nodes. */
#include <string.h>

#include "base/weir_alloc.h"
#include "pass/fission/fission_priv.h"

/* One node that is made: its access, what it reads, and what became of the dimensions. */
typedef struct maker {
  const fission_plan *p;
  const weir_node *like;
  weir_access access;
  weir_value in[WEIR_MAX_OPERANDS];
  int dim_of[WEIR_MAX_DIMS]; /* new dimension of an old one, -1: none, or part of a form */
  const fission_partial *form_partial; /* whose axes are the first new dimensions; NULL: none */
  int slot[WEIR_MAX_OPERANDS];         /* new operand of an old one, -1: none */
  int32_t *expr; /* [body] new expression of an old one, -1: none            */
} maker;

/* A partial product that has been made: its value. */
typedef struct made {
  fission_set set;
  weir_value value;
} made;

static void add_dim(maker *m, const weir_dim *dim)
{
  m->access.dim[m->access.n_dims++] = *dim;
}

/* The dimensions of a partial product: its axes, then the remaining ones to sum over. */
static void make_dims(maker *m, const fission_partial *partial, fission_set summed)
{
  m->form_partial = partial;
  for (int t = 0; t < partial->n_axes; t++) {
    const fission_axis *x = &partial->axis[t];

    if (!x->is_form) {
      m->dim_of[__builtin_ctz(x->dims)] = m->access.n_dims;
    }
    add_dim(m, &(weir_dim){.kind = WEIR_PARALLEL,
                           .lo = x->is_form ? 0 : x->lo,
                           .hi = x->is_form ? x->hi - x->lo : x->hi});
  }
  for (int k = 0; k < m->p->a->n_dims; k++) {
    if ((summed >> k & 1) != 0) {
      m->dim_of[k] = m->access.n_dims;
      add_dim(m, &m->p->a->dim[k]);
    }
  }
}

/* The dimensions of the whole: as they were, without those that are summed over before. */
static void keep_dims(maker *m, fission_set gone)
{
  for (int k = 0; k < m->p->a->n_dims; k++) {
    if ((gone >> k & 1) == 0) {
      m->dim_of[k] = m->access.n_dims;
      add_dim(m, &m->p->a->dim[k]);
    }
  }
}

/* An index of the old dimensions as one of the new. */
static weir_index moved_index(const maker *m, const weir_index *x)
{
  weir_index y = *x;

  memset(y.coef, 0, sizeof y.coef);
  for (int k = 0; k < m->p->a->n_dims; k++) {
    if (m->dim_of[k] >= 0) {
      y.coef[m->dim_of[k]] = x->coef[k];
    }
  }
  for (int t = 0; m->form_partial != NULL && t < m->form_partial->n_axes; t++) {
    const fission_axis *axis = &m->form_partial->axis[t];

    if (axis->is_form && x->coef[__builtin_ctz(axis->dims)] != 0) {
      y.coef[t] = 1;
      y.offset += axis->lo;
    }
  }
  return y;
}

/* Appends an operand whose indices are of the old dimensions; returns its number, or -1. */
static weir_status add_operand(maker *m, const weir_operand *old, weir_value v, int *number)
{
  weir_access *a = &m->access;
  const int k = a->n_in;

  if (k == WEIR_MAX_OPERANDS) {
    return weir_fail(WEIR_ERR_SHAPE, "fission: more than %d operands", WEIR_MAX_OPERANDS);
  }
  WEIR_TRY(weir_access_resize(a, k + 1, a->n_out, 0));
  weir_operand *o = &a->in[k];

  *o = *old;
  for (int d = 0; d < old->rank; d++) {
    o->index[d] = moved_index(m, &old->index[d]);
  }
  m->in[k] = v;
  *number = k;
  return WEIR_OK;
}

/* No index that stays inside its array has a border. */
static void drop_borders(weir_access *a)
{
  const weir_box whole = weir_iterations(a);

  for (int i = 0; i < a->n_in; i++) {
    for (int d = 0; d < a->in[i].rank; d++) {
      weir_index *x = &a->in[i].index[d];
      int64_t lo, hi;

      weir_index_range(x, &whole, &lo, &hi);
      if (x->gather == 0 && lo >= 0 && hi < a->in[i].extent[d]) {
        x->border = WEIR_BORDER_NEVER;
      }
    }
  }
}

static weir_status add_old_operand(maker *m, weir_graph *g, int i)
{
  const weir_operand *o = &m->p->a->in[i];
  int number;

  if (m->slot[i] >= 0) {
    return WEIR_OK;
  }
  WEIR_TRY(add_operand(m, o, weir_array_value(g, m->like->in[i]), &number));
  m->slot[i] = number;
  for (int d = 0; d < o->rank; d++) {
    const int from = o->index[d].gather - 1;

    if (from >= 0) {
      WEIR_TRY(add_old_operand(m, g, from));
      m->access.in[number].index[d].gather = m->slot[from] + 1;
    }
  }
  return WEIR_OK;
}

/* An operand that only says by its border which iterations are dropped. */
static weir_status add_mask(maker *m, weir_graph *g, int i)
{
  weir_operand o = m->p->a->in[i];
  int number;

  for (int d = 0; d < o.rank; d++) {
    if (o.index[d].border != WEIR_BORDER_ABSENT) {
      o.index[d] = (weir_index){.border = WEIR_BORDER_NEVER};
    }
  }
  return add_operand(m, &o, weir_array_value(g, m->like->in[i]), &number);
}

/* Copies expression i of the old body with all its operands. */
static int32_t copy_expr(maker *m, int32_t i)
{
  weir_expr e = m->p->a->body.exprs[i];

  if (m->expr[i] < 0) {
    e.a = e.a >= 0 ? copy_expr(m, e.a) : -1;
    e.b = e.b >= 0 ? copy_expr(m, e.b) : -1;
    e.c = e.c >= 0 ? copy_expr(m, e.c) : -1;
    e.integer = e.code == WEIR_CODE_LOAD    ? m->slot[e.integer]
                : e.code == WEIR_CODE_INDEX ? m->dim_of[e.integer]
                                            : e.integer;
    m->expr[i] = weir_body_push(&m->access.body, e);
  }
  return m->expr[i];
}

/* A factor read in place; *value: its expression. */
static weir_status add_factor(maker *m, weir_graph *g, int factor, int32_t *value)
{
  const fission_factor *f = &m->p->factor[factor];

  for (int i = 0; i < m->p->a->n_in; i++) {
    if ((f->loads >> i & 1) != 0) {
      WEIR_TRY(add_old_operand(m, g, i));
    }
  }
  *value = copy_expr(m, f->expr);
  return WEIR_OK;
}

/* A partial product that was made; *value: its expression. */
static weir_status add_partial(maker *m, weir_graph *g, const made *x, int32_t *value)
{
  const fission_partial *partial = &m->p->partial[x->set];
  weir_operand o = {.dtype = m->p->a->accumulator, .rank = partial->n_axes};
  int number;

  for (int t = 0; t < partial->n_axes; t++) {
    const fission_axis *axis = &partial->axis[t];

    o.extent[t] = axis->hi - axis->lo;
    o.index[t] = (weir_index){.offset = -axis->lo, .border = axis->border};
    memcpy(o.index[t].coef, axis->coef, sizeof o.index[t].coef);
  }
  WEIR_TRY(add_operand(m, &o, x->value, &number));
  *value = weir_body_load(&m->access.body, number, o.dtype);
  for (int i = 0; i < m->p->a->n_in; i++) {
    if ((partial->masks >> i & 1) != 0 && m->slot[i] < 0) {
      WEIR_TRY(add_mask(m, g, i));
    }
  }
  return WEIR_OK;
}

/* The body: a product of the sides, or of all factors of the set. */
static weir_status make_body(maker *m, weir_graph *g, fission_set set, const made *sides)
{
  const fission_partial *partial = &m->p->partial[set];
  int32_t product = -1, value = -1;

  for (int s = 0; s < 2 && partial->left != 0; s++) {
    if (partial->inlined[s]) {
      WEIR_TRY(add_factor(m, g, __builtin_ctz(sides[s].set), &value));
    } else {
      WEIR_TRY(add_partial(m, g, &sides[s], &value));
    }
    product = s == 0 ? value : weir_body_binary(&m->access.body, WEIR_CODE_MUL, product, value);
  }
  for (int i = 0; i < m->p->n_factors && partial->left == 0; i++) {
    if ((set >> i & 1) != 0) {
      WEIR_TRY(add_factor(m, g, i, &value));
      product =
          product < 0 ? value : weir_body_binary(&m->access.body, WEIR_CODE_MUL, product, value);
    }
  }
  m->access.n_values = 1;
  m->access.value[0] = product;
  return WEIR_OK;
}

/* Without a dimension to sum over there is no sum. */
static void set_combine(weir_access *a, const weir_access *old)
{
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      a->combine = old->combine;
      a->accumulator = old->accumulator;
    }
  }
}

/* Operand 0 of the results: all axes, in order. */
static void map_partial(weir_access *a, const fission_partial *partial, weir_dtype dtype)
{
  a->out[0] = (weir_operand){.dtype = dtype, .rank = partial->n_axes};
  for (int t = 0; t < partial->n_axes; t++) {
    a->out[0].extent[t] = a->dim[t].hi - a->dim[t].lo;
    a->out[0].index[t].coef[t] = 1;
    a->out[0].index[t].offset = -a->dim[t].lo;
  }
}

/* Dimensions that are left to sum over when the sides have been made. */
static fission_set left_to_sum(const fission_plan *p, fission_set set)
{
  const fission_partial *partial = &p->partial[set];
  fission_set left = partial->summed;

  for (int s = 0; s < 2 && partial->left != 0; s++) {
    const fission_set side = s == 0 ? partial->left : set & ~partial->left;

    left &= partial->inlined[s] ? ~(fission_set)0 : ~p->partial[side].summed;
  }
  return left;
}

static weir_status fill_access(maker *m, weir_graph *g, fission_set set, bool whole,
                               const made *sides)
{
  const fission_partial *partial = &m->p->partial[set];
  const fission_set summed = left_to_sum(m->p, set);

  WEIR_TRY(weir_access_resize(&m->access, 0, 1, 0));
  if (whole) {
    keep_dims(m, partial->summed & ~summed);
  } else {
    make_dims(m, partial, summed);
  }
  WEIR_TRY(make_body(m, g, set, sides));
  if (m->access.body.failed != WEIR_OK) {
    return weir_fail(m->access.body.failed,
                     "fission: out of memory for the expressions of a product");
  }
  drop_borders(&m->access);
  set_combine(&m->access, m->p->a);
  if (whole) {
    weir_operand *o = &m->access.out[0];

    *o = m->p->a->out[0];
    for (int d = 0; d < o->rank; d++) {
      o->index[d] = moved_index(m, &m->p->a->out[0].index[d]);
    }
  } else {
    map_partial(&m->access, partial, m->p->a->accumulator);
  }
  return WEIR_OK;
}

/* Adds the node of a set; the whole writes what the node as it was wrote. */
static weir_status make_node(weir_graph *g, const maker *like, fission_set set, bool whole,
                             made *sides)
{
  maker m = *like;
  weir_status status = WEIR_OK;

  weir_access_init(&m.access);
  for (int32_t i = 0; i < m.p->a->body.n; i++) {
    m.expr[i] = -1;
  }
  WEIR_TRY_GOTO(fill_access(&m, g, set, whole, sides), out);
  sides[2].set = set;
  sides[2].value =
      weir_graph_add_like(g, m.like, &m.access, m.in, m.access.n_in, whole ? m.like->out : NULL);
  if (sides[2].value.node < 0) {
    status = weir_graph_status(g);
  } else {
    weir_node *node = weir_graph_node_mut(g, sides[2].value.node);

    node->label = m.like->label;
    node->derived = m.like->derived;
    node->microbatch = m.like->microbatch;
    node->priority = m.like->priority;
    node->derivation = (weir_derivation){.of = NULL};
  }
out:
  weir_access_fini(&m.access);
  return status;
}

static weir_status make_set(weir_graph *g, const maker *like, fission_set set, bool whole,
                            weir_value *value)
{
  const fission_partial *partial = &like->p->partial[set];
  made sides[3] = {{.set = partial->left}, {.set = set & ~partial->left}};

  for (int s = 0; s < 2 && partial->left != 0; s++) {
    if (!partial->inlined[s]) {
      WEIR_TRY(make_set(g, like, sides[s].set, false, &sides[s].value));
    }
  }
  WEIR_TRY(make_node(g, like, set, whole, sides));
  *value = sides[2].value;
  return WEIR_OK;
}

weir_status fission_build(weir_graph *g, int32_t number, const fission_plan *p)
{
  weir_node *node = weir_graph_node_mut(g, number);
  maker like = {.p = p, .like = node};
  weir_status status = WEIR_OK;
  weir_value value;
  void *memory = NULL;

  for (int i = 0; i < WEIR_MAX_DIMS; i++) {
    like.dim_of[i] = -1;
  }
  for (int i = 0; i < WEIR_MAX_OPERANDS; i++) {
    like.slot[i] = -1;
  }
  WEIR_TRY(weir_alloc(p->a->body.n, sizeof(int32_t), &memory));
  like.expr = memory;
  node->dead = true;
  WEIR_TRY_GOTO(make_set(g, &like, ((fission_set)1 << p->n_factors) - 1, true, &value), out);
out:
  weir_free(&memory);
  return status;
}
