/* backend_loop.c - an engine whose run is a launch: loops of real numbers, and through planar.h of
 * complex ones. */
#include <string.h>

#include "base/weir_alloc.h"
#include "exec/backend/device/backend.h"
#include "exec/backend/planar.h"

typedef struct launched {
  struct exec_backend *backend;
  weir_access access; /* a copy: contexts outlive the loops they were made from */
  weir_access now;    /* the same with the extents of the views of a run, if boxed */
  native_form form;
  exec_layout layout;
  exec_places places;
  const weir_device_kernel *kernel, *merge; /* the backend's; merge: of chunks, or NULL */
  int64_t *words;
  const void *args[1];
} launched;

static void release(void *opaque)
{
  launched *c = opaque;

  if (c != NULL) {
    weir_access_fini(&c->access);
    weir_access_fini(&c->now);
    weir_free(&c->words);
    weir_free(&c);
  }
}

/* The kernel of that text, which it takes. */
static weir_status add_kernel(struct exec_backend *b, const weir_device_source *source, int threads,
                              char *text)
{
  exec_device_kernel kernel = {.text = text};

  WEIR_TRY(weir_reserve(&b->kernels, &b->kernels_capacity, b->n_kernels + 1, sizeof *b->kernels));
  WEIR_TRY(exec_text_save(b, source, threads, kernel.file));
  WEIR_TRY(b->text_only ? WEIR_OK : weir_device_kernel_create(b->device, source, &kernel.kernel));
  b->kernels[b->n_kernels++] = kernel;
  return WEIR_OK;
}

weir_status exec_backend_kernel(struct exec_backend *b, const weir_device_source *source,
                                const weir_kernel_grid *launch, const weir_device_kernel **out)
{
  char *text = NULL;
  int64_t number = 0;

  WEIR_TRY(weir_device_source_text(source, "", "", &text));
  while (number < b->n_kernels && strcmp(b->kernels[number].text, text) != 0) {
    number++;
  }
  const bool known = number < b->n_kernels;
  const weir_status status = known ? WEIR_OK : add_kernel(b, source, launch->threads, text);

  if (known || status != WEIR_OK) {
    weir_free(&text);
  }
  WEIR_TRY(status);
  WEIR_TRY(exec_launch_add(b, number, launch));
  *out = b->kernels[number].kernel;
  return WEIR_OK;
}

static weir_status compile(launched *c, bool merges, const weir_device_kernel **out)
{
  const int64_t points = c->layout.boxed ? c->backend->chunk_points : c->layout.points;
  const weir_kernel_grid launch = exec_launch_of(&c->form, &c->layout, &c->places, points, merges);
  const weir_device_param param = {"addresses", "p", c->places.n_words * (int64_t)sizeof(int64_t)};
  native_text helpers = {0}, body = {0};
  weir_status status = WEIR_OK;

  exec_emit(&c->form, &c->layout, &c->places, merges, &helpers, &body);
  WEIR_TRY_GOTO(helpers.status, done);
  WEIR_TRY_GOTO(body.status, done);
  const weir_device_source source = {.name = c->form.shape == NATIVE_MAP ? "map"
                                             : merges                    ? "merge"
                                                                         : "reduction",
                                     .params = &param,
                                     .n_params = 1,
                                     .helpers = helpers.text,
                                     .body = body.text};
  WEIR_TRY_GOTO(exec_backend_kernel(c->backend, &source, &launch, out), done);
done:
  weir_free(&helpers.text);
  weir_free(&body.text);
  return status;
}

static weir_status compile_all(launched *c)
{
  void *memory = NULL;

  WEIR_TRY(weir_alloc(c->places.n_words, sizeof(int64_t), &memory));
  c->words = memory;
  c->args[0] = memory;
  WEIR_TRY(compile(c, false, &c->kernel));
  if (c->layout.chunks > 1) {
    WEIR_TRY(compile(c, true, &c->merge));
  }
  return WEIR_OK;
}

static weir_status prepare_one(const weir_loop *loop, const weir_engine_opts *opts, void **out)
{
  struct exec_backend *const b = opts->backend;
  weir_status status = WEIR_OK;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(1, sizeof(launched), &memory));
  launched *c = memory;

  c->backend = b;
  WEIR_TRY_GOTO(weir_access_copy(&loop->access, &c->access), failed);
  WEIR_TRY_GOTO(native_form_of(&c->access, &c->form), failed);
  WEIR_TRY_GOTO(exec_layout_of(&c->form, b->boxed, &c->layout), failed);
  c->layout.dense = !b->boxed;
  if (b->boxed) {
    WEIR_TRY_GOTO(weir_access_copy(&loop->access, &c->now), failed);
  }
  exec_layout_spread(&c->form, b->enough_blocks, &c->layout);
  exec_layout_unroll(&c->form, b->enough_blocks, &c->layout);
  if (loop == b->whole) { /* others have no memory for parts of chunks */
    exec_layout_divide(&c->form, &c->layout);
  }
  exec_places_of(&c->access, &c->layout, &c->places);
  if (c->layout.blocks > 0 || b->boxed) {
    WEIR_TRY_GOTO(compile_all(c), failed);
  }
  *out = c;
  return WEIR_OK;
failed:
  release(c);
  return status;
}

static weir_status prepare(const weir_loop *const *loops, int32_t n, const weir_engine_opts *opts,
                           void **contexts)
{
  WEIR_TRY(exec_prepare_each(loops, n, opts, prepare_one, release, contexts));
  return WEIR_OK;
}

/* ---- Ranges. ---- */

enum { MAX_RANGES = WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS * (2 * WEIR_MAX_OPERANDS + 1) };

/* Bytes of the elements that the view has, from the lowest to the highest. */
static weir_device_range range_of(const weir_view *v, weir_device_access access)
{
  int64_t last = 0;

  for (int d = 0; d < v->rank; d++) {
    if (v->extent[d] <= 0) {
      return (weir_device_range){v->data, 0, access};
    }
    last += (v->extent[d] - 1) * v->stride[d];
  }
  return (weir_device_range){v->data, (last + 1) * (int64_t)weir_dtype_size(v->dtype), access};
}

/* Adds what is written: what is read as well is updated. */
static int add_written(weir_device_range *ranges, int n_read, int n, weir_device_range r)
{
  const char *lo = r.address, *hi = lo + r.bytes;

  for (int k = 0; k < n_read && r.access == WEIR_DEVICE_WRITE && lo < hi; k++) {
    const char *from = ranges[k].address, *to = from + ranges[k].bytes;

    from = from > lo ? from : lo;
    to = to < hi ? to : hi;
    if (from < to) {
      n = add_written(ranges, n_read, n, (weir_device_range){lo, from - lo, r.access});
      ranges[n++] = (weir_device_range){from, to - from, WEIR_DEVICE_UPDATE};
      lo = to;
    }
  }
  if (lo < hi) {
    ranges[n++] = (weir_device_range){lo, hi - lo, r.access};
  }
  return n;
}

/* True when the run writes every byte from the first to the last. */
static bool covers(const weir_access *a, int o, const weir_loop_run *run)
{
  const weir_box box = weir_iterations(a);
  const weir_region r = weir_written(a, o, &box);
  const weir_view *v = &run->out[o];
  int64_t dense = 1;
  bool all = r.exact;

  for (int d = v->rank - 1; d >= 0; d--) {
    all = all && r.n[d] == 1 && v->stride[d] == dense &&
          r.interval[d][0].hi - r.interval[d][0].lo == v->extent[d];
    dense *= v->extent[d];
  }
  return all && a->out[o].rank == v->rank;
}

/* Bytes of the region's elements, from the first to the last; *dense: there are no others. */
static weir_device_range range_in(const weir_view *v, const weir_region *r, bool *dense)
{
  const weir_box box = weir_region_hull(r);
  const int64_t size = (int64_t)weir_dtype_size(v->dtype);
  int64_t last[WEIR_MAX_RANK] = {0};

  *dense = r->exact;
  if (weir_region_empty(r)) {
    return (weir_device_range){v->data, 0, WEIR_DEVICE_READ};
  }
  for (int d = 0; d < box.rank; d++) {
    last[d] = box.hi[d] - 1;
    *dense = *dense && r->n[d] == 1;
  }
  const char *lo = weir_view_at(v, box.lo), *hi = weir_view_at(v, last);

  *dense = *dense && hi - lo + size == weir_box_volume(&box) * size;
  return (weir_device_range){lo, hi - lo + size, WEIR_DEVICE_READ};
}

static int find_read(const weir_access *a, const weir_loop_run *what, weir_device_range *ranges)
{
  for (int k = 0; k < a->n_in; k++) {
    ranges[k] = range_of(&what->in[k], WEIR_DEVICE_READ);
  }
  return a->n_in;
}

static int find_written(const weir_access *a, const weir_loop_run *what, int n_read,
                        weir_device_range *ranges)
{
  int n = n_read;

  for (int o = 0; o < a->n_out; o++) {
    n = add_written(
        ranges, n_read, n,
        range_of(&what->out[o], covers(a, o, what) ? WEIR_DEVICE_WRITE : WEIR_DEVICE_UPDATE));
  }
  return n;
}

/* Of the parts of chunks; sets their addresses. */
static int find_parts(const launched *c, weir_device_access access, weir_device_range *ranges)
{
  const exec_layout *l = &c->layout;
  int64_t *word = c->words + c->places.parts;

  for (int k = 0; k < l->parts; k++) {
    char *at = c->backend->parts + exec_layout_part(&c->form, l, k);

    word[k] = (int64_t)(intptr_t)at;
    ranges[k] = (weir_device_range){
        at, l->points * l->chunks * (int64_t)weir_dtype_size(c->form.component[k]), access};
  }
  return l->parts;
}

/* Likewise of the iterations of a box: what these read and write. */
static int find_ranges_in(weir_access *a, const weir_loop_run *what, weir_device_range *ranges)
{
  bool dense;
  int n = 0;

  for (int k = 0; k < a->n_in; k++) { /* a stream that has ended has other borders */
    memcpy(a->in[k].extent, what->in[k].extent, sizeof a->in[k].extent);
  }
  for (int o = 0; o < a->n_out; o++) {
    memcpy(a->out[o].extent, what->out[o].extent, sizeof a->out[o].extent);
  }
  for (int k = 0; k < a->n_in; k++) {
    const weir_region r = weir_needed(a, k, &what->box);

    ranges[n++] = range_in(&what->in[k], &r, &dense);
  }
  const int n_read = n;

  for (int o = 0; o < a->n_out; o++) {
    const weir_region r = weir_written(a, o, &what->box);
    weir_device_range range = range_in(&what->out[o], &r, &dense);

    range.access = dense ? WEIR_DEVICE_WRITE : WEIR_DEVICE_UPDATE;
    n = add_written(ranges, n_read, n, range);
  }
  return n;
}

static weir_status set_points(launched *c, const weir_box *box)
{
  int64_t points = 1;

  for (int k = 0; k < c->access.n_dims; k++) {
    if (c->access.dim[k].kind == WEIR_PARALLEL &&
        !weir_mul_ok(points, box->hi[k] - box->lo[k], &points)) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: a loop of more than 2^63 iterations");
    }
  }
  return exec_layout_points(&c->layout, points);
}

static weir_status launch(const launched *c, const weir_device_kernel *kernel, int64_t blocks,
                          int threads, const weir_device_range *ranges, int n)
{
  return weir_device_launch(c->backend->work,
                            &(weir_device_launch_spec){.kernel = kernel,
                                                       .grid = {(int)blocks, 1, 1},
                                                       .block = {threads, 1, 1},
                                                       .args = c->args,
                                                       .ranges = ranges,
                                                       .n_ranges = n});
}

static weir_status run_chunks(const launched *c, const weir_loop_run *what,
                              weir_device_range *ranges)
{
  const exec_layout *l = &c->layout;
  int n = find_read(&c->access, what, ranges);

  n += find_parts(c, WEIR_DEVICE_WRITE, ranges + n);
  WEIR_TRY(launch(c, c->kernel, l->blocks, l->threads, ranges, n));
  n = find_written(&c->access, what, find_parts(c, WEIR_DEVICE_READ, ranges), ranges);
  return launch(c, c->merge, (l->points - 1) / EXEC_MERGE_THREADS + 1, EXEC_MERGE_THREADS, ranges,
                n);
}

static void run(void *opaque, const weir_loop_run *what)
{
  launched *c = opaque;
  struct exec_backend *b = c->backend;
  weir_device_range ranges[MAX_RANGES];

  if (b->failed == WEIR_OK && c->layout.boxed) {
    b->failed = set_points(c, &what->box);
  }
  if (b->failed != WEIR_OK || c->kernel == NULL || c->layout.blocks == 0) {
    return;
  }
  exec_places_fill(&c->places, &c->access, &c->layout, what, c->words);
  if (c->layout.chunks > 1) {
    b->failed = run_chunks(c, what, ranges);
    return;
  }
  int n;

  if (c->layout.boxed) {
    n = find_ranges_in(&c->now, what, ranges);
  } else {
    n = find_written(&c->access, what, find_read(&c->access, what, ranges), ranges);
  }
  b->failed = launch(c, c->kernel, c->layout.blocks, c->layout.threads, ranges, n);
}

/* Of loops of real numbers. */
static const weir_engine real = {.prepare = prepare, .run = run, .release = release};

static weir_status prepare_any(const weir_loop *const *loops, int32_t n,
                               const weir_engine_opts *opts, void **contexts)
{
  return planar_prepare(&real, loops, n, opts, contexts);
}

const weir_engine exec_backend_engine = {
    .name = "device", .prepare = prepare_any, .run = planar_run, .release = planar_release};
