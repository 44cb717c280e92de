/* eval_page_priv.h - the parts of an evaluation's page. */
#ifndef CF_EVAL_PAGE_PRIV_H
#define CF_EVAL_PAGE_PRIV_H
#include "eval_page.h"

/* Figures of a label: predictions over the truth, bias by the truth, errors over the other
 * parameters, means over samples. */
weir_status cf_eval_figures(const cf_evaluation *e, int64_t label, weir_report *r) WEIR_CHECKED;
#endif
