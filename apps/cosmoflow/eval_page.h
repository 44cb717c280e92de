/* eval_page.h - the report of an evaluation: tables of scores, predictions over the truth, what is
 * left over the other parameters, means over samples of a universe. */
#ifndef CF_EVAL_PAGE_H
#define CF_EVAL_PAGE_H
#include "eval/score_tables.h"

/* report.html into the folder, and the tables of scores to stdout. Fails: as weir_report. */
weir_status cf_eval_page_write(const cf_evaluation *e, const cf_score_tables *t,
                               const char *dir) WEIR_CHECKED;
#endif
