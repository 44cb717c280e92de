/* simplify_bodies.c - algebra that is exact in IEEE arithmetic, expression by expression. */
#include <math.h>
#include <string.h>
#include "pass/weir_body_dce.h"
#include "simplify_priv.h"

static bool is_constant(const weir_expr *e, double value)
{
  if (e->code != WEIR_CODE_CONST) {
    return false;
  }
  return weir_dtype_is_real(e->dtype) ? e->real == value && signbit(e->real) == signbit(value)
                                      : e->integer == (int64_t)value && !signbit(value);
}

/* Adding this changes nothing: -0 for floats (x + 0 turns -0 into 0), 0 for integers. */
static bool is_nothing(const weir_expr *e)
{
  return is_constant(e, weir_dtype_is_real(e->dtype) ? -0.0 : 0.0);
}

/* Whether every number of a float dtype is one of the other. */
static bool widens(weir_dtype from, weir_dtype to)
{
  return (weir_dtype_is_storage(from) && (to == WEIR_F32 || to == WEIR_F64)) ||
         (from == WEIR_F32 && to == WEIR_F64);
}

/* The argument that a cast equals: none was needed, or one leads back from a wider dtype. */
static int32_t cast_of(const weir_body *b, const weir_expr *e)
{
  const weir_expr *x = &b->exprs[e->a];

  if (x->code == WEIR_CODE_CAST && b->exprs[x->a].dtype == e->dtype && widens(e->dtype, x->dtype)) {
    return x->a;
  }
  return x->dtype == e->dtype ? e->a : -1;
}

/* The argument that expression e equals, or -1. */
static int32_t equal_to(const weir_body *b, const weir_expr *e)
{
  const weir_expr *x = e->a >= 0 ? &b->exprs[e->a] : NULL;
  const weir_expr *y = e->b >= 0 ? &b->exprs[e->b] : NULL;

  switch (e->code) {
  case WEIR_CODE_MUL:
    return is_constant(y, 1) ? e->a : is_constant(x, 1) ? e->b : -1;
  case WEIR_CODE_DIV:
    return is_constant(y, 1) ? e->a : -1;
  case WEIR_CODE_ADD:
    return is_nothing(y) ? e->a : is_nothing(x) ? e->b : -1;
  case WEIR_CODE_SUB:
    return is_constant(y, 0) ? e->a : -1;
  case WEIR_CODE_CAST:
    return cast_of(b, e);
  case WEIR_CODE_NEG:
  case WEIR_CODE_NOT:
    return x->code == e->code ? x->a : -1;
  case WEIR_CODE_ABS:
  case WEIR_CODE_FLOOR:
  case WEIR_CODE_CEIL:
  case WEIR_CODE_ROUND:
    return x->code == e->code ? e->a : -1;
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
  case WEIR_CODE_AND:
  case WEIR_CODE_OR:
    return e->a == e->b ? e->a : -1;
  case WEIR_CODE_SELECT:
    return e->b == e->c ? e->b : -1;
  default:
    return -1;
  }
}

static int32_t follow(const weir_body *b, int32_t i, bool *changed)
{
  int32_t to = i >= 0 ? equal_to(b, &b->exprs[i]) : -1;

  for (; to >= 0; to = equal_to(b, &b->exprs[i])) {
    *changed = true;
    i = to;
  }
  return i;
}

static void shorten(weir_access *a, bool *changed)
{
  weir_body *b = &a->body;

  for (int32_t i = 0; i < b->n; i++) {
    weir_expr *e = &b->exprs[i];

    e->a = follow(b, e->a, changed);
    e->b = follow(b, e->b, changed);
    e->c = follow(b, e->c, changed);
  }
  for (int k = 0; k < a->n_values; k++) {
    a->value[k] = follow(b, a->value[k], changed);
  }
  for (int k = 0; k < a->n_states; k++) {
    a->state[k].next = follow(b, a->state[k].next, changed);
  }
}

/* True when something besides loads, or the shape of the iterations, hangs on operand k. */
static bool is_needed(const weir_access *a, int k)
{
  const weir_operand *o = &a->in[k];

  for (int i = 0; i < a->n_in; i++) {
    for (int d = 0; d < a->in[i].rank; d++) {
      if (a->in[i].index[d].gather == k + 1) {
        return true;
      }
    }
  }
  for (int d = 0; d < o->rank; d++) {
    /* A stream that is read bounds the length of the result. */
    if (o->index[d].border == WEIR_BORDER_ABSENT || o->extent[d] >= WEIR_UNBOUNDED) {
      return true;
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_expr *e = &a->body.exprs[i];

    if ((e->code == WEIR_CODE_LOAD && e->integer == k) ||
        (e->code == WEIR_CODE_REMAINDER && e->integer / 16 == k)) {
      return true;
    }
  }
  return o->role != WEIR_ROLE_DATA || a->presence == k + 1;
}

/* Takes operand k out of the node and renumbers what names later ones. */
static void drop_operand(weir_node *node, int k)
{
  weir_access *a = &node->access;
  weir_derivation *derivation = &node->derivation;

  *derivation = weir_node_derivation(node);
  memmove(&derivation->in[k], &derivation->in[k + 1],
          (size_t)(a->n_in - k - 1) * sizeof(derivation->in[0]));
  memmove(&a->in[k], &a->in[k + 1], (size_t)(a->n_in - k - 1) * sizeof(a->in[0]));
  memmove(&node->in[k], &node->in[k + 1], (size_t)(a->n_in - k - 1) * sizeof(node->in[0]));
  a->n_in--;
  node->n_in--;
  for (int i = 0; i < a->n_in; i++) {
    for (int d = 0; d < a->in[i].rank; d++) {
      a->in[i].index[d].gather -= a->in[i].index[d].gather > k + 1;
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    weir_expr *e = &a->body.exprs[i];

    if (e->code == WEIR_CODE_LOAD) {
      e->integer -= e->integer > k;
    } else if (e->code == WEIR_CODE_REMAINDER) {
      e->integer -= e->integer / 16 > k ? 16 : 0;
    }
  }
  for (int s = 0; s < a->n_states; s++) {
    a->state[s].init -= a->state[s].init > k + 1;
  }
  a->presence -= a->presence > k + 1;
}

/* Loads of constants of rank 0 become constants of the body; a complex one would be three
 * expressions and stays a load. */
static void take_scalars(const weir_graph *g, weir_node *node, bool *changed)
{
  for (int32_t i = 0; i < node->access.body.n; i++) {
    weir_expr *e = &node->access.body.exprs[i];
    const weir_array *array =
        e->code == WEIR_CODE_LOAD ? weir_graph_get_array(g, node->in[e->integer]) : NULL;

    if (array == NULL || array->kind != WEIR_ARRAY_CONSTANT || array->desc.rank != 0 ||
        weir_dtype_is_complex(e->dtype)) {
      continue;
    }
    const bool real = weir_dtype_is_real(e->dtype);

    *e = (weir_expr){
        .code = WEIR_CODE_CONST,
        .dtype = e->dtype,
        .a = -1,
        .b = -1,
        .c = -1,
        .integer = real ? 0 : weir_dtype_load_int(e->dtype, array->constant.data, 0),
        .real = real ? weir_dtype_load_real(e->dtype, array->constant.data, 0) : 0,
    };
    *changed = true;
  }
}

weir_status simplify_bodies(weir_graph *g, bool *changed)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    weir_node *node = weir_graph_node_mut(g, i);
    bool here = false;

    if (!simplify_is_plain(node)) {
      continue;
    }
    take_scalars(g, node, &here);
    shorten(&node->access, &here);
    if (here) {
      WEIR_TRY(weir_body_dce(&node->access));
      for (int k = node->n_in - 1; k >= 0; k--) {
        if (!is_needed(&node->access, k)) {
          drop_operand(node, k);
        }
      }
      *changed = true;
    }
  }
  return WEIR_OK;
}
