/* access_range.c - regions by corner rules: needed, written, halo. */
#include "graph/graph_priv.h"

#include <stdlib.h>

void weir_form_span(const int64_t *coef, const weir_box *box, weir_wide *lo, weir_wide *hi)
{
  *lo = *hi = 0;
  for (int k = 0; k < box->rank; k++) {
    const weir_wide c = coef[k];
    const weir_wide first = c * box->lo[k], last = c * ((weir_wide)box->hi[k] - 1);
    *lo += c >= 0 ? first : last;
    *hi += c >= 0 ? last : first;
  }
}

void weir_index_span(const weir_index *x, const weir_box *box, weir_wide *lo, weir_wide *hi)
{
  weir_form_span(x->coef, box, lo, hi);
  *lo += x->offset + (weir_wide)(x->gather > 0 ? x->gather_lo : 0);
  *hi += x->offset + (weir_wide)(x->gather > 0 ? x->gather_hi - 1 : 0);
  *lo = weir_wide_floor_div(*lo, weir_index_divisor(x));
  *hi = weir_wide_floor_div(*hi, weir_index_divisor(x));
}

static int64_t saturate(weir_wide x)
{
  static const int64_t max = INT64_C(1) << 62;

  return x > max ? max : x < -max ? -max : (int64_t)x;
}

void weir_index_range(const weir_index *x, const weir_box *box, int64_t *min, int64_t *max)
{
  weir_wide lo, hi;

  weir_index_span(x, box, &lo, &hi);
  *min = saturate(lo);
  *max = saturate(hi);
}

void weir_operand_lag(const weir_operand *x, int k, const weir_box *box, int64_t *min, int64_t *max)
{
  const weir_step_rate rate = weir_operand_step_rate(x, k);
  weir_index rest = x->index[rate.dim];
  weir_box others = *box;
  weir_wide lo, hi;

  WEIR_ASSERT(rate.dim >= 0);
  others.lo[k] = 0;
  others.hi[k] = 1;
  rest.div = 1;
  weir_index_span(&rest, &others, &lo, &hi);
  /* up i + rest = down * index + remainder, and the remainder takes, over all i, every value that
   * differs from the rest by a multiple of both. */
  const int64_t step = weir_gcd(llabs(rate.up), rate.down);
  const weir_wide low = lo - weir_wide_floor_div(lo, step) * step;
  const weir_wide high = hi - weir_wide_floor_div(hi, step) * step;
  *min = saturate(lo - (rate.down - step + low));
  *max = saturate(hi - high);
}

int64_t weir_step_rate_first(const weir_step_rate *rate, int64_t max, int64_t index)
{
  const weir_wide distance = (weir_wide)rate->down * index - max;
  const weir_wide first = distance > 0 ? weir_wide_ceil_div(distance, rate->up) : 0;

  return first < WEIR_UNBOUNDED ? (int64_t)first : WEIR_UNBOUNDED;
}

/* Mirroring is continuous, so the image of an interval is one interval: between the images of its
 * ends and of the edges that it passes. */
static weir_interval reflected(weir_wide first, weir_wide last, int64_t extent)
{
  const weir_wide period = 2 * ((weir_wide)extent - 1), edge = extent - 1;

  if (extent == 1 || last - first >= period) {
    return (weir_interval){0, extent};
  }
  const weir_wide a = first - weir_wide_floor_div(first, period) * period;
  const weir_wide b = a + (last - first); /* below 2 * period */
  const weir_wide a_image = a <= edge ? a : period - a;
  const weir_wide b_folded = b >= period ? b - period : b;
  const weir_wide b_image = b_folded <= edge ? b_folded : period - b_folded;
  weir_wide lo = a_image < b_image ? a_image : b_image;
  weir_wide hi = a_image < b_image ? b_image : a_image;
  if (b >= period) {
    lo = 0;
  }
  if ((a <= edge && b >= edge) || b >= edge + period) {
    hi = edge;
  }
  return (weir_interval){(int64_t)lo, (int64_t)hi + 1};
}

int weir_border_image(weir_border border, weir_wide first, weir_wide last, int64_t extent,
                      weir_interval interval[2])
{
  const weir_wide end = (weir_wide)extent - 1;

  if (extent <= 0 || first > last) {
    return 0;
  }
  if (border == WEIR_BORDER_WRAP) {
    if (last - first >= end) {
      interval[0] = (weir_interval){0, extent};
      return 1;
    }
    const weir_wide lo = first - weir_wide_floor_div(first, extent) * extent;
    const weir_wide hi = lo + (last - first);
    if (hi <= end) {
      interval[0] = (weir_interval){(int64_t)lo, (int64_t)hi + 1};
      return 1;
    }
    interval[0] = (weir_interval){0, (int64_t)(hi - end)};
    interval[1] = (weir_interval){(int64_t)lo, extent};
    return 2;
  }
  if (border == WEIR_BORDER_REFLECT) {
    interval[0] = reflected(first, last, extent);
    return 1;
  }
  if (border != WEIR_BORDER_REPLICATE && (last < 0 || first > end)) {
    return 0;
  }
  first = first < 0 ? 0 : first > end ? end : first;
  last = last < 0 ? 0 : last > end ? end : last;
  interval[0] = (weir_interval){(int64_t)first, (int64_t)last + 1};
  return 1;
}

static weir_region region_of(const weir_operand *x, const weir_box *box)
{
  weir_region r = {.rank = x->rank, .exact = true};
  weir_wide lo, hi;

  if (weir_box_empty(box)) {
    return r;
  }
  for (int d = 0; d < x->rank; d++) {
    if (d < weir_operand_first(x)) {
      r.n[d] = x->extent[d] > 0;
      r.interval[d][0] = (weir_interval){0, x->extent[d]};
      continue;
    }
    const weir_index *i = &x->index[d];
    weir_index_span(i, box, &lo, &hi);
    r.n[d] = weir_border_image(i->border, lo, hi, x->extent[d], r.interval[d]);
    r.exact = r.exact && i->gather == 0;
  }
  return r;
}

weir_box weir_output_box(const weir_access *a, const weir_operand *output, const weir_box *box)
{
  weir_box b = *box;

  for (int k = 0; k < b.rank; k++) {
    bool feeds = a->dim[k].kind == WEIR_REDUCED ||
                 (output->role == WEIR_ROLE_STATE && a->dim[k].kind != WEIR_PARALLEL);
    for (int d = weir_operand_first(output); d < output->rank; d++) {
      feeds = feeds && output->index[d].coef[k] == 0; /* library operators write along it */
    }
    if (feeds && b.hi[k] <= b.lo[k]) {
      b.hi[k] = b.lo[k] + 1;
    }
  }
  return b;
}

weir_region weir_needed(const weir_access *a, int operand, const weir_box *box)
{
  WEIR_ASSERT(operand >= 0 && operand < a->n_in);
  return region_of(&a->in[operand], box);
}

weir_box weir_needed_box(const weir_access *a, int operand, const weir_box *box)
{
  const weir_operand *x = &a->in[operand];
  const weir_region r = weir_needed(a, operand, box);
  const bool runs = !weir_box_empty(box);
  weir_box all = {.rank = x->rank};

  for (int d = 0; d < x->rank; d++) {
    const bool slots = d < weir_operand_first(x);

    if (slots || (runs && weir_index_turns(&x->index[d], x->extent[d], box))) {
      all.hi[d] = x->extent[d];
    } else if (runs && r.n[d] > 0) {
      all.lo[d] = r.interval[d][0].lo;
      all.hi[d] = r.interval[d][r.n[d] - 1].hi;
    }
  }
  return all;
}

weir_region weir_written(const weir_access *a, int output, const weir_box *box)
{
  WEIR_ASSERT(output >= 0 && output < a->n_out);
  const weir_box seen = weir_output_box(a, &a->out[output], box);
  return region_of(&a->out[output], &seen);
}

bool weir_index_turns(const weir_index *x, int64_t extent, const weir_box *iterations)
{
  const bool may = x->border == WEIR_BORDER_WRAP || x->border == WEIR_BORDER_REFLECT;
  weir_wide lo, hi;

  weir_index_span(x, iterations, &lo, &hi);
  return may && (lo < 0 || hi >= extent);
}

void weir_halo(const weir_access *a, int operand, const weir_box *iterations, const weir_box *owned,
               int64_t *below, int64_t *above)
{
  const weir_region need = weir_needed(a, operand, iterations);
  const weir_box hull = weir_region_hull(&need);
  const weir_operand *x = &a->in[operand];

  for (int d = 0; d < x->rank; d++) {
    weir_wide lo = hull.lo[d], hi = hull.hi[d];
    below[d] = above[d] = 0;
    if (weir_region_empty(&need)) {
      continue;
    }
    if (d >= weir_operand_first(x) && x->index[d].border == WEIR_BORDER_WRAP) {
      weir_index_span(&x->index[d], iterations, &lo, &hi);
      hi++;
    }
    const weir_wide extent = x->extent[d];
    const weir_wide under = owned->lo[d] - lo, over = hi - owned->hi[d];
    below[d] = (int64_t)(under < 0 ? 0 : under > extent ? extent : under);
    above[d] = (int64_t)(over < 0 ? 0 : over > extent ? extent : over);
  }
}
