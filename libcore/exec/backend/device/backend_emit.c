/* backend_emit.c - a loop as a kernel for a device: a map has an iteration a thread, a reduction a
 * lane of a reduction block a thread, in the order of weir_engine.h. Where a device would have too
 * few thread blocks, the reduction blocks of a point are divided into chunks of a power of two,
 * each a subtree of that order, and a second kernel merges what they give. */
#include <inttypes.h>

#include "exec/backend/device/backend.h"
#include "exec/backend/device/backend_kernel.h" /* so that it compiles here before it does there */

/* Text of backend_kernel.h, made by the build. */
extern const char *const exec_backend_prelude[];

/* Type of numbers up to n, some of which a thread after the last one may exceed. */
const char *exec_number_type(int64_t n)
{
  return n <= INT32_MAX / 2 ? "int32_t" : "int64_t";
}

/* Type of the number of a point. */
static const char *point_type(const exec_layout *l)
{
  return l->boxed ? "int64_t" : exec_number_type(l->points);
}

/* i<k> of the dimensions of a kind, the first of those that the mapping gives to worker `number`.
 */
void exec_emit_first(const weir_access *a, weir_dim_kind kind, const exec_mapping *m,
                     const char *number, native_text *t)
{
  exec_mapping_put_digits(m, number, t);
  for (int k = 0; k < a->n_dims; k++) {
    const bool small = a->dim[k].lo >= INT32_MIN && a->dim[k].hi <= INT32_MAX;

    if (a->dim[k].kind == kind) {
      native_put(t, "    const %s i%d = ", small ? "int32_t" : "int64_t", k);
      exec_mapping_put_first(m, k, t);
      native_put(t, " + INT64_C_(%" PRId64 ");\n", a->dim[k].lo);
    }
  }
}

/* Likewise of the parallel dimensions, and whether the thread has a point. */
static void put_point(const weir_access *a, const exec_layout *l, const exec_places *s,
                      native_text *t)
{
  int word = s->points;

  if (!l->boxed) {
    exec_emit_first(a, WEIR_PARALLEL, &l->parallel, "point", t);
    native_put(t, "  const bool live = point < INT64_C_(%" PRId64 ");\n", l->points);
    return;
  }
  native_put(t, "  const bool live = point < p.word[%d];\n  int64_t left = point;\n", word);
  for (int k = a->n_dims - 1; k >= 0; k--) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      word -= 2;
      native_put(t,
                 "  const int64_t i%d = p.word[%d] + left %% p.word[%d];\n  left /= p.word[%d];\n",
                 k, word, word + 1, word + 1);
    }
  }
  native_put(t, "  (void)left;\n");
}

/* A point a thread. */
static void put_thread_point(const exec_layout *l, int threads, native_text *t)
{
  native_put(t, "  const %s point = (%s)blockIdx.x * %d + (int)threadIdx.x;\n", point_type(l),
             point_type(l), threads);
}

/* Of a stream: an iteration a thread. */
static void put_boxed_map(const native_writer *w, const exec_layout *l, const exec_places *s)
{
  put_thread_point(l, l->threads, w->t);
  put_point(w->form->access, l, s, w->t);
  native_put(w->t, "  if (live) {\n");
  native_put_loads(w);
  native_put_body(w);
  exec_emit_stores(w);
  native_put(w->t, "  }\n");
}

/* ---- Reductions. ---- */

/* Arrays <name>0.. of the components of a partial result. */
static void put_arrays(const native_form *f, const char *prefix, const char *name, int64_t n,
                       native_text *t)
{
  for (int c = 0; c < f->components; c++) {
    native_put(t, "  %s%s %s%d[%" PRId64 "];\n", prefix, native_type(f->component[c]), name, c, n);
  }
}

static void put_copy(const native_form *f, const char *to, const char *i, const char *from,
                     const char *j, native_text *t)
{
  for (int c = 0; c < f->components; c++) {
    native_put(t, "    %s%d[%s] = %s%d[%s];\n", to, c, i, from, c, j);
  }
}

/* a[0] = merge(a[0], shared[right]); the caller has opened a block. */
static void put_merge(const native_form *f, const char *from, const char *right, native_text *t)
{
  native_put(t, "    {\n");
  native_put_merge(f, t, "0", from, right);
  native_put(t, "    }\n");
}

/* a[0] of lane 0 from the lanes of its reduction block, which lie in s. */
static void put_lanes(const native_form *f, const exec_layout *l, native_text *t)
{
  int active = f->lanes;

  for (int half = WEIR_LANES / 2; half > 0; half /= 2) {
    if (active > half) {
      native_put(t, "    if (lane < %d) {\n", active - half);
      native_put(t, "    const int other = slot + %d;\n", half);
      put_merge(f, "s", "other", t);
      put_copy(f, "s", "slot", "a", "0", t);
      native_put(t, "    }\n    __syncthreads();\n");
      active = half;
    }
  }
  for (int step = 1; step < l->at_once; step *= 2) { /* adjacent blocks, an odd last one stays */
    native_put(t,
               "    if (lane == 0 && sub %% %d == 0 && sub + %d < taken) {\n"
               "    const int other = slot + %d;\n",
               2 * step, step, step * l->lanes * l->outputs);
    put_merge(f, "s", "other", t);
    put_copy(f, "s", "slot", "a", "0", t);
    native_put(t, "    }\n    __syncthreads();\n");
  }
}

/* Puts a[0], the result that has that number, on the tree over finished ones: c[0..depth). */
static void put_insert(const native_form *f, native_text *t)
{
  put_copy(f, "c", "depth", "a", "0", t);
  native_put(t, "    depth++;\n    for (; (number & 1) != 0; number /= 2) {\n    depth--;\n");
  put_copy(f, "a", "0", "c", "depth - 1", t);
  put_merge(f, "c", "depth", t);
  put_copy(f, "c", "depth - 1", "a", "0", t);
  native_put(t, "    }\n");
}

/* a[0] of the whole tree. */
static void put_collapse(const native_form *f, native_text *t)
{
  native_put(t, "    for (; depth > 1; depth--) {\n");
  put_copy(f, "a", "0", "c", "depth - 2", t);
  put_merge(f, "c", "depth - 1", t);
  put_copy(f, "c", "depth - 2", "a", "0", t);
  native_put(t, "    }\n");
  put_copy(f, "a", "0", "c", "0", t);
}

static void put_push(const native_form *f, const exec_layout *l, native_text *t)
{
  native_put(t, "    if (lane == 0 && sub == 0) {\n    int64_t number = (first - begin) / %d;\n",
             l->at_once);
  put_insert(f, t);
  native_put(t, "    }\n");
}

/* One lane of a reduction block: a[0]. */
static void put_reduce_block(const native_writer *w, const exec_layout *l)
{
  native_text *t = w->t;

  const char *type = exec_number_type(l->reduced);

  native_put_neutral(w->form, t, "0");
  native_put(t,
             "    const %s rblock = first + sub;\n"
             "    const %s last = rblock + 1 < INT64_C_(%" PRId64
             ") ? (rblock + 1) * %d : INT64_C_(%" PRId64 ");\n"
             "    for (%s nth = live ? rblock * %d + lane : last; nth < last; nth += %d) {\n",
             type, type, l->reduce_blocks, WEIR_REDUCE_BLOCK, l->reduced, type, WEIR_REDUCE_BLOCK,
             WEIR_LANES);
  exec_emit_first(w->form->access, WEIR_REDUCED, &l->sequence, "nth", t);
  native_put_loads(w);
  native_put_body(w);
  native_put_step(w, "a", "0", "nth");
  native_put(t, "    }\n");
}

static void put_threads(const native_form *f, const exec_layout *l, native_text *t)
{
  const char *reduced = exec_number_type(l->reduced), *points = point_type(l);
  const bool strip = f->shape == NATIVE_STRIP; /* neighbouring threads read neighbouring elements */

  native_put(t, "  const int thread = threadIdx.x, sub = thread / %d;\n", l->lanes * l->outputs);
  native_put(t,
             strip ? "  const int output = thread %% %d, lane = thread / %d %% %d;\n"
                   : "  const int lane = thread %% %d, output = thread / %d %% %d;\n",
             strip ? l->outputs : l->lanes, strip ? l->outputs : l->lanes,
             strip ? l->lanes : l->outputs);
  native_put(t,
             "  const int slot = (sub * %d + output) * %d + lane;\n  (void)slot;\n"
             "  const %s begin = (%s)(blockIdx.x %% %" PRId64 ") * %" PRId64
             ", stop = begin + %" PRId64 ";\n"
             "  const %s end = stop < %" PRId64 " ? stop : %" PRId64 ";\n"
             "  const %s point = (%s)(blockIdx.x / %" PRId64 ") * %d + output;\n",
             l->outputs, l->lanes, reduced, reduced, l->chunks, l->chunk_blocks, l->chunk_blocks,
             reduced, l->reduce_blocks, l->reduce_blocks, points, points, l->chunks, l->outputs);
}

/* Writes a[0] as the part of a chunk of the point, or reads it. */
static void put_parts(const native_form *f, const exec_places *s, bool writes, native_text *t)
{
  for (int c = 0; c < f->components; c++) {
    const char *type = native_type(f->component[c]);

    if (writes) {
      native_put(t, "    ((%s *)p.word[%d])[place] = a%d[0];\n", type, s->parts + c, c);
    } else {
      native_put(t, "    a%d[0] = ((%s *)p.word[%d])[place];\n", c, type, s->parts + c);
    }
  }
}

static void put_reduce(const native_writer *w, const exec_layout *l, const exec_places *s)
{
  const native_form *f = w->form;
  native_text *t = w->t;
  const bool tree = l->chunk_blocks > l->at_once, alone = l->lanes == 1 && l->at_once == 1;

  put_threads(f, l, t);
  if (!alone) {
    put_arrays(f, "__shared__ ", "s", l->threads, t);
  }
  put_arrays(f, "", "a", 1, t);
  if (tree) {
    put_arrays(f, "", "c", f->levels + 1, t);
    native_put(t, "  int depth = 0;\n");
  }
  put_point(f->access, l, s, t);
  native_put(t,
             "  for (%s first = begin; first < end; first += %d) {\n"
             "    const %s taken = end - first;\n    (void)taken;\n",
             exec_number_type(l->reduced), l->at_once, exec_number_type(l->reduced));
  put_reduce_block(w, l);
  if (!alone) {
    put_copy(f, "s", "slot", "a", "0", t);
    native_put(t, "    __syncthreads();\n");
    put_lanes(f, l, t);
  }
  if (tree) {
    put_push(f, l, t);
    native_put(t, "    __syncthreads();\n"); /* s is written again */
  }
  native_put(t, "  }\n");
  native_put(t, "  if (live && lane == 0 && sub == 0) {\n");
  if (tree) {
    put_collapse(f, t);
  }
  if (l->chunks > 1) {
    native_put(
        t, "    const int64_t place = (int64_t)point * %" PRId64 " + blockIdx.x %% %" PRId64 ";\n",
        l->chunks, l->chunks);
    put_parts(f, s, true, t);
  } else {
    native_put_results(w, "0");
  }
  native_put(t, "  }\n");
}

/* A point a thread, from the parts that its chunks gave. */
static void put_merge_chunks(const native_writer *w, const exec_layout *l, const exec_places *s)
{
  const native_form *f = w->form;
  native_text *t = w->t;

  put_thread_point(l, EXEC_MERGE_THREADS, t);
  put_arrays(f, "", "a", 1, t);
  put_arrays(f, "", "c", f->levels + 1, t);
  native_put(t, "  int depth = 0;\n");
  put_point(f->access, l, s, t);
  native_put(t,
             "  if (live) {\n    for (int64_t chunk = 0; chunk < %" PRId64 "; chunk++) {\n"
             "    const int64_t place = (int64_t)point * %" PRId64
             " + chunk;\n    int64_t number = chunk;\n",
             l->chunks, l->chunks);
  put_parts(f, s, false, t);
  put_insert(f, t);
  native_put(t, "    }\n");
  put_collapse(f, t);
  native_put_results(w, "0");
  native_put(t, "  }\n");
}

void exec_emit(const native_form *f, const exec_layout *l, const exec_places *s, bool merges,
               native_text *helpers, native_text *body)
{
  const native_writer w = {.t = helpers, .form = f, .border = true, .in = s->in, .out = s->out};

  native_put_prelude(helpers);
  for (int i = 0; exec_backend_prelude[i] != NULL; i++) {
    native_put(helpers, "%s", exec_backend_prelude[i]);
  }
  native_put(helpers, "typedef struct addresses {\n  int64_t word[%d];\n} addresses;\n",
             s->n_words);
  exec_emit_vectors(&w, l);
  native_put(helpers, "static void iterate(const addresses p)\n{\n");
  if (f->shape == NATIVE_MAP && l->boxed) {
    put_boxed_map(&w, l, s);
  } else if (f->shape == NATIVE_MAP) {
    exec_emit_map(&w, l);
  } else if (l->unrolled) {
    exec_emit_unrolled(&w, l);
  } else if (merges) {
    put_merge_chunks(&w, l, s);
  } else {
    put_reduce(&w, l, s);
  }
  native_put(helpers, "}\n");
  native_put(body, "  iterate(p);\n");
}
