/* commands.h - the commands of the program, a function each, and the functions they share. */
#ifndef CF_COMMANDS_H
#define CF_COMMANDS_H
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"
#include "options.h"

enum { CF_PATH = 4096 };

weir_status cf_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_convert(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_inspect(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_power(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_predict(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_describe(const weir_cli *cli) WEIR_CHECKED;

/* Loads the configuration, with the arguments of the command as source.input where it reads
 * samples; sets the threads and checks the configuration (check.h). The caller destroys *config.
 * Fails: WEIR_ERR_CONFIG; WEIR_ERR_UNSUPPORTED for a device that this build lacks. */
weir_status cf_configure(const weir_cli *cli, cf_cfg *cfg, weir_config **config) WEIR_CHECKED;
/* Opens source.input, which is borrowed. Fails: as cf_source_open. */
weir_status cf_open_input(cf_cfg *cfg, cf_source **out) WEIR_CHECKED;
/* Emits the event `start`. */
void cf_tell_start(const weir_cli *cli, const cf_cfg *cfg);
/* Rolls the run folder back after a failure, and reports that the earlier results are unchanged. */
void cf_abandon(weir_run_dir *dir);
/* Configures a command, opens its run folder, calls `work` (which commits the folder) and closes
 * both; a failure rolls the folder back. Fails: as cf_configure, weir_run_dir_begin and `work`. */
weir_status cf_with_run_dir(const weir_cli *cli,
                            weir_status (*work)(const weir_cli *cli, cf_cfg *cfg,
                                                weir_run_dir *dir)) WEIR_CHECKED;
/* Writes provenance.json into --out, with a line of the program's own. */
weir_status cf_write_provenance(const weir_cli *cli, const cf_cfg *cfg, const char *key,
                                const char *text) WEIR_CHECKED;
#endif
