/* contract_sliding.c - sums of products of complex numbers at sliding positions, such as filters
 * (FIR) and convolutions of arrays of matrices, of any labels and affine indices. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/contract/sliding.h"

static const weir_access *access_of(const weir_graph *g, const weir_group *group)
{
  return &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
}

/* Complex multiplications for a flop of the f32 rate of a core, elements moved for a byte. */
static const double per_flop = 0.06, per_byte = 0.06;

static double match(const weir_graph *g, const weir_group *group)
{
  sliding_form s;

  if (group->n_nodes != 1 || !sliding_form_of(access_of(g, group), &s)) {
    return -1;
  }
  const weir_constants *m = &weir_cpu_get()->constants;

  return sliding_work(&s) / (per_flop * m->flop_rate) +
         sliding_moves(&s) / (per_byte * m->bandwidth);
}

static int arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  sliding_form s;
  const bool is_form = sliding_form_of(&node->access, &s);

  WEIR_ASSERT(is_form);
  (void)is_form;
  return packed_arrays(&s.product, node, list, n);
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(sliding_form), &memory));
  if (!sliding_form_of(access_of(g, group), memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "contract_sliding: the group is not a sliding-window sum");
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
  return stage == 0 ? sliding_pieces(context) : 0;
}

static int64_t scratch(const void *context)
{
  return sliding_scratch(context);
}

static void run(const weir_kernel_run *r)
{
  sliding_run(r->context, r->views, r->piece, r->scratch);
}

const weir_kernel weir_kernel_contract_sliding = {
    .name = "contract.sliding",
    .device = "cpu",
    .match = match,
    .arrays = arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .scratch = scratch,
    .run = run,
};
