/* alarms.h - the score of the PhysioNet/CinC Challenge 2015 (Clifford et al., Computing in
 * Cardiology 42 (2015) 273): which of a monitor's alarms are true. */
#ifndef PS_ALARMS_H
#define PS_ALARMS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

/* The alarms of its records. */
typedef enum ps_alarm {
  PS_ALARM_ASYSTOLE,
  PS_ALARM_BRADYCARDIA,
  PS_ALARM_TACHYCARDIA,
  PS_ALARM_VENTRICULAR_TACHYCARDIA,
  PS_ALARM_VENTRICULAR_FLUTTER_FIB,
  PS_ALARMS
} ps_alarm;
/* Names as in the headers of the records, in small letters: also of the files with results. */
extern const char *const ps_alarm_name[PS_ALARMS];

/* Numbers of alarms; sums of several records add. */
typedef struct ps_alarm_counts {
  int64_t tp, fp, fn, tn;
} ps_alarm_counts;

/* Reads the alarm and whether it is true from the comments of a record's header
 * (weir_record_comments): a line with its name and a line "True alarm" or "False alarm". Fails:
 * WEIR_ERR_DATA without both; `record` begins the message. */
weir_status ps_alarm_label(const char *record, const char *comments, ps_alarm *alarm,
                           bool *truth) WEIR_CHECKED;
/* Finds whether a result of a query, a text file of lines `time_s,...` below a line of titles, has
 * a line with from <= time < to, s: a line a second, labelled with the begin of its second, at `to`
 * is of what follows. Fails: WEIR_ERR_DATA (no such file, a line without a time). */
weir_status ps_alarm_raised(const char *path, double from, double to, bool *raised) WEIR_CHECKED;
/* Counts one alarm. */
void ps_alarm_count(ps_alarm_counts *counts, bool truth, bool raised);
/* Returns 100 (TP + TN) / (TP + TN + FP + 5 FN), %; NaN without alarms. */
double ps_alarm_score(const ps_alarm_counts *counts);
#endif
