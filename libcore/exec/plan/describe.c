/* describe.c - what a plan says of itself: passes, groups, traffic, memory, time; and the check of
 * passes. */
#include <stdlib.h>
#include <string.h>
#include "plan_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_integer.h"
#include "exec/backend/device/backend.h"
#include "exec/weir_predict.h"
#include "exec/ranks/ranks_priv.h"
#include "ops/call/weir_call.h"
#include "pass/autodiff/weir_gradients.h"

/* Slots of one chunk in the figures of a node: of the fastest input that it goes together with;
 * where no access relates it to one, of the longest input. */
static int64_t chunk_slots(const weir_plan *p, const weir_node *node)
{
  const int32_t base = weir_node_rate(p->g, node, p->rates).base;
  int64_t slots = 1;

  if (base >= 0 && p->feeds[base] > 0) {
    return p->feeds[base];
  }
  for (int32_t a = 0; a < p->n_arrays; a++) {
    slots = p->bounds[a] > slots ? p->bounds[a] : slots;
  }
  return slots;
}

int64_t weir_plan_period(const weir_plan *p)
{
  return weir_rates_period(p->rates, p->n_arrays);
}

/* The graph as the pass left it, after what the passes before left. */
static weir_status keep_dump(weir_plan *p, const weir_pass *pass, const weir_graph *g)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  void *grown = p->dump;
  const int64_t old = p->dump != NULL ? (int64_t)strlen(p->dump) + 1 : 0;

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "describe: out of memory for the dump of pass %s",
                     pass->name);
  }
  fprintf(out, "== after %s\n", pass->name);
  weir_graph_print(g, 4096, out);
  fclose(out);
  const weir_status status =
      weir_realloc(&grown, old, (old > 0 ? old : 1) + (int64_t)size, sizeof(char));

  if (status == WEIR_OK) {
    p->dump = grown;
    memcpy(p->dump + (old > 0 ? old - 1 : 0), text, size + 1);
  }
  /* Memory of open_memstream is libc's own. */
  free(text);
  WEIR_TRY(status);
  return WEIR_OK;
}

weir_status exec_watch(void *plan, const weir_pass *pass, const weir_graph *g)
{
  weir_plan *p = plan;

  exec_phase_end(p, pass->name);
  if (!p->terse) {
    WEIR_TRY(keep_dump(p, pass, g));
    exec_phase_end(p, "dump");
  }
  if (p->cfg.verify != 0) {
    WEIR_TRY(exec_verify(p, pass, g));
    exec_phase_end(p, "verify");
  }
  return WEIR_OK;
}

/* The list of saved arrays as text. */
static weir_status keep_saved(weir_plan *p)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "describe: out of memory for the list of saved arrays");
  }
  weir_status status = weir_saved_print(p->g, out);

  if (fclose(out) != 0 && status == WEIR_OK) {
    status = weir_fail(WEIR_ERR_MEMORY, "describe: out of memory for the list of saved arrays");
  }
  status = status == WEIR_OK ? weir_strdup(text, &p->saved) : status;
  free(text); /* libc's own */
  return status;
}

/* What times of the group are kept by, and where its waits for other ranks are counted. */
static weir_status digest_group(const weir_plan *p, exec_group *group)
{
  const weir_group *from = weir_graph_group(p->g, group->number);
  const weir_comm_op *move =
      p->ranks != NULL ? weir_spmd_graph_finishes(p->g, from->nodes[0]) : NULL;

  group->waited_s = move != NULL ? &((const exec_carrier *)move->context)->waited_s : NULL;
  if (p->cfg.explain) {
    WEIR_TRY(weir_spmd_graph_digest(p->g, from, group->digest));
  }
  return WEIR_OK;
}

/* As many as fit. */
static void name_results(weir_plan *p)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const char *const name = weir_graph_get_array(p->g, a)->output;
    const size_t used = strlen(p->results);

    if (name != NULL && used + strlen(name) + 3 < sizeof p->results) {
      (void)snprintf(p->results + used, sizeof p->results - used, "%s%s", used > 0 ? ", " : "",
                     name);
    }
  }
}

weir_status exec_summarise(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_groups; i++) {
    const weir_group *group = weir_graph_group(p->g, p->groups[i].number);
    const weir_node *anchor = weir_graph_node(p->g, group->nodes[group->n_nodes - 1]);
    const weir_traffic t = weir_group_traffic(p->g, group, chunk_slots(p, anchor), p->rates);

    p->groups[i].flops = t.flops;
    p->groups[i].bytes = (double)t.read_bytes + (double)t.write_bytes;
    p->groups[i].kernel_class = exec_class_of(&p->groups[i]);
    p->groups[i].dtype = exec_dtype_of(&p->groups[i]);
    WEIR_TRY(digest_group(p, &p->groups[i]));
  }
  name_results(p);
  WEIR_TRY(keep_saved(p));
  weir_graph_shed(p->g);
  return WEIR_OK;
}

int32_t weir_plan_groups(const weir_plan *p)
{
  return p->n_groups;
}

weir_group_report weir_plan_group(const weir_plan *p, int32_t number)
{
  const exec_group *group = &p->groups[number];
  const weir_group *from = weir_graph_group(p->g, group->number);
  const exec_loop *anchor = &group->loops[group->n_loops - 1];
  weir_group_report r = {.members = group->members,
                         .digest = group->digest,
                         .flops = group->flops,
                         .bytes = group->bytes,
                         .calls = group->calls,
                         .kernel_class = group->kernel_class,
                         .dtype = group->dtype,
                         .blocks = group->blocks,
                         .on_host = p->backend != NULL && !group->on_device,
                         .saved_bytes = from->saved_bytes};

  r.kernel = group->kernel_names[0] != 0 ? group->kernel_names
             : group->on_device          ? weir_device_name(p->backend->device)
             : anchor->engine != NULL    ? anchor->engine->name
                                         : "call";
  const double moving_s = r.bytes / p->constants->bandwidth;
  const double computing_s = r.flops / p->constants->flop_rate;

  r.predicted_s = moving_s > computing_s ? moving_s : computing_s;
  if (p->runs > 0 && p->cfg.explain) {
    r.counted_bytes = group->counted_bytes / p->runs;
    r.measured_s = group->seconds / p->runs;
    r.waited_s = group->waited_s != NULL ? *group->waited_s / p->runs : 0;
    r.elsewhere_s = p->predicts ? weir_group_predict(&r, &p->here, &p->there) : 0;
  }
  return r;
}

int64_t weir_plan_arena_bytes(const weir_plan *p)
{
  return p->schedule.arena_bytes;
}

int64_t weir_plan_arena_bound(const weir_plan *p)
{
  return p->schedule.lower_bound;
}

int64_t weir_plan_microbatches(const weir_plan *p)
{
  return p->memory.microbatches;
}

bool weir_plan_recomputes_elementwise(const weir_plan *p)
{
  return p->memory.elementwise;
}

int weir_plan_blocks_again(const weir_plan *p)
{
  return __builtin_popcount(p->memory.choice.again);
}

int64_t weir_plan_bound(const weir_plan *p, const char *result)
{
  for (int32_t a = 0; a < p->n_arrays; a++) {
    const char *output = weir_graph_get_array(p->g, a)->output;

    if (output != NULL && strcmp(output, result) == 0) {
      return p->arrays[a].time >= 0 ? p->arrays[a].capacity : 1;
    }
  }
  return 0;
}

/* What the calls of the graph say of their contexts. */
static int64_t context_bytes(const weir_graph *g)
{
  int64_t bytes = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *const node = weir_graph_node(g, i);

    if (node != NULL && node->op == &weir_op_call && !node->dead) {
      bytes += ((const weir_call_spec *)node->spec)->context_bytes;
    }
  }
  return bytes;
}

int64_t weir_plan_memory_bytes(const weir_plan *p)
{
  int64_t bytes = p->schedule.arena_bytes + p->scratch_bytes * p->threads + p->workspace_bytes;

  for (int32_t a = 0; a < p->n_arrays; a++) {
    const weir_array *array = weir_graph_get_array(p->g, a);

    bytes += array->kind == WEIR_ARRAY_CONSTANT ? (int64_t)weir_tensor_bytes(&array->constant) : 0;
    /* Other windows are in the arena, unless that is a device's. */
    const bool apart =
        array->kind == WEIR_ARRAY_INPUT || (p->backend != NULL && p->schedule.offset[a] >= 0);

    bytes += apart && p->arrays[a].time >= 0 ? p->arrays[a].bytes : 0;
  }
  for (int32_t i = 0; i < p->n_groups; i++) {
    for (int32_t k = 0; k < p->groups[i].n_loops; k++) {
      const exec_loop *loop = &p->groups[i].loops[k];

      bytes += loop->cells.points *
               weir_table_before(&loop->loop->access, loop->loop->access.n_states) *
               (int64_t)sizeof(uint64_t);
    }
  }
  return bytes + context_bytes(p->g);
}

/* The loop, and the engine's copy of it. */
static int64_t bytes_of(const weir_loop *loop)
{
  const weir_access *a = &loop->access;

  return 2 * (int64_t)(sizeof *loop + (size_t)(a->n_in + a->n_out) * sizeof *a->in +
                       (size_t)a->n_states * sizeof *a->state);
}

int64_t weir_plan_own_bytes(const weir_plan *p)
{
  int64_t bytes = p->n_arrays * (int64_t)(sizeof(weir_array) + sizeof(exec_array)) +
                  p->n_groups * (int64_t)(sizeof(weir_group) + sizeof(exec_group)) +
                  (int64_t)strlen(p->dump != NULL ? p->dump : "");

  for (int32_t i = 0; i < p->n_groups; i++) {
    const exec_group *group = &p->groups[i];

    for (int32_t k = 0; k < group->n_loops; k++) {
      bytes += (int64_t)sizeof(exec_loop) + bytes_of(group->loops[k].loop);
    }
    bytes +=
        group->n_kept * (int64_t)((size_t)(group->n_loops + group->n_kernels) * sizeof(weir_box) +
                                  (size_t)group->n_locals * sizeof(weir_view));
  }
  return bytes;
}

weir_tier weir_plan_tier(const weir_plan *p)
{
  return p->tier;
}

void weir_plan_print(const weir_plan *p, FILE *out)
{
  fprintf(out, "== groups (%s peaks: %.3g bytes/s, %.3g flop/s; per %s)\n",
          p->constants->measured ? "measured" : "built-in", p->constants->bandwidth,
          p->constants->flop_rate, p->streaming ? "chunk" : "run");
  fprintf(out, "%-4s %-18s %12s %12s %10s %12s %12s  %s\n", "no", "kernel", "flops", "bytes",
          "flop/byte", "predicted s", "saved bytes", "members");
  for (int32_t i = 0; i < p->n_groups; i++) {
    const weir_group_report r = weir_plan_group(p, i);

    fprintf(out, "%-4d %-18s %12.4g %12.4g %10.3g %12.3g %12.4g  %s\n", i, r.kernel, r.flops,
            r.bytes, r.bytes > 0 ? r.flops / r.bytes : 0, r.predicted_s, r.saved_bytes, r.members);
  }
  if (p->ranks != NULL) {
    exec_ranks_print(p, out);
  }
  if (p->backend != NULL) {
    exec_backend_print(p, out);
  }
  exec_early_print(p, out);
  fprintf(out, "== memory\n");
  exec_budget_print(p, out);
  weir_schedule_print(&p->schedule, p->g, out);
  fprintf(out, "scratch: %lld bytes per thread; workspace of kernels: %lld bytes\n",
          (long long)p->scratch_bytes, (long long)p->workspace_bytes);
  exec_phases_print(p, out);
  fprintf(out, "%s%s", p->saved, p->dump != NULL ? p->dump : "");
}
