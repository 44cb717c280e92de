/* column.h - a result of a query as it comes: kept in a nameless file, so that memory does not
 * grow, counted, and read back when all of it is there. */
#ifndef PS_COLUMN_H
#define PS_COLUMN_H
#include <stdio.h>
#include "stream/weir_query.h"

/* Samples of a column that the report draws: those of slots [lo, hi). */
typedef struct ps_column_strip {
  int64_t lo, hi;
  double *value; /* NaN where absent */
} ps_column_strip;

/* Slots of a kind that nobody expects. */
typedef struct ps_column_odd {
  int64_t n, first; /* first: its slot, where n > 0 */
} ps_column_odd;

typedef struct ps_column {
  const weir_query_column *what;
  FILE *kept;              /* runs of present slots: slot, length, values */
  int64_t slots, present;  /* slots seen; those with a value              */
  double min, max, sum;    /* of the values                               */
  int64_t first;           /* first present slot, -1 for none             */
  ps_column_odd infinite;  /* values                                      */
  ps_column_odd undefined; /* slots: absent, for an expression gave no number */
  ps_column_strip strip;
  bool whole; /* events are drawn whole: neither a start of the strip nor a length of 0 is given */
  FILE *follow; /* values are printed here as they come, or NULL */
} ps_column;

enum { PS_COLUMN_STRIP = 20000 }; /* samples drawn at most */
#define PS_COLUMN_TREND 1.0       /* Hz; a slower column, or one of this rate, is drawn whole */
#define PS_COLUMN_EVENTS 4.0      /* Hz; as many values, in few slots, are events: beats, alarms */

/* Keeps what comes of the column; its strip is `seconds` from its first present slot on, or, where
 * start > 0, from there on; of a trend that has neither start nor `seconds` 0, the first
 * PS_COLUMN_STRIP slots. `what` is borrowed. Fails: WEIR_ERR_DATA where no nameless file can be
 * made, WEIR_ERR_MEMORY. */
weir_status ps_column_init(const weir_query_column *what, double start, double seconds,
                           ps_column *out) WEIR_CHECKED;
void ps_column_fini(ps_column *c);
/* Prints present slots from now on as they come, as lines of docs/reference/live.md, so
 * that a program can read on: NAME,TIME,VALUE after a #stream line.
 * Fails: WEIR_ERR_DATA when nothing can be printed. */
weir_status ps_column_follow(ps_column *c, FILE *out) WEIR_CHECKED;
/* Takes values, as a sink of weir_stream.h; the context is a ps_column. Fails: WEIR_ERR_DATA when
 * the disk is full.
 */
weir_status ps_column_take(void *context, const weir_view *view, int64_t lo, int64_t hi,
                           bool last) WEIR_CHECKED;
/* Takes the column's result `undefined`, as a sink; the context is the same. */
weir_status ps_column_take_undefined(void *context, const weir_view *view, int64_t lo, int64_t hi,
                                     bool last) WEIR_CHECKED;
/* Returns whether `present` values in so many slots of `rate` Hz are events: values of few slots,
 * as rare as beats or rarer. */
bool ps_column_is_events(double rate, int64_t present, int64_t slots);
/* Returns the time of a slot, s. */
double ps_column_time(const ps_column *c, int64_t slot);

/* What the report draws: `n` times and values, NaN where absent. */
typedef struct ps_column_drawn {
  int64_t n;
  double *time, *value; /* s; owned */
  bool points;          /* most slots are absent: a line would be broken at each */
} ps_column_drawn;
/* Draws the strip, once all of the column is there; of events, at most PS_COLUMN_EVENTS a second in
 * less than a quarter of the slots, the first PS_COLUMN_STRIP of all unless the strip has a stated
 * start or no length. The caller ends *out with ps_column_drawn_fini. Fails: WEIR_ERR_MEMORY, as
 * ps_column_open. */
weir_status ps_column_draw(const ps_column *c, ps_column_drawn *out) WEIR_CHECKED;
void ps_column_drawn_fini(ps_column_drawn *d);

enum { PS_COLUMN_BLOCK = 4096 };

/* The present slots of a column, one after the other. */
typedef struct ps_column_reader {
  const ps_column *column;
  int64_t slot; /* the slot at hand, INT64_MAX past the last */
  float value;
  int64_t left; /* values of the run that are not read yet   */
  int n, at;    /* of the block                              */
  float block[PS_COLUMN_BLOCK];
} ps_column_reader;

/* Begins with the first present slot. One reader of a column at a time.
 * Fails: WEIR_ERR_DATA when the file is lost. */
weir_status ps_column_open(const ps_column *c, ps_column_reader *r) WEIR_CHECKED;
/* Goes on to the next one. Fails as above. */
weir_status ps_column_next(ps_column_reader *r) WEIR_CHECKED;
#endif
