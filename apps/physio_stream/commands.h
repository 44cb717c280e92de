/* commands.h - what the program does, one function a command; and what the commands share. */
#ifndef PS_COMMANDS_H
#define PS_COMMANDS_H
#include "conf/weir_cli.h"
#include "conf/weir_rundir.h"
#include "options.h"

weir_status ps_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_convert(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_bench(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_site(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_replay(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_describe(const weir_cli *cli) WEIR_CHECKED;

/* Loads the configuration and checks what no single row can say. Fails: WEIR_ERR_CONFIG;
 * WEIR_ERR_UNSUPPORTED for a device that this build does not have. *config is the caller's to
 * destroy. */
weir_status ps_configure(const weir_cli *cli, ps_cfg *cfg, weir_config **config) WEIR_CHECKED;
/* Calls weir_run_dir_begin for --out and writes the event of the start. */
weir_status ps_begin(const weir_cli *cli, const char *owner, const ps_cfg *cfg,
                     const weir_config *config, weir_run_dir *dir) WEIR_CHECKED;
/* Calls weir_run_dir_rollback after a failure; says that the earlier results stand where they do.
 */
void ps_abandon(weir_run_dir *dir);
/* Calls ps_configure, ps_begin and weir_run_dir_commit. */
weir_status ps_start(const weir_cli *cli, const char *owner, ps_cfg *cfg,
                     weir_config **config) WEIR_CHECKED;
/* Writes provenance.json into --out with the digests of n input files. */
weir_status ps_write_provenance(const weir_cli *cli, const ps_cfg *cfg, const char *const *inputs,
                                int n) WEIR_CHECKED;

enum { PS_PATH = 4096 };
#endif
