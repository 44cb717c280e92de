/* given.c - see given.h. */
#include "eval/given.h"
#include <math.h>
#include <stdlib.h>
#include "base/weir_sort.h"

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

/* Members that are there at a cell, into scratch; returns how many. */
static int64_t collect(const wx_given *g, int64_t cells, int64_t c, float *scratch)
{
  int64_t n = 0;

  for (int64_t i = 0; i < g->members; i++) {
    const float x = g->member[i * cells + c];

    if (!isnan(x)) {
      scratch[n++] = x;
    }
  }
  return n;
}

static double between(const float *sorted, int64_t n, double p)
{
  const double at = (double)(n - 1) * p, low = floor(at);
  const int64_t k = (int64_t)low;
  const double first = (double)sorted[k];

  return at > low ? first + (at - low) * ((double)sorted[k + 1] - first) : first;
}

void wx_given_quantiles(const wx_given *g, int64_t cells, const double *p, int64_t n,
                        float *scratch, float *out)
{
  for (int64_t c = 0; c < cells; c++) {
    const int64_t m = collect(g, cells, c, scratch);

    if (m > 1) {
      qsort(scratch, (size_t)m, sizeof *scratch, weir_compare_f32);
    }
    for (int64_t k = 0; k < n && g->members > 0; k++) {
      out[k * cells + c] = m > 0 ? (float)between(scratch, m, p[k]) : NAN;
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
