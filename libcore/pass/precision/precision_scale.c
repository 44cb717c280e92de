/* precision_scale.c - a product whose operands are rounded: the nodes that precision_products.c
 * substitutes for it. */
#include <math.h>

#include "base/weir_alloc.h"
#include "ops/weir_builder.h"
#include "pass/precision/precision_priv.h"

static const weir_op_desc op_maximum = {.name = "maximum", .cite = "precision_products.c"};
static const weir_op_desc op_scale = {
    .name = "scale",
    .cite = "unit in the first place: Rump, Ogita, Oishi, SIAM J. Sci. Comput. 31, 189 (2008)"};
static const weir_op_desc op_round = {.name = "round", .cite = "precision_products.c"};
static const weir_op_desc op_widen = {.name = "widen", .cite = "precision_products.c"};

/* The largest element becomes 2^top to 2^(top + 1), which all formats hold, and a sum of 2^90
 * products of two such in f32. */
static const int top = 14;

/* Adds the node of the access, which is freed; `into`: the array it writes, -1: a new one. */
static weir_status add(precision_products *p, const weir_op_desc *op, weir_access *a,
                       const weir_value *in, int32_t into, const char *where, weir_value *out)
{
  if (a->body.failed == WEIR_OK) {
    *out = weir_graph_add_access_into(p->g, op, a, in, a->n_in, &into, where);
  }
  const weir_status failed = a->body.failed;

  weir_access_fini(a);
  WEIR_TRY(failed == WEIR_OK ? WEIR_OK : weir_fail(failed, "out of memory for a rounded product"));
  return weir_graph_status(p->g);
}

/* Operand k is an array `d` whose dimension i is iteration dimension dim[i]. */
static void map(weir_operand *o, const weir_array_desc *d, const int *dim)
{
  weir_map_operand(o, d);
  for (int i = 0; i < d->rank; i++) {
    o->index[i].coef[dim[i]] = 1;
  }
}

/* The shape and the dimensions `kept` of an array, in order. */
static weir_array_desc kept_of(const weir_array_desc *d, uint32_t kept, weir_dtype dtype, int *dim)
{
  weir_array_desc k = {.dtype = dtype};

  for (int i = 0; i < d->rank; i++) {
    if ((kept >> i & 1) != 0) {
      dim[k.rank] = i;
      k.shape[k.rank++] = d->shape[i];
    }
  }
  return k;
}

/* max |x| over all dimensions but those kept. */
static weir_status add_maximum(precision_products *p, weir_value from, uint32_t kept,
                               const char *where, weir_value *out)
{
  const weir_array_desc d = *weir_value_desc(p->g, from);
  int dim[WEIR_MAX_RANK];
  const weir_array_desc m = kept_of(&d, kept, WEIR_F64, dim);
  weir_access a;

  weir_access_init(&a);
  WEIR_TRY(weir_access_resize(&a, 1, 1, 0));
  weir_map_dims(&a, &d);
  for (int i = 0; i < d.rank; i++) {
    a.dim[i].kind = (kept >> i & 1) != 0 ? WEIR_PARALLEL : WEIR_REDUCED;
  }
  weir_map_identity(&a.in[0], &d);
  map(&a.out[0], &m, dim);
  a.n_values = 1;
  a.value[0] = weir_body_unary(&a.body, WEIR_CODE_ABS, weir_body_load(&a.body, 0, d.dtype));
  a.combine = m.rank < d.rank ? WEIR_COMBINE_MAX : WEIR_COMBINE_NONE;
  a.accumulator = WEIR_F64;
  return add(p, &op_maximum, &a, &from, -1, where, out);
}

/* x, at least `min` and at most `max`; NaN stays. */
static int32_t within(weir_body *b, int32_t x, double min, double max)
{
  const int32_t low = weir_body_real(b, WEIR_F64, min), high = weir_body_real(b, WEIR_F64, max);
  const int32_t y = weir_body_select(b, weir_body_binary(b, WEIR_CODE_LT, x, low), low, x);

  return weir_body_select(b, weir_body_binary(b, WEIR_CODE_GT, y, high), high, y);
}

/* 2^(top - floor(log2 m)) of maxima m; of 0 as of the least number. The power of two below x is
 * |q - (1 - 2^-53) q| of q = (2^52 + 1) x. */
static weir_status add_scale(precision_products *p, weir_value maxima, const char *where,
                             weir_value *out)
{
  const weir_array_desc d = *weir_value_desc(p->g, maxima);
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, &d, 1));
  weir_body *b = &a.body;

  const int32_t x = within(b, weir_body_load(b, 0, WEIR_F64), 0x1p-400, 0x1p+400);
  const int32_t q = weir_body_binary(b, WEIR_CODE_MUL, x, weir_body_real(b, WEIR_F64, 0x1p52 + 1));
  const int32_t less =
      weir_body_binary(b, WEIR_CODE_MUL, q, weir_body_real(b, WEIR_F64, 1 - 0x1p-53));
  const int32_t below =
      weir_body_unary(b, WEIR_CODE_ABS, weir_body_binary(b, WEIR_CODE_SUB, q, less));

  a.value[0] =
      weir_body_binary(b, WEIR_CODE_DIV, weir_body_real(b, WEIR_F64, ldexp(1, top)), below);
  return add(p, &op_scale, &a, &maxima, -1, where, out);
}

/* Expression x of f64, times the scale where there is one, as f32 after rounding to the format;
 * part 1: what that rounding drops of a finite number, rounded likewise. */
static int32_t rounded(const precision_products *p, weir_body *b, int32_t x, int32_t scale,
                       int part)
{
  int32_t y = scale >= 0 ? weir_body_binary(b, WEIR_CODE_MUL, x, scale) : x;

  for (int i = 0; i < part; i++) {
    const int32_t held = weir_body_cast(b, WEIR_F64, weir_body_cast(b, p->format, y));
    const int32_t size = weir_body_unary(b, WEIR_CODE_ABS, held);
    const int32_t finite =
        weir_body_binary(b, WEIR_CODE_LE, size, weir_body_real(b, WEIR_F64, 0x1p1000));

    y = weir_body_select(b, finite, weir_body_binary(b, WEIR_CODE_SUB, y, held),
                         weir_body_real(b, WEIR_F64, 0));
  }
  return weir_body_cast(b, WEIR_F32, weir_body_cast(b, p->format, y));
}

/* A part of the array in f32 or c64, scaled and rounded. */
static weir_status add_rounded(precision_products *p, weir_value from, uint32_t kept,
                               weir_value scale, int part, const char *where, weir_value *out)
{
  const weir_array_desc d = *weir_value_desc(p->g, from);
  const bool is_complex = weir_dtype_is_complex(d.dtype);
  const weir_value in[] = {from, scale};
  int dim[WEIR_MAX_RANK];
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, &d, p->scaled ? 2 : 1));
  weir_body *b = &a.body;

  a.out[0].dtype = is_complex ? WEIR_C64 : WEIR_F32;
  if (p->scaled) {
    const weir_array_desc s = kept_of(&d, kept, WEIR_F64, dim);

    map(&a.in[1], &s, dim);
  }
  const int32_t x = weir_body_load(b, 0, d.dtype);
  const int32_t s = p->scaled ? weir_body_load(b, 1, WEIR_F64) : -1;

  if (is_complex) {
    const int32_t re = rounded(p, b, weir_body_unary(b, WEIR_CODE_REAL, x), s, part);
    const int32_t im = rounded(p, b, weir_body_unary(b, WEIR_CODE_IMAG, x), s, part);

    a.value[0] = weir_body_binary(b, WEIR_CODE_MAKE, re, im);
  } else {
    a.value[0] = rounded(p, b, x, s, part);
  }
  return add(p, &op_round, &a, in, -1, where, out);
}

/* Dimensions of operand k along which batches lie: iteration dimensions that are kept and that both
 * factors have. */
static uint32_t batches_of(const weir_access *a, const int factor[2], int k)
{
  uint32_t kept = 0;

  for (int d = 0; d < a->in[k].rank; d++) {
    const weir_index *x = &a->in[k].index[d];
    int alone = -1, n = 0;

    for (int i = 0; i < a->n_dims; i++) {
      alone = x->coef[i] != 0 ? i : alone;
      n += x->coef[i] != 0;
    }
    if (n == 1 && a->dim[alone].kind == WEIR_PARALLEL && x->gather == 0 &&
        weir_index_divisor(x) == 1 && x->border == WEIR_BORDER_NEVER &&
        weir_operand_moves(&a->in[factor[0]], alone) != -1 &&
        weir_operand_moves(&a->in[factor[1]], alone) != -1) {
      kept |= 1u << d;
    }
  }
  return kept;
}

/* Rounds the array of a factor, or finds what has been made of it. */
static weir_status take(precision_products *p, int32_t array, uint32_t kept, const char *where,
                        precision_rounded *out)
{
  const weir_value from = weir_array_value(p->g, array);
  precision_rounded r = {.array = array, .kept = kept};
  weir_value maxima;

  for (int64_t i = 0; i < p->n_made; i++) {
    if (p->made[i].array == array && p->made[i].kept == kept) {
      *out = p->made[i];
      return WEIR_OK;
    }
  }
  if (p->scaled) {
    WEIR_TRY(add_maximum(p, from, kept, where, &maxima));
    WEIR_TRY(add_scale(p, maxima, where, &r.scale));
  }
  for (int part = 0; part < p->parts; part++) {
    WEIR_TRY(add_rounded(p, from, kept, r.scale, part, where, &r.part[part]));
  }
  WEIR_TRY(weir_reserve(&p->made, &p->capacity, p->n_made + 1, sizeof *p->made));
  p->made[p->n_made++] = r;
  *out = r;
  return WEIR_OK;
}

/* The factors in f32 or c64, and the sum. */
static void narrow(weir_access *a, const int factor[2])
{
  const weir_dtype dtype = a->out[0].dtype == WEIR_C128 ? WEIR_C64 : WEIR_F32;

  for (int32_t i = 0; i < a->body.n; i++) {
    const weir_dtype now = a->body.exprs[i].dtype;

    a->body.exprs[i].dtype = now == a->out[0].dtype ? dtype : now;
  }
  a->in[factor[0]].dtype = a->in[factor[1]].dtype = dtype;
  a->out[0].dtype = a->accumulator = dtype;
}

/* Index of a scale of operand k where the result's dimensions are the iterations. */
static void map_scale(const weir_access *product, int k, const precision_rounded *r,
                      const weir_array_desc *scale, weir_operand *o)
{
  const weir_operand *of = &product->in[k];
  int next = 0;

  weir_map_operand(o, scale);
  for (int d = 0; d < of->rank; d++) {
    if ((r->kept >> d & 1) == 0) {
      continue;
    }
    for (int to = 0; to < product->out[0].rank; to++) {
      const int i = weir_operand_dim(&product->out[0], product, to);

      o->index[next].coef[to] = of->index[d].coef[i];
    }
    o->index[next++].offset = of->index[d].offset;
  }
}

/* A result of the product times a power of two: divided by the scale. */
static int32_t unscaled(weir_body *b, int32_t y, int32_t scale, bool is_complex)
{
  const int32_t s = weir_body_binary(b, WEIR_CODE_DIV, weir_body_real(b, WEIR_F64, 1), scale);

  if (!is_complex) {
    return weir_body_binary(b, WEIR_CODE_MUL, y, s);
  }
  const int32_t re = weir_body_binary(b, WEIR_CODE_MUL, weir_body_unary(b, WEIR_CODE_REAL, y), s);
  const int32_t im = weir_body_binary(b, WEIR_CODE_MUL, weir_body_unary(b, WEIR_CODE_IMAG, y), s);

  return weir_body_binary(b, WEIR_CODE_MAKE, re, im);
}

/* Adds the sums of the parts up, the largest last, and divides by both scales, into the array that
 * the product wrote. */
static weir_status add_widened(precision_products *p, const weir_access *product,
                               const int factor[2], const precision_rounded r[2],
                               const weir_value *sum, int n, int32_t into, const char *where)
{
  const weir_array_desc d = *weir_value_desc(p->g, sum[0]);
  const bool is_complex = weir_dtype_is_complex(d.dtype);
  weir_value in[PRECISION_SUMS + 2], v;
  weir_access a;

  WEIR_TRY(weir_map_pointwise(&a, &d, n + (p->scaled ? 2 : 0)));
  weir_body *b = &a.body;
  int32_t y = -1;

  a.out[0].dtype = is_complex ? WEIR_C128 : WEIR_F64;
  for (int i = n - 1; i >= 0; i--) {
    in[i] = sum[i];
    const int32_t x = weir_body_cast(b, a.out[0].dtype, weir_body_load(b, i, d.dtype));

    y = y < 0 ? x : weir_body_binary(b, WEIR_CODE_ADD, y, x);
  }
  for (int f = 0; f < 2 && p->scaled; f++) {
    in[n + f] = r[f].scale;
    map_scale(product, factor[f], &r[f], weir_value_desc(p->g, r[f].scale), &a.in[n + f]);
    y = unscaled(b, y, weir_body_load(b, n + f, WEIR_F64), is_complex);
  }
  a.value[0] = y;
  return add(p, &op_widen, &a, in, into, where, &v);
}

/* The product of parts of both factors, but for those that both are what rounding drops; *n of
 * them. Inputs `in` but for the factors. */
static weir_status add_products(precision_products *p, int32_t number, const weir_access *narrowed,
                                const int factor[2], const precision_rounded r[2], weir_value *in,
                                weir_value *sum, int *n)
{
  *n = 0;
  for (int i = 0; i < p->parts; i++) {
    for (int j = 0; i + j < p->parts; j++) {
      in[factor[0]] = r[0].part[i];
      in[factor[1]] = r[1].part[j];
      sum[(*n)++] = weir_graph_add_like(p->g, weir_graph_node(p->g, number), narrowed, in,
                                        narrowed->n_in, NULL);
    }
  }
  return weir_graph_status(p->g);
}

weir_status precision_change_product(precision_products *p, int32_t number, const int factor[2])
{
  weir_value in[WEIR_MAX_OPERANDS], sum[PRECISION_SUMS];
  weir_status status = WEIR_OK;
  precision_rounded r[2];
  weir_access product, narrowed;

  weir_graph_node_mut(p->g, number)->dead = true;
  const weir_node *node = weir_graph_node(p->g, number);
  const char *where = node->where;
  const int32_t into = node->out[0];

  for (int k = 0; k < node->access.n_in; k++) {
    in[k] = weir_array_value(p->g, node->in[k]);
  }
  WEIR_TRY(weir_access_copy(&node->access, &product));
  WEIR_TRY_GOTO(weir_access_copy(&product, &narrowed), out);
  for (int f = 0; f < 2 && status == WEIR_OK; f++) {
    const int32_t array = weir_graph_node(p->g, number)->in[factor[f]];

    status = take(p, array, batches_of(&product, factor, factor[f]), where, &r[f]);
  }
  if (status == WEIR_OK) {
    int n;

    narrow(&narrowed, factor);
    status = add_products(p, number, &narrowed, factor, r, in, sum, &n);
    if (status == WEIR_OK) {
      status = add_widened(p, &product, factor, r, sum, n, into, where);
    }
  }
  weir_access_fini(&narrowed);
out:
  weir_access_fini(&product);
  return status;
}
