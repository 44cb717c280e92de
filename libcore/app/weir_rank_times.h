/* weir_rank_times.h - what the ranks of a training did, from the events of its run: a table and a
 * timeline on the page, and a trace for viewers of traces. */
#ifndef WEIR_RANK_TIMES_H
#define WEIR_RANK_TIMES_H
#include "report/weir_report.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Appends to the page times and messages of each rank (events `rank` of DIR/run.jsonl) and a figure
 * of what each did in the last steps (events `activity`), which it also writes as DIR/trace.json in
 * the Trace Event Format, for chrome://tracing or Perfetto: a thread for each rank, microseconds.
 * Of several trainings the last one counts. Nothing where it had one rank. Fails: as
 * weir_run_log_read, weir_report_figure, weir_writer_open. */
weir_status weir_rank_times_report(const char *dir, weir_report *r) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
