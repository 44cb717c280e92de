/* query_verbs.h - the verbs where the configuration has a query. */
#ifndef PS_QUERY_VERBS_H
#define PS_QUERY_VERBS_H
#include "verbs.h"

/* Runs the query on the recording that is configured and writes its outputs and report into
 * cli->out. Fails: as ps_query_open, ps_query_perform, ps_query_files_write. */
weir_status ps_query_verb_run(const weir_cli *cli, const ps_cfg *cfg,
                              const weir_config *config) WEIR_CHECKED;
/* Prints results with their latency, groups, buffers and clocks, then the plans. */
weir_status ps_query_verb_describe(const weir_cli *cli, const ps_cfg *cfg,
                                   const weir_config *config) WEIR_CHECKED;
#endif
