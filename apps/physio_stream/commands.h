/* commands.h - what the program does, one function a command; and what the commands share. */
#ifndef PS_COMMANDS_H
#define PS_COMMANDS_H
#include "app/weir_job.h"
#include "options.h"

weir_status ps_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_convert(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_bench(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_site(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_replay(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_compare(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_train(const weir_cli *cli) WEIR_CHECKED;
weir_status ps_cmd_describe(const weir_cli *cli) WEIR_CHECKED;

/* How commands start: with the configuration checked (check.h). job->cfg: a ps_cfg. */
extern const weir_program ps_program;
/* Opens the run folder and commits it: for commands that write results as they come. Fails: as
 * weir_job_begin, weir_run_dir_commit. */
weir_status ps_start(weir_job *j, const char *owner) WEIR_CHECKED;
/* Writes provenance.json into --out with the digests of n input files. */
weir_status ps_write_provenance(const weir_cli *cli, const ps_cfg *cfg, const char *const *inputs,
                                int n) WEIR_CHECKED;

enum { PS_PATH = 4096 };
#endif
