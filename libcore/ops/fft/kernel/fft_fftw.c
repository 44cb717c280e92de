/* fft_fftw.c - Fourier transforms by FFTW, block by block through memory of the thread: blocks of
 * any strides, in which FFTW's vector code has the alignment that it asks for. */
#include "base/weir_alloc.h"
#include "graph/weir_kernel.h"
#include "ops/fft/weir_fft.h"
#include "ops/weir_batch.h"

typedef struct context {
  const weir_node *node; /* the graph's */
  weir_fft_block block;
  weir_fft_plan *plan;
} context;

/* Of a library on one thread, about. */
static const double flops_per_second = 4e9;

static double match(const weir_graph *g, const weir_group *group)
{
  if (!weir_batch_claims(g, group, &weir_op_fft)) {
    return -1;
  }
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_box whole = weir_iterations(&node->access);

  /* Nothing to transform, or no points: FFTW has no plan. */
  for (int k = 0; k < node->access.n_dims; k++) {
    if (node->access.dim[k].kind == WEIR_REDUCED && node->access.dim[k].hi < 1) {
      return -1;
    }
  }
  return weir_flops(&node->access, &whole) / flops_per_second;
}

/* Bytes of a block, to the next that is aligned. */
static int64_t bytes_of(int64_t n, weir_dtype dtype)
{
  return (n * (int64_t)weir_dtype_size(dtype) + 63) & ~(int64_t)63;
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

static int64_t pieces(const void *opaque, int stage)
{
  return weir_batch_stage(((const context *)opaque)->node, stage);
}

static int64_t scratch(const void *opaque)
{
  const context *c = opaque;

  return bytes_of(c->block.n_in, c->node->access.in[0].dtype) +
         bytes_of(c->block.n_out, c->node->access.out[0].dtype);
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

static void run(const weir_kernel_run *r)
{
  const context *c = r->context;
  const weir_access *a = &c->node->access;
  const weir_fft_spec *s = c->node->spec;
  char *out = (char *)r->scratch + bytes_of(c->block.n_in, a->in[0].dtype);
  int64_t from, to, at[WEIR_MAX_DIMS];

  weir_batch_piece(a, &r->box, r->piece, &from, &to);
  for (int64_t p = from; p < to; p++) {
    weir_batch_point(a, &r->box, p, at);
    weir_fft_load(s, &a->in[0], a->n_dims, &r->views[0], at, a->in[0].dtype, r->scratch);
    weir_fft_plan_run(c->plan, r->scratch, out);
    if (s->scale != 0) {
      scale(a->out[0].dtype, s->scale, c->block.n_out, out);
    }
    weir_fft_store(s, &a->out[0], a->n_dims, &r->views[1], at, a->out[0].dtype, out);
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
