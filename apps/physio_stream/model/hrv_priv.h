/* hrv_priv.h - spectra of intervals between beats. */
#ifndef PS_HRV_PRIV_H
#define PS_HRV_PRIV_H
#include "model/hrv.h"

/* Points a second of the series, and of one piece of it. */
#define HRV_RATE 4.0
#define HRV_PIECE 256

enum { HRV_BANDS = 3 };
#define HRV_HIGHEST 0.4 /* Hz, end of the last band */
/* Returns the band of a frequency, -1 for none. */
int hrv_band_of(double f);

/* Points (s, ms), ascending in time; bend and work: [n] of scratch. */
typedef struct hrv_points {
  double *t, *y, *bend, *work;
  int64_t n;
} hrv_points;

/* Summed densities of `pieces` pieces at bins k * HRV_RATE / HRV_PIECE, ms^2/Hz. */
typedef struct hrv_density {
  double sum[HRV_PIECE / 2 + 1];
  int64_t pieces;
} hrv_density;

/* Writes the natural cubic spline through the points, of which there are 3 at least, at HRV_RATE
 * from the first one on. series: capacity of their seconds times HRV_RATE, and 1. Returns the
 * number of values. */
int64_t hrv_spline(const hrv_points *p, double *series);
/* Adds the pieces that the points hold. series: capacity of their seconds times HRV_RATE, and 1. */
void hrv_welch(const hrv_points *p, double *series, hrv_density *density);
/* Returns the bands of a density, NaN without pieces. */
ps_hrv_bands hrv_bands_of(const hrv_density *density);
/* Returns the number of doubles of scratch memory for points that span up to `seconds`. */
size_t hrv_lomb_scratch(double seconds);
/* Returns the bands by the periodogram of Lomb, NaN with fewer than 4 points. */
ps_hrv_bands hrv_lomb(const hrv_points *p, double *scratch);
#endif
