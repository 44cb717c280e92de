/* layers.c - convolutions as a graph has them. */
#include "layers.h"
#include "ops/conv/weir_conv.h"

static layer_conv layer_of(const weir_graph *g, const weir_node *node)
{
  const weir_conv_spec *spec = node->spec;
  const weir_array *x = weir_graph_get_array(g, node->in[0]);
  const weir_array_desc *w = &weir_graph_get_array(g, node->in[1])->desc;
  const weir_array_desc *y = &weir_graph_get_array(g, node->out[0])->desc;
  const int dims = x->desc.rank - 2, unused = LAYER_DIMS - dims;
  layer_conv c = {.batch = x->desc.shape[0],
                  .ci = x->desc.shape[dims + 1],
                  .co = y->shape[dims + 1],
                  .first = x->kind == WEIR_ARRAY_INPUT};

  for (int d = 0; d < LAYER_DIMS; d++) {
    const int at = d - unused;

    c.in[d] = at < 0 ? 1 : x->desc.shape[1 + at];
    c.out[d] = at < 0 ? 1 : y->shape[1 + at];
    c.kernel_size[d] = at < 0 ? 1 : w->shape[at];
    c.lo[d] = at < 0 ? 0 : spec->pad_before[at];
    c.hi[d] = at < 0 ? 0 : spec->pad_after[at];
  }
  return c;
}

int layers_of(const weir_graph *g, int32_t nodes, layer_conv *layer, int most)
{
  int n = 0;

  for (int32_t i = 0; i < nodes; i++) {
    const weir_node *node = weir_graph_node(g, i);

    if (node->op == &weir_op_conv && n < most) {
      layer[n++] = layer_of(g, node);
    }
  }
  return n;
}
