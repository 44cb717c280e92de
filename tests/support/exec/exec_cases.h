/* exec_cases.h - random loops with data: accesses of every kind, border, dtype and code. Tests
 * only. */
#ifndef WEIR_EXEC_CASES_H
#define WEIR_EXEC_CASES_H
#include "support/exec/exec_literal_reduce.h"

typedef enum case_mode { CASE_MAP, CASE_REDUCE, CASE_SCAN } case_mode;

typedef struct exec_case {
  uint64_t seed, draws;
  case_mode mode;
  int smooth;  /* only codes that rounding does not make jump */
  int chained; /* operations follow one another on one value   */
  weir_loop loop;
  weir_view in[WEIR_MAX_OPERANDS], out[WEIR_MAX_OUTPUTS];
  char *in_memory[WEIR_MAX_OPERANDS], *out_memory[WEIR_MAX_OUTPUTS];
  size_t out_bytes[WEIR_MAX_OUTPUTS];
  uint64_t *cells;
  int64_t points;
} exec_case;

static inline uint64_t draw_bits(exec_case *c)
{
  return weir_random_bits(c->seed, 77, 0, c->draws++);
}
/* Uniform in [lo, hi]. */
static inline int64_t draw(exec_case *c, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(draw_bits(c) % (uint64_t)(hi - lo + 1));
}

/* Of a case there is always memory for operands and states. */
static inline void case_resize(weir_access *a, int n_in, int n_out, int n_states)
{
  WEIR_ASSERT(weir_access_resize(a, n_in, n_out, n_states) == WEIR_OK);
}

static inline void draw_dims(exec_case *c, weir_access *a)
{
  static const int64_t short_lengths[] = {1, 1, 2, 3, 4, 5, 7, 8, 17};
  static const int64_t long_lengths[] = {64, 100, 130, 700, 1500, 4096, 9000};
  int64_t volume = 1;

  a->n_dims = (int)draw(c, c->mode == CASE_MAP ? 0 : 1, 3);
  const int special = a->n_dims > 0 ? (int)draw(c, 0, a->n_dims - 1) : 0;
  const int longest = a->n_dims > 0 && draw(c, 0, 2) ? (int)draw(c, 0, a->n_dims - 1) : -1;
  for (int k = 0; k < a->n_dims; k++) {
    int64_t n = short_lengths[draw(c, 0, 8)];
    weir_dim_kind kind = WEIR_PARALLEL;
    if (k == longest) {
      n = long_lengths[draw(c, 0, 6)];
    }
    n = draw(c, 0, 40) == 0 ? 0 : n;
    n = volume * n > 12000 ? 2 : n;
    volume *= n > 0 ? n : 1;
    if (c->mode == CASE_REDUCE && (k == special || draw(c, 0, 2) == 0)) {
      kind = WEIR_REDUCED;
    } else if (c->mode == CASE_SCAN && k == special) {
      kind = draw(c, 0, 1) ? WEIR_FORWARD : WEIR_BACKWARD;
    } else if (c->mode == CASE_SCAN && draw(c, 0, 5) == 0) {
      kind = draw(c, 0, 1) ? WEIR_FORWARD : WEIR_BACKWARD;
    }
    const int64_t lo = draw(c, -3, 3);
    a->dim[k] = (weir_dim){kind, lo, lo + n, 0};
  }
}

/* Memory for an operand: strides of a random order of dimensions with gaps, a random origin. */
static inline weir_view make_view(exec_case *c, const weir_operand *x, char **memory, size_t *bytes)
{
  weir_view v = {.dtype = x->dtype, .rank = x->rank};
  const int64_t size = (int64_t)weir_dtype_size(x->dtype);
  int64_t step = draw(c, 0, 3) == 0 ? draw(c, 2, 3) : 1;
  const int reversed = draw(c, 0, 3) == 0;

  for (int d = 0; d < x->rank; d++) {
    const int at = reversed ? d : x->rank - 1 - d;
    v.stride[at] = step;
    v.extent[at] = x->extent[at];
    step *= (x->extent[at] > 0 ? x->extent[at] : 1);
    step += draw(c, 0, 3) == 0 ? draw(c, 1, 5) : 0;
  }
  *bytes = (size_t)((step + 1) * size);
  *memory = calloc(1, *bytes);
  v.data = *memory;
  for (int d = 0; d < x->rank; d++) {
    v.origin[d] = draw(c, 0, 2) == 0 && x->extent[d] > 0 ? draw(c, 0, x->extent[d] - 1) : 0;
    v.data = (char *)v.data + size * v.stride[d] * v.origin[d];
  }
  return v;
}

/* A dtype of operands, expressions, states. */
static inline weir_dtype draw_dtype(exec_case *c)
{
  return (weir_dtype)draw(c, 0, WEIR_DTYPE_COUNT - 1);
}

static inline literal draw_value(exec_case *c, weir_dtype dtype)
{
  static const double odd[] = {0.0, -0.0, 1.0, -1.0, 0.5, 1e-40, 1e30, -1e30};
  literal wide = {.i64 = draw(c, 0, 3) ? draw(c, -9, 9) : (int64_t)draw_bits(c)};

  if (weir_dtype_is_whole(dtype)) {
    return literal_cast(dtype, WEIR_I64, wide);
  }
  if (weir_dtype_is_complex(dtype)) {
    const weir_dtype part = weir_dtype_part(dtype);
    const literal re = draw_value(c, part), im = draw_value(c, part);

    return literal_apply(WEIR_CODE_MAKE, part, re, im, im);
  }
  wide.f64 = (double)draw(c, -4000000, 4000000) * 1e-6;
  if (!c->smooth && draw(c, 0, 30) == 0) {
    const int64_t which = draw(c, 0, 10);
    wide.f64 = which < 8 ? odd[which] : which == 8 ? __builtin_nan("") : __builtin_inf();
  }
  return literal_cast(dtype, WEIR_F64, wide);
}

static inline void fill_view(exec_case *c, const weir_operand *x, char *memory, size_t bytes,
                             int64_t lo, int64_t hi)
{
  const size_t size = weir_dtype_size(x->dtype);

  for (size_t at = 0; at + size <= bytes; at += size) {
    literal v = {.i64 = lo < hi ? draw(c, lo, hi - 1) : 0};
    v = lo < hi ? literal_cast(x->dtype, WEIR_I64, v) : draw_value(c, x->dtype);
    memcpy(memory + at, &v, size);
  }
}

/* A random index map of one array dimension, and an extent that suits it. */
static inline void draw_index(exec_case *c, const weir_access *a, weir_operand *x, int d)
{
  static const int64_t coefs[] = {1, 1, 1, 1, 1, -1, 2, -2, 3, 0};
  weir_index *map = &x->index[d];
  int64_t lo = 0, hi = 0;

  *map = (weir_index){.div = draw(c, 0, 5) ? draw(c, 0, 1) : draw(c, 2, 4)};
  for (int t = draw(c, 0, 4) ? 1 : 2; t > 0 && a->n_dims > 0; t--) {
    map->coef[draw(c, 0, a->n_dims - 1)] = coefs[draw(c, 0, 9)];
  }
  map->offset = draw(c, -4, 4);
  map->border = (weir_border)draw(c, WEIR_BORDER_NEVER, WEIR_BORDER_REFLECT);
  map->fill = draw(c, 0, 1) ? 7.25 : -3;
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t last = a->dim[k].hi > a->dim[k].lo ? a->dim[k].hi - 1 : a->dim[k].lo;
    const int64_t p = map->coef[k] * a->dim[k].lo, q = map->coef[k] * last;
    lo += p < q ? p : q;
    hi += p < q ? q : p;
  }
  if (map->border == WEIR_BORDER_NEVER) {
    map->offset = -lo + draw(c, 0, 2);
    x->extent[d] = (hi + map->offset) / (map->div > 1 ? map->div : 1) + 1 + draw(c, 0, 2);
  } else {
    x->extent[d] = draw(c, 0, 25) == 0 ? 0 : draw(c, 1, hi - lo + 4);
  }
}

/* Index d as the digits of one number, as a reshaped array has them: those of the dimensions before
 * it take what its own carries. */
static inline void draw_digits(exec_case *c, const weir_access *a, weir_operand *x, int d)
{
  do {
    draw_index(c, a, x, d);
  } while (x->index[d].border != WEIR_BORDER_NEVER);
  for (int left = (int)draw(c, 1, 2); left > 0 && d > 0; left--, d--) {
    const int64_t extent = draw(c, 1, 6);

    x->index[d - 1] = x->index[d];
    x->index[d - 1].div = weir_index_divisor(&x->index[d]) * extent;
    x->extent[d - 1] = (x->extent[d] + extent - 1) / extent + draw(c, 0, 1);
    x->index[d].border = WEIR_BORDER_WRAP;
    x->extent[d] = extent;
  }
}

/* Adds an index array as one more input, from which an index of the input before it, of rank 1 or
 * more, is gathered: values of [0, 6). */
static inline void add_gather(exec_case *c, weir_access *a)
{
  static const weir_dtype dtypes[] = {WEIR_I32, WEIR_I64, WEIR_I16, WEIR_U8};

  case_resize(a, a->n_in + 1, 0, 0);
  weir_operand *x = &a->in[a->n_in - 2], *g = x + 1;
  weir_index *map = &x->index[draw(c, 0, x->rank - 1)];

  *g = (weir_operand){.dtype = dtypes[draw(c, 0, 3)], .rank = (int)draw(c, 0, 2)};
  for (int d = 0; d < g->rank; d++) {
    draw_index(c, a, g, d);
  }
  map->border = map->border == WEIR_BORDER_NEVER ? WEIR_BORDER_WRAP : map->border;
  map->gather = a->n_in;
  map->gather_lo = 0;
  map->gather_hi = 6;
}

static inline void draw_inputs(exec_case *c, weir_access *a)
{
  int gather_operand[WEIR_MAX_OPERANDS] = {0};

  for (int n = (int)draw(c, 1, 3); n > 0; n--) {
    case_resize(a, a->n_in + 1, 0, 0);
    weir_operand *x = &a->in[a->n_in - 1];
    *x = (weir_operand){.dtype = draw_dtype(c)};
    x->dtype = c->smooth ? WEIR_F32 : draw(c, 0, 2) ? x->dtype : WEIR_F32;
    x->rank = (int)draw(c, 0, 3);
    for (int d = 0; d < x->rank; d++) {
      draw_index(c, a, x, d);
    }
    if (x->rank > 1 && draw(c, 0, 3) == 0) {
      draw_digits(c, a, x, (int)draw(c, 1, x->rank - 1));
    }
    int64_t volume = 1;
    for (int d = 0; d < x->rank; d++) {
      volume *= x->extent[d] > 0 ? x->extent[d] : 1;
    }
    if (volume > 40000) {
      a->n_in--;
      n++;
    } else if (x->rank > 0 && draw(c, 0, 5) == 0) {
      add_gather(c, a);
      gather_operand[a->n_in - 1] = 1;
    }
  }
  for (int k = 0; k < a->n_in; k++) {
    size_t bytes;
    c->in[k] = make_view(c, &a->in[k], &c->in_memory[k], &bytes);
    fill_view(c, &a->in[k], c->in_memory[k], bytes, 0, gather_operand[k] ? 6 : 0);
  }
}

/* Expression i as dtype t: of a complex number its real part, or its size. */
static inline int32_t draw_cast(exec_case *c, weir_body *b, weir_dtype t, int32_t i)
{
  if (weir_dtype_is_complex(b->exprs[i].dtype) && !weir_dtype_is_complex(t)) {
    i = weir_body_unary(b, draw(c, 0, 3) ? WEIR_CODE_REAL : WEIR_CODE_ABS2, i);
  }
  return weir_body_cast(b, t, i);
}

/* An expression of dtype t: an existing one, or a cast. */
static inline int32_t draw_arg(exec_case *c, weir_body *b, weir_dtype t)
{
  for (int tries = 0; tries < 12; tries++) {
    const int32_t i = (int32_t)draw(c, 0, b->n - 1);
    if (b->exprs[i].dtype == t) {
      return i;
    }
  }
  return draw_cast(c, b, t, (int32_t)draw(c, 0, b->n - 1));
}

static inline void draw_leaves(exec_case *c, weir_access *a)
{
  weir_body *b = &a->body;

  for (int k = 0; k < a->n_in; k++) {
    weir_body_load(b, k, a->in[k].dtype);
  }
  for (int k = 0; k < 2; k++) {
    const weir_dtype t = c->smooth ? WEIR_F32 : draw_dtype(c);
    if (weir_dtype_is_real(t)) {
      weir_body_real(b, t, (double)draw(c, -30, 30) * 0.1);
    } else {
      weir_body_int(b, t, t == WEIR_BOOL ? draw(c, 0, 1) : draw(c, -20, 20));
    }
  }
  for (int s = 0; s < a->n_states; s++) {
    weir_body_state(b, s, a->state[s].dtype);
  }
  if (c->smooth || draw(c, 0, 1)) {
    return;
  }
  if (a->n_dims > 0) {
    weir_body_index(b, (int)draw(c, 0, a->n_dims - 1));
  }
  for (int k = 0; k < a->n_in; k++) {
    if (a->in[k].rank > 0) {
      weir_body_push(b, (weir_expr){WEIR_CODE_REMAINDER, WEIR_I64, -1, -1, -1, k * 16, 0});
    }
  }
  const int32_t seed = draw_arg(c, b, WEIR_I64), step = draw_arg(c, b, WEIR_I64);
  weir_body_push(b, (weir_expr){WEIR_CODE_RANDOM, WEIR_I64, seed, step, -1, draw(c, 0, 99), 0});
}

/* One more operation on the last expression, which is a float. */
static inline void draw_link(exec_case *c, weir_body *b)
{
  static const weir_code binary[] = {WEIR_CODE_ADD, WEIR_CODE_SUB, WEIR_CODE_MUL,
                                     WEIR_CODE_DIV, WEIR_CODE_MIN, WEIR_CODE_MAX};
  const int32_t x = b->n - 1;
  const weir_dtype t = b->exprs[x].dtype;
  const int64_t what = draw(c, 0, 9);

  if (weir_dtype_is_storage(t)) {
    weir_body_cast(b, WEIR_F32, x);
  } else if (what < 2) {
    weir_body_unary(b, what == 0 ? WEIR_CODE_NEG : WEIR_CODE_ABS, x);
  } else if (what == 2) {
    weir_body_binary(b, draw(c, 0, 1) ? WEIR_CODE_MUL : WEIR_CODE_ADD, x, x);
  } else if (what < 5) {
    const int32_t k = weir_body_real(b, t, (double)draw(c, -4, 4) * 0.25);
    const int32_t d = weir_body_real(b, t, (double)draw(c, -4, 4) * 0.5);
    const weir_code compare = (weir_code)draw(c, WEIR_CODE_LT, WEIR_CODE_GE);
    const int swap = (int)draw(c, 0, 1);
    const int32_t test = weir_body_binary(b, compare, swap ? k : x, swap ? x : k);
    const int32_t scaled = weir_body_binary(b, WEIR_CODE_MUL, swap ? x : d, swap ? d : x);
    weir_body_select(b, test, what == 3 ? scaled : x, what == 3 ? x : scaled);
  } else {
    const int32_t k =
        draw(c, 0, 2) ? weir_body_real(b, t, (double)draw(c, -9, 9) * 0.5) : draw_arg(c, b, t);
    const weir_code code = binary[draw(c, 0, 5)];
    if (draw(c, 0, 1)) {
      weir_body_binary(b, code, x, k);
    } else {
      weir_body_binary(b, code, k, x);
    }
  }
}

/* The same where it is complex. */
static inline void draw_complex_link(exec_case *c, weir_body *b)
{
  static const weir_code unary[] = {WEIR_CODE_CONJ, WEIR_CODE_NEG, WEIR_CODE_EXP};
  static const weir_code binary[] = {WEIR_CODE_ADD, WEIR_CODE_SUB, WEIR_CODE_MUL, WEIR_CODE_DIV};
  const int32_t x = b->n - 1;
  const weir_dtype t = b->exprs[x].dtype, part = weir_dtype_part(t);

  if (draw(c, 0, 3) == 0) {
    weir_body_unary(b, unary[draw(c, 0, 2)], x);
    return;
  }
  const int32_t re = weir_body_real(b, part, (double)draw(c, -9, 9) * 0.5);
  const int32_t im = weir_body_real(b, part, (double)draw(c, -9, 9) * 0.25);
  const int32_t k = draw(c, 0, 1) ? weir_body_binary(b, WEIR_CODE_MAKE, re, im) : draw_arg(c, b, t);
  const weir_code code = binary[draw(c, 0, 3)];

  if (draw(c, 0, 1)) {
    weir_body_binary(b, code, x, k);
  } else {
    weir_body_binary(b, code, k, x);
  }
}

/* The dtype of the arguments of `code` that is nearest to t. */
static inline weir_dtype argument_dtype(weir_code code, weir_dtype t)
{
  switch (code) {
  case WEIR_CODE_REAL:
  case WEIR_CODE_IMAG:
  case WEIR_CODE_CONJ:
  case WEIR_CODE_ABS2:
    return weir_dtype_is_complex(t) ? t : t == WEIR_F64 ? WEIR_C128 : WEIR_C64;
  case WEIR_CODE_MAKE:
    return t == WEIR_F64 || t == WEIR_C128 ? WEIR_F64 : WEIR_F32;
  case WEIR_CODE_EXP:
    if (weir_dtype_is_complex(t)) {
      return t;
    }
    return t == WEIR_F64 ? t : WEIR_F32;
  case WEIR_CODE_SQRT:
  case WEIR_CODE_LOG:
  case WEIR_CODE_TANH:
  case WEIR_CODE_ERF:
  case WEIR_CODE_SIN:
  case WEIR_CODE_COS:
  case WEIR_CODE_FMA:
    return t == WEIR_F64 || t == WEIR_C128 ? WEIR_F64 : WEIR_F32;
  case WEIR_CODE_NOT:
  case WEIR_CODE_AND:
  case WEIR_CODE_OR:
  case WEIR_CODE_XOR:
    return WEIR_BOOL;
  case WEIR_CODE_SHR:
    return WEIR_I64;
  case WEIR_CODE_SELECT:
    return t;
  case WEIR_CODE_FLOOR:
  case WEIR_CODE_CEIL:
  case WEIR_CODE_ROUND:
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
  case WEIR_CODE_LT:
  case WEIR_CODE_LE:
  case WEIR_CODE_GT:
  case WEIR_CODE_GE:
    t = weir_dtype_part(t); /* no order */
    return t == WEIR_BOOL && code >= WEIR_CODE_FLOOR && code <= WEIR_CODE_ROUND
               ? WEIR_F32
               : weir_dtype_compute_type(t);
  default:
    return t == WEIR_BOOL && !weir_code_is_compare(code) ? WEIR_F32 : weir_dtype_compute_type(t);
  }
}

static inline void draw_operation(exec_case *c, weir_body *b)
{
  if (c->chained && weir_dtype_is_real(b->exprs[b->n - 1].dtype) && draw(c, 0, 9)) {
    draw_link(c, b);
    return;
  }
  if (c->chained && weir_dtype_is_complex(b->exprs[b->n - 1].dtype) && draw(c, 0, 9)) {
    draw_complex_link(c, b);
    return;
  }
  static const weir_code smooth[] = {WEIR_CODE_ADD, WEIR_CODE_SUB,  WEIR_CODE_MIN, WEIR_CODE_MAX,
                                     WEIR_CODE_ABS, WEIR_CODE_TANH, WEIR_CODE_SIN, WEIR_CODE_COS,
                                     WEIR_CODE_ERF, WEIR_CODE_NEG};
  const weir_code code =
      c->smooth ? smooth[draw(c, 0, 9)] : (weir_code)draw(c, WEIR_CODE_CAST, WEIR_CODE_COUNT - 1);
  const weir_dtype any = b->exprs[draw(c, 0, b->n - 1)].dtype;
  const weir_dtype t = argument_dtype(code, c->smooth ? WEIR_F32 : any);

  if (code == WEIR_CODE_CAST) {
    const weir_dtype to = draw_dtype(c);

    draw_cast(c, b, to, (int32_t)draw(c, 0, b->n - 1));
    return;
  }
  if (code == WEIR_CODE_SELECT) {
    const int32_t m = draw_arg(c, b, WEIR_BOOL), x = draw_arg(c, b, t), y = draw_arg(c, b, t);
    weir_body_select(b, m, x, y);
    return;
  }
  const int32_t x = draw_arg(c, b, t);
  if (weir_code_args(code) == 1) {
    weir_body_unary(b, code, x);
    return;
  }
  const int32_t y = draw_arg(c, b, t);
  if (code == WEIR_CODE_FMA) {
    weir_body_push(b, (weir_expr){code, t, x, y, draw_arg(c, b, t), 0, 0});
  } else {
    weir_body_binary(b, code, x, y);
  }
}

static inline void draw_outputs(exec_case *c, weir_access *a)
{
  for (int k = 0; k < a->n_out; k++) {
    weir_operand *o = &a->out[k];
    int order[3], n = 0;
    for (int d = 0; d < a->n_dims; d++) {
      if (a->dim[d].kind != WEIR_REDUCED) {
        const int at = (int)draw(c, 0, n);
        order[n] = order[at];
        order[at] = d;
        n++;
      }
    }
    o->rank = n;
    for (int d = 0; d < n; d++) {
      o->index[d].coef[order[d]] = 1;
      o->index[d].offset = -a->dim[order[d]].lo;
      o->extent[d] = a->dim[order[d]].hi - a->dim[order[d]].lo;
    }
    c->out[k] = make_view(c, o, &c->out_memory[k], &c->out_bytes[k]);
    memset(c->out_memory[k], 0x5a, c->out_bytes[k]);
  }
}

static inline void draw_monoid(exec_case *c, weir_access *a)
{
  weir_body *b = &a->body;
  weir_monoid m = (weir_monoid)draw(c, WEIR_COMBINE_SUM, WEIR_COMBINE_LAST);
  m = c->smooth && m == WEIR_COMBINE_ARGMAX ? WEIR_COMBINE_MAX : m; /* rounding makes ties */
  const int real = c->smooth || m == WEIR_COMBINE_MOMENTS || m == WEIR_COMBINE_SOFTMAX;

  a->combine = m;
  a->n_values = m == WEIR_COMBINE_MOMENTS || m >= WEIR_COMBINE_FIRST ? 2 : 1;
  case_resize(a, a->n_in,
              m == WEIR_COMBINE_MOMENTS                               ? 3
              : m == WEIR_COMBINE_ARGMAX || m >= WEIR_COMBINE_SOFTMAX ? 2
                                                                      : 1,
              0);
  a->accumulator = real ? (draw(c, 0, 1) ? WEIR_F64 : WEIR_F32)
                        : (weir_dtype)draw(c, 0, m < WEIR_COMBINE_MAX ? WEIR_I64 : WEIR_BOOL);
  a->value[0] = b->n - 1;
  if (weir_dtype_is_complex(b->exprs[b->n - 1].dtype)) {
    if (m == WEIR_COMBINE_SUM && draw(c, 0, 7)) {
      a->accumulator = draw(c, 0, 1) ? WEIR_C128 : WEIR_C64;
    } else {
      a->value[0] = weir_body_unary(b, WEIR_CODE_REAL, b->n - 1);
    }
  }
  if (a->n_values == 2) {
    a->value[1] = draw_arg(c, b, WEIR_BOOL);
  }
  for (int k = 0; k < a->n_out; k++) {
    const int exact = real || draw(c, 0, 3);
    do {
      a->out[k].dtype = exact ? a->accumulator : draw_dtype(c);
    } while (weir_dtype_is_complex(a->out[k].dtype) != weir_dtype_is_complex(a->accumulator));
  }
  if (m == WEIR_COMBINE_ARGMAX) {
    a->out[1].dtype = WEIR_I64;
  } else if (m >= WEIR_COMBINE_FIRST) {
    a->out[1].dtype = WEIR_BOOL;
  }
}

static inline void draw_states(exec_case *c, weir_access *a)
{
  c->points = 1;
  for (int k = 0; k < a->n_dims; k++) {
    c->points *= a->dim[k].kind == WEIR_PARALLEL ? a->dim[k].hi - a->dim[k].lo : 1;
  }
  case_resize(a, a->n_in, 0, (int)draw(c, 1, 4));
  c->cells = calloc((size_t)(c->points * a->n_states) * 2 + 1, sizeof *c->cells);
  for (int s = 0; s < a->n_states; s++) {
    a->state[s] = (weir_state){.dtype = c->smooth       ? WEIR_F32
                                        : draw(c, 0, 1) ? WEIR_F64
                                                        : draw_dtype(c)};
    for (int64_t p = 0; p < c->points; p++) {
      const weir_state_table cells = {c->cells, c->points};
      literal_cells_put(a, s, &cells, p, draw_value(c, a->state[s].dtype));
    }
  }
}

/* A whole random case. The same seed gives the same case. */
static inline void case_make(exec_case *c, uint64_t seed, case_mode mode, int smooth)
{
  memset(c, 0, sizeof *c);
  c->seed = seed;
  c->mode = mode;
  c->smooth = smooth;
  weir_access *a = &c->loop.access;
  weir_access_init(a);
  draw_dims(c, a);
  draw_inputs(c, a);
  if (mode == CASE_SCAN) {
    draw_states(c, a);
  }
  draw_leaves(c, a);
  c->chained = !smooth && draw(c, 0, 2) == 0;
  for (int n = (int)draw(c, 0, smooth ? 5 : 14); n > 0; n--) {
    draw_operation(c, &a->body);
  }
  if (mode == CASE_REDUCE) {
    draw_monoid(c, a);
  } else {
    a->n_values = (int)draw(c, 1, 2);
    case_resize(a, a->n_in, a->n_values, a->n_states);
    for (int k = 0; k < a->n_out; k++) {
      a->value[k] = k == 0 ? a->body.n - 1 : (int32_t)draw(c, 0, a->body.n - 1);
      a->out[k].dtype = a->body.exprs[a->value[k]].dtype;
    }
  }
  for (int s = 0; s < a->n_states; s++) {
    a->state[s].next = draw_arg(c, &a->body, a->state[s].dtype);
  }
  draw_outputs(c, a);
}

static inline void case_free(exec_case *c)
{
  for (int k = 0; k < WEIR_MAX_OPERANDS; k++) {
    free(c->in_memory[k]);
  }
  for (int k = 0; k < WEIR_MAX_OUTPUTS; k++) {
    free(c->out_memory[k]);
  }
  free(c->cells);
  weir_access_fini(&c->loop.access);
}
#endif
