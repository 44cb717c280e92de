/* tiles.c - tiles of a group's box, and what its loops run for each: composed when the plan is
 * made, where the box of every run is the same and the tiles are few. */
#include "base/weir_alloc.h"
#include "plan_priv.h"

/* Boxes of loops that are kept for one group, at most: many tiles are large ones. */
enum { MAX_KEPT = 512 };

int64_t exec_tile_count(const exec_group *group, const weir_box *box, int64_t *count)
{
  const bool tiled = group->n_kernels == 0 || group->n_loops > 1;
  int64_t total = 1;

  for (int d = 0; d < box->rank; d++) {
    const int64_t extent = box->hi[d] - box->lo[d];
    const int64_t tile = group->tile[d];

    count[d] = tile > 0 && extent > tile && tiled ? (extent + tile - 1) / tile : 1;
    total *= count[d];
  }
  return total;
}

weir_box exec_tile_box(const exec_group *group, const weir_box *box, const int64_t *count,
                       int64_t number)
{
  weir_box tile = *box;

  for (int d = box->rank - 1; d >= 0; d--) {
    const int64_t at = number % count[d];
    const int64_t size = group->tile[d];

    number /= count[d];
    if (count[d] > 1) {
      tile.lo[d] = box->lo[d] + at * size;
      tile.hi[d] = tile.lo[d] + size < box->hi[d] ? tile.lo[d] + size : box->hi[d];
    }
  }
  return tile;
}

void exec_tile_compose(const exec_group *group, const weir_box *tile, exec_tile *out)
{
  const int32_t n = group->n_loops;

  out->boxes[n - 1] = *tile;
  weir_members_compose(group->member, n, out->boxes);
  for (int32_t k = 0; k < n; k++) {
    const weir_loop *loop = group->loops[k].loop;

    for (int o = 0; o < loop->access.n_out; o++) {
      const int64_t l = group->loops[k].out_local[o];

      if (l >= 0) {
        out->locals[l] = exec_local_view(&group->locals[l], loop, o, &out->boxes[k], out->scratch);
      }
    }
  }
  for (int i = 0; i < group->n_kernels && n > 1; i++) {
    const exec_kernel *kernel = &group->kernels[i];
    const weir_access *a = &group->loops[kernel->loop].loop->access;
    const weir_box *box = &out->boxes[kernel->loop];
    const weir_region region =
        kernel->claim->blocks.of_input ? weir_needed(a, 0, box) : weir_written(a, 0, box);

    out->blocks[i] = weir_region_hull(&region);
  }
}

static weir_status keep(const weir_plan *p, exec_group *group)
{
  const weir_box box = exec_anchor_box(group, 0, 0);
  const int32_t n = group->n_loops, locals = group->n_locals, kernels = group->n_kernels;
  int64_t count[WEIR_MAX_DIMS];
  const int64_t tiles = exec_tile_count(group, &box, count);
  void *memory = NULL;

  if (n == 1 || tiles * n > MAX_KEPT) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(tiles * (n + kernels), sizeof(weir_box), &memory));
  group->kept_boxes = memory;
  WEIR_TRY(weir_alloc(tiles * locals, sizeof(weir_view), &memory));
  group->kept_locals = memory;
  group->n_kept = tiles;
  for (int64_t i = 0; i < tiles; i++) {
    const weir_box tile = exec_tile_box(group, &box, count, i);
    exec_tile kept = exec_tile_kept(group, i);

    kept.scratch = p->scratch;
    exec_tile_compose(group, &tile, &kept);
  }
  return WEIR_OK;
}

exec_tile exec_tile_kept(const exec_group *group, int64_t number)
{
  weir_box *const boxes = group->kept_boxes + number * (group->n_loops + group->n_kernels);

  return (exec_tile){.boxes = boxes,
                     .blocks = boxes + group->n_loops,
                     .locals = group->kept_locals + number * group->n_locals};
}

weir_status exec_tiles_keep(weir_plan *p)
{
  for (int32_t i = 0; i < p->n_groups && !p->streaming && !p->sizes_only; i++) {
    if (!p->groups[i].on_device) {
      WEIR_TRY(keep(p, &p->groups[i]));
    }
  }
  return WEIR_OK;
}
