/* efi.c - see efi.h. */
#include "eval/score/efi.h"
#include <float.h>
#include <math.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "eval/sort/sort.h"

enum { CHUNK = 256 };

#define TWO_OVER_PI 0.63661977236758134308

/* A = integral of 1 / sqrt(p (1 - p)), B = integral of p / sqrt(p (1 - p)), from 0 to p. */
static double first(double p)
{
  return 2 * asin(sqrt(p));
}

static double second(double p)
{
  return asin(sqrt(p)) - sqrt(p * (1 - p));
}

double wx_efi(const double *below, int64_t n)
{
  double sum = 0;

  for (int64_t k = 0; k < n; k++) {
    const double a = (double)k / (double)n, b = (double)(k + 1) / (double)n;
    const double slope = (below[k + 1] - below[k]) * (double)n;

    sum += (1 - slope) * (second(b) - second(a)) - (below[k] - slope * a) * (first(b) - first(a));
  }
  return TWO_OVER_PI * sum;
}

void wx_efi_weights(int64_t n, double *weight)
{
  for (int64_t k = 0; k <= n + 1; k++) {
    weight[k] = 0;
  }
  for (int64_t k = 0; k < n; k++) {
    const double a = (double)k / (double)n, b = (double)(k + 1) / (double)n;
    const double up = second(b) - second(a), flat = first(b) - first(a);
    /* What the slope is multiplied by. */
    const double share = (a * flat - up) * (double)n;

    weight[n + 1] += TWO_OVER_PI * up;
    weight[k] -= TWO_OVER_PI * (flat + share);
    weight[k + 1] += TWO_OVER_PI * share;
  }
}

double wx_efi_weighted(const double *below, int64_t n, const double *weight)
{
  double sum = weight[n + 1];

  for (int64_t k = 0; k <= n; k++) {
    sum += weight[k] * below[k];
  }
  return sum;
}

double wx_efi_ens10(const double *below, int64_t n)
{
  double sum = 0;

  for (int64_t k = 1; k < n; k++) {
    const double p = (double)k / (double)n;

    sum += (p - below[k]) / sqrt(p * (1 - p));
  }
  return TWO_OVER_PI * sum / (double)n;
}

void wx_efi_shares(const double *x, int64_t m, const double *quantile, int64_t n, double *below)
{
  int64_t i = 0;

  for (int64_t k = 0; k <= n; k++) {
    while (i < m && x[i] <= quantile[k]) {
      i++;
    }
    below[k] = (double)i / (double)m;
  }
}

static double between(const double *x, int64_t m, double at)
{
  const int64_t i = (int64_t)floor(at);

  return i + 1 < m ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[m - 1];
}

void wx_model_climate_quantiles(const double *values, int64_t count, int64_t n, float *quantile,
                                int64_t stride)
{
  for (int64_t k = 0; k <= n; k++) {
    const double at = (double)k * (double)(count - 1) / (double)n;

    quantile[k * stride] = count > 0 ? (float)between(values, count, at) : NAN;
  }
}

double wx_sot(const double *x, int64_t m, double climate_90, double climate_99, int upper)
{
  const double limit = 10, width = climate_99 - climate_90;
  const double q = between(x, m, (upper ? 0.9 : 0.1) * (double)(m - 1));

  return width != 0 ? fmax(-limit, fmin(limit, (q - climate_99) / width)) : NAN;
}

wx_efi_rule wx_efi_rule_of(int form)
{
  wx_efi_rule r = {.form = form, .steps = form == WX_EFI_ENS10 ? 20 : WX_EFI_STEPS};

  wx_efi_weights(r.steps, r.weight);
  return r;
}

/* The index of members[m] ascending relative to quantiles[(steps + 1) * stride] of one point; NaN
 * where one of these is missing. */
static double index_of_point(const wx_efi_rule *r, const double *members, int64_t m,
                             const float *quantiles, int64_t stride)
{
  double q[WX_EFI_STEPS + 1], below[WX_EFI_STEPS + 1];
  int whole = 1;

  for (int64_t k = 0; k <= r->steps; k++) {
    q[k] = (double)quantiles[k * stride];
    whole = whole && isfinite(q[k]);
  }
  if (!whole) {
    return NAN;
  }
  wx_efi_shares(members, m, q, r->steps, below);
  return r->form == WX_EFI_ENS10 ? wx_efi_ens10(below, r->steps)
                                 : wx_efi_weighted(below, r->steps, r->weight);
}

typedef struct job {
  const wx_efi_rule *r;
  const float *members, *quantiles;
  int64_t m, cells;
  double *lanes, *sorted; /* [threads, m, WX_LANES], [threads, m] */
  float *efi;
} job;

static void index_chunk(void *context, int64_t chunk, int thread)
{
  const job *const j = context;
  const int64_t end = (chunk + 1) * CHUNK < j->cells ? (chunk + 1) * CHUNK : j->cells;

  double *const x = j->sorted + thread * j->m, *const lanes = j->lanes + thread * j->m * WX_LANES;

  for (int64_t i = chunk * CHUNK; i < end; i += WX_LANES) {
    const int64_t n = end - i < WX_LANES ? end - i : WX_LANES;
    int64_t count[WX_LANES];

    wx_sort_fields(j->members + i, j->m, j->cells, n, FLT_MAX, lanes, count);
    for (int64_t l = 0; l < n; l++) {
      wx_lane_copy(lanes, count[l], l, x);
      j->efi[i + l] = count[l] < j->m
                          ? NAN
                          : (float)index_of_point(j->r, x, j->m, j->quantiles + i + l, j->cells);
    }
  }
}

weir_status wx_efi_field(const wx_efi_rule *r, const float *members, int64_t m,
                         const float *quantiles, int64_t cells, float *efi)
{
  job j = {.r = r, .members = members, .quantiles = quantiles, .m = m, .cells = cells, .efi = efi};

  const int64_t scratch = weir_threads_get() * m;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(scratch, WX_LANES * sizeof *j.lanes, (void **)&j.lanes));
  WEIR_TRY_GOTO(weir_alloc(scratch, sizeof *j.sorted, (void **)&j.sorted), done);
  weir_parallel((cells + CHUNK - 1) / CHUNK, 0, index_chunk, &j);
done:
  weir_free(&j.lanes);
  weir_free(&j.sorted);
  return status;
}
