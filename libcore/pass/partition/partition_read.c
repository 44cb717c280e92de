/* partition_read.c - how a replicated array is read: in shards that ranks could own. */
#include "pass/partition/partition_priv.h"

weir_box partition_read(const weir_partition *p, int32_t array, int rank)
{
  weir_box hull = {.rank = weir_graph_get_array(p->g, array)->desc.rank};
  bool any = false;

  for (int32_t i = 0; i < p->n_order; i++) {
    const weir_node *node = weir_graph_node(p->g, p->order[i]);

    for (int k = 0; k < node->n_in; k++) {
      if (node->in[k] == array) {
        const weir_box run = weir_partition_iterations(p, p->order[i], rank);
        const weir_region need = weir_needed(&node->access, k, &run);
        const weir_box box = weir_region_hull(&need);

        if (!weir_region_empty(&need)) {
          weir_box_grow(&hull, &box, &any);
        }
      }
    }
  }
  return hull;
}

bool weir_partition_read_sharding(const weir_partition *p, int32_t array, int dim, int along,
                                  int64_t *bounds)
{
  const int64_t extent = weir_graph_get_array(p->g, array)->desc.shape[dim];
  const int n = p->grid.extent[along], ranks = weir_grid_size(&p->grid);
  int64_t end = 0;

  for (int q = 0; q < n; q++) {
    int64_t lo = -1, hi = -1; /* no rank there reads any */

    for (int rank = 0; rank < ranks; rank++) {
      int coords[WEIR_GRID_DIMS];

      weir_grid_coords(&p->grid, rank, coords);
      const weir_box read =
          coords[along] == q ? partition_read(p, array, rank) : (weir_box){.rank = 1};

      if (weir_box_empty(&read)) {
        continue;
      }
      if (lo >= 0 && (read.lo[dim] != lo || read.hi[dim] != hi)) {
        return false;
      }
      lo = read.lo[dim];
      hi = read.hi[dim];
    }
    if (lo >= 0 && lo != end) {
      return false;
    }
    bounds[q] = end;
    end = lo >= 0 ? hi : end;
  }
  bounds[n] = end;
  return n > 1 && end == extent && extent > 0;
}
