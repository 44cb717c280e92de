/* weir_record.h - sampled signals of a file in any known format, read in chunks with bounded
 * memory. A handle is used by one thread at a time; two handles on one file are independent. */
#ifndef WEIR_RECORD_H
#define WEIR_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_record weir_record;

enum { WEIR_RECORD_NAME = 200 }; /* maximum bytes of a record name */

/* True where text[0, size) is a valid name of a record: files are named after it, so it has 1 to
 * WEIR_RECORD_NAME letters, digits, '_', '-' and '.', and does not start with '.'. */
bool weir_record_is_name(const char *text, size_t size);

/* One signal. Physical value = (raw - baseline) / gain, in `units`. Strings live as long as the
 * record. In a record of several segments gain, baseline and format are those of the layout or of
 * the first segment that holds the signal; values are scaled with each segment's own. */
typedef struct weir_signal_info {
  const char *name, *units, *file;
  int64_t fs_num, fs_den; /* samples per second of this signal, reduced */
  int64_t count;          /* samples in the record, absent ones included */
  int64_t n_truncated;    /* missing ones at the end of a truncated file (allow_short) */
  int samples_per_frame, skew;
  double gain, baseline;
  int has_checksum;
  int checksum; /* as the file states it: compare modulo 65536 */
  const char *format;
  int bits;                           /* bits of every stored integer; 0 where none are stored */
  int has_invalid;                    /* one code marks an absent sample: */
  int32_t invalid;                    /* this one */
  int scale_varies;                   /* segments differ in gain, baseline or invalid code */
  const char *transducer, *prefilter; /* as an EDF header states them; NULL where there is none */
} weir_signal_info;

/* Options. NULL stands for all zero. */
typedef struct weir_record_opts {
  int allow_short; /* read the existing part of a truncated file, the rest is a gap */
  double csv_fs; /* samples per second of a CSV without a time column; 0: the file must state it */
  int zero_gain; /* accept a gain of 0 (uncalibrated) as 200 per unit instead of refusing it */
  int derived_leads; /* of XML files: compute the limb leads they do not have from I and II */
} weir_record_opts;

/* The clock of the annotations of a record. */
typedef struct weir_record_clock {
  int64_t fs_num, fs_den; /* frames per second, reduced */
  int64_t frames;         /* of the record */
} weir_record_clock;
/* Reads the clock and length of the record at `path`: from a WFDB header alone where it states
 * them, without the signal files; else from the first signal. Fails: as weir_record_open;
 * WEIR_ERR_DATA also where the record has no signals. */
weir_status weir_record_read_clock(const char *path, weir_record_clock *out) WEIR_CHECKED;

/* Opens `path` with the format that claims it: a WFDB record name with or without .hea, or an
 * .edf, .bdf, .nc, .xml (annotated ECG of HL7, MUSE of GE, Philips), .dcm (DICOM waveform, also
 * without that suffix), .csv or .txt file. What identifies a person in a header is not passed on.
 * Headers and sizes are checked here, so that a later read fails only when the file changes or the
 * device does. Fails: WEIR_ERR_DATA (missing, malformed, truncated, naming file, line and reason),
 * WEIR_ERR_UNSUPPORTED (a sample format of this format that cannot be decoded), WEIR_ERR_MEMORY,
 * WEIR_ERR_CONFIG (csv_fs: missing, or not the rate that the file states); *out is then NULL. Where
 * one of the options avoids the failure, weir_last_option names it. */
weir_status weir_record_open(const char *path, const weir_record_opts *opts,
                             weir_record **out) WEIR_CHECKED;
/* The files of a record. */
typedef struct weir_record_paths {
  char **items;
  int64_t count, capacity;
} weir_record_paths;
/* Lists the files that the record at `path` is read from: header and signal files of a WFDB record
 * and of its segments, as far as they exist; otherwise the path itself. Fails: WEIR_ERR_DATA for no
 * such record or a malformed header, WEIR_ERR_MEMORY; *out is for weir_record_paths_fini in any
 * case. */
weir_status weir_record_files(const char *path, weir_record_paths *out) WEIR_CHECKED;
/* Appends a copy of `path`. Fails: WEIR_ERR_MEMORY. */
weir_status weir_record_paths_add(weir_record_paths *list, const char *path) WEIR_CHECKED;
void weir_record_paths_fini(weir_record_paths *list);
/* Closes the record; accepts NULL; nulls *r. */
void weir_record_close(weir_record **r);

/* Returns the name in the header, else the file's name without folder and suffix. Borrowed. */
const char *weir_record_name(const weir_record *r);
/* Comments of a WFDB header (also of the NetCDF file made of it): the text after each '#', ended
 * by a newline; "" where there are none. Of a record of segments, those of its own header. They may
 * say who the patient is: the caller decides whether to pass them on. Borrowed. */
const char *weir_record_comments(const weir_record *r);
/* Returns the number of signals. */
int weir_record_signals(const weir_record *r);
/* Returns signal `i` in [0, signals). Borrowed. */
const weir_signal_info *weir_record_signal(const weir_record *r, int i);
/* Finds a signal by name, else by index; NULL or "" means the first one in mV, else the only one in
 * another unit of voltage, or the only one. Fails: WEIR_ERR_CONFIG, naming the existing signals
 * (weir_last_option is "signal" where none was named); *signal is then unchanged. */
weir_status weir_record_find(const weir_record *r, const char *name_or_index,
                             int *signal) WEIR_CHECKED;
/* What the file says about its first sample: 2 = date and time, *us = microseconds since
 * 1970-01-01 00:00; 1 = time of day only, *us = microseconds since midnight; 0 = nothing. The zone
 * is unknown unless the file is a CSV with ISO-8601 times (then UTC), or states its offset: */
int weir_record_start(const weir_record *r, int64_t *us);
/* True where the file states the offset from UTC of the local time that weir_record_start gives:
 * *minutes, east of UTC. */
bool weir_record_utc_offset(const weir_record *r, int *minutes);

/* Reads physical values of slots [start, start + count) as f32 (computed in double), 0 where
 * absent; present[i] is 0 or 1 and may be NULL. Slots outside [0, signal count) are absent. Fails:
 * WEIR_ERR_DATA (the file changed or cannot be read), WEIR_ERR_SHAPE (no such signal). */
weir_status weir_record_read(weir_record *r, int signal, int64_t start, int64_t count,
                             float *values, uint8_t *present) WEIR_CHECKED;
/* Reads the stored integers, 0 where no file contains the slot; invalid codes are given as stored,
 * with present[i] = 0. Fails as weir_record_read; WEIR_ERR_UNSUPPORTED where the format stores
 * text. */
weir_status weir_record_read_raw(weir_record *r, int signal, int64_t start, int64_t count,
                                 int32_t *raw, uint8_t *present) WEIR_CHECKED;
/* Finds the next run of slots at or after `start` that may contain samples, from the coarse index
 * (segments): [*lo, *hi); *lo == *hi == count when there is none. Reads no samples. */
weir_status weir_record_next_run(const weir_record *r, int signal, int64_t start, int64_t *lo,
                                 int64_t *hi) WEIR_CHECKED;
/* Computes the checksum of a signal: the sum modulo 65536 of its samples as stored, before skew is
 * removed, to compare with `checksum`. Reads the whole signal. Fails as weir_record_read;
 * WEIR_ERR_UNSUPPORTED where the record has segments (each has its own checksum) or the format has
 * no checksums. */
weir_status weir_record_checksum(weir_record *r, int signal, int *sum) WEIR_CHECKED;
/* A text with its time, stored in a file of signals (EDF+). */
enum { WEIR_RECORD_NOTE = 22 }; /* WEIR_ANN_NOTE */
typedef struct weir_record_event {
  int64_t time;                 /* ns after the record's first sample; may be negative */
  int64_t duration;             /* ns; -1 where none is stated */
  int code;                     /* as in weir_annotation.h; WEIR_RECORD_NOTE for free text */
  int subtype, channel, number; /* as there; 0 where there is none */
  const char *text;             /* UTF-8, any length                     */
  int zeros;                    /* that follow it: weir_annotation.zeros */
} weir_record_event;
/* In file order. */
typedef struct weir_record_events {
  int64_t count, capacity;
  weir_record_event *items;
  int64_t fs_num, fs_den; /* units of time per second that an annotation file stated; 0/0: none */
} weir_record_events;
/* Reads every event of the file; none where the format cannot store them (annotations of WFDB
 * records are separate files: weir_annotation.h). Up to 2^22 events. Fails: WEIR_ERR_DATA, naming
 * file and byte, WEIR_ERR_MEMORY; *out needs no fini then. */
weir_status weir_record_events_read(weir_record *r, weir_record_events *out) WEIR_CHECKED;
/* Appends a copy of `event` with the `size` bytes at `text` as its text. Fails: WEIR_ERR_MEMORY;
 * WEIR_ERR_DATA beyond 2^22. */
weir_status weir_record_events_add(weir_record_events *events, const weir_record_event *event,
                                   const char *text, int64_t size) WEIR_CHECKED;
/* Returns the bytes of `text` (may be NULL) that fit `max_bytes`, at a UTF-8 character boundary. */
size_t weir_record_text_fit(const char *text, size_t max_bytes);
/* Frees everything and empties *events. */
void weir_record_events_fini(weir_record_events *events);
/* Gaps from absent segment files: warned about when the record is opened, and counted. */
int64_t weir_record_missing_segments(const weir_record *r);

#ifdef __cplusplus
}
#endif
#endif
