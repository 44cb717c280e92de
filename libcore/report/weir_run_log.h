/* weir_run_log.h - the events of a run (run.jsonl) read back: one flat JSON object a line, RFC
 * 8259. */
#ifndef WEIR_RUN_LOG_H
#define WEIR_RUN_LOG_H
#include <stdint.h>
#include "base/weir_log.h"
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One line. Fields in the order of the file, `event` and `time_s` among them; kind is that of
 * weir_field ('s', 'i', 'r', 'b') or 'n' for null. */
typedef struct weir_run_event {
  const char *name; /* value of the field `event` */
  const weir_field *fields;
  int n;
} weir_run_event;

typedef struct weir_run_log {
  weir_run_event *events;
  int64_t count;
  int64_t skipped; /* lines that are no events                          */
  char why[256];   /* the first of them: where, its number, the reason  */
  void *memory;    /* owns texts and fields                             */
} weir_run_log;

/* Reads a file of at most 64 MiB. A last line without its end (the run was killed while writing it)
 * is left out; any other that is no event (no flat object, a key twice, bad escape or number, no
 * `event`) is skipped, counted, and warned of once with its number. Fails: WEIR_ERR_DATA (no file,
 * or lines of which none is an event, naming path, line and reason), WEIR_ERR_MEMORY; *out needs no
 * fini then. */
weir_status weir_run_log_read(const char *path, weir_run_log *out) WEIR_CHECKED;
/* Frees everything and empties *log. */
void weir_run_log_fini(weir_run_log *log);

/* Last event of that name, or NULL. */
const weir_run_event *weir_run_log_last(const weir_run_log *log, const char *name);
/* Field by key, or NULL. */
const weir_field *weir_run_event_field(const weir_run_event *event, const char *key);
/* Number of a field; `missing` when there is none or it is not a number. */
double weir_run_event_real(const weir_run_event *event, const char *key, double missing);
/* Value as text: numbers shortest, null and an absent field as "". Returns text. */
const char *weir_run_event_text(const weir_run_event *event, const char *key, char *text,
                                size_t size);

#ifdef __cplusplus
}
#endif
#endif
