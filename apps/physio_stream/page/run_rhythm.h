/* run_rhythm.h - variability of the heart rate on the page of a run. */
#ifndef PS_RUN_RHYTHM_H
#define PS_RUN_RHYTHM_H
#include "model/hrv.h"
#include "out_beats.h"
#include "report/weir_report.h"

enum {
  PS_RHYTHM_BEATS = 262144,  /* that are looked at, so that memory is bounded */
  PS_RHYTHM_SECONDS = 172800 /* from the first of them on                     */
};

/* Writes table `hrv` and figures of the first beats. No reference says which are normal: all are
 * taken, but for intervals that opts->exclude refuses. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status ps_run_rhythm(weir_report *r, const ps_hrv_opts *opts,
                          const ps_out_beats *beats) WEIR_CHECKED;
#endif
