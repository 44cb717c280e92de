/* contract_packed.c - products of complex numbers, of any labels and affine indices, by panels that
 * are packed. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "graph/weir_kernel.h"
#include "ops/contract/packed.h"

static const weir_access *access_of(const weir_graph *g, const weir_group *group)
{
  return &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
}

/* Below this many complex multiplications in a matrix the loop is as fast. */
static const double min_work = 8;
/* Complex multiplications for a flop of the f32 rate of a core, elements packed for a byte. */
static const double per_flop = 0.06, per_byte = 0.06;

static double match(const weir_graph *g, const weir_group *group)
{
  packed_form f;

  if (group->n_nodes != 1 || !packed_form_of(access_of(g, group), &f) ||
      (double)f.rows.count * (double)f.columns.count * (double)f.depth.count < min_work) {
    return -1;
  }
  const weir_constants *m = &weir_cpu_get()->constants;

  return packed_work(&f) / (per_flop * m->flop_rate) + packed_moves(&f) / (per_byte * m->bandwidth);
}

static int arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  packed_form f;
  const bool is_form = packed_form_of(&node->access, &f);

  WEIR_ASSERT(is_form);
  (void)is_form;
  return packed_arrays(&f, node, list, n);
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(packed_form), &memory));
  if (!packed_form_of(access_of(g, group), memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "contract_packed: the group is not a matrix product");
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
  return stage == 0 ? packed_pieces(context) : 0;
}

static int64_t scratch(const void *context)
{
  return packed_scratch(context);
}

static void run(const weir_kernel_run *r)
{
  packed_run(r->context, r->views, r->piece, r->scratch);
}

const weir_kernel weir_kernel_contract_packed = {
    .name = "contract.packed",
    .device = "cpu",
    .match = match,
    .arrays = arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .scratch = scratch,
    .run = run,
};
