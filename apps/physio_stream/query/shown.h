/* shown.h - the viewer of a query: its signals, and its outputs as signals or as marks. */
#ifndef PS_QUERY_SHOWN_H
#define PS_QUERY_SHOWN_H
#include "query/run.h"

/* Writes DIR/viewer.html of a run that is over, where it has a viewer: outputs whose columns are
 * events (few present slots) are marks, unless they are the values of one column; the others are
 * signals. Fails: as ps_viewer_write and
 * ps_column_open. */
weir_status ps_query_shown_write(const ps_query_cfg *query, ps_query_run *r,
                                 const ps_input_opts *input, const char *dir) WEIR_CHECKED;
#endif
