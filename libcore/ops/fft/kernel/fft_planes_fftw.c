/* fft_planes_fftw.c - transforms of real planes [ny, nx] by FFTW's complex vector code.
 *
 * Two rows are one complex row, whose spectrum holds those of both. Along y, only the columns that
 * the spectrum has are transformed, side by side; along x, a few pairs of rows at a time, while
 * they are in cache. A plane is transformed by itself: its bits do not depend on the batch. */
#include <string.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/fft/planes_priv.h"
#include "ops/weir_batch.h"

typedef struct context {
  planes planes;
  const planes_code *code;
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
  lay_out(&c->planes);
  const weir_status status = make_plans(&c->planes);

  if (status != WEIR_OK) {
    release(c);
    return status;
  }
  *out = c;
  return WEIR_OK;
}

static int64_t pieces(const void *opaque, int stage)
{
  return weir_batch_stage(((const context *)opaque)->planes.node, stage);
}

static size_t pair_bytes(const planes *c)
{
  return 2 * weir_dtype_size(weir_dtype_part(c->node->access.in[0].dtype));
}

static int64_t scratch(const void *opaque)
{
  const planes *c = &((const context *)opaque)->planes;

  return 2 * (c->rows * c->pitch + c->line) * (int64_t)pair_bytes(c);
}

/* The waves between those of a pair of rows and their mirror images, which stay 0. */
static void clear_lines(const planes *c, char *memory)
{
  char *const lines = memory + 2 * (size_t)(c->rows * c->pitch) * pair_bytes(c);

  memset(lines, 0, (size_t)c->line * pair_bytes(c));
}

static void run(const weir_kernel_run *r)
{
  const context *given = r->context;
  const planes *c = &given->planes;
  const weir_access *a = &c->node->access;
  const weir_fft_spec *s = c->node->spec;
  planes_run *const transform = c->back ? given->code->to_real : given->code->from_real;
  int64_t at[WEIR_MAX_DIMS], from, to;

  weir_batch_piece(a, &r->box, r->piece, 1, &from, &to);
  if (c->back) {
    clear_lines(c, r->scratch);
  }
  for (int64_t p = from; p < to; p++) {
    weir_batch_point(a, &r->box, p, at);
    const weir_matrix in = weir_fft_rows(s, &a->in[0], a->n_dims, &r->views[0], at, 0);
    const weir_matrix out = weir_fft_rows(s, &a->out[0], a->n_dims, &r->views[1], at, 0);

    transform(c, &in, &out, r->scratch);
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
    .run = run,
};
