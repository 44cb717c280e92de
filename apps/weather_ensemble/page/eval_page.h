/* eval_page.h - the report of an evaluation: skill tables, maps, histograms, a case. */
#ifndef WX_EVAL_PAGE_H
#define WX_EVAL_PAGE_H
#include "eval/case_study.h"
#include "eval/score/score_tables.h"
#include "eval/strata.h"

typedef struct wx_eval_page wx_eval_page;

/* Borrows all until it is destroyed; strata, which are written before the page, and remarks: of all
 * quantities and leads. Fails: WEIR_ERR_MEMORY. */
weir_status wx_eval_page_create(const wx_verify *v, const wx_score_tables *tables,
                                const wx_strata *strata, const wx_remarks *remarks,
                                wx_eval_page **out) WEIR_CHECKED;
/* Returns the number of the lead that is scored and nearest to that of the figures. */
int64_t wx_eval_figure_lead(const wx_verify *v);
/* Takes what figures need of the quantity and the lead of the figures, which were scored last, and
 * their case study, which becomes the page's. Fails: WEIR_ERR_MEMORY. */
weir_status wx_eval_page_add(wx_eval_page *p, wx_case_study *study) WEIR_CHECKED;
/* report.html, scorecard.html and seasons.html into the folder, and the table of scores to stdout.
 * Fails: as weir_report. */
weir_status wx_eval_page_write(wx_eval_page *p, const char *dir) WEIR_CHECKED;
/* Accepts NULL. */
void wx_eval_page_destroy(wx_eval_page **p);
#endif
