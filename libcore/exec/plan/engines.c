/* engines.c - the engine of the loops of a plan, and the kernels of its groups. */
#include "plan_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"

/* Loops that an engine runs: all that no kernel makes. */
static int32_t collect(const weir_plan *p, const weir_loop **loops, exec_loop **where)
{
  int32_t n = 0;

  for (int32_t i = 0; i < p->n_groups; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      exec_loop *loop = &p->groups[i].loops[k];

      if (loop->loop->access.maker == WEIR_MADE_BY_BODY && !loop->loop->claimed &&
          !p->groups[i].on_device) {
        if (loops != NULL) {
          loops[n] = loop->loop;
          where[n] = loop;
        }
        n++;
      }
    }
  }
  return n;
}

static weir_status prepare_engine(weir_plan *p, const weir_engine *engine)
{
  const weir_engine_opts opts = {
      .compiler = p->cfg.compiler, .cache_dir = p->cfg.cache_dir, .threads = p->threads};
  weir_status status = WEIR_OK;
  const int32_t n = collect(p, NULL, NULL);
  void *memory = NULL;
  const weir_loop **loops = NULL;
  exec_loop **where = NULL;
  void **contexts = NULL;

  WEIR_TRY(weir_alloc(n, sizeof(*loops), &memory));
  loops = memory;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(*where), &memory), out);
  where = memory;
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(*contexts), &memory), out);
  contexts = memory;
  (void)collect(p, loops, where);
  WEIR_TRY_GOTO(engine->prepare(loops, n, &opts, contexts), out);
  for (int32_t i = 0; i < n; i++) {
    where[i]->engine = engine;
    where[i]->context = contexts[i];
  }
  p->tier = engine->tier;
out:
  weir_free(&loops);
  weir_free(&where);
  weir_free(&contexts);
  return status;
}

static const weir_engine *find_engine(weir_tier tier)
{
  for (int i = 0; weir_engine_table[i] != NULL; i++) {
    if (weir_engine_table[i]->tier == tier) {
      return weir_engine_table[i];
    }
  }
  return NULL;
}

weir_status exec_choose_engine(weir_plan *p)
{
  const weir_tier forced = (weir_tier)p->cfg.tier;

  if (forced != WEIR_TIER_AUTO) {
    const weir_engine *engine = find_engine(forced);

    if (engine == NULL) {
      return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: this build has no engine '%s'",
                       weir_tier_name(forced));
    }
    WEIR_TRY(prepare_engine(p, engine));
    return WEIR_OK;
  }
  for (weir_tier tier = WEIR_TIER_NATIVE; tier > WEIR_TIER_AUTO; tier--) {
    const weir_engine *engine = find_engine(tier);
    const weir_status status = engine != NULL ? prepare_engine(p, engine) : WEIR_ERR_UNSUPPORTED;

    if (status != WEIR_ERR_UNSUPPORTED) {
      return status;
    }
    if (engine != NULL) {
      weir_info("exec", "groups do not run in the engine '%s': %s", engine->name,
                weir_last_message());
      weir_event("exec_fallback", WEIR_TEXT("engine", engine->name),
                 WEIR_TEXT("reason", weir_last_message()));
      weir_clear_failure();
    }
  }
  return weir_fail(WEIR_ERR_UNSUPPORTED, "plan: no engine runs this graph");
}

static void keep_scratch(exec_group *group, int64_t bytes)
{
  bytes = (bytes + 63) & ~(int64_t)63;
  group->kernel_scratch = bytes > group->kernel_scratch ? bytes : group->kernel_scratch;
  group->scratch = group->kernel_scratch;
}

static weir_status prepare_kernel(weir_plan *p, exec_group *group, exec_kernel *k)
{
  int32_t node = k->claim->node;
  weir_group alone = {.nodes = &node, .n_nodes = 1, .n_claims = group->n_loops > 1};

  alone.claims[0] = *k->claim;
  WEIR_TRY(weir_kernel_use_create(k->claim->kernel, p->g, &alone, &k->use));
  k->n_arrays = weir_kernel_use_arrays(k->use, k->arrays);
  keep_scratch(group, weir_kernel_use_scratch(k->use));
  return WEIR_OK;
}

/* The kernels of a group keep what is in their workspaces while the tiles run. */
static void divide_workspace(weir_plan *p, exec_group *group)
{
  int64_t bytes = 0;

  for (int i = 0; i < group->n_kernels; i++) {
    exec_kernel *k = &group->kernels[i];

    k->workspace = bytes;
    bytes += weir_kernel_use_workspace(k->use);
  }
  p->workspace_bytes = bytes > p->workspace_bytes ? bytes : p->workspace_bytes;
}

/* Of library operators that no kernel makes. */
static void ask_libraries(const weir_plan *p, exec_group *group)
{
  const weir_group *from = weir_graph_group(p->g, group->number);

  for (int64_t i = 0; i < from->n_nodes; i++) {
    const weir_node *node = weir_graph_node(p->g, from->nodes[i]);

    if (node->access.maker == WEIR_MADE_BY_LIBRARY && node->op->scratch != NULL &&
        weir_group_claim(from, from->nodes[i]) == NULL) {
      keep_scratch(group, node->op->scratch(node->spec, &node->access));
    }
  }
}

weir_status exec_prepare_kernels(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_groups; i++) {
    exec_group *group = &p->groups[i];

    if (group->on_device) {
      continue;
    }
    for (int k = 0; k < group->n_kernels; k++) {
      WEIR_TRY(prepare_kernel(p, group, &group->kernels[k]));
    }
    divide_workspace(p, group);
    ask_libraries(p, group);
  }
  return WEIR_OK;
}

weir_status exec_bind_kernels(weir_plan *p)
{
  void *memory = NULL;

  WEIR_TRY(exec_memory_hold(p, p->workspace_bytes, &memory));
  p->workspace = memory;
  for (int32_t i = 0; i < p->n_groups && !p->sizes_only; i++) {
    for (int k = 0; k < p->groups[i].n_kernels; k++) {
      const exec_kernel *one = &p->groups[i].kernels[k];

      if (one->use != NULL) { /* else the group runs on a device */
        WEIR_TRY(weir_kernel_use_set_workspace(one->use, p->workspace + one->workspace));
      }
    }
  }
  return WEIR_OK;
}
