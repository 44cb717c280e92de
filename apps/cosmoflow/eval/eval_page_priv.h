/* eval_page_priv.h - sections of the evaluation page. */
#ifndef CF_EVAL_PAGE_PRIV_H
#define CF_EVAL_PAGE_PRIV_H
#include "eval/eval_page.h"

/* Adds the figures of a label: predictions against truth, bias by the truth, errors against the
 * other parameters, means over samples. */
weir_status cf_eval_figures(const cf_evaluation *e, int64_t label, weir_report *r) WEIR_CHECKED;
#endif
