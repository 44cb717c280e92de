/* hrv_figures.h - the rhythm of beats as figures: intervals over time, each against the one before,
 * and their spectrum. */
#ifndef PS_HRV_FIGURES_H
#define PS_HRV_FIGURES_H
#include "model/hrv.h"
#include "report/weir_report.h"

/* Intervals of one source of beats. Borrowed. */
typedef struct ps_rhythm {
  const char *name; /* in the legend */
  const ps_interval *v;
  int64_t n;
  double rate; /* samples per second of v */
} ps_rhythm;

enum {
  PS_RHYTHMS = 2,         /* drawn in one figure at most */
  PS_RHYTHM_POINTS = 2000 /* of one rhythm in a figure, at most, gaps not counted */
};

/* Adds the figures tachogramSUFFIX, poincareSUFFIX and spectrumSUFFIX of `count` rhythms. Of more
 * than PS_RHYTHM_POINTS intervals the tachogram shows means of so many neighbours as it takes, with
 * their range as a band, and the Poincare plot every k-th pair. The spectrum is that of Welch,
 * whatever opts->spectrum says; of one rhythm its bins have the colour of their band. Fails:
 * WEIR_ERR_MEMORY, as weir_report_figure. */
weir_status ps_hrv_figures(weir_report *r, const char *title, const char *suffix,
                           const ps_hrv_opts *opts, const ps_rhythm *rhythms,
                           int count) WEIR_CHECKED;
#endif
