/* native_index.c - indices of operands as C, with their border rules: loads of one iteration, and
 * where its outputs lie. */
#include "exec/backend/native/native_priv.h"

#include <inttypes.h>

/* What a load gives where the array is left: `value` cast from f64. */
static void put_fill(native_text *t, weir_dtype dtype, double value)
{
  native_put(t, "weir_%s_from_f64(", weir_dtype_name(dtype));
  native_put_constant(t, WEIR_F64, value, 0);
  native_put(t, ")");
}

bool native_is_scan_down(const native_form *f, int dim)
{
  return f->access->dim[dim].kind == WEIR_BACKWARD;
}

void native_put_iteration(const native_writer *w, int k)
{
  const native_form *f = w->form;
  const bool line = w->nest ? k == f->line : w->rows && k == f->second;

  if (w->in != NULL) {
    native_put(w->t, "i%d", k);
    return;
  }
  if (w->nest && f->access->dim[k].kind == WEIR_REDUCED) {
    native_put(w->t, "j%d", k);
    return;
  }
  native_put(w->t, w->nest ? "(i%d" : "(w->i[%d]", k);
  native_put(w->t, k != f->inner ? "" : native_is_scan_down(f, k) ? " - x" : " + x");
  native_put(w->t, line ? " + line)" : ")");
}

/* ---- Indices, in 64 bits or, of a place that allows it, in 32. ---- */

static bool is_narrow(const native_place *p)
{
  return p != NULL && p->narrow;
}

static const char *integer(const native_place *p)
{
  return is_narrow(p) ? "int32_t" : "int64_t";
}

/* What the functions for such indices begin with. */
static const char *family(const native_place *p)
{
  return is_narrow(p) ? "narrow" : "native";
}

static void put_integer(native_text *t, const native_place *p, int64_t value)
{
  native_put(t, is_narrow(p) ? "(%" PRId64 ")" : "INT64_C_(%" PRId64 ")", value);
}

static void put_numerator(const native_writer *w, const native_place *p, const weir_index *x)
{
  native_put(w->t, "(");
  put_integer(w->t, p, x->offset);
  for (int k = 0; k < w->form->access->n_dims; k++) {
    if (x->coef[k] != 0) {
      native_put(w->t, " + ");
      put_integer(w->t, p, x->coef[k]);
      native_put(w->t, " * ");
      native_put_iteration(w, k);
    }
  }
  if (x->gather > 0) {
    native_put(w->t, " + g%d", x->gather - 1);
  }
  native_put(w->t, ")");
}

void native_put_numerator(const native_writer *w, const weir_index *x)
{
  put_numerator(w, NULL, x);
}

void native_put_divided(const native_writer *w, const native_place *p, const weir_operand *x, int d,
                        const char *what)
{
  const bool upward = is_narrow(p) && p->upward[d];

  native_put(w->t, "%s_%s(", upward ? "upward" : family(p), what);
  put_numerator(w, p, &x->index[d]);
  native_put(w->t, ", ");
  put_integer(w->t, p, x->index[d].div);
  native_put(w->t, ")");
}

static void put_raw(const native_writer *w, const native_place *p, const weir_operand *x, int d)
{
  if (x->index[d].div > 1) {
    native_put_divided(w, p, x, d, "div");
  } else {
    put_numerator(w, p, &x->index[d]);
  }
}

const native_place *native_place_in(const native_writer *w, int k)
{
  return w->in != NULL ? &w->in[k] : NULL;
}

static void put_word(native_text *t, const native_place *p, int word, int64_t value)
{
  if (word >= 0) {
    native_put(t, "p.word[%d]", word);
  } else {
    put_integer(t, p, value);
  }
}

/* Extent of input k along dimension d. */
static void put_extent(const native_writer *w, int k, int d)
{
  const native_place *p = native_place_in(w, k);

  if (p != NULL) {
    put_word(w->t, p, p->extent_at[d], p->extent[d]);
  } else {
    native_put(w->t, "w->in[%d].extent[%d]", k, d);
  }
}

/* "native_wrap(e0_1, extent)" and the like. */
static void put_rule(const native_writer *w, int k, int d, const char *rule)
{
  native_put(w->t, "%s_%s(e%d_%d, ", family(native_place_in(w, k)), rule, k, d);
  put_extent(w, k, d);
  native_put(w->t, ")");
}

/* The element that stands in for one outside. */
static void put_moved(const native_writer *w, int k, int d)
{
  const native_place *p = native_place_in(w, k);
  const weir_border border = w->form->access->in[k].index[d].border;

  if (border == WEIR_BORDER_WRAP && is_narrow(p) && p->upward[d]) {
    native_put(w->t, "upward_mod(e%d_%d, ", k, d);
    put_extent(w, k, d);
    native_put(w->t, ")");
    return;
  }
  put_rule(w, k, d,
           border == WEIR_BORDER_WRAP        ? "wrap"
           : border == WEIR_BORDER_REPLICATE ? "replicate"
                                             : "reflect");
}

/* The load gives the fill of dimension d. */
static void put_outside(const native_writer *w, int k, int d)
{
  const weir_operand *x = &w->form->access->in[k];
  const double fill = x->index[d].border == WEIR_BORDER_VALUE ? x->index[d].fill : 0;
  native_text *t = w->t;

  native_put(t, "    if (");
  put_rule(w, k, d, "outside");
  native_put(t, ") {\n      f%d = o%d ? f%d : ", k, k, k);
  put_fill(t, x->dtype, fill);
  native_put(t, ";\n");
  if (weir_dtype_is_whole(x->dtype)) {
    native_put(t, "      h%d = o%d ? h%d : weir_i64_from_f64(", k, k, k);
    native_put_constant(t, WEIR_F64, fill, 0);
    native_put(t, ");\n");
  }
  native_put(t, "      o%d = 1;\n    }\n", k);
}

/* The index of input k along dimension d after its border rule: e<k>_<d>; o<k> tells that the load
 * gives f<k>, `here` that the iteration happens. */
static void put_bordered(const native_writer *w, int k, int d)
{
  const weir_operand *x = &w->form->access->in[k];
  const weir_border border = x->index[d].border;
  const native_place *p = native_place_in(w, k);
  native_text *t = w->t;

  native_put(t, "    %s e%d_%d = ", integer(p), k, d);
  put_raw(w, p, x, d);
  native_put(t, ";\n");
  if (border == WEIR_BORDER_NEVER || (p != NULL && p->inside[d])) {
    return;
  }
  switch (border) {
  case WEIR_BORDER_ABSENT:
    native_put(t, "    here &= !");
    put_rule(w, k, d, "outside");
    native_put(t, ";\n");
    return;
  case WEIR_BORDER_WRAP:
  case WEIR_BORDER_REPLICATE:
  case WEIR_BORDER_REFLECT:
    native_put(t, "    e%d_%d = ", k, d);
    put_moved(w, k, d);
    native_put(t, ";\n");
    if (is_narrow(p)) { /* an array that has elements, so that one is found */
      return;
    }
    break;
  default:
    break;
  }
  put_outside(w, k, d);
}

/* Address of the element that the views give for indices e<k>_<d>. */
static void put_element(native_text *t, const char *views, int k, const weir_operand *x)
{
  native_put(t, "((%s *)w->%s[%d].data", native_type(x->dtype), views, k);
  for (int d = 0; d < x->rank; d++) {
    native_put(t, " + (e%d_%d - w->%s[%d].origin[%d]) * w->%s[%d].stride[%d]", k, d, views, k, d,
               views, k, d);
  }
  native_put(t, ")");
}

/* Likewise that a place gives: for indices e<k>_<d> of input k, else for those of an output. */
static void put_placed(const native_writer *w, const native_place *p, const weir_operand *x, int k)
{
  native_text *t = w->t;

  native_put(t, "((%s *)p.word[%d] + (", native_type(x->dtype), p->at);
  put_integer(t, p, 0);
  for (int d = 0; d < x->rank; d++) {
    native_put(t, " + ");
    if (k >= 0) {
      native_put(t, "e%d_%d", k, d);
    } else {
      put_raw(w, p, x, d);
    }
    native_put(t, " * ");
    put_word(t, p, p->stride_at[d], p->stride[d]);
  }
  native_put(t, "))");
}

/* All e<k>_<d>, o<k>, f<k>, and of whole numbers h<k>. */
static void put_indices(const native_writer *w, int k)
{
  const weir_operand *x = &w->form->access->in[k];

  native_put(w->t, "    int o%d = 0;\n    %s f%d = 0;\n", k, native_type(x->dtype), k);
  if (weir_dtype_is_whole(x->dtype)) {
    native_put(w->t, "    int64_t h%d = 0;\n", k);
  }
  for (int d = 0; d < x->rank; d++) {
    put_bordered(w, k, d);
  }
}

/* What is gathered with: the element, as an integer. */
static void put_gathered_with(const native_writer *w, int k)
{
  if (weir_dtype_is_whole(w->form->access->in[k].dtype)) {
    native_put(w->t, "    const int64_t g%d = o%d ? h%d : (int64_t)l%d;\n", k, k, k, k);
  }
}

void native_put_vector(native_text *t, weir_dtype dtype)
{
  native_put(t, "vector_%s", weir_dtype_name(dtype));
}

void native_put_pair(native_text *t, weir_dtype dtype)
{
  native_put(t, "pair_%s", weir_dtype_name(dtype));
}

/* l<k> and l<k + 1>, real and imaginary part; the latter is 0 where the array is left. */
static void put_load_pair(const native_writer *w, int k)
{
  const weir_operand *x = &w->form->access->in[k];
  const char *type = native_type(x->dtype);
  native_text *t = w->t;

  put_indices(w, k);
  native_put(t, "    ");
  native_put_pair(t, x->dtype);
  native_put(t, " u%d;\n    if (here & !o%d) {\n      u%d = *(const ", k, k, k);
  native_put_pair(t, x->dtype);
  native_put(t, " *)");
  put_placed(w, &w->in[k], x, k);
  native_put(t,
             ";\n    } else {\n      u%d.e[0] = f%d;\n      u%d.e[1] = 0;\n    }\n"
             "    const %s l%d = u%d.e[0], l%d = u%d.e[1];\n",
             k, k, k, type, k, k, k + 1, k);
}

/* u<k>: so many elements at a time; their border rules agree. */
static void put_load_wide(const native_writer *w, int k)
{
  const weir_operand *x = &w->form->access->in[k];
  native_text *t = w->t;

  put_indices(w, k);
  native_put(t, "    ");
  native_put_vector(t, x->dtype);
  native_put(t, " u%d;\n    if (here & !o%d) {\n      u%d = *(const ", k, k, k);
  native_put_vector(t, x->dtype);
  native_put(t, " *)");
  put_placed(w, &w->in[k], x, k);
  native_put(t,
             ";\n    } else {\n      for (int x = 0; x < %d; x++) {\n        u%d.e[x] = f%d;\n"
             "      }\n    }\n",
             w->in[k].wide, k, k);
}

static void put_load_border(const native_writer *w, int k)
{
  const weir_operand *x = &w->form->access->in[k];
  native_text *t = w->t;

  put_indices(w, k);
  native_put(t, "    const %s l%d = here & !o%d ? *", native_type(x->dtype), k, k);
  if (w->in != NULL) {
    put_placed(w, &w->in[k], x, k);
  } else {
    put_element(t, "in", k, x);
  }
  native_put(t, " : f%d;\n", k);
  put_gathered_with(w, k);
}

/* Of a kernel without native_row: loads of its level, and elements of what was loaded wide. */
static void put_load_placed(const native_writer *w, int k)
{
  const native_place *p = &w->in[k];

  if (k > 0 && w->in[k - 1].pair) {
    return;
  }
  if (p->pair) {
    if (p->level == w->level) {
      put_load_pair(w, k);
    }
  } else if (p->wide > 1 && w->level == w->levels) {
    native_put(w->t, "    const %s l%d = u%d.e[x];\n", native_type(w->form->access->in[k].dtype), k,
               k);
    put_gathered_with(w, k);
  } else if (p->wide > 1 && p->level == w->level) {
    put_load_wide(w, k);
  } else if (p->level == w->level) {
    put_load_border(w, k);
  }
}

static void put_load_inside(const native_writer *w, int k)
{
  const weir_operand *x = &w->form->access->in[k];
  const char *type = native_type(x->dtype);
  native_text *t = w->t;

  if (w->form->upsampled[k]) {
    native_put(t, "    const %s l%d = even ? c%d : p%d[x];\n", type, k, k, k);
  } else if (w->form->plain[k]) {
    bool moves = false;
    for (int d = 0; d < x->rank && w->form->inner >= 0; d++) {
      moves = moves || x->index[d].coef[w->form->inner] != 0;
    }
    native_put(t, moves ? "    const %s l%d = p%d[x * s%d];\n" : "    const %s l%d = p%d[0];\n",
               type, k, k, k);
  } else {
    for (int d = 0; d < x->rank; d++) {
      native_put(t, "    const int64_t e%d_%d = ", k, d);
      put_raw(w, NULL, x, d);
      native_put(t, ";\n");
    }
    native_put(t, "    const %s l%d = *", type, k);
    put_element(t, "in", k, x);
    native_put(t, ";\n");
  }
  if (weir_dtype_is_whole(x->dtype)) {
    native_put(t, "    const int64_t g%d = (int64_t)l%d;\n", k, k);
  }
}

static bool is_gathered(const weir_operand *x)
{
  for (int d = 0; d < x->rank; d++) {
    if (x->index[d].gather != 0) {
      return true;
    }
  }
  return false;
}

bool native_stands_still(const native_form *f, int k)
{
  const weir_operand *x = &f->access->in[k];

  for (int d = 0; d < x->rank && f->inner >= 0; d++) {
    if (x->index[d].coef[f->inner] != 0) {
      return false;
    }
  }
  return f->plain[k] && x->role == WEIR_ROLE_DATA;
}

bool native_is_other_subset(const native_writer *w, bool same)
{
  return w->subset != NATIVE_ALL && same != (w->subset == NATIVE_SAME);
}

void native_put_loads(const native_writer *w)
{
  const weir_access *a = w->form->access;

  if (w->border && w->level > 0) {
    native_put(w->t, "    int here = here%d;\n", w->level - 1);
  } else if (w->border) {
    native_put(w->t, "    int here = 1;\n");
  }
  for (int gathered = 0; gathered < 2; gathered++) { /* what is gathered needs the indices first */
    for (int k = 0; k < a->n_in; k++) {
      if (a->in[k].role != WEIR_ROLE_DATA || is_gathered(&a->in[k]) != (gathered == 1) ||
          native_is_other_subset(w, native_stands_still(w->form, k))) {
        continue;
      }
      if (w->in != NULL) {
        put_load_placed(w, k);
      } else if (w->border) {
        put_load_border(w, k);
      } else {
        put_load_inside(w, k);
      }
    }
  }
}

void native_put_address(const native_writer *w, int k)
{
  const weir_operand *x = &w->form->access->out[k];
  native_text *t = w->t;

  if (w->out != NULL) {
    native_put(t, "*");
    if (w->out[k].wide > 1 || w->out[k].pair) {
      native_put(t, "(");
      (w->out[k].pair ? native_put_pair : native_put_vector)(t, x->dtype);
      native_put(t, " *)");
    }
    put_placed(w, &w->out[k], x, -1);
    return;
  }
  if (w->form->plain_out[k]) {
    native_put(t, "q%d[x * t%d]", k, k);
    return;
  }
  native_put(t, "*((%s *)w->out[%d].data", native_type(x->dtype), k);
  for (int d = 0; d < x->rank; d++) {
    native_put(t, " + (");
    put_raw(w, NULL, x, d);
    native_put(t, " - w->out[%d].origin[%d]) * w->out[%d].stride[%d]", k, d, k, d);
  }
  native_put(t, ")");
}
