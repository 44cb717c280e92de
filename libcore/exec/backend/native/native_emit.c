/* native_emit.c - the kernels of a loop as freestanding C. */
#include "exec/backend/native/native_priv.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/weir_alloc.h"

/* Texts of graph/weir_scalar.h and exec/backend/native/native_row.h, made by the build. */
extern const char *const native_prelude[];

void native_put(native_text *t, const char *format, ...)
{
  va_list args;

  if (t->status != WEIR_OK) {
    return;
  }
  const int64_t left = t->capacity - t->n;
  va_start(args, format);
  const int need = vsnprintf(left > 0 ? t->text + t->n : NULL, (size_t)left, format, args);
  va_end(args);
  if (need >= left) {
    t->status = weir_reserve(&t->text, &t->capacity, t->n + need + 1, 1);
    if (t->status != WEIR_OK) {
      return;
    }
    va_start(args, format);
    vsnprintf(t->text + t->n, (size_t)need + 1, format, args);
    va_end(args);
  }
  t->n += need;
}

static const char *name(weir_dtype dtype)
{
  return weir_dtype_name(dtype);
}

/* Suffix of what goes with positions. */
static const char *near(const native_form *f)
{
  return f->near ? "_near" : "";
}

/* Reads element `j` of arrays <p>0.. as the monoid's struct m. */
static void put_partial(const native_form *f, native_text *t, const char *m, const char *p,
                        const char *j)
{
  const char *acc = name(f->access->accumulator);

  switch (f->access->combine) {
  case WEIR_COMBINE_MOMENTS:
    native_put(t, "    const weir_moments_%s %s = {%s0[%s], %s1[%s], %s2[%s]};\n", acc, m, p, j, p,
               j, p, j);
    break;
  case WEIR_COMBINE_SOFTMAX:
    native_put(t, "    const weir_softmax_%s %s = {%s0[%s], %s1[%s]};\n", acc, m, p, j, p, j);
    break;
  case WEIR_COMBINE_ARGMAX:
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    native_put(t, "    const weir_at_%s%s %s = {%s0[%s], %s1[%s]};\n", acc, near(f), m, p, j, p, j);
    break;
  default:
    native_put(t, "    const %s %s = %s0[%s];\n", native_type(f->access->accumulator), m, p, j);
  }
}

static const char *merge_name(weir_monoid combine)
{
  static const char *const names[] = {[WEIR_COMBINE_NONE] = "",
                                      [WEIR_COMBINE_SUM] = "add",
                                      [WEIR_COMBINE_PROD] = "mul",
                                      [WEIR_COMBINE_MAX] = "highest",
                                      [WEIR_COMBINE_MIN] = "lowest",
                                      [WEIR_COMBINE_ARGMAX] = "argmax",
                                      [WEIR_COMBINE_MOMENTS] = "moments_merge",
                                      [WEIR_COMBINE_SOFTMAX] = "softmax_merge",
                                      [WEIR_COMBINE_FIRST] = "first",
                                      [WEIR_COMBINE_LAST] = "last"};

  return names[combine];
}

/* a<c>[j] = r. */
static void put_keep(const native_form *f, native_text *t, const char *j)
{
  static const char *const members[][3] = {
      {"n", "mean", "m2"}, {"max", "sum", ""}, {"value", "at", ""}};
  const weir_monoid combine = f->access->combine;
  const char *const *member = members[combine == WEIR_COMBINE_MOMENTS   ? 0
                                      : combine == WEIR_COMBINE_SOFTMAX ? 1
                                                                        : 2];

  for (int c = 0; c < f->components; c++) {
    native_put(t, f->components > 1 ? "    a%d[%s] = r.%s;\n" : "    a%d[%s] = r;\n", c, j,
               member[c]);
  }
}

void native_put_step(const native_writer *w, const char *source, const char *j, const char *at)
{
  const native_form *f = w->form;
  const weir_access *a = f->access;
  const char *acc = name(a->accumulator), *from = name(a->body.exprs[a->value[0]].dtype);
  native_text *t = w->t;

  native_put(t, "    const %s y = weir_%s_from_%s(v%d);\n", native_type(a->accumulator), acc, from,
             a->value[0]);
  put_partial(f, t, "m", source, j);
  switch (a->combine) {
  case WEIR_COMBINE_MOMENTS:
    native_put(t, "    const weir_moments_%s k = weir_moments_step_%s(m, y);\n", acc, acc);
    native_put(t, "    const int take = v%d != 0;\n", a->value[1]);
    native_put(t,
               "    const weir_moments_%s r = {take ? k.n : m.n, take ? k.mean : m.mean, "
               "take ? k.m2 : m.m2};\n",
               acc);
    break;
  case WEIR_COMBINE_SOFTMAX:
    native_put(t, "    const weir_softmax_%s k = {y, 1};\n", acc);
    native_put(t, "    const weir_softmax_%s r = weir_softmax_merge_%s(m, k);\n", acc, acc);
    break;
  case WEIR_COMBINE_ARGMAX:
    native_put(t, "    const __typeof__(m) k = {y, %s};\n", at);
    native_put(t, "    const __typeof__(m) r = weir_argmax_%s%s(m, k);\n", acc, near(f));
    break;
  case WEIR_COMBINE_FIRST:
  case WEIR_COMBINE_LAST:
    native_put(t, "    const __typeof__(m) k = {y, v%d != 0 ? %s : -1};\n", a->value[1], at);
    native_put(t, "    const __typeof__(m) r = weir_%s_%s%s(m, k);\n", merge_name(a->combine), acc,
               near(f));
    break;
  default:
    native_put(t, "    const %s r = weir_%s_%s(m, y);\n", native_type(a->accumulator),
               merge_name(a->combine), acc);
  }
  native_put(t, w->border ? "    if (here) {\n" : "");
  put_keep(f, t, j);
  native_put(t, w->border ? "    }\n" : "");
}

static void put_accumulators(const native_form *f, native_text *t, const char *from, const char *p)
{
  for (int c = 0; c < f->components; c++) {
    native_put(t, "  %s *const %s%d = (void *)%s[%d];\n", native_type(f->component[c]), p, c, from,
               c);
  }
}

void native_put_neutral(const native_form *f, native_text *t, const char *j)
{
  const char *acc = name(f->access->accumulator);

  switch (f->access->combine) {
  case WEIR_COMBINE_PROD:
    native_put(t, "    a0[%s] = 1;\n", j);
    break;
  case WEIR_COMBINE_MAX:
  case WEIR_COMBINE_ARGMAX:
  case WEIR_COMBINE_SOFTMAX:
    native_put(t, "    a0[%s] = weir_least_%s();\n", j, acc);
    break;
  case WEIR_COMBINE_MIN:
    native_put(t, "    a0[%s] = weir_greatest_%s();\n", j, acc);
    break;
  default:
    native_put(t, "    a0[%s] = 0;\n", j);
  }
  for (int c = 1; c < f->components; c++) {
    native_put(t, "    a%d[%s] = %d;\n", c, j, f->component[c] == WEIR_I64 || f->near ? -1 : 0);
  }
}

void native_put_merge(const native_form *f, native_text *t, const char *left, const char *from,
                      const char *right)
{
  put_partial(f, t, "k", "a", left);
  put_partial(f, t, "m", from, right);
  native_put(t, "    const __typeof__(k) r = weir_%s_%s%s(k, m);\n", merge_name(f->access->combine),
             name(f->access->accumulator), near(f));
  put_keep(f, t, left);
}

/* "add_f32": what a reduction's neutral and merge are called. */
static void put_monoid_name(const native_form *f, native_text *t)
{
  native_put(t, "%s_%s", merge_name(f->access->combine), name(f->access->accumulator));
}

bool native_same_monoid(const native_form *a, const native_form *b)
{
  return a->access->combine == b->access->combine &&
         a->access->accumulator == b->access->accumulator;
}

void native_put_monoid(const native_form *f, native_text *t)
{
  if (f->components == 0) {
    return;
  }
  native_put(t, "static void neutral_");
  put_monoid_name(f, t);
  native_put(t, "(char *const *acc, int64_t n)\n{\n");
  put_accumulators(f, t, "acc", "a");
  native_put(t, "  for (int64_t j = 0; j < n; j++) {\n");
  native_put_neutral(f, t, "j");
  native_put(t, "  }\n}\nstatic void merge_");
  put_monoid_name(f, t);
  native_put(t, "(char *const *acc, char *const *with, int64_t n)\n{\n");
  put_accumulators(f, t, "acc", "a");
  put_accumulators(f, t, "with", "b");
  native_put(t, "  NATIVE_INDEPENDENT\n  for (int64_t j = 0; j < n; j++) {\n");
  native_put_merge(f, t, "j", "b", "j");
  native_put(t, "  }\n}\n");
}

void native_put_results(const native_writer *w, const char *j)
{
  const native_form *f = w->form;
  const weir_access *a = f->access;

  for (int c = 0, value = 0; c < a->n_out; c++) {
    if (a->out[c].role != WEIR_ROLE_DATA) {
      continue;
    }
    const char *to = name(a->out[c].dtype);
    native_put(w->t, "    ");
    native_put_address(w, c);
    if (value == 1 && a->combine >= WEIR_COMBINE_FIRST) {
      native_put(w->t, " = weir_%s_from_bool(a1[%s] >= 0);\n", to, j);
    } else {
      native_put(w->t, " = weir_%s_from_%s(a%d[%s]);\n", to, name(f->component[value]), value, j);
    }
    value++;
  }
}

static void put_finish(const native_form *f, int32_t k, native_text *t)
{
  const native_writer w = {.t = t, .form = f, .border = true};

  native_put(t, "static void finish_%d(const native_row *w)\n{\n  const int unit = 0;\n", k);
  native_put_head(&w);
  put_accumulators(f, t, "w->acc", "a");
  native_put(t, "  for (int64_t x = 0; x < w->n; x++) {\n");
  native_put_results(&w, "x");
  native_put(t, "  }\n}\n");
}

/* Pointers of all inputs at reduced iteration r: p<k>_<r>, or p<k> inside its block. */
static void put_pointers(const native_writer *w, int r, bool block)
{
  const weir_access *a = w->form->access;

  for (int k = 0; k < a->n_in; k++) {
    if (a->in[k].role != WEIR_ROLE_DATA) {
      continue;
    }
    const char *type = native_type(a->in[k].dtype);
    if (block) {
      native_put(w->t, "    const %s *const p%d = p%d_%d;\n", type, k, k, r);
    } else {
      native_put(w->t, "  const %s *const p%d_%d = p%d + w->offset[%d];\n", type, k, r, k,
                 r * NATIVE_OPERANDS + k);
    }
  }
}

/* Positions of few iterations are kept as narrow as the values, so that vectors hold as many. */
static native_form with_near(const native_form *f)
{
  native_form n = *f;
  const weir_monoid m = f->access->combine;

  n.near = (m == WEIR_COMBINE_ARGMAX || m == WEIR_COMBINE_FIRST || m == WEIR_COMBINE_LAST) &&
           weir_dtype_size(f->access->accumulator) <= 4;
  n.component[1] = n.near ? WEIR_I32 : n.component[1];
  return n;
}

static void put_small(const native_writer *any, int32_t k)
{
  const native_form form = with_near(any->form), *f = &form;
  const native_writer own = {.t = any->t, .form = f}, *w = &own;
  native_text *t = w->t;
  char left[16], right[16];

  native_put(
      t, "static NATIVE_APART void small_%d(const native_row *w)\n{\n  const int unit = 1;\n", k);
  native_put_head(w);
  for (int r = 0; r < f->small; r++) {
    put_pointers(w, r, false);
  }
  native_put(t, "  const int64_t n = w->n;\n  NATIVE_INDEPENDENT\n"
                "  for (int64_t x = 0; x < n; x++) {\n");
  for (int c = 0; c < f->components; c++) {
    native_put(t, "    %s a%d[%d];\n", native_type(f->component[c]), c,
               f->small < 1 ? 1 : f->small);
  }
  native_put_neutral(f, t, "0");
  for (int r = 0; r < f->small; r++) {
    snprintf(left, sizeof left, "%d", r);
    native_put(t, "    {\n");
    put_pointers(w, r, true);
    native_put_neutral(f, t, left);
    native_put_loads(w);
    native_put_body(w);
    native_put_step(w, "a", left, left);
    native_put(t, "    }\n");
  }
  for (int half = WEIR_LANES / 2, active = f->small; half > 0; half /= 2) {
    for (int l = 0; l + half < active; l++) {
      snprintf(left, sizeof left, "%d", l);
      snprintf(right, sizeof right, "%d", l + half);
      native_put(t, "    {\n");
      native_put_merge(f, t, left, "a", right);
      native_put(t, "    }\n");
    }
    active = active > half ? half : active;
  }
  native_put_results(w, "0");
  native_put(t, "  }\n}\n");
}

static void put_states(const native_form *f, native_text *t, bool load)
{
  for (int s = 0; s < f->access->n_states; s++) {
    const char *type = native_type(f->access->state[s].dtype);
    if (load) {
      native_put(t, "  %s z%d = *(const %s *)(w->cells + %d * w->points * 8);\n", type, s, type, s);
    } else {
      native_put(t, "  *(%s *)(w->cells + %d * w->points * 8) = z%d;\n", type, s, s);
    }
  }
}

/* What an iteration of MAP, SCAN or STRIP leaves. */
static void put_effect(const native_writer *w)
{
  const weir_access *a = w->form->access;

  if (w->form->shape == NATIVE_STRIP) {
    native_put_step(w, "a", "x", w->rows ? "w->at + line" : "w->at");
    return;
  }
  for (int v = 0; v < a->n_values; v++) {
    native_put(w->t, "    ");
    native_put_address(w, native_output(a, v));
    native_put(w->t, w->border ? " = here ? v%d : 0;\n" : " = v%d;\n", a->value[v]);
  }
  for (int s = 0; s < a->n_states; s++) {
    const int32_t next = a->state[s].next;
    native_put(w->t,
               w->border ? "    const %s n%d = here ? v%d : z%d;\n" : "    const %s n%d = v%d;\n",
               native_type(a->state[s].dtype), s, next, s);
  }
  for (int s = 0; s < a->n_states; s++) {
    native_put(w->t, "    z%d = n%d;\n", s, s);
  }
}

/* The lane of the row's reduced iteration: a<c>. */
static void put_lane(const native_writer *w)
{
  const native_form *f = w->form;

  for (int c = 0; c < f->components; c++) {
    native_put(w->t, "  %s *const a%d = (%s *)(void *)w->acc[%d] + ((w->at%s) & 15) * w->wide;\n",
               native_type(f->component[c]), c, native_type(f->component[c]), c,
               w->rows ? " + line" : "");
  }
}

static void put_row(const native_writer *w, int32_t k)
{
  const native_form *f = w->form;
  native_text *t = w->t;
  native_writer rest = *w;
  const bool apart = !w->border && (f->shape == NATIVE_MAP || f->shape == NATIVE_STRIP);

  native_put(t,
             w->border ? "static NATIVE_COLD void border_%d(const native_row *w)\n{\n"
                         "  const int unit = 0;\n  const int64_t n = w->n;\n"
                       : "static NATIVE_INLINE void row_%d(const native_row *w, const int unit, "
                         "const int even, const int64_t n)\n{\n",
             k);
  native_put(t, w->rows ? "  for (int64_t line = 0, m = w->m; line < m; line++) {\n" : "");
  native_put_head(w);
  if (f->shape == NATIVE_STRIP) {
    put_lane(w);
  } else if (f->shape == NATIVE_LANES) {
    put_accumulators(f, t, "w->acc", "a");
  }
  put_states(f, t, true);
  if (apart) {
    rest.subset = NATIVE_SAME;
    native_put_loads(&rest);
    native_put_body(&rest);
    rest.subset = NATIVE_MOVING;
  }
  native_put(t, "%s  for (int64_t x = 0; x < n; x++) {\n",
             f->shape == NATIVE_SCAN || f->shape == NATIVE_LANES    ? ""
             : f->exact > 0 && f->shape == NATIVE_MAP && !w->border ? "  NATIVE_SHORT\n"
                                                                    : "  NATIVE_INDEPENDENT\n");
  native_put_loads(&rest);
  native_put_body(&rest);
  if (f->shape == NATIVE_LANES) {
    native_put_step(w, "a", "(w->at + x) & 15", "w->at + x");
  } else {
    put_effect(w);
  }
  native_put(t, w->rows ? "  }\n  }\n" : "  }\n");
  put_states(f, t, false);
  native_put(t, "}\n");
}

/* LANES inside: whole blocks of 16 in registers where the steps are 1; incomplete blocks, and
 * blocks of other steps, lane by lane. */
static void put_lanes(const native_writer *w, int32_t k)
{
  const native_form *f = w->form;
  native_text *t = w->t;

  native_put(t,
             "static NATIVE_INLINE void block_%d(const native_row *w, const int unit, "
             "const int64_t first, const int from, const int to, char *const *acc)\n{\n",
             k);
  native_put_head(w);
  put_accumulators(f, t, "acc", "a");
  native_put(t, "  NATIVE_INDEPENDENT\n  for (int j = from; j < to; j++) {\n"
                "    const int64_t x = first + j;\n");
  native_put_loads(w);
  native_put_body(w);
  native_put_step(w, "a", "j", "w->at + x");
  native_put(t, "  }\n}\n");
  native_put(t,
             "static NATIVE_COLD void short_%d(const native_row *w, const int64_t first, "
             "const int from, const int to)\n{\n  block_%d(w, 0, first, from, to, w->acc);\n}\n"
             "static NATIVE_INLINE void row_%d(const native_row *w, const int unit, "
             "const int even, const int64_t n)\n{\n"
             "  const int lane = (int)(w->at & 15);\n"
             "  int64_t x = 0;\n"
             "  if (lane != 0) {\n"
             "    const int to = n < 16 - lane ? lane + (int)n : 16;\n"
             "    short_%d(w, -lane, lane, to);\n"
             "    x = to - lane;\n"
             "  }\n"
             "  if (unit) {\n",
             k, k, k, k);
  for (int c = 0; c < f->components; c++) {
    native_put(t, "    %s b%d[16];\n    __builtin_memcpy(b%d, w->acc[%d], sizeof b%d);\n",
               native_type(f->component[c]), c, c, c, c);
  }
  native_put(t, "    char *const acc[3] = {");
  for (int c = 0; c < f->components; c++) {
    native_put(t, "(char *)b%d, ", c);
  }
  native_put(t,
             "};\n"
             "    for (; x + 16 <= n; x += 16) {\n"
             "      block_%d(w, 1, x, 0, 16, acc);\n"
             "    }\n",
             k);
  for (int c = 0; c < f->components; c++) {
    native_put(t, "    __builtin_memcpy(w->acc[%d], b%d, sizeof b%d);\n", c, c, c);
  }
  native_put(t,
             "  }\n"
             "  for (; x < n; x += 16) {\n"
             "    short_%d(w, x, 0, n - x < 16 ? (int)(n - x) : 16);\n"
             "  }\n}\n",
             k);
}

static void put_variant(native_text *t, const char *variant, int32_t k, const char *args)
{
  native_put(t,
             "static NATIVE_APART void %s_%d(const native_row *w)\n{\n  row_%d(w, %s, w->n);\n}\n",
             variant, k, k, args);
}

void native_put_kernel(const native_form *f, int32_t k, native_text *t)
{
  const native_writer inside = {.t = t, .form = f};
  const native_writer border = {.t = t, .form = f, .border = true};
  const native_writer rows = {.t = t, .form = f, .rows = f->second >= 0};

  if (f->shape == NATIVE_LANES) {
    put_lanes(&inside, k);
  } else {
    put_row(&rows, k);
  }
  put_row(&border, k);
  native_put(t, "static NATIVE_APART void unit_%d(const native_row *w)\n{\n", k);
  if (f->exact > 0) {
    native_put(t, "  if (w->n == %d) {\n    row_%d(w, 1, 0, %d);\n    return;\n  }\n", f->exact, k,
               f->exact);
  }
  native_put(t, "  row_%d(w, 1, 0, w->n);\n}\n", k);
  if (f->strides) {
    put_variant(t, "strided", k, "0, 0");
  }
  if (f->has_upsampled) {
    put_variant(t, "even", k, "1, 1");
  }
  if (f->components > 0) {
    put_finish(f, k, t);
  }
  if (f->small > 0) {
    put_small(&inside, k);
  }
  if (f->nest) {
    native_put_nest(f, k, t);
  }
}

void native_put_entry(const native_form *f, int32_t k, native_text *t)
{
  native_put(t, "  {unit_%d, %s_%d, ", k, f->strides ? "strided" : "border", k);
  native_put(t, f->has_upsampled ? "even_%d, " : "0, ", k);
  native_put(t, "border_%d, ", k);
  if (f->components > 0) {
    native_put(t, "neutral_");
    put_monoid_name(f, t);
    native_put(t, ", merge_");
    put_monoid_name(f, t);
    native_put(t, ", finish_%d, ", k);
  } else {
    native_put(t, "0, 0, 0, ");
  }
  native_put(t, f->small > 0 ? "small_%d, " : "0, ", k);
  native_put(t, f->nest ? "nest_%d},\n" : "0},\n", k);
}

void native_put_prelude(native_text *t)
{
  native_put(t, "#define WEIR_SCALAR_FREESTANDING\n");
  for (int i = 0; native_prelude[i] != NULL; i++) {
    native_put(t, "%s", native_prelude[i]);
  }
  native_put(t, "#define INT64_C_(c) ((int64_t)c##ll)\n"
                "#define NATIVE_INLINE inline __attribute__((always_inline))\n"
                "#define NATIVE_APART __attribute__((noinline))\n"
                "#define NATIVE_COLD __attribute__((noinline, cold))\n"
                "#ifdef __clang__\n"
                "#define NATIVE_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")\n"
                "#define NATIVE_SHORT NATIVE_INDEPENDENT\n"
                "#else\n"
                "#define NATIVE_SHORT _Pragma(\"omp simd\")\n" /* whatever gcc thinks it costs */
                "#define NATIVE_INDEPENDENT _Pragma(\"GCC ivdep\")\n"
                "#endif\n");
}
