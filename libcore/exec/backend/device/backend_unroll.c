/* backend_unroll.c - reductions of few iterations, such as interpolations: a thread has all of them
 * for a few points, in straight-line text, where every index is a variable part, the same for all
 * of the thread, and a constant. What several of them load is loaded once and kept in registers.
 *
 * The order is that of weir_engine.h: every iteration is a lane, and lanes merge in its tree. */
#include <inttypes.h>
#include <string.h>

#include "exec/backend/device/backend.h"

/* Threads of a block; different loads of a thread. */
enum { THREADS = 128, MAX_LOADS = 64 };
/* Of what a thread loads and stores: it is not alive all at once, and kernels of so much were
 * compiled for 64 registers, with which a multiprocessor has half of its threads. */
enum { MAX_BYTES = 320 };
static const int columns[] = {1, 2, 4}, rows[] = {1, 2, 3, 4};

/* Input k at iterations whose indices have these constants. */
typedef struct load {
  int k;
  int64_t at[WEIR_MAX_RANK];
  int64_t task[WEIR_MAX_DIMS]; /* one such iteration, counted from the thread's first */
} load;

typedef struct loads {
  load of[MAX_LOADS];
  int n;
} loads;

/* Repeated dimension r of a thread, where it has one: 0 the rows, 1 elements of vectors. */
static const exec_repeated *repeated(const exec_layout *l, bool vector)
{
  const int r = vector ? l->n_repeats - 1 : 0;
  const bool is = vector ? l->wide > 1 : l->n_repeats > (l->wide > 1);

  return is ? &l->repeat[r] : NULL;
}

static int count_of(const exec_repeated *r)
{
  return r == NULL ? 1 : r->n;
}

/* How far a thread's iteration of row `row` and reduced number `nth` lies from its first one. */
static void task_of(const exec_layout *l, int row, int64_t nth, int64_t *task)
{
  exec_mapping_task(&l->sequence, nth, 0, task);
  if (repeated(l, false) != NULL) {
    task[repeated(l, false)->dim] += row;
  }
}

/* The constant part of an index: of the numerator, or of the quotient where the variable part is a
 * multiple of the divisor. */
static int64_t constant_of(const weir_access *a, const exec_layout *l, const weir_index *x,
                           const int64_t *task)
{
  const exec_repeated *row = repeated(l, false);
  const int64_t div = weir_index_divisor(x);
  int64_t sum = x->offset;
  bool divides = true;

  for (int k = 0; k < a->n_dims; k++) {
    const bool fixed = a->dim[k].kind == WEIR_REDUCED;
    const int64_t step = row != NULL && row->dim == k ? x->coef[k] * row->n : x->coef[k];

    sum += x->coef[k] * (a->dim[k].lo + task[k]);
    divides = divides && (fixed || step % div == 0);
  }
  return divides ? weir_floor_div(sum, div) : sum;
}

/* The load of input k for that iteration, added where there is none; -1: too many. */
static int find_load(const weir_access *a, const exec_layout *l, int k, const int64_t *task,
                     loads *all)
{
  load now = {.k = k};

  memcpy(now.task, task, sizeof now.task);
  for (int d = 0; d < a->in[k].rank; d++) {
    now.at[d] = constant_of(a, l, &a->in[k].index[d], task);
  }
  for (int i = 0; i < all->n; i++) {
    if (all->of[i].k == k && memcmp(all->of[i].at, now.at, sizeof now.at) == 0) {
      return i;
    }
  }
  if (all->n == MAX_LOADS) {
    return -1;
  }
  all->of[all->n] = now;
  return all->n++;
}

static bool find_loads(const weir_access *a, const exec_layout *l, loads *all)
{
  bool found = true;

  all->n = 0;
  for (int row = 0; row < count_of(repeated(l, false)); row++) {
    for (int64_t nth = 0; nth < l->reduced; nth++) {
      int64_t task[WEIR_MAX_DIMS] = {0};

      task_of(l, row, nth, task);
      for (int k = 0; k < a->n_in; k++) {
        found = found && find_load(a, l, k, task, all) >= 0;
      }
    }
  }
  return found;
}

int64_t exec_unrolled_bytes(const weir_access *a, const exec_layout *l, const exec_places *s)
{
  const int64_t points = count_of(repeated(l, false)) * (int64_t)l->wide;
  int64_t bytes = points * (int64_t)weir_dtype_size(a->out[0].dtype);
  loads all;

  (void)find_loads(a, l, &all);
  for (int i = 0; i < all.n; i++) {
    const int k = all.of[i].k;

    bytes += s->in[k].wide * (int64_t)weir_dtype_size(a->in[k].dtype);
  }
  return bytes;
}

/* ---- Layout. ---- */

static bool is_unrollable(const native_form *f, const exec_layout *l)
{
  const weir_access *a = f->access;
  bool is = f->shape != NATIVE_MAP && !l->boxed && l->points > 0 && l->reduced >= 1 &&
            l->reduced <= WEIR_LANES && f->components == 1 && a->n_out == 1 && a->n_values == 1 &&
            a->combine < WEIR_COMBINE_ARGMAX && !weir_body_uses(&a->body, WEIR_CODE_RANDOM);

  for (int k = 0; k < a->n_in; k++) {
    is = is && a->in[k].role == WEIR_ROLE_DATA;
    for (int d = 0; d < a->in[k].rank; d++) {
      is = is && a->in[k].index[d].gather == 0;
    }
  }
  return is;
}

/* Constants and vectors are only for operands that 32 bits prove, and that do not change within a
 * vector. */
static bool fits(const weir_access *a, const exec_layout *l, const exec_places *s)
{
  const exec_repeated *vector = repeated(l, true);
  bool all = true;

  for (int k = 0; k < a->n_in + a->n_out; k++) {
    const weir_operand *x = k < a->n_in ? &a->in[k] : &a->out[k - a->n_in];
    const native_place *p = k < a->n_in ? &s->in[k] : &s->out[k - a->n_in];
    bool moves = false;

    for (int d = 0; d < x->rank && vector != NULL; d++) {
      moves = moves || x->index[d].coef[vector->dim] != 0;
    }
    all = all && p->narrow && !p->pair && (!moves || p->wide > 1);
  }
  return all;
}

/* Accesses to memory of a thread. */
static int64_t accesses_of(const weir_access *a, const exec_layout *l, const exec_places *s)
{
  const int64_t stored = (int64_t)weir_dtype_size(a->out[0].dtype) * s->out[0].wide;
  int64_t n = exec_mapping_repeats(&l->parallel) / s->out[0].wide *
              (stored / exec_access_bytes(a->out[0].dtype, s->out[0].wide));
  loads all;

  (void)find_loads(a, l, &all);
  for (int i = 0; i < all.n; i++) {
    const weir_dtype dtype = a->in[all.of[i].k].dtype;
    const int wide = s->in[all.of[i].k].wide;

    n += wide * (int64_t)weir_dtype_size(dtype) / exec_access_bytes(dtype, wide);
  }
  return n;
}

/* The layout with n iterations of `dim` and vectors along the last parallel dimension. */
static bool spread(const weir_access *a, int dim, int n, int last, int wide, exec_layout *l)
{
  int64_t outer[WEIR_MAX_DIMS], inner[WEIR_MAX_DIMS];

  for (int k = 0; k < a->n_dims; k++) {
    const int each = (k == dim ? n : 1) * (k == last ? wide : 1);

    outer[k] = a->dim[k].kind == WEIR_PARALLEL ? exec_extent(a, k) : 1;
    inner[k] = each;
    if (outer[k] % each != 0) {
      return false;
    }
    outer[k] /= each;
  }
  l->unrolled = true;
  l->wide = wide;
  l->n_repeats = 0;
  if (n > 1) {
    l->repeat[l->n_repeats++] = (exec_repeated){dim, n};
  }
  if (wide > 1) {
    l->repeat[l->n_repeats++] = (exec_repeated){last, wide};
  }
  const exec_mapping workers = exec_spatial(a->n_dims, outer), each = exec_repeat(a->n_dims, inner);

  l->parallel = exec_compose(&workers, &each);
  l->threads = THREADS;
  l->blocks = (exec_mapping_workers(&workers) - 1) / THREADS + 1;
  return true;
}

/* Takes the layout if it has fewer accesses an iteration. */
static void try_layout(const weir_access *a, int64_t enough, const exec_layout *next,
                       exec_layout *best)
{
  exec_places s;
  loads all;

  exec_places_of(a, next, &s);
  if (next->blocks < enough || !fits(a, next, &s) || !find_loads(a, next, &all) ||
      exec_unrolled_bytes(a, next, &s) > MAX_BYTES) {
    return;
  }
  const int64_t n = exec_mapping_repeats(&next->parallel), accesses = accesses_of(a, next, &s);

  if (best->unrolled) {
    exec_places_of(a, best, &s);
    if (accesses * exec_mapping_repeats(&best->parallel) >= accesses_of(a, best, &s) * n) {
      return;
    }
  }
  *best = *next;
}

void exec_layout_unroll(const native_form *f, int64_t enough, exec_layout *l)
{
  const weir_access *a = f->access;
  const exec_layout one = *l;
  int last = a->n_dims - 1;

  if (!is_unrollable(f, l)) {
    return;
  }
  while (last > 0 && (a->dim[last].kind != WEIR_PARALLEL || exec_extent(a, last) <= 1)) {
    last--;
  }
  for (int dim = 0; dim < last || dim == 0; dim++) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        exec_layout next = one;

        if (spread(a, dim, dim < last ? rows[r] : 1, last, columns[c], &next)) {
          try_layout(a, enough, &next, l);
        }
      }
    }
  }
}

/* ---- Text. ---- */

/* i<k> of reduced dimensions, of rows, of elements of vectors. */
static void put_iteration(const weir_access *a, const exec_layout *l, const int64_t *task,
                          const char *x, native_text *t)
{
  const exec_repeated *row = repeated(l, false), *vector = repeated(l, true);

  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED) {
      native_put(t, "    const int32_t i%d = %" PRId64 ";\n", k, a->dim[k].lo + task[k]);
    } else if (row != NULL && row->dim == k) {
      native_put(t, "    const __typeof__(b%d) i%d = b%d + %" PRId64 ";\n", k, k, k, task[k]);
    } else if (vector != NULL && vector->dim == k) {
      native_put(t, "    const __typeof__(b%d) i%d = b%d + %s;\n", k, k, k, x);
    }
  }
}

/* q<i>, and in<i>: whether the iteration happens. */
static void put_load(const native_writer *w, const exec_layout *l, const load *o, int i)
{
  const weir_access *a = w->form->access;
  const bool wide = w->in[o->k].wide > 1;
  native_place in[WEIR_MAX_OPERANDS];
  native_writer one = *w;

  memcpy(in, w->in, sizeof in);
  for (int k = 0; k < a->n_in; k++) {
    in[k].level = k == o->k ? 0 : 1; /* this one alone */
  }
  one.in = in;
  one.levels = 2;
  native_put(w->t, "    ");
  if (wide) {
    native_put_vector(w->t, a->in[o->k].dtype);
  } else {
    native_put(w->t, "%s", native_type(a->in[o->k].dtype));
  }
  native_put(w->t, " q%d;\n    int in%d;\n    {\n", i, i);
  put_iteration(a, l, o->task, "0", w->t);
  native_put_loads(&one);
  native_put(w->t, "    q%d = %s%d;\n    in%d = here;\n    }\n", i, wide ? "u" : "l", o->k, i);
}

/* What a thread's text is written from. */
typedef struct unrolled {
  const native_writer *w;
  const exec_layout *l;
  loads all;
  int row;
} unrolled;

/* a[lane] of the iteration that is this lane. */
static void put_lane(unrolled *u, int lane)
{
  const native_writer *w = u->w;
  const weir_access *a = w->form->access;
  int64_t task[WEIR_MAX_DIMS] = {0};
  int number[WEIR_MAX_OPERANDS];
  char at[16];

  (void)snprintf(at, sizeof at, "%d", lane);
  task_of(u->l, u->row, lane, task);
  native_put(w->t, "    {\n");
  put_iteration(a, u->l, task, "x", w->t);
  native_put(w->t, "    const int here = 1");
  for (int k = 0; k < a->n_in; k++) {
    number[k] = find_load(a, u->l, k, task, &u->all);
    native_put(w->t, " & in%d", number[k]);
  }
  native_put(w->t, ";\n");
  for (int k = 0; k < a->n_in; k++) {
    native_put(w->t, "    const %s l%d = q%d%s;\n", native_type(a->in[k].dtype), k, number[k],
               w->in[k].wide > 1 ? ".e[x]" : "");
  }
  native_put_neutral(w->form, w->t, at);
  native_put_body(w);
  native_put_step(w, "a", at, at);
  native_put(w->t, "    }\n");
}

/* a[lane], merged with lanes that lie `step` and its multiples apart, in the order of the tree. */
static void put_tree(unrolled *u, int lane, int step)
{
  char left[16], right[16];

  if (step == WEIR_LANES) {
    put_lane(u, lane);
    return;
  }
  put_tree(u, lane, 2 * step);
  if (lane + step < u->w->form->lanes) {
    put_tree(u, lane + step, 2 * step);
    (void)snprintf(left, sizeof left, "%d", lane);
    (void)snprintf(right, sizeof right, "%d", lane + step);
    native_put(u->w->t, "    {\n");
    native_put_merge(u->w->form, u->w->t, left, "a", right);
    native_put(u->w->t, "    }\n");
  }
}

/* Points of a row: vectors of results, stored at once. */
static void put_row(unrolled *u)
{
  const native_writer *w = u->w;
  const weir_access *a = w->form->access;
  const bool wide = w->out[0].wide > 1;
  const char *dtype = weir_dtype_name(a->out[0].dtype);
  int64_t task[WEIR_MAX_DIMS] = {0};

  task_of(u->l, u->row, 0, task);
  native_put(w->t, "    {\n    ");
  if (wide) {
    native_put_vector(w->t, a->out[0].dtype);
  } else {
    native_put(w->t, "%s", native_type(a->out[0].dtype));
  }
  native_put(w->t, " w0;\n    EXEC_UNROLL\n    for (int x = 0; x < %d; x++) {\n    %s a0[%d];\n",
             u->l->wide, native_type(w->form->component[0]), WEIR_LANES);
  put_tree(u, 0, 1);
  native_put(w->t, "    w0%s = weir_%s_from_%s(a0[0]);\n    }\n", wide ? ".e[x]" : "", dtype,
             weir_dtype_name(w->form->component[0]));
  put_iteration(a, u->l, task, "0", w->t);
  native_put(w->t, "    ");
  native_put_address(w, 0);
  native_put(w->t, " = w0;\n    }\n");
}

void exec_emit_unrolled(const native_writer *w, const exec_layout *l)
{
  const weir_access *a = w->form->access;
  const int64_t workers = exec_mapping_workers(&l->parallel);
  const char *type = exec_number_type(workers);
  unrolled u = {.w = w, .l = l};

  native_put(w->t,
             "  const %s worker = (%s)blockIdx.x * %d + (int)threadIdx.x;\n"
             "  if (worker < INT64_C_(%" PRId64 ")) {\n",
             type, type, l->threads, workers);
  exec_emit_first(a, WEIR_PARALLEL, &l->parallel, "worker", w->t);
  for (int r = 0; r < l->n_repeats; r++) {
    native_put(w->t, "    const __typeof__(i%d) b%d = i%d;\n", l->repeat[r].dim, l->repeat[r].dim,
               l->repeat[r].dim);
  }
  (void)find_loads(a, l, &u.all);
  for (int i = 0; i < u.all.n; i++) {
    put_load(w, l, &u.all.of[i], i);
  }
  for (; u.row < count_of(repeated(l, false)); u.row++) {
    put_row(&u);
  }
  native_put(w->t, "  }\n");
}
