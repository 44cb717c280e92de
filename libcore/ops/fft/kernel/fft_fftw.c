/* fft_fftw.c - Fourier transforms by FFTW, block by block through memory of the thread: blocks of
 * any strides, in which FFTW's vector code has the alignment that it asks for. Where neighbours in
 * memory belong to different blocks, several are copied together, so that a line of the cache is
 * read once; each is transformed by itself, with the same bits whatever is transformed with it. */
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/fft/weir_fft.h"
#include "ops/weir_batch.h"

typedef struct context {
  const weir_node *node; /* the graph's */
  weir_fft_block block;
  weir_fft_plan *plan;
  int64_t lines;     /* blocks that are copied together, at most */
  int64_t in, apart; /* bytes of a block that is read, and from one to the next */
} context;

/* Blocks that are copied together, and their bytes: they stay in a core's own cache. */
enum { MAX_LINES = 16, MAX_BYTES = 1 << 19, PLACES = 8, MAX_PIECES = 64, FEW_PIECES = 16 };

/* Of the f32 rate of a core, what a library reaches, about. */
static const double share_of_peak = 0.04;

static double match(const weir_graph *g, const weir_group *group)
{
  const double rate = weir_cpu_get()->constants.flop_rate * share_of_peak;
  const double seconds = weir_batch_seconds(g, group, &weir_op_fft, rate);
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_access *a = &node->access;
  const weir_fft_block b = seconds >= 0 ? weir_fft_block_of(node->spec, a) : (weir_fft_block){0};

  if (seconds < 0 || weir_fft_truncated(node->spec, &b)) {
    return -1;
  }
  /* Nothing to transform, or no points: FFTW has no plan. */
  for (int k = 0; k < a->n_dims; k++) {
    if (a->dim[k].kind == WEIR_REDUCED && a->dim[k].hi < 1) {
      return -1;
    }
  }
  return seconds;
}

/* Bytes of a block, to the next that is aligned. */
static int64_t bytes_of(int64_t n, weir_dtype dtype)
{
  return (n * (int64_t)weir_dtype_size(dtype) + 63) & ~(int64_t)63;
}

/* Elements at one index of several blocks lie together where the last dimension of the array is
 * one of the batch. Blocks of a power of two of bytes would all lie in the same lines of a cache:
 * 64 more. */
static void lay_out(context *c)
{
  const weir_access *a = &c->node->access;
  const weir_fft_spec *s = c->node->spec;

  c->in = bytes_of(c->block.n_in, a->in[0].dtype);
  c->apart = c->in + bytes_of(c->block.n_out, a->out[0].dtype) + 64;
  c->lines = MAX_BYTES / c->apart;
  c->lines = c->lines > MAX_LINES ? MAX_LINES : c->lines;
  if (c->lines < 1 || s->dim[s->n_dims - 1] == a->in[0].rank - 1) {
    c->lines = 1;
  }
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **out)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  const weir_fft_spec *spec = node->spec;
  weir_fft_plan_spec p = {.dtype = weir_dtype_part(node->access.in[0].dtype),
                          .kind = (weir_fft_kind)spec->kind,
                          .rank = spec->n_dims};
  int64_t in = 1, made = 1;
  void *memory;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(context), &memory));
  context *c = memory;

  c->node = node;
  c->block = weir_fft_block_of(spec, &node->access);
  for (int k = p.rank - 1; k >= 0; k--) {
    p.dim[k] = (weir_fft_dim){c->block.n[k], in, made};
    in *= c->block.in[k];
    made *= c->block.out[k];
  }
  lay_out(c);
  const weir_status status = weir_fft_plan_create(&p, &c->plan);

  if (status != WEIR_OK) {
    weir_free(&memory);
    return status;
  }
  *out = c;
  return WEIR_OK;
}

static void release(void *opaque)
{
  context *c = opaque;

  if (c != NULL) {
    weir_fft_plan_destroy(&c->plan);
    weir_free(&c);
  }
}

/* Of enough blocks to copy some together; not so few that threads wait for one another. */
static int64_t pieces_of(const context *c)
{
  const weir_box whole = weir_iterations(&c->node->access);
  const int64_t points = weir_batch_count(&c->node->access, &whole);
  const int64_t min = points < FEW_PIECES ? points : FEW_PIECES, n = points / c->lines;

  return n > MAX_PIECES ? MAX_PIECES : n > min ? n : min > 1 ? min : 1;
}

static int64_t pieces(const void *opaque, int stage)
{
  const context *c = opaque;

  return stage > 0 ? 0 : c->lines == 1 ? weir_batch_stage(c->node, 0) : pieces_of(c);
}

static int64_t scratch(const void *opaque)
{
  const context *c = opaque;

  return c->lines * c->apart;
}

static void scale(weir_dtype dtype, double by, int64_t n, void *data)
{
  const int64_t parts = weir_dtype_is_complex(dtype) ? 2 * n : n;
  float *f = data;
  double *d = data;

  if (weir_dtype_part(dtype) == WEIR_F32) {
    for (int64_t i = 0; i < parts; i++) {
      f[i] *= (float)by;
    }
  } else {
    for (int64_t i = 0; i < parts; i++) {
      d[i] *= by;
    }
  }
}

/* Elements of one size, of `lines` blocks side by side in the array at `at`, and each in
 * a separate block in memory; out: to the array. A few indices of all blocks at a time: what they
 * touch of the array is then still in the nearest cache, also where rows are a power of two apart.
 */
#define COPY_LINES(type)                                                                         \
  for (int64_t from = 0; from < n; from += PLACES) {                                             \
    const int64_t to = from + PLACES < n ? from + PLACES : n;                                    \
    for (int64_t k = 0; k < lines; k++) {                                                        \
      type *block = (type *)(memory + k * apart), *row = (type *)at + k;                         \
      for (int64_t j = from; j < to; j++) {                                                      \
        memcpy(out ? row + j *down : block + j, out ? block + j : row + j * down, sizeof(type)); \
      }                                                                                          \
    }                                                                                            \
  }

static void copy_row(char *at, int64_t down, char *memory, int64_t apart, int64_t n, int64_t lines,
                     size_t size, bool out)
{
  if (size == 4) {
    COPY_LINES(uint32_t)
  } else if (size == 8) {
    COPY_LINES(uint64_t)
  } else {
    COPY_LINES(weir_c128)
  }
}

/* The blocks of an operand at `lines` iterations from that one on. */
static void copy_blocks(const context *c, const weir_operand *o, const weir_view *v,
                        const int64_t *iteration, int64_t lines, char *memory, bool out)
{
  const weir_fft_spec *s = c->node->spec;
  const int64_t outer = s->n_dims > 2 ? o->extent[s->dim[0]] : 1;
  const int64_t size = (int64_t)weir_dtype_size(v->dtype);

  for (int64_t i = 0; i < outer; i++) {
    const weir_matrix m = weir_fft_rows(s, o, c->node->access.n_dims, v, iteration, i);

    for (int64_t row = 0; row < m.rows; row++, memory += m.columns * size) {
      copy_row(m.data + row * m.down * size, m.across, memory, c->apart, m.columns, lines,
               (size_t)size, out);
    }
  }
}

static void make_block(const context *c, char *memory)
{
  const double by = ((const weir_fft_spec *)c->node->spec)->scale;

  weir_fft_plan_run(c->plan, memory, memory + c->in);
  if (by != 0) {
    scale(c->node->access.out[0].dtype, by, c->block.n_out, memory + c->in);
  }
}

/* Points from `at` on whose blocks lie side by side on both sides. */
static int64_t side_by_side(const context *c, const weir_kernel_run *r, const int64_t *at,
                            int64_t left)
{
  const weir_access *a = &c->node->access;
  const int last = a->in[0].rank - 1;
  int64_t n = c->lines < left ? c->lines : left;

  if (n == 1 || r->views[0].stride[last] != 1 || r->views[1].stride[last] != 1) {
    return 1;
  }
  const int k = weir_index_follows(&a->in[0].index[last], a->n_dims);

  return k < 0 ? 1 : r->box.hi[k] - at[k] < n ? r->box.hi[k] - at[k] : n;
}

static void run(const weir_kernel_run *r)
{
  const context *c = r->context;
  const weir_access *a = &c->node->access;
  const int64_t points = weir_batch_count(a, &r->box), n = pieces(c, 0);
  const int64_t to = points * (r->piece + 1) / n;
  int64_t at[WEIR_MAX_DIMS];
  char *memory = r->scratch;

  for (int64_t p = points * r->piece / n, lines; p < to; p += lines) {
    weir_batch_point(a, &r->box, p, at);
    lines = side_by_side(c, r, at, to - p);
    copy_blocks(c, &a->in[0], &r->views[0], at, lines, memory, false);
    for (int64_t k = 0; k < lines; k++) {
      make_block(c, memory + k * c->apart);
    }
    copy_blocks(c, &a->out[0], &r->views[1], at, lines, memory + c->in, true);
  }
}

const weir_kernel weir_kernel_fft_fftw = {
    .name = "fft.fftw",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .scratch = scratch,
    .run = run,
};
