/* fft_planes_fftw.c - transforms of real planes [ny, nx] by FFTW's complex vector code.
 *
 * Two rows are one complex row, whose spectrum holds those of both. Along y, only the columns that
 * the spectrum has are transformed, side by side; along x, a few pairs of rows at a time, while
 * they are in cache. The bits of a plane do not depend on the batch.
 *
 * In blocks, the passes are stages: columns of all planes, and blocks of rows, which loops read or
 * make; what is between them is in the workspace. */
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/fft/planes_priv.h"
#include "ops/weir_batch.h"

typedef struct context {
  planes planes;
  const planes_code *code;
  bool blocked;
} context;

enum { MAX_LINES = 4, ALIGNED = 4 };

/* Of the f32 rate of a core, what a library reaches, about. */
static const double share_of_peak = 0.2;

static const planes_code *code_of(weir_dtype dtype)
{
  const int which = weir_dtype_part(dtype) == WEIR_F32 ? 0 : 1;
#if defined(__x86_64__)
  const weir_cpu *cpu = weir_cpu_get();

  if (cpu->avx512 || (cpu->avx2 && cpu->fma)) {
    return cpu->avx512 ? &planes_avx512[which] : &planes_avx2[which];
  }
#endif
  return &planes_plain[which];
}

static double match(const weir_graph *g, const weir_group *group)
{
  const double rate = weir_cpu_get()->constants.flop_rate * share_of_peak;
  const double seconds = weir_batch_seconds(g, group, &weir_op_fft, rate);
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_fft_spec *s = node->spec;

  if (seconds < 0 || s->kind < WEIR_FFT_REAL || s->n_dims != 2) {
    return -1;
  }
  const weir_fft_block b = weir_fft_block_of(s, &node->access);

  return b.n_in < 1 || b.n_out < 1 ? -1 : seconds;
}

static void lay_out(planes *c)
{
  const weir_fft_spec *s = c->node->spec;
  const weir_fft_block b = weir_fft_block_of(s, &c->node->access);

  c->back = s->kind == WEIR_FFT_TO_REAL;
  c->scale = s->scale != 0 ? s->scale : 1;
  c->ny = b.n[0];
  c->nx = b.n[1];
  c->waves = c->back ? b.in[1] : b.out[1];
  c->pitch = (c->waves + ALIGNED - 1) / ALIGNED * ALIGNED;
  c->rows = c->ny + c->ny % 2;
  c->lines = MAX_LINES;
  while (c->rows / 2 % c->lines != 0) {
    c->lines /= 2;
  }
  c->line = (c->lines * c->nx + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static weir_status make_plans(planes *c)
{
  const weir_fft_kind kind = c->back ? WEIR_FFT_BACKWARD : WEIR_FFT_FORWARD;
  weir_fft_plan_spec p = {.dtype = weir_dtype_part(c->node->access.in[0].dtype),
                          .kind = kind,
                          .rank = 1,
                          .loops = 1,
                          .dim = {{c->ny, c->pitch, c->pitch}},
                          .loop = {{c->pitch, 1, 1}}};

  WEIR_TRY(weir_fft_plan_create(&p, &c->along_y));
  p.dim[0] = (weir_fft_dim){c->nx, 1, 1};
  p.loop[0] = (weir_fft_dim){c->lines, c->nx, c->nx};
  return weir_fft_plan_create(&p, &c->along_x);
}

static void release(void *opaque)
{
  context *c = opaque;

  if (c != NULL) {
    weir_fft_plan_destroy(&c->planes.along_y);
    weir_fft_plan_destroy(&c->planes.along_x);
    weir_free(&c);
  }
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(context), &memory));
  context *c = memory;

  c->planes.node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  c->code = code_of(c->planes.node->access.in[0].dtype);
  c->blocked = group->n_claims > 0;
  lay_out(&c->planes);
  const weir_status status = make_plans(&c->planes);

  if (status != WEIR_OK) {
    release(c);
    return status;
  }
  *out = c;
  return WEIR_OK;
}

/* Of the passes, the one along y has pieces; in blocks, it is stage 1 from a plane. */
static int64_t pieces(const void *opaque, int stage)
{
  const context *c = opaque;
  const int only = c->blocked && !c->planes.back ? 1 : 0;

  return stage == only ? weir_batch_stage(c->planes.node, 0) : 0;
}

static size_t pair_bytes(const planes *c)
{
  return 2 * weir_dtype_size(weir_dtype_part(c->node->access.in[0].dtype));
}

static int64_t plane_bytes(const planes *c)
{
  return c->rows * c->pitch * (int64_t)pair_bytes(c);
}

/* A spectrum, what is between the passes, and lines. */
static int64_t scratch(const void *opaque)
{
  const planes *c = &((const context *)opaque)->planes;

  return 2 * plane_bytes(c) + 2 * c->line * (int64_t)pair_bytes(c);
}

static int64_t workspace(const void *opaque)
{
  const context *c = opaque;
  const weir_access *a = &c->planes.node->access;
  const weir_box all = weir_iterations(a);

  return c->blocked ? weir_batch_count(a, &all) * plane_bytes(&c->planes) : 0;
}

static const weir_operand *plane_of(const weir_fft_spec *s, const weir_access *a)
{
  return s->kind == WEIR_FFT_TO_REAL ? &a->out[0] : &a->in[0];
}

/* Planes of the batch, and rows that are transformed at once. */
static bool blocks_of(const weir_graph *g, const weir_group *group, weir_kernel_blocks *blocks)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_access *a = &node->access;
  const weir_fft_spec *s = node->spec;
  const weir_operand *plane = plane_of(s, a);
  planes c = {.node = node};

  lay_out(&c);
  *blocks = (weir_kernel_blocks){.stage = c.back, .of_input = !c.back};
  for (int d = 0; d < plane->rank; d++) {
    blocks->block_size[d] = d == s->dim[0] ? 2 * c.lines : d != s->dim[1];
    if (d != s->dim[0] && d != s->dim[1] && weir_index_follows(&plane->index[d], a->n_dims) < 0) {
      return false;
    }
  }
  return true;
}

/* Where a thread has its lines; the waves between those of a pair of rows and their mirror images
 * are 0. */
static char *lines_of(const planes *c, char *memory)
{
  char *const lines = memory + 2 * plane_bytes(c);

  if (c->back) {
    memset(lines, 0, (size_t)c->line * pair_bytes(c));
  }
  return lines;
}

/* The matrices of both sides at one point of the batch. */
static weir_matrix matrix_of(const planes *c, const weir_kernel_run *r, const int64_t *at, bool out)
{
  const weir_access *a = &c->node->access;

  return weir_fft_rows(c->node->spec, out ? &a->out[0] : &a->in[0], a->n_dims, &r->views[out], at,
                       0);
}

/* The pass along y, between a spectrum and `mixed`. */
static void run_columns(const context *given, const weir_kernel_run *r, const int64_t *at,
                        void *mixed)
{
  const planes *c = &given->planes;
  const weir_matrix spectrum = matrix_of(c, r, at, !c->back);

  (c->back ? given->code->columns_to_real : given->code->columns_from_real)(c, &spectrum, mixed,
                                                                            r->scratch);
}

/* The pass along x, between `mixed` and rows [from, to) of a plane. */
static void run_rows(const context *given, const weir_kernel_run *r, const int64_t *at, void *mixed,
                     int64_t from, int64_t to, void *lines)
{
  const planes *c = &given->planes;
  const weir_matrix plane = matrix_of(c, r, at, c->back);

  (c->back ? given->code->rows_to_real : given->code->rows_from_real)(c, mixed, from, to, &plane,
                                                                      lines);
}

/* Of the plane at a point of the batch. */
static void *mixed_of(const planes *c, const weir_kernel_run *r, const int64_t *at)
{
  return (char *)r->workspace + weir_batch_number(&c->node->access, &r->box, at) * plane_bytes(c);
}

static void run_block(const context *given, const weir_kernel_run *r)
{
  const planes *c = &given->planes;
  const weir_access *a = &c->node->access;
  const weir_fft_spec *s = c->node->spec;
  const weir_operand *plane = plane_of(s, a);
  void *const lines = lines_of(c, r->scratch);
  weir_box box = r->box;
  int64_t at[WEIR_MAX_DIMS];

  for (int d = 0; d < plane->rank; d++) {
    const int k = weir_index_follows(&plane->index[d], a->n_dims);

    if (d != s->dim[0] && d != s->dim[1]) {
      box.lo[k] = r->block.lo[d];
      box.hi[k] = r->block.hi[d];
    }
  }
  const int64_t n = weir_batch_count(a, &box);

  for (int64_t p = 0; p < n; p++) {
    weir_batch_point(a, &box, p, at);
    run_rows(given, r, at, mixed_of(c, r, at), r->block.lo[s->dim[0]], r->block.hi[s->dim[0]],
             lines);
  }
}

static void run(const weir_kernel_run *r)
{
  const context *given = r->context;
  const planes *c = &given->planes;
  int64_t at[WEIR_MAX_DIMS], from, to;

  if (r->piece < 0) {
    run_block(given, r);
    return;
  }
  char *const mixed = (char *)r->scratch + plane_bytes(c);
  void *const lines = given->blocked ? NULL : lines_of(c, r->scratch);

  weir_batch_piece(&c->node->access, &r->box, r->piece, 1, &from, &to);
  for (int64_t p = from; p < to; p++) {
    weir_batch_point(&c->node->access, &r->box, p, at);
    if (given->blocked) {
      run_columns(given, r, at, mixed_of(c, r, at));
    } else if (c->back) {
      run_columns(given, r, at, mixed);
      run_rows(given, r, at, mixed, 0, c->ny, lines);
    } else {
      run_rows(given, r, at, mixed, 0, c->ny, lines);
      run_columns(given, r, at, mixed);
    }
  }
}

const weir_kernel weir_kernel_fft_planes_fftw = {
    .name = "fft.planes",
    .device = "cpu",
    .match = match,
    .arrays = weir_batch_arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .scratch = scratch,
    .workspace = workspace,
    .blocks = blocks_of,
    .run = run,
};
