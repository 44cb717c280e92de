/* conv_few.c - convolutions and both their gradients where x or y has few channels, f32, by the
 * vector code of this processor (few_priv.h).
 *
 * Dilation 1, one group; where y has few channels, the gradient by the weights has stride 1.
 * Borders that wrap, repeat or mirror are written out first; by x, what lies beyond the ends is
 * added up last. */
#include <math.h>

#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "ops/conv/conv_chunks.h"
#include "ops/conv/few_priv.h"

typedef struct conv_few {
  conv_form form, f; /* as matched, and without border rules */
  bool padded;       /* they differ                          */
  const few_kernels *k;
  few_kind kind;
  bool few_x;      /* x has few channels, else y                                    */
  few_conv s;      /* in is x and out y, or exchanged: steps are those of a run     */
  int64_t classes; /* of the gradient by x, one after the other; else 1             */
} conv_few;

/* The form in three dimensions, those in front that it has not with one element; in is x. */
static few_conv shape_of(const conv_few *c)
{
  const conv_form *f = &c->f;
  few_conv s = {.batch = f->n,
                .few = c->few_x ? f->in : f->out,
                .many = c->few_x ? f->out : f->in,
                .in = {1, 1, 1},
                .out = {1, 1, 1},
                .kernel_size = {1, 1, 1},
                .stride = {1, 1, 1}};

  for (int k = 0; k < f->d; k++) {
    const int d = 3 - f->d + k;

    s.in[d] = f->x_extent[k];
    s.out[d] = f->y_extent[k];
    s.kernel_size[d] = f->kernel_size[k];
    s.stride[d] = f->stride[k];
    s.lo[d] = f->lo[k];
  }
  return s;
}

/* True where the kernel sums over y as the side that is read with padding: by weights, few channels
 * of y. */
static bool is_exchanged(const conv_few *c)
{
  return c->kind == FEW_WEIGHTS && !c->few_x;
}

/* x and y exchanged, stride 1: out = in + tap - lo, counted from the last tap. */
static void exchange(few_conv *s)
{
  for (int d = 0; d < 3; d++) {
    const int64_t in = s->in[d];

    s->in[d] = s->out[d];
    s->out[d] = in;
    s->lo[d] = s->kernel_size[d] - 1 - s->lo[d];
  }
}

/* Of the gradient by x, two stages each: with longer strides most have no elements. */
static const int64_t max_classes = 1 << 12;

static bool find_few(const weir_graph *g, const weir_group *group, conv_few *c)
{
  const conv_form *f = &c->f;

  c->k = few_kernels_get();
  if (c->k == NULL || !conv_form_of_group(g, group, &c->form) ||
      !conv_form_is(&c->form, WEIR_F32) || c->form.groups != 1) {
    return false;
  }
  c->padded = conv_pad_form(&c->form, &c->f);
  c->few_x = f->in <= f->out;
  c->kind = f->kind == CONV_WEIGHTS                 ? FEW_WEIGHTS
            : (f->kind == CONV_FORWARD) == c->few_x ? FEW_WIDEN
                                                    : FEW_NARROW;
  c->classes = 1;
  for (int k = 0; k < f->d; k++) {
    if ((f->dilation[k] != 1 && f->kernel_size[k] > 1) || (is_exchanged(c) && f->stride[k] != 1)) {
      return false;
    }
    c->classes *= f->kind == CONV_DATA ? f->stride[k] : 1;
    if (c->classes > max_classes) {
      return false;
    }
  }
  c->s = shape_of(c);
  if (is_exchanged(c)) {
    exchange(&c->s);
  }
  return few_takes(c->kind, &c->s);
}

/* The sum that class `number` is, and where it begins in the gradient and in w; false: there is
 * none. */
static bool class_of(const conv_few *c, const few_conv *s, int64_t number, few_conv *sub,
                     int64_t *out_at, int64_t *w_at)
{
  const int64_t *stride = s->stride;
  const int64_t at[] = {number / stride[2] / stride[1], number / stride[2] % stride[1],
                        number % stride[2]};

  *sub = *s;
  *out_at = *w_at = 0;
  return c->f.kind != CONV_DATA || few_class(s, at, sub, out_at, w_at);
}

/* Elements of x without border rules, in whole lines of the cache. */
static int64_t padded_count(const conv_few *c)
{
  const int64_t count = c->f.n * c->f.x_extent[0] * conv_row_size(&c->f);

  return c->padded ? (count + 15) / 16 * 16 : 0;
}

/* x without border rules, then what the sums need. */
static int64_t workspace(const void *context)
{
  const conv_few *c = context;

  return padded_count(c) * (int64_t)sizeof(float) + few_workspace(c->kind, c->k, &c->s);
}

/* Below this many operations a loop is as good. */
static const double min_flops = 1 << 14;

/* Shares of the multiply-adds that a core can do, 1.18 of the built-in rate, measured on Zen 4
 * (AVX-512) with kernel size 3 in each of 3 dimensions: by weights 4->32 0.89, 5->16 0.87; few
 * channels of 16: 5 0.88; of 32: 4 0.78, 14 0.76; to many: 4->32 0.75, 5->16 0.91. Then what sums
 * of lanes, partial sums, calls take. */
static double match(const weir_graph *g, const weir_group *group)
{
  const weir_constants *m = &weir_cpu_get()->constants;
  const double peak = 1.18 * m->flop_rate, bandwidth = 0.5 * m->bandwidth;
  conv_few c;

  if (!find_few(g, group, &c) || conv_form_flops(&c.f) < min_flops) {
    return -1;
  }
  const few_conv *s = &c.s;
  const double vectors = ceil((double)s->many / (double)c.k->lanes);
  const double elements = (double)(s->kernel_size[2] * s->few);
  const double volume = (double)(s->kernel_size[0] * s->kernel_size[1] * s->kernel_size[2]);
  const double chains = elements * fmin(vectors, 2);
  const double moved = 2 * (double)workspace(&c);
  double share = 0.85 * (double)s->many / (vectors * (double)c.k->lanes);

  if (c.kind == FEW_WEIGHTS) {
    share *= fmin(1, chains / 5);
  } else if (c.kind == FEW_NARROW) {
    share *= volume * vectors / (volume * vectors + 3);
  }
  share *= (double)s->out[2] / (double)(s->out[2] + 2 * s->kernel_size[2]);
  return conv_form_flops(&c.f) / (peak * share) + moved / bandwidth +
         m->group_overhead * (double)c.classes;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(conv_few), &memory));
  if (!find_few(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "conv_few: the group is not a convolution with few channels");
  }
  *context = memory;
  return WEIR_OK;
}

static void release(void *context)
{
  weir_free(&context);
}

/* Stages in order: x is written out, those of every class, what lies beyond the ends is added up.
 */
typedef enum few_step { PAD, SUM, FOLD, END } few_step;

static few_step step_of(const conv_few *c, int stage, int *of_sums)
{
  const bool first = c->padded && c->f.kind != CONV_DATA;
  const int sums = FEW_STAGES * (int)c->classes;

  *of_sums = stage - first;
  return *of_sums < 0                              ? PAD
         : *of_sums < sums                         ? SUM
         : *of_sums == sums && c->padded && !first ? FOLD
                                                   : END;
}

/* A class without elements has one idle piece. */
static int64_t pieces(const void *context, int stage)
{
  const conv_few *c = context;
  int at;
  few_conv sub;
  int64_t out_at, w_at, n = 0;

  switch (step_of(c, stage, &at)) {
  case PAD:
    return c->f.n * c->f.x_extent[0];
  case FOLD:
    return c->form.n * c->form.x_extent[0];
  case SUM:
    if (class_of(c, &c->s, at / FEW_STAGES, &sub, &out_at, &w_at)) {
      n = few_pieces(c->kind, c->k, &sub, at % FEW_STAGES);
    }
    return n > 0 ? n : 1;
  default:
    return 0;
  }
}

/* Samples and rows along all dimensions but the last may be made by themselves; by classes, and
 * where what lies beyond the ends is added up, nothing is whole before the end. */
static bool blocks_of(const weir_graph *g, const weir_group *group, weir_kernel_blocks *b)
{
  conv_few c;

  if (!find_few(g, group, &c) || c.kind == FEW_WEIGHTS || c.classes > 1 ||
      (c.padded && c.f.kind == CONV_DATA)) {
    return false;
  }
  *b = (weir_kernel_blocks){.stage = FEW_STAGES - 1 + c.padded};
  conv_form_block_size(c.f.d, b);
  return true;
}

/* Steps of x, y and w; returns where w begins. */
static int64_t bind_steps(const conv_few *c, const weir_view *views, few_conv *s)
{
  const conv_form *f = &c->f;
  const conv_weight_strides w_strides = conv_form_weights(f, &views[2]);
  const bool exchanged = is_exchanged(c);
  int64_t w_at = w_strides.base;
  weir_view x = views[0];

  for (int k = f->d; c->padded && k >= 0; k--) { /* as conv_pad_row lays it out */
    x.stride[k] = k == f->d ? f->in : x.stride[k + 1] * f->x_extent[k];
  }
  conv_form_steps(exchanged ? &views[1] : &x, f->d, s->in_step);
  conv_form_steps(exchanged ? &x : &views[1], f->d, s->out_step);
  s->w_step[3] = c->few_x ? w_strides.in : w_strides.out;
  s->w_step[4] = c->few_x ? w_strides.out : w_strides.in;
  for (int k = 0; k < f->d; k++) {
    s->w_step[3 - f->d + k] = exchanged ? -w_strides.tap[k] : w_strides.tap[k];
    w_at += exchanged ? (f->kernel_size[k] - 1) * w_strides.tap[k] : 0;
  }
  return w_at;
}

static void run_sum(const conv_few *c, const weir_kernel_run *r, int stage)
{
  few_conv s = c->s, sub;
  const int64_t w_begin = bind_steps(c, r->views, &s);
  int64_t out_at, w_at;

  if (!class_of(c, &s, stage / FEW_STAGES, &sub, &out_at, &w_at) ||
      r->piece >= few_pieces(c->kind, c->k, &sub, stage % FEW_STAGES)) {
    return;
  }
  float *x = c->padded ? r->workspace : r->views[0].data, *y = r->views[1].data;
  float *w = (float *)r->views[2].data + w_begin + w_at;
  few_sum sum = {
      .kind = c->kind, .k = c->k, .s = &sub, .workspace = (float *)r->workspace + padded_count(c)};

  switch (c->f.kind) {
  case CONV_FORWARD:
    sum.a = x;
    sum.b = w;
    sum.out = y;
    break;
  case CONV_DATA:
    sum.a = y;
    sum.b = w;
    sum.out = x + out_at;
    break;
  default:
    sum.a = is_exchanged(c) ? y : x;
    sum.b = is_exchanged(c) ? x : y;
    sum.out = w;
  }
  if (r->piece < 0) {
    int64_t lo[3], hi[3];

    conv_form_box(r, &r->views[c->f.kind == CONV_DATA ? 0 : 1], c->f.d, lo, hi, sum.first);
    few_rows(&sum, lo, hi);
  } else {
    few_piece(&sum, stage % FEW_STAGES, r->piece);
  }
}

static void run(const weir_kernel_run *r)
{
  const conv_few *c = r->context;
  const int64_t inner = c->f.x_extent[0], rows = c->form.x_extent[0];
  int stage;

  switch (step_of(c, r->stage, &stage)) {
  case PAD:
    conv_pad_row(&c->form, &c->f, r->views[0].data, r->piece / inner, r->piece % inner,
                 r->workspace);
    break;
  case SUM:
    run_sum(c, r, stage);
    break;
  default:
    conv_fold_row(&c->form, &c->f, r->workspace, r->piece / rows, r->piece % rows,
                  (float *)r->views[0].data + r->piece * conv_row_size(&c->form));
  }
}

const weir_kernel weir_kernel_conv_few = {
    .name = "conv.few_channels",
    .device = "cpu",
    .match = match,
    .arrays = conv_form_arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .workspace = workspace,
    .blocks = blocks_of,
    .run = run,
};
