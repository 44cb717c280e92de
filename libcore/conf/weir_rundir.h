/* weir_rundir.h - the folder a run writes into: empty or told to be replaced, with its event file
 * and its resolved configuration. */
#ifndef WEIR_RUNDIR_H
#define WEIR_RUNDIR_H
#include <stdbool.h>
#include "base/weir_status.h"
#include "conf/weir_cli.h"
#include "conf/weir_opt.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Makes the folder `path` and its parents. A folder with entries is refused unless `overwrite`
 * or it holds only the log and the configuration of a run that failed; then, if it holds a
 * run.jsonl or resolved.yaml (so a run wrote it), what matches `known` is removed and everything
 * else stays. `known` (NULL at the end, or NULL for none) are shell patterns such as "scores.csv",
 * "*.qrs" or "figures/?*.svg", at most one folder deep; run.jsonl, resolved.yaml, provenance.json
 * and unfinished files of all these count as known. Fails: WEIR_ERR_CONFIG, naming the folder and
 * what to do; nothing is removed by a refusal. */
weir_status weir_run_dir_prepare(const char *path, bool overwrite,
                                 const char *const *known) WEIR_CHECKED;
/* Prepares cli->out, opens its run.jsonl as the event file and writes resolved.yaml. Load the
 * configuration first: the folder is touched only when the configuration is right.
 * Fails: WEIR_ERR_CONFIG also where --out is missing; WEIR_ERR_DATA where a file cannot be made. */
weir_status weir_run_dir_open(const weir_cli *cli, const weir_config *config,
                              const char *const *known) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
