/* mean_beat.h - means of beats of one shape: how alike two beats are, where one lies in another,
 * and when a mean is given up. */
#ifndef PS_MEAN_BEAT_H
#define PS_MEAN_BEAT_H
#include <stdbool.h>
#include <stdint.h>

/* Correlation from which a beat is like a mean beat. */
#define PS_BEAT_ALIKE 0.9
/* Beats unlike a mean, more than are like it or in a row, after which the next one begins it anew.
 */
enum { PS_BEAT_UNLIKE = 8 };

/* A mean beat; there is none yet where all but `most` is 0. Its samples x[n] are the caller's. */
typedef struct ps_mean_beat {
  int64_t most;   /* ps_mean_add: the weight of a beat is 1 / most at least; 1: no mean */
  int64_t n;      /* beats in it                                                        */
  int64_t unlike; /* beats that are unlike it, less those that are like it              */
  int64_t in_row; /* beats that are unlike it, since one was like it                    */
  double noise;   /* standard deviation of its white noise, mV                          */
} ps_mean_beat;

/* A beat compared with another. */
typedef struct ps_likeness {
  double correlation; /* 0 where either is constant or has no more than its noise */
  double size;        /* times the other: slope of the regression on it           */
} ps_likeness;

/* Compares b[n] with a[n], both of any mean and with white noise of this standard deviation, which
 * is in their variances and not in their covariance: without it the correlation is that of the
 * waves alone (Spearman, Am. J. Psychol. 15 (1904) 72). */
ps_likeness ps_beat_compare(const double *a, double noise_a, const double *b, double noise_b,
                            int64_t n);
/* Returns the peak-to-peak amplitude of x[n]. */
double ps_beat_height(const double *x, int64_t n);

/* Makes y[n] the mean x[n], with its noise. */
void ps_mean_begin(ps_mean_beat *mean, double *x, const double *y, int64_t n, double noise);
/* Adds y[n] to the mean with a weight, 0 to 1. */
void ps_mean_learn(ps_mean_beat *mean, double *x, const double *y, int64_t n, double weight,
                   double noise);
/* Counts a beat that is like the mean or not. Returns whether a mean begins with it: there is none,
 * of the beats that count in both ways PS_BEAT_UNLIKE more were unlike than like it (`counts`: this
 * one does if it is unlike), or more than `in_row` of any kind in a row. */
bool ps_mean_count(ps_mean_beat *mean, bool alike, bool counts, int64_t in_row);

/* Samples on either side of the R wave that a mean beat of ps_mean_add has at `rate` Hz. */
int64_t ps_mean_reach(double rate);
/* Aligns the mean beat x[2 h + 1], h = ps_mean_reach(rate), with the beat around y[r] of y[n], and
 * adds it: with weight 1 as long as white noise of standard deviation `noise` is small, down to
 * 1 / most. A beat that is of another shape, or four times as large or as small, is not added.
 * Returns whether the mean is one of this beat; *shift: the R wave of the mean, samples from y[r],
 * between samples. False with too few samples of y. */
bool ps_mean_add(ps_mean_beat *mean, double *x, const double *y, int64_t n, int64_t r, double rate,
                 double noise, double *shift);
#endif
