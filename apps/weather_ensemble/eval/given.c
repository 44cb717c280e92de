/* given.c - see given.h. */
#include "eval/given.h"
#include <math.h>
#include "eval/sort/sort.h"

wx_distribution wx_given_distribution(const wx_given *g, int64_t cell)
{
  const bool normal = g->family == WX_NORMAL;

  return (wx_distribution){.family = g->family,
                           .location = (double)(normal ? g->mean : g->location)[cell],
                           .scale = (double)(normal ? g->sd : g->scale)[cell],
                           .lower = g->lower,
                           .shift = g->shift,
                           .width = g->width};
}

static double between(const double *sorted, int64_t n, double p)
{
  const double at = (double)(n - 1) * p, low = floor(at);
  const int64_t k = (int64_t)low;

  return at > low ? sorted[k] + (at - low) * (sorted[k + 1] - sorted[k]) : sorted[k];
}

void wx_given_quantiles(const wx_given *g, int64_t cells, const double *p, int64_t n,
                        double *scratch, float *out)
{
  int64_t m[WX_LANES];

  for (int64_t c = 0; c < cells && g->members > 0; c++) {
    const int64_t lane = c % WX_LANES, left = cells - c < WX_LANES ? cells - c : WX_LANES;
    double *const sorted = scratch + g->members * WX_LANES;

    if (lane == 0) {
      wx_sort_fields(g->member + c, g->members, cells, left, INFINITY, scratch, m);
    }
    wx_lane_copy(scratch, m[lane], lane, sorted);
    for (int64_t k = 0; k < n; k++) {
      out[k * cells + c] = m[lane] > 0 ? (float)between(sorted, m[lane], p[k]) : NAN;
    }
  }
  for (int64_t c = 0; c < cells && g->members == 0; c++) {
    const wx_distribution d = wx_given_distribution(g, c);

    for (int64_t k = 0; k < n; k++) {
      out[k * cells + c] = (float)wx_distribution_quantile(&d, p[k]);
    }
  }
}

static double chance_of_distribution(const wx_given *g, int64_t c, double threshold, bool above)
{
  const wx_distribution d = wx_given_distribution(g, c);

  return above ? wx_distribution_above(&d, threshold) : wx_distribution_below(&d, threshold);
}

static double chance_of_members(const wx_given *g, int64_t cells, int64_t c, double threshold,
                                bool above)
{
  int64_t n = 0, came = 0;

  for (int64_t i = 0; i < g->members; i++) {
    const double x = (double)g->member[i * cells + c];

    n += !isnan(x);
    came += above ? x > threshold : x < threshold;
  }
  return n > 0 ? (double)came / (double)n : (double)NAN;
}

void wx_given_chance(const wx_given *g, int64_t cells, double threshold, bool above, float *out)
{
  for (int64_t c = 0; c < cells; c++) {
    out[c] = (float)(g->members > 0 ? chance_of_members(g, cells, c, threshold, above)
                                    : chance_of_distribution(g, c, threshold, above));
  }
}
