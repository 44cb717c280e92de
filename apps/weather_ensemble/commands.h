/* commands.h - what the program does, one function a command; and what the commands share. */
#ifndef WX_COMMANDS_H
#define WX_COMMANDS_H
#include "app/weir_job.h"
#include "data/archive/file_names.h"
#include "experiment.h"

weir_status wx_cmd_prepare(const weir_cli *cli) WEIR_CHECKED;
/* prepare_import.c: surveys data.forecast and data.truth, and writes what `import` says, into
 * --out, whose earlier results go when all inputs are open. */
weir_status wx_prepare_import(const weir_cli *cli, const wx_cfg *cfg,
                              weir_run_dir *dir) WEIR_CHECKED;
/* prepare_import.c: prints files, times, members and grid of an archive, as comments. */
void wx_print_archive(const wx_archive_info *f, const char *side);
weir_status wx_cmd_inspect(const weir_cli *cli) WEIR_CHECKED;
weir_status wx_cmd_run(const weir_cli *cli) WEIR_CHECKED;
weir_status wx_cmd_predict(const weir_cli *cli) WEIR_CHECKED;
weir_status wx_cmd_eval(const weir_cli *cli) WEIR_CHECKED;
weir_status wx_cmd_check(const weir_cli *cli) WEIR_CHECKED;
weir_status wx_cmd_describe(const weir_cli *cli) WEIR_CHECKED;

/* How commands start: with the configuration checked (check.h), and files that patterns of
 * data.forecast and data.truth match spared by --overwrite. job->cfg: a wx_cfg. Fails also:
 * WEIR_ERR_DATA for a pattern that nothing matches. */
extern const weir_program wx_program;
/* Writes provenance.json into --out with the digests of n input files. */
weir_status wx_write_provenance(const weir_cli *cli, const wx_cfg *cfg, const char *const *inputs,
                                int n) WEIR_CHECKED;
/* Sources of results, besides the archives. */
typedef struct wx_lineage {
  const wx_split *split;     /* of the samples that were used            */
  const char *const *others; /* [n_others] files that were read: weights */
  int64_t n_others;
  const char *trained; /* what weights say they were trained on and chosen by, or NULL */
} wx_lineage;
/* Lists the files of the archives, patterns as the files that they stand for, and the others.
 * Fails: as wx_file_names_find. */
weir_status wx_find_inputs(const wx_cfg *cfg, const wx_lineage *of,
                           wx_file_names *out) WEIR_CHECKED;
/* Writes provenance.json of an experiment: digests of its archives and of other files, and the
 * first start and last valid time of what is trained on, chosen by and kept for tests, how many
 * samples are none of these, with the gap between. */
weir_status wx_write_origin(const weir_cli *cli, const wx_experiment *e,
                            const wx_lineage *of) WEIR_CHECKED;
/* Writes provenance.json of an evaluation: its archives, n files that models read, the subsets of
 * the split, and which of them was scored. */
weir_status wx_write_scored(const weir_cli *cli, const wx_cfg *cfg, const wx_split *split,
                            const char *const *read, int64_t n) WEIR_CHECKED;

enum { WX_PATH = 4096 };
#endif
