/* commands.h - what the program does, one function a command; and what the commands share. */
#ifndef QT_COMMANDS_H
#define QT_COMMANDS_H
#include "app/weir_job.h"
#include "options.h"

enum { QT_PATH = 4096 };

weir_status qt_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_bench(const weir_cli *cli) WEIR_CHECKED;
weir_status qt_cmd_describe(const weir_cli *cli) WEIR_CHECKED;

/* How commands start. job->cfg: a qt_cfg. */
extern const weir_program qt_program;
/* Calls weir_job_begin: where checkpoint.resume is true, a folder with checkpoints or bias points
 * of a sweep is resumed. Fails also: WEIR_ERR_CONFIG for a complete sweep. */
weir_status qt_begin(weir_job *j, const char *owner) WEIR_CHECKED;
/* Writes provenance.json into --out, with the digests of the files that the configuration names. */
weir_status qt_write_provenance(const weir_job *job) WEIR_CHECKED;
#endif
