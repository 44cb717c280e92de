/* efi.h - how extreme a forecast is relative to its climate: the Extreme Forecast Index
 * (Lalaurette, QJRMS 129 (2003) 3037; Zsoter 2006) and the Shift of Tails. */
#ifndef WX_EFI_H
#define WX_EFI_H
#include <stdint.h>
#include "base/weir_status.h"

/* The index as configured: as the integral over 101 quantiles, or as the sum of 21 of ENS-10. */
typedef enum wx_efi_form { WX_EFI_EXACT, WX_EFI_ENS10 } wx_efi_form;
enum { WX_EFI_STEPS = 100 };
typedef struct wx_efi_rule {
  int form;
  int64_t steps; /* quantiles of the climate are k / steps, k = 0..steps <= WX_EFI_STEPS */
  double weight[WX_EFI_STEPS + 2];
} wx_efi_rule;
wx_efi_rule wx_efi_rule_of(int form);
/* Computes the index at each of `cells` points, on all threads: of members[m, cells] relative to
 * quantiles[steps + 1, cells] into efi[cells]. Fails: WEIR_ERR_MEMORY. */
weir_status wx_efi_field(const wx_efi_rule *r, const float *members, int64_t m,
                         const float *quantiles, int64_t cells, float *efi) WEIR_CHECKED;

/* Returns 2/pi times the integral of (p - F(p)) / sqrt(p (1 - p)) over [0, 1], exactly, where F,
 * the share of members that are at or below the climate's quantile p, is a straight line between
 * F[k] at p = k / n, k = 0..n. In [-1, 1]. */
double wx_efi(const double *below, int64_t n);
/* Computes weights of the index as a sum: it is weight[n + 1] + sum of weight[k] F[k], weight: [n +
 * 2]. For many points it costs no arc sines. */
void wx_efi_weights(int64_t n, double *weight);
double wx_efi_weighted(const double *below, int64_t n, const double *weight);
/* Returns the sum of ENS-10 (arXiv:2206.14786) in place of the integral: the inner points times 1 /
 * n. For n = 20 it does not go beyond +-0.791. */
double wx_efi_ens10(const double *below, int64_t n);
/* Computes F[k] for k = 0..n: shares of x[m] ascending that are <= quantile[k], ascending. */
void wx_efi_shares(const double *x, int64_t m, const double *quantile, int64_t n, double *below);

/* Computes quantiles k / n of values[count] ascending, k = 0..n, between neighbours in proportion
 * (positions k (count - 1) / n: minimum and maximum at the ends), into quantile[k * stride]; NaN
 * where there are no values. */
void wx_model_climate_quantiles(const double *values, int64_t count, int64_t n, float *quantile,
                                int64_t stride);

/* Returns (q_f(90) - q_c(99)) / (q_c(99) - q_c(90)), in [-10, 10]; upper 0: the same of the lower
 * tail, with 10 and 1. x[m] ascending; NaN where the climate's tail has no width. */
double wx_sot(const double *x, int64_t m, double climate_90, double climate_99, int upper);
#endif
