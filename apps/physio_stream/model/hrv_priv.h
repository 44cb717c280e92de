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
/* Sums over points of y times cos and sin at multiples of a frequency, of all at once (hrv_lomb.c):
 * a complex grid over one period, and the roots of its transform. */
typedef struct hrv_grid {
  int64_t m;    /* points, a power of two */
  double width; /* of the Gaussian: tau of Greengard and Lee */
  double *z;    /* [m][2]     */
  double *root; /* [m / 2][2] */
} hrv_grid;

/* Returns the number of doubles of scratch memory of a grid for multiples of 1 / seconds up to
 * twice HRV_HIGHEST. */
size_t hrv_grid_scratch(double seconds);
void hrv_grid_begin(double seconds, double *scratch, hrv_grid *g);
/* Makes the grid empty again. */
void hrv_grid_clear(hrv_grid *g);
/* Adds a point at angle x, 0 to 2 pi, of value y. */
void hrv_grid_add(const hrv_grid *g, double x, double y);
/* Ends the sums, then returns those of frequency k: of y, or of ones. */
void hrv_grid_transform(const hrv_grid *g);
void hrv_grid_sums(const hrv_grid *g, int64_t k, bool ones, double *cosine, double *sine);
/* Returns the bands by the periodogram of Lomb, NaN with fewer than 4 points. scratch: of a grid
 * for the seconds that the points span. */
ps_hrv_bands hrv_lomb(const hrv_points *p, double *scratch);

/* Returns the bands as hrv_frequency of NeuroKit2 0.3.0 does, NaN with fewer than 4 points, or
 * where LF or HF has none. scratch: of a grid for a second more than the points span. */
ps_hrv_bands hrv_neurokit2(const hrv_points *p, double *scratch);
/* Returns whether v[0] and the interval before it differ by more than 50 ms, in its arithmetic. */
bool hrv_neurokit2_is_far(const ps_interval *v, double rate);
/* Returns its SDANN5, ms; NaN with fewer than three windows. */
double hrv_neurokit2_sdann(const ps_interval *v, int64_t n, double rate);
#endif
