/* hrv.h - variability of the heart rate: the measures of the Task Force (Circulation 93 (1996)
 * 1043-1065) over intervals between beats, of which some do not count and some follow a gap. */
#ifndef PS_HRV_H
#define PS_HRV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "conf/weir_opt.h"

/* The interval that ends at a beat. Times in samples of one clock. */
typedef struct ps_interval {
  double end, length;
  bool counts; /* between two normal beats: an NN interval         */
  bool joined; /* it begins where the interval before it ends       */
} ps_interval;

/* NaN where there is too little to say. */
typedef struct ps_hrv_times {
  int64_t n;           /* NN intervals                                         */
  double mean, sd;     /* ms; sd with n - 1                                    */
  double rmssd, pnn50; /* ms and %, over NN intervals that meet                */
  int64_t segments;    /* of five minutes, of which NN intervals cover 80 %    */
  double sdann;        /* ms, sd of the means of these; two at least           */
} ps_hrv_times;

typedef struct ps_hrv_bands {
  double vlf, lf, hf; /* ms^2: 0.003 to 0.04, 0.04 to 0.15, 0.15 to 0.4 Hz; vlf is NaN of Welch,
                         whose pieces are too short, and of 5 minutes of NN intervals or less */
} ps_hrv_bands;

/* Of ApEn, SampEn and multiscale entropy (hrv_nonlinear.h). */
typedef struct ps_hrv_entropy_opts {
  int64_t m;             /* intervals of a template, which is compared with one more too      */
  double r;              /* tolerance of a match, share of the SD of the intervals that count */
  int64_t scales;        /* of multiscale entropy, 1 to PS_HRV_MAX_SCALES                     */
  int64_t min_templates; /* fewer templates of m + 1 intervals give no entropy                */
} ps_hrv_entropy_opts;

/* Box sizes of detrended fluctuation analysis (hrv_nonlinear.h), in intervals. */
typedef struct ps_hrv_dfa_opts {
  int64_t short_min, short_max; /* of alpha 1                                                */
  int64_t long_min, long_max;   /* of alpha 2; long_max 0: a tenth of the intervals          */
  double ratio;                 /* of successive sizes; 1: every size                        */
  bool overlap;                 /* boxes overlap by half                                     */
} ps_hrv_dfa_opts;

typedef struct ps_hrv_opts {
  int definitions; /* PS_HRV_TASK_FORCE, PS_HRV_NEUROKIT2 */
  double exclude;  /* of the median: an interval further from it does not count; 0: all do */
  double bridge;   /* s, longest stretch of intervals that do not count which is interpolated */
  int spectrum;    /* PS_HRV_WELCH, PS_HRV_LOMB */
  ps_hrv_entropy_opts entropy;
  ps_hrv_dfa_opts dfa;
} ps_hrv_opts;

enum { PS_HRV_TASK_FORCE, PS_HRV_NEUROKIT2 };
enum { PS_HRV_WELCH, PS_HRV_LOMB };

/* Why a measure may be missing, for a page. */
#define PS_HRV_LIMITS                                                                          \
  "By nn.definitions=task_force "                                                              \
  "SDANN is of five-minute segments of which the intervals cover 80 %%, two at least; VLF is " \
  "given by nn.spectrum=lomb alone, of more than 5 minutes of intervals (Task Force 1996): "   \
  "Welch's pieces of 64 s have two bins there. Entropies need nn.entropy.min_templates "       \
  "templates (the MSE index on each scale); DFA needs four boxes of each size, which cover "   \
  "half of the intervals, and alpha 2 sizes up to twice the smallest. Measures without "       \
  "enough data are left out."

extern const weir_opt ps_hrv_options[], ps_hrv_entropy_options[], ps_hrv_dfa_options[];

/* Returns the seconds from the begin of the first interval to the end of the last. */
double ps_hrv_span(const ps_interval *v, int64_t n, double rate);
/* Returns the number of doubles of scratch memory for up to n intervals that span up to `seconds`;
 * opts->definitions and opts->spectrum say which. */
size_t ps_hrv_scratch(const ps_hrv_opts *opts, int64_t n, double seconds);
/* Takes `counts` from intervals further from the median of those that count than the share
 * `exclude` of it; 0 changes nothing. scratch: [n]. */
void ps_hrv_exclude(double exclude, ps_interval *v, int64_t n, double *scratch);
/* Measures in the time domain; v ascends. rate: samples per second. definitions: those of the Task
 * Force, or of NeuroKit2 0.3.0 (hrv_time) where they differ. Five-minute means count from time 0,
 * or from the first interval, none left out. pnn50 compares in samples (18 / 360 s is no more than
 * 50 ms), or in ms, and is then a share of the pairs and 1. */
ps_hrv_times ps_hrv_time_domain(int definitions, const ps_interval *v, int64_t n, double rate);
/* Returns the power in three bands. Welch: NN intervals by a natural cubic spline at 4 Hz, in
 * pieces of 256 points that overlap by half, a line taken out of each, Hann window, one-sided
 * density, summed over a band's bins; a piece never spans a gap. Lomb: of the intervals as they
 * are, at multiples of 1 / duration, gaps included; n log n. NeuroKit2 0.3.0 (hrv_frequency of
 * intervals and their times, normalize=False): hrv_neurokit2.c, gaps included. All NaN without one
 * piece, fewer than 4 intervals, or LF that has no two bins. The intervals span at most the seconds
 * that scratch was made for. */
ps_hrv_bands ps_hrv_spectrum(const ps_hrv_opts *opts, const ps_interval *v, int64_t n, double rate,
                             double *scratch);
/* Bins below 0.4 Hz: bin k stands for (k + 1) * PS_HRV_STEP Hz. */
enum { PS_HRV_BINS = 25 };
#define PS_HRV_STEP (1 / 64.0)
/* Computes the one-sided density of Welch, ms^2/Hz, whose bins times PS_HRV_STEP sum to the LF and
 * HF that ps_hrv_spectrum gives for PS_HRV_WELCH. scratch: as there, for PS_HRV_WELCH. False, and
 * nothing written, without one piece. */
bool ps_hrv_density(const ps_hrv_opts *opts, const ps_interval *v, int64_t n, double rate,
                    double *scratch, double density[PS_HRV_BINS]);
#endif
