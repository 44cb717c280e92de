/* eval_page.h - the report of an evaluation: tables of scores, predictions against truth, errors
 * against the other parameters, means over samples of a universe. */
#ifndef CF_EVAL_PAGE_H
#define CF_EVAL_PAGE_H
#include "eval/score_tables.h"

/* Writes report.html to the folder, and the tables of scores to stdout. Fails: as weir_report. */
weir_status cf_eval_page_write(const cf_evaluation *e, const cf_score_tables *t,
                               const char *dir) WEIR_CHECKED;
#endif
