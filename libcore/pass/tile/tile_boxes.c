/* tile_boxes.c - tiles of a group with members that kernels make, or read, box by box.
 *
 * A tile must ask for a box of a kernel's result, or of its input, that consists of whole blocks,
 * and no two tiles for the same element of it or of another member: so every tile may write what is
 * seen outside. What the members read decides, as composed in graph/weir_reach.h. */
#include <string.h>
#include "base/weir_alloc.h"
#include "pass/tile/tile_priv.h"

/* So many tiles are to be shared among threads before they grow; those of library operators also
 * until they are worth so many calls, whose code and tables they bring into the caches each time.
 */
#define MIN_TILES 32
#define MIN_CALLS 32

/* Reaches of the members, [n]: for the whole anchor, and for tiles of one and of two iterations
 * along the dimension in question. */
typedef struct boxing {
  tile_choice c;
  const weir_tile_claim *claim;
  weir_reach *whole, *one, *two;
} boxing;

static void reach_for(const boxing *b, int d, int64_t size, weir_reach *reach)
{
  int64_t tile[WEIR_MAX_DIMS] = {0};

  tile[d] = size;
  weir_reach_compose(b->c.members, b->c.n, tile, b->c.slots, reach);
}

static bool reads_blocks(const boxing *b, int32_t k)
{
  return b->claim->blocks[k] != NULL && b->claim->blocks[k]->of_input;
}

/* What tiles divide of member k: its outputs, or the input of a kernel that reads blocks. */
static int divided(const boxing *b, int32_t k)
{
  return reads_blocks(b, k) ? 1 : b->c.members[k].access->n_out;
}

static const weir_operand *operand_of(const boxing *b, int32_t k, int o)
{
  const weir_access *a = b->c.members[k].access;

  return reads_blocks(b, k) ? &a->in[o] : &a->out[o];
}

/* Elements of operand o of those of member k. */
static weir_reach elements_of(const boxing *b, const weir_reach *reach, int32_t k, int o)
{
  weir_reach elements;

  weir_reach_elements(operand_of(b, k, o), b->c.members[k].access, &reach[k], &elements);
  return elements;
}

/* True when tiles along the dimension hold each element of the operand once: those of a step of the
 * anchor are *step along the operand's dimension *dim, one after the other from *first on. */
static bool takes_turns(const boxing *b, int32_t k, int o, int *dim, int64_t *step, int64_t *first)
{
  const weir_reach all = elements_of(b, b->whole, k, o), one = elements_of(b, b->one, k, o);
  const weir_reach two = elements_of(b, b->two, k, o);

  *dim = -1;
  for (int e = 0; e < operand_of(b, k, o)->rank; e++) {
    if (one.whole[e] || (one.lo[e] == all.lo[e] && one.hi[e] == all.hi[e])) {
      continue;
    }
    if (*dim >= 0 || two.lo[e] != one.lo[e] || two.hi[e] - one.hi[e] != one.hi[e] - one.lo[e]) {
      return false;
    }
    *dim = e;
    *step = one.hi[e] - one.lo[e];
    *first = one.lo[e];
  }
  return *dim >= 0 && *step > 0;
}

/* True when all tiles together make whole blocks of a kernel's result, and all that a member
 * writes of what is visible: others may write the rest of the array. The tiles of an anchor whose
 * kernel reads blocks read all. */
static bool is_covered(const boxing *b)
{
  bool covered = true;

  for (int32_t k = 0; k < b->c.n; k++) {
    const weir_access *a = b->c.members[k].access;
    const weir_kernel_blocks *blocks = b->claim->blocks[k];
    const bool counts = (blocks != NULL || b->claim->visible[k]) && !reads_blocks(b, k);

    for (int o = 0; o < a->n_out && counts; o++) {
      const weir_reach all = elements_of(b, b->whole, k, o);
      const weir_box run = weir_iterations(a);
      const weir_region r = weir_written(a, o, &run);
      const weir_box written = weir_region_hull(&r);

      for (int e = 0; e < a->out[o].rank; e++) {
        const int64_t extent = a->out[o].extent[e];
        const int64_t block_size = b->claim->visible[k] ? 0 : blocks->block_size[e];
        const bool low =
            all.lo[e] <= written.lo[e] || (block_size > 0 && all.lo[e] % block_size == 0);
        const bool high =
            all.hi[e] >= written.hi[e] || (block_size > 0 && all.hi[e] % block_size == 0);

        covered = covered && extent < WEIR_UNBOUNDED && (all.whole[e] || (low && high));
      }
    }
  }
  return covered;
}

/* Least tile along d; 0: it must be whole. */
static int64_t min_tile(const boxing *b, int d)
{
  const weir_dim *dim = &b->c.members[b->c.n - 1].access->dim[d];
  int64_t min = 1;

  if (dim->kind != WEIR_PARALLEL && !(dim->kind == WEIR_REDUCED && reads_blocks(b, b->c.n - 1))) {
    return 0;
  }
  reach_for(b, d, 1, b->one);
  reach_for(b, d, 2, b->two);
  for (int32_t k = 0; k < b->c.n; k++) {
    const weir_kernel_blocks *blocks = b->claim->blocks[k];

    for (int o = 0; o < divided(b, k); o++) {
      int64_t step = 0, first = 0;
      int e;

      if (!takes_turns(b, k, o, &e, &step, &first)) {
        return 0;
      }
      if (blocks != NULL) {
        const int64_t block_size = blocks->block_size[e];
        int64_t each = 1;

        if (block_size == 0 || first % block_size != 0) {
          return 0;
        }

        while (step * each % block_size != 0) {
          each++;
        }
        for (const int64_t by = min; min % each != 0;) {
          min += by;
        }
      }
    }
  }
  return min < dim->hi - dim->lo ? min : 0;
}

static int64_t count_tiles(const weir_access *anchor, const int64_t *tile)
{
  int64_t n = 1;

  for (int d = 0; d < anchor->n_dims; d++) {
    n *= tile[d] > 0 ? (anchor->dim[d].hi - anchor->dim[d].lo + tile[d] - 1) / tile[d] : 1;
  }
  return n;
}

/* True when library operators are among the members, and do little in one tile. */
static bool is_small(const boxing *b, const int64_t *tile)
{
  double flops = 0;

  for (int32_t k = 0; k < b->c.n; k++) {
    const weir_access *a = b->c.members[k].access;
    const weir_box all = weir_iterations(a);

    flops += a->maker == WEIR_MADE_BY_LIBRARY ? weir_flops(a, &all) : 0;
  }
  flops /= (double)count_tiles(b->c.members[b->c.n - 1].access, tile);
  return flops > 0 && flops <= MIN_CALLS * b->c.device->tile_flops;
}

/* Doubles the tile along d while buffers fit the cache, and enough tiles are left or they are too
 * small. */
static void grow(const boxing *b, int d, int64_t *tile, weir_tile_cost *cost)
{
  const weir_access *anchor = b->c.members[b->c.n - 1].access;

  while (tile[d] > 0) {
    int64_t larger[WEIR_MAX_DIMS];
    weir_tile_cost here;

    memcpy(larger, tile, sizeof larger);
    larger[d] = 2 * tile[d] < anchor->dim[d].hi - anchor->dim[d].lo ? 2 * tile[d] : 0;
    tile_measure(&b->c, larger, &here);
    if (here.local_bytes > b->c.cache ||
        (count_tiles(anchor, larger) < MIN_TILES && !is_small(b, larger))) {
      return;
    }
    memcpy(tile, larger, sizeof larger);
    *cost = here;
  }
}

weir_status weir_tile_boxes(const weir_member *members, int32_t n, const bool *buffered,
                            const weir_tile_claim *claim, const weir_pass_opts *opts, int64_t *tile,
                            weir_tile_cost *cost)
{
  const weir_access *anchor = members[n - 1].access;
  const weir_constants *device = weir_pass_constants(opts);
  boxing b = {.c = {.members = members,
                    .buffered = buffered,
                    .n = n,
                    .device = device,
                    .slots = 1,
                    /* What the kernel reads shares L2. */
                    .cache = opts->cache_bytes > 0 ? opts->cache_bytes : device->l2_bytes / 2},
              .claim = claim};
  void *memory = NULL;
  bool any = false;

  WEIR_TRY(weir_alloc(4 * (int64_t)n, sizeof(weir_reach), &memory));
  b.c.reach = memory;
  b.whole = b.c.reach + n;
  b.one = b.whole + n;
  b.two = b.one + n;
  reach_for(&b, 0, 0, b.whole);
  memset(tile, 0, WEIR_MAX_DIMS * sizeof(*tile));
  for (int d = 0; d < anchor->n_dims; d++) {
    tile[d] = min_tile(&b, d);
    any = any || tile[d] > 0;
  }
  tile_measure(&b.c, tile, cost);
  cost->serves = cost->serves && any && is_covered(&b);
  for (int d = anchor->n_dims - 1; d >= 0 && cost->serves; d--) {
    grow(&b, d, tile, cost);
  }
  weir_free(&memory);
  return WEIR_OK;
}
