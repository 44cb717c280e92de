/* tile.c - the outer box of every group: tiles whose local buffers stay in cache; of library
 * operators as many points at a time as are worth a call of a thread. */
#include <string.h>
#include "pass/tile/weir_tile.h"

/* Whole along the last dimensions, as long as the work is at most tile_flops. */
static void tile_library(const weir_access *a, double tile_flops, int64_t *tile)
{
  double work = a->point_flops;

  for (int d = a->n_dims - 1; d >= 0; d--) {
    const int64_t extent = a->dim[d].hi - a->dim[d].lo;

    if (a->dim[d].kind != WEIR_PARALLEL) {
      continue;
    }
    const double max = work > 0 ? tile_flops / work : (double)extent;

    tile[d] = max < 1 ? 1 : max < (double)extent ? (int64_t)max : extent;
    work *= (double)tile[d];
  }
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    weir_group *group = weir_graph_group_mut(g, i);
    const weir_node *anchor = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
    weir_tile_cost cost;

    memset(group->tile, 0, sizeof(group->tile));
    if (group->n_nodes > 1 || (anchor->access.maker == WEIR_MADE_BY_BODY && group->n_claims == 0)) {
      WEIR_TRY(weir_tile_choose(g, group, opts, group->tile, &cost));
    } else if (anchor->access.maker == WEIR_MADE_BY_LIBRARY) {
      tile_library(&anchor->access, weir_pass_constants(opts)->tile_flops, group->tile);
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
