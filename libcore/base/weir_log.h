/* weir_log.h - messages to stderr, events to run.jsonl, nested spans of time. */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_log_level {
  WEIR_LOG_ERROR,
  WEIR_LOG_WARN,
  WEIR_LOG_INFO,
  WEIR_LOG_DEBUG
} weir_log_level;

/* Messages above `level` are dropped. Default: WEIR_LOG_INFO. */
void weir_log_set_level(weir_log_level level);
/* Fails: WEIR_ERR_CONFIG, naming the levels. */
weir_status weir_log_level_find(const char *name, weir_log_level *out) WEIR_CHECKED;
/* Writes one line to stderr: "module: text", "module: warning: text" or "module: error: text". */
void weir_error(const char *module, const char *format, ...) WEIR_PRINTF(2, 3);
void weir_warn(const char *module, const char *format, ...) WEIR_PRINTF(2, 3);
void weir_info(const char *module, const char *format, ...) WEIR_PRINTF(2, 3);
void weir_debug(const char *module, const char *format, ...) WEIR_PRINTF(2, 3);

/* Messages of the calling thread above `level` are dropped as well, and below WEIR_LOG_INFO its
 * events and progress: of the ranks that are threads of one process only one writes what all of
 * them do. Default: WEIR_LOG_DEBUG. Threads that this one starts have a level of their own. Returns
 * the level before. */
weir_log_level weir_log_set_thread_level(weir_log_level level);
/* Sends messages to `sink` instead of stderr; NULL restores stderr. For tests and embedding. */
typedef void (*weir_log_sink)(void *context, weir_log_level level, const char *module,
                              const char *text);
void weir_log_set_sink(weir_log_sink sink, void *context);

/* A key/value pair of an event; made with the macros below. */
typedef struct weir_field {
  const char *key;
  int kind; /* 's' text, 'i' integer, 'r' real, 'b' bool */
  const char *text;
  int64_t integer;
  double real;
} weir_field;
#define WEIR_TEXT(k, v) ((weir_field){.key = (k), .kind = 's', .text = (v)})
#define WEIR_INT(k, v) ((weir_field){.key = (k), .kind = 'i', .integer = (v)})
#define WEIR_REAL(k, v) ((weir_field){.key = (k), .kind = 'r', .real = (v)})
#define WEIR_BOOLEAN(k, v) ((weir_field){.key = (k), .kind = 'b', .integer = (v)})

/* Opens the event file (created; lines are appended and flushed one at a time). Fails:
 * WEIR_ERR_DATA, WEIR_ERR_SPACE. */
weir_status weir_events_open(const char *path) WEIR_CHECKED;
/* Opens the event file of an earlier run to append to it; removes an incomplete last line of a
 * killed run. Fails: WEIR_ERR_DATA (it does not exist, or cannot be written). */
weir_status weir_events_append(const char *path) WEIR_CHECKED;
/* Fails where an event could not be written since the file was opened: WEIR_ERR_SPACE,
 * WEIR_ERR_DATA. The file contains complete lines in any case. */
weir_status weir_events_status(void) WEIR_CHECKED;
/* Closes the event file; a failure of the last write is logged as a warning. */
void weir_events_close(void);
/* Appends {"event": name, "time_s": seconds since weir_events_open, fields...} when a file is open;
 * a non-finite real is written as null. Thread-safe. */
void weir_event_fields(const char *name, const weir_field *fields, int n);
/* Passes every event to `watcher` too, with or without an open file, until it is set to NULL: for
 * logs of another format. The thread of the event calls it; it must not write events. */
typedef void (*weir_event_listener)(void *context, const char *name, const weir_field *fields,
                                    int n);
void weir_events_subscribe(weir_event_listener watcher, void *context);
#define weir_event(name, ...)                                \
  weir_event_fields(name, (const weir_field[]){__VA_ARGS__}, \
                    (int)(sizeof((weir_field[]){__VA_ARGS__}) / sizeof(weir_field)))

/* Rewrites a line when stderr is a terminal, else prints at most one line per minute. `done` of
 * `total` (total < 0: unknown); prints the remaining time. done == total ends the line. */
void weir_progress(const char *what, int64_t done, int64_t total, const char *unit);

/* Begin and end nested spans, kept per thread and summed by name over all threads (time including
 * nested spans, calls, flops, bytes). Names are copied, up to 71 bytes. */
void weir_span_begin(const char *module, const char *name);
void weir_span_end(int64_t flops, int64_t bytes);
typedef struct weir_span_row {
  const char *module, *name;
  double seconds;
  int64_t calls, flops, bytes;
} weir_span_row;
/* Copies up to n rows, slowest first; returns how many exist. Names are borrowed until the reset.
 */
int weir_span_table(weir_span_row *rows, int n);
void weir_span_reset(void);

#ifdef __cplusplus
}
#endif
#endif
