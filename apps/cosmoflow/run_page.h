/* run_page.h - what a training leaves for people: report.html with its curves. */
#ifndef CF_RUN_PAGE_H
#define CF_RUN_PAGE_H
#include "experiment.h"

/* Event run_end and the page, made from run.jsonl and the result. Fails: as weir_report_open. */
weir_status cf_run_page(const char *dir, const cf_experiment *e,
                        const weir_train_result *result) WEIR_CHECKED;
#endif
