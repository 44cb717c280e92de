/* native_body.c - one iteration as C: one line for each expression, after its loads. */
#include "exec/backend/native/native_priv.h"

#include <inttypes.h>
#include <math.h>

#define NATIVE_MAX_SAME 1024 /* expressions of which it is asked whether they stay the same */

const char *native_type(weir_dtype dtype)
{
  static const char *const names[] = {
#define X(id, name, ctype, kind, is_signed) #ctype,
      WEIR_DTYPE_LIST(X)
#undef X
  };

  return names[dtype];
}

void native_put_constant(native_text *t, weir_dtype dtype, double real, int64_t integer)
{
  const bool single = dtype == WEIR_F32;

  if (weir_dtype_is_whole(dtype)) {
    native_put(t, "(%s)0x%" PRIx64 "ull", native_type(dtype),
               dtype == WEIR_BOOL ? (uint64_t)(integer != 0) : (uint64_t)integer);
    return;
  }
  if (dtype == WEIR_BF16) {
    native_put(t, "(weir_bf16)0x%xu", (unsigned)weir_bf16_from_f32((float)real));
    return;
  }
  if (dtype == WEIR_F16) {
    native_put(t, "(weir_f16)0x%xu", (unsigned)weir_f16_from_f32((float)real));
    return;
  }
  real = weir_dtype_rounded(dtype, real);
  if (isnan(real)) {
    native_put(t, single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")");
  } else if (isinf(real)) {
    native_put(t, "(%s__builtin_inf%s())", real < 0 ? "-" : "", single ? "f" : "");
  } else {
    native_put(t, "%a%s", real, single ? "f" : "");
  }
}

static void put_leaf(const native_writer *w, const weir_expr *e)
{
  const int k = (int)(e->integer / 16), d = (int)(e->integer % 16); /* of a remainder */
  native_text *t = w->t;

  switch (e->code) {
  case WEIR_CODE_LOAD:
    native_put(t, "l%" PRId64, e->integer);
    break;
  case WEIR_CODE_CONST:
    native_put_constant(t, e->dtype, e->real, e->integer);
    break;
  case WEIR_CODE_INDEX:
    native_put_iteration(w, (int)e->integer);
    break;
  case WEIR_CODE_REMAINDER:
    if (w->form->access->in[k].index[d].div > 1) {
      native_put_divided(w, native_place_in(w, k), &w->form->access->in[k], d, "mod");
    } else {
      native_put(t, "0");
    }
    break;
  case WEIR_CODE_STATE:
    native_put(t, "z%" PRId64, e->integer);
    break;
  default:
    native_put(t, "(int64_t)weir_random_bits((uint64_t)v%d, %uu, (uint32_t)v%d, (uint64_t)(%s)",
               e->a, (unsigned)e->integer, e->b,
               w->in != NULL ? "point" : "w->point + x * w->point_step");
    if (e->real > 0) {
      native_put(t, " %% %" PRId64 "u", (int64_t)e->real);
    }
    native_put(t, ")");
  }
}

/* Operator of the codes that C writes between two operands, NULL for the others. */
static const char *infix(weir_code code)
{
  switch (code) {
  case WEIR_CODE_EQ:
    return "==";
  case WEIR_CODE_NE:
    return "!=";
  case WEIR_CODE_LT:
    return "<";
  case WEIR_CODE_LE:
    return "<=";
  case WEIR_CODE_GT:
    return ">";
  case WEIR_CODE_GE:
    return ">=";
  case WEIR_CODE_AND:
    return "&";
  case WEIR_CODE_OR:
    return "|";
  case WEIR_CODE_XOR:
    return "^";
  default:
    return NULL;
  }
}

/* A choice by a stored bool, in a short row. */
static bool is_pick(const native_writer *w, const weir_expr *e)
{
  return e->code == WEIR_CODE_SELECT && w->form->exact > 0 && weir_dtype_size(e->dtype) >= 4 &&
         w->form->access->body.exprs[e->a].code == WEIR_CODE_LOAD;
}

/* A product in a loop that writes complex elements. */
static bool is_rounded(const native_writer *w, const weir_expr *e)
{
  bool parts = false;

  for (int k = 0; k < w->form->access->n_out; k++) {
    parts = parts || w->form->access->out[k].part > 0;
  }
  return parts && e->code == WEIR_CODE_MUL && (e->dtype == WEIR_F32 || e->dtype == WEIR_F64);
}

static void put_call(const native_writer *w, const weir_expr *e)
{
  const int args = weir_code_args(e->code);
  const weir_dtype from = w->form->access->body.exprs[e->a].dtype;
  native_text *t = w->t;

  if (infix(e->code) != NULL) {
    native_put(t, "(uint8_t)(v%d %s v%d)", e->a, infix(e->code), e->b);
  } else if (e->code == WEIR_CODE_CAST) {
    native_put(t, "weir_%s_from_%s(v%d)", weir_dtype_name(e->dtype), weir_dtype_name(from), e->a);
  } else if (e->code == WEIR_CODE_NOT) {
    native_put(t, "(uint8_t)(v%d == 0)", e->a);
  } else if (e->code == WEIR_CODE_ISNAN) {
    native_put(t, "(uint8_t)(v%d != v%d)", e->a, e->a);
  } else if (weir_dtype_is_whole(e->dtype) &&
             (e->code == WEIR_CODE_FLOOR || e->code == WEIR_CODE_CEIL ||
              e->code == WEIR_CODE_ROUND)) {
    native_put(t, "v%d", e->a);
  } else {
    native_put(t, is_rounded(w, e) ? "NATIVE_ROUNDED(" : "(");
    if (is_pick(w, e)) {
      native_put(t, "native_pick_%s(v%d", weir_dtype_name(e->dtype), e->a);
    } else {
      native_put(t, "weir_%s_%s(v%d", weir_code_name(e->code), weir_dtype_name(e->dtype), e->a);
    }
    if (args > 1) {
      native_put(t, ", v%d", e->b);
    }
    if (args > 2) {
      native_put(t, ", v%d", e->c);
    }
    native_put(t, "))");
  }
}

/* True when an expression without arguments is the same along the row. */
static bool is_same_leaf(const native_form *f, const weir_expr *e)
{
  const weir_index *x;

  switch (e->code) {
  case WEIR_CODE_CONST:
    return true;
  case WEIR_CODE_LOAD:
    return native_stands_still(f, (int)e->integer);
  case WEIR_CODE_INDEX:
    return e->integer != f->inner;
  case WEIR_CODE_REMAINDER:
    x = &f->access->in[e->integer / 16].index[e->integer % 16];
    return x->gather == 0 && (f->inner < 0 || x->coef[f->inner] == 0);
  default:
    return false;
  }
}

static void find_same(const native_form *f, bool *same)
{
  const weir_body *b = &f->access->body;

  for (int32_t i = 0; i < b->n && i < NATIVE_MAX_SAME; i++) {
    const weir_expr *e = &b->exprs[i];
    const int32_t args[3] = {e->a, e->b, e->c};

    same[i] = e->code != WEIR_CODE_RANDOM && (weir_code_args(e->code) > 0 || is_same_leaf(f, e));
    for (int k = 0; k < 3; k++) {
      same[i] = same[i] && (args[k] < 0 || same[args[k]]);
    }
  }
}

void native_put_body(const native_writer *w)
{
  const weir_body *b = &w->form->access->body;
  bool same[NATIVE_MAX_SAME] = {false};

  if (w->subset != NATIVE_ALL) {
    find_same(w->form, same);
  }
  for (int32_t i = 0; i < b->n; i++) {
    const weir_expr *e = &b->exprs[i];

    if (native_is_other_subset(w, i < NATIVE_MAX_SAME && same[i])) {
      continue;
    }
    native_put(w->t, "    const %s v%d = ", native_type(e->dtype), i);
    if (weir_code_args(e->code) == 0 || e->code == WEIR_CODE_RANDOM) {
      put_leaf(w, e);
    } else {
      put_call(w, e);
    }
    native_put(w->t, ";\n");
  }
}

/* A conjunct of condition `e` that is the same along the row ends the iteration where it fails. */
static void put_conjuncts(const native_writer *w, const bool *same, int32_t e)
{
  const weir_expr *x = &w->form->access->body.exprs[e];

  if (same[e]) {
    native_put(w->t, "    if (v%d == 0) {\n      continue;\n    }\n", e);
  } else if (x->code == WEIR_CODE_AND && x->dtype == WEIR_BOOL) {
    put_conjuncts(w, same, x->a);
    put_conjuncts(w, same, x->b);
  }
}

void native_put_skip(const native_writer *w)
{
  const weir_access *a = w->form->access;
  const weir_expr *e = a->body.exprs, *value = &e[a->value[0]];
  bool same[NATIVE_MAX_SAME] = {false};

  if (a->combine != WEIR_COMBINE_SUM || a->body.n > NATIVE_MAX_SAME ||
      value->code != WEIR_CODE_SELECT || e[value->c].code != WEIR_CODE_CONST) {
    return;
  }
  const weir_expr *otherwise = &e[value->c];
  const bool zero =
      weir_dtype_is_real(otherwise->dtype) ? otherwise->real == 0 : otherwise->integer == 0;

  if (zero) { /* of either sign: a lane begins with +0, so no sum is -0 */
    find_same(w->form, same);
    put_conjuncts(w, same, value->a);
  }
}

/* p<k>: a plain input's element of the first iteration of the row. */
static void put_pointer(const native_writer *w, int k)
{
  const native_form *f = w->form;
  const weir_operand *o = &f->access->in[k];
  const char *type = native_type(o->dtype);

  if (o->part == 2 && k > 0 && o[-1].part == 1 && f->plain[k - 1]) {
    native_put(w->t, "  const %s *const p%d = p%d + 1;\n", type, k, k - 1);
    return;
  }
  native_put(w->t, "  const %s *const p%d = (const %s *)(const void *)w->p[%d]", type, k, type, k);
  if (w->rows) {
    native_put(w->t, " + line * w->row_step[%d]", k);
  }
  if (f->fold[k] >= 0) {
    const weir_index *x = &o->index[f->fold[k]];

    native_put(w->t, " + native_div(w->fold[%d]", k);
    if (w->rows) {
      native_put(w->t, " + INT64_C_(%" PRId64 ") * line", x->coef[f->second]);
    }
    native_put(w->t, ", INT64_C_(%" PRId64 ")) * w->fold_step[%d]", x->div, k);
  }
  native_put(w->t, ";\n");
}

/* Imaginary parts lie next to the real ones, the output before: compilers then write both at once.
 */
static void put_output(const native_writer *w, int k)
{
  const native_form *f = w->form;
  const weir_operand *o = &f->access->out[k];
  const char *type = native_type(o->dtype);

  if (o->part == 2 && k > 0 && o[-1].part == 1 && f->plain_out[k - 1]) {
    native_put(w->t, "  %s *const q%d = q%d + 1;\n", type, k, k - 1);
    return;
  }
  native_put(w->t, "  %s *const q%d = (%s *)(void *)w->q[%d]", type, k, type, k);
  if (w->rows && f->shape == NATIVE_MAP) {
    native_put(w->t, " + line * w->row_step_out[%d]", k);
  }
  native_put(w->t, ";\n");
}

/* "s0" or "t0": numbers from one iteration of the row to the next. */
static void put_step(const native_writer *w, char letter, int k, const weir_operand *x)
{
  const native_form *f = w->form;
  const int sign = f->inner >= 0 && native_is_scan_down(f, f->inner) ? -1 : 1;

  native_put(w->t, "  const int64_t %c%d = unit ? %d : w->%c[%d];\n", letter, k,
             sign * (int)native_unit(x), letter, k);
}

void native_put_head(const native_writer *w)
{
  const native_form *f = w->form;
  native_text *t = w->t;

  for (int k = 0; k < f->access->n_in && !w->border; k++) {
    if (f->upsampled[k]) {
      native_put(t,
                 "  const %s *const p%d = (const %s *)(const void *)w->p[%d];\n"
                 "  const %s c%d = p%d[0];\n",
                 native_type(f->access->in[k].dtype), k, native_type(f->access->in[k].dtype), k,
                 native_type(f->access->in[k].dtype), k, k);
    } else if (f->plain[k] && f->access->in[k].role == WEIR_ROLE_DATA) {
      put_pointer(w, k);
      put_step(w, 's', k, &f->access->in[k]);
    }
  }
  for (int k = 0; k < f->access->n_out; k++) {
    if (f->plain_out[k] && f->access->out[k].role == WEIR_ROLE_DATA) {
      put_output(w, k);
      put_step(w, 't', k, &f->access->out[k]);
    }
  }
}
