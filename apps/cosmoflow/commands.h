/* commands.h - the commands of the program, a function each, and the functions they share. */
#ifndef CF_COMMANDS_H
#define CF_COMMANDS_H
#include "app/weir_job.h"
#include "options.h"

enum { CF_PATH = 4096 };

weir_status cf_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_convert(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_paint(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_haloes(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_inspect(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_power(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_summaries(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_predict(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_describe(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_scaling(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_robustness(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_compare(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_loading(const weir_cli *cli) WEIR_CHECKED;
weir_status cf_cmd_tune(const weir_cli *cli) WEIR_CHECKED;

/* How commands start: with the arguments of the command as source.input where it reads samples, and
 * the configuration checked (check.h). job->cfg: a cf_cfg. */
extern const weir_program cf_program;
/* Opens source.input, which is borrowed. Fails: as cf_source_open. */
weir_status cf_open_input(cf_cfg *cfg, cf_source **out) WEIR_CHECKED;
/* Refuses --out where it holds the input `own`, NULL: none: a new run removes what an earlier one
 * of its kind left, and files are written under equal names. Fails: WEIR_ERR_CONFIG. */
weir_status cf_refuse_own_input(const char *out, const char *own) WEIR_CHECKED;
/* Opens the run folder; an interrupted run is resumed in its own folder. Local. Fails: as
 * weir_job_begin, weir_run_dir_resume. */
weir_status cf_begin_resumed(weir_job *job, const char *owner) WEIR_CHECKED;
/* Writes provenance.json into --out, with a line of the program's own, and the files that the
 * configuration names and those of source.input, where the command reads it (`samples`), or of the
 * truth of eval.sets. Fails: as cf_source_list, weir_job_provenance. */
weir_status cf_write_provenance(const weir_job *job, bool samples, const char *key,
                                const char *text) WEIR_CHECKED;
#endif
