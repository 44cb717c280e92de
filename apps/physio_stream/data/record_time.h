/* record_time.h - when a slot was, as the files of a run state it. */
#ifndef PS_RECORD_TIME_H
#define PS_RECORD_TIME_H
#include "data/input.h"
#include "io/weir_netcdf.h"

/* Microseconds of a slot of a clock since the origin that ps_time_describe states: of the date that
 * the recording gives (weir_netcdf_time_origin), else of its first sample. */
int64_t ps_time_us(const ps_input_info *facts, int64_t rate_num, int64_t rate_den, int64_t slot);
/* Says so of the variable `time`. Fails: as weir_netcdf_put_text. */
weir_status ps_time_describe(const ps_input_info *facts, weir_netcdf *nc, int time) WEIR_CHECKED;
#endif
