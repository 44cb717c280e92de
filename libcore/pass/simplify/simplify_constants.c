/* simplify_constants.c - float bodies over constants, computed once with the functions that all
 * engines share: the bits are those that a run would give. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "graph/weir_scalar.h"
#include "simplify_priv.h"

/* Elements of a constant that is made: more is left to the run. */
#define MAX_ELEMENTS 65536

static bool is_float_code(const weir_body *b, const weir_expr *e)
{
  const int args = weir_code_args(e->code);
  const weir_dtype from = args > 0 ? b->exprs[e->a].dtype : e->dtype;

  switch (e->code) {
  case WEIR_CODE_LOAD:
  case WEIR_CODE_CONST:
  case WEIR_CODE_CAST:
  case WEIR_CODE_NEG:
  case WEIR_CODE_ABS:
  case WEIR_CODE_SQRT:
  case WEIR_CODE_EXP:
  case WEIR_CODE_LOG:
  case WEIR_CODE_TANH:
  case WEIR_CODE_ERF:
  case WEIR_CODE_SIN:
  case WEIR_CODE_COS:
  case WEIR_CODE_ADD:
  case WEIR_CODE_SUB:
  case WEIR_CODE_MUL:
  case WEIR_CODE_DIV:
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
  case WEIR_CODE_FMA:
    return weir_dtype_is_real(e->dtype) && weir_dtype_is_real(from);
  default:
    return false;
  }
}

static bool may_fold(const weir_graph *g, const weir_node *node)
{
  const weir_access *a = &node->access;
  const weir_box box = weir_iterations(a);
  int order[WEIR_MAX_RANK];

  if (!simplify_is_plain(node) || a->n_out != 1 || a->n_values != 1 || a->n_states > 0 ||
      a->combine != WEIR_COMBINE_NONE || !simplify_is_inner(g, node, 0) ||
      weir_box_volume(&box) > MAX_ELEMENTS || !weir_operand_is_permutation(&a->out[0], a, order)) {
    return false;
  }
  for (int d = 0; d < a->out[0].rank; d++) {
    if (order[d] != d || a->dim[d].kind != WEIR_PARALLEL) {
      return false;
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    if (weir_graph_get_array(g, node->in[k])->kind != WEIR_ARRAY_CONSTANT) {
      return false;
    }
    for (int d = 0; d < a->in[k].rank; d++) {
      if (a->in[k].index[d].gather != 0 || a->in[k].index[d].border == WEIR_BORDER_ABSENT) {
        return false;
      }
    }
  }
  for (int32_t i = 0; i < a->body.n; i++) {
    if (!is_float_code(&a->body, &a->body.exprs[i])) {
      return false;
    }
  }
  return true;
}

/* One element of a constant, by the border rules: the fill is that of the first dimension left. */
static double load(const weir_access *a, int k, const weir_tensor *t, const int64_t *iteration)
{
  const weir_operand *o = &a->in[k];
  int64_t at = 0;

  for (int d = 0; d < o->rank; d++) {
    bool inside;
    const int64_t raw = weir_index_raw(&o->index[d], a->n_dims, iteration, 0);
    const int64_t index = weir_index_border(&o->index[d], raw, o->extent[d], &inside);

    if (!inside) {
      const double fill = o->index[d].border == WEIR_BORDER_VALUE ? o->index[d].fill : 0;

      return weir_dtype_rounded(o->dtype, fill);
    }
    at += index * t->stride[d];
  }
  return weir_dtype_load_real(o->dtype, t->data, at);
}

#define FLOAT_CODE(suffix, type)                                               \
  static double code_##suffix(weir_code code, double da, double db, double dc) \
  {                                                                            \
    const type a = (type)da, b = (type)db, c = (type)dc;                       \
                                                                               \
    switch (code) {                                                            \
    case WEIR_CODE_NEG:                                                        \
      return (double)-a;                                                       \
    case WEIR_CODE_ABS:                                                        \
      return (double)weir_abs_##suffix(a);                                     \
    case WEIR_CODE_SQRT:                                                       \
      return (double)weir_sqrt_##suffix(a);                                    \
    case WEIR_CODE_EXP:                                                        \
      return (double)weir_exp_##suffix(a);                                     \
    case WEIR_CODE_LOG:                                                        \
      return (double)weir_log_##suffix(a);                                     \
    case WEIR_CODE_TANH:                                                       \
      return (double)weir_tanh_##suffix(a);                                    \
    case WEIR_CODE_ERF:                                                        \
      return (double)weir_erf_##suffix(a);                                     \
    case WEIR_CODE_SIN:                                                        \
      return (double)weir_sin_##suffix(a);                                     \
    case WEIR_CODE_COS:                                                        \
      return (double)weir_cos_##suffix(a);                                     \
    case WEIR_CODE_ADD:                                                        \
      return (double)(a + b);                                                  \
    case WEIR_CODE_SUB:                                                        \
      return (double)(a - b);                                                  \
    case WEIR_CODE_MUL:                                                        \
      return (double)(a * b);                                                  \
    case WEIR_CODE_DIV:                                                        \
      return (double)(a / b);                                                  \
    case WEIR_CODE_MIN:                                                        \
      return (double)(a < b ? a : b);                                          \
    case WEIR_CODE_MAX:                                                        \
      return (double)(a > b ? a : b);                                          \
    case WEIR_CODE_FMA:                                                        \
      return (double)weir_fma_##suffix(a, b, c);                               \
    default: /* a cast */                                                      \
      return (double)a;                                                        \
    }                                                                          \
  }
FLOAT_CODE(f32, float)
FLOAT_CODE(f64, double)

static double evaluate(const weir_graph *g, const weir_node *node, const int64_t *iteration,
                       double *value)
{
  const weir_body *b = &node->access.body;

  for (int32_t i = 0; i < b->n; i++) {
    const weir_expr *e = &b->exprs[i];
    const double x = e->a >= 0 ? value[e->a] : 0, y = e->b >= 0 ? value[e->b] : 0;
    const double z = e->c >= 0 ? value[e->c] : 0;

    if (e->code == WEIR_CODE_LOAD) {
      const int k = (int)e->integer;

      value[i] = load(&node->access, k, &weir_graph_get_array(g, node->in[k])->constant, iteration);
    } else if (e->code == WEIR_CODE_CONST) {
      value[i] = weir_dtype_rounded(e->dtype, e->real);
    } else if (weir_dtype_is_storage(e->dtype)) { /* a cast */
      value[i] = weir_dtype_rounded(e->dtype, x);
    } else {
      value[i] = e->dtype == WEIR_F32 ? code_f32(e->code, x, y, z) : code_f64(e->code, x, y, z);
    }
  }
  return value[node->access.value[0]];
}

/* The node becomes the source of a constant. */
static weir_status fold(weir_graph *g, weir_node *node)
{
  weir_status status = WEIR_OK;
  weir_array *array = weir_graph_array_mut(g, node->out[0]);
  weir_tensor t;
  void *memory = NULL;

  WEIR_TRY(weir_tensor_init(&t, array->desc.dtype, array->desc.rank, array->desc.shape));
  WEIR_TRY_GOTO(weir_alloc(node->access.body.n, sizeof(double), &memory), out);
  for (int64_t i = 0; i < weir_tensor_numel(&t); i++) {
    int64_t iteration[WEIR_MAX_DIMS] = {0}, left = i;

    for (int d = t.rank - 1; d >= 0; d--) {
      iteration[d] = left % t.shape[d];
      left /= t.shape[d];
    }
    weir_dtype_store_real(t.dtype, t.data, i, evaluate(g, node, iteration, memory));
  }
  WEIR_TRY_GOTO(weir_array_make_constant(array, &t), out);
  weir_access_fini(&node->access);
  weir_free(&node->spec);
  node->op = NULL;
  node->n_in = 0;
out:
  weir_free(&memory);
  if (status != WEIR_OK) {
    weir_tensor_fini(&t);
  }
  return status;
}

weir_status simplify_const_fold(weir_graph *g, bool *changed)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    weir_node *node = weir_graph_node_mut(g, i);

    if (node->op != NULL && !node->dead && may_fold(g, node)) {
      WEIR_TRY(fold(g, node));
      *changed = true;
    }
  }
  return WEIR_OK;
}
