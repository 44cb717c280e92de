/* conv_unit.c - what is a convolution of stride 1, its extents and steps, and the sums over
 * borders. */
#include "ops/conv/unit/conv_unit.h"

bool conv_unit_by_weights(const conv_unit_claim *c)
{
  return c->f.kind == CONV_WEIGHTS;
}

static conv_unit shape_of(const conv_form *f)
{
  const bool by_data = f->kind == CONV_DATA;
  conv_unit s = {.batch = f->n,
                 .read = by_data ? f->out : f->in,
                 .made = by_data ? f->in : f->out,
                 .taps = {1, 1, 1},
                 .x = {1, 1, 1},
                 .y = {1, 1, 1}};

  for (int k = 0; k < f->d; k++) {
    const int d = 3 - f->d + k;

    s.taps[d] = f->kernel_size[k];
    s.x[d] = by_data ? f->y_extent[k] : f->x_extent[k];
    s.y[d] = by_data ? f->x_extent[k] : f->y_extent[k];
    s.lo[d] = by_data ? f->kernel_size[k] - 1 - f->lo[k] : f->lo[k];
    s.border[d] = f->border[k];
  }
  return s;
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

bool conv_unit_find(const weir_graph *g, const weir_group *group, conv_unit_claim *c)
{
  if (!conv_form_of_group(g, group, &c->form) || !operands_of(&c->form, &c->operands) ||
      c->form.groups != 1) {
    return false;
  }
  for (int k = 0; k < c->form.d; k++) {
    if (c->form.stride[k] != 1 || c->form.dilation[k] != 1) {
      return false;
    }
  }
  c->f = c->form;
  c->folds = c->form.kind == CONV_DATA && conv_pad_form(&c->form, &c->f);
  c->s = shape_of(&c->f);
  return true;
}

int64_t conv_unit_folded_bytes(const conv_unit_claim *c)
{
  const int64_t line = 64, bytes = c->f.n * c->f.x_extent[0] * conv_row_size(&c->f) * 4;

  return c->folds ? (bytes + line - 1) / line * line : 0;
}

int64_t conv_unit_row_bytes(const conv_unit_claim *c)
{
  return c->folds && c->form.x_dtype == WEIR_BF16 ? conv_row_size(&c->form) * (int64_t)sizeof(float)
                                                  : 0;
}

/* Steps of x, y and w; returns where w begins. */
static int64_t bind_steps(const conv_unit_claim *c, const weir_view *views, conv_unit *s)
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

void conv_unit_bind(const conv_unit_claim *c, const weir_kernel_run *r, conv_unit_run *run)
{
  const bool by_data = c->f.kind == CONV_DATA;
  void *x = c->folds ? r->workspace : r->views[0].data, *y = r->views[1].data;

  *run = (conv_unit_run){.s = c->s,
                         .x = by_data ? y : x,
                         .y = by_data ? x : y,
                         .half = !c->folds && made_dtype(&c->f) == WEIR_BF16,
                         .others = (char *)r->workspace + conv_unit_folded_bytes(c)};
  const int64_t w_at = bind_steps(c, r->views, &run->s);

  run->w = (char *)r->views[2].data + w_at * (int64_t)weir_dtype_size(c->f.w_dtype);
  if (r->piece < 0) {
    conv_form_box(r, &r->views[by_data ? 0 : 1], c->f.d, run->lo, run->hi, run->first);
  }
}

int64_t conv_unit_folds(const conv_unit_claim *c)
{
  return c->folds ? c->form.n * c->form.x_extent[0] : 0;
}

void conv_unit_fold(const conv_unit_claim *c, const weir_kernel_run *r)
{
  const int64_t rows = c->form.x_extent[0], size = conv_row_size(&c->form);
  const bool rounds = conv_unit_row_bytes(c) > 0;
  float *to = rounds ? r->scratch : (float *)r->views[0].data + r->piece * size;

  conv_fold_row(&c->form, &c->f, r->workspace, r->piece / rows, r->piece % rows, to);
  for (int64_t i = 0; i < size && rounds; i++) {
    ((weir_bf16 *)r->views[0].data)[r->piece * size + i] = weir_bf16_from_f32(to[i]);
  }
}

int64_t conv_unit_beyond(const conv_unit *s, int d, int64_t raw)
{
  if (s->border[d] == WEIR_BORDER_ABSENT || s->x[d] == 0) {
    return -1;
  }
  bool inside;

  return weir_index_border(&(weir_index){.border = s->border[d]}, raw, s->x[d], &inside);
}
