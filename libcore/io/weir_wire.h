/* weir_wire.h - time-stamped samples as lines of text, over a pipe or a socket of this machine.
 *
 * The lines, version 1 (docs/reference/live.md): ended by LF or CRLF, at most WEIR_WIRE_LINE bytes,
 *   #weir 1 [record=NAME] [start=TIME]   first, once: names the recording; time of slot 0
 *   #stream NAME fs=RATE [unit=UNIT]     once a stream, before the first sample
 *   NAME,TIME,VALUE                      a sample; VALUE empty or NaN: known to be absent
 *   #end [time=TIME]                     the last line; time: where the recording ends
 * TIME is seconds (decimal) or a date (ISO-8601, UTC where no zone is given). Blank lines and other
 * lines that begin with '#' say nothing. */
#ifndef WEIR_WIRE_H
#define WEIR_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {
  WEIR_WIRE_LINE = 1000, /* bytes of a line, its end left out                  */
  WEIR_WIRE_TEXT = 64,   /* bytes of a name or a unit, with the terminating 0 */
};

typedef enum weir_wire_kind {
  WEIR_WIRE_NOTHING, /* blank, or a comment */
  WEIR_WIRE_HELLO,
  WEIR_WIRE_STREAM,
  WEIR_WIRE_SAMPLE,
  WEIR_WIRE_END,
  WEIR_WIRE_BAD /* none of these: see reason */
} weir_wire_kind;

typedef enum weir_wire_clock {
  WEIR_WIRE_NO_TIME,
  WEIR_WIRE_SECONDS, /* ns from a start that the hello may give */
  WEIR_WIRE_DATE     /* ns from 1970-01-01 00:00 UTC            */
} weir_wire_clock;

/* A parsed line; fields that its kind lacks are 0. Texts are borrowed from the line. */
typedef struct weir_wire_line {
  weir_wire_kind kind;
  const char *name, *unit; /* of the record or the stream; not ended by 0 */
  int64_t name_size, unit_size;
  weir_wire_clock clock;
  int64_t ns; /* |ns| <= 4.6e18 */
  double value;
  bool present;
  int64_t fs_num, fs_den; /* samples per second, reduced, up to 10^6 Hz */
  const char *reason;     /* static text                                  */
  /* Of an invalid line: the word at fault, or the whole line; whether it is a #weir or #stream
   * line. */
  const char *fault;
  int64_t fault_size;
  bool declares;
} weir_wire_line;

/* Parses a line (without its end). Any bytes are allowed. */
void weir_wire_parse(const char *text, int64_t size, weir_wire_line *out);
/* Whether a text is a valid name or unit on the wire: 1 to 63 printable ASCII characters without
 * blank, comma and '='. */
bool weir_wire_is_name(const char *text, int64_t size);

/* Writes seconds as decimal text without trailing zeros, into 32 bytes or more. */
void weir_wire_print_time(int64_t ns, char *text, size_t size);
/* Writes the first line, ended by LF, into 256 bytes or more: `record` with '_' for characters that
 * a record name cannot have, truncated to the length that the protocol allows; start_kind and
 * start_us as of weir_record_start, 0 without a date. */
void weir_wire_print_hello(const char *record, int start_kind, int64_t start_us, char *line,
                           size_t size);
/* Writes the last line, ended by LF, into 64 bytes or more; `ns` from slot 0. */
void weir_wire_print_end(int64_t ns, char *line, size_t size);

typedef struct weir_wire weir_wire;

/* Opens `address` for reading: "-" the standard input; "tcp:[HOST:]PORT" listens for one sender,
 * HOST a numeric IPv4 address or localhost (default 127.0.0.1), PORT 0: a free one; "unix:PATH" a
 * socket file, which is created and removed again. Other hosts than 127.x need `anywhere`. Fails:
 * WEIR_ERR_CONFIG (no such address), WEIR_ERR_DATA (in use, missing, not permitted). */
weir_status weir_wire_listen(const char *address, bool anywhere, weir_wire **out) WEIR_CHECKED;
/* Listens at "tcp:[HOST:]PORT" in the same way for a protocol of the caller: *fd does not block and
 * is the caller's to close, *port is where it listens. Fails: the same. */
weir_status weir_wire_bind(const char *address, bool anywhere, int *fd, int *port) WEIR_CHECKED;
/* Opens `address` for writing: "-" the standard output, or the listener there; retries for
 * `patience` s while there is none. Fails: as weir_wire_listen. */
weir_status weir_wire_connect(const char *address, bool anywhere, double patience,
                              weir_wire **out) WEIR_CHECKED;
/* Closes the connection; accepts NULL. */
void weir_wire_close(weir_wire **w);
/* Returns the port it listens on, 0 where there is none. */
int weir_wire_port(const weir_wire *w);

typedef enum weir_wire_event {
  WEIR_WIRE_GOT,   /* a line                                              */
  WEIR_WIRE_LONG,  /* a line of over WEIR_WIRE_LINE bytes was skipped     */
  WEIR_WIRE_QUIET, /* timeout, or a signal */
  WEIR_WIRE_ENDED  /* the sender has closed, and all its data has been returned */
} weir_wire_event;

/* Returns the next line, within `wait` s. *text is borrowed until the next call. A last line
 * without an end counts. Fails: WEIR_ERR_EXTERNAL. */
weir_status weir_wire_next(weir_wire *w, double wait, weir_wire_event *event, const char **text,
                           int64_t *size) WEIR_CHECKED;
/* Writes all bytes, waiting for the reader as long as necessary. Fails: WEIR_ERR_EXTERNAL (the
 * reader has closed), WEIR_ERR_STOPPED (by a signal). */
weir_status weir_wire_send(weir_wire *w, const char *data, int64_t size) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
