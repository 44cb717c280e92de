/* query_page.h - the report of a query's run. */
#ifndef PS_QUERY_PAGE_H
#define PS_QUERY_PAGE_H
#include "query/run.h"
#include "report/weir_report.h"

/* A row for each result: how far it looks, and when it comes. */
enum { PS_REACH_COLUMNS = 6 };
extern const char *const ps_reach_head[PS_REACH_COLUMNS];
void ps_query_reach(const ps_query_run *r, weir_table *cells);

/* Writes DIR/report.html with its figures, and the events `result` (one a stream) and `query_end`
 * with the numbers that it shows. */
weir_status ps_query_page_write(const ps_query_run *r, const char *dir) WEIR_CHECKED;
#endif
