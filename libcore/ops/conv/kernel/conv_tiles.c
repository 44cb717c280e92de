/* conv_tiles.c - convolutions of bf16 of stride 1, and both their gradients, by tiles of this
 * processor (AMX; tiles_priv.h).
 *
 * Dilation 1, one group. x is read beyond its ends by its border rules; by x, what lies there is
 * added up last. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/conv/tiles/tiles_priv.h"

static bool find(const weir_graph *g, const weir_group *group, conv_unit_claim *c)
{
  return tiles_code_get() != NULL && conv_unit_find(g, group, c) && c->operands == WEIR_BF16 &&
         tiles_fit(&c->s);
}

static int64_t workspace(const void *context)
{
  const conv_unit_claim *c = context;

  return conv_unit_folded_bytes(c) + tiles_workspace(&c->s, conv_unit_by_weights(c));
}

static int64_t scratch(const void *context)
{
  const conv_unit_claim *c = context;
  const int64_t sum = tiles_scratch(&c->s, conv_unit_by_weights(c)), row = conv_unit_row_bytes(c);

  return sum > row ? sum : row;
}

/* Below this many operations a loop is as good; above so many bytes others take less memory. */
static const double min_flops = 1 << 18;
static const int64_t max_bytes = 64 << 20;
/* Rate of products of tiles as a multiple of the f32 rate of a core, and of blocks that are copied,
 * with what follows, as a share of its bandwidth: 1.5 Tflop/s and 8 GB/s, measured on a Xeon with
 * AMX (family 6, model 167), over the built-in constants. */
static const double tile_gain = 15, copy_share = 0.4;

static double match(const weir_graph *g, const weir_group *group)
{
  const weir_constants *m = &weir_cpu_get()->constants;
  conv_unit_claim c;

  if (!find(g, group, &c) || conv_form_flops(&c.f) < min_flops) {
    return -1;
  }
  const int64_t packed = workspace(&c) - conv_unit_folded_bytes(&c);

  if (packed + scratch(&c) > max_bytes) {
    return -1;
  }
  const double positions = (double)(c.s.batch * c.s.y[0] * c.s.y[1] * (c.s.y[2] + c.s.taps[2] - 1));
  const double read = (double)tiles_up(c.s.read, TILES_WIDE);
  const double made = (double)tiles_up(c.s.made, TILES_WIDE);
  const double flops = 2 * positions * (double)tiles_taps(&c.s) * read * made;
  const double copied = 2 * positions * (2 * read + made);

  return flops / (tile_gain * m->flop_rate) + copied / (copy_share * m->bandwidth) +
         2 * (double)packed / m->bandwidth + 4 * m->group_overhead;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(conv_unit_claim), &memory));
  if (!find(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE,
                     "conv_tiles: the group is not a convolution of bf16, stride 1");
  }
  *context = memory;
  return WEIR_OK;
}

static void release(void *context)
{
  weir_free(&context);
}

enum { SUM_STAGES = 2 };

static int64_t pieces(const void *context, int stage)
{
  const conv_unit_claim *c = context;

  return stage < SUM_STAGES    ? tiles_pieces(&c->s, conv_unit_by_weights(c), stage)
         : stage == SUM_STAGES ? conv_unit_folds(c)
                               : 0;
}

/* Whole blocks; where what lies beyond the ends is added up, nothing is whole before the end. */
static bool blocks_of(const weir_graph *g, const weir_group *group, weir_kernel_blocks *b)
{
  conv_unit_claim c;

  if (!find(g, group, &c) || conv_unit_by_weights(&c) || c.folds) {
    return false;
  }
  const tiles_block size = tiles_block_get(&c.s);
  const int64_t outputs[] = {size.planes, size.rows};

  *b = (weir_kernel_blocks){.stage = SUM_STAGES - 1, .block_size = {1}};
  for (int k = 1; k < c.f.d; k++) {
    b->block_size[k] = outputs[3 - c.f.d + k - 1];
  }
  return true;
}

static void run(const weir_kernel_run *r)
{
  const conv_unit_claim *c = r->context;
  conv_unit_run u;

  if (r->stage >= SUM_STAGES) {
    conv_unit_fold(c, r);
    return;
  }
  conv_unit_bind(c, r, &u);
  const tiles_sum sum = {.k = tiles_code_get(),
                         .s = &u.s,
                         .weights = conv_unit_by_weights(c),
                         .half = u.half,
                         .x = u.x,
                         .y = u.y,
                         .w = u.w,
                         .first = {u.first[0], u.first[1], u.first[2]},
                         .workspace = u.others,
                         .scratch = r->scratch};

  if (r->piece < 0) {
    tiles_rows(&sum, u.lo, u.hi);
  } else {
    tiles_piece(&sum, r->stage, r->piece);
  }
}

const weir_kernel weir_kernel_conv_tiles = {
    .name = "conv.tiles",
    .device = "cpu",
    .match = match,
    .arrays = conv_form_arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .workspace = workspace,
    .scratch = scratch,
    .blocks = blocks_of,
    .run = run,
};
