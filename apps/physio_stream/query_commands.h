/* query_commands.h - the commands where the configuration has a query. */
#ifndef PS_QUERY_VERBS_H
#define PS_QUERY_VERBS_H
#include "records/records.h"

/* Runs the query on one recording and writes its outputs and report into the recording's folder.
 * Fails: as ps_query_open, ps_query_perform, ps_query_files_write. */
weir_status ps_query_run_one(const ps_one *one) WEIR_CHECKED;
/* Checks that the query can be planned for the recording. Fails: as ps_query_open. */
weir_status ps_query_check(const ps_one *one) WEIR_CHECKED;
/* Prints results with their latency, groups, buffers and clocks, then the plans. */
weir_status ps_query_cmd_describe(const weir_cli *cli, const ps_cfg *cfg,
                                  const weir_config *config) WEIR_CHECKED;
#endif
