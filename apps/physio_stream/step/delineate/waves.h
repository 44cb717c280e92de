/* waves.h - onset, peak and end of the P wave, the QRS complex and the T wave of one beat in one
 * lead, by the wavelet transform of Martinez et al., IEEE Trans. Biomed. Eng. 51 (2004) 570. */
#ifndef PS_WAVES_H
#define PS_WAVES_H
#include <stddef.h>
#include <stdint.h>
#include "conf/weir_opt.h"
#include "model/mean_beat.h"

/* The marks of a beat. */
typedef enum ps_mark_kind {
  PS_P_ON,
  PS_P,
  PS_P_OFF,
  PS_QRS_ON,
  PS_QRS_OFF,
  PS_T_ON,
  PS_T,
  PS_T_OFF,
  PS_MARK_KINDS
} ps_mark_kind;

/* Shares of a slope, of the largest one or of a root mean square; the paper's appendix. */
typedef struct ps_slope_opts {
  double qrs_before, qrs_after; /* slope of the QRS complex that counts, of the largest   */
  double qrs_on, qrs_off;       /* slope at its borders, of the outermost one that counts */
  double wave;                  /* slope of a wave that counts, of its largest            */
  double noise;                 /* smallest slope, of the standard deviation of noise     */
  double p_min, p_on, p_off;    /* smallest slope of a P wave, of the RMS of the beat     */
  double t_min, t_on, t_off;    /* the same of a T wave                                   */
} ps_slope_opts;
extern const weir_opt ps_slope_options[];

/* A beat among the samples x[n], none of which is missing. Times are in samples. */
typedef struct ps_lead_beat {
  const float *x;
  int64_t n, r;       /* x[r]: the R wave                                             */
  double rate;        /* Hz                                                           */
  double rr, next;    /* interval before the beat and, INFINITY if not known, after it */
  double earliest;    /* no P wave begins before: end of the last T wave              */
  ps_mean_beat *mean; /* of the beats before, to which this one is added             */
  double *mean_x;     /* its samples                                                 */
} ps_lead_beat;

/* Returns the doubles of scratch memory for up to n samples. */
size_t ps_waves_scratch(int64_t n);
/* Finds the marks, in samples from x[r] (fractions are interpolated), NaN for one that is not
 * found or whose stretch of search is not within x. */
void ps_waves_find(const ps_slope_opts *opts, const ps_lead_beat *beat, double *scratch,
                   double marks[PS_MARK_KINDS]);
/* Returns the mark of several leads, mark[n], sorted in place, NaN where a lead has none. A peak is
 * the median. A border is the outermost mark (the first of onsets, the last of ends) that `agree`
 * others follow inwards within `within`; the median where no mark has as many. NaN without marks.
 */
double ps_waves_combine(ps_mark_kind kind, double *mark, int n, int agree, double within);
#endif
