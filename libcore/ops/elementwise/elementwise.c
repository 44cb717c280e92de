/* elementwise.c - out[i] = code(a[i], b[i], c[i]), operands broadcast to the output's shape. */
#include "ops/elementwise/weir_elementwise.h"

#include <math.h>
#include <string.h>

#include "ops/elementwise/elementwise_priv.h"

const char *elementwise_classes(weir_code code)
{
  switch (code) {
  case WEIR_CODE_EXP:
  case WEIR_CODE_ISNAN:
    return "fhc";
  case WEIR_CODE_SQRT:
  case WEIR_CODE_LOG:
  case WEIR_CODE_TANH:
  case WEIR_CODE_ERF:
  case WEIR_CODE_SIN:
  case WEIR_CODE_COS:
  case WEIR_CODE_FLOOR:
  case WEIR_CODE_CEIL:
  case WEIR_CODE_ROUND:
  case WEIR_CODE_FMA:
    return "fh";
  case WEIR_CODE_MAKE:
    return "f";
  case WEIR_CODE_REAL:
  case WEIR_CODE_IMAG:
  case WEIR_CODE_CONJ:
  case WEIR_CODE_ABS2:
    return "c";
  case WEIR_CODE_NOT:
  case WEIR_CODE_AND:
  case WEIR_CODE_OR:
  case WEIR_CODE_XOR:
    return "b";
  case WEIR_CODE_CAST:
  case WEIR_CODE_EQ:
  case WEIR_CODE_NE:
  case WEIR_CODE_SELECT:
    return "nbhc";
  case WEIR_CODE_NEG:
  case WEIR_CODE_ABS:
  case WEIR_CODE_ADD:
  case WEIR_CODE_SUB:
  case WEIR_CODE_MUL:
  case WEIR_CODE_DIV:
    return "nhc";
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
  case WEIR_CODE_LT:
  case WEIR_CODE_LE:
  case WEIR_CODE_GT:
  case WEIR_CODE_GE:
    return "nh";
  default:
    return NULL;
  }
}

static bool class_has(const char *classes, weir_dtype dtype)
{
  if (dtype == WEIR_BOOL) {
    return strchr(classes, 'b') != NULL;
  }
  if (weir_dtype_is_storage(dtype)) {
    return strchr(classes, 'h') != NULL;
  }
  if (weir_dtype_is_complex(dtype)) {
    return strchr(classes, 'c') != NULL;
  }
  return classes[0] == 'n' || (classes[0] == 'f' && weir_dtype_is_real(dtype));
}

/* Whether `value` is an element of the dtype, so that a constant says what it computes. */
static bool holds(weir_dtype dtype, double value)
{
  double stored[1];

  if (!weir_dtype_is_whole(dtype)) {
    return true;
  }
  weir_dtype_store_real(dtype, stored, 0, value);
  return weir_dtype_load_real(dtype, stored, 0) == value && fabs(value) <= 0x1p53;
}

static weir_status check_dtypes(const weir_op_args *args, const char *name, weir_dtype *common)
{
  const weir_elementwise_spec *s = args->spec;
  const int first = s->code == WEIR_CODE_SELECT;

  if (first && args->in[0].dtype != WEIR_BOOL) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: the condition is %s: it must be bool", name,
                     weir_dtype_name(args->in[0].dtype));
  }
  *common = args->in[first].dtype;
  for (int i = first; i < args->n_in; i++) {
    if (args->in[i].dtype != *common) {
      return weir_fail(WEIR_ERR_SHAPE, "%s: operand %d is %s, operand %d is %s; cast one of them",
                       name, first, weir_dtype_name(*common), i,
                       weir_dtype_name(args->in[i].dtype));
    }
  }
  if (!class_has(elementwise_classes(s->code), *common)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: it is undefined for %s", name, weir_dtype_name(*common));
  }
  if (s->code == WEIR_CODE_CAST && weir_dtype_is_complex(*common) &&
      !weir_dtype_is_complex(s->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "cast: %s to %s would drop the imaginary part: use real, imag or abs",
                     weir_dtype_name(*common), weir_dtype_name(s->dtype));
  }
  if (s->scalar != 0 && !holds(*common, s->value)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: the constant %g is not representable as %s", name,
                     s->value, weir_dtype_name(*common));
  }
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_elementwise_spec *s = args->spec;
  weir_dtype common = WEIR_F32;

  if (s->code < 0 || s->code >= WEIR_CODE_COUNT || elementwise_classes(s->code) == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "elementwise: code %d is not an elementwise function",
                     (int)s->code);
  }
  const char *name = weir_code_name(s->code);
  const int n = weir_code_args(s->code) - (s->scalar != 0);

  if (s->scalar < 0 || s->scalar > weir_code_args(s->code) || n < 1) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: argument %d cannot be a constant", name, s->scalar - 1);
  }
  if (s->code == WEIR_CODE_SELECT && s->scalar != 0) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: it takes no constant", name);
  }
  WEIR_TRY(weir_need_count(name, args, n, n));
  WEIR_TRY(check_dtypes(args, name, &common));
  WEIR_TRY(weir_common_shape(name, args->in, args->n_in, out));
  out->dtype = s->code == WEIR_CODE_CAST ? s->dtype : weir_code_result(s->code, common);
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_elementwise_spec *s = args->spec;
  const int first = s->code == WEIR_CODE_SELECT;
  const int n = weir_code_args(s->code);
  const bool moves = s->code == WEIR_CODE_CAST || s->code == WEIR_CODE_SELECT;
  const weir_dtype made = args->out[0].dtype;
  int32_t arg[3] = {-1, -1, -1};
  int operand = 0;

  weir_map_dims(a, &args->out[0]);
  for (int i = 0; i < n; i++) {
    const weir_dtype dtype = weir_dtype_compute_type(args->in[first].dtype);

    if (s->scalar == i + 1) {
      arg[i] = weir_dtype_is_whole(dtype) ? weir_body_int(&a->body, dtype, (int64_t)s->value)
                                          : weir_body_real(&a->body, dtype, s->value);
      continue;
    }
    weir_map_broadcast(&a->in[operand], &args->in[operand], &args->out[0]);
    arg[i] = moves ? weir_body_load(&a->body, operand, args->in[operand].dtype)
                   : weir_map_load(a, operand, args->in[operand].dtype);
    operand++;
  }
  weir_map_identity(&a->out[0], &args->out[0]);
  a->n_values = 1;
  const int32_t value =
      weir_body_push(&a->body, (weir_expr){.code = s->code,
                                           .dtype = moves ? made : weir_dtype_compute_type(made),
                                           .a = arg[0],
                                           .b = arg[1],
                                           .c = arg[2]});

  a->value[0] = weir_body_cast(&a->body, made, value);
  return WEIR_OK;
}

const weir_op_desc weir_op_elementwise = {
    .name = "elementwise",
    .cite = "graph/weir_body.h",
    .spec_size = sizeof(weir_elementwise_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

static weir_value add_node(weir_graph *g, const weir_elementwise_spec *spec, const weir_value *in,
                           int n, const char *where)
{
  return weir_graph_add(g, &weir_op_elementwise, spec, in, n, where);
}

weir_value weir_unary_at(weir_graph *g, weir_code code, weir_value x, const char *where)
{
  return add_node(g, &(weir_elementwise_spec){.code = code}, &x, 1, where);
}

weir_value weir_binary_at(weir_graph *g, weir_code code, weir_value a, weir_value b,
                          const char *where)
{
  const weir_value in[] = {a, b};

  return add_node(g, &(weir_elementwise_spec){.code = code}, in, 2, where);
}

weir_value weir_ternary_at(weir_graph *g, weir_code code, weir_value a, weir_value b, weir_value c,
                           const char *where)
{
  const weir_value in[] = {a, b, c};

  return add_node(g, &(weir_elementwise_spec){.code = code}, in, 3, where);
}

weir_value weir_cast_at(weir_graph *g, weir_dtype dtype, weir_value x, const char *where)
{
  const weir_elementwise_spec s = {.code = WEIR_CODE_CAST, .dtype = dtype};

  return add_node(g, &s, &x, 1, where);
}

weir_value weir_right_at(weir_graph *g, weir_code code, weir_value x, double c, const char *where)
{
  const weir_elementwise_spec s = {.code = code, .scalar = 2, .value = c};

  return add_node(g, &s, &x, 1, where);
}

weir_value weir_left_at(weir_graph *g, weir_code code, double c, weir_value x, const char *where)
{
  const weir_elementwise_spec s = {.code = code, .scalar = 1, .value = c};

  return add_node(g, &s, &x, 1, where);
}
