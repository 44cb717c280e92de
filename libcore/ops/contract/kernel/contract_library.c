/* contract_library.c - products of matrices, and of stacks of them, by a device's own library. */
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/weir_kernel.h"
#include "ops/contract/matrices.h"

static weir_library_matrix matrix_of(const weir_operand *o, int down, int across, int apart,
                                     bool conjugated)
{
  return (weir_library_matrix){.down = weir_operand_stride(o, down),
                               .across = weir_operand_stride(o, across),
                               .apart = apart >= 0 ? weir_operand_stride(o, apart) : 0,
                               .conjugated = conjugated};
}

/* The call, its first operand A. */
static bool spec_of(const weir_graph *g, const weir_group *group, contract_matrices *s,
                    weir_library_spec *spec)
{
  memset(spec, 0, sizeof *spec);
  if (!contract_matrices_of(g, group, s) || weir_dtype_is_storage(s->dtype)) {
    return false;
  }
  const weir_access *a = &weir_graph_node(g, group->nodes[group->n_nodes - 1])->access;
  const bool stacked = s->stack > 0;
  weir_library_product *p = &spec->product;

  spec->kind = WEIR_LIBRARY_PRODUCT;
  p->dtype = s->dtype;
  p->m = s->m;
  p->n = s->n;
  p->k = s->k;
  p->stack = stacked ? s->stack : 1;
  p->a = matrix_of(&a->in[s->a], s->am, s->ak, stacked ? s->as : -1, s->a_conj);
  p->b = matrix_of(&a->in[1 - s->a], s->bk, s->bn, stacked ? s->bs : -1, s->b_conj);
  p->c = matrix_of(&a->out[0], s->cm, s->cn, stacked ? s->cs : -1, false);
  return weir_library_is_call(spec);
}

/* Flop/s of one GPU, about: kernels are compared with one another alone. */
static const double rate = 1e13;

static double match(const weir_graph *g, const weir_group *group)
{
  weir_library_spec spec;
  contract_matrices s;

  if (!spec_of(g, group, &s, &spec) || contract_matrices_work(&s) < CONTRACT_MIN_WORK) {
    return -1;
  }
  return 2 * contract_matrices_work(&s) * (double)spec.product.stack / rate;
}

static int arrays(const weir_graph *g, const weir_group *group, int32_t *list, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  weir_library_spec spec;
  contract_matrices s;
  const bool is = spec_of(g, group, &s, &spec);

  WEIR_ASSERT(n >= WEIR_LIBRARY_OPERANDS && is);
  list[0] = node->in[s.a];
  list[1] = node->in[1 - s.a];
  list[2] = node->out[0];
  return WEIR_LIBRARY_OPERANDS;
}

static weir_status open_call(const weir_graph *g, const weir_group *group,
                             const weir_kernel_maker *maker, void **context, int64_t *workspace)
{
  weir_library_spec spec;
  contract_matrices s;
  weir_library_call *call = NULL;
  const bool is = spec_of(g, group, &s, &spec);

  WEIR_ASSERT(is);
  spec.tf32 = maker->tf32;
  WEIR_TRY(weir_library_create(maker->device, &spec, maker->runs, &call));
  *context = call;
  *workspace = weir_library_workspace(call);
  return WEIR_OK;
}

static void release(void *context)
{
  weir_library_call *call = context;

  weir_library_destroy(&call);
}

static weir_status launch(const weir_kernel_launch *l)
{
  void *const operand[] = {l->views[0].data, l->views[1].data, l->views[2].data};

  WEIR_TRY(weir_library_run(l->queue, l->context, operand, l->workspace));
  return WEIR_OK;
}

static const weir_library_call *call_of(const void *context)
{
  return context;
}

const weir_kernel weir_kernel_contract_library = {
    .name = "contract.library",
    .device = WEIR_KERNEL_DEVICE,
    .match = match,
    .arrays = arrays,
    .open = open_call,
    .release = release,
    .launch = launch,
    .call = call_of,
};
