/* quality.h - four measures of an electrocardiogram's quality, and the class that they give (Zhao
 * and Zhang, Frontiers in Physiology 9 (2018) 727; ZZ2018 of BioSPPy and NeuroKit2). */
#ifndef PS_QUALITY_H
#define PS_QUALITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ps_quality {
  double q;    /* share of beats that two detectors agree on, 0 without beats     */
  double p;    /* power of 5-15 Hz of that of 5-40 Hz, 0 without any              */
  double k;    /* kurtosis: 3 of a normal distribution, at least 1; 0 of a flat line */
  double bas;  /* 1 - power of 0-1 Hz of that of 0-40 Hz, 0 without any           */
  double rate; /* beats a minute of the first detector, 0 for less than two beats */
} ps_quality;

typedef enum ps_quality_class {
  PS_QUALITY_EXCELLENT,
  PS_QUALITY_BARELY_ACCEPTABLE,
  PS_QUALITY_UNACCEPTABLE
} ps_quality_class;

/* What is known of a window's slots: bits. */
enum { PS_QUALITY_PRESENT = 1, PS_QUALITY_FIRST = 2, PS_QUALITY_SECOND = 4 };

#define PS_QUALITY_MAX_SLOTS (INT64_C(1) << 22) /* slots of a window */

/* Returns the number of doubles of scratch memory for windows of n slots at `rate` slots a second.
 */
int64_t ps_quality_scratch(int64_t n, double rate);
/* Returns the measures of n slots at `rate` (>= 80) slots a second, x where bit PRESENT is set,
 * beats of the detectors where FIRST and SECOND are; beats up to `match` slots apart are the same.
 * Powers are those of the periodogram of the window without its mean, borders of bands included;
 * absent slots count as the mean. */
ps_quality ps_quality_of(const float *x, const uint8_t *bits, int64_t n, double rate, int64_t match,
                         double *scratch);
/* Returns the class of a window whose measures are each rated optimal, suspicious or unqualified.
 * Unacceptable: three are unqualified, or two and one more is suspicious, or one and all others are
 * suspicious. Excellent: none is unqualified and at least three are optimal. */
ps_quality_class ps_quality_classify(const ps_quality *q);
#endif
