/* contract.c - out[free labels] = sum over the other labels of the product of the operands. */
#include "ops/contract/weir_contract.h"

#include <string.h>

/* Labels with meaning: iteration dimensions are the output's labels, then the summed ones in order
 * of first appearance. */
typedef struct plan {
  const char *operand[WEIR_CONTRACT_OPERANDS + 1]; /* the last one is the output */
  int rank[WEIR_CONTRACT_OPERANDS + 1];
  int n; /* operands */
  char label[WEIR_MAX_DIMS];
  int64_t extent[WEIR_MAX_DIMS];
  bool time[WEIR_MAX_DIMS];
  int n_labels;
} plan;

static int find(const plan *p, char label)
{
  for (int k = 0; k < p->n_labels; k++) {
    if (p->label[k] == label) {
      return k;
    }
  }
  return -1;
}

static weir_status split(const weir_contract_spec *s, plan *p)
{
  const char *end = memchr(s->labels, 0, sizeof s->labels);
  const char *arrow = end == NULL ? NULL : strstr(s->labels, "->");
  const char *at = s->labels;

  if (arrow == NULL) {
    return weir_fail(WEIR_ERR_SHAPE, "contract: labels without \"->\"");
  }
  p->operand[0] = at;
  for (; *at != 0; at++) {
    const bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');

    if (at == arrow || (*at == ',' && at < arrow && p->n < WEIR_CONTRACT_OPERANDS - 1)) {
      p->n++;
      p->operand[p->n] = at + (at == arrow ? 2 : 1);
      at += at == arrow;
    } else if (letter) {
      p->rank[p->n]++;
    } else {
      return weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\": '%c' is not a label; at most %d operands",
                       s->labels, *at, WEIR_CONTRACT_OPERANDS);
    }
  }
  return WEIR_OK;
}

static weir_status add_label(const weir_contract_spec *s, plan *p, char label)
{
  if (find(p, label) >= 0) {
    return WEIR_OK;
  }
  if (p->n_labels == WEIR_MAX_DIMS) {
    return weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\" has more than %d labels", s->labels,
                     WEIR_MAX_DIMS);
  }
  p->extent[p->n_labels] = -1;
  p->label[p->n_labels++] = label;
  return WEIR_OK;
}

static weir_status number(const weir_contract_spec *s, plan *p)
{
  for (int j = 0; j < p->rank[p->n]; j++) {
    if (find(p, p->operand[p->n][j]) >= 0) {
      return weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\": label '%c' is twice in the output",
                       s->labels, p->operand[p->n][j]);
    }
    WEIR_TRY(add_label(s, p, p->operand[p->n][j]));
  }
  for (int i = 0; i < p->n; i++) {
    for (int j = 0; j < p->rank[i]; j++) {
      WEIR_TRY(add_label(s, p, p->operand[i][j]));
    }
  }
  return WEIR_OK;
}

static weir_status measure(const weir_op_args *args, plan *p)
{
  const weir_contract_spec *s = args->spec;

  for (int i = 0; i < p->n; i++) {
    const weir_array_desc *d = &args->in[i];

    if (d->rank != p->rank[i]) {
      return weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\": operand %d has rank %d, not %d",
                       s->labels, i, d->rank, p->rank[i]);
    }
    for (int j = 0; j < d->rank; j++) {
      const int k = find(p, p->operand[i][j]);

      if (p->extent[k] >= 0 && p->extent[k] != d->shape[j]) {
        return weir_fail(WEIR_ERR_SHAPE,
                         "contract: \"%s\": label '%c' has extent %lld in operand %d, %lld before",
                         s->labels, p->label[k], (long long)d->shape[j], i,
                         (long long)p->extent[k]);
      }
      p->extent[k] = d->shape[j];
      p->time[k] = p->time[k] || d->time == j + 1;
      if (p->time[k] && k >= p->rank[p->n]) {
        return weir_fail(WEIR_ERR_SHAPE,
                         "contract: \"%s\": label '%c' is time, which cannot be summed over",
                         s->labels, p->label[k]);
      }
    }
  }
  for (int k = 0; k < p->n_labels; k++) {
    if (p->extent[k] < 0) {
      return weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\": no operand has the output's label '%c'",
                       s->labels, p->label[k]);
    }
  }
  return WEIR_OK;
}

static weir_status make_plan(const weir_op_args *args, plan *p)
{
  const weir_contract_spec *s = args->spec;

  memset(p, 0, sizeof *p);
  WEIR_TRY(split(s, p));
  WEIR_TRY(weir_need_count("contract", args, p->n, p->n));
  WEIR_TRY(number(s, p));
  WEIR_TRY(measure(args, p));
  return WEIR_OK;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  const weir_contract_spec *s = args->spec;
  weir_array_desc y = {.rank = 0};
  plan p;

  WEIR_TRY(make_plan(args, &p));
  const weir_dtype dtype = args->in[0].dtype;

  for (int i = 1; i < p.n; i++) {
    if (args->in[i].dtype != dtype) {
      return weir_fail(WEIR_ERR_SHAPE, "contract: operand %d is %s, operand 0 is %s", i,
                       weir_dtype_name(args->in[i].dtype), weir_dtype_name(dtype));
    }
  }
  y.dtype = s->accumulator != 0          ? (weir_dtype)(s->accumulator - 1)
            : weir_dtype_is_whole(dtype) ? WEIR_I64
                                         : weir_dtype_compute_type(dtype);
  if (s->accumulator < 0 || s->accumulator > WEIR_DTYPE_COUNT || dtype == WEIR_BOOL ||
      y.dtype == WEIR_BOOL || weir_dtype_is_storage(y.dtype) ||
      weir_dtype_is_complex(dtype) != weir_dtype_is_complex(y.dtype)) {
    return weir_fail(
        WEIR_ERR_SHAPE, "contract: products of %s cannot be summed in %s", weir_dtype_name(dtype),
        (unsigned)y.dtype < WEIR_DTYPE_COUNT ? weir_dtype_name(y.dtype) : "an unknown dtype");
  }
  if (s->conjugate >> p.n != 0 || (s->conjugate != 0 && !weir_dtype_is_complex(dtype))) {
    return weir_fail(WEIR_ERR_SHAPE, "contract: conjugate mask 0x%x does not fit %d operands of %s",
                     (unsigned)s->conjugate, p.n, weir_dtype_name(dtype));
  }
  for (int k = 0; k < p.rank[p.n] && y.rank < WEIR_MAX_RANK; k++) {
    y.shape[y.rank++] = p.extent[k];
    y.time = p.time[k] ? k + 1 : y.time;
  }
  if (y.rank != p.rank[p.n]) {
    return weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\": the output has rank %d", s->labels,
                     p.rank[p.n]);
  }
  *out = y;
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  const weir_contract_spec *s = args->spec;
  const weir_dtype accumulator = args->out[0].dtype;
  int32_t product = -1;
  plan p;

  WEIR_TRY(make_plan(args, &p));
  weir_map_dims(a, &args->out[0]);
  for (int k = a->n_dims; k < p.n_labels; k++) {
    weir_map_dim(a, WEIR_REDUCED, p.extent[k]);
  }
  for (int i = 0; i < p.n; i++) {
    const weir_dtype dtype = args->in[i].dtype;

    weir_map_operand(&a->in[i], &args->in[i]);
    for (int j = 0; j < p.rank[i]; j++) {
      a->in[i].index[j].coef[find(&p, p.operand[i][j])] = 1;
    }
    int32_t x = weir_body_load(&a->body, i, dtype);

    if ((s->conjugate >> i & 1) != 0) {
      x = weir_body_unary(&a->body, WEIR_CODE_CONJ, x);
    }
    x = dtype == accumulator ? x : weir_body_cast(&a->body, accumulator, x);
    product = i == 0 ? x : weir_body_binary(&a->body, WEIR_CODE_MUL, product, x);
  }
  weir_map_identity(&a->out[0], &args->out[0]);
  a->n_values = 1;
  a->value[0] = product;
  if (p.n_labels > args->out[0].rank) {
    a->combine = WEIR_COMBINE_SUM;
    a->accumulator = accumulator;
  }
  return WEIR_OK;
}

const weir_op_desc weir_op_contract = {
    .name = "contract",
    .cite = "",
    .spec_size = sizeof(weir_contract_spec),
    .n_out = 1,
    .infer = infer,
    .access = access,
};

weir_value weir_contract_at(weir_graph *g, const weir_contract_spec *spec, const weir_value *in,
                            int n_in, const char *where)
{
  return weir_graph_add(g, &weir_op_contract, spec, in, n_in, where);
}

weir_value weir_contract2_at(weir_graph *g, const char *labels, weir_value a, weir_value b,
                             const char *where)
{
  const weir_value in[] = {a, b};
  weir_contract_spec s = {.accumulator = 0};

  if (strlen(labels) >= sizeof s.labels) {
    return weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "contract: \"%s\" is too long", labels));
  }
  memcpy(s.labels, labels, strlen(labels));
  return weir_contract_at(g, &s, in, 2, where);
}
