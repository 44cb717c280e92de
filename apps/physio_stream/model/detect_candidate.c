/* detect_candidate.c - a bump of the feature as a candidate: where the R wave under it lies, how
 * sharp that is, and its shape. */
#include <math.h>
#include "model/detect_priv.h"

/* The slot of the R wave's lobe in [first, last] of `filtered`. The response to one wave is two
 * lobes of opposite sign and similar size, the first of which keeps its distance to the wave: of
 * all neighbours the two largest together, and of them the first. */
static int64_t main_lobe(const ps_detector *d, int64_t first, int64_t last)
{
  const float *filtered = ps_detect_filtered(d, first);
  int64_t top = first, best = first;
  float height = 0.0f, before = 0.0f, highest = -1.0f;
  int64_t top_before = first;

  for (int64_t t = first; t <= last; t++) {
    const float here = filtered[t - first];

    if ((here < 0.0f) != (filtered[t > first ? t - 1 - first : 0] < 0.0f)) {
      if (before + height > highest) {
        highest = before + height;
        best = before > 0.0f ? top_before : top;
      }
      before = height;
      top_before = top;
      height = 0.0f;
    }
    if (fabsf(here) > height) {
      height = fabsf(here);
      top = t;
    }
  }
  if (before + height > highest) {
    best = before > 0.0f ? top_before : top;
  }
  return best;
}

/* Samples from `top`, the top of a lobe, to that of the parabola of least squares through the
 * samples around it; 0 where there are none or they do not bend towards a top. */
static double beyond_top(const ps_detector *d, int64_t top)
{
  const int64_t left = top - d->segment, right = d->next - 1 - top;
  int64_t k = d->refine < left ? d->refine : left;

  k = k < right ? k : right;
  if (k < 1) {
    return 0.0;
  }
  const float *filtered = ps_detect_filtered(d, top - k);
  const double n = 2 * (double)k + 1, m2 = (double)(k * (k + 1)) * n / 3;
  const double m4 = m2 * (double)(3 * k * k + 3 * k - 1) / 5;
  double s0 = 0, s1 = 0, s2 = 0;

  for (int64_t i = -k; i <= k; i++) {
    const double y = (double)filtered[k + i];

    s0 += y;
    s1 += y * (double)i;
    s2 += y * (double)(i * i);
  }
  const double slope = s1 / m2, bend = (n * s2 - m2 * s0) / (n * m4 - m2 * m2);
  const double beyond = -slope / (2 * bend);

  return bend * (double)filtered[k] < 0 && fabs(beyond) <= (double)k ? beyond : 0.0;
}

/* Largest second difference of `filtered` in [first, last]. */
static float sharpness(const ps_detector *d, int64_t first, int64_t last)
{
  enum { LANES = 8 };
  const int64_t k = d->sharp_step, n = last - first + 1 - 2 * k;
  const float *before = ps_detect_filtered(d, first), *middle = before + k, *after = middle + k;
  float lane[LANES] = {0.0f};
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    for (int l = 0; l < LANES; l++) {
      const float bend = fabsf(before[i + l] - 2.0f * middle[i + l] + after[i + l]);

      lane[l] = bend > lane[l] ? bend : lane[l];
    }
  }
  for (; i < n; i++) {
    const float bend = fabsf(before[i] - 2.0f * middle[i] + after[i]);

    lane[0] = bend > lane[0] ? bend : lane[0];
  }
  for (int l = 1; l < LANES; l++) {
    lane[0] = lane[l] > lane[0] ? lane[l] : lane[0];
  }
  return lane[0];
}

/* Slopes of `filtered` around slot `middle`: differences of means over a point's width, which
 * remove what is too fast for the points. */
static void copy_shape(const ps_detector *d, int64_t middle, float *shape)
{
  const int64_t half = d->point_half, from = middle + d->point[0] - half;
  const int64_t low = d->segment - from, high = d->next - 1 - from;
  const int64_t length = d->point[PS_DETECT_SHAPE] - d->point[0] + 2 * half;
  const int inside = low <= 0 && high >= length;
  const float *filtered = ps_detect_filtered(d, from);
  const float share = 1.0f / (float)(2 * half + 1);
  float sum[PS_DETECT_SHAPE + 1] = {0.0f};

  for (int64_t i = 0; i <= 2 * half; i++) {
    for (int k = 0; k <= PS_DETECT_SHAPE; k++) {
      const int64_t at = d->point[k] - d->point[0] + i;

      sum[k] += inside || (at >= low && at <= high) ? filtered[at] : 0.0f;
    }
  }
  for (int k = 0; k < PS_DETECT_SHAPE; k++) {
    shape[k] = sum[k + 1] * share - sum[k] * share;
  }
}

ps_candidate ps_candidate_at(ps_detector *d, int64_t peak_at, float peak, float low)
{
  const int64_t middle = peak_at - d->feature_delay;
  int64_t first = middle - d->half_window, last = middle + d->half_window;

  first = first < d->segment ? d->segment : first;
  last = last >= d->next ? d->next - 1 : last;
  const int64_t top = main_lobe(d, first, last);
  const double position = (double)top - d->filtered_delay;
  const int64_t at = (int64_t)fmax(floor(position + 0.5), (double)d->segment);
  const double exact = fmax(position + beyond_top(d, top), (double)d->segment);
  const double fraction = d->refine > 0 ? exact - (double)at : 0.0;
  const float height = sqrtf(fmaxf(peak, 0.0f));
  ps_candidate c = {.at = at,
                    .fraction = (int32_t)floor(fraction * PS_DETECT_PER_SAMPLE + 0.5),
                    .height = height,
                    .amp = height,
                    .likeness = 1.0f,
                    .sharp = sharpness(d, first, last),
                    .low = low < 0.0f ? -1.0f : sqrtf(low)};

  copy_shape(d, middle, c.shape);
  return c;
}
