/* run_page.h - the report of a training: report.html with its curves. */
#ifndef CF_RUN_PAGE_H
#define CF_RUN_PAGE_H
#include "experiment.h"

/* Emits the event run_end and writes the page, from run.jsonl and the result. Fails: as
 * weir_report_open. */
weir_status cf_run_page(const char *dir, const cf_experiment *e,
                        const weir_train_result *result) WEIR_CHECKED;
#endif
