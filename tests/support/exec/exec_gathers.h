/* exec_gathers.h - random loops of the kind that derivatives of windows are: rows of channels, and
 * around them few iterations whose indices go through divisions and border rules, summed where
 * conditions on them hold. Tests only. */
#ifndef WEIR_EXEC_GATHERS_H
#define WEIR_EXEC_GATHERS_H
#include "support/exec/exec_cases.h"

/* Parallel and reduced dimensions, then channels. */
static inline void gather_dims(exec_case *c, weir_access *a)
{
  static const int64_t channels[] = {1, 7, 8, 16, 21, 64, 100};
  const int parallel = (int)draw(c, 0, 2),
            reduced = c->mode == CASE_REDUCE ? (int)draw(c, 1, 3) : 0;

  for (; a->n_dims < parallel + reduced; a->n_dims++) {
    const int64_t lo = draw(c, -2, 2), n = draw(c, 0, 40) == 0 ? 0 : draw(c, 1, 5);

    a->dim[a->n_dims] =
        (weir_dim){a->n_dims < parallel ? WEIR_PARALLEL : WEIR_REDUCED, lo, lo + n, false};
  }
  a->dim[a->n_dims] = (weir_dim){WEIR_PARALLEL, 0, channels[draw(c, 0, 6)], false};
}

/* Operands [.., channels], their other dimensions anywhere among the other iterations. */
static inline void gather_inputs(exec_case *c, weir_access *a)
{
  const int around = a->n_dims;

  for (int k = 0; k < (int)draw(c, 1, 3); k++) {
    size_t bytes;

    case_resize(a, k + 1, 0, 0);
    weir_operand *x = &a->in[k];

    *x = (weir_operand){.dtype = draw(c, 0, 2) ? WEIR_F32 : WEIR_I64, .rank = (int)draw(c, 1, 3)};
    for (int d = 0; d < x->rank - 1; d++) {
      draw_index(c, a, x, d);
      x->extent[d] = x->extent[d] == 0 && draw(c, 0, 3) ? 1 : x->extent[d];
    }
    if (draw(c, 0, 5)) {
      x->index[x->rank - 1].coef[around] = 1;
    }
    x->extent[x->rank - 1] = a->dim[around].hi;
    c->in[k] = make_view(c, x, &c->in_memory[k], &bytes);
    fill_view(c, x, c->in_memory[k], bytes, 0, 0);
  }
  a->n_dims++;
}

/* A condition on an iteration, a remainder or a value. */
static inline int32_t gather_condition(exec_case *c, weir_access *a)
{
  weir_body *b = &a->body;
  const int k = (int)draw(c, 0, a->n_in - 1);
  int32_t x = weir_body_index(b, (int)draw(c, 0, a->n_dims - 1));

  if (draw(c, 0, 2) == 0) {
    x = weir_body_push(b, (weir_expr){WEIR_CODE_REMAINDER, WEIR_I64, -1, -1, -1, k * 16, 0});
  } else if (draw(c, 0, 5) == 0) {
    x = weir_body_load(b, k, a->in[k].dtype);
  }
  const weir_dtype t = b->exprs[x].dtype;
  const int32_t with = weir_dtype_is_real(t) ? weir_body_real(b, t, 0.5) : weir_body_int(b, t, 1);

  return weir_body_binary(b, (weir_code)draw(c, WEIR_CODE_EQ, WEIR_CODE_GE), x, with);
}

static inline void gather_body(exec_case *c, weir_access *a)
{
  weir_body *b = &a->body;

  for (int k = 0; k < a->n_in; k++) {
    weir_body_load(b, k, a->in[k].dtype);
  }
  weir_body_real(b, WEIR_F32, 0.75);
  weir_body_int(b, WEIR_I64, 3);
  for (int n = (int)draw(c, 0, 5); n > 0; n--) {
    draw_operation(c, b);
  }
  for (int n = (int)draw(c, 0, 2); n > 0; n--) { /* what a derivative adds where it counts */
    const weir_dtype t = b->exprs[b->n - 1].dtype;
    const int32_t v = b->n - 1;
    int32_t condition = gather_condition(c, a);

    if (draw(c, 0, 1)) {
      condition = weir_body_binary(b, WEIR_CODE_AND, condition, gather_condition(c, a));
    }
    const double other = draw(c, 0, 3) ? 0.0 : 1.0, signed_other = draw(c, 0, 3) ? other : -other;
    const int32_t zero = weir_dtype_is_real(t) ? weir_body_real(b, t, signed_other)
                                               : weir_body_int(b, t, (int64_t)other);

    weir_body_select(b, condition, v, zero);
  }
}

/* The same seed gives the same case. */
static inline void gather_make(exec_case *c, uint64_t seed, case_mode mode)
{
  weir_access *a = &c->loop.access;

  memset(c, 0, sizeof *c);
  c->seed = seed;
  c->mode = mode;
  weir_access_init(a);
  gather_dims(c, a);
  gather_inputs(c, a);
  gather_body(c, a);
  if (mode == CASE_REDUCE) {
    draw_monoid(c, a);
  } else {
    case_resize(a, a->n_in, 1, 0);
    a->n_values = 1;
    a->value[0] = a->body.n - 1;
    a->out[0].dtype = a->body.exprs[a->value[0]].dtype;
  }
  for (int k = 0; k < a->n_out; k++) {
    weir_operand *o = &a->out[k];

    for (int d = 0; d < a->n_dims; d++) {
      if (a->dim[d].kind == WEIR_PARALLEL) {
        o->index[o->rank].coef[d] = 1;
        o->index[o->rank].offset = -a->dim[d].lo;
        o->extent[o->rank++] = a->dim[d].hi - a->dim[d].lo;
      }
    }
    c->out[k] = make_view(c, o, &c->out_memory[k], &c->out_bytes[k]);
    memset(c->out_memory[k], 0x5a, c->out_bytes[k]);
  }
}

#endif
