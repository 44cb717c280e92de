/* conv_weights_dnnl.c - gradients of convolutions by their weights, in f32 or from bf16, by oneDNN:
 * a sum for every chunk, merged in a fixed tree. */
#include "ops/conv/conv_dnnl.h"

enum { PAD, CHUNKS, MERGE, UNPACK, MEND, STEPS };

static double match(const weir_graph *g, const weir_group *group)
{
  return conv_dnnl_match(g, group, CONV_WEIGHTS);
}

static int64_t pieces_of(const conv_dnnl *c, int step)
{
  const int64_t n[STEPS] = {
      [PAD] = c->padded ? conv_dnnl_rows(&c->inner) : 0,
      [CHUNKS] = c->chunking.count,
      [MERGE] = conv_dnnl_merge_blocks(c),
      [UNPACK] = c->n_blocks,
      [MEND] = c->mends ? c->form.groups * c->form.in : 0,
  };

  return n[step];
}

/* The step that a stage is: those without pieces are left out. */
static int step_of(const conv_dnnl *c, int stage)
{
  for (int step = 0; step < STEPS; step++) {
    if (pieces_of(c, step) > 0 && stage-- == 0) {
      return step;
    }
  }
  return STEPS;
}

static int64_t pieces(const void *context, int stage)
{
  const int step = step_of(context, stage);

  return step < STEPS ? pieces_of(context, step) : 0;
}

static void run(const weir_kernel_run *r)
{
  const conv_dnnl *c = r->context;

  switch (step_of(c, r->stage)) {
  case PAD:
    conv_dnnl_pad(c, r->views[0].data, r->piece);
    break;
  case CHUNKS:
    conv_dnnl_chunk(c, r->piece, conv_dnnl_inner_x(c, &r->views[0]), r->views[1].data, r->scratch);
    break;
  case MERGE:
    conv_dnnl_merge(c, r->piece);
    break;
  case UNPACK:
    conv_dnnl_reorder(c, r->piece, r->views[2].data);
    break;
  default:
    conv_dnnl_mend(c, r->piece, conv_dnnl_inner_x(c, &r->views[0]), r->views[1].data,
                   r->views[2].data);
  }
}

const weir_kernel weir_kernel_conv_weights_dnnl = {
    .name = "conv_weights.dnnl",
    .device = "cpu",
    .match = match,
    .arrays = conv_form_arrays,
    .prepare = conv_dnnl_prepare,
    .release = conv_dnnl_release,
    .pieces = pieces,
    .workspace = conv_dnnl_workspace,
    .scratch = conv_dnnl_scratch,
    .set_workspace = conv_dnnl_set_workspace,
    .run = run,
};
