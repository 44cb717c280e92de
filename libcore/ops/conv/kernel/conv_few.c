/* conv_few.c - convolutions and both their gradients where x or y has few channels, f32, by the
 * vector code of this processor (few_priv.h).
 *
 * Padding with 0, dilation 1, one group; where y has few channels, the gradient by the weights has
 * stride 1. */
#include <math.h>

#include "base/weir_alloc.h"
#include "ops/conv/conv_form.h"
#include "ops/conv/few_priv.h"

typedef struct conv_few {
  conv_form f;
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
                .taps = {1, 1, 1},
                .stride = {1, 1, 1}};

  for (int k = 0; k < f->d; k++) {
    const int d = 3 - f->d + k;

    s.in[d] = f->x_extent[k];
    s.out[d] = f->y_extent[k];
    s.taps[d] = f->taps[k];
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

/* x and y change places, stride 1: out = in + tap - lo, counted from the last tap. */
static void exchange(few_conv *s)
{
  for (int d = 0; d < 3; d++) {
    const int64_t in = s->in[d];

    s->in[d] = s->out[d];
    s->out[d] = in;
    s->lo[d] = s->taps[d] - 1 - s->lo[d];
  }
}

static bool find_few(const weir_graph *g, const weir_group *group, conv_few *c)
{
  const conv_form *f = &c->f;

  c->k = few_kernels_get();
  if (c->k == NULL || !conv_form_of_group(g, group, &c->f) || f->dtype != WEIR_F32 ||
      f->groups != 1) {
    return false;
  }
  c->few_x = f->in <= f->out;
  c->kind = f->kind == CONV_WEIGHTS                 ? FEW_WEIGHTS
            : (f->kind == CONV_FORWARD) == c->few_x ? FEW_WIDEN
                                                    : FEW_NARROW;
  c->classes = 1;
  for (int k = 0; k < f->d; k++) {
    const bool inside = f->lo[k] <= 0 && f->hi[k] <= 0;

    if ((f->border[k] != WEIR_BORDER_ABSENT && !inside) ||
        (f->dilation[k] != 1 && f->taps[k] > 1) || (is_exchanged(c) && f->stride[k] != 1)) {
      return false;
    }
    c->classes *= f->kind == CONV_DATA ? f->stride[k] : 1;
  }
  c->s = shape_of(c);
  if (is_exchanged(c)) {
    exchange(&c->s);
  }
  return few_takes(c->kind, &c->s);
}

/* The sum that class `number` is, and where it begins in the gradient and in w; false: there is
 * none. */
static bool class_of(const conv_few *c, const few_conv *s, int64_t number, few_conv *part,
                     int64_t *out_at, int64_t *w_at)
{
  const int64_t *stride = s->stride;
  const int64_t at[] = {number / stride[2] / stride[1], number / stride[2] % stride[1],
                        number % stride[2]};

  *part = *s;
  *out_at = *w_at = 0;
  return c->f.kind != CONV_DATA || few_class(s, at, part, out_at, w_at);
}

/* Below this many operations a loop is as good. */
static const double least_flops = 1 << 14;

/* Shares of the multiply-adds that a core can do, measured on Zen 4 (AVX-512) with 3 taps in each
 * of 3 dimensions: by weights 4->32 0.89, 5->16 0.87; few channels of 16: 5 0.88; of 32: 4 0.78, 14
 * 0.76; to many: 4->32 0.75, 5->16 0.91. Then what sums of lanes, slabs, calls take. */
static double match(const weir_graph *g, const weir_group *group)
{
  const double peak = 1.18e11, bandwidth = 1e10, call = 2e-6;
  conv_few c;

  if (!find_few(g, group, &c) || conv_form_flops(&c.f) < least_flops) {
    return -1;
  }
  const few_conv *s = &c.s;
  const double vectors = ceil((double)s->many / (double)c.k->lanes);
  const double elements = (double)(s->taps[2] * s->few);
  const double taps = (double)(s->taps[0] * s->taps[1] * s->taps[2]);
  const double chains = elements * fmin(vectors, 2);
  const double moved = 2 * (double)few_workspace(c.kind, c.k, s);
  double share = 0.85 * (double)s->many / (vectors * (double)c.k->lanes);

  if (c.kind == FEW_WEIGHTS) {
    share *= fmin(1, chains / 5);
  } else if (c.kind == FEW_NARROW) {
    share *= taps * vectors / (taps * vectors + 3);
  }
  share *= (double)s->out[2] / (double)(s->out[2] + 2 * s->taps[2]);
  return conv_form_flops(&c.f) / (peak * share) + moved / bandwidth + call * (double)c.classes;
}

static weir_status prepare(const weir_graph *g, const weir_group *group, void **context)
{
  void *memory;

  *context = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(conv_few), &memory));
  if (!find_few(g, group, memory)) {
    weir_free(&memory);
    return weir_fail(WEIR_ERR_SHAPE, "conv_few: the group is no convolution of few channels");
  }
  *context = memory;
  return WEIR_OK;
}

static void release(void *context)
{
  weir_free(&context);
}

/* Stages of a class follow those of the class before; a class without elements has one idle piece.
 */
static int64_t pieces(const void *context, int stage)
{
  const conv_few *c = context;
  few_conv part;
  int64_t out_at, w_at;

  if (stage >= FEW_STAGES * c->classes) {
    return 0;
  }
  const bool any = class_of(c, &c->s, stage / FEW_STAGES, &part, &out_at, &w_at);
  const int64_t n = any ? few_pieces(c->kind, c->k, &part, stage % FEW_STAGES) : 0;

  return n > 0 ? n : 1;
}

static int64_t workspace(const void *context)
{
  const conv_few *c = context;

  return few_workspace(c->kind, c->k, &c->s);
}

/* Steps of a view [n, extents, channels]. */
static void steps_of(const weir_view *v, int d, int64_t step[4])
{
  step[0] = v->stride[0];
  for (int k = 0; k < 3; k++) {
    step[1 + k] = k < 3 - d ? 0 : v->stride[1 + k - (3 - d)];
  }
}

static void run(const weir_kernel_run *r)
{
  const conv_few *c = r->context;
  const conv_form *f = &c->f;
  const weir_view *x = &r->views[0], *y = &r->views[1], *w = &r->views[2];
  const conv_weight_places places = conv_form_weights(f, w);
  const bool exchanged = is_exchanged(c);
  int64_t w_at = places.base, class_out, class_w;
  few_conv s = c->s, part;

  steps_of(exchanged ? y : x, f->d, s.in_step);
  steps_of(exchanged ? x : y, f->d, s.out_step);
  s.w_step[3] = c->few_x ? places.in : places.out;
  s.w_step[4] = c->few_x ? places.out : places.in;
  for (int k = 0; k < f->d; k++) {
    s.w_step[3 - f->d + k] = exchanged ? -places.tap[k] : places.tap[k];
    w_at += exchanged ? (f->taps[k] - 1) * places.tap[k] : 0;
  }
  if (!class_of(c, &s, r->stage / FEW_STAGES, &part, &class_out, &class_w) ||
      r->piece >= few_pieces(c->kind, c->k, &part, r->stage % FEW_STAGES)) {
    return;
  }
  float *px = x->data, *py = y->data, *pw = (float *)w->data + w_at + class_w;
  few_sum sum = {.kind = c->kind, .k = c->k, .s = &part, .b = pw, .workspace = r->workspace};

  switch (f->kind) {
  case CONV_FORWARD:
    sum.a = px;
    sum.out = py;
    break;
  case CONV_DATA:
    sum.a = py;
    sum.out = px + class_out;
    break;
  default:
    sum.a = exchanged ? py : px;
    sum.b = exchanged ? px : py;
    sum.out = pw;
  }
  few_piece(&sum, r->stage % FEW_STAGES, r->piece);
}

const weir_kernel weir_kernel_conv_few = {
    .name = "conv.few",
    .device = "cpu",
    .match = match,
    .arrays = conv_form_arrays,
    .prepare = prepare,
    .release = release,
    .pieces = pieces,
    .workspace = workspace,
    .run = run,
};
