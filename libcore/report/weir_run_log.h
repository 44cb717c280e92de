/* weir_run_log.h - reader of the events of a run (run.jsonl): one flat JSON object per line, RFC
 * 8259. */
#ifndef WEIR_RUN_LOG_H
#define WEIR_RUN_LOG_H
#include <stdint.h>
#include "base/weir_log.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* An event. Fields in the order of the file, including `event` and `time_s`; kind is that of
 * weir_field ('s', 'i', 'r', 'b') or 'n' for null. */
typedef struct weir_run_event {
  const char *name; /* value of the field `event` */
  const weir_field *fields;
  int n;
} weir_run_event;

typedef struct weir_run_log {
  weir_run_event *events;
  int64_t count;
  int64_t skipped; /* lines that are not events */
  char why[256];   /* the first of them: position, its number, the reason */
  void *memory;    /* owns texts and fields                             */
} weir_run_log;

/* Reads a file of at most 64 MiB. An incomplete last line (the run was killed while writing it) is
 * ignored; any other invalid line (not a flat object, a duplicate key, a bad escape or number, no
 * `event`) is skipped, counted, and reported once with its number. Fails: WEIR_ERR_DATA (no file,
 * or no valid event in its lines, naming path, line and reason), WEIR_ERR_MEMORY; *out needs no
 * fini then. */
weir_status weir_run_log_read(const char *path, weir_run_log *out) WEIR_CHECKED;
/* Frees everything and empties *log. */
void weir_run_log_fini(weir_run_log *log);

/* Returns the last event of that name, or NULL. */
const weir_run_event *weir_run_log_last(const weir_run_log *log, const char *name);
/* Returns a field by key, or NULL. */
const weir_field *weir_run_event_field(const weir_run_event *event, const char *key);
/* Returns the number of a field; `missing` when it is absent or not a number. */
double weir_run_event_real(const weir_run_event *event, const char *key, double missing);
/* Writes a value as text: shortest numbers, null and an absent field as "". Returns text. */
const char *weir_run_event_text(const weir_run_event *event, const char *key, char *text,
                                size_t size);

#ifdef __cplusplus
}
#endif
#endif
