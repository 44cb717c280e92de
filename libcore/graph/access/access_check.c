/* access_check.c - what an access may not say. */
#include "graph/graph_priv.h"

#include <inttypes.h>

static bool in_range(int64_t x, int64_t n)
{
  return x >= 0 && x < n;
}

static weir_status check_counts(const weir_access *a)
{
  const struct {
    const char *what;
    int n, max;
  } counts[] = {
      {"iteration dimensions", a->n_dims, WEIR_MAX_DIMS},
      {"inputs", a->n_in, WEIR_MAX_OPERANDS},
      {"outputs", a->n_out, WEIR_MAX_OUTPUTS},
      {"states", a->n_states, WEIR_MAX_STATES},
      {"values", a->n_values, WEIR_MAX_OUTPUTS},
  };
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (counts[i].n < 0 || counts[i].n > counts[i].max) {
      return weir_fail(WEIR_ERR_SHAPE, "%d %s are outside [0, %d]", counts[i].n, counts[i].what,
                       counts[i].max);
    }
  }
  for (int k = 0; k < a->n_dims; k++) {
    const weir_dim *d = &a->dim[k];
    if ((unsigned)d->kind > WEIR_BACKWARD || d->lo < -WEIR_UNBOUNDED || d->hi > WEIR_UNBOUNDED ||
        d->lo > d->hi) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "iteration dimension %d: kind %d, [%" PRId64 ", %" PRId64 ") is not a range",
                       k, (int)d->kind, d->lo, d->hi);
    }
  }
  return WEIR_OK;
}

/* Where a message is about. */
struct location {
  const char *word; /* "input" or "output" */
  int operand, dim;
};

static weir_status check_gather(const weir_access *a, const weir_index *x, struct location p)
{
  if (x->gather == 0) {
    return WEIR_OK;
  }
  if (p.word[0] != 'i' || x->gather < 0 || x->gather > a->n_in || x->gather - 1 == p.operand) {
    return weir_fail(WEIR_ERR_SHAPE, "%s %d, dimension %d: gather by operand %d is not possible",
                     p.word, p.operand, p.dim, x->gather - 1);
  }
  const weir_operand *g = &a->in[x->gather - 1];
  bool plain = weir_dtype_is_whole(g->dtype) && g->role == WEIR_ROLE_DATA;
  for (int d = 0; d < g->rank && d < WEIR_MAX_RANK; d++) {
    plain = plain && g->index[d].gather == 0;
  }
  if (!plain) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s %d, dimension %d: gather needs integer elements that are not gathered "
                     "themselves; input %d is %s",
                     p.word, p.operand, p.dim, x->gather - 1, weir_dtype_name(g->dtype));
  }
  if (x->gather_lo >= x->gather_hi || x->gather_lo < -WEIR_UNBOUNDED ||
      x->gather_hi > WEIR_UNBOUNDED) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s %d, dimension %d: gathered values [%" PRId64 ", %" PRId64
                     ") are not a range",
                     p.word, p.operand, p.dim, x->gather_lo, x->gather_hi);
  }
  return WEIR_OK;
}

/* Partial sums fit 64 bits, whatever order they are taken in. */
static bool overflows(const weir_access *a, const weir_index *x)
{
  weir_wide max = x->offset < 0 ? -(weir_wide)x->offset : x->offset;

  if (x->gather > 0) {
    const weir_wide lo = x->gather_lo, hi = x->gather_hi;
    max += -lo > hi ? -lo : hi;
  }
  for (int k = 0; k < a->n_dims; k++) {
    const int64_t high = a->dim[k].hi == WEIR_UNBOUNDED ? WEIR_LONGEST_STREAM : a->dim[k].hi;
    const weir_wide lo = a->dim[k].lo, hi = high;
    const weir_wide coef = x->coef[k] < 0 ? -(weir_wide)x->coef[k] : x->coef[k];
    max += coef * (-lo > hi ? -lo : hi);
  }
  return max > INT64_MAX / 2;
}

static weir_status check_index(const weir_access *a, const weir_operand *x, struct location p)
{
  const weir_index *i = &x->index[p.dim];
  const weir_box whole = weir_iterations(a);
  const weir_box box = p.word[0] == 'o' ? weir_output_box(a, x, &whole) : whole;
  weir_wide lo, hi;
  bool wild = false; /* even wide sums might overflow */

  if (i->div < 0 || (unsigned)i->border > WEIR_BORDER_REFLECT) {
    return weir_fail(WEIR_ERR_SHAPE, "%s %d, dimension %d: divisor %" PRId64 ", border %d", p.word,
                     p.operand, p.dim, i->div, (int)i->border);
  }
  if (x->extent[p.dim] < 0 || x->extent[p.dim] > WEIR_UNBOUNDED) {
    return weir_fail(WEIR_ERR_SHAPE, "%s %d: extent %" PRId64 " of dimension %d", p.word, p.operand,
                     x->extent[p.dim], p.dim);
  }
  WEIR_TRY(check_gather(a, i, p));
  for (int k = 0; k < a->n_dims; k++) {
    wild = wild || i->coef[k] > WEIR_UNBOUNDED || i->coef[k] < -WEIR_UNBOUNDED;
  }
  if (wild || overflows(a, i)) {
    return weir_fail(WEIR_ERR_SHAPE, "%s %d, dimension %d: the index overflows", p.word, p.operand,
                     p.dim);
  }
  if (p.word[0] == 'o') {
    for (int k = 0; k < a->n_dims; k++) {
      if (a->dim[k].kind == WEIR_REDUCED && i->coef[k] != 0 && a->maker == WEIR_MADE_BY_BODY) {
        return weir_fail(WEIR_ERR_SHAPE, "output %d, dimension %d depends on reduced dimension %d",
                         p.operand, p.dim, k);
      }
    }
    if (i->border != WEIR_BORDER_NEVER) {
      return weir_fail(WEIR_ERR_SHAPE, "output %d, dimension %d: outputs cannot have a border",
                       p.operand, p.dim);
    }
  }
  if (i->border != WEIR_BORDER_NEVER || weir_box_empty(&box)) {
    return WEIR_OK;
  }
  weir_index_span(i, &box, &lo, &hi);
  /* The end of a stream is not known while planning. */
  const bool above = x->extent[p.dim] < WEIR_UNBOUNDED && hi >= x->extent[p.dim];
  if (lo < 0 || above) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s %d, dimension %d: an iteration reaches index %" PRId64
                     " of extent %" PRId64 ", but the border rule is never",
                     p.word, p.operand, p.dim, (int64_t)(lo < 0 ? lo : hi), x->extent[p.dim]);
  }
  return WEIR_OK;
}

static weir_status check_operands(const weir_access *a)
{
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    const bool input = k < a->n_in;
    const weir_operand *x = input ? &a->in[k] : &a->out[k - a->n_in];
    struct location p = {input ? "input" : "output", input ? k : k - a->n_in, 0};
    if ((unsigned)x->dtype >= WEIR_DTYPE_COUNT || x->rank < 0 || x->rank > WEIR_MAX_RANK ||
        (unsigned)x->role > WEIR_ROLE_STATE || (x->role == WEIR_ROLE_STATE && x->rank < 1)) {
      return weir_fail(WEIR_ERR_SHAPE, "%s %d: dtype %d, rank %d, role %d", p.word, p.operand,
                       (int)x->dtype, x->rank, (int)x->role);
    }
    for (p.dim = x->role == WEIR_ROLE_STATE; p.dim < x->rank; p.dim++) {
      WEIR_TRY(check_index(a, x, p));
    }
  }
  return WEIR_OK;
}

static weir_status check_leaf(const weir_access *a, int32_t i)
{
  const weir_expr *e = &a->body.exprs[i];
  bool right = false;

  switch (e->code) {
  case WEIR_CODE_LOAD:
    right = in_range(e->integer, a->n_in) && a->in[e->integer].role == WEIR_ROLE_DATA &&
            a->in[e->integer].dtype == e->dtype;
    break;
  case WEIR_CODE_INDEX:
    right = in_range(e->integer, a->n_dims) && e->dtype == WEIR_I64;
    break;
  case WEIR_CODE_REMAINDER:
    right = in_range(e->integer, (int64_t)a->n_in * 16) &&
            e->integer % 16 < a->in[e->integer / 16].rank && e->dtype == WEIR_I64;
    break;
  case WEIR_CODE_STATE:
    right = in_range(e->integer, a->n_states) && a->state[e->integer].dtype == e->dtype;
    break;
  case WEIR_CODE_RANDOM:
    right = in_range(e->integer, INT64_C(1) << 32) && e->dtype == WEIR_I64 && e->real >= 0 &&
            e->real <= 0x1p53 && e->real == (double)(int64_t)e->real;
    break;
  default:
    right = true;
  }
  if (!right) {
    return weir_fail(WEIR_ERR_SHAPE, "expression %d: %s %" PRId64 " of dtype %s is undefined", i,
                     weir_code_name(e->code), e->integer, weir_dtype_name(e->dtype));
  }
  return WEIR_OK;
}

/* Whether an expression with a complex result or argument is one of those that exist. */
static bool complex_agrees(const weir_expr *e, const weir_dtype *arg, int n)
{
  const bool alike = n < 2 || arg[0] == arg[1];

  switch (e->code) {
  case WEIR_CODE_LOAD:
  case WEIR_CODE_STATE:
    return true;
  case WEIR_CODE_CAST:
    return weir_dtype_is_complex(e->dtype);
  case WEIR_CODE_SELECT:
    return arg[0] == WEIR_BOOL && arg[1] == e->dtype && arg[2] == e->dtype;
  case WEIR_CODE_MAKE:
  case WEIR_CODE_REAL:
  case WEIR_CODE_IMAG:
  case WEIR_CODE_CONJ:
  case WEIR_CODE_ABS:
  case WEIR_CODE_ABS2:
  case WEIR_CODE_NEG:
  case WEIR_CODE_EXP:
  case WEIR_CODE_ADD:
  case WEIR_CODE_SUB:
  case WEIR_CODE_MUL:
  case WEIR_CODE_DIV:
  case WEIR_CODE_EQ:
  case WEIR_CODE_NE:
  case WEIR_CODE_ISNAN:
    return alike && weir_code_result(e->code, arg[0]) == e->dtype;
  default:
    return false;
  }
}

/* Dtypes that an inner expression may have, by code; argument 0 alone is free where it says. */
static bool dtypes_agree(const weir_expr *e, const weir_dtype *arg, int n)
{
  const bool alike = (n < 2 || arg[0] == arg[1]);

  if (weir_dtype_is_complex(e->dtype) || (n > 0 && weir_dtype_is_complex(arg[n - 1]))) {
    return complex_agrees(e, arg, n);
  }
  /* bf16 and f16 are loaded, chosen and cast, not computed with. */
  if ((weir_dtype_is_storage(e->dtype) || (n > 0 && weir_dtype_is_storage(arg[0]))) && n > 0 &&
      e->code != WEIR_CODE_CAST && e->code != WEIR_CODE_SELECT) {
    return false;
  }
  switch (e->code) {
  case WEIR_CODE_REAL:
  case WEIR_CODE_IMAG:
  case WEIR_CODE_CONJ:
  case WEIR_CODE_ABS2:
  case WEIR_CODE_MAKE:
    return false;
  case WEIR_CODE_CAST:
    return true;
  case WEIR_CODE_RANDOM:
    return arg[0] == WEIR_I64 && arg[1] == WEIR_I64;
  case WEIR_CODE_SELECT:
    return arg[0] == WEIR_BOOL && arg[1] == e->dtype && arg[2] == e->dtype;
  case WEIR_CODE_SHR:
    return e->dtype == WEIR_I64 && arg[0] == WEIR_I64 && arg[1] == WEIR_I64;
  case WEIR_CODE_SQRT:
  case WEIR_CODE_EXP:
  case WEIR_CODE_LOG:
  case WEIR_CODE_TANH:
  case WEIR_CODE_ERF:
  case WEIR_CODE_SIN:
  case WEIR_CODE_COS:
    return weir_dtype_is_real(e->dtype) && arg[0] == e->dtype;
  case WEIR_CODE_FMA:
    return arg[0] == e->dtype && arg[1] == e->dtype && arg[2] == e->dtype &&
           weir_dtype_is_real(e->dtype);
  case WEIR_CODE_NOT:
  case WEIR_CODE_AND:
  case WEIR_CODE_OR:
  case WEIR_CODE_XOR:
    return e->dtype == WEIR_BOOL && arg[0] == WEIR_BOOL && alike;
  case WEIR_CODE_MIN:
  case WEIR_CODE_MAX:
    return arg[0] == e->dtype && alike;
  default:
    if (weir_code_is_compare(e->code)) {
      return e->dtype == WEIR_BOOL && alike;
    }
    return n == 0 || (arg[0] == e->dtype && alike && e->dtype != WEIR_BOOL);
  }
}

static weir_status check_body(const weir_access *a)
{
  const weir_body *b = &a->body;

  if (b->failed != WEIR_OK) {
    return weir_fail(b->failed, "an expression could not be appended: %s",
                     b->failed == WEIR_ERR_MEMORY ? "no memory" : "a wrong argument");
  }
  for (int32_t i = 0; i < b->n; i++) {
    const weir_expr *e = &b->exprs[i];
    const int32_t args[3] = {e->a, e->b, e->c};
    weir_dtype dtypes[3] = {WEIR_F32, WEIR_F32, WEIR_F32};
    if ((unsigned)e->code >= WEIR_CODE_COUNT || (unsigned)e->dtype >= WEIR_DTYPE_COUNT) {
      return weir_fail(WEIR_ERR_SHAPE, "expression %d: code %d, dtype %d", i, (int)e->code,
                       (int)e->dtype);
    }
    const int n = weir_code_args(e->code);
    for (int k = 0; k < n; k++) {
      if (!in_range(args[k], i)) {
        return weir_fail(WEIR_ERR_SHAPE, "expression %d, %s: argument %d is expression %d", i,
                         weir_code_name(e->code), k, args[k]);
      }
      dtypes[k] = b->exprs[args[k]].dtype;
    }
    WEIR_TRY(check_leaf(a, i));
    if (!dtypes_agree(e, dtypes, n)) {
      return weir_fail(WEIR_ERR_SHAPE, "expression %d, %s: result %s of arguments %s, %s, %s", i,
                       weir_code_name(e->code), weir_dtype_name(e->dtype),
                       n > 0 ? weir_dtype_name(dtypes[0]) : "-",
                       n > 1 ? weir_dtype_name(dtypes[1]) : "-",
                       n > 2 ? weir_dtype_name(dtypes[2]) : "-");
    }
  }
  return WEIR_OK;
}

static weir_status check_states(const weir_access *a)
{
  bool sequential = false;

  for (int k = 0; k < a->n_dims; k++) {
    sequential = sequential || a->dim[k].kind >= WEIR_FORWARD;
  }
  for (int k = 0; k < a->n_states; k++) {
    const weir_state *s = &a->state[k];
    const weir_operand *init = s->init > 0 && s->init <= a->n_in ? &a->in[s->init - 1] : NULL;
    const weir_operand *final = s->final > 0 && s->final <= a->n_out ? &a->out[s->final - 1] : NULL;
    bool right =
        (unsigned)s->dtype < WEIR_DTYPE_COUNT && sequential && a->maker == WEIR_MADE_BY_BODY;
    right =
        right && (s->init == 0 || (init != NULL && init->role == WEIR_ROLE_STATE &&
                                   init->dtype == s->dtype && in_range(s->slot, init->extent[0])));
    right = right &&
            (s->final == 0 || (final != NULL && final->role == WEIR_ROLE_STATE &&
                               final->dtype == s->dtype && in_range(s->slot, final->extent[0])));
    if (!right || !in_range(s->next, a->body.n) || a->body.exprs[s->next].dtype != s->dtype) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "state %d: dtype, slot %d, initial operand %d, final operand %d or next "
                       "value %d are inconsistent",
                       k, s->slot, s->init - 1, s->final - 1, s->next);
    }
  }
  if (a->presence < 0 || a->presence > a->n_in || a->settle < 0 ||
      (a->presence > 0 && a->in[a->presence - 1].dtype != WEIR_BOOL)) {
    return weir_fail(WEIR_ERR_SHAPE, "presence operand %d, settle %" PRId64, a->presence - 1,
                     a->settle);
  }
  return WEIR_OK;
}

/* Dtypes that each monoid asks of values and outputs; WEIR_DTYPE_COUNT: any. */
static weir_status check_combine(const weir_access *a, const int *data, int n_data)
{
  static const struct {
    int n_values, n_outputs;
    weir_dtype value1, output1; /* of the second ones */
  } shapes[] = {
      [WEIR_COMBINE_SUM] = {1, 1, 0, 0},
      [WEIR_COMBINE_PROD] = {1, 1, 0, 0},
      [WEIR_COMBINE_MAX] = {1, 1, 0, 0},
      [WEIR_COMBINE_MIN] = {1, 1, 0, 0},
      [WEIR_COMBINE_ARGMAX] = {1, 2, 0, WEIR_I64},
      [WEIR_COMBINE_MOMENTS] = {2, 3, WEIR_BOOL, WEIR_DTYPE_COUNT},
      [WEIR_COMBINE_SOFTMAX] = {1, 2, 0, WEIR_DTYPE_COUNT},
      [WEIR_COMBINE_FIRST] = {2, 2, WEIR_BOOL, WEIR_BOOL},
      [WEIR_COMBINE_LAST] = {2, 2, WEIR_BOOL, WEIR_BOOL},
  };
  const weir_body *b = &a->body;

  if (a->n_values != shapes[a->combine].n_values || n_data != shapes[a->combine].n_outputs) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "monoid %d takes %d values and gives %d outputs, not %d and %d",
                     (int)a->combine, shapes[a->combine].n_values, shapes[a->combine].n_outputs,
                     a->n_values, n_data);
  }
  const weir_dtype output1 = shapes[a->combine].output1;
  if ((a->n_values > 1 && b->exprs[a->value[1]].dtype != shapes[a->combine].value1) ||
      (n_data > 1 && output1 != WEIR_DTYPE_COUNT && a->out[data[1]].dtype != output1) ||
      (unsigned)a->accumulator >= WEIR_DTYPE_COUNT || weir_dtype_is_storage(a->accumulator)) {
    return weir_fail(WEIR_ERR_SHAPE, "monoid %d: the dtypes of values, accumulator or outputs",
                     (int)a->combine);
  }
  /* A monoid of complex numbers is their sum: there is no order, and a rounded part is no element.
   */
  const bool is_complex = weir_dtype_is_complex(a->accumulator);
  bool right = is_complex == weir_dtype_is_complex(b->exprs[a->value[0]].dtype) &&
               (!is_complex || a->combine == WEIR_COMBINE_SUM);
  for (int k = 0; k < n_data; k++) {
    right = right && is_complex == weir_dtype_is_complex(a->out[data[k]].dtype);
  }
  if (!right) {
    return weir_fail(
        WEIR_ERR_SHAPE,
        "monoid %d of %s in %s to %s: complex numbers can only be summed, to a complex result",
        (int)a->combine, weir_dtype_name(b->exprs[a->value[0]].dtype),
        weir_dtype_name(a->accumulator), weir_dtype_name(a->out[data[0]].dtype));
  }
  return WEIR_OK;
}

/* Engines compute with real and imaginary parts, and take no more operands than this. */
static weir_status check_components(const weir_access *a)
{
  int in = 0, out = 0, states = 0;

  for (int k = 0; k < a->n_in; k++) {
    in += weir_dtype_parts(a->in[k].dtype);
  }
  for (int k = 0; k < a->n_out; k++) {
    out += weir_dtype_parts(a->out[k].dtype);
  }
  for (int k = 0; k < a->n_states; k++) {
    states += weir_dtype_parts(a->state[k].dtype);
  }
  if (in > WEIR_MAX_OPERANDS || out > WEIR_MAX_OUTPUTS || states > WEIR_MAX_STATES) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%d inputs, %d outputs and %d states, complex ones counted twice: at most %d, "
                     "%d and %d are possible",
                     in, out, states, WEIR_MAX_OPERANDS, WEIR_MAX_OUTPUTS, WEIR_MAX_STATES);
  }
  return WEIR_OK;
}

static weir_status check_values(const weir_access *a)
{
  int data[WEIR_MAX_OUTPUTS], n_data = 0;
  bool reduced = false;

  for (int k = 0; k < a->n_dims; k++) {
    reduced = reduced || a->dim[k].kind == WEIR_REDUCED;
  }
  for (int k = 0; k < a->n_out; k++) {
    if (a->out[k].role == WEIR_ROLE_DATA) {
      data[n_data++] = k;
    }
  }
  for (int k = 0; k < a->n_values; k++) {
    if (!in_range(a->value[k], a->body.n)) {
      return weir_fail(WEIR_ERR_SHAPE, "value %d is expression %d", k, a->value[k]);
    }
  }
  if ((unsigned)a->combine > WEIR_COMBINE_LAST) {
    return weir_fail(WEIR_ERR_SHAPE, "unknown monoid %d", (int)a->combine);
  }
  if (a->combine != WEIR_COMBINE_NONE) {
    return check_combine(a, data, n_data);
  }
  if (reduced || a->n_values != n_data) {
    return weir_fail(WEIR_ERR_SHAPE, "%s; %d values for %d outputs",
                     reduced ? "reduced dimensions need a monoid" : "no monoid", a->n_values,
                     n_data);
  }
  for (int k = 0; k < n_data; k++) {
    if (a->body.exprs[a->value[k]].dtype != a->out[data[k]].dtype) {
      return weir_fail(WEIR_ERR_SHAPE, "value %d is %s, output %d is %s", k,
                       weir_dtype_name(a->body.exprs[a->value[k]].dtype), data[k],
                       weir_dtype_name(a->out[data[k]].dtype));
    }
  }
  return WEIR_OK;
}

/* What no body states. */
static weir_status check_unstated(const weir_access *a)
{
  if (a->n_values != 0 || a->body.n != 0 || !(a->point_flops >= 0)) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "a library or call operator must have no values and a cost of at least 0");
  }
  for (int k = 0; k < a->n_dims && a->maker == WEIR_MADE_BY_LIBRARY; k++) {
    if (a->dim[k].kind != WEIR_PARALLEL && a->dim[k].kind != WEIR_REDUCED) {
      return weir_fail(WEIR_ERR_SHAPE, "dimension %d of a library operator is sequential", k);
    }
    if (a->dim[k].kind == WEIR_REDUCED && a->dim[k].time) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "dimension %d of a library operator is read as a whole, but has no end", k);
    }
  }
  return WEIR_OK;
}

weir_status weir_access_check(const weir_access *a)
{
  WEIR_TRY(check_counts(a));
  WEIR_TRY(check_operands(a));
  WEIR_TRY(check_body(a));
  WEIR_TRY(check_states(a));
  if (a->maker != WEIR_MADE_BY_BODY) {
    return check_unstated(a);
  }
  WEIR_TRY(check_values(a));
  WEIR_TRY(check_components(a));
  return WEIR_OK;
}
