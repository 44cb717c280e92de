/* conv_forward_dnnl.c - convolutions in f32 or of bf16 by oneDNN. */
#include "ops/conv/conv_dnnl.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return conv_dnnl_match(g, group, CONV_FORWARD);
}

/* Weights packed and borders written out, then chunks. */
static int64_t pieces(const void *context, int stage)
{
  const conv_dnnl *c = context;

  return stage == 0   ? c->n_blocks + (c->padded ? conv_dnnl_rows(&c->inner) : 0)
         : stage == 1 ? c->chunking.count
                      : 0;
}

static void run(const weir_kernel_run *r)
{
  const conv_dnnl *c = r->context;

  if (r->stage == 1) {
    conv_dnnl_chunks(c, r);
  } else if (r->piece < c->n_blocks) {
    conv_dnnl_reorder(c, r->piece, r->views[2].data);
  } else {
    conv_dnnl_pad(c, r->views[0].data, r->piece - c->n_blocks);
  }
}

const weir_kernel weir_kernel_conv_forward_dnnl = {
    .name = "conv_forward.dnnl",
    .device = "cpu",
    .match = match,
    .arrays = conv_form_arrays,
    .prepare = conv_dnnl_prepare,
    .release = conv_dnnl_release,
    .pieces = pieces,
    .workspace = conv_dnnl_workspace,
    .scratch = conv_dnnl_scratch,
    .set_workspace = conv_dnnl_set_workspace,
    .blocks = conv_dnnl_blocks,
    .run = run,
};
