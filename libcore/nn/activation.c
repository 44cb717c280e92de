/* activation.c - activations as compositions of element-wise operators. */
#include "nn/weir_activation.h"

#include <math.h>
#include <string.h>

#include "ops/elementwise/weir_elementwise.h"

/* A graph and the source location in messages. */
typedef struct site {
  weir_graph *g;
  const char *where;
} site;

static weir_value one(const site *s, weir_code code, weir_value x)
{
  return weir_unary_at(s->g, code, x, s->where);
}

static weir_value two(const site *s, weir_code code, weir_value a, weir_value b)
{
  return weir_binary_at(s->g, code, a, b, s->where);
}

static weir_value right(const site *s, weir_code code, weir_value x, double c)
{
  return weir_right_at(s->g, code, x, c, s->where);
}

static weir_value left(const site *s, weir_code code, double c, weir_value x)
{
  return weir_left_at(s->g, code, c, x, s->where);
}

/* exp(min(0, x)) - 1 = tanh(m / 2) (exp(m) + 1): exact near 0, and in range for every x. */
static weir_value elu(const site *s, weir_value x, double slope)
{
  const weir_value low = left(s, WEIR_CODE_MIN, 0, x);
  const weir_value half = one(s, WEIR_CODE_TANH, right(s, WEIR_CODE_MUL, low, 0.5));
  const weir_value sum = right(s, WEIR_CODE_ADD, one(s, WEIR_CODE_EXP, low), 1);
  const weir_value below = right(s, WEIR_CODE_MUL, two(s, WEIR_CODE_MUL, half, sum), slope);

  return weir_ternary_at(s->g, WEIR_CODE_SELECT, right(s, WEIR_CODE_GT, x, 0), x, below, s->where);
}

/* exp(-|x|), never above 1. */
static weir_value decay(const site *s, weir_value x)
{
  return one(s, WEIR_CODE_EXP, one(s, WEIR_CODE_NEG, one(s, WEIR_CODE_ABS, x)));
}

/* (x < 0 ? e : 1) / (1 + e), e = exp(-|x|). */
static weir_value sigmoid(const site *s, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(s->g, x);
  const weir_value e = decay(s, x), below = right(s, WEIR_CODE_LT, x, 0);
  const weir_value unit = weir_scalar(s->g, d != NULL ? d->dtype : WEIR_F32, 1);
  const weir_value top = weir_ternary_at(s->g, WEIR_CODE_SELECT, below, e, unit, s->where);

  return two(s, WEIR_CODE_DIV, top, right(s, WEIR_CODE_ADD, e, 1));
}

/* max(0, x) + log(1 + exp(-|x|)); at 0 both terms take the side of x. */
static weir_value softplus(const site *s, weir_value x)
{
  const weir_value rest = one(s, WEIR_CODE_LOG, right(s, WEIR_CODE_ADD, decay(s, x), 1));

  return two(s, WEIR_CODE_ADD, left(s, WEIR_CODE_MAX, 0, x), rest);
}

static weir_value gelu(const site *s, weir_value x)
{
  const weir_value erf = one(s, WEIR_CODE_ERF, right(s, WEIR_CODE_MUL, x, sqrt(0.5)));

  return two(s, WEIR_CODE_MUL, right(s, WEIR_CODE_MUL, x, 0.5), right(s, WEIR_CODE_ADD, erf, 1));
}

static double slope_of(const weir_activation *a, double usual)
{
  return a->slope == 0 ? usual : a->slope;
}

weir_value weir_activation_at(weir_graph *g, const weir_activation *a, weir_value x,
                              const char *where)
{
  const site s = {g, where};

  switch (a->kind) {
  case WEIR_ACTIVATION_IDENTITY:
    return x;
  case WEIR_ACTIVATION_RELU:
    return right(&s, WEIR_CODE_MAX, x, 0);
  case WEIR_ACTIVATION_LEAKY_RELU:
    return two(&s, WEIR_CODE_MAX, x, right(&s, WEIR_CODE_MUL, x, slope_of(a, 0.01)));
  case WEIR_ACTIVATION_ELU:
    return elu(&s, x, slope_of(a, 1));
  case WEIR_ACTIVATION_GELU:
    return gelu(&s, x);
  case WEIR_ACTIVATION_SILU:
    return two(&s, WEIR_CODE_MUL, x, sigmoid(&s, x));
  case WEIR_ACTIVATION_TANH:
    return one(&s, WEIR_CODE_TANH, x);
  case WEIR_ACTIVATION_SIGMOID:
    return sigmoid(&s, x);
  case WEIR_ACTIVATION_SOFTPLUS:
    return softplus(&s, x);
  default:
    return weir_graph_fail(
        g, weir_fail(WEIR_ERR_CONFIG, "(%s): there is no activation %d", where, (int)a->kind));
  }
}

/* ---- By name ---- */

struct slope_opts {
  double slope;
};

static const weir_opt leaky_rows[] = {
    WEIR_OPT_REAL(struct slope_opts, slope, 0.01, 1e-6, 1, "1",
                  "slope for x below 0; default of Maas et al., ICML 2013"),
    WEIR_OPT_END,
};
static const weir_opt elu_rows[] = {
    WEIR_OPT_REAL(struct slope_opts, slope, 1, 1e-6, 100, "1",
                  "negative saturation value (alpha); default of Clevert et al., ICLR 2016"),
    WEIR_OPT_END,
};

/* In the order of weir_activation_kind. */
static const weir_opt_choice choices[WEIR_ACTIVATION_KINDS] = {
    {.name = "identity", .help = "x"},
    {.name = "relu", .help = "max(x, 0)"},
    {.name = "leaky_relu",
     .help = "x; slope x below 0",
     .table = leaky_rows,
     .size = sizeof(struct slope_opts)},
    {.name = "elu",
     .help = "x; slope (exp(x) - 1) below 0",
     .table = elu_rows,
     .size = sizeof(struct slope_opts)},
    {.name = "gelu", .help = "x (1 + erf(x / sqrt 2)) / 2"},
    {.name = "silu", .help = "x / (1 + exp(-x))"},
    {.name = "tanh", .help = "hyperbolic tangent"},
    {.name = "sigmoid", .help = "1 / (1 + exp(-x))"},
    {.name = "softplus", .help = "log(1 + exp(x))"},
};

bool weir_activation_list(int64_t i, weir_opt_choice *entry)
{
  if (i < 0 || i >= WEIR_ACTIVATION_KINDS) {
    return false;
  }
  *entry = choices[i];
  return true;
}

weir_activation weir_activation_of(const weir_one_of *choice)
{
  weir_activation a = {.kind = WEIR_ACTIVATION_IDENTITY};

  for (int k = 0; choice->name != NULL && k < WEIR_ACTIVATION_KINDS; k++) {
    if (strcmp(choices[k].name, choice->name) == 0) {
      a.kind = (weir_activation_kind)k;
      a.slope = choice->opts != NULL ? ((const struct slope_opts *)choice->opts)->slope : 0;
    }
  }
  return a;
}
