/* backend_map.c - a map as a kernel: a thread has the iterations that the layout's mapping gives
 * it, in loops around what depends on them. */
#include <inttypes.h>

#include "exec/backend/device/backend.h"

/* Position among all iterations, row-major, for random bits. */
static void put_position(const weir_access *a, native_text *t)
{
  native_put(t, "    const int64_t point = 0");
  for (int k = 0; k < a->n_dims; k++) {
    int64_t weight = 1;

    for (int j = k + 1; j < a->n_dims; j++) {
      weight *= exec_extent(a, j);
    }
    native_put(t, " + (i%d - INT64_C_(%" PRId64 ")) * %" PRId64, k, a->dim[k].lo, weight);
  }
  native_put(t, ";\n");
}

/* Whether operand k of all is of the dtype, and has a vector, or else a pair. */
static bool has(const native_writer *w, int k, weir_dtype dtype, bool pair)
{
  const weir_access *a = w->form->access;
  const weir_operand *x = k < a->n_in ? &a->in[k] : &a->out[k - a->n_in];
  const native_place *p = k < a->n_in ? &w->in[k] : &w->out[k - a->n_in];

  return x->dtype == dtype && (pair ? p->pair : p->wide > 1);
}

void exec_emit_vectors(const native_writer *w, const exec_layout *l)
{
  const weir_access *a = w->form->access;

  for (int d = 0; d < WEIR_DTYPE_COUNT; d++) {
    for (int pair = 0; pair < 2; pair++) {
      const weir_dtype dtype = (weir_dtype)d;
      bool any = false;

      for (int k = 0; k < a->n_in + a->n_out; k++) {
        any = any || has(w, k, dtype, pair == 1);
      }
      if (any) {
        const int n = pair == 1 ? 2 : l->wide;

        native_put(w->t, "typedef struct __attribute__((aligned(%d))) {\n  %s e[%d];\n} ",
                   exec_access_bytes(dtype, n), native_type(dtype), n);
        (pair == 1 ? native_put_pair : native_put_vector)(w->t, dtype);
        native_put(w->t, ";\n");
      }
    }
  }
}

/* Values v and v + 1, the parts of output o. */
static void put_store_pair(const native_writer *w, int v, int o)
{
  const weir_access *a = w->form->access;

  native_put(w->t, "    ");
  native_put_pair(w->t, a->out[o].dtype);
  native_put(w->t, " w%d;\n    w%d.e[0] = here ? v%d : 0;\n    w%d.e[1] = here ? v%d : 0;\n    ", o,
             o, a->value[v], o, a->value[v + 1]);
  native_put_address(w, o);
  native_put(w->t, " = w%d;\n", o);
}

void exec_emit_stores(const native_writer *w)
{
  const weir_access *a = w->form->access;

  for (int v = 0; v < a->n_values; v++) {
    const int o = native_output(a, v);

    if (w->out[o].pair) {
      put_store_pair(w, v++, o);
      continue;
    }
    native_put(w->t, "    ");
    if (w->out[o].wide > 1) {
      native_put(w->t, "w%d.e[x]", o);
    } else {
      native_put_address(w, o);
    }
    native_put(w->t, " = here ? v%d : 0;\n", a->value[v]);
  }
}

/* Vectors of outputs, around the loop over their elements; then their stores. */
static void put_wide(const native_writer *w, bool stores)
{
  const weir_access *a = w->form->access;

  for (int o = 0; o < a->n_out; o++) {
    if (w->out[o].wide <= 1) {
      continue;
    }
    native_put(w->t, "    ");
    if (stores) {
      native_put_address(w, o);
      native_put(w->t, " = w%d;\n", o);
    } else {
      native_put_vector(w->t, a->out[o].dtype);
      native_put(w->t, " w%d;\n", o);
    }
  }
}

static bool is_wide(const exec_layout *l, int level)
{
  return l->wide > 1 && level + 1 == l->n_repeats;
}

/* The loop inside `level` others, from what precedes it there on; x: over elements of vectors. */
static void open_loop(const native_writer *w, const exec_layout *l, int level)
{
  const exec_repeated *r = &l->repeat[level];
  const char *x = is_wide(l, level) ? "x" : "r";

  if (is_wide(l, level)) {
    put_wide(w, false);
  }
  native_put(w->t,
             "    const int here%d = here;\n    %sfor (int %s = 0; %s < %d; %s++) {\n"
             "    const __typeof__(b%d) i%d = b%d + %s;\n",
             level, is_wide(l, level) ? "EXEC_UNROLL\n    " : "", x, x, r->n, x, r->dim, r->dim,
             r->dim, x);
}

static void close_loop(const native_writer *w, const exec_layout *l, int level)
{
  native_put(w->t, "    }\n");
  if (is_wide(l, level)) {
    put_wide(w, true);
  }
}

void exec_emit_map(const native_writer *w, const exec_layout *l)
{
  const weir_access *a = w->form->access;
  const int64_t workers = exec_mapping_workers(&l->parallel);
  const char *type = exec_number_type(workers);
  native_writer levels = *w;

  levels.levels = l->n_repeats;
  native_put(w->t,
             "  const %s worker = (%s)blockIdx.x * %d + (int)threadIdx.x;\n"
             "  if (worker < INT64_C_(%" PRId64 ")) {\n",
             type, type, l->threads, workers);
  exec_emit_first(a, WEIR_PARALLEL, &l->parallel, "worker", w->t);
  for (int r = 0; r < l->n_repeats; r++) {
    native_put(w->t, "    const __typeof__(i%d) b%d = i%d;\n", l->repeat[r].dim, l->repeat[r].dim,
               l->repeat[r].dim);
  }
  for (; levels.level < l->n_repeats; levels.level++) {
    native_put_loads(&levels);
    open_loop(&levels, l, levels.level);
  }
  native_put_loads(&levels);
  if (weir_body_uses(&a->body, WEIR_CODE_RANDOM)) {
    put_position(a, w->t);
  }
  native_put_body(&levels);
  exec_emit_stores(&levels);
  for (int level = l->n_repeats - 1; level >= 0; level--) {
    close_loop(&levels, l, level);
  }
  native_put(w->t, "  }\n");
}
