/* conv_winograd.c - convolutions of kernel size 3 and stride 1, and both their gradients, of f32 or
 * of bf16, with fewer products (winograd_priv.h), by the vector code of this processor.
 *
 * Two dimensions, or three of which the first has kernel size 3 or 1; dilation 1, one group. x is
 * read beyond its ends by its border rules; by x, what lies there is added up last. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/conv/winograd/winograd_priv.h"

typedef struct conv_winograd {
  conv_unit_claim c;
  const winograd_kernels *k;
} conv_winograd;

static bool is_unit(const conv_form *f)
{
  bool unit = f->d == 2 || f->d == 3;

  for (int k = 0; k < f->d && unit; k++) {
    unit = f->kernel_size[k] == 3 || (f->d == 3 && k == 0 && f->kernel_size[k] == 1);
  }
  return unit;
}

static bool find(const weir_graph *g, const weir_group *group, conv_winograd *w)
{
  if (!conv_unit_find(g, group, &w->c) || !is_unit(&w->c.form)) {
    return false;
  }
  w->k = winograd_kernels_get(w->c.operands);
  return w->k != NULL && winograd_products(&w->c.s) > 0;
}

static int64_t workspace(const void *context)
{
  const conv_winograd *w = context;

  return conv_unit_folded_bytes(&w->c) +
         winograd_workspace(w->k, &w->c.s, conv_unit_by_weights(&w->c));
}

static int64_t scratch(const void *context)
{
  const conv_winograd *w = context;
  const int64_t sum = winograd_scratch(w->k, &w->c.s, conv_unit_by_weights(&w->c)),
                row = conv_unit_row_bytes(&w->c);

  return sum > row ? sum : row;
}

/* Below this many operations a loop is as good; above so many bytes of transformed weights and
 * sums of a thread, others take less memory. */
static const double min_flops = 1 << 18;
static const int64_t max_bytes = 64 << 20;

/* Products run at the peak, 1.4 of the built-in rate; all else is counted in such multiply-adds of
 * vectors, as measured on Zen 4 (AVX-512): to transform a vector of channels of x or y takes those
 * of 9 to 15 products a point, more where its field does not fit into a cache, one of weights 12.
 */
static double match(const weir_graph *g, const weir_group *group)
{
  const weir_constants *m = &weir_cpu_get()->constants;
  const double peak = 1.4 * m->flop_rate, bandwidth = 0.5 * m->bandwidth;
  conv_winograd w;

  if (!find(g, group, &w) || conv_form_flops(&w.c.f) < min_flops) {
    return -1;
  }
  const int64_t packed = workspace(&w) - conv_unit_folded_bytes(&w.c);

  if (packed + scratch(&w) > max_bytes) {
    return -1;
  }
  const double lanes = (double)w.k->lanes, points = winograd_deep(&w.c.s) ? 64 : 16;
  const double read = (double)winograd_up(w.c.s.read, w.k->lanes) / lanes;
  const double made = (double)winograd_up(w.c.s.made, w.k->lanes) / lanes;
  /* By weights, terms of words are tiles; instructions are as many. */
  const double words = (double)winograd_words(w.k, w.c.s.read);
  const double product = w.k->tiles && !conv_unit_by_weights(&w.c) ? 0.5 : 1;
  const double tile = product * words * made + (w.k->tiles ? 24 : 12) * (read + made);
  const double chunks =
      conv_unit_by_weights(&w.c) ? (double)winograd_pieces(w.k, &w.c.s, true, 0) : 1;
  const double moved = (double)(workspace(&w) + (conv_unit_by_weights(&w.c) ? scratch(&w) : 0));
  const double vectors =
      (double)winograd_tiles(&w.c.s) * tile + 12 * chunks * (double)w.c.s.read * made;

  return 2 * lanes * points * vectors / peak + 2 * moved / bandwidth + 2 * m->group_overhead;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(conv_winograd), &memory));
  if (!find(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE,
                     "conv_winograd: the group is not a convolution of kernel size 3, stride 1");
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
  const conv_winograd *w = context;

  return stage < SUM_STAGES    ? winograd_pieces(w->k, &w->c.s, conv_unit_by_weights(&w->c), stage)
         : stage == SUM_STAGES ? conv_unit_folds(&w->c)
                               : 0;
}

/* Samples and whole tiles along all dimensions but the last may be made by themselves; where what
 * lies beyond the ends is added up, nothing is whole before the end. */
static bool blocks_of(const weir_graph *g, const weir_group *group, weir_kernel_blocks *b)
{
  conv_winograd w;

  if (!find(g, group, &w) || conv_unit_by_weights(&w.c) || w.c.folds) {
    return false;
  }
  *b = (weir_kernel_blocks){.stage = SUM_STAGES - 1, .block_size = {1}};
  for (int k = 1; k < w.c.f.d; k++) {
    b->block_size[k] =
        (k == 1 && winograd_deep(&w.c.s) ? 2 : 1) * winograd_size(&w.c.s, 3 - w.c.f.d + k - 1);
  }
  return true;
}

static void run(const weir_kernel_run *r)
{
  const conv_winograd *w = r->context;
  conv_unit_run u;

  if (r->stage >= SUM_STAGES) {
    conv_unit_fold(&w->c, r);
    return;
  }
  conv_unit_bind(&w->c, r, &u);
  const winograd_sum sum = {.k = w->k,
                            .s = &u.s,
                            .weights = conv_unit_by_weights(&w->c),
                            .half = u.half,
                            .x = u.x,
                            .y = u.y,
                            .w = u.w,
                            .first = {u.first[0], u.first[1], u.first[2]},
                            .workspace = u.others,
                            .scratch = r->scratch};

  if (r->piece < 0) {
    const winograd_box box = {{u.lo[0], u.lo[1], u.lo[2]}, {u.hi[0], u.hi[1], u.hi[2]}};

    winograd_rows(&sum, &box);
  } else {
    winograd_piece(&sum, r->stage, r->piece);
  }
}

const weir_kernel weir_kernel_conv_winograd = {
    .name = "conv.winograd",
    .device = "cpu",
    .transforms = true,
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
