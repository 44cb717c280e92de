/* partition_linear.c - whether a node commutes with a sum: f(x1 + x2) = f(x1) + f(x2) for the
 * operands of a set together, up to rounding, whatever the others are. */
#include "base/weir_alloc.h"
#include "pass/partition/partition_priv.h"

/* An expression as a function of the operands of the set. */
typedef enum linearity {
  IS_ZERO,   /* of every argument */
  IS_FIXED,  /* independent of them */
  IS_LINEAR, /* and 0 where they are 0 */
  IS_AFFINE, /* linear, and a fixed number that would be added once per summand */
  IS_OTHER
} linearity;

static bool is_float(weir_dtype dtype)
{
  return weir_dtype_is_real(dtype) || weir_dtype_is_complex(dtype);
}

static linearity sum_of(linearity a, linearity b)
{
  if (a == IS_OTHER || b == IS_OTHER) {
    return IS_OTHER;
  }
  if (a == IS_ZERO || b == IS_ZERO) {
    return a == IS_ZERO ? b : a;
  }
  return a == b ? a : IS_AFFINE;
}

static linearity product_of(linearity a, linearity b)
{
  if (a == IS_OTHER || b == IS_OTHER) {
    return IS_OTHER;
  }
  if (a == IS_ZERO || b == IS_ZERO) {
    return IS_ZERO;
  }
  return a == IS_FIXED ? b : b == IS_FIXED ? a : IS_OTHER;
}

/* What is read outside the array is 0, or the iteration is none. */
static bool is_zero_outside(const weir_operand *x)
{
  bool yes = x->role == WEIR_ROLE_DATA && is_float(x->dtype);

  for (int d = 0; d < x->rank; d++) {
    yes = yes && (x->index[d].border != WEIR_BORDER_VALUE || x->index[d].fill == 0);
  }
  return yes;
}

static linearity load_of(const weir_access *a, int64_t operand, uint32_t set)
{
  return (set >> operand & 1) == 0          ? IS_FIXED
         : is_zero_outside(&a->in[operand]) ? IS_LINEAR
                                            : IS_OTHER;
}

/* Of another code, whose arguments are all fixed or not. */
static linearity function_of(linearity a, linearity b, linearity c)
{
  return a <= IS_FIXED && b <= IS_FIXED && c <= IS_FIXED ? IS_FIXED : IS_OTHER;
}

static linearity linearity_of(const weir_access *access, int32_t i, uint32_t set,
                              const uint8_t *before)
{
  const weir_expr *e = &access->body.exprs[i];
  const linearity a = e->a >= 0 ? (linearity)before[e->a] : IS_ZERO;
  const linearity b = e->b >= 0 ? (linearity)before[e->b] : IS_ZERO;
  const linearity c = e->c >= 0 ? (linearity)before[e->c] : IS_ZERO;

  switch (e->code) {
  case WEIR_CODE_LOAD:
    return load_of(access, e->integer, set);
  case WEIR_CODE_CONST:
    return is_float(e->dtype) && e->real == 0 && e->integer == 0 ? IS_ZERO : IS_FIXED;
  case WEIR_CODE_NEG:
  case WEIR_CODE_REAL:
  case WEIR_CODE_IMAG:
  case WEIR_CODE_CONJ:
    return a;
  case WEIR_CODE_CAST:
    return is_float(e->dtype) ? a : function_of(a, IS_ZERO, IS_ZERO);
  case WEIR_CODE_ADD:
  case WEIR_CODE_SUB:
  case WEIR_CODE_MAKE:
    return sum_of(a, b);
  case WEIR_CODE_MUL:
    return product_of(a, b);
  case WEIR_CODE_FMA:
    return sum_of(product_of(a, b), c);
  case WEIR_CODE_DIV:
    return b <= IS_FIXED ? a : IS_OTHER;
  case WEIR_CODE_SELECT:
    return a <= IS_FIXED ? sum_of(b, c) : IS_OTHER;
  default:
    return function_of(a, b, c);
  }
}

/* Of what the node makes, before it is summed. kind: [expressions]. */
static linearity of_node(const weir_access *a, uint32_t set, uint8_t *kind)
{
  for (int32_t i = 0; i < a->body.n; i++) {
    kind[i] = (uint8_t)linearity_of(a, i, set, kind);
  }
  return (linearity)kind[a->value[0]];
}

bool partition_is_sum(const weir_access *a)
{
  return a->maker == WEIR_MADE_BY_BODY && a->n_states == 0 && a->n_out == 1 && a->n_values == 1 &&
         is_float(a->out[0].dtype) &&
         (a->combine == WEIR_COMBINE_NONE || a->combine == WEIR_COMBINE_SUM);
}

/* Operands that read the array; 0: one of them reads positions or states of it. */
static uint32_t reads_of(const weir_node *node, int32_t array)
{
  uint32_t set = 0;
  bool good = true;

  for (int k = 0; k < node->n_in; k++) {
    if (node->in[k] == array) {
      set |= 1u << k;
      good = good && is_zero_outside(&node->access.in[k]);
    }
  }
  return good ? set : 0;
}

uint32_t partition_linear(const weir_graph *g, const weir_node *node, const unsigned *may,
                          uint8_t *kind)
{
  const weir_access *a = &node->access;
  uint32_t set = 0, seen = 0;

  if (!partition_is_sum(a)) {
    return 0;
  }
  for (int n = 0; n < node->n_in; n++) { /* those that may be partial first, then the largest */
    double most = -1;
    int best = 0;

    for (int k = 0; k < node->n_in; k++) {
      const weir_array_desc *d = &weir_graph_get_array(g, node->in[k])->desc;
      const double size = (double)weir_desc_bytes(d) + (may[node->in[k]] != 0 ? 1e30 : 0);

      if ((seen >> k & 1) == 0 && size > most) {
        most = size;
        best = k;
      }
    }
    const uint32_t more = set | reads_of(node, node->in[best]);

    seen |= 1u << best;
    set = of_node(a, more, kind) != IS_OTHER ? more : set;
  }
  const linearity made = of_node(a, set, kind);

  return made == IS_LINEAR || made == IS_ZERO ? set : 0;
}
