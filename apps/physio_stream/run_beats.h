/* run_beats.h - the beats of one recording. */
#ifndef PS_RUN_BEATS_H
#define PS_RUN_BEATS_H
#include "records/records.h"

/* Finds them and writes files and report into the recording's folder. Fails: as ps_input_open,
 * ps_pipeline_create and weir_stream_run; WEIR_ERR_UNSUPPORTED for features without NetCDF. */
weir_status ps_beats_run(const ps_one *one) WEIR_CHECKED;
/* Opens the recording and plans all that a run would do with it, which is not read. Fails: as
 * ps_beats_run. */
weir_status ps_beats_foresee(const ps_one *one) WEIR_CHECKED;
/* Checks that the recording and its signal are there. Fails: as ps_input_open. */
weir_status ps_beats_check(const ps_one *one) WEIR_CHECKED;
#endif
