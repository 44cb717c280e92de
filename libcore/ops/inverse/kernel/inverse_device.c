/* inverse_device.c - inverses with few rows on devices: systems whose right sides are the identity.
 */
#include "ops/inverse/weir_inverse.h"
#include "ops/weir_batch.h"
#include "ops/weir_device_solve.h"

static double match(const weir_graph *g, const weir_group *group)
{
  return weir_device_solve_match(g, group, &weir_op_inverse);
}

static weir_status open_systems(const weir_graph *g, const weir_group *group,
                                const weir_kernel_maker *maker, void **context, int64_t *workspace)
{
  WEIR_TRY(weir_device_solve_open(g, group, &(weir_device_systems){.transposed = false}, maker,
                                  context, workspace));
  return WEIR_OK;
}

const weir_kernel weir_kernel_inverse_device = {
    .name = "inverse.device",
    .device = WEIR_KERNEL_DEVICE,
    .match = match,
    .arrays = weir_batch_arrays,
    .open = open_systems,
    .release = weir_device_solve_release,
    .launch = weir_device_solve_launch,
};
