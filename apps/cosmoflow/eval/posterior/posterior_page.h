/* posterior_page.h - the section of posteriors of the evaluation page. */
#ifndef CF_POSTERIOR_PAGE_H
#define CF_POSTERIOR_PAGE_H
#include "eval/evaluation.h"
#include "report/weir_report.h"

/* Adds table, rank histograms, coverage and a corner plot of each set with posteriors, and the
 * table to stdout. Fails: as weir_report. */
weir_status cf_posterior_page_add(const cf_evaluation *e, weir_report *r) WEIR_CHECKED;
#endif
