/* tile.c - the outer box of every group: tiles whose local buffers stay in cache. */
#include <string.h>
#include "pass/tile/weir_tile.h"

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    weir_group *group = weir_graph_group_mut(g, i);
    const weir_node *anchor = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
    weir_tile_cost cost;

    memset(group->tile, 0, sizeof(group->tile));
    if (!anchor->access.opaque && (group->kernel == NULL || group->n_nodes > 1)) {
      WEIR_TRY(weir_tile_choose(g, group, opts, group->tile, &cost));
    }
  }
  return WEIR_OK;
}

const weir_pass weir_pass_tile = {
    .name = "tile",
    .cite = "cache blocking over composed boxes",
    .order = 30,
    .run = run,
};
