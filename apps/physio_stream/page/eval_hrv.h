/* eval_hrv.h - the variability of the heart rate of both sides of a scored record as tables. */
#ifndef PS_EVAL_HRV_H
#define PS_EVAL_HRV_H
#include "page/eval_intervals.h"
#include "report/weir_report.h"

enum { PS_HRV_COLUMNS = 24, PS_MSE_COLUMNS = 3 };
extern const char *const ps_hrv_head[PS_HRV_COLUMNS], *const ps_mse_head[PS_MSE_COLUMNS];

/* Measures the intervals of a side. rate: samples per second. Fails: WEIR_ERR_MEMORY. */
weir_status ps_measure_side(const ps_side *side, double rate, ps_measures *out) WEIR_CHECKED;
/* Adds the row of hrv.csv of one side. */
void ps_hrv_add_row(const ps_scored *s, bool test, weir_table *cells);
/* Adds the rows of mse.csv of one side: sample entropy on scales 1 to `scales`. */
void ps_mse_add_rows(const ps_scored *s, bool test, int64_t scales, weir_table *cells);
#endif
