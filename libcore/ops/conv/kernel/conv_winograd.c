/* conv_winograd.c - convolutions of kernel size 3 and stride 1, and both their gradients, of f32 or
 * of bf16, with fewer products (winograd_priv.h), by the vector code of this processor.
 *
 * Two dimensions, or three of which the first has kernel size 3 or 1; dilation 1, one group. x is
 * read beyond its ends by its border rules; by x, what lies there is added up last. */
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/conv/conv_chunks.h"
#include "ops/conv/winograd/winograd_priv.h"

typedef struct conv_winograd {
  conv_form form, f; /* as matched; by x without border rules, else the same */
  bool folds;        /* they differ                                          */
  const winograd_kernels *k;
  winograd_conv s; /* by x it reads y and makes x: steps are those of a run */
} conv_winograd;

static bool by_weights(const conv_winograd *c)
{
  return c->f.kind == CONV_WEIGHTS;
}

/* The form in three dimensions; the first has one element where there are two. */
static winograd_conv shape_of(const conv_form *f)
{
  const bool by_data = f->kind == CONV_DATA;
  winograd_conv s = {.batch = f->n,
                     .read = by_data ? f->out : f->in,
                     .made = by_data ? f->in : f->out,
                     .deep = f->d == 3 && f->kernel_size[0] == 3,
                     .x = {1, 1, 1},
                     .y = {1, 1, 1}};

  for (int k = 0; k < f->d; k++) {
    const int d = 3 - f->d + k;

    s.x[d] = by_data ? f->y_extent[k] : f->x_extent[k];
    s.y[d] = by_data ? f->x_extent[k] : f->y_extent[k];
    s.lo[d] = by_data ? f->kernel_size[k] - 1 - f->lo[k] : f->lo[k];
    s.border[d] = f->border[k];
  }
  return s;
}

static bool is_unit(const conv_form *f)
{
  bool unit = f->groups == 1 && (f->d == 2 || f->d == 3);

  for (int k = 0; k < f->d && unit; k++) {
    unit = f->stride[k] == 1 && f->dilation[k] == 1 &&
           (f->kernel_size[k] == 3 || (f->d == 3 && k == 0 && f->kernel_size[k] == 1));
  }
  return unit;
}

static weir_dtype made_dtype(const conv_form *f)
{
  return f->kind == CONV_FORWARD ? f->y_dtype : f->kind == CONV_DATA ? f->x_dtype : f->w_dtype;
}

/* Dtype of both operands; sums in f32 alone. */
static bool operands_of(const conv_form *f, weir_dtype *dtype)
{
  const int halves = (f->x_dtype == WEIR_BF16) + (f->y_dtype == WEIR_BF16) +
                     (f->w_dtype == WEIR_BF16) - (made_dtype(f) == WEIR_BF16);

  *dtype = halves == 2 ? WEIR_BF16 : WEIR_F32;
  return f->dtype == WEIR_F32 && (halves == 2 || conv_form_is(f, WEIR_F32));
}

static bool find(const weir_graph *g, const weir_group *group, conv_winograd *c)
{
  weir_dtype dtype;

  if (!conv_form_of_group(g, group, &c->form) || !operands_of(&c->form, &dtype) ||
      !is_unit(&c->form)) {
    return false;
  }
  c->k = winograd_kernels_get(dtype);
  if (c->k == NULL) {
    return false;
  }
  c->f = c->form;
  c->folds = c->form.kind == CONV_DATA && conv_pad_form(&c->form, &c->f);
  c->s = shape_of(&c->f);
  return winograd_products(&c->s) > 0;
}

/* Elements of x before they are folded, in whole lines of the cache. */
static int64_t folded_count(const conv_winograd *c)
{
  const int64_t count = c->f.n * c->f.x_extent[0] * conv_row_size(&c->f);

  return c->folds ? winograd_up(count, 16) : 0;
}

static int64_t workspace(const void *context)
{
  const conv_winograd *c = context;

  return folded_count(c) * (int64_t)sizeof(float) + winograd_workspace(c->k, &c->s, by_weights(c));
}

/* Bytes of the row of sums in which x is folded that is bf16, else 0. */
static int64_t row_bytes(const conv_winograd *c)
{
  return c->folds && c->form.x_dtype == WEIR_BF16 ? conv_row_size(&c->form) * (int64_t)sizeof(float)
                                                  : 0;
}

static int64_t scratch(const void *context)
{
  const conv_winograd *c = context;
  const int64_t sum = winograd_scratch(c->k, &c->s, by_weights(c)), row = row_bytes(c);

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
  conv_winograd c;

  if (!find(g, group, &c) || conv_form_flops(&c.f) < min_flops) {
    return -1;
  }
  const int64_t packed = workspace(&c) - folded_count(&c) * (int64_t)sizeof(float);

  if (packed + scratch(&c) > max_bytes) {
    return -1;
  }
  const double lanes = (double)c.k->lanes, points = c.s.deep ? 64 : 16;
  const double read = (double)winograd_up(c.s.read, c.k->lanes) / lanes;
  const double made = (double)winograd_up(c.s.made, c.k->lanes) / lanes;
  /* By weights, terms of words are tiles; instructions are as many. */
  const double words = (double)winograd_words(c.k, c.s.read);
  const double product = c.k->tiles && !by_weights(&c) ? 0.5 : 1;
  const double tile = product * words * made + (c.k->tiles ? 24 : 12) * (read + made);
  const double chunks = by_weights(&c) ? (double)winograd_pieces(c.k, &c.s, true, 0) : 1;
  const double moved = (double)(workspace(&c) + (by_weights(&c) ? scratch(&c) : 0));
  const double vectors =
      (double)winograd_tiles(&c.s) * tile + 12 * chunks * (double)c.s.read * made;

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
  const conv_winograd *c = context;

  return stage < SUM_STAGES                ? winograd_pieces(c->k, &c->s, by_weights(c), stage)
         : stage == SUM_STAGES && c->folds ? c->form.n * c->form.x_extent[0]
                                           : 0;
}

/* Samples and whole tiles along all dimensions but the last may be made by themselves; where what
 * lies beyond the ends is added up, nothing is whole before the end. */
static bool blocks_of(const weir_graph *g, const weir_group *group, weir_kernel_blocks *b)
{
  conv_winograd c;

  if (!find(g, group, &c) || by_weights(&c) || c.folds) {
    return false;
  }
  *b = (weir_kernel_blocks){.stage = SUM_STAGES - 1, .block_size = {1}};
  for (int k = 1; k < c.f.d; k++) {
    b->block_size[k] = (k == 1 && c.s.deep ? 2 : 1) * winograd_size(&c.s, 3 - c.f.d + k - 1);
  }
  return true;
}

/* Steps of x, y and w; returns where w begins. */
static int64_t bind_steps(const conv_winograd *c, const weir_view *views, winograd_conv *s)
{
  const conv_form *f = &c->f;
  const bool by_data = f->kind == CONV_DATA;
  const conv_weight_strides w = conv_form_weights(f, &views[2]);
  int64_t w_at = w.base;
  weir_view x = views[0];

  for (int k = f->d; c->folds && k >= 0; k--) { /* as conv_fold_row reads it */
    x.stride[k] = k == f->d ? f->in : x.stride[k + 1] * f->x_extent[k];
  }
  conv_form_steps(by_data ? &views[1] : &x, f->d, s->x_step);
  conv_form_steps(by_data ? &x : &views[1], f->d, s->y_step);
  s->w_step[3] = by_data ? w.out : w.in;
  s->w_step[4] = by_data ? w.in : w.out;
  for (int k = 0; k < f->d; k++) {
    s->w_step[3 - f->d + k] = by_data ? -w.tap[k] : w.tap[k];
    w_at += by_data ? (f->kernel_size[k] - 1) * w.tap[k] : 0;
  }
  return w_at;
}

static void run_sum(const conv_winograd *c, const weir_kernel_run *r)
{
  const bool by_data = c->f.kind == CONV_DATA;
  winograd_conv s = c->s;
  const int64_t w_at = bind_steps(c, r->views, &s);
  void *x = c->folds ? r->workspace : r->views[0].data, *y = r->views[1].data;
  winograd_sum sum = {.k = c->k,
                      .s = &s,
                      .weights = by_weights(c),
                      .half = !c->folds && made_dtype(&c->f) == WEIR_BF16,
                      .x = by_data ? y : x,
                      .y = by_data ? x : y,
                      .w = (char *)r->views[2].data + w_at * (int64_t)weir_dtype_size(c->f.w_dtype),
                      .workspace = (float *)r->workspace + folded_count(c),
                      .scratch = r->scratch};

  if (r->piece < 0) {
    winograd_box box;

    conv_form_box(r, &r->views[by_data ? 0 : 1], c->f.d, box.lo, box.hi, sum.first);
    winograd_rows(&sum, &box);
  } else {
    winograd_piece(&sum, r->stage, r->piece);
  }
}

static void fold(const conv_winograd *c, const weir_kernel_run *r)
{
  const int64_t rows = c->form.x_extent[0], size = conv_row_size(&c->form);
  const bool rounds = row_bytes(c) > 0;
  float *to = rounds ? r->scratch : (float *)r->views[0].data + r->piece * size;

  conv_fold_row(&c->form, &c->f, r->workspace, r->piece / rows, r->piece % rows, to);
  for (int64_t i = 0; i < size && rounds; i++) {
    ((weir_bf16 *)r->views[0].data)[r->piece * size + i] = weir_bf16_from_f32(to[i]);
  }
}

static void run(const weir_kernel_run *r)
{
  const conv_winograd *c = r->context;

  if (r->stage < SUM_STAGES) {
    run_sum(c, r);
  } else {
    fold(c, r);
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
