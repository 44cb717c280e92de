/* conv_pool_sparse.c - gradients of convolutions that only maxima over windows saw, f32: of a
 * window one element has one (conv_pool_sparse.h), by the vector code of this processor
 * (pool_sparse_priv.h).
 *
 * Stride and dilation 1, one group, padding that is absent. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/conv/conv_pool_sparse.h"
#include "ops/conv/pool_sparse_priv.h"

typedef struct kept {
  conv_pool_sparse p;
  const pool_sparse_kernels *k;
  pool_sparse_conv s; /* steps are those of a run */
} kept;

static bool makes_data(const kept *c)
{
  return c->p.form.kind == CONV_DATA;
}

static bool find(const weir_graph *g, const weir_group *group, kept *c)
{
  const conv_form *f = &c->p.form;

  c->k = pool_sparse_kernels_get();
  if (c->k == NULL || !conv_pool_sparse_of_group(g, group, &c->p) || !conv_form_is(f, WEIR_F32) ||
      f->groups != 1 || f->kind == CONV_FORWARD) {
    return false;
  }
  c->s = (pool_sparse_conv){.n = f->n,
                            .in = f->in,
                            .out = f->out,
                            .x = {1, 1, 1},
                            .y = {1, 1, 1},
                            .kernel_size = {1, 1, 1},
                            .window = {1, 1, 1}};
  for (int k = 0; k < f->d; k++) {
    const int d = 3 - f->d + k;

    if (f->stride[k] != 1 || (f->dilation[k] != 1 && f->kernel_size[k] > 1) ||
        f->border[k] != WEIR_BORDER_ABSENT) {
      return false;
    }
    c->s.x[d] = f->x_extent[k];
    c->s.y[d] = f->y_extent[k] / c->p.window[k];
    c->s.kernel_size[d] = f->kernel_size[k];
    c->s.lo[d] = f->lo[k];
    c->s.window[d] = c->p.window[k];
  }
  return pool_sparse_takes(&c->s);
}

/* Of the peak of a thread, 0.07 of the built-in rate a lane, as measured on Zen 4: a vector is
 * loaded for every multiplication. Weights pass by once, what lies between the stages twice. */
static double match(const weir_graph *g, const weir_group *group)
{
  const weir_constants *m = &weir_cpu_get()->constants;
  const double bandwidth = 0.5 * m->bandwidth, peak = 0.07 * m->flop_rate;
  kept c;

  if (!find(g, group, &c)) {
    return -1;
  }
  const double weights = 4.0 * (double)(c.s.kernel_size[0] * c.s.kernel_size[1] *
                                        c.s.kernel_size[2] * c.s.in * c.s.out);
  const double moved = weights + 2 * (double)pool_sparse_workspace(c.k, &c.s, makes_data(&c));
  double share = 0.5, flops = conv_form_flops(&c.p.form);

  for (int d = 0; d < 3; d++) {
    flops /= (double)c.s.window[d];
  }
  if (c.s.kernel_size[2] * (c.s.in < c.k->lanes ? c.s.in : c.k->lanes) < c.k->lanes) {
    share *= (double)(c.s.kernel_size[2] * c.s.in) / (double)c.k->lanes;
  }
  return flops / (peak * (double)c.k->lanes * share) + moved / bandwidth + m->group_overhead;
}

/* x, y, w, argmax. */
static int arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  conv_pool_sparse p;

  WEIR_ASSERT(n >= 4 && conv_pool_sparse_of_group(g, group, &p));
  list[0] = p.form.x < 0 ? node->out[0] : node->in[p.form.x];
  list[1] = node->in[p.form.y];
  list[2] = p.form.w < 0 ? node->out[0] : node->in[p.form.w];
  list[3] = node->in[p.argmax];
  return 4;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(kept), &memory));
  if (!find(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(
        WEIR_ERR_SHAPE,
        "conv_pool_sparse: the group is not a gradient of a convolution before max-pooling");
  }
  *context = memory;
  return WEIR_OK;
}

static void release(void *context)
{
  weir_free(&context);
}

static int64_t pieces(const void *context, int stage)
{
  const kept *c = context;

  return stage < POOL_SPARSE_STAGES ? pool_sparse_pieces(c->k, &c->s, makes_data(c), stage) : 0;
}

static int64_t workspace(const void *context)
{
  const kept *c = context;

  return pool_sparse_workspace(c->k, &c->s, makes_data(c));
}

static int64_t scratch(const void *context)
{
  const kept *c = context;

  return pool_sparse_scratch(c->k, &c->s, makes_data(c));
}

/* Samples and rows of x may be made by themselves; of a small one, boxes would be too few for the
 * threads. */
static bool blocks_of(const weir_graph *g, const weir_group *group, weir_kernel_blocks *b)
{
  kept c;

  if (!find(g, group, &c) || !makes_data(&c) || !pool_sparse_large(&c.s)) {
    return false;
  }
  *b = (weir_kernel_blocks){.stage = POOL_SPARSE_STAGES - 1};
  conv_form_block_size(c.p.form.d, b);
  return true;
}

static void run(const weir_kernel_run *r)
{
  const kept *c = r->context;
  const conv_form *f = &c->p.form;
  const conv_weight_strides w_strides = conv_form_weights(f, &r->views[2]);
  pool_sparse_conv s = c->s;
  float *x = r->views[0].data, *w = (float *)r->views[2].data + w_strides.base;
  pool_sparse_sum sum = {.k = c->k,
                         .s = &s,
                         .data = makes_data(c),
                         .x = x,
                         .y = r->views[1].data,
                         .w = w,
                         .made = makes_data(c) ? x : w,
                         .argmax = r->views[3].data,
                         .workspace = r->workspace,
                         .scratch = r->scratch};

  conv_form_steps(&r->views[0], f->d, s.x_step);
  conv_form_steps(&r->views[1], f->d, s.y_step);
  conv_form_steps(&r->views[3], f->d, s.argmax_step);
  for (int k = 0; k < f->d; k++) {
    s.w_step[3 - f->d + k] = w_strides.tap[k];
  }
  s.w_step[3] = w_strides.in;
  s.w_step[4] = w_strides.out;
  if (r->piece < 0) {
    int64_t lo[3], hi[3];

    conv_form_box(r, &r->views[0], f->d, lo, hi, sum.first);
    pool_sparse_rows(&sum, lo, hi);
  } else {
    pool_sparse_piece(&sum, r->stage, r->piece);
  }
}

const weir_kernel weir_kernel_conv_pool_sparse = {
    .name = "conv.pool_sparse",
    .device = "cpu",
    .match = match,
    .arrays = arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .workspace = workspace,
    .scratch = scratch,
    .blocks = blocks_of,
    .run = run,
};
