/* commands.h - what the program does, one function a command; and what the commands share. */
#ifndef QT_COMMANDS_H
#define QT_COMMANDS_H
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"
#include "options.h"

enum { QT_PATH = 4096 };

weir_status qt_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_bench(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_describe(const weir_cli *cli) WEIR_CHECKED;

/* Loads the configuration, sets the threads and refuses what no single row can refuse. Fails:
 * WEIR_ERR_CONFIG; WEIR_ERR_UNSUPPORTED for a device that this build does not have. *config is the
 * caller's to destroy. */
weir_status qt_configure(const weir_cli *cli, qt_cfg *cfg, weir_config **config) WEIR_CHECKED;
/* Calls weir_run_dir_start for --out and writes the event of the start: where checkpoint.resume
 * says so, a folder with checkpoints or bias points of a sweep is resumed. */
weir_status qt_begin(const weir_cli *cli, const char *owner, const qt_cfg *cfg,
                     const weir_config *config, weir_run_dir *dir) WEIR_CHECKED;
/* Calls weir_run_dir_rollback after a failure; says that the earlier results stand where they do.
 */
void qt_abandon(weir_run_dir *dir);
/* Writes provenance.json into --out. */
weir_status qt_write_provenance(const weir_cli *cli, const qt_cfg *cfg) WEIR_CHECKED;
#endif
