/* run_page.h - what a training leaves for readers: errors.csv and report.html. */
#ifndef WX_RUN_PAGE_H
#define WX_RUN_PAGE_H
#include "eval/errors.h"
#include "experiment.h"

/* Writes both into the folder of the run, whose run.jsonl has the losses; also the event run_end.
 * errors: of the validation; samples 0: there is none. */
weir_status wx_run_page(const char *dir, const wx_experiment *e, const weir_train_result *result,
                        const wx_errors *errors) WEIR_CHECKED;
#endif
