/* modulation.h - respiratory rate from what breathing modulates: the baseline, the amplitude and
 * the interval of the beats of an ECG or a photoplethysmogram (BW, AM, FM of Charlton et al.,
 * Physiol. Meas. 37 (2016) 610; RIIV, RIAV, RIFV of Karlen et al., IEEE Trans. Biomed. Eng. 60
 * (2013) 1946). */
#ifndef PS_MODULATION_H
#define PS_MODULATION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PS_MODULATION_BW, PS_MODULATION_AM, PS_MODULATION_FM, PS_MODULATIONS };

/* A beat, or a point of a respiration signal, of which only BW is used. */
typedef struct ps_modulated {
  double t;                     /* s                                                */
  double value[PS_MODULATIONS]; /* signal's unit; FM: s                             */
  bool joined;                  /* nothing is missing between the point before and it */
} ps_modulated;

/* Returns the number of doubles of scratch memory for up to n points that span up to `seconds`. */
size_t ps_modulation_scratch(int64_t n, double seconds);
/* Returns the longest stretch of v[n] (ascending in time) in which each point but the first is
 * joined: its first index in *first, its points as the result, 0 for n = 0. */
int64_t ps_modulation_run(const ps_modulated *v, int64_t n, int64_t *first);
/* Returns the rate, 1/min, of the largest maximum within (lo, hi) of the spectrum of modulation m
 * of n points, joined but for the first: a natural cubic spline at 4 Hz, its line of least squares
 * taken out, Hann window, zero-padded eightfold, the maximum that of a parabola through three
 * bins. hi is half the mean rate of the points where that is lower. NaN without a maximum, for
 * fewer than 4 points and for constant values. */
double ps_modulation_rate(const ps_modulated *v, int64_t n, int m, double lo, double hi,
                          double *scratch);
/* Fuses the rates of the modulations (Karlen et al. 2013, smart fusion): returns their mean, and in
 * *sd their standard deviation (of n - 1); both NaN unless all are there. */
double ps_modulation_fuse(const double rate[PS_MODULATIONS], double *sd);
#endif
