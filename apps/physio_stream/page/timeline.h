/* timeline.h - what share of each window of a recording has some property, in bounded memory: where
 * windows become too many, pairs of them become one. */
#ifndef PS_TIMELINE_H
#define PS_TIMELINE_H
#include "report/weir_report.h"

enum { PS_TIMELINE_WINDOWS = 1024, PS_TIMELINE_ROWS = 16 };
/* s of a window before any become one. */
#define PS_TIMELINE_WINDOW 10.0

typedef struct ps_timeline {
  double rate;   /* slots a second         */
  int64_t size;  /* slots of a window      */
  int64_t slots; /* of the recording, once it is over */
  int rows;
  int64_t *count; /* [rows][PS_TIMELINE_WINDOWS] slots that have the property; owned */
} ps_timeline;

/* Initialises the timeline; all zero is empty. Fails: WEIR_ERR_MEMORY. */
weir_status ps_timeline_init(int rows, double rate, ps_timeline *t) WEIR_CHECKED;
void ps_timeline_fini(ps_timeline *t);
/* Marks slots [lo, hi) with the property of `row`; a slot is given once a row. */
void ps_timeline_add(ps_timeline *t, int row, int64_t lo, int64_t hi);
/* Ends the recording after so many slots. */
void ps_timeline_end(ps_timeline *t, int64_t slots);
/* Return, once it is over, its number of windows, and the share of one, 0 to 1; the last one may be
 * shorter. */
int64_t ps_timeline_windows(const ps_timeline *t);
double ps_timeline_share(const ps_timeline *t, int row, int64_t window);
/* Adds the figure `name`: the rows that are named (NULL: left out), at most PS_TIMELINE_ROWS, every
 * window in its CSV; `empty` is said where no slot has any of the properties. Fails:
 * WEIR_ERR_MEMORY, as weir_report_figure. */
weir_status ps_timeline_figure(const ps_timeline *t, weir_report *r, const char *name,
                               const char *title, const char *const *names,
                               const char *empty) WEIR_CHECKED;
#endif
