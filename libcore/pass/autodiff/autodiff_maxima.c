/* autodiff_maxima.c - maxima over windows go before functions that rise.
 *
 * Where f rises, max f(z_i) = f(max z_i), number by number: rounding keeps the order of what it
 * rounds. So a maximum of windows may be taken of the input of an activation and a bias, and
 * these of an eighth of the numbers (2 x 2 x 2), forward and backward; the derivative then asks for
 * the maxima and their argmax alone. Which of equal f(z_i) is the first no longer matters: the
 * argmax is that of the greatest z_i. What no order holds for is left out: a function of which NaN,
 * or an infinity less itself, is a constant. */
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/elementwise/weir_elementwise.h"
#include "pass/autodiff/autodiff_priv.h"

enum { MAX = 16 }; /* nodes that one maximum passes */

static const weir_op_desc op_maximum = {.name = "maximum"};
static const weir_op_desc op_after = {.name = "behind"};

/* A maximum and the nodes, from it backwards, that it may pass; arrays[]: those not yet passed. */
typedef struct passing {
  weir_graph *g;
  int32_t maximum, node[MAX], array[MAX + 1];
  int n, n_arrays;
  const int32_t
      *position;    /* of nodes in the order of execution, and what is to stay: of those that */
  const bool *kept; /* were there before; n_before arrays                                     */
  int32_t n_before;
  bool window[WEIR_MAX_DIMS]; /* dimensions of the input that windows are of */
} passing;

typedef enum slope { SLOPE_NO, SLOPE_CONSTANT, SLOPE_RISES } slope;

/* A number above 0, in the body or a constant of rank 0. */
static bool is_positive(const weir_graph *g, const weir_node *node, int32_t number)
{
  const weir_expr *e = &node->access.body.exprs[number];
  double value = e->code == WEIR_CODE_CONST ? e->real : 0;

  if (e->code == WEIR_CODE_LOAD) {
    const weir_array *x = weir_graph_get_array(g, node->in[e->integer]);

    if (x->kind == WEIR_ARRAY_CONSTANT && x->desc.rank == 0) {
      value = weir_dtype_load_real(x->desc.dtype, x->constant.data, 0);
    }
  }
  return value > 0 && value < (double)INFINITY;
}

/* How an expression goes with the operands in the mask, which rise. */
static slope slope_of(const weir_graph *g, const weir_node *node, int32_t number, unsigned varying)
{
  const weir_expr *e = &node->access.body.exprs[number];
  const int args = weir_code_args(e->code);

  if (e->code == WEIR_CODE_LOAD) {
    return (varying >> e->integer & 1) != 0 ? SLOPE_RISES : SLOPE_CONSTANT;
  }
  if (e->code == WEIR_CODE_CONST) {
    return SLOPE_CONSTANT;
  }
  const slope x = args == 2 ? slope_of(g, node, e->a, varying) : SLOPE_NO;
  const slope y = args == 2 ? slope_of(g, node, e->b, varying) : SLOPE_NO;

  if (x == SLOPE_NO || y == SLOPE_NO || !weir_dtype_is_real(e->dtype)) {
    return SLOPE_NO;
  }
  switch (e->code) {
  case WEIR_CODE_ADD:
  case WEIR_CODE_MAX:
  case WEIR_CODE_MIN:
    return x == SLOPE_RISES || y == SLOPE_RISES ? SLOPE_RISES : SLOPE_CONSTANT;
  case WEIR_CODE_SUB:
    return y == SLOPE_CONSTANT ? x : SLOPE_NO;
  case WEIR_CODE_MUL:
    return is_positive(g, node, e->b) ? x : is_positive(g, node, e->a) ? y : SLOPE_NO;
  case WEIR_CODE_DIV:
    return is_positive(g, node, e->b) ? x : SLOPE_NO;
  default:
    return SLOPE_NO;
  }
}

/* True when the node is a maximum over windows of one array, as it lies there, whose
 * position is not read. */
static bool start(passing *p)
{
  const weir_node *node = weir_graph_node(p->g, p->maximum);
  const weir_access *a = &node->access;

  if (node->op == NULL || node->dead || a->n_in != 1 || a->n_states != 0 || a->n_values != 1 ||
      (a->combine != WEIR_COMBINE_ARGMAX && a->combine != WEIR_COMBINE_MAX) ||
      a->body.exprs[a->value[0]].code != WEIR_CODE_LOAD || a->in[0].dtype != a->accumulator ||
      a->in[0].dtype != a->out[0].dtype || a->in[0].rank != a->out[0].rank ||
      !weir_dtype_is_real(a->in[0].dtype)) {
    return false;
  }
  if (a->n_out > 1 && (weir_graph_readers(p->g, node->out[1], NULL, 0) > 0 ||
                       weir_graph_get_array(p->g, node->out[1])->output != NULL)) {
    return false;
  }
  bool any = false;

  for (int d = 0; d < a->in[0].rank; d++) {
    const weir_index *x = &a->in[0].index[d];

    if (x->border != WEIR_BORDER_NEVER || x->gather != 0 || a->dim[d].time ||
        weir_index_follows(&a->out[0].index[d], a->n_dims) != d) {
      return false;
    }
    p->window[d] = weir_index_follows(x, a->n_dims) != d;
    any = any || p->window[d];
  }
  p->n = 0;
  p->n_arrays = 1;
  p->array[0] = node->in[0];
  return any;
}

static bool is_kept(const passing *p, int32_t array)
{
  const weir_array *x = weir_graph_get_array(p->g, array);

  return array >= p->n_before || x->kind != WEIR_ARRAY_TEMPORARY || x->output != NULL ||
         p->kept[array];
}

static bool is_passed(const passing *p, int32_t node)
{
  bool yes = node == p->maximum;

  for (int i = 0; i < p->n; i++) {
    yes = yes || p->node[i] == node;
  }
  return yes;
}

/* The node that alone writes the array, which only nodes already passed read; -1. */
static int32_t maker_of(const passing *p, int32_t array)
{
  int32_t maker = -1, readers[MAX + 1];
  const int32_t n = weir_graph_readers(p->g, array, readers, MAX + 1);

  if (is_kept(p, array) || n > MAX + 1 || weir_graph_writers(p->g, array, &maker, 1) != 1) {
    return -1;
  }
  for (int32_t i = 0; i < n; i++) {
    if (!is_passed(p, readers[i])) {
      return -1;
    }
  }
  return maker;
}

/* True when the operand is the same all over a window. */
static bool is_even(const passing *p, const weir_operand *o)
{
  for (int d = 0; d < o->rank; d++) {
    for (int j = 0; j < WEIR_MAX_DIMS; j++) {
      if (o->index[d].gather != 0 || (p->window[j] && o->index[d].coef[j] != 0)) {
        return false;
      }
    }
  }
  return true;
}

/* Which operands the node reads element by element; false: it is none that a maximum passes. */
static bool may_pass(const passing *p, const weir_node *node, unsigned *varying)
{
  const weir_access *a = &node->access;
  const weir_access *maximum = &weir_graph_node(p->g, p->maximum)->access;

  *varying = 0;
  if (a->maker != WEIR_MADE_BY_BODY || a->n_out != 1 || a->combine != WEIR_COMBINE_NONE ||
      a->n_states != 0 || a->n_values != 1 || !weir_operand_is_identity(&a->out[0], a) ||
      a->n_dims != maximum->in[0].rank) {
    return false;
  }
  for (int k = 0; k < a->n_in; k++) {
    if (a->in[k].role == WEIR_ROLE_DATA && a->in[k].dtype == a->out[0].dtype &&
        weir_operand_is_identity(&a->in[k], a)) {
      *varying |= 1u << k;
    } else if (!is_even(p, &a->in[k])) {
      return false;
    }
  }
  return slope_of(p->g, node, a->value[0], *varying) == SLOPE_RISES;
}

/* Passes the last node of all that made one of the arrays; false: there is no way on. */
static bool pass_one(passing *p)
{
  int32_t last = -1;
  int at = 0;
  unsigned varying;

  for (int i = 0; i < p->n_arrays; i++) {
    const int32_t maker = maker_of(p, p->array[i]);

    if (maker >= 0 && (last < 0 || p->position[maker] > p->position[last])) {
      last = maker;
      at = i;
    }
  }
  if (last < 0 || p->n == MAX || !may_pass(p, weir_graph_node(p->g, last), &varying)) {
    return false;
  }
  const weir_node *node = weir_graph_node(p->g, last);

  p->node[p->n++] = last;
  p->array[at] = p->array[--p->n_arrays];
  for (int k = 0; k < node->n_in; k++) {
    bool known = (varying >> k & 1) == 0;

    for (int i = 0; i < p->n_arrays; i++) {
      known = known || p->array[i] == node->in[k];
    }
    if (!known) {
      if (p->n_arrays > MAX) {
        return false;
      }
      p->array[p->n_arrays++] = node->in[k];
    }
  }
  return true;
}

static weir_status add(passing *p, const weir_op_desc *op, int32_t like, const weir_access *a,
                       const int32_t *in, int32_t *node)
{
  const weir_node *old = weir_graph_node(p->g, like);
  const char *label = old->label != NULL ? old->label : old->op->name, *where = old->where;
  weir_value v[WEIR_MAX_OPERANDS];

  for (int k = 0; k < a->n_in; k++) {
    v[k] = weir_array_value(p->g, in[k]);
  }
  *node = weir_label(p->g, weir_graph_add_access(p->g, op, a, v, a->n_in, where), label).node;
  return weir_graph_status(p->g);
}

/* The node that was passed once more, of the maxima. now: array that each array has become. */
static weir_status add_behind(passing *p, int32_t number, const int32_t *now, int32_t *made)
{
  const weir_node *node = weir_graph_node(p->g, number);
  const weir_operand *maxima = &weir_graph_node(p->g, p->maximum)->access.out[0];
  int32_t in[WEIR_MAX_OPERANDS];
  weir_access a;

  WEIR_TRY(weir_access_copy(&node->access, &a));
  for (int k = 0; k < a.n_in; k++) {
    in[k] = node->in[k] < p->n_before && now[node->in[k]] >= 0 ? now[node->in[k]] : node->in[k];
    if (in[k] != node->in[k]) {
      memcpy(a.in[k].extent, maxima->extent, sizeof maxima->extent);
    }
  }
  for (int d = 0; d < a.n_dims; d++) {
    a.dim[d].hi = a.out[0].extent[d] = maxima->extent[d];
  }
  const weir_status status = add(p, &op_after, number, &a, in, made);

  weir_access_fini(&a);
  return status;
}

/* The maximum of array `root`, and the first n nodes after it. */
static weir_status rewrite(passing *p, int32_t root, int n, int32_t *now)
{
  const int32_t old = weir_graph_node(p->g, p->maximum)->out[0];
  weir_access a;
  int32_t made;

  WEIR_TRY(weir_access_copy(&weir_graph_node(p->g, p->maximum)->access, &a));
  const weir_status status = add(p, &op_maximum, p->maximum, &a, &root, &made);

  weir_access_fini(&a);
  WEIR_TRY(status);
  now[root] = weir_graph_node(p->g, made)->out[0];
  for (int i = n - 1; i >= 0; i--) {
    const int32_t array = weir_graph_node(p->g, p->node[i])->out[0];

    WEIR_TRY(add_behind(p, p->node[i], now, &made));
    now[array] = weir_graph_node(p->g, made)->out[0];
  }
  const int32_t last = weir_graph_node(p->g, made)->out[0];

  for (int32_t i = 0; i < weir_graph_nodes(p->g); i++) {
    weir_node *node = weir_graph_node_mut(p->g, i);

    for (int k = 0; k < node->n_in; k++) {
      node->in[k] = node->in[k] == old ? last : node->in[k];
    }
  }
  return WEIR_OK;
}

static weir_status try_maximum(passing *p, int32_t number, int32_t *now)
{
  int32_t root = -1;
  int n = 0;

  p->maximum = number;
  if (!start(p) || is_kept(p, weir_graph_node(p->g, number)->out[0])) {
    return WEIR_OK;
  }
  while (pass_one(p)) {
    if (p->n_arrays == 1) {
      root = p->array[0];
      n = p->n;
    }
  }
  for (int32_t a = 0; a < p->n_before; a++) {
    now[a] = -1;
  }
  return n > 0 ? rewrite(p, root, n, now) : WEIR_OK;
}

weir_status derive_maxima(weir_graph *g, const weir_value *wrt, int n)
{
  const int32_t nodes = weir_graph_nodes(g), arrays = weir_graph_arrays(g);
  weir_status status = WEIR_OK;
  void *order = NULL, *position = NULL, *kept = NULL, *now = NULL;
  passing p = {.g = g, .n_before = arrays};
  int32_t count = 0;

  WEIR_TRY_GOTO(weir_alloc(nodes, sizeof(int32_t), &order), out);
  WEIR_TRY_GOTO(weir_alloc(nodes, sizeof(int32_t), &position), out);
  WEIR_TRY_GOTO(weir_alloc(arrays, sizeof(bool), &kept), out);
  WEIR_TRY_GOTO(weir_alloc(arrays, sizeof(int32_t), &now), out);
  WEIR_TRY_GOTO(weir_graph_order(g, order, &count), out);
  for (int32_t i = 0; i < count; i++) {
    ((int32_t *)position)[((const int32_t *)order)[i]] = i;
  }
  for (int32_t a = 0; a < arrays; a++) {
    const int32_t update = weir_graph_get_array(g, a)->update;

    if (update >= 0) {
      ((bool *)kept)[update] = true;
    }
  }
  for (int i = 0; i < n; i++) {
    ((bool *)kept)[weir_value_array(g, wrt[i])] = true;
  }
  p.position = position;
  p.kept = kept;
  for (int32_t i = 0; i < count; i++) {
    WEIR_TRY_GOTO(try_maximum(&p, ((const int32_t *)order)[i], now), out);
  }
out:
  weir_free(&order);
  weir_free(&position);
  weir_free(&kept);
  weir_free(&now);
  return status;
}

int32_t derive_byte_of(const weir_graph *g, int32_t argmax)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op == &weir_op_elementwise && !node->dead && node->n_in == 1 &&
        node->in[0] == argmax && node->access.out[0].dtype == WEIR_U8) {
      return node->out[0];
    }
  }
  return -1;
}

weir_status derive_bytes(weir_graph *g)
{
  const int32_t nodes = weir_graph_nodes(g);

  for (int32_t i = 0; i < nodes; i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op != NULL && !node->dead && node->access.combine == WEIR_COMBINE_ARGMAX &&
        derive_positions(&node->access) <= UINT8_MAX && derive_byte_of(g, node->out[1]) < 0) {
      (void)weir_cast_at(g, WEIR_U8, (weir_value){i, 1}, node->where);
    }
  }
  return weir_graph_status(g);
}
