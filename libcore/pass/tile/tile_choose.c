/* tile_choose.c - shapes of tiles tried, and the best of them. */
#include <string.h>
#include "pass/lower/weir_loop.h"
#include "pass/tile/tile_priv.h"
#include "base/weir_alloc.h"

/* Slots of an unbounded dimension: a long stream, so that borders count per tile. */
#define SLOTS ((int64_t)1 << 20)
/* Bytes beyond which a buffer is only "too large". */
#define TOO_LARGE ((int64_t)1 << 50)

static int64_t extent_of(const weir_dim *d, int64_t slots)
{
  return d->hi >= WEIR_UNBOUNDED ? slots : d->hi - d->lo;
}

/* Work of one iteration: what the body computes and what it moves. */
static double weight(const weir_access *a)
{
  double w = a->n_in + a->n_out;

  for (int32_t i = 0; i < a->body.n; i++) {
    w += weir_body_flops(&a->body, i);
  }
  return w;
}

static bool is_tiled(const tile_choice *c, const int64_t *tile, int d)
{
  const weir_dim *dim = &c->members[c->n - 1].access->dim[d];

  return tile[d] > 0 && tile[d] < extent_of(dim, c->slots);
}

void tile_measure(const tile_choice *c, const int64_t *tile, weir_tile_cost *cost)
{
  const weir_access *anchor = c->members[c->n - 1].access;
  double tiles = 1, work = 0, all = 0;

  *cost = (weir_tile_cost){.serves = weir_reach_has_one_rate(c->members, c->n, tile)};
  weir_reach_compose(c->members, c->n, tile, c->slots, c->reach);
  for (int d = 0; d < anchor->n_dims; d++) {
    if (is_tiled(c, tile, d)) {
      tiles *= (double)extent_of(&anchor->dim[d], c->slots) / (double)tile[d];
    }
  }
  for (int32_t k = 0; k < c->n; k++) {
    const weir_access *a = c->members[k].access;
    double box = 1, whole = 1;

    for (int d = 0; d < a->n_dims; d++) {
      const int64_t extent = extent_of(&a->dim[d], c->slots);

      box *= (double)weir_reach_length(&c->reach[k], d, extent);
      whole *= (double)extent;
      cost->serves = cost->serves && !(c->reach[k].whole[d] && a->dim[d].hi >= WEIR_UNBOUNDED);
    }
    work += weight(a) * box * tiles;
    all += weight(a) * whole;
    for (int o = 0; o < a->n_out && c->buffered[k]; o++) {
      const weir_operand *out = &a->out[o];
      int64_t bytes = (int64_t)weir_dtype_size(out->dtype);
      weir_reach elements;

      weir_reach_elements(out, a, &c->reach[k], &elements);
      for (int d = 0; d < out->rank; d++) {
        const int64_t extent = out->extent[d] >= WEIR_UNBOUNDED ? c->slots : out->extent[d];

        if (!weir_mul_ok(bytes, weir_reach_length(&elements, d, extent), &bytes) ||
            bytes > TOO_LARGE) {
          bytes = TOO_LARGE;
        }
      }
      cost->local_bytes += bytes;
    }
  }
  cost->growth = all > 0 && work > all ? work / all - 1 : 0;
}

/* Tiles of about `points` points, the innermost dimension first and at most `width` long. */
static void fill_tile(const tile_choice *c, int64_t points, int64_t width, int64_t *tile)
{
  const weir_access *anchor = c->members[c->n - 1].access;
  bool inner = true;

  memset(tile, 0, WEIR_MAX_DIMS * sizeof(*tile));
  for (int d = anchor->n_dims - 1; d >= 0; d--) {
    const weir_dim *dim = &anchor->dim[d];
    const int64_t extent = dim->hi - dim->lo;
    const int64_t max = inner && width < points ? width : points;

    if (dim->kind == WEIR_REDUCED || dim->kind == WEIR_BACKWARD) {
      continue;
    }
    tile[d] = extent > max ? (max > 0 ? max : 1) : 0;
    points /= tile[d] > 0 ? tile[d] : extent > 0 ? extent : 1;
    inner = false;
  }
}

static bool has_shapes(const tile_choice *c)
{
  const weir_access *anchor = c->members[c->n - 1].access;
  int n = 0;

  for (int d = 0; d < anchor->n_dims; d++) {
    n += anchor->dim[d].kind == WEIR_PARALLEL || anchor->dim[d].kind == WEIR_FORWARD;
  }
  return n > 1;
}

/* The best shape of `points` points: long rows, unless what they do again at their borders costs
 * more than short ones cost in overhead. */
static void best_shape(const tile_choice *c, int64_t points, int64_t *tile, weir_tile_cost *cost)
{
  const int64_t narrowest = has_shapes(c) ? 32 : points;
  double best = 0;

  for (int64_t width = points; width >= narrowest || width == points; width /= 4) {
    int64_t shape[WEIR_MAX_DIMS];
    weir_tile_cost here;

    fill_tile(c, points, width, shape);
    tile_measure(c, shape, &here);
    const double price = here.growth + (here.serves ? 0 : 1e6) + 4.0 / (double)width;

    if (width == points || price < best) {
      best = price;
      *cost = here;
      memcpy(tile, shape, sizeof(shape));
    }
  }
}

/* Few outputs of long reductions are one tile by their number, but work for several threads: they
 * are split as long as every piece has enough to do, and what lies side by side last. */
static void share_out(const tile_choice *c, int64_t *tile, weir_tile_cost *cost)
{
  const weir_access *anchor = c->members[c->n - 1].access;
  int64_t shape[WEIR_MAX_DIMS] = {0};
  weir_tile_cost here;
  double work = 1;
  int inner = -1;
  bool parted = false;
  /* Neighbouring outputs of a reduction that are not parted: f32 of a line of the cache. */
  const int64_t row = (c->device->line_bytes + 3) / 4;
  const double enough = (double)c->device->max_tile_points;

  for (int d = 0; d < anchor->n_dims; d++) {
    work *= (double)extent_of(&anchor->dim[d], c->slots);
    inner = anchor->dim[d].kind == WEIR_PARALLEL ? d : inner;
    parted = parted || is_tiled(c, tile, d);
  }
  if (parted || anchor->combine == WEIR_COMBINE_NONE) {
    return;
  }
  for (int d = 0; d < inner; d++) {
    const int64_t extent = extent_of(&anchor->dim[d], c->slots);

    if (anchor->dim[d].kind == WEIR_PARALLEL && extent > 1 && work / (double)extent >= enough) {
      shape[d] = 1;
      work /= (double)extent;
      parted = true;
    }
  }
  if (!parted && inner >= 0 && work / 2 >= enough) {
    const int64_t half = extent_of(&anchor->dim[inner], c->slots) / 2;

    shape[inner] = (half + row - 1) / row * row;
    parted = half >= row;
  }
  if (parted) {
    tile_measure(c, shape, &here);
    if (here.serves && here.growth <= 0) {
      memcpy(tile, shape, sizeof shape);
      *cost = here;
    }
  }
}

weir_status weir_tile_best(const weir_member *members, int32_t n, const bool *buffered,
                           const weir_pass_opts *opts, int64_t *tile, weir_tile_cost *cost)
{
  const weir_constants *device = weir_pass_constants(opts);
  const int64_t min = opts->cache_bytes > 0 ? 16 : device->min_tile_points;
  tile_choice c = {.members = members,
                   .buffered = buffered,
                   .n = n,
                   .device = device,
                   .slots = SLOTS,
                   /* What a tile reads and writes and the engine's strips share L2. */
                   .cache = opts->cache_bytes > 0 ? opts->cache_bytes : device->l2_bytes / 4};
  void *memory = NULL;

  WEIR_TRY(weir_alloc(n, sizeof(weir_reach), &memory));
  c.reach = memory;
  for (int64_t points = device->max_tile_points;; points /= 2) {
    best_shape(&c, points, tile, cost);
    if (cost->local_bytes <= c.cache || points / 2 < min) {
      break;
    }
  }
  share_out(&c, tile, cost);
  weir_free(&memory);
  return WEIR_OK;
}

weir_status weir_tile_choose(const weir_graph *g, const weir_group *group,
                             const weir_pass_opts *opts, int64_t *tile, weir_tile_cost *cost)
{
  enum { MAX = 256 };
  weir_status status = WEIR_OK;
  weir_member members[MAX];
  bool buffered[MAX], visible[MAX];
  const weir_kernel_blocks *blocks[MAX];
  const weir_tile_claim claim = {blocks, visible};
  weir_loop *loops = NULL;
  int32_t n = 0;

  WEIR_TRY(weir_lower(g, group, &loops, &n));
  if (n > MAX) {
    WEIR_TRY_GOTO(
        weir_fail(WEIR_ERR_UNSUPPORTED, "tile: a group has %d loops, more than %d", n, MAX), out);
  }
  for (int32_t k = 0; k < n; k++) {
    members[k] = (weir_member){.access = &loops[k].access, .in = loops[k].in, .out = loops[k].out};
    buffered[k] = visible[k] = false;
    for (int o = 0; o < loops[k].access.n_out; o++) {
      const bool local = weir_group_is_local(g, group, loops[k].out[o]);

      buffered[k] = buffered[k] || local;
      visible[k] = visible[k] || !local;
    }
    const weir_claim *one = loops[k].claimed ? weir_group_claim(group, loops[k].node) : NULL;

    blocks[k] = one != NULL ? &one->blocks : NULL;
    if (one != NULL && !one->blocks.of_input) {
      buffered[k] = true; /* in cache, wherever it is kept */
    }
  }
  WEIR_TRY_GOTO(group->n_claims > 0
                    ? weir_tile_boxes(members, n, buffered, &claim, opts, tile, cost)
                    : weir_tile_best(members, n, buffered, opts, tile, cost),
                out);
out:
  weir_loops_free(&loops, n);
  return status;
}
