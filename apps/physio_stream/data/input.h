/* input.h - the one signal that a run reads: of a record, of a text file, live, or the built-in
 * one.
 */
#ifndef PS_INPUT_H
#define PS_INPUT_H
#include "data/amplitude.h"
#include "data/live.h"
#include "data/synth.h"
#include "io/weir_record.h"

enum { PS_MISSING_REFUSED, PS_MISSING_LEFT_OUT };
typedef struct ps_input_opts {
  const char *record, *csv; /* with live at most one; all "": the built-in recording */
  weir_string_list records; /* several, each run for itself: the caller's  */
  int missing;              /* listed ones that are not there: PS_MISSING_* */
  const char *live;         /* address of weir_wire_listen                  */
  const char *physionet;    /* root of databases, see ps_physionet_path     */
  int checksums;            /* PS_CHECKSUMS_*                               */
  const char *signal;       /* name or index, "" for the first in mV        */
  const char *unit;         /* that values are read in, "" for the file's   */
  double from, to;          /* s: what is read of a recording; to 0: its end */
  double fs;                /* of a text file without a time column, Hz     */
  bool allow_short;         /* a truncated file is read as far as it goes   */
  bool zero_gain;           /* a gain of 0 is read as 200 per unit          */
  bool derived_leads;       /* limb leads that are not there are computed   */
  double lateness, tolerance, max_ahead, timeout; /* s, see weir_live_cfg        */
  int64_t max_bad_lines;
  bool remote; /* live input may come from other machines */
} ps_input_opts;

extern const weir_opt ps_input_options[];

typedef struct ps_input ps_input;

/* Returns whether they name no recording, so that the built-in one is read. */
bool ps_input_is_built_in(const ps_input_opts *opts);

/* Returns whether they name files, so that what has been read can be read again. */
bool ps_input_rereads(const ps_input_opts *opts);

/* Path of a recording that an option names: see ps_physionet_path. */
weir_status ps_input_path(const ps_input_opts *opts, const char *name, char *path,
                          size_t size) WEIR_CHECKED;
/* What is compared of a file: all of what is below opts->physionet, otherwise opts->checksums. */
int ps_input_checksums(const ps_input_opts *opts, const char *path);
/* Opens a record or text file as the options say, once its files are those of their checksums
 * (ps_checksums_verify). Fails: as weir_record_open, naming the options that mend it, and
 * ps_checksums_verify. */
weir_status ps_input_open_record(const ps_input_opts *opts, const char *name,
                                 weir_record **out) WEIR_CHECKED;
/* Checks that the options name one recording at most, and nothing that it does not take. Fails:
 * WEIR_ERR_CONFIG. */
weir_status ps_input_check(const ps_input_opts *opts) WEIR_CHECKED;
/* Checks the time range. Fails: WEIR_ERR_CONFIG. */
weir_status ps_input_range_check(const ps_input_opts *opts) WEIR_CHECKED;
/* Opens an input. Slots are those of the whole recording: what lies before opts->from is absent,
 * and at opts->to it ends. Fails: as weir_record_open, weir_record_find, ps_live_open and
 * ps_synth_create; WEIR_ERR_CONFIG for a range that begins after the end of the recording, and
 * where more than one of record, text file and live address is named, for a rate where there is no
 * text file, for a signal that the built-in recording does not have, and for a unit of another
 * quantity than the file states. *out is then NULL. */
weir_status ps_input_open(const ps_input_opts *opts, const ps_synth_opts *synth, uint64_t seed,
                          ps_input **out) WEIR_CHECKED;
/* Opens another signal of live input that is open, through the same connection; before the run.
 * Fails: as ps_live_find and weir_live_use; WEIR_ERR_CONFIG for a unit of another quantity. */
weir_status ps_input_join(const ps_input *other, const char *signal, const char *unit,
                          ps_input **out) WEIR_CHECKED;
/* Makes values be in mV: converted from another voltage; where the file states no unit that
 * is warned of. Before the first reading. Fails: WEIR_ERR_CONFIG for another quantity. */
weir_status ps_input_need_millivolts(ps_input *in) WEIR_CHECKED;
/* Returns the amplitude of what was read so far; of nothing before ps_input_need_millivolts or
 * where no unit is stated. Borrowed. */
const ps_amplitude *ps_input_amplitude(const ps_input *in);
/* Closes the input; live input with the last of those that share it. */
void ps_input_close(ps_input **in);

/* What is known of the signal. Texts are borrowed. */
typedef struct ps_input_info {
  const char *name;       /* of the record: what outputs are called */
  const char *signal;     /* its name */
  const char *units;      /* "NU" where none is stated */
  int64_t fs_num, fs_den; /* samples per second, reduced     */
  int64_t count;  /* samples to the end of the range, absent ones included; WEIR_STREAM_OPEN until
                     live ends */
  int start_kind; /* as weir_record_start            */
  int64_t start_us;
  int64_t end_ns; /* of live input that has ended: when, from slot 0 */
  int64_t missing_segments;
  bool damaged; /* the samples are not those of the header's checksum; known after verify */
  const weir_live_counts *live; /* NULL: not live */
} ps_input_info;
const ps_input_info *ps_input_get(const ps_input *in);

/* Reads slots [start, start + n), 0 where absent. The built-in signal is read in ascending order
 * only. Fails: as weir_record_read. */
weir_status ps_input_read(ps_input *in, int64_t start, int64_t n, float *x,
                          uint8_t *present) WEIR_CHECKED;
/* Finds the next run, as weir_record_next_run. Calls ascend. */
weir_status ps_input_next_run(ps_input *in, int64_t start, int64_t *lo, int64_t *hi) WEIR_CHECKED;
/* Compares the samples with the checksum of their header, where there is one, reading them once
 * more; warns and logs an event where they differ, which old records of other programs may do. Of a
 * range nothing is known.
 * Fails: as weir_record_checksum. */
weir_status ps_input_verify(ps_input *in) WEIR_CHECKED;
/* Returns the input as a source of a stream: its rate, count and reading; names are the caller's.
 */
weir_stream_source ps_input_source(ps_input *in);
/* Returns the clock of live input, for weir_stream_job; NULL where the input is not live. */
const weir_stream_live *ps_input_live(const ps_input *in);
/* Says what became of the lines of live input, see weir_live_report; nothing of other input. */
void ps_input_report(const ps_input *in);
/* Files that the input consists of, for provenance: writes up to two paths, owned by the input.
 * Returns how many. */
int ps_input_files(const ps_input *in, const char *paths[2]);
#endif
