/* eval_alarms.h - command eval with eval.alarms.score: alarms of several records. */
#ifndef PS_EVAL_ALARMS_H
#define PS_EVAL_ALARMS_H
#include "app/weir_job.h"

/* Scores the alarms of eval.records and writes alarms.csv, scores.csv and the page. On one rank.
 * Fails: WEIR_ERR_CONFIG (no records or no folder), as ps_records_list, ps_alarm_label,
 * ps_alarm_raised and the writers. */
weir_status ps_eval_alarms(weir_job *j) WEIR_CHECKED;
#endif
