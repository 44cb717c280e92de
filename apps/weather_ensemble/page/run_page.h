/* run_page.h - what a training leaves for readers: validation.csv and report.html. */
#ifndef WX_RUN_PAGE_H
#define WX_RUN_PAGE_H
#include "validation.h"

/* Writes both into the folder of the run, whose run.jsonl has the losses; also the event run_end.
 * v->samples 0: there is no validation. */
weir_status wx_run_page(const char *dir, const wx_experiment *e, const wx_stage *stage,
                        const weir_train_result *result, const wx_validation *v) WEIR_CHECKED;
#endif
