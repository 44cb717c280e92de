/* solve_device.c - systems with few rows on devices, a thread block for each. */
#include "ops/solve/weir_solve.h"
#include "ops/weir_batch.h"
#include "ops/weir_device_solve.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_device_solve_match(g, group, &weir_op_solve);
}

static weir_status open_systems(const weir_graph *g, const weir_group *group,
                                const weir_kernel_maker *maker, void **context, int64_t *workspace)
{
  const weir_solve_spec *s = weir_graph_node(g, group->nodes[group->n_nodes - 1])->spec;
  const weir_device_systems how = {.transposed = s->transposed != 0,
                                   .conjugated = s->conjugated != 0};

  WEIR_TRY(weir_device_solve_open(g, group, &how, maker, context, workspace));
  return WEIR_OK;
}

const weir_kernel weir_kernel_solve_device = {
    .name = "solve.device",
    .device = WEIR_KERNEL_DEVICE,
    .match = match,
    .arrays = weir_batch_arrays,
    .open = open_systems,
    .release = weir_device_solve_release,
    .launch = weir_device_solve_launch,
};
