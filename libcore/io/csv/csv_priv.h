/* csv_priv.h - lines, fields and times of sampled signals in delimited text. */
#ifndef WEIR_CSV_PRIV_H
#define WEIR_CSV_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_record_format.h"

enum {
  WEIR_CSV_BUFFER = 65536, /* the longest line, and the maximum buffered of a file */
  WEIR_CSV_COLUMNS = 1024,
  WEIR_CSV_TIMES = 4096, /* times from which the rate is estimated */
};

typedef struct weir_csv_field {
  const char *at;
  int64_t size;
} weir_csv_field;

/* Lines of a file from any offset, through one buffer. */
typedef struct weir_csv_lines {
  int fd;
  const char *path;
  int64_t size;   /* of the file, when it was opened */
  int64_t origin; /* file offset of the buffer */
  int64_t have;   /* bytes in the buffer */
  int64_t offset; /* of the next line */
  int64_t line;   /* number of the line returned last, from 1 */
  char buffer[WEIR_CSV_BUFFER];
} weir_csv_lines;

/* The next line without its end (LF or CRLF), borrowed until the next call; *found is false at the
 * end of the file. Fails: WEIR_ERR_DATA for a line that does not fit the buffer. */
weir_status weir_csv_next_line(weir_csv_lines *l, weir_csv_field *out, bool *found) WEIR_CHECKED;
void weir_csv_seek(weir_csv_lines *l, int64_t offset, int64_t line);

/* Cuts a line at `delimiter` (' ': runs of blanks and tabs, of which the one before
 * a unit in brackets does not separate), blanks and quotes taken off. Returns
 * the number of fields, at most n + 1 (then only n are stored). */
int weir_csv_split(weir_csv_field line, char delimiter, weir_csv_field *fields, int n);
/* Moves field k before all others, which keep their order. */
void weir_csv_to_front(weir_csv_field *fields, int k);
/* Fails with WEIR_ERR_CONFIG where more than 1 % of the rows have the slot of the row before: their
 * times are rounded to steps longer than the sampling period. `given`: the caller has a rate. */
weir_status weir_csv_check_repeated(const char *path, int64_t repeated, int64_t rows,
                                    bool given) WEIR_CHECKED;
/* ',', ';', tab or ' ', whichever a line has, in this order. */
char weir_csv_delimiter(weir_csv_field line);

/* Empty, NaN, NA, null or "-" in any case. */
bool weir_csv_is_absent(weir_csv_field f);
/* A number, or absent (*present false). False for anything else. */
bool weir_csv_value(weir_csv_field f, double *value, bool *present);

typedef enum weir_csv_clock {
  WEIR_CSV_CLOCK_NONE,
  WEIR_CSV_CLOCK_NUMBER, /* decimal, in the column's unit */
  WEIR_CSV_CLOCK_COLON,  /* [H:]MM:SS[.s] */
  WEIR_CSV_CLOCK_ISO,    /* 2026-01-31T12:00:00[.s][Z|+HH:MM] */
} weir_csv_clock;

/* Nanoseconds: 128 bits, so that no year and no unit overflows. */
typedef __int128 weir_csv_ns;
/* Any of the three clocks; `unit_ns` is the unit of numbers. NONE when it is no time. */
weir_csv_clock weir_csv_time(weir_csv_field f, int64_t unit_ns, weir_csv_ns *ns);
/* Where times of day without a date have got to. Zeros before the first. */
typedef struct weir_csv_day {
  weir_csv_ns last; /* time of day of the row before */
  int64_t passed;   /* midnights since the first row */
} weir_csv_day;
/* Adds the midnights passed to a time of day: a step back of more than 12 h is the next day. Times
 * of 24 h and more are no times of day and stay as they are. False where it is not known on which
 * day a time is: a step on of more than 12 h after a midnight may as well be one back. */
bool weir_csv_pass_midnight(weir_csv_day *d, weir_csv_ns *ns);
/* Samples per second from times in ns relative to the first. False where they do not tell: jitter
 * or rounding too coarse for their number. *rough: of the median step, 0 where there is none. */
bool weir_csv_rate(const int64_t *ns, int64_t n, int64_t *num, int64_t *den, double *rough);

/* What stands before the samples. */
typedef struct weir_csv_head {
  char delimiter;
  int n_columns;
  int time_column;      /* of the file: moved to the front of the fields, names and units */
  int first_value;      /* 1 when column 0 is a time or an index */
  bool index;           /* column 0 counts samples */
  weir_csv_clock clock; /* of column 0 */
  int64_t unit_ns;
  bool unit_missing;      /* column 0 is a number of time, in seconds as nothing else is stated */
  int64_t fs_num, fs_den; /* 0/0 when the preamble does not say */
  char **names, **units;  /* [n_columns], NULL where not stated */
  int64_t names_capacity, units_capacity;
  int64_t offset, line; /* where the samples start */
} weir_csv_head;

/* Reads preamble, names and units; leaves `l` anywhere. `fs_known`: the caller has a rate, so that
 * a file without names has no time column unless it looks like one. Fails: WEIR_ERR_DATA. */
weir_status weir_csv_head_read(weir_csv_lines *l, bool fs_known, weir_csv_head *h) WEIR_CHECKED;
void weir_csv_head_fini(weir_csv_head *h);

/* Opens from a descriptor, which is taken over whatever the outcome. `path` is for messages. */
weir_status weir_csv_open_fd(int fd, int64_t size, const char *path, const weir_record_opts *opts,
                             weir_record_body *body) WEIR_CHECKED;
#endif
