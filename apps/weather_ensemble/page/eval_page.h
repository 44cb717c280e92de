/* eval_page.h - the report of an evaluation: skill tables, maps, histograms, a case. */
#ifndef WX_EVAL_PAGE_H
#define WX_EVAL_PAGE_H
#include "eval/score/score_tables.h"
#include "eval/verify.h"

typedef struct wx_eval_page wx_eval_page;

/* Borrows both until it is destroyed. Fails: WEIR_ERR_MEMORY. */
weir_status wx_eval_page_create(const wx_verify *v, const wx_score_tables *tables,
                                wx_eval_page **out) WEIR_CHECKED;
/* Takes what figures need of the quantity and lead that were scored last; at the lead of the
 * figures it reads the case again. Fails: as wx_verify_start. */
weir_status wx_eval_page_add(wx_eval_page *p, wx_verify *v) WEIR_CHECKED;
/* report.html and scorecard.html into the folder, and the table of scores to stdout. Fails: as
 * weir_report. */
weir_status wx_eval_page_write(wx_eval_page *p, const char *dir) WEIR_CHECKED;
/* Accepts NULL. */
void wx_eval_page_destroy(wx_eval_page **p);
#endif
