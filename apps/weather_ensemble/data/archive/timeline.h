/* timeline.h - the initialisation times of an archive in a row: their usual interval, and those
 * that are missing or lack fields. */
#ifndef WX_TIMELINE_H
#define WX_TIMELINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"

/* A length of time between neighbours, and how often it occurs. */
typedef struct wx_interval {
  int64_t length, count;
} wx_interval;

typedef enum wx_presence { WX_COMPLETE, WX_INCOMPLETE, WX_MISSING } wx_presence;
extern const char *const wx_presence_name[];

/* Times in a row that are equally present. */
typedef struct wx_time_run {
  wx_presence is;
  int64_t first, last; /* seconds since 1970-01-01 00:00 UTC */
  int64_t n;           /* times */
  int64_t absent;      /* fields that they lack; 0 of missing times, which have none */
} wx_time_run;

typedef struct wx_timeline {
  bool months;           /* intervals are calendar months; false: seconds */
  int64_t step;          /* most frequent interval, the shorter of two; 0: one time */
  int64_t n_intervals;   /* different ones */
  wx_interval *interval; /* [n_intervals], most frequent first */
  int64_t missing;       /* times, by the step */
  int64_t n_runs, capacity;
  wx_time_run *run; /* [n_runs], from the first time to the last */
} wx_timeline;

/* Arranges n > 0 ascending times; absent[n]: fields that each lacks. An interval that is a whole
 * multiple of the step lacks the times between; others are irregular and lack none. Intervals are
 * counted in months where all times have one day of the month and one time of day. Fails:
 * WEIR_ERR_MEMORY; *out is then empty. */
weir_status wx_timeline_create(const int64_t *times, int64_t n, const int64_t *absent,
                               wx_timeline *out) WEIR_CHECKED;
void wx_timeline_fini(wx_timeline *t);
/* Writes an interval as "6 h", "1 d", "1 month". */
void wx_timeline_interval_text(const wx_timeline *t, int64_t length, char *text, size_t size);
#endif
