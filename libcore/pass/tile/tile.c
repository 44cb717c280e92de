/* tile.c - the outer box of every group: tiles whose local buffers stay in cache. */
#include "device/weir_parallel.h"
#include "pass/lower/weir_loop.h"
#include "pass/weir_pass.h"

/* A tile is worth its overhead (boxes composed, views set) from about this many points. */
#define LEAST_POINTS 1024
/* Points of a tile that has no local buffer: small enough to share among threads, large enough to
 * stream. */
#define STREAM_POINTS 65536

/* Bytes of the arrays that live only inside the group, per point of the anchor: each takes about
 * one element. */
static int64_t local_bytes(const weir_graph *g, const weir_group *group, const weir_loop *loops,
                           int32_t n)
{
  int64_t bytes = 0;

  for (int32_t k = 0; k < n; k++) {
    for (int o = 0; o < loops[k].access.n_out; o++) {
      if (weir_group_is_local(g, group, loops[k].out[o])) {
        bytes += (int64_t)weir_dtype_size(loops[k].access.out[o].dtype);
      }
    }
  }
  return bytes;
}

static weir_status tile_group(const weir_graph *g, weir_group *group, int64_t cache)
{
  const weir_node *anchor = weir_graph_node(g, group->nodes[group->n_nodes - 1]);
  weir_loop *loops = NULL;
  int32_t n = 0;

  for (int d = 0; d < WEIR_MAX_DIMS; d++) {
    group->tile[d] = 0;
  }
  if (anchor->access.opaque || group->kernel != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_lower(g, group, &loops, &n));
  const int64_t per_point = local_bytes(g, group, loops, n);
  int64_t points = per_point > 0 ? cache / per_point : STREAM_POINTS;

  weir_loops_free(&loops, n);
  points = (points < LEAST_POINTS ? LEAST_POINTS : points) & ~(int64_t)63;
  for (int d = anchor->access.n_dims - 1; d >= 0; d--) {
    const weir_dim *dim = &anchor->access.dim[d];
    const int64_t extent = dim->hi - dim->lo;

    if (dim->kind == WEIR_REDUCED || dim->kind == WEIR_BACKWARD) {
      continue;
    }
    group->tile[d] = extent > points ? (points > 0 ? points : 1) : 0;
    points = extent > points ? 1 : points / (extent > 0 ? extent : 1);
  }
  return WEIR_OK;
}

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  /* A quarter of L2: the tile's locals, what it reads and writes, and the engine's strips share the
   * cache. */
  const int64_t cache = opts->cache_bytes > 0 ? opts->cache_bytes : weir_cpu_get()->l2_bytes / 4;

  for (int32_t i = 0; i < weir_graph_groups(g); i++) {
    WEIR_TRY(tile_group(g, weir_graph_group_mut(g, i), cache > 0 ? cache : 65536));
  }
  return WEIR_OK;
}

const weir_pass weir_pass_tile = {
    .name = "tile",
    .cite = "cache blocking over composed boxes",
    .order = 30,
    .run = run,
};
