/* conv_data_dnnl.c - gradients of convolutions by x, in f32 or from bf16, by oneDNN. */
#include "ops/conv/conv_dnnl.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return conv_dnnl_match(g, group, CONV_DATA);
}

/* Weights packed, chunks, then what lies beyond the ends added up. */
static int64_t pieces(const void *context, int stage)
{
  const conv_dnnl *c = context;

  return stage == 0                ? c->n_blocks
         : stage == 1              ? c->chunking.count
         : stage == 2 && c->padded ? conv_dnnl_rows(&c->form)
                                   : 0;
}

static void run(const weir_kernel_run *r)
{
  const conv_dnnl *c = r->context;

  if (r->stage == 0) {
    conv_dnnl_reorder(c, r->piece, r->views[2].data);
  } else if (r->stage == 1) {
    conv_dnnl_chunks(c, r);
  } else {
    conv_dnnl_fold(c, r->views[0].data, r->piece, r->scratch);
  }
}

const weir_kernel weir_kernel_conv_data_dnnl = {
    .name = "conv_data.dnnl",
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
