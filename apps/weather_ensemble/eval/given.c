/* given.c - see given.h. */
#include "eval/given.h"
#include <math.h>
#include <stdlib.h>
#include "base/weir_sort.h"
#include "eval/score/normal.h"

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
  for (int64_t k = 0; k < n && g->members == 0; k++) {
    const double z = wx_normal_quantile(p[k]);

    for (int64_t c = 0; c < cells; c++) {
      out[k * cells + c] = (float)((double)g->mean[c] + z * (double)g->sd[c]);
    }
  }
}

/* Of a normal distribution; one of no width is where its mean is. */
static double chance_of_normal(double mean, double sd, double threshold, bool above)
{
  if (isnan(mean) || isnan(sd)) {
    return (double)NAN;
  }
  if (!(sd > 0)) {
    return above ? mean > threshold : mean < threshold;
  }
  const double z = (threshold - mean) / sd;

  return above ? wx_normal_above(z) : wx_normal_below(z);
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
                                    : chance_of_normal((double)g->mean[c], (double)g->sd[c],
                                                       threshold, above));
  }
}
