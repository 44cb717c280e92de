/* backend_emit.c - a loop as a kernel for a device: a map has an iteration a thread, a reduction a
 * lane of a reduction block a thread, in the order of weir_engine.h. Where a device would have too
 * few thread blocks, the reduction blocks of a point are divided into chunks of a power of two,
 * each a subtree of that order, and a second kernel merges what they give. */
#include <inttypes.h>

#include "base/weir_alloc.h"
#include "exec/backend/device/backend.h"

enum { MAP_THREADS = 128, REDUCE_THREADS = 256, STRIP_OUTPUTS = 8, ENOUGH_BLOCKS = 1024 };
#define MAX_BLOCKS INT32_MAX

static int64_t extent_of(const weir_access *a, int k)
{
  return a->dim[k].hi - a->dim[k].lo > 0 ? a->dim[k].hi - a->dim[k].lo : 0;
}

static bool count(const weir_access *a, weir_dim_kind kind, int64_t *n)
{
  bool fits = true;

  *n = 1;
  for (int k = 0; k < a->n_dims; k++) {
    fits = fits && (a->dim[k].kind != kind || weir_mul_ok(*n, extent_of(a, k), n));
  }
  return fits;
}

weir_status exec_layout_of(const native_form *f, bool boxed, exec_layout *l)
{
  const weir_access *a = f->access;

  *l = (exec_layout){.lanes = 1, .outputs = MAP_THREADS, .at_once = 1, .chunks = 1, .boxed = boxed};
  if (f->shape == NATIVE_SCAN || (!boxed && !count(a, WEIR_PARALLEL, &l->points)) ||
      !count(a, WEIR_REDUCED, &l->reduced)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: a scan, or a loop of more than 2^63 iterations");
  }
  if (f->shape != NATIVE_MAP) {
    while (l->lanes < f->lanes) {
      l->lanes *= 2;
    }
    l->reduce_blocks =
        l->reduced > WEIR_REDUCE_BLOCK ? (l->reduced - 1) / WEIR_REDUCE_BLOCK + 1 : 1;
    l->outputs = l->reduce_blocks == 1      ? REDUCE_THREADS / l->lanes
                 : f->shape == NATIVE_STRIP ? STRIP_OUTPUTS
                                            : 1;
    l->at_once = REDUCE_THREADS / (l->lanes * l->outputs);
  }
  l->chunk_blocks = l->reduce_blocks;
  l->threads = l->lanes * l->outputs * l->at_once;
  WEIR_TRY(exec_layout_points(l, l->points));
  return WEIR_OK;
}

weir_status exec_layout_points(exec_layout *l, int64_t points)
{
  l->points = points;
  l->blocks = points / l->outputs + (points % l->outputs != 0);
  return l->blocks <= MAX_BLOCKS
             ? WEIR_OK
             : weir_fail(WEIR_ERR_UNSUPPORTED, "plan: a loop of %" PRId64 " points", points);
}

static int64_t divide_up(int64_t n, int64_t by)
{
  return n / by + (n % by != 0);
}

void exec_layout_divide(const native_form *f, exec_layout *l)
{
  int64_t chunk = l->at_once;

  if (f->shape == NATIVE_MAP || l->boxed || l->blocks == 0) {
    return;
  }
  while (chunk < l->reduce_blocks &&
         divide_up(l->reduce_blocks, chunk) > ENOUGH_BLOCKS / l->blocks) {
    chunk *= 2;
  }
  if (chunk < l->reduce_blocks) {
    l->chunk_blocks = chunk;
    l->chunks = divide_up(l->reduce_blocks, chunk);
    l->blocks *= l->chunks;
    l->parts = f->components;
  }
}

int64_t exec_layout_part(const native_form *f, const exec_layout *l, int c)
{
  const int64_t align = 16;
  int64_t at = 0;

  for (int k = 0; k < c; k++) {
    const int64_t bytes = l->points * l->chunks * (int64_t)weir_dtype_size(f->component[k]);

    at += divide_up(bytes, align) * align;
  }
  return at;
}

/* ---- Places: address of element 0 of every operand and, where they are not those of a dense
 * array, its strides and unbounded extents; then, of a loop that runs box by box, lower bound and
 * extent of every parallel dimension, and the points; then addresses of the parts of chunks. */

static bool is_open(const weir_operand *x, int d)
{
  return x->extent[d] >= WEIR_UNBOUNDED;
}

static int words_of(const weir_operand *x, const exec_layout *l)
{
  int n = 1 + (l->dense ? 0 : x->rank);

  for (int d = 0; d < x->rank; d++) {
    n += is_open(x, d);
  }
  return n;
}

/* Of a row-major array. */
static int64_t dense_stride(const weir_operand *x, int d)
{
  int64_t stride = 1;

  for (int k = d + 1; k < x->rank; k++) {
    stride *= x->extent[k];
  }
  return stride;
}

/* Of the operands. */
static int first_bound(const weir_access *a, const exec_layout *l)
{
  int n = 0;

  for (int k = 0; k < a->n_in; k++) {
    n += words_of(&a->in[k], l);
  }
  for (int k = 0; k < a->n_out; k++) {
    n += words_of(&a->out[k], l);
  }
  return n;
}

int exec_addresses_words(const weir_access *a, const exec_layout *l)
{
  int n = first_bound(a, l);

  for (int k = 0; k < a->n_dims && l->boxed; k++) {
    n += a->dim[k].kind == WEIR_PARALLEL ? 2 : 0;
  }
  return n + l->boxed + l->parts;
}

static int64_t *fill_view(const weir_operand *x, const exec_layout *l, const weir_view *v,
                          int64_t *word)
{
  int64_t at = (int64_t)(intptr_t)v->data;

  for (int d = 0; d < v->rank; d++) {
    at -= v->origin[d] * v->stride[d] * (int64_t)weir_dtype_size(v->dtype);
  }
  *word++ = at;
  for (int d = 0; d < v->rank; d++) {
    if (l->dense) {
      WEIR_ASSERT(v->stride[d] == dense_stride(x, d) || v->extent[d] <= 1);
    } else {
      *word++ = v->stride[d];
    }
    if (is_open(x, d)) {
      *word++ = v->extent[d];
    }
  }
  return word;
}

void exec_addresses_fill(const weir_access *a, const exec_layout *l, const weir_loop_run *run,
                         int64_t *word)
{
  for (int k = 0; k < a->n_in; k++) {
    word = fill_view(&a->in[k], l, &run->in[k], word);
  }
  for (int k = 0; k < a->n_out; k++) {
    word = fill_view(&a->out[k], l, &run->out[k], word);
  }
  for (int k = 0; k < a->n_dims && l->boxed; k++) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      *word++ = run->box.lo[k];
      *word++ = run->box.hi[k] - run->box.lo[k];
    }
  }
  if (l->boxed) {
    *word = l->points;
  }
}

static int put_views(native_text *t, const exec_layout *l, const char *name, const weir_operand *x,
                     int n, int at)
{
  native_put(t, "  native_view %s[%d];\n", name, n > 0 ? n : 1);
  for (int k = 0; k < n; k++) {
    native_put(t, "  %s[%d].data = (char *)p.word[%d];\n", name, k, at++);
    for (int d = 0; d < x[k].rank; d++) {
      native_put(t, "  %s[%d].origin[%d] = 0;\n  %s[%d].stride[%d] = ", name, k, d, name, k, d);
      if (l->dense) {
        native_put(t, "INT64_C_(%" PRId64 ");\n", dense_stride(&x[k], d));
      } else {
        native_put(t, "p.word[%d];\n", at++);
      }
      native_put(t, "  %s[%d].extent[%d] = ", name, k, d);
      if (is_open(&x[k], d)) {
        native_put(t, "p.word[%d];\n", at++);
      } else {
        native_put(t, "INT64_C_(%" PRId64 ");\n", x[k].extent[d]);
      }
    }
  }
  return at;
}

static void put_row(const weir_access *a, const exec_layout *l, native_text *t)
{
  const int at = put_views(t, l, "in", a->in, a->n_in, 0);

  (void)put_views(t, l, "out", a->out, a->n_out, at);
  native_put(t, "  native_row row;\n  const native_row *const w = &row;\n  const int64_t x = 0;\n"
                "  row.in = in;\n  row.out = out;\n  row.point_step = 0;\n");
}

/* row.i of the dimensions of a kind, from their row-major position `number` of `n`. */
static void put_digits(const weir_access *a, weir_dim_kind kind, const char *number, int64_t n,
                       native_text *t)
{
  const char *type = n <= INT32_MAX ? "uint32_t" : "int64_t";
  int first = 0;

  while (first < a->n_dims && a->dim[first].kind != kind) {
    first++;
  }
  if (first == a->n_dims) {
    return;
  }
  native_put(t, "  {\n    %s left = (%s)%s;\n", type, type, number);
  for (int k = a->n_dims - 1; k > first; k--) {
    const int64_t extent = extent_of(a, k) > 0 ? extent_of(a, k) : 1;

    if (a->dim[k].kind == kind) {
      native_put(t,
                 "    row.i[%d] = INT64_C_(%" PRId64 ") + (int64_t)(left %% %" PRId64
                 ");\n    left /= %" PRId64 ";\n",
                 k, a->dim[k].lo, extent, extent);
    }
  }
  native_put(t, "    row.i[%d] = INT64_C_(%" PRId64 ") + (int64_t)left;\n  }\n", first,
             a->dim[first].lo);
}

/* row.i of the parallel dimensions, and whether the thread has a point. */
static void put_point(const weir_access *a, const exec_layout *l, native_text *t)
{
  int word = exec_addresses_words(a, l) - l->parts - 1;

  if (!l->boxed) {
    put_digits(a, WEIR_PARALLEL, "point", l->points, t);
    native_put(t, "  const bool live = point < INT64_C_(%" PRId64 ");\n", l->points);
    return;
  }
  native_put(t, "  const bool live = point < p.word[%d];\n  {\n    int64_t left = point;\n", word);
  for (int k = a->n_dims - 1; k >= 0; k--) {
    if (a->dim[k].kind == WEIR_PARALLEL) {
      word -= 2;
      native_put(t, "    row.i[%d] = p.word[%d] + left %% p.word[%d];\n    left /= p.word[%d];\n",
                 k, word, word + 1, word + 1);
    }
  }
  native_put(t, "    (void)left;\n  }\n");
}

static void put_map(const native_writer *w, const exec_layout *l)
{
  const weir_access *a = w->form->access;
  native_text *t = w->t;

  native_put(t, "  const int64_t point = (int64_t)blockIdx.x * %d + threadIdx.x;\n", l->threads);
  put_row(a, l, t);
  native_put(t, "  row.point = point;\n");
  put_point(a, l, t);
  native_put(t, "  if (live) {\n");
  native_put_loads(w);
  native_put_body(w);
  for (int v = 0; v < a->n_values; v++) {
    native_put(t, "    ");
    native_put_address(w, native_output(a, v));
    native_put(t, " = here ? v%d : 0;\n", a->value[v]);
  }
  native_put(t, "  }\n");
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

  native_put_neutral(w->form, t, "0");
  native_put(t,
             "    const int64_t rblock = first + sub;\n"
             "    const int64_t last = rblock + 1 < INT64_C_(%" PRId64
             ") ? (rblock + 1) * %d : INT64_C_(%" PRId64 ");\n"
             "    for (int64_t nth = live ? rblock * %d + lane : last; nth < last; nth += %d) {\n"
             "    row.at = nth;\n",
             l->reduce_blocks, WEIR_REDUCE_BLOCK, l->reduced, WEIR_REDUCE_BLOCK, WEIR_LANES);
  put_digits(w->form->access, WEIR_REDUCED, "nth", l->reduced, t);
  native_put_loads(w);
  native_put_body(w);
  native_put_step(w, "a", "0", "w->at");
  native_put(t, "    }\n");
}

static void put_threads(const native_form *f, const exec_layout *l, native_text *t)
{
  const bool strip = f->shape == NATIVE_STRIP; /* neighbouring threads read neighbouring elements */

  native_put(t, "  const int thread = threadIdx.x, sub = thread / %d;\n", l->lanes * l->outputs);
  native_put(t,
             strip ? "  const int output = thread %% %d, lane = thread / %d %% %d;\n"
                   : "  const int lane = thread %% %d, output = thread / %d %% %d;\n",
             strip ? l->outputs : l->lanes, strip ? l->outputs : l->lanes,
             strip ? l->lanes : l->outputs);
  native_put(t,
             "  const int slot = (sub * %d + output) * %d + lane;\n  (void)slot;\n"
             "  const int64_t begin = (int64_t)(blockIdx.x %% %" PRId64 ") * %" PRId64
             ", stop = begin + %" PRId64 ";\n"
             "  const int64_t end = stop < %" PRId64 " ? stop : %" PRId64 ";\n"
             "  const int64_t point = (int64_t)(blockIdx.x / %" PRId64 ") * %d + output;\n",
             l->outputs, l->lanes, l->chunks, l->chunk_blocks, l->chunk_blocks, l->reduce_blocks,
             l->reduce_blocks, l->chunks, l->outputs);
}

/* Writes a[0] as the part of a chunk of the point, or reads it. */
static void put_parts(const native_form *f, const exec_layout *l, bool writes, native_text *t)
{
  const int word = exec_addresses_words(f->access, l) - l->parts;

  for (int c = 0; c < f->components; c++) {
    const char *type = native_type(f->component[c]);

    if (writes) {
      native_put(t, "    ((%s *)p.word[%d])[place] = a%d[0];\n", type, word + c, c);
    } else {
      native_put(t, "    a%d[0] = ((%s *)p.word[%d])[place];\n", c, type, word + c);
    }
  }
}

static void put_reduce(const native_writer *w, const exec_layout *l)
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
  put_row(f->access, l, t);
  native_put(t, "  row.point = point;\n");
  put_point(f->access, l, t);
  native_put(t,
             "  for (int64_t first = begin; first < end; first += %d) {\n"
             "    const int64_t taken = end - first;\n    (void)taken;\n",
             l->at_once);
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
    native_put(t, "    const int64_t place = point * %" PRId64 " + blockIdx.x %% %" PRId64 ";\n",
               l->chunks, l->chunks);
    put_parts(f, l, true, t);
  } else {
    native_put_results(w, "0");
  }
  native_put(t, "  }\n");
}

/* A point a thread, from the parts that its chunks gave. */
static void put_merge_chunks(const native_writer *w, const exec_layout *l)
{
  const native_form *f = w->form;
  native_text *t = w->t;

  native_put(t, "  const int64_t point = (int64_t)blockIdx.x * %d + threadIdx.x;\n",
             EXEC_MERGE_THREADS);
  put_arrays(f, "", "a", 1, t);
  put_arrays(f, "", "c", f->levels + 1, t);
  native_put(t, "  int depth = 0;\n");
  put_row(f->access, l, t);
  native_put(t, "  row.point = point;\n");
  put_point(f->access, l, t);
  native_put(t,
             "  if (live) {\n    for (int64_t chunk = 0; chunk < %" PRId64 "; chunk++) {\n"
             "    const int64_t place = point * %" PRId64
             " + chunk;\n    int64_t number = chunk;\n",
             l->chunks, l->chunks);
  put_parts(f, l, false, t);
  put_insert(f, t);
  native_put(t, "    }\n");
  put_collapse(f, t);
  native_put_results(w, "0");
  native_put(t, "  }\n");
}

void exec_emit(const native_form *f, const exec_layout *l, bool merges, native_text *helpers,
               native_text *body)
{
  native_form all = *f;

  for (int o = 0; o < f->access->n_out; o++) { /* all addresses go through views */
    all.plain_out[o] = false;
  }
  const native_writer w = {.t = helpers, .form = &all, .border = true};

  native_put_prelude(helpers);
  native_put(helpers, "typedef struct addresses {\n  int64_t word[%d];\n} addresses;\n",
             exec_addresses_words(f->access, l));
  native_put(helpers, "static void iterate(const addresses p)\n{\n");
  if (f->shape == NATIVE_MAP) {
    put_map(&w, l);
  } else if (merges) {
    put_merge_chunks(&w, l);
  } else {
    put_reduce(&w, l);
  }
  native_put(helpers, "}\n");
  native_put(body, "  iterate(p);\n");
}
