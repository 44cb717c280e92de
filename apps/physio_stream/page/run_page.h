/* run_page.h - the report of a run, and the strip of signal that it shows. */
#ifndef PS_RUN_PAGE_H
#define PS_RUN_PAGE_H
#include "out_beats.h"
#include "pipeline.h"
#include "page/run_quality.h"

/* Samples [lo, hi) of the signal, kept as they are read. */
typedef struct ps_strip {
  int64_t lo, hi;
  int64_t count; /* samples of the signal                                      */
  bool follows;  /* no start was asked for: it begins at the first sample that */
                 /* is present, which has not come yet                         */
  bool moved;    /* it came after samples that are absent                      */
  double *value; /* NaN where absent                                           */
} ps_strip;

/* Initialises the strip. Fails: WEIR_ERR_CONFIG for over 10^6 samples, and for a start past the
 * end. */
weir_status ps_strip_init(const ps_cfg *cfg, const ps_input_info *facts,
                          ps_strip *out) WEIR_CHECKED;
void ps_strip_fini(ps_strip *s);
/* Keeps what of slots [lo, hi) belongs to the strip. */
void ps_strip_take(ps_strip *s, int64_t lo, int64_t hi, const float *x, const uint8_t *present);

/* Ends the signal after `count` samples: for input whose end was not known. */
void ps_strip_end(ps_strip *s, int64_t count);

/* Writes DIR/report.html with its figures, and the event `run_end` with the numbers that it shows.
 */
weir_status ps_run_page_write(const char *dir, const ps_cfg *cfg, const ps_strip *strip,
                              const ps_quality *quality, const ps_out_beats *beats,
                              const ps_pipeline *pipeline,
                              const weir_stream_report *report) WEIR_CHECKED;
#endif
