/* query_page.h - the report of a query's run. */
#ifndef PS_QUERY_PAGE_H
#define PS_QUERY_PAGE_H
#include "query/run.h"
#include "report/weir_report.h"

/* Columns of the table of results: what each stream of the query is, holds and waits for. */
enum { PS_RESULT_COLUMNS = 11 };
extern const char *const ps_result_head[PS_RESULT_COLUMNS];
/* Appends a row for each result; `ran`: its numbers are there, else "-" stands for them. */
void ps_query_results(const ps_query_run *r, bool ran, weir_cells *cells);

/* Writes DIR/report.html with its figures, and the events `result` (one a stream) and `query_end`
 * with the numbers that it shows. */
weir_status ps_query_page_write(const ps_query_run *r, const char *dir) WEIR_CHECKED;
#endif
