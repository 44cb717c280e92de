/* stage_fetch.c - see stage_priv.h. */
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "stage_priv.h"

/* Whether no member is missing at a point (of y channels and cells), where members are read. */
static bool has_members(const wx_stage *s, const wx_sample *v, int64_t point)
{
  const int64_t plane = s->facts.cells / s->facts.depth, n = s->facts.members;
  const float *const e = v->e != NULL ? v->e + point / plane * n * plane + point % plane : NULL;
  bool all = true;

  for (int64_t k = 0; k < n && e != NULL && all; k++) {
    all = isfinite(e[k * plane]) != 0;
  }
  return all;
}

/* Cells count by area and as extremes say; what is missing counts nothing. */
static void fill_weights(const wx_stage *s, int64_t sample, const wx_sample *v, const float *m,
                         float *w)
{
  const int64_t n = s->facts.n_channels[WX_Y], cells = s->facts.cells;
  const wx_extremes *const x = s->is.extremes;

  for (int64_t c = 0; c < n; c++) {
    for (int64_t i = 0; i < cells; i++) {
      const int64_t at = c * cells + i;
      const double factor = x != NULL ? (double)x->factor[sample * n * cells + at] : 1;
      const bool there = isfinite(v->y[at]) && isfinite(m[at]) && isfinite(v->s[at]) &&
                         isfinite(factor) && has_members(s, v, at);

      w[i * n + c] = there ? (float)(s->facts.weight[i] * factor) : 0;
    }
  }
}

/* Elements of input k of a sample. */
static int64_t elements_of(const wx_stage *s, int k)
{
  int64_t n = 1;

  for (int d = 0; d < s->input[k].rank; d++) {
    n *= s->input[k].shape[d];
  }
  return n;
}

/* Fills whole[k], input k of a sample: [cells, channels]; NULL: the network does not take it. */
static weir_status fill_sample(wx_stage *s, int64_t sample, float *const *whole)
{
  wx_sample v;

  WEIR_TRY(wx_samples_read(s->is.samples, sample, &v));
  const float *m = s->is.mean != NULL ? s->is.mean + sample * elements_of(s, WX_IN_Y) : v.m;

  wx_standard_x(&s->standard, v.x, whole[WX_IN_X]);
  wx_standard_y(&s->standard, v.y, m, v.s, whole[WX_IN_Y], whole[WX_IN_S]);
  fill_weights(s, sample, &v, m, whole[WX_IN_W]);
  for (int64_t c = 0; c < s->network.n_y && whole[WX_IN_LOWER] != NULL; c++) {
    wx_standard_bound(&s->standard, c, s->output[c].lower, m, whole[WX_IN_LOWER]);
  }
  for (int64_t c = 0; c < s->network.n_y && whole[WX_IN_EXTRA] != NULL; c++) {
    wx_standard_width(&s->standard, c, wx_output_extra(&s->output[c]), whole[WX_IN_EXTRA]);
  }
  if (whole[WX_IN_MEMBERS] != NULL) {
    WEIR_ASSERT(v.e != NULL);
    wx_standard_members(&s->standard, v.e, v.m, whole[WX_IN_MEMBERS]);
  }
  return WEIR_OK;
}

/* Copies a box of an array whose rows are along the last dimension. */
static void copy_box(const float *from, const weir_train_input *of, const weir_box *box, float *to)
{
  const int last = of->rank - 1;
  const int64_t row = box->hi[last] - box->lo[last];
  int64_t at[WEIR_MAX_RANK];
  int d = weir_box_empty(box) ? -1 : 0;

  memcpy(at, box->lo, sizeof at);
  while (d >= 0) {
    int64_t offset = 0;

    for (int k = 0; k <= last; k++) {
      offset = offset * of->shape[k] + at[k];
    }
    memcpy(to, from + offset, (size_t)row * sizeof *to);
    to += row;
    for (d = last - 1; d >= 0 && ++at[d] == box->hi[d]; d--) {
      at[d] = box->lo[d];
    }
  }
}

weir_status wx_stage_fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  wx_stage *const s = context;
  const int64_t *number =
      s->is.split->sample[want->split == WEIR_VALID_SAMPLES ? WX_VALID : WX_TRAIN];
  float *whole[WX_INPUTS] = {NULL};
  int input[WX_INPUTS];
  const int n_inputs = wx_network_inputs(&s->network, input);

  for (int64_t i = 0; i < want->n; i++) {
    for (int at = 0; at < n_inputs; at++) {
      const int k = input[at];
      const bool all = weir_box_volume(&want->box[at]) == elements_of(s, k);

      if (!all && s->scratch[k] == NULL) {
        WEIR_TRY(weir_alloc(elements_of(s, k), sizeof *s->scratch[k], (void **)&s->scratch[k]));
      }
      whole[k] = all ? (float *)tensor[at]->data + i * elements_of(s, k) : s->scratch[k];
    }
    WEIR_TRY(fill_sample(s, number[want->sample[i]], whole));
    for (int at = 0; at < n_inputs; at++) {
      const int k = input[at];

      if (whole[k] == s->scratch[k]) {
        copy_box(whole[k], &s->input[k], &want->box[at],
                 (float *)tensor[at]->data + i * weir_box_volume(&want->box[at]));
      }
    }
  }
  return WEIR_OK;
}
