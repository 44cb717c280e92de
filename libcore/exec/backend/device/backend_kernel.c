/* backend_kernel.c - kernels of a device's libraries: made before the memory plan, so that a group
 * whose call the library lacks can still be generated, or run on the host. */
#include "base/weir_log.h"
#include "exec/backend/device/backend.h"
#include "exec/plan/plan_priv.h"

static weir_status make(void *plan, const weir_device_source *source,
                        const weir_kernel_grid *launch, const weir_device_kernel **out)
{
  WEIR_TRY(exec_backend_kernel(plan, source, launch, out));
  return WEIR_OK;
}

static weir_status open_kernel(weir_plan *p, exec_group *group)
{
  exec_kernel *k = &group->kernels[0];
  struct exec_backend *b = p->backend;
  const weir_kernel *kernel = k->claim->kernel;
  const weir_kernel_maker maker = {
      .device = b->device, .runs = !b->text_only, .tf32 = p->cfg.tf32, .make = make, .plan = b};
  int32_t node = k->claim->node;
  const weir_group alone = {.nodes = &node, .n_nodes = 1};
  int64_t workspace = 0;

  b->preparing = (int32_t)(group - p->groups);
  k->n_arrays = kernel->arrays(p->g, &alone, k->arrays, WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS);
  WEIR_TRY(kernel->open(p->g, &alone, &maker, &k->context, &workspace));
  b->workspace_bytes = workspace > b->workspace_bytes ? workspace : b->workspace_bytes;
  WEIR_TRY(kernel->call == NULL
               ? WEIR_OK
               : exec_call_save(b, weir_library_spec_of(kernel->call(k->context))));
  return WEIR_OK;
}

/* The kernel of the CPU that the group would have had, or NULL: its loops are generated. */
static void take_back(weir_plan *p, exec_group *group)
{
  weir_group *from = weir_graph_group_mut(p->g, group->number);
  weir_claim *claim = &from->claims[0];
  weir_pass_opts opts = exec_pass_opts(p);
  const weir_group alone = {.nodes = &claim->node, .n_nodes = 1};
  double seconds;

  opts.device = NULL;
  claim->kernel = weir_graph_node(p->g, claim->node)->access.maker == WEIR_MADE_BY_LIBRARY
                      ? weir_kernel_best(p->g, &alone, &opts, &seconds)
                      : NULL;
  if (claim->kernel == NULL) {
    from->n_claims = group->n_kernels = 0;
    group->loops[0].loop->claimed = false;
  }
  (void)weir_group_kernels(from, group->kernel_names, sizeof group->kernel_names);
}

weir_status exec_backend_open_kernel(weir_plan *p, exec_group *group)
{
  const weir_kernel *kernel = group->n_kernels > 0 ? group->kernels[0].claim->kernel : NULL;

  if (kernel == NULL || kernel->open == NULL) {
    return WEIR_OK;
  }
  WEIR_ASSERT(group->n_loops == 1); /* such kernels are not blocked */
  const bool whole = !p->streaming && !p->arrays[group->loops[0].loop->out[0]].shared;
  const weir_status status = whole ? open_kernel(p, group) : WEIR_ERR_UNSUPPORTED;

  if (status == WEIR_OK) {
    group->on_device = true;
    return WEIR_OK;
  }
  if (status != WEIR_ERR_UNSUPPORTED) {
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  if (whole) {
    weir_event("kernel", WEIR_TEXT("device", weir_device_name(p->backend->device)),
               WEIR_TEXT("refused", kernel->name), WEIR_TEXT("group", group->members),
               WEIR_TEXT("reason", weir_last_message()));
    weir_clear_failure();
  }
  take_back(p, group);
  return WEIR_OK;
}

weir_status exec_backend_run_kernel(weir_plan *p, exec_group *group)
{
  struct exec_backend *b = p->backend;
  const exec_kernel *k = &group->kernels[0];
  weir_view views[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];

  for (int i = 0; i < k->n_arrays; i++) {
    views[i] = exec_backend_view(p, k->arrays[i]);
  }
  b->ahead = true;
  WEIR_TRY(k->claim->kernel->launch(&(weir_kernel_launch){
      .context = k->context, .queue = b->work, .views = views, .workspace = b->workspace}));
  return WEIR_OK;
}
