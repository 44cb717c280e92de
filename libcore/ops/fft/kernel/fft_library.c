/* fft_library.c - Fourier transforms by a device's own library.
 *
 * The library has whole spectra, does not scale, and overwrites the spectrum of a real array: a
 * kernel copies truncated spectra to or from the workspace, scaled, and such spectra as they are.
 */
#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "ops/fft/weir_fft.h"
#include "ops/weir_device_text.h"

enum { THREADS = 256 };

/* A spectrum in the array, of `held` waves along each dimension, and the library's, of `all`. */
typedef struct spectrum {
  bool pads; /* from the array to the library's; else the other way */
  weir_dtype part;
  double scale;
  int rank;
  int64_t outer, inner;
  int64_t held[WEIR_FFT_DIMS], all[WEIR_FFT_DIMS];
  bool half; /* the last dimension has no negative waves */
} spectrum;

typedef struct transform {
  weir_library_call *call;
  const weir_device_kernel *copy; /* NULL: the plan does not run */
  bool copies, pads;
  int64_t held_bytes, all_bytes; /* of both spectra */
  weir_kernel_grid grid;         /* of the kernel */
} transform;

/* ---- Which calls. ---- */

/* The transformed dimensions lie together, none of any is time, and nothing is empty. */
static bool is_plain(const weir_node *node)
{
  const weir_fft_spec *s = node->spec;
  const weir_access *a = &node->access;
  bool plain = true;

  for (int k = 1; k < s->n_dims; k++) {
    plain = plain && s->dim[k] == s->dim[k - 1] + 1;
  }
  for (int k = 0; k < a->n_dims; k++) {
    plain = plain && !a->dim[k].time && a->dim[k].lo == 0 && a->dim[k].hi > 0;
  }
  return plain;
}

static bool spec_of(const weir_graph *g, const weir_group *group, weir_library_spec *spec)
{
  static const weir_library_way ways[] = {[WEIR_FFT_FORWARD] = WEIR_LIBRARY_FORWARD,
                                          [WEIR_FFT_BACKWARD] = WEIR_LIBRARY_BACKWARD,
                                          [WEIR_FFT_REAL] = WEIR_LIBRARY_REAL,
                                          [WEIR_FFT_TO_REAL] = WEIR_LIBRARY_TO_REAL};
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);

  if (group->n_nodes != 1 || node->op != &weir_op_fft || !is_plain(node)) {
    return false;
  }
  const weir_fft_spec *s = node->spec;
  const weir_fft_block b = weir_fft_block_of(s, &node->access);
  const weir_operand *x = &node->access.in[0];
  weir_library_transform *t = &spec->transform;

  memset(spec, 0, sizeof *spec);
  spec->kind = WEIR_LIBRARY_TRANSFORM;
  t->kind = ways[s->kind];
  t->part = weir_dtype_part(x->dtype);
  t->rank = s->n_dims;
  t->outer = t->inner = 1;
  for (int d = 0; d < x->rank; d++) {
    t->outer *= d < s->dim[0] ? x->extent[d] : 1;
    t->inner *= d > s->dim[s->n_dims - 1] ? x->extent[d] : 1;
  }
  memcpy(t->n, b.n, (size_t)b.rank * sizeof *b.n);
  return weir_library_is_call(spec);
}

/* Flop/s of one GPU, about: kernels are compared with one another alone. */
static const double rate = 1e12;

static double match(const weir_graph *g, const weir_group *group)
{
  weir_library_spec spec;

  return spec_of(g, group, &spec) ? weir_batch_seconds(g, group, &weir_op_fft, rate) : -1;
}

/* ---- Copies of spectra. ---- */

/* Whether the array's spectrum is copied. */
static bool spectrum_of(const weir_node *node, const weir_library_transform *t, spectrum *out)
{
  const weir_fft_spec *s = node->spec;
  const weir_fft_block b = weir_fft_block_of(s, &node->access);

  *out = (spectrum){.pads = s->kind == WEIR_FFT_BACKWARD || s->kind == WEIR_FFT_TO_REAL,
                    .part = t->part,
                    .scale = s->scale != 0 ? s->scale : 1,
                    .rank = t->rank,
                    .outer = t->outer,
                    .inner = t->inner,
                    .half = s->kind >= WEIR_FFT_REAL};
  for (int k = 0; k < b.rank; k++) {
    out->held[k] = out->pads ? b.in[k] : b.out[k];
    out->all[k] = out->half && k == b.rank - 1 ? b.n[k] / 2 + 1 : b.n[k];
  }
  return weir_fft_truncated(s, &b) || out->scale != 1 || s->kind == WEIR_FFT_TO_REAL;
}

static int64_t elements_of(const spectrum *s, const int64_t *extent)
{
  int64_t n = s->outer * s->inner;

  for (int k = 0; k < s->rank; k++) {
    n *= extent[k];
  }
  return n;
}

/* From the number `left` of an element of the spectrum that the kernel makes, along dimension k, to
 * the place in the other one, whose elements lie `step` apart: waves after the first `lo` follow
 * those that the array lacks. */
static void put_dim(const spectrum *s, int k, int64_t step, char *text)
{
  const bool half = s->half && k == s->rank - 1;
  const int64_t made = s->pads ? s->all[k] : s->held[k], gap = s->all[k] - s->held[k];
  const int64_t lo = half ? s->held[k] : (s->held[k] + 1) / 2;

  weir_device_text_put(text, "    at = left %% %" PRId64 ";\n    left /= %" PRId64 ";\n", made,
                       made);
  if (gap > 0 && s->pads) {
    weir_device_text_put(text,
                         "    live = live && (at < %" PRId64 " || at >= %" PRId64 ");\n"
                         "    at -= at >= %" PRId64 " ? %" PRId64 " : 0;\n",
                         lo, lo + gap, lo + gap, gap);
  } else if (gap > 0) {
    weir_device_text_put(text, "    at += at >= %" PRId64 " ? %" PRId64 " : 0;\n", lo, gap);
  }
  weir_device_text_put(text, "    place += at * %" PRId64 ";\n", step);
}

/* One element a thread; elements that the array lacks are 0. */
static void copy_text(const spectrum *s, int64_t threads, char *text)
{
  const char *type = s->part == WEIR_F32 ? "float" : "double";
  const int64_t *const other = s->pads ? s->held : s->all;
  int64_t step = s->inner;

  text[0] = '\0';
  weir_device_text_put(text,
                       "  const long long e = (long long)blockIdx.x * %d + threadIdx.x;\n"
                       "  if (e < %" PRId64 ") {\n"
                       "    long long left = e / %" PRId64 ", place = e %% %" PRId64 ", at;\n"
                       "    int live = 1;\n",
                       THREADS, threads, s->inner, s->inner);
  for (int k = s->rank - 1; k >= 0; k--) {
    put_dim(s, k, step, text);
    step *= other[k];
  }
  weir_device_text_put(text, "    place = 2 * (place + left * %" PRId64 ");\n", step);
  for (int part = 0; part < 2; part++) {
    weir_device_text_put(text, "    ((%s *)p.word[1])[2 * e + %d] = live ? ", type, part);
    weir_device_text_put(text, "((const %s *)p.word[0])[place + %d]", type, part);
    if (s->scale != 1) {
      weir_device_text_put(text, " * (%s)%.17g", type, s->scale);
    }
    weir_device_text_put(text, " : 0;\n");
  }
  weir_device_text_put(text, "  }\n");
}

static weir_status make_copy(const spectrum *s, const weir_kernel_maker *maker, transform *t)
{
  const int64_t size = 2 * (int64_t)weir_dtype_size(s->part);
  char text[WEIR_DEVICE_TEXT];

  t->pads = s->pads;
  t->held_bytes = elements_of(s, s->held) * size;
  t->all_bytes = elements_of(s, s->all) * size;
  const int64_t made = s->pads ? t->all_bytes : t->held_bytes;

  t->grid = weir_device_text_grid(made / size, THREADS, t->held_bytes + made);
  copy_text(s, made / size, text);
  WEIR_TRY(weir_device_text_make(maker, "spectrum", NULL, text, &t->grid, &t->copy));
  return WEIR_OK;
}

/* ---- The kernel. ---- */

static void release(void *context)
{
  transform *t = context;

  if (t != NULL) {
    weir_library_destroy(&t->call);
    weir_free(&t);
  }
}

static int64_t round_up(int64_t bytes)
{
  return (bytes + WEIR_DEVICE_ALIGN - 1) / WEIR_DEVICE_ALIGN * WEIR_DEVICE_ALIGN;
}

static weir_status open_call(const weir_graph *g, const weir_group *group,
                             const weir_kernel_maker *maker, void **context, int64_t *workspace)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  weir_status status = WEIR_OK;
  weir_library_spec spec;
  spectrum s;
  void *memory = NULL;
  const bool is = spec_of(g, group, &spec);

  WEIR_ASSERT(is);
  WEIR_TRY(weir_alloc(1, sizeof(transform), &memory));
  transform *t = memory;

  t->copies = spectrum_of(node, &spec.transform, &s);
  WEIR_TRY_GOTO(weir_library_create(maker->device, &spec, maker->runs, &t->call), failed);
  if (t->copies) {
    WEIR_TRY_GOTO(make_copy(&s, maker, t), failed);
  }
  *workspace = round_up(t->all_bytes) + weir_library_workspace(t->call);
  *context = t;
  return WEIR_OK;
failed:
  release(t);
  return status;
}

static weir_status copy(const weir_kernel_launch *l, const transform *t)
{
  const void *const held = l->views[t->pads ? 0 : 1].data, *const all = l->workspace;
  const weir_device_range ranges[] = {
      {t->pads ? held : all, t->pads ? t->held_bytes : t->all_bytes, WEIR_DEVICE_READ},
      {t->pads ? all : held, t->pads ? t->all_bytes : t->held_bytes, WEIR_DEVICE_WRITE}};

  WEIR_TRY(weir_device_text_launch(l->queue, t->copy, &t->grid, ranges, 2));
  return WEIR_OK;
}

static weir_status launch(const weir_kernel_launch *l)
{
  const transform *t = l->context;
  char *const space = l->workspace;
  void *operand[WEIR_LIBRARY_OPERANDS] = {l->views[0].data, l->views[1].data};

  if (t->copies) {
    operand[t->pads ? 0 : 1] = space;
  }
  if (t->copies && t->pads) {
    WEIR_TRY(copy(l, t));
  }
  WEIR_TRY(weir_library_run(l->queue, t->call, operand, space + round_up(t->all_bytes)));
  if (t->copies && !t->pads) {
    WEIR_TRY(copy(l, t));
  }
  return WEIR_OK;
}

static const weir_library_call *call_of(const void *context)
{
  return ((const transform *)context)->call;
}

const weir_kernel weir_kernel_fft_library = {
    .name = "fft.library",
    .device = WEIR_KERNEL_DEVICE,
    .match = match,
    .arrays = weir_batch_arrays,
    .open = open_call,
    .release = release,
    .launch = launch,
    .call = call_of,
};
