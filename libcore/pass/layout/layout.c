/* layout.c - orders of dimensions and kernels, chosen together.
 *
 * Transposes are taken out; every array gets the orders that its readers, writers and the kernels
 * that claim them would want, and may be written in one and copied to others; every node gets its
 * ways to run. What all of it costs is a sum over pairs of an array and a node, whose least value
 * is found by elimination: forward and backward are one graph, so it is one problem. */
#include "base/weir_alloc.h"
#include "pass/layout/layout_priv.h"

/* What a change must save of what it changes: models are not so exact. */
#define MIN_GAIN 0.02

static bool has_time(const weir_graph *g)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    if (weir_graph_get_array(g, a)->desc.time > 0) {
      return true;
    }
  }
  return false;
}

weir_status layout_begin(formatting *f)
{
  void *memory = NULL;

  f->n_arrays = weir_graph_arrays(f->g);
  f->n_nodes = weir_graph_nodes(f->g);
  WEIR_TRY(weir_alloc(f->n_arrays, sizeof(layout_array), &memory));
  f->arrays = memory;
  WEIR_TRY(weir_alloc(f->n_nodes, sizeof(layout_node), &memory));
  f->nodes = memory;
  WEIR_TRY(weir_alloc(f->n_nodes, sizeof(int32_t), &memory));
  f->group = memory;
  WEIR_TRY(weir_alloc(f->n_nodes, sizeof(*f->kernel), &memory));
  f->kernel = memory;
  for (int32_t a = 0; a < f->n_arrays; a++) {
    f->arrays[a].n_orders = 1;
    for (int d = 0; d < WEIR_MAX_RANK; d++) {
      f->arrays[a].order[0].at[d] = d;
    }
  }
  for (int32_t i = 0; i < f->n_nodes; i++) {
    f->group[i] = -1;
  }
  for (int32_t i = 0; i < weir_graph_groups(f->g); i++) {
    const weir_group *group = weir_graph_group(f->g, i);

    for (int64_t k = 0; k < group->n_nodes; k++) {
      f->group[group->nodes[k]] = i;
      const weir_claim *claim = weir_group_claim(group, group->nodes[k]);

      f->kernel[group->nodes[k]] = claim != NULL ? claim->kernel : NULL;
    }
  }
  return WEIR_OK;
}

void layout_finish(formatting *f)
{
  weir_free(&f->arrays);
  weir_free(&f->nodes);
  weir_free(&f->group);
  weir_free(&f->kernel);
}

/* Iterations follow results where accesses are others than before. */
static bool follow(formatting *f)
{
  bool any = false;

  for (int32_t i = 0; i < f->n_nodes; i++) {
    const weir_node *node = weir_graph_node(f->g, i);
    bool changed = false;

    for (int k = 0; k < node->n_in + node->n_out && layout_is_live(node); k++) {
      const int32_t array = layout_array_of(node, k);

      changed = changed || array >= f->n_arrays || f->arrays[array].changed;
    }
    if (changed) {
      (void)weir_layout_follow(f->g, i);
    }
    any = any || changed;
  }
  return any;
}

/* absorbed: nodes have gone. */
static weir_status solve(formatting *f, bool absorbed)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  WEIR_TRY(weir_alloc(f->n_arrays, sizeof(int32_t), &memory));
  int32_t *chosen = memory;

  layout_find_choices(f);
  WEIR_TRY_GOTO(layout_choose(f, MIN_GAIN, chosen), out);
  WEIR_TRY_GOTO(layout_apply(f, chosen), out);
  if (follow(f) || absorbed) {
    weir_graph_clear_groups(f->g); /* formed again by the second run of that pass */
  }
out:
  weir_free(&memory);
  return status;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  weir_status status = WEIR_OK;
  formatting f = {.g = g, .opts = opts, .constants = weir_pass_constants(opts)};

  /* Streams lie in windows along time; a copy would belong to no micro-batch. */
  if (has_time(g) || opts->microbatches > 1) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(layout_begin(&f), out);
  const bool absorbed = layout_absorb(&f);

  if (layout_find_orders(&f) || absorbed) {
    WEIR_TRY_GOTO(solve(&f, absorbed), out);
  }
out:
  layout_finish(&f);
  return status;
}

const weir_pass weir_pass_layout = {
    .name = "layout",
    .former = "format",
    .cite = "layouts as a shortest path: Ivanov et al., MLSys 2021 (arXiv:2007.00072)",
    .order = 22,
    .run = run,
};
