/* native_nest.c - the kernel `nest`: whole outputs row by row in one call, where addresses depend
 * on divisions, border rules or conditions that are the same along a row. Each is looked up or
 * asked once a row and reduced iteration, and the iteration left out where it fails. */
#include "exec/backend/native/native_priv.h"

#include <inttypes.h>

#include "base/weir_alloc.h"

bool native_is_tabled(const native_form *f, int k, int d)
{
  const weir_operand *o = &f->access->in[k];
  const weir_index *x = &o->index[d];

  return o->role == WEIR_ROLE_DATA && x->coef[f->inner] == 0 &&
         (x->div > 1 || x->border != WEIR_BORDER_NEVER);
}

/* Reduced iterations of an output, 0: more than a block, or not known. */
static int64_t iterations_of(const weir_access *a)
{
  int64_t n = 1;

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      const bool known = a->dim[k].hi < WEIR_UNBOUNDED;

      n = known && weir_mul_ok(n, a->dim[k].hi - a->dim[k].lo, &n) && n <= WEIR_REDUCE_BLOCK ? n
                                                                                             : 0;
    }
  }
  return n;
}

/* Fills would be separate rows, and gathers are not known before the iteration. */
static bool is_fit(const weir_index *x)
{
  return x->gather == 0 && x->border != WEIR_BORDER_ZERO && x->border != WEIR_BORDER_VALUE;
}

/* Iteration dimensions that tables or the body ask about, as bits. */
static unsigned asked(const native_form *f)
{
  const weir_access *a = f->access;
  unsigned bits = 0;

  for (int j = 0; j < a->n_dims; j++) {
    bool found = false;

    for (int k = 0; k < a->n_in; k++) {
      for (int d = 0; d < a->in[k].rank; d++) {
        found = found || (native_is_tabled(f, k, d) && a->in[k].index[d].coef[j] != 0);
      }
    }
    for (int32_t i = 0; i < a->body.n; i++) {
      const weir_expr *e = &a->body.exprs[i];
      const int64_t at = e->integer;

      found = found || (e->code == WEIR_CODE_INDEX && at == j) ||
              (e->code == WEIR_CODE_REMAINDER && a->in[at / 16].index[at % 16].coef[j] != 0);
    }
    bits |= (unsigned)found << j;
  }
  return bits;
}

void native_nest_of(native_form *f)
{
  const weir_access *a = f->access;
  const bool strip = f->shape == NATIVE_STRIP;
  bool fits = f->inner >= 0 && !f->has_upsampled && (f->shape == NATIVE_MAP || strip);
  int tables = 0;

  for (int k = 0; k < a->n_in && fits; k++) {
    fits = f->plain[k] && a->in[k].role == WEIR_ROLE_DATA && a->in[k].part == 0;
    for (int d = 0; d < a->in[k].rank && fits; d++) {
      fits = is_fit(&a->in[k].index[d]);
      tables += native_is_tabled(f, k, d);
    }
  }
  for (int k = 0; k < a->n_out && fits; k++) {
    fits = f->plain_out[k] && a->out[k].role == WEIR_ROLE_DATA && a->out[k].part == 0;
  }
  fits = fits && !weir_body_uses(&a->body, WEIR_CODE_RANDOM);
  const bool serves = tables > 0 || (strip && f->positions);

  f->nest = fits && serves && tables <= NATIVE_TABLES &&
            (!strip || (f->n_around > 0 && iterations_of(a) > 0));
  f->asked = f->nest ? asked(f) : 0;
  f->line = f->n_outer > 0 ? f->outer[f->n_outer - 1] : -1;
  for (int j = 0; j < f->n_outer && f->nest && (f->asked >> f->inner & 1) == 0; j++) {
    f->line = (f->asked >> f->outer[j] & 1) != 0 ? f->outer[j] : f->line;
  }
}

/* The reduced loop, counted from the outermost one, inside which what moves with these coefficients
 * is known; -1: around all of them. */
static int level_of(const native_form *f, const int64_t *coef)
{
  int level = -1;

  for (int j = 0; j < f->n_around; j++) {
    level = coef[f->around[j]] != 0 ? j : level;
  }
  return level;
}

/* What does not change during the call, where no store can be taken to change it: iterations i<k>,
 * tables y<k>_<d> at the first line, inputs b<k>, steps u<k>_<j>; lanes c<c>, neutral ones o<c>. */
static void put_constants(const native_writer *w)
{
  const native_form *f = w->form;
  const weir_access *a = f->access;
  native_text *t = w->t;

  for (int j = 0; j < a->n_dims; j++) {
    native_put(t, "  const int64_t i%d = w->i[%d];\n", j, j);
  }
  for (int k = 0, table = 0; k < a->n_in; k++) {
    const char *type = native_type(a->in[k].dtype);

    native_put(t, "  const %s *const b%d = (const %s *)(const void *)w->p[%d];\n", type, k, type,
               k);
    native_put(t, "  const int64_t s%d = 1;\n", k);
    for (int j = 0; j < a->n_dims; j++) {
      native_put(t, "  const int64_t u%d_%d = w->step[%d][%d];\n", k, j, k, j);
    }
    for (int d = 0; d < a->in[k].rank; d++) {
      const weir_index *x = &a->in[k].index[d];

      if (native_is_tabled(f, k, d)) {
        native_put(t, "  const int64_t *const y%d_%d = w->table[%d] + (INT64_C_(%" PRId64 ")", k, d,
                   table, x->offset);
        for (int j = 0; j < a->n_dims; j++) {
          if (x->coef[j] != 0 && a->dim[j].kind != WEIR_REDUCED) {
            native_put(t, " + INT64_C_(%" PRId64 ") * i%d", x->coef[j], j);
          }
        }
        native_put(t, " - w->min[%d]);\n", table++);
      }
    }
  }
  for (int c = 0; c < f->components; c++) {
    const char *type = native_type(f->component[c]);

    native_put(t, "  %s *const c%d = (void *)w->acc[%d];\n", type, c, c);
    native_put(t, "  const %s *const o%d = (const void *)w->neutral[%d];\n", type, c, c);
  }
  native_put(t, "  const int64_t wide = w->wide, lines = w->m;\n");
  for (int k = 0; k < a->n_out; k++) {
    native_put(t, "  const int64_t t%d = 1, v_step%d = w->row_step_out[%d];\n", k, k, k);
  }
}

/* z<k>_<d>: where dimension d of input k lies. An iteration that is absent ends here. */
static void put_table(const native_writer *w, int k, int d)
{
  const native_form *f = w->form;
  const weir_access *a = f->access;
  const weir_index *x = &a->in[k].index[d];

  native_put(w->t, "    const int64_t z%d_%d = y%d_%d[INT64_C_(0)", k, d, k, d);
  for (int j = 0; j < a->n_dims; j++) {
    if (x->coef[j] != 0 && (a->dim[j].kind == WEIR_REDUCED || j == f->line)) {
      native_put(w->t, " + INT64_C_(%" PRId64 ") * ", x->coef[j]);
      native_put(w->t, j == f->line ? "line" : "j%d", j);
    }
  }
  native_put(w->t, "];\n");
  if (x->border != WEIR_BORDER_ABSENT) {
    return;
  }
  native_put(w->t, "    if (z%d_%d == NATIVE_ABSENT) {\n", k, d);
  for (int o = 0; o < a->n_out && f->shape == NATIVE_MAP; o++) {
    native_put(w->t, "      for (int64_t x = 0; x < n; x++) {\n        q%d[x] = 0;\n      }\n", o);
  }
  native_put(w->t, "      continue;\n    }\n");
}

static void put_tables(const native_writer *w, int level)
{
  const weir_access *a = w->form->access;

  for (int k = 0; k < a->n_in; k++) {
    for (int d = 0; d < a->in[k].rank; d++) {
      if (native_is_tabled(w->form, k, d) && level_of(w->form, a->in[k].index[d].coef) == level) {
        put_table(w, k, d);
      }
    }
  }
}

/* p<k>: the input's element of the first iteration of the row. */
static void put_inputs(const native_writer *w)
{
  const native_form *f = w->form;
  const weir_access *a = f->access;
  native_text *t = w->t;

  for (int k = 0; k < a->n_in; k++) {
    bool moves[WEIR_MAX_DIMS] = {false};

    native_put(t, "    const %s *const p%d = b%d", native_type(a->in[k].dtype), k, k);
    for (int d = 0; d < a->in[k].rank; d++) {
      const bool tabled = native_is_tabled(f, k, d);

      if (tabled) {
        native_put(t, " + z%d_%d", k, d);
      }
      for (int j = 0; j < a->n_dims; j++) {
        moves[j] = moves[j] || (!tabled && a->in[k].index[d].coef[j] != 0);
      }
    }
    for (int j = 0; j < a->n_dims; j++) {
      if (moves[j] && a->dim[j].kind == WEIR_REDUCED) {
        native_put(t, " + (j%d - INT64_C_(%" PRId64 ")) * u%d_%d", j, a->dim[j].lo, k, j);
      } else if (moves[j] && j == f->line) {
        native_put(t, " + line * u%d_%d", k, j);
      }
    }
    native_put(t, ";\n");
  }
}

static void put_outputs(const native_writer *w)
{
  const weir_access *a = w->form->access;

  for (int k = 0; k < a->n_out; k++) {
    const char *type = native_type(a->out[k].dtype);

    native_put(w->t, "    %s *const q%d = (%s *)(void *)w->q[%d] + line * v_step%d;\n", type, k,
               type, k, k);
  }
}

/* <p><c>: partial results of a row in lane `at`. */
static void put_address(const native_writer *w, const char *p, const char *at)
{
  const native_form *f = w->form;

  for (int c = 0; c < f->components; c++) {
    const char *type = native_type(f->component[c]);

    native_put(w->t, "    %s *const %s%d = c%d + (%s) * wide;\n", type, p, c, c, at);
  }
}

/* One reduced iteration of a whole row, into its lane. */
static void put_taken(const native_writer *w)
{
  const native_form *f = w->form;
  native_writer writer = *w;

  put_inputs(w);
  writer.subset = NATIVE_SAME;
  native_put_loads(&writer);
  native_put_body(&writer);
  native_put_skip(w);
  put_address(w, "a", "lane");
  for (int c = 0; c < f->components; c++) {
    const char *type = native_type(f->component[c]);

    native_put(w->t, "    const %s *const m%d = (seen >> lane & 1) != 0 ? a%d : o%d;\n", type, c, c,
               c);
  }
  native_put(w->t, "    seen |= 1u << lane;\n    NATIVE_INDEPENDENT\n"
                   "    for (int64_t x = 0; x < n; x++) {\n");
  writer.subset = NATIVE_MOVING;
  native_put_loads(&writer);
  native_put_body(&writer);
  native_put_step(w, "m", "x", "at");
  native_put(w->t, "    }\n");
}

/* The tree over lanes. One that no iteration reached is neutral, so that the other side is the
 * result as it is. */
static void put_tree(const native_writer *w)
{
  const native_form *f = w->form;
  int half = 1;

  while (2 * half < f->lanes) {
    half *= 2;
  }
  native_put(w->t,
             "    int lane_of[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};\n"
             "    for (int half = %d; half > 0; half /= 2) {\n"
             "    for (int l = 0; l < half; l++) {\n"
             "    if ((seen >> (l + half) & 1) == 0) {\n      continue;\n    }\n"
             "    if ((seen >> l & 1) == 0) {\n      lane_of[l] = lane_of[l + half];\n"
             "      seen |= 1u << l;\n      continue;\n    }\n",
             f->lanes > 1 ? half : 0);
  put_address(w, "a", "lane_of[l]");
  put_address(w, "b", "lane_of[l + half]");
  native_put(w->t, "    NATIVE_INDEPENDENT\n    for (int64_t x = 0; x < n; x++) {\n");
  native_put_merge(f, w->t, "x", "b", "x");
  native_put(w->t, "    }\n    }\n    }\n");
  for (int c = 0; c < f->components; c++) {
    const char *type = native_type(f->component[c]);

    native_put(w->t, "    const %s *const a%d = (seen & 1) != 0 ? c%d + lane_of[0] * wide : o%d;\n",
               type, c, c, c);
  }
  native_put(w->t, "    NATIVE_INDEPENDENT\n    for (int64_t x = 0; x < n; x++) {\n");
  native_put_results(w, "x");
  native_put(w->t, "    }\n");
}

/* Reduced loops; what is absent at one of them leaves out all of its iterations at once. */
static void put_reduced(const native_writer *w)
{
  const native_form *f = w->form;
  native_text *t = w->t;

  native_put(t, "    unsigned seen = 0;\n    do {\n");
  put_tables(w, -1);
  for (int j = 0; j < f->n_around; j++) {
    const int k = f->around[j];
    const weir_dim *dim = &f->access->dim[k];

    native_put(
        t, "    for (int64_t j%d = INT64_C_(%" PRId64 "); j%d < INT64_C_(%" PRId64 "); j%d++) {\n",
        k, dim->lo, k, dim->hi, k);
    put_tables(w, j);
  }
  native_put(t, "    const int64_t at = 0");
  for (int j = 0; j < f->n_around; j++) {
    const int k = f->around[j];
    int64_t weight = 1;

    for (int l = j + 1; l < f->n_around; l++) {
      weight *= f->access->dim[f->around[l]].hi - f->access->dim[f->around[l]].lo;
    }
    native_put(t, " + INT64_C_(%" PRId64 ") * (j%d - INT64_C_(%" PRId64 "))", weight, k,
               f->access->dim[k].lo);
  }
  native_put(t, ";\n    const int lane = (int)(at & 15);\n");
  put_taken(w);
  for (int j = 0; j < f->n_around; j++) {
    native_put(t, "    }\n");
  }
  native_put(t, "    } while (0);\n");
  put_tree(w);
}

static void put_mapped(const native_writer *w)
{
  const weir_access *a = w->form->access;
  native_writer writer = *w;

  put_tables(w, -1);
  put_inputs(w);
  writer.subset = NATIVE_SAME;
  native_put_loads(&writer);
  native_put_body(&writer);
  native_put(w->t, "%s    for (int64_t x = 0; x < n; x++) {\n",
             w->form->exact > 0 ? "  NATIVE_SHORT\n" : "  NATIVE_INDEPENDENT\n");
  writer.subset = NATIVE_MOVING;
  native_put_loads(&writer);
  native_put_body(&writer);
  for (int v = 0; v < a->n_values; v++) {
    native_put(w->t, "    q%d[x] = v%d;\n", native_output(a, v), a->value[v]);
  }
  native_put(w->t, "    }\n");
}

void native_put_nest(const native_form *f, int32_t k, native_text *t)
{
  const native_writer w = {.t = t, .form = f, .nest = true};

  native_put(t,
             "static NATIVE_INLINE void rows_%d(const native_row *w, const int64_t n)\n{\n"
             "  const int even = 0;\n",
             k);
  put_constants(&w);
  native_put(t, "  for (int64_t line = 0; line < lines; line++) {\n");
  put_outputs(&w);
  if (f->shape == NATIVE_MAP) {
    put_mapped(&w);
  } else {
    put_reduced(&w);
  }
  native_put(t, "  }\n}\nstatic NATIVE_APART void nest_%d(const native_row *w)\n{\n", k);
  if (f->exact > 0) {
    native_put(t, "  if (w->n == %d) {\n    rows_%d(w, %d);\n    return;\n  }\n", f->exact, k,
               f->exact);
  }
  native_put(t, "  rows_%d(w, w->n);\n}\n", k);
}
